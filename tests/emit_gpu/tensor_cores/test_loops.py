"""The bounds and subscripts of a product."""

from __future__ import annotations

import islpy as isl

from polysched.emit_c.loop_ir.index import constant, variable
from polysched.emit_gpu.tensor_cores.loops import TensorLoops, tensor_loops
from polysched.gpu import GpuOptions, map_to_device
from polysched.gpu.staging import Names
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from tests.gpu.products import BATCH


def loops_of(text: str) -> TensorLoops:
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    mapping = map_to_device(schedule, options=GpuOptions(tensor_cores=("int8",), block=(32, 8)))
    (launch,) = mapping.launches
    places = Names(host=(), coordinates=("x", "y", "z"), firsts=("block_x", "block_y", "block_z"), tile="tile")
    runs = launch.domain.params().intersect(mapping.scop.context.params())
    return tensor_loops(mapping.scop, launch, launch.phases[0], places, "s", isl.Set(str(runs)), ("a", "b"))


def test_subscripts_are_those_of_coordinates_and_step() -> None:
    found = loops_of(BATCH)
    x, y, z, s = map(variable, ("x", "y", "z", "s"))
    assert found.result.subscripts == (z + constant(-1), y + constant(-2), x)
    assert found.left.subscripts == (z, y, s + constant(-3))
    assert found.right.subscripts == (s, x)
    assert (found.left.shared, found.right.shared) == ("a", "b")
    assert found.left.operand.along_step
    assert not found.right.operand.along_step


def test_bounds_are_those_of_the_loops() -> None:
    found = loops_of(BATCH)
    n = variable("n")
    assert found.ranges == ((constant(1), n + constant(-1)), (constant(2), n), (constant(1), variable("b")))
    assert found.steps == (constant(3), variable("q"))
    assert found.condition is None
