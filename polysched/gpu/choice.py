"""Which of two mappings of a program is expected to take less time on a device."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from polysched.gpu.mapping import GpuMapping, Launch
from polysched.scop.points import box_size, fix_parameters
from polysched.target.costs import DEVICE
from polysched.tiling.footprints.nest import assumed_parameters, extent_along
from polysched.tiling.tree.distribute import sets_of


def costs_less(left: GpuMapping, right: GpuMapping, sizes: Mapping[str, int]) -> bool:
    """Whether the first mapping is expected to be faster, by launches and by the work of the longest work items."""
    return seconds_of(left, sizes) < seconds_of(right, sizes)


def seconds_of(mapping: GpuMapping, sizes: Mapping[str, int]) -> float:
    """Expected time on a device: of all launches, and of their instances on as many work items as it runs together.

    Parameters
    ----------
    sizes : values of parameters by their names; as for `assumed_parameters`.
    """
    assumed = assumed_parameters(mapping.scop, sizes)
    return sum(_seconds(launch, assumed) for launch in mapping.launches)


def _seconds(launch: Launch, sizes: Mapping[str, int]) -> float:
    """Extents are those of boxes: what counts is how many launches there are, and how many work items each has."""
    launches, items = (prod(extent_along(launch.domain, function, sizes) for function in functions)
                       for functions in (launch.host, launch.coordinates))
    items *= max(launch.team, 1) * launch.shares
    instances = sum(box_size(fix_parameters(own, sizes)) for own in sets_of(launch.domain))
    together = min(items, DEVICE.items_together)
    return launches * DEVICE.launch_seconds + instances / together * DEVICE.instance_seconds
