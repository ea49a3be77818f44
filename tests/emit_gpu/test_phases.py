"""Tiles in shared memory: results are equal bit for bit, and every barrier is needed."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest

from polysched.emit_gpu import DeviceSource, emit_cuda
from polysched.emit_gpu.kernel_loops import kernel_loops
from polysched.emit_gpu.names import device_names
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.pipeline.files import TransformedFile, compiler_flags, transform_file
from polysched.pipeline.options import PipelineOptions
from tests.emit_gpu.emitted import EXACT, largest_difference, needs_device, verified
from tests.gpu.mapped import PRODUCT, mapped
from tests.gpu.staged import ALL, SWEEP, TWO
from tests.tiers import and_campaign


def printed(text: str) -> DeviceSource:
    return emit_cuda(mapped(text))


@pytest.mark.parametrize("name", and_campaign(["triangle"], sorted(set(ALL) - {"triangle"})))
def test_an_opencl_device_computes_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    text, sizes = ALL[name]
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", sizes)) == 0


@pytest.mark.parametrize("reversed_order", ["0", "1"])
@pytest.mark.parametrize("name", and_campaign(["batch", "thirds"], sorted(set(ALL) - {"batch", "thirds"})))
def test_threads_in_either_order_compute_the_same(name: str, reversed_order: str, tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", reversed_order)
    text, sizes = ALL[name]
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", sizes, PipelineOptions(device="cuda"))) == 0


@cache
def for_cuda(text: str) -> TransformedFile:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.c")
        path.write_text(text)
        return transform_file(path, PipelineOptions(device="cuda"))


def differs(text: str, barrier: int) -> bool:
    """Whether a program without one of its barriers computes something else."""
    made = for_cuda(text)
    pieces = made.text.split("__syncthreads();")
    text = "__syncthreads();".join(pieces[:barrier + 1]) + ";" + "__syncthreads();".join(pieces[barrier + 1:])
    subject = Subject(scops=tuple(r.scop for r in made.regions), transformed_text=text)
    flags = ("-O2", "-ffp-contract=off", *compiler_flags(made.regions))
    measured = compare_and_time(subject, {"n": 70}, options=MeasureOptions(flags=flags, pairs=0, warmups=0))
    assert measured.verification is not None
    return any(array.largest_absolute for array in measured.verification.arrays)


@pytest.mark.parametrize("barrier", [0, 1])
def test_without_one_of_its_barriers_a_program_is_wrong_in_one_of_two_orders(
        barrier: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    found = []
    for order in "01":
        monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", order)
        found.append(differs(PRODUCT, barrier))
    assert any(found)


def test_what_is_read_again_is_copied_once_for_a_tile() -> None:
    text = printed(PRODUCT).program
    assert "__shared__ __align__(16) float A_tile1[8][32];" in text
    assert "A_tile1[element / 32][element % 32] = A[at0 * A_1 + at1];" in text
    assert "C_item1 += A_tile1[y - block_y][k - tile] * B_tile1[k - tile][x - block_x];" in text
    assert text.count("__syncthreads();") == 2


def test_phases_have_arrays_of_their_own() -> None:
    text = printed(TWO).program
    assert text.count("__shared__") == 4
    assert len({line.strip() for line in text.splitlines() if "__shared__" in line}) == 4


def test_nothing_is_shared_where_another_launch_writes_what_is_read() -> None:
    text = printed(SWEEP).program
    assert "__syncthreads" not in text
    mapping = mapped(SWEEP)
    assert kernel_loops(mapping, mapping.launches[0], device_names(mapping.scop)).phases == ()


def test_what_is_read_at_places_from_memory_is_not_shared() -> None:
    text = PRODUCT.replace("float A[n][n]", "int at[n], float A[n][n]").replace("A[i][k]", "A[i][at[k]]")
    shared = [line.strip() for line in printed(text).program.splitlines() if "__shared__" in line]
    assert shared == ["__shared__ __align__(16) int at_tile1[32];", "__shared__ __align__(16) float B_tile1[32][32];"]
