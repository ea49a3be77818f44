"""Bodies of loops and conditions that are no blocks: `for (t = 0; t < n; t++) for (i = 0; i < n; i++) ...`."""

from __future__ import annotations

from pycparser import c_ast

from polysched.scop.c_frontend.parse import LOOPS, everything, replace_child

_BODIES = ("stmt", "iftrue", "iffalse")
WORDS_AHEAD = frozenset({")", "else", "do"})
"""Tokens in front of a body that is no block; a region there needs brackets, since it can become several statements."""


def block_bare_bodies(tree: c_ast.FileAST) -> None:
    """Put every body that is a loop, or a condition around loops, into a block of its own; in place.

    Rewrite:  for (...) for (...) S   ->   for (...) { for (...) S }

    Regions are looked for in blocks.  The text stays as it is.
    """
    for node in everything(tree):
        for name in _BODIES:
            body = getattr(node, name, None)
            if isinstance(body, (*LOOPS, c_ast.If)) and any(isinstance(below, LOOPS) for below in everything(body)):
                replace_child(node, name, c_ast.Compound([body], body.coord))
