"""`map_to_device`: schedule -> GpuMapping, judged by the dependences before it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import islpy as isl

from polysched.dependence.legality import check_legal
from polysched.errors import UnsupportedScopError
from polysched.gpu.bands import host_tree, numbered
from polysched.gpu.mapping import GpuMapping, HostLoop, HostNode, HostSequence, Launch
from polysched.gpu.options import GpuOptions
from polysched.gpu.points import with_points
from polysched.gpu.time_tiles import with_time_tiles
from polysched.gpu.transfers import DeviceArray, device_arrays
from polysched.scheduling.marks import LoopMark
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import multi_union_pw_aff
from polysched.scheduling.tree.promises import check_promises
from polysched.target.gpus import SM_80, SM_90, Gpu, find_gpus

WITH_CUDA: tuple[Gpu, ...] = (SM_80, SM_90)
"""Whose models choose where nobody names a device."""


def map_to_device(schedule: Schedule, *, options: GpuOptions | None = None, sizes: Mapping[str, int] | None = None,
                  gpus: tuple[Gpu, ...] = WITH_CUDA) -> GpuMapping:
    """Map a schedule to launches of kernels, loops of the host around them, and transfers.

    Parameters
    ----------
    schedule : without tiles.
    sizes : values of parameters for which the model chooses; as for `assumed_parameters`.
    gpus : whose models choose, unless the options name devices.

    Raises
    ------
    UnsupportedScopError : a scalar or an array has no end that the region's parameters tell.
    IllegalScheduleError : the mapping breaks a dependence; a fault of this room.
    """
    options = options or GpuOptions()
    host = host_tree(schedule, options)
    host = with_time_tiles(schedule, host, options=options)
    weighing = find_gpus(options.devices) or gpus
    host = numbered(with_points(schedule, host, options=options, gpus=weighing, sizes=sizes or {}))
    tree = mapped_tree(schedule, host)
    check_legal(schedule.dependences, tree, what="mapping to the device")
    check_promises(schedule.dependences, tree, what="mapping to the device")
    arrays = _bounded(device_arrays(schedule.dependences))
    return GpuMapping(schedule=schedule, host=host, tree=tree, arrays=arrays, options=options,
                      gpus=weighing)


def mapped_tree(schedule: Schedule, host: HostNode) -> isl.Schedule:
    """The order of all instances as mapped: host loops, then coordinates, marked parallel, then the schedule itself."""
    match host:
        case HostSequence():
            return reduce(isl.Schedule.sequence, [mapped_tree(schedule, part) for part in host.parts])
        case HostLoop():
            return _inside(mapped_tree(schedule, host.body), host.function, LoopMark())
        case Launch():
            tree = schedule.tree.intersect_domain(host.domain)
            if host.tiles is not None:
                for dealt in host.tiles.dealt:
                    tree = _inside(tree, dealt, LoopMark(parallel=True))
                for step in reversed(host.tiles.steps):
                    tree = _inside(tree, step, LoopMark())
            for coordinate in host.coordinates:
                tree = _inside(tree, coordinate, LoopMark(parallel=True))
            return tree


def _inside(tree: isl.Schedule, function: isl.UnionPwAff, mark: LoopMark) -> isl.Schedule:
    """The tree inside a loop over the values of a function."""
    loop = multi_union_pw_aff((function.intersect_domain(tree.get_domain()),))
    tree = tree.insert_partial_schedule(loop)
    return tree.get_root().child(0).insert_mark(isl.Id(mark.to_text(), tree.get_ctx())).get_schedule()


def _bounded(arrays: tuple[DeviceArray, ...]) -> tuple[DeviceArray, ...]:
    """The arrays, all of whose rows have a number that the parameters tell.

    Raises
    ------
    UnsupportedScopError : one is read or written at data-dependent places and has no declared extent, or in front of
        its first element for all sizes.
    """
    for own in arrays:
        if own.array.is_scalar or own.used.is_empty():
            continue
        kinds = isl.dim_type.set
        if not own.used.dim_has_upper_bound(kinds, 0):
            raise UnsupportedScopError(f"nothing says where the array {own.array.name} ends, so it cannot be copied",
                                       where=own.array.name, hint="declare its first extent")
        if own.used.params().is_subset(own.in_front.params()):
            raise UnsupportedScopError(f"the array {own.array.name} is used in front of its first element",
                                       where=own.array.name, hint="subscripts on a device begin with 0")
    return arrays
