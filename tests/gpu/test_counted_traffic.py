"""The global memory that kernels are expected to move, beside the bytes that Oclgrind counts of each work item.

The model has the same where neighbours touch neighbouring elements, as in all of these.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.gpu import GpuOptions, map_to_device
from polysched.gpu.throughput import figures
from polysched.pipeline.files import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.target import find_compiler
from polysched.target.gpus import SM_80
from tests.emit_gpu.emitted import needs_device
from tests.emit_gpu.grinding import is_here, main_of
from tests.gpu.mapped import PRODUCT
from tests.gpu.reduced import TOTAL
from tests.gpu.stencils import LINE, PLANE
from tests.tiers import and_campaign

MOVED = re.compile(r"(?:load|store) global \((\d+) bytes\)")


def counted_bytes(path: Path, gpu: GpuOptions, size: int) -> int:
    """What Oclgrind counts of a program whose sizes are `size`, `size + 1`, ..."""
    if not is_here():
        pytest.skip("no Oclgrind: install the package oclgrind")
    needs_device()
    options = PipelineOptions(device="opencl", scheduler="original", gpu=gpu)
    source, program = path.with_suffix(".device.c"), path.with_suffix(".program")
    source.write_text(transform_file(path, options).text + main_of(path, size))
    done = find_compiler(None).run(["-w", "-O1", str(source), "-o", str(program), "-lOpenCL", "-lm"],
                                   folder=path.parent)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(["oclgrind", "--inst-counts", str(program)], capture_output=True, text=True, timeout=100,
                         check=False)
    assert ran.returncode == 0, ran.stderr
    return sum(map(int, MOVED.findall(ran.stdout)))


@pytest.mark.parametrize(("text", "gpu", "size", "names", "least", "most"), and_campaign([
    (PRODUCT, GpuOptions(points=(1,)), 64, ("n",), 1.0, 1.1),       # C is cleared, then loaded: the compiler knows it
    (PLANE, GpuOptions(points=(1,), time_tile=4), 20, ("t", "n", "m"), 0.99, 1.01),
], [(PRODUCT, GpuOptions(points=(2, 4)), 64, ("n",), 1.0, 1.3),
    (LINE, GpuOptions(points=(1,)), 30, ("t", "n"), 0.99, 1.01),
    (LINE, GpuOptions(points=(1,), time_tile=4), 30, ("t", "n"), 0.99, 1.01),
    (PLANE, GpuOptions(points=(1,)), 20, ("t", "n", "m"), 0.99, 1.01),
    (TOTAL, GpuOptions(), 8000, ("n",), 0.9, 1.1)]))
def test_the_model_expects_what_is_counted(text: str, gpu: GpuOptions, size: int, names: tuple[str, ...],
                                           least: float, most: float, tmp_path: Path) -> None:
    gpu = replace(gpu, devices=("sm_80",))   # whatever runs here
    (tmp_path / "f.c").write_text(text)
    counted = counted_bytes(tmp_path / "f.c", gpu, size)
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    sizes = {name: size + k for k, name in enumerate(names)}
    expected = sum(own.global_bytes for own in figures(map_to_device(schedule, options=gpu), SM_80, sizes))
    assert least <= expected / counted <= most, (expected, counted)
