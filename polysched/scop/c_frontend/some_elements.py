"""That the arrays which a function declares among its parameters have elements: assumed, and tested at run time.

C asks for extents of at least one (C11 6.7.6.2p5), and compilers pass a first extent over, since the parameter is a
pointer.  Programs do call such functions with sizes of 0.  A region is read, scheduled and emitted for arrays that have
elements; a test around it keeps the original code for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Pointer, element_type
from polysched.scop.c_frontend.declarations.scopes import Symbol
from polysched.scop.c_frontend.extraction import Extraction
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.places import extent_value
from polysched.scop.scop import SOME_ELEMENTS, Assumption, Parameter, SourceRegion


def assume_elements(x: Extraction, symbols: Iterable[Symbol]) -> None:
    """Take for granted that all extents of some parameters of the function are positive.

    From here on the state takes in whether something runs for other sizes (`Extraction.holds_otherwise`).
    """
    positive, otherwise = polyhedra.universe(), isl.Set.empty(x.context.get_space())
    for symbol in symbols:
        for extent in _extents(x, symbol):
            enough = extent.ge_set(polyhedra.constant(1))
            positive = positive.intersect(enough)
            otherwise = otherwise.union(x.context.subtract(enough))   # disjoint parts take isl minutes to coalesce
    otherwise = otherwise.coalesce()
    x.context, x.elements = x.context.intersect(positive), positive.coalesce()
    x.otherwise = None if otherwise.is_empty() else otherwise


def _extents(x: Extraction, symbol: Symbol) -> Iterator[isl.PwAff]:
    """The extents of what a parameter leads to, as far as they are affine in the region's parameters."""
    ctype: CType | None = symbol.ctype
    while isinstance(ctype, ArrayOf | Pointer):
        if isinstance(ctype, ArrayOf):
            extent = extent_value(x, ctype.extent)
            if extent is not None:
                yield extent
        ctype = element_type(ctype)


def tested_elements(x: Extraction, source: SourceRegion) -> tuple[Assumption, ...]:
    """The assumption that the arrays have elements; nothing where the program states that they do.

    Where the region steps variables, these have the values behind it that the code for arrays with elements gives them.
    """
    if x.otherwise is None or x.otherwise.is_empty():
        return ()
    types = x.context_of_types()
    return (Assumption(kind=SOME_ELEMENTS, text="the arrays that the function's parameters declare have elements",
                       condition=_condition(x.elements.gist(types), tuple(x.parameters.values())),
                       parameters=x.elements.intersect(types).params(), otherwise=x.otherwise.params(),
                       idle=not x.runs_otherwise and not source.stepped),)


def _condition(elements: isl.Set, parameters: Iterable[Parameter]) -> str:
    """The condition in C; one parameter that is compared with a number needs no wider type."""
    single = all(sum(c.involves_dims(polyhedra.PARAM, at, 1) for at in range(elements.dim(polyhedra.PARAM))) <= 1
                 for part in elements.get_basic_sets() for c in part.get_constraints())
    return polyhedra.c_condition(elements, {p.name: p.spelling if single else polyhedra.widened(p) for p in parameters})
