"""The loops of a work item as text."""

from __future__ import annotations

import polysched
from polysched.emit_gpu import emit_opencl
from polysched.gpu import map_to_device
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop.dtypes import FLOAT64
from polysched.scop.python_frontend.signature import ArrayType
from tests.emit_gpu.emitted import emitted
from tests.emit_gpu.test_kernel_loops import TEMPORARY
from tests.gpu.mapped import STENCIL
from tests.kernel.block_programs import EXAMPLES


def test_a_temporary_is_declared_where_it_lives() -> None:
    lines = [line.strip() for line in emitted(TEMPORARY).program.splitlines()]
    declared = next(line for line in lines if line.startswith("double s"))
    assert declared.endswith("[3];")
    assert lines[lines.index(declared) + 1].startswith("for (")


def test_short_loops_that_update_a_tile_are_unrolled_where_it_is_whole() -> None:
    types = {name: ArrayType(FLOAT64, (None, None)) for name in "ABC"}
    program = polysched.block_program(EXAMPLES["matmul"].function, target="opencl").with_constants(BM=16, BN=8, BK=32)
    loops = scheduled(analysed(program.specialised(types).python.scop).dependences, PipelineOptions(
        scheduler="original"))
    lines = [line.strip() for line in emit_opencl(map_to_device(loops)).program.splitlines()]
    (at,) = (k for k, line in enumerate(lines) if line == "#pragma unroll")
    heads = [line.split(";")[1].split(" < ")[1] for line in lines[at - 2:at + 2] if line.startswith("for")]
    assert heads == ["16", "32", "8"]
    assert lines[at - 3] == "if (M - 16 * y >= 16 && K - k_ >= 32 && N - 8 * x >= 8) {"


def test_statements_keep_their_conversions() -> None:
    assert "b[x] = (a[x - 1] + a[x] + a[x + 1]) / 3;" in emitted(STENCIL).program
