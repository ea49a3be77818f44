"""Integer points of isl sets and maps with the parameters fixed, as Python tuples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import TypeVar

import islpy as isl

from polysched.errors import UsageError
from polysched.scop.box_points import in_every_box

SetOrMap = TypeVar("SetOrMap", isl.Set, isl.Map)

LONG = 1 << 63
"""The first number that is too large for C's `long`."""


def isl_value(number: int) -> isl.Val:
    """A number of any size; `isl.Val.int_from_si` takes what fits a long."""
    if -LONG <= number < LONG:
        return isl.Val.int_from_si(isl.DEFAULT_CONTEXT, number)
    return isl.Val(str(number), isl.DEFAULT_CONTEXT)


def fix_parameters(relation: SetOrMap, parameters: Mapping[str, int]) -> SetOrMap:
    """The set or map at these parameter values, without parameters; refuses when one has no value."""
    for position in reversed(range(relation.dim(isl.dim_type.param))):
        name = relation.get_dim_name(isl.dim_type.param, position)
        if name is None or name not in parameters:
            raise UsageError(f"the parameter {name} has no value", hint=f"give {name} a number")
        relation = relation.fix_val(isl.dim_type.param, position, isl_value(parameters[name]))
    return relation.project_out(isl.dim_type.param, 0, relation.dim(isl.dim_type.param))


def with_sizes(values: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    """A set with those of its parameters fixed that have a size."""
    for name, size in sizes.items():
        position = values.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            values = values.fix_val(isl.dim_type.param, position, isl_value(size))
    return values


def parameters_of(values: isl.Set) -> list[str]:
    """The names of the parameters that a set's constraints mention."""
    names = [values.get_dim_name(isl.dim_type.param, at) for at in range(values.dim(isl.dim_type.param))]
    return [n for at, n in enumerate(names) if n is not None and values.involves_dims(isl.dim_type.param, at, 1)]


def nearest_parameters(context: isl.Set, wanted: Mapping[str, int], fixed: Iterable[str] = (),
                       early: Iterable[str] = ()) -> dict[str, int] | None:
    """Values near the wanted ones that a context allows, chosen one by one; None where there are none.

    Parameters
    ----------
    wanted : a value per parameter.
    fixed : parameters that have exactly their value.
    early : parameters that are chosen ahead of the others, and so give way less: the lengths of loops ahead of the
        extents of arrays, which are at least as long.
    """
    values = with_sizes(context.params(), {name: wanted[name] for name in fixed})
    if values.is_empty():
        return None
    found = dict(wanted)
    for name in dict.fromkeys((*early, *wanted)):
        found[name] = _nearest(values, name, wanted[name])
        values = with_sizes(values, {name: found[name]})
    return found


def _nearest(values: isl.Set, name: str, wanted: int) -> int:
    """The value of a parameter next to the wanted one, among those that a set without other dimensions has."""
    position = values.find_dim_by_name(isl.dim_type.param, name)
    if position < 0 or not with_sizes(values, {name: wanted}).is_empty():
        return wanted
    own = values.move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
    own = own.project_out(isl.dim_type.param, 0, own.dim(isl.dim_type.param))
    above, below = (own.lower_bound_val(isl.dim_type.set, 0, isl_value(wanted)),
                    own.upper_bound_val(isl.dim_type.set, 0, isl_value(wanted)))
    return int((below.dim_max_val(0) if above.is_empty() else above.dim_min_val(0)).to_python())


def value_at(form: isl.PwAff, parameters: Mapping[str, int]) -> int:
    """The value of an affine form over the parameters; 0 where it has none."""
    values = fix_parameters(isl.Set.from_pw_aff(form), parameters)
    return 0 if values.is_empty() else int(values.dim_max_val(0).to_python())


def points_of(domain: isl.Set) -> list[tuple[int, ...]]:
    """Every integer point of a bounded set without parameters, in no particular order."""
    if not domain.is_bounded():
        raise UsageError("the set has infinitely many points at these parameters", witness=str(domain),
                         hint="bound it in the context")
    in_boxes = in_every_box(domain)
    if in_boxes is not None:
        return in_boxes
    depth = domain.dim(isl.dim_type.set)
    points: list[isl.Point] = []
    # No Python runs inside: what a signal raised there (Ctrl-C), isl would replace by an error of its own.
    domain.foreach_point(points.append)
    return [tuple([_number(point.get_coordinate_val(isl.dim_type.set, d)) for d in range(depth)]) for point in points]


def point_in_words(values: isl.Set, name: str, between: str = ", ") -> str:
    """Some point of a set, and the parameters at which it is one: `S0[0, 3] where n = 5`.

    Parameters
    ----------
    between : what stands between two coordinates; `][` for elements of arrays as C writes them.
    """
    point = values.sample_point()
    own, parameters = ([_number(point.get_coordinate_val(kind, k)) for k in range(values.dim(kind))]
                       for kind in (isl.dim_type.set, isl.dim_type.param))
    names = [values.get_dim_name(isl.dim_type.param, k) for k in range(len(parameters))]
    where = ", ".join(f"{name} = {value}" for name, value in zip(names, parameters, strict=True))
    return f"{name}[{between.join(map(str, own))}]" + f" where {where}" * bool(where)


def _number(value: isl.Val) -> int:
    """A coordinate; `Val.to_python` goes through its text, which takes four times as long."""
    number: int = value.get_num_si()   # 0 where it does not fit a long
    return number if number or value.is_zero() else int(value.to_python())


def box_size(domain: isl.Set) -> int:
    """Points of the smallest box around a bounded set without parameters; 0 where it is empty or unbounded."""
    if domain.is_empty() or not domain.is_bounded():
        return 0
    return prod(int(domain.dim_max_val(d).sub(domain.dim_min_val(d)).to_python()) + 1
                for d in range(domain.dim(isl.dim_type.set)))


def pairs_of(relation: isl.Map) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every pair (input tuple, output tuple) of a bounded map without parameters, in no particular order."""
    depth = relation.dim(isl.dim_type.in_)
    return [(point[:depth], point[depth:]) for point in points_of(relation.wrap())]


def instances_in_order(domain: isl.UnionSet, tree: isl.Schedule, parameters: Mapping[str, int],
                       statements: Iterable[str]) -> list[tuple[str, tuple[int, ...]]]:
    """The statement instances as a schedule tree orders them.

    Instances that the tree leaves unordered come in reverse textual and lexicographic order, so that a
    dependence between them shows.

    Parameters
    ----------
    statements : the statements' names in textual order.
    """
    textual = {name: position for position, name in enumerate(statements)}
    stamps = tree.get_map().intersect_domain(domain)
    timed = []
    for relation in _maps(stamps):
        name = relation.get_tuple_name(isl.dim_type.in_)
        timed += [(time, -textual[name], tuple(-i for i in point), name, point)
                  for point, time in pairs_of(fix_parameters(relation, parameters))]
    width = max((len(stamp[0]) for stamp in timed), default=0)
    timed.sort(key=lambda stamp: (stamp[0] + (0,) * (width - len(stamp[0])), *stamp[1:]))
    return [(stamp[3], stamp[4]) for stamp in timed]


def _maps(relation: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, one per pair of spaces."""
    maps: list[isl.Map] = []
    relation.foreach_map(maps.append)
    return maps
