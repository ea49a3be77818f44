"""Products on tensor cores as CUDA: equal to the original on the CPU, and compiled by NVRTC."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.emit_gpu import emit_cuda, emit_opencl
from polysched.emit_gpu.nvrtc import library, resources
from polysched.emit_gpu.tensor_cores.text import function_text
from polysched.errors import UnsupportedScopError
from polysched.gpu import GpuMapping, GpuOptions, map_to_device
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.tensorize import find_intrinsic
from tests.emit_gpu.emitted import largest_difference, transformed, verified
from tests.emit_gpu.tensor_cores.compared import SIZES, compared, relative
from tests.gpu.products import FLOATS, HALVES, INTEGERS, PLAIN, SEVERAL
from tests.tiers import and_campaign


def asked(*kinds: str, block: tuple[int, ...] = (), points: tuple[int, ...] = ()) -> PipelineOptions:
    return PipelineOptions(device="cuda", gpu=GpuOptions(tensor_cores=kinds, block=block or (32, 8), points=points))


def mapping_of(text: str, *kinds: str) -> GpuMapping:
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    return map_to_device(schedule, options=GpuOptions(tensor_cores=kinds, block=(32, 8)))


@pytest.mark.parametrize(("name", "order"), and_campaign([("square", "1")], [
    (name, order) for name in INTEGERS for order in "01"]))
def test_integers_are_equal_in_either_order_of_threads(name: str, order: str, tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", order)
    text, sizes = INTEGERS[name]
    (tmp_path / "f.c").write_text(text)
    assert "polysched::mma" in transformed(tmp_path / "f.c", asked("int8")).text
    assert largest_difference(verified(tmp_path / "f.c", sizes, asked("int8"))) == 0


@pytest.mark.parametrize("instruction", and_campaign(["mma"], ["wmma", "wgmma"]))
def test_searched_blocks_compute_the_same(instruction: str, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    own = PipelineOptions(device="cuda", scheduler="original", gpu=GpuOptions(
        tensor_cores=("int8",), tensor_instruction=instruction))
    made = transformed(tmp_path / "f.c", own).regions[0].on_device
    assert made is not None
    assert made.mapping.launches[0].choice is not None
    assert made.mapping.launches[0].edges[0] == 128
    assert largest_difference(verified(tmp_path / "f.c", {"n": 131, "m": 150, "q": 70}, own)) == 0


@pytest.mark.parametrize(("block", "points"), and_campaign(
    [((64, 2), (1, 16))], [((32, 4), (4, 8)), ((32, 8), (1, 2))]))
def test_other_blocks(block: tuple[int, ...], points: tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    assert largest_difference(verified(tmp_path / "f.c", SIZES, asked("int8", block=block, points=points))) == 0


@pytest.mark.parametrize(("n", "m", "q"), and_campaign(
    [(1, 1, 1)], [(64, 64, 64), (129, 2, 3), (5, 70, 64), (65, 1, 63)]))
def test_sizes_around_those_of_a_block(n: int, m: int, q: int, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    assert largest_difference(verified(tmp_path / "f.c", {"n": n, "m": m, "q": q}, asked("int8"))) == 0


def test_half_precision_is_summed_in_another_order(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(HALVES)
    assert largest_difference(verified(tmp_path / "f.c", SIZES, asked("float16"))) < 1e-3


def test_tf32_loses_bits(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(FLOATS)
    assert 1e-6 < relative(compared(tmp_path / "f.c", asked("tf32"))) < 0.1


@pytest.mark.parametrize(("earlier", "later"), and_campaign(
    [("part % 2 * 8][", "part % 2 * 4][")], [
        ("+ lane / 4][", "+ lane % 4]["), ("lane % 4 * 2 + part % 2", "lane % 4 + part % 2 * 4")]))
def test_another_layout_of_fragments_shows(earlier: str, later: str, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    assert relative(compared(tmp_path / "f.c", asked("int8"), earlier, later)) > 0


@pytest.mark.parametrize("barrier", and_campaign([2], [0, 1, 3]))
def test_each_barrier_is_needed_in_one_of_two_orders(barrier: int, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    options = PipelineOptions(device="cuda", scheduler="original", gpu=GpuOptions(tensor_cores=("int8",)))
    text = transformed(tmp_path / "f.c", options).text
    pieces = text.split("__syncthreads();")
    assert len(pieces) == 5
    before = pieces[barrier][-60:] + "__syncthreads();" + pieces[barrier + 1][:60]
    found = []
    for order in "01":
        monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", order)
        after = before.replace("__syncthreads();", ";")
        found.append(relative(compared(tmp_path / "f.c", options, before, after)))
    assert max(found) > 0


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_nvrtc_compiles_all_kinds(architecture: str) -> None:
    if library() is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc-cu12")
    brains = HALVES.replace("_Float16", "__bf16")
    for kind, text in (("int8", PLAIN), ("int8", SEVERAL), ("float16", HALVES), ("bfloat16", brains), ("tf32", FLOATS)):
        found = resources(emit_cuda(mapping_of(text, kind)).program, architecture)
        assert any(own.shared == 2 * 64 * 80 for own in found)
        assert all(own.registers <= 128 and not own.spilled for own in found)


def test_the_function_is_the_described_instruction() -> None:
    text = function_text(find_intrinsic("mma_16x8x16"))
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in text
    assert "(float *c, const unsigned *a, const unsigned *b)" in text


def test_opencl_has_no_such_instructions() -> None:
    with pytest.raises(UnsupportedScopError, match="OpenCL C has no instructions for tensor cores"):
        emit_opencl(mapping_of(PLAIN, "int8"))


@pytest.mark.parametrize(("earlier", "later"), [
    ("C[i][j] *= 2", "B[0][j] += B[1][j]"), ("#pragma scop\n", "#pragma scop\n  for (int j = 0; j < m; j++)\n"
                                             "    B[0][j] = 1;\n")])
def test_half_precision_elsewhere_is_refused(earlier: str, later: str) -> None:
    text = HALVES.replace(earlier, later)
    with pytest.raises(UnsupportedScopError, match="no type _Float16"):
        emit_cuda(mapping_of(text, "float16"))
