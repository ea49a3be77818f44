"""Oclgrind finds no race and no access outside a buffer in the kernels; it finds those that are put there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from polysched.gpu import GpuOptions
from polysched.pipeline.files import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_file
from polysched.scop.signature import ParameterKind
from polysched.target import find_compiler
from tests.emit_gpu.emitted import needs_device
from tests.gpu.mapped import PRODUCT, SCALE, STENCIL, WAVEFRONT
from tests.gpu.staged import ABSENT
from tests.tiers import and_campaign

KERNELS = Path(__file__).parents[1] / "kernels"
BUFFER_BYTES = 1 << 16


def main_of(path: Path, size: int) -> str:
    """A `main` that calls the function around the first region; sizes are `size`, `size + 1`, ..."""
    source = from_c_file(str(path)).source
    assert source is not None
    assert source.signature is not None
    declared, passed, sizes = [], [], 0
    for number, parameter in enumerate(source.signature.parameters):
        if parameter.kind is ParameterKind.ARRAY:
            c_type = parameter.dtype.c_name
            declared.append(f"static {c_type} buffer{number}[{BUFFER_BYTES} / sizeof({c_type})];")
            passed.append(f"(void *)buffer{number}")
        elif parameter.kind is ParameterKind.INTEGER:
            passed.append(str(size + sizes))
            sizes += 1
        else:
            passed.append("1.5")
    return "\n".join([*declared, f"int main(void) {{ {source.signature.name}({', '.join(passed)}); return 0; }}", ""])


def complaints(path: Path, size: int, *mutation: str, shared: bool = True) -> str:
    """What Oclgrind says of a program on a device; the mutation is a text and what takes its place, once."""
    if shutil.which("oclgrind") is None:
        pytest.skip("no Oclgrind: install the package oclgrind")
    needs_device(path.parent)
    text = transform_file(path, PipelineOptions(device="opencl", gpu=GpuOptions(shared=shared))).text
    if mutation:
        assert mutation[0] in text
        text = text.replace(*mutation, 1)
    made, program = path.with_suffix(".device.c"), path.with_suffix(".program")
    made.write_text(text + main_of(path, size))
    done = find_compiler(None).run(["-w", "-O1", str(made), "-o", str(program), "-lOpenCL", "-lm"], folder=path.parent)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(["oclgrind", "--data-races", "--uniform-writes", "--max-errors", "3", str(program)],
                         capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("text", and_campaign([PRODUCT, STENCIL], [SCALE, WAVEFRONT]))
def test_small_programs(text: str, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(text)
    assert complaints(tmp_path / "f.c", 9) == ""


def test_no_block_copies_rows_that_the_device_has_not(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(ABSENT)
    assert complaints(tmp_path / "f.c", 8) == ""


@pytest.mark.parametrize("name", and_campaign(["trmm"], ["correlation", "lu", "floyd_warshall", "fdtd_2d"]))
def test_kernels(name: str, tmp_path: Path) -> None:
    shutil.copy(KERNELS / f"{name}.c", tmp_path / "f.c")
    assert complaints(tmp_path / "f.c", 9) == ""


@pytest.mark.parametrize(("mutation", "words"), [
    (("get_local_id(0)", "(get_local_id(0) / 2)"), "Write-write data race"),
    (("k < n; k++)\\n", "k <= n; k++)\\n"), "Invalid read")])
def test_what_is_put_there_is_found(mutation: tuple[str, str], words: str, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PRODUCT)
    assert words in complaints(tmp_path / "f.c", 9, *mutation, shared=False)


@pytest.mark.parametrize("barrier", [0, 1])
def test_a_missing_barrier_is_a_race(barrier: int, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PRODUCT)
    name = "barrier(CLK_LOCAL_MEM_FENCE);"
    text = transform_file(tmp_path / "f.c", PipelineOptions(device="opencl")).text
    pieces = text.split(name)
    at = name + pieces[1] + name if barrier else name + pieces[1]
    instead = name + pieces[1] if barrier else pieces[1]
    assert "race" in complaints(tmp_path / "f.c", 40, at, instead)
