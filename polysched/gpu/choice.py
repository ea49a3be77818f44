"""Which of two mappings of a program is expected to take less time on a device."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import GpuMapping, Launch
from polysched.scop.scop import Scop


def costs_less(left: GpuMapping, right: GpuMapping, sizes: Mapping[str, int]) -> bool:
    """Whether the first mapping is expected to be faster, by launches and by the work of the longest work items."""
    return seconds_of(left, sizes) < seconds_of(right, sizes)


def seconds_of(mapping: GpuMapping, sizes: Mapping[str, int]) -> float:
    """Expected time on a device: of all launches, and of their instances on as many work items as it runs together.

    Parameters
    ----------
    sizes : values of parameters by their C spelling; a typical size for the others.
    """
    return sum(_seconds(launch, mapping.scop, sizes) for launch in mapping.launches)


def _seconds(launch: Launch, scop: Scop, sizes: Mapping[str, int]) -> float:
    """Extents are those of boxes: what counts is how many launches there are, and how many work items each has."""
    typical = {p.name: sizes.get(p.spelling, LIMITS.typical_size) for p in scop.parameters}
    launches = _points(launch, launch.host, typical)
    items = _points(launch, launch.coordinates, typical)
    instances = sum(_instances(launch, s.name, typical) for s in scop.statements)
    together = min(max(items, 1.0), LIMITS.items_together)
    return launches * LIMITS.launch_seconds + instances / together * LIMITS.instance_seconds


def _points(launch: Launch, functions: tuple[isl.UnionPwAff, ...], sizes: Mapping[str, int]) -> float:
    product = 1.0
    for function in functions:
        values = isl.UnionMap.from_union_pw_aff(function).intersect_domain(launch.domain).range()
        product *= _extent(isl.Set.from_union_set(values), 0, sizes)
    return product


def _instances(launch: Launch, statement: str, sizes: Mapping[str, int]) -> float:
    sets = launch.domain.get_set_list()
    total = 0.0
    for k in range(sets.n_set()):
        own = sets.get_at(k)
        if own.get_tuple_name() == statement:
            product = 1.0
            for position in range(own.dim(isl.dim_type.set)):
                product *= _extent(own, position, sizes)
            total += product
    return total


def _extent(values: isl.Set, position: int, sizes: Mapping[str, int]) -> float:
    """How many values one dimension has at some sizes; 1 where it has none or no end."""
    for name, size in sizes.items():
        at = values.find_dim_by_name(isl.dim_type.param, name)
        if at >= 0:
            values = values.fix_val(isl.dim_type.param, at, isl.Val.int_from_si(values.get_ctx(), size))
    if values.is_empty() or not values.dim_is_bounded(isl.dim_type.set, position):
        return 1.0
    low, high = values.dim_min_val(position), values.dim_max_val(position)
    return float(high.to_python() - low.to_python() + 1) if low.is_int() and high.is_int() else 1.0
