"""Two program ids that touch one element, one of them writing it, are refused with a witness."""

from __future__ import annotations

import islpy as isl

from polysched.errors import UnsupportedScopError
from polysched.scop.scop import Access, Scop, Statement, Storage


def refuse_races(scop: Scop, axes: int) -> None:
    """Refuse a program whose result would depend on the order of its programs.

    Parameters
    ----------
    axes : how many program ids there are; every statement's first iterators.

    Raises
    ------
    UnsupportedScopError : the witness is two program ids and the element.
    """
    for array in scop.arrays:
        if array.storage is Storage.LOCAL:
            continue
        users = [(a, _by_program(scop, axes, s, a)) for s in scop.statements for a in s.accesses
                 if a.array == array.name]
        for write, writers in users:
            for access, others in users:
                if write.is_write:
                    _refuse(scop, axes, access, together(writers, others, axes))


def _by_program(scop: Scop, axes: int, statement: Statement, access: Access) -> isl.Map:
    """`{ elements -> program ids }`: which programs reach an element."""
    reached = access.relation.intersect_domain(statement.domain.intersect_params(scop.context)).reverse()
    dimensions = reached.dim(isl.dim_type.out)
    return reached.project_out(isl.dim_type.out, axes, dimensions - axes).reset_tuple_id(isl.dim_type.out)


def together(first: isl.Map, second: isl.Map, axes: int) -> isl.Map:
    """`{ elements -> [program ids of the first, others of the second] }`."""
    pairs = first.flat_range_product(second)
    same = isl.Map.universe(pairs.get_space())
    for axis in range(axes):
        same = same.equate(isl.dim_type.out, axis, isl.dim_type.out, axes + axis)
    return pairs.subtract(same)


def _refuse(scop: Scop, axes: int, access: Access, pairs: isl.Map) -> None:
    """Refuse pairs of programs, if there are any."""
    if pairs.is_empty():
        return
    point = pairs.wrap().sample_point()
    parameters = [f"{pairs.get_dim_name(isl.dim_type.param, k)} = {_at(point, isl.dim_type.param, k)}"
                  for k in range(pairs.dim(isl.dim_type.param))]
    rank = pairs.dim(isl.dim_type.in_)
    values = [_at(point, isl.dim_type.set, k) for k in range(rank + 2 * axes)]
    one, two = tuple(values[rank:rank + axes]), tuple(values[rank + axes:])
    element = access.array + "".join(f"[{value}]" for value in values[:rank])
    what = "write" if access.is_write else "write and read"
    raise UnsupportedScopError(
        f"two programs {what} one element of {access.array}, so the result depends on their order", where=scop.name,
        witness=f"programs {one} and {two} reach {element}" + f" where {', '.join(parameters)}" * bool(parameters),
        hint="let every element that is written have one program")


def _at(point: isl.Point, kind: isl.dim_type, position: int) -> int:
    return int(point.get_coordinate_val(kind, position).to_python())
