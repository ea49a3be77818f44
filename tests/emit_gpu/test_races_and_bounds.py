"""Oclgrind finds no race and no access outside a buffer in the kernels; it finds those that are put there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from polysched.gpu import GpuOptions
from polysched.pipeline.options import PipelineOptions
from tests.emit_gpu.emitted import needs_device, transformed
from tests.emit_gpu.grinding import is_here, said_of
from tests.gpu.mapped import PRODUCT, SCALE, STENCIL, WAVEFRONT
from tests.gpu.reduced import TOTAL, TWICE
from tests.gpu.staged import ABSENT
from tests.tiers import and_campaign

KERNELS = Path(__file__).parents[1] / "kernels"

def complaints(path: Path, size: int, *mutation: str, gpu: GpuOptions | None = None) -> str:
    """What Oclgrind says of a program on a device; the mutation is a text and what takes its place, once."""
    if not is_here():
        pytest.skip("no Oclgrind: install the package oclgrind")
    needs_device()
    text = transformed(path, PipelineOptions(device="opencl", gpu=gpu)).text
    if mutation:
        assert mutation[0] in text
        text = text.replace(*mutation, 1)
    return said_of(path, text, size)


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
    assert words in complaints(tmp_path / "f.c", 9, *mutation, gpu=GpuOptions(shared=False))


@pytest.mark.parametrize("barrier", [0, 1])
def test_a_missing_barrier_is_a_race(barrier: int, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PRODUCT)
    name, gpu = "barrier(CLK_LOCAL_MEM_FENCE);", GpuOptions(points=(1, 2), devices=("sm_80", "sm_90"))
    text = transformed(tmp_path / "f.c", PipelineOptions(device="opencl", gpu=gpu)).text
    pieces = text.split(name)
    at = name + pieces[1] + name if barrier else name + pieces[1]
    instead = name + pieces[1] if barrier else pieces[1]
    assert "race" in complaints(tmp_path / "f.c", 33, at, instead, gpu=gpu)


@pytest.mark.parametrize("barrier", and_campaign([None, 2], [0, 1, 3, 4]))
def test_a_team_needs_each_of_its_barriers(barrier: int | None, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(TWICE)
    text = transformed(tmp_path / "f.c", PipelineOptions(device="opencl")).text
    places = [found.span() for found in re.finditer(r"barrier\(CLK_LOCAL_MEM_FENCE[^)]*\);", text)]
    assert len(places) == 5
    if not is_here():
        pytest.skip("no Oclgrind: install the package oclgrind")
    needs_device()
    if barrier is None:
        assert said_of(tmp_path / "f.c", text, 3) == ""
    else:
        first, end = places[barrier]
        assert "race" in said_of(tmp_path / "f.c", text[:first] + text[end:], 3)


@pytest.mark.parametrize("barrier", and_campaign([None, 0], [1, 2, 3]))
def test_blocks_that_reduce_together_need_each_of_their_barriers(barrier: int | None, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(TOTAL)
    text = transformed(tmp_path / "f.c", PipelineOptions(device="opencl", gpu=GpuOptions(shares=3))).text
    places = [found.span() for found in re.finditer(r"barrier\(CLK_LOCAL_MEM_FENCE[^)]*\);", text)]
    assert len(places) == 4
    if not is_here():
        pytest.skip("no Oclgrind: install the package oclgrind")
    needs_device()
    if barrier is None:
        assert said_of(tmp_path / "f.c", text, 1000) == ""
    else:
        first, end = places[barrier]
        assert "race" in said_of(tmp_path / "f.c", text[:first] + text[end:], 1000)
