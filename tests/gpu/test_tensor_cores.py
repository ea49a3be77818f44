"""Products on tensor cores: which phases are some, and what is refused."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.gpu import GpuMapping, GpuOptions, Launch, map_to_device
from polysched.gpu.tensor_cores import warps_of
from polysched.gpu.throughput import figures
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.target.gpus import SM_80
from tests.gpu.products import BATCH, FLOATS, HALVES, PLAIN, SEVERAL, SQUARE, TRIANGLE, UNSIGNED


def mapped(text: str, *kinds: str, block: tuple[int, ...] = (), points: tuple[int, ...] = ()) -> GpuMapping:
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    return map_to_device(schedule, options=GpuOptions(tensor_cores=kinds, block=block, points=points))


def products(mapping: GpuMapping) -> list[str]:
    return [phase.tensor.intrinsic.name for launch in mapping.launches for phase in launch.phases
            if phase.tensor is not None]


@pytest.mark.parametrize(("text", "kind", "names"), [
    (PLAIN, "int8", ["mma_16x8x16_s8"]), (UNSIGNED, "int8", ["mma_16x8x16_u8"]), (BATCH, "int8", ["mma_16x8x16_s8"]),
    (SQUARE, "int8", ["mma_16x8x16_s8"]), (SEVERAL, "int8", ["mma_16x8x16_s8", "mma_16x8x16_u8"] * 2),
    (HALVES, "float16", ["mma_16x8x16"]), (FLOATS, "tf32", ["mma_16x8x8_tf32"]),
    (FLOATS, "int8", []), (HALVES, "bfloat16", []), (TRIANGLE, "int8", []),
    (PLAIN.replace("A[i][k] * B", "A[i][k] + B"), "int8", []),
    (PLAIN.replace("C[i][j] *= 2", "A[i][j] = 1"), "int8", []),
    (PLAIN.replace("A[i][k]", "A[i][k + j]"), "int8", []), (PLAIN.replace("k < q; k++", "k < q; k += 2"), "int8", [])])
def test_products_of_boxes_are_found(text: str, kind: str, names: list[str]) -> None:
    mapping = mapped(text, kind)
    assert products(mapping) == names
    assert (mapping.lines()[-1] == f"no product of {kind} may run on tensor cores") == (not names)


@pytest.mark.parametrize(("text", "kind", "names"), [
    (SEVERAL, "int8", ["mma_16x16x16_s8", "mma_16x16x16_u8"] * 2), (HALVES, "float16", ["mma_16x16x16"]),
    (FLOATS, "tf32", ["mma_16x16x8_tf32"]), (TRIANGLE, "int8", [])])
def test_wmma_computes_the_same_products(text: str, kind: str, names: list[str]) -> None:
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    mapping = map_to_device(schedule, options=GpuOptions(tensor_cores=(kind,), tensor_instruction="wmma"))
    assert products(mapping) == names
    for launch in mapping.launches:
        for product in (phase.tensor for phase in launch.phases if phase.tensor is not None):
            assert (product.is_loaded, product.row_bytes % 32, product.piece_bytes) == (True, 0, 96)
            assert product.shared_bytes_of_warps == 8 * 16 * 96


def test_nobody_asked_for_none() -> None:
    mapping = mapped(PLAIN)
    assert products(mapping) == []
    assert "tensor cores" not in str(mapping)


def test_the_rest_of_a_launch_waits() -> None:
    (launch,) = mapped(PLAIN, "int8", block=(32, 8)).launches
    assert [(phase.tensor is not None, phase.waits) for phase in launch.phases] == [
        (False, False), (True, True), (False, True)]
    assert launch.edges == (64, 64)
    assert "tiles of 64 steps of A, B in shared memory, C in fragments of mma_16x8x16_s8" in str(launch)


@pytest.mark.parametrize(("options", "names"), [
    ({"block": (64, 2)}, ["mma_16x8x16_s8"]), ({"block": (32, 4), "points": (1, 8)}, ["mma_16x8x16_s8"]),
    ({"block": (32, 8), "points": (1, 1)}, []), ({"block": (1024,), "points": (4, 16)}, []),
    ({"block": (10, 5)}, []), ({"block": (32, 4, 2)}, ["mma_16x8x16_s8"])])
def test_blocks_by_hand_have_to_fit(options: dict[str, tuple[int, ...]], names: list[str]) -> None:
    assert products(mapped(PLAIN, "int8", **options)) == names


def test_warps_share_the_results_of_a_block_evenly() -> None:
    (launch,) = mapped(PLAIN, "int8").launches
    assert warps_of(launch, 16, 8) in ((2, 4), (4, 2))
    assert warps_of(launch, 48, 8) is None


def test_the_model_counts_the_pipe_of_tensor_cores() -> None:
    schedule = scheduled(analysed(from_c_text(PLAIN)).dependences, PipelineOptions(scheduler="original"))
    sizes = {"n": 4096, "m": 4096, "q": 4096}
    with_them, without = (figures(map_to_device(schedule, options=GpuOptions(
        tensor_cores=kinds, block=(32, 8))), SM_80, sizes)[0] for kinds in (("int8",), ()))
    expected = 4096 ** 3 / 2048 / 108 / 1.41e9
    assert with_them.seconds["tensor8"] == pytest.approx(expected, rel=0.01)   # some multiprocessors have a block more
    assert with_them.seconds[with_them.limiter] < without.seconds[without.limiter]


def sized(text: str, kind: str, instruction: str, **sizes: int) -> Launch:
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    options = GpuOptions(tensor_cores=(kind,), tensor_instruction=instruction)
    return map_to_device(schedule, options=options, sizes=sizes).launches[0]


@pytest.mark.parametrize(("instruction", "large", "small"), [
    ("mma", (128, 128), (32, 64)), ("wmma", (128, 64), (32, 64)), ("wgmma", (128, 128), (64, 64))])
def test_few_results_have_small_blocks_and_many_have_large_ones(
        instruction: str, large: tuple[int, int], small: tuple[int, int]) -> None:
    found = [sized(HALVES, "float16", instruction, n=n, m=n, q=4096) for n in (4096, 256)]
    assert [launch.edges for launch in found] == [large, small]
    for launch in found:
        assert launch.choice is not None
        assert launch.choice.seconds <= launch.choice.usual_seconds
        assert launch.choice.gpus == (("sm_90",) if instruction == "wgmma" else ("sm_80", "sm_90"))
        assert all(phase.tensor for phase in launch.phases if phase.step is not None)


def test_larger_blocks_read_less_and_larger_parts_of_a_warp_too() -> None:
    schedule = scheduled(analysed(from_c_text(HALVES)).dependences, PipelineOptions(scheduler="original"))
    sizes = {"n": 4096, "m": 4096, "q": 4096}
    small, large = (figures(map_to_device(schedule, options=GpuOptions(
        tensor_cores=("float16",), block=block, points=points)), SM_80, sizes)[0]
        for block, points in (((32, 8), (2, 8)), ((16, 16), (8, 8))))
    assert large.global_bytes < 0.6 * small.global_bytes
    assert large.seconds["load"] < small.seconds["load"]
    assert large.seconds["tensor16"] == pytest.approx(small.seconds["tensor16"], rel=0.06)
    assert small.seconds["latency"] < 0.01   # of an instruction, not of each product that it computes


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match="no products of int4"):
        GpuOptions(tensor_cores=("int4",))
