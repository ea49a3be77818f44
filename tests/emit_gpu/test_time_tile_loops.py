"""The loops of a block with several steps."""

from __future__ import annotations

import islpy as isl

from polysched.emit_c.loop_ir.loops import Node, StatementInstance
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_gpu.names import device_names
from polysched.emit_gpu.phases import generated
from polysched.emit_gpu.time_tile_loops import time_tile_loops
from polysched.gpu import GpuOptions, map_to_device
from polysched.gpu.instances import fixed
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from tests.gpu.stencils import PLANE


def test_steps_are_around_what_is_dealt_out() -> None:
    schedule = scheduled(analysed(from_c_text(PLANE)).dependences, PipelineOptions(scheduler="original"))
    mapping = map_to_device(schedule, options=GpuOptions(time_tile=4))
    (launch,) = mapping.launches
    names = device_names(mapping.scop)
    inside = fixed(launch.domain, {"w": launch.host[0], "x": launch.coordinates[0]})
    asked: list[isl.Set] = []

    def loops(instances: isl.UnionSet, known: isl.Set) -> Node:
        asked.append(known)
        return generated(mapping, instances, known, names)

    found = time_tile_loops(launch, inside, mapping.scop.context.params(), names, loops)
    assert [own.name for own in found.steps] == ["tile0", "at_step"]
    assert [own.name for own in found.dealt] == ["own0", "own1"]
    assert [type(node) for node in walk_nodes(found.loops)] == [StatementInstance]
    (known,) = asked
    assert known.is_subset(isl.Set("[own1, n] -> { : 1 <= own1 < n - 1 }"))
