"""Initial values of local arrays as the assignments that they mean (C11 6.7.9)."""

from __future__ import annotations

from itertools import product

from pycparser import c_ast

from polysched.scop.c_frontend.assignments import identifier
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Scalar
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.extraction import Extraction
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.places import extent_value
from polysched.scop.dtypes import INT32
from polysched.scop.limits import LIMITS

MOST_SINGLE_ELEMENTS = LIMITS.single_elements


def initial_assignments(x: Extraction, node: c_ast.Decl, symbol: Symbol) -> tuple[c_ast.Node, ...]:
    """Assignments, with loops before them for the many elements that are just zero.

    Raises
    ------
    UnsupportedScopError : a designator, a string, or an extent that is not a number.
    """
    extents = _extents(x, node, symbol)
    values: dict[tuple[int, ...], c_ast.Node] = {}
    _collect(x, node, node.init, extents, (), values)
    zero = c_ast.Constant("int", "0", node.coord)
    count = 1
    for extent in extents:
        count *= extent
    if count <= MOST_SINGLE_ELEMENTS:
        points = list(product(*(range(e) for e in extents)))
        return tuple(_assign(x, node, symbol, _numbers(node, p), values.get(p, zero)) for p in points)
    explicit = tuple(_assign(x, node, symbol, _numbers(node, p), v) for p, v in values.items()
                     if not (isinstance(v, c_ast.Constant) and v.value == "0"))
    return (_zero_loops(x, node, symbol, extents, zero), *explicit)


def _extents(x: Extraction, node: c_ast.Decl, symbol: Symbol) -> tuple[int, ...]:
    extents = []
    ctype: CType = symbol.ctype
    while isinstance(ctype, ArrayOf):
        extent = extent_value(x, ctype.extent)
        number = polyhedra.constant_value(extent) if extent is not None else None
        if number is None:
            raise x.refuse("an array with initial values has no constant size", node, hint="write the size as a number")
        extents.append(number)
        ctype = ctype.element
    if not isinstance(ctype, Scalar) or not isinstance(node.init, c_ast.InitList):
        raise x.refuse("initial values that are no list of numbers", node, hint="assign the elements one by one")
    return tuple(extents)


def _collect(x: Extraction, node: c_ast.Decl, init: c_ast.InitList, extents: tuple[int, ...],
             prefix: tuple[int, ...], values: dict[tuple[int, ...], c_ast.Node]) -> None:
    """Enter the values of a list; a list per dimension, or one flat list for the innermost."""
    depth = len(extents) - len(prefix)
    for at, value in enumerate(init.exprs):
        if isinstance(value, c_ast.NamedInitializer) or depth == 0 or at >= extents[len(prefix)]:
            raise x.refuse("initial values with designators, or more than the array holds", node,
                           hint="assign the elements one by one")
        if isinstance(value, c_ast.InitList):
            _collect(x, node, value, extents, (*prefix, at), values)
        elif depth == 1 or (at == 0 and len(init.exprs) == 1):
            values[(*prefix, at, *(0,) * (depth - 1))] = value
        else:
            raise x.refuse("initial values of several dimensions in one flat list", node,
                           hint="put braces around each row")


def _numbers(node: c_ast.Decl, point: tuple[int, ...]) -> list[c_ast.Node]:
    return [c_ast.Constant("int", str(v), node.coord) for v in point]


def _assign(x: Extraction, node: c_ast.Decl, symbol: Symbol, subscripts: list[c_ast.Node],
            value: c_ast.Node) -> c_ast.Assignment:
    target: c_ast.Node = identifier(x, symbol, node)
    for subscript in subscripts:
        target = c_ast.ArrayRef(target, subscript, node.coord)
    return c_ast.Assignment("=", target, value, node.coord)


def _zero_loops(x: Extraction, node: c_ast.Decl, symbol: Symbol, extents: tuple[int, ...],
                zero: c_ast.Node) -> c_ast.Node:
    counters = [Symbol(name=f"z{k}", ctype=Scalar(INT32), origin=Origin.REGION, node=node) for k in range(len(extents))]
    made: c_ast.Node = _assign(x, node, symbol, [identifier(x, c, node) for c in counters], zero)
    for counter, extent in zip(reversed(counters), reversed(extents), strict=True):
        start = c_ast.Assignment("=", identifier(x, counter, node), zero, node.coord)
        below = c_ast.BinaryOp("<", identifier(x, counter, node),
                               c_ast.Constant("int", str(extent), node.coord), node.coord)
        step = c_ast.UnaryOp("p++", identifier(x, counter, node), node.coord)
        made = c_ast.For(start, below, step, made, node.coord)
    return made
