"""Schedules as the scattering of an OpenScop region, read only for the program that the region is of."""

from __future__ import annotations

import islpy as isl

from polysched.errors import UsageError
from polysched.scheduling.interchange.dates import dates_of
from polysched.scop.openscop import OpenScopRegion, OpenScopStatement, begins_as_openscop, openscop_text, regions_of
from polysched.scop.points import point_in_words
from polysched.scop.scop import Scop, Statement


def has_region(text: str) -> bool:
    """Whether a text has a region in OpenScop."""
    return begins_as_openscop(text)


def write_region(tree: isl.Schedule, scop: Scop) -> str:
    """The region with the order of a tree."""
    return openscop_text(scop, dates_of(tree))


def read_region(text: str, scop: Scop) -> isl.UnionMap:
    """The dates of a region of this program.

    Raises
    ------
    UsageError : the text is no OpenScop, or of another program: other statements, iterations or accesses.
    """
    regions = regions_of(text)
    if len(regions) != 1:
        raise UsageError("the OpenScop has several regions", where=scop.name, witness=f"{len(regions)} of them",
                         hint="give a file with that region alone")
    (region,) = regions
    if len(region.statements) != len(scop.statements):
        raise UsageError("the OpenScop region is of another program", where=scop.name,
                         witness=f"it has {len(region.statements)} statements, the program {len(scop.statements)}")
    dates = isl.UnionMap.empty(scop.domain.get_space())
    for statement, own in zip(region.statements, scop.statements, strict=True):
        _require_same(region, statement, own, scop)
        dates = dates.union(isl.UnionMap.from_map(
            statement.scattering.set_tuple_name(isl.dim_type.in_, own.name)))
    return dates


def _require_same(region: OpenScopRegion, statement: OpenScopStatement, own: Statement, scop: Scop) -> None:
    """Refuse a statement of other iterations or accesses, within the values that both admit."""
    if statement.domain.dim(isl.dim_type.set) != own.depth:
        raise UsageError(f"the OpenScop region has other loops around {own.name}", where=scop.name,
                         witness=f"{statement.domain.dim(isl.dim_type.set)} instead of {own.depth}")
    context = scop.context.intersect(region.context)
    known = own.domain.intersect_params(context)
    require_same_iterations("OpenScop region", statement.domain.set_tuple_name(own.name), own, scop, context)
    for access in own.accesses:
        wanted = access.relation.reset_tuple_id(isl.dim_type.out).intersect_params(context)
        if not any(kind is access.kind and array == access.array and relation.dim(isl.dim_type.out) == wanted.dim(
                isl.dim_type.out) and relation.set_tuple_name(isl.dim_type.in_, own.name).intersect_domain(
                    known).is_equal(wanted) for kind, array, relation in statement.accesses):
            raise UsageError(f"the OpenScop region lacks an access of {own.name}", where=scop.name,
                             witness=f"{access.kind.value} {access.array}: {access.relation}")


def require_same_iterations(what: str, domain: isl.Set, own: Statement, scop: Scop, context: isl.Set) -> None:
    """Refuse other iterations than those of a statement, within the values of parameters that both admit."""
    domain, known = domain.intersect_params(context), own.domain.intersect_params(context)
    for part, where in ((domain.subtract(known), f"the {what}"), (known.subtract(domain), "the program")):
        if not part.is_empty():
            raise UsageError(f"the {what} has other iterations of {own.name}", where=scop.name,
                             witness=f"{point_in_words(part, own.name)} is only in {where}")
