"""Bodies of loops, conditions and cases that are no blocks: `for (t = 0; t < n; t++) for (i = 0; i < n; i++) ...`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pycparser import c_ast

from polysched.scop.c_frontend.parse import LOOPS, everything, replace_child
from polysched.scop.c_frontend.text.directives import goes_with_loop

_BODIES = ("stmt", "iftrue", "iffalse")
WORDS_AHEAD = frozenset({")", "else", "do", ":"})
"""Tokens in front of a body that is no block; a region there needs brackets, since it can become several statements."""


def block_bare_bodies(tree: c_ast.FileAST) -> None:
    """Put every body that is a loop, or a condition around loops, into a block of its own; in place.

    Rewrite:  for (...) for (...) S   ->   for (...) { for (...) S }
              case 1: for (...) S; f();   ->   case 1: { for (...) S } f();

    Regions are looked for in blocks.  The text stays as it is.
    """
    for node in everything(tree):
        for name in _BODIES:
            body = getattr(node, name, None)
            if body is not None and _is_around_loops(body):
                replace_child(node, name, c_ast.Compound([body], body.coord))
        if isinstance(node, c_ast.Case | c_ast.Default):
            node.stmts = _with_blocks(node.stmts or [])


def is_body(path: Sequence[c_ast.Node]) -> bool:
    """Whether the block at the end of a path is one around statements of a case, which have no brackets in the text."""
    block = path[-1]
    return (len(path) > 1 and isinstance(path[-2], c_ast.Case | c_ast.Default) and isinstance(block, c_ast.Compound)
            and bool(block.block_items) and block.coord is block.block_items[0].coord)


def _is_around_loops(body: c_ast.Node) -> bool:
    return isinstance(body, (*LOOPS, c_ast.If)) and any(isinstance(below, LOOPS) for below in everything(body))


def _with_blocks(statements: Sequence[c_ast.Node]) -> list[c_ast.Node]:
    """The statements of a case, those around loops and the pragmas for them in blocks."""
    found: list[c_ast.Node] = []
    for together, run in groupby(statements, lambda item: _is_around_loops(item) or goes_with_loop(item)):
        items = list(run)
        found += [c_ast.Compound(items, items[0].coord)] if together and any(map(_is_around_loops, items)) else items
    return found
