"""The least traffic between an accelerator and its memory: each input once in, each output once out."""

from __future__ import annotations

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.gpu.mapping import Launch
from polysched.gpu.scratchpad.flows import Flows
from polysched.gpu.scratchpad.simulation import Timeline
from polysched.gpu.scratchpad.stages import VectorStage
from polysched.target.scratchpads.description import MEMORY


def io_bytes(dependences: Dependences) -> int:
    """Bytes of the elements that are live in, and of those that are live out: a bound for buffers of any size."""
    scop = dependences.scop
    names = tuple(s.name for s in scop.statements)
    none = (0,) * len(names)
    stages = (VectorStage(statements=names, operations=none, calls=none, bytes=none),)
    flows = Flows.of(dependences, Launch(name="", domain=scop.domain.intersect_params(scop.context.params())))
    total = 0
    for array in scop.arrays:
        if not array.is_scalar:
            moved = [flows.loaded(stages, array.name, flows.launch.domain)] if not array.is_temporary else []
            moved += [flows.stored(stages, array.name, flows.launch.domain)] if not array.is_temporary else []
            total += array.dtype.bytes * sum(map(_count, moved))
    return total


def _count(elements: isl.Set) -> int:
    """Elements of a set at the only values of its parameters."""
    if elements.is_empty():
        return 0
    plain = elements.project_out(isl.dim_type.param, 0, elements.dim(isl.dim_type.param))
    return int(plain.count_val().to_python())


def moved_off_chip(timeline: Timeline) -> int:
    """Bytes that instructions move from or to the memory."""
    return sum(count for way, count in timeline.moved.items() if MEMORY in way.split(" -> "))
