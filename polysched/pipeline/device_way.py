"""The way of one region to a device: the schedules that are tried, the mapping that is taken, the C of the host."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from polysched.dependence.dependences import Dependences
from polysched.emit_gpu import emit
from polysched.emit_gpu.interface import INTERFACES, OPENCL
from polysched.errors import BudgetExceededError, UnsupportedScopError
from polysched.gpu import GpuMapping, map_to_device
from polysched.gpu.choice import costs_less
from polysched.gpu.decide import WITH_CUDA
from polysched.measure.processes.opencl_device import opencl_device
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.pipeline.timing import timed
from polysched.scop.scop import Scop
from polysched.target.gpus import Gpu, described


def device_region(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> Optimized:
    """All stages for one region whose loops run on a device, without the original code.

    Raises
    ------
    UnsupportedScopError : the device cannot run the region, or has nothing to run at the same time.
    PolyschedError : any stage refuses.
    """
    expansion = timed(seconds, "dependences", lambda: analysed(scop, expand=options.expand))
    mapping = timed(seconds, "mapped", lambda: _mapping(expansion.dependences, options))
    if not mapping.is_parallel:
        raise UnsupportedScopError("no loop can run on many work items: every one has a dependence between its "
                                   "iterations", where=scop.name, hint=f"leave --target {options.device} out")
    made = timed(seconds, "emitted", lambda: emit(mapping, INTERFACES[str(options.device)]))
    return Optimized(scop=scop, dependences=expansion.dependences, schedule=mapping.schedule, tiled=made.source.tiled,
                     source=made.source, options=options, seconds=seconds, expanded=expansion.arrays,
                     moved=expansion.moved, last_values=expansion.last_values, mapped=(*mapping.lines(), *made.notes),
                     on_device=made)


def weighed_for(options: PipelineOptions) -> tuple[Gpu, ...]:
    """The devices whose models choose blocks: those of CUDA; for OpenCL the one that would run, if it is described.

    Where OpenCL finds no device, or one that nothing describes, those with CUDA stand for all.
    """
    if options.device != OPENCL.name or options.gpu.devices:
        return WITH_CUDA
    found = opencl_device()
    own = None if found is None else described(platform=found.platform, device=found.device, is_cpu=found.is_cpu,
                                               units=found.units, gigahertz=found.gigahertz)
    return WITH_CUDA if own is None else (own,)


def _mapping(dependences: Dependences, options: PipelineOptions) -> GpuMapping:
    """The mapping of the schedule that was asked for; without a wish the better of Pluto's and the program's own."""
    sizes = options.assumed_in(dependences.scop)
    mapped = partial(map_to_device, options=replace(options.gpu, reassociate=options.reassociate), sizes=sizes,
                     gpus=weighed_for(options))
    first = mapped(scheduled(dependences, options))
    if options.scheduler != "pluto" or options.strategy is not None or options.steps:
        return first
    try:
        other = mapped(scheduled(dependences, replace(options, scheduler="original")))
    except (UnsupportedScopError, BudgetExceededError):
        return first
    if first.is_parallel != other.is_parallel:   # one work item alone is refused, whatever it costs
        return first if first.is_parallel else other
    return other if costs_less(other, first, sizes) else first
