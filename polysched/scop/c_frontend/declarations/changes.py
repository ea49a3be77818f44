"""Variables that do not hold at a region what they held when its function was entered."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import Bindings, assigned_names
from polysched.scop.c_frontend.declarations.scopes import Origin
from polysched.scop.c_frontend.parse import SyntaxRegion, everything


def changed_before(region: SyntaxRegion, bindings: Bindings) -> frozenset[str]:
    """The names at a region that stand for something else than at the entry of its function, or may.

    The function assigns them before, takes their address, or declares them.
    """
    parts = tuple(_before(region))
    return frozenset([
        *(name for part in parts for name in (*assigned_names(part), *_pointed_at(part))),
        *(name for name, symbol in bindings.visible.items() if symbol.origin is Origin.LOCAL)])


def _before(region: SyntaxRegion) -> Iterator[c_ast.Node]:
    """What may run before the region: all of the function where it may run again."""
    body = region.function.body
    if any(isinstance(n, c_ast.For | c_ast.While | c_ast.DoWhile) for n in region.path) or any(
            True for _ in everything(body, c_ast.Goto)):
        yield body
        return
    for outer, inner in pairwise(region.path):
        parts = [child for _, child in outer.children()]
        yield from parts[:next(at for at, child in enumerate(parts) if child is inner)]
    yield from region.before


def _pointed_at(node: c_ast.Node) -> Iterator[str]:
    """Names of the variables whose own address a subtree takes."""
    for part in everything(node):
        if isinstance(part, c_ast.UnaryOp) and part.op == "&":
            target = part.expr
            while isinstance(target, c_ast.StructRef) and target.type == ".":
                target = target.name
            if isinstance(target, c_ast.ID):
                yield target.name
