"""Points of a work item: loops are shared where all of them run alike, and results are equal bit for bit."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polysched.emit_c.loop_ir.index import Comparison, constant, variable
from polysched.emit_c.loop_ir.loops import Block, For, If, Node, StatementInstance, Temporary
from polysched.emit_gpu import emit_cuda, emit_opencl
from polysched.emit_gpu.item_points import Point, full_blocks, is_shared, jammed, points_of
from polysched.emit_gpu.nvrtc import library, resources
from polysched.gpu import GpuOptions
from polysched.gpu.staging import Names
from polysched.pipeline.options import PipelineOptions
from tests.emit_gpu.emitted import EXACT, largest_difference, needs_device, verified
from tests.gpu.mapped import PRODUCT, SCALE, STENCIL, WAVEFRONT, mapped
from tests.gpu.staged import ALL, SWEEP
from tests.tiers import and_campaign

TWO_POINTS = (Point(number=(0,), values={}), Point(number=(1,), values={"x": variable("x") + constant(32)}))
X = frozenset({"x"})
HELD = ((Temporary(array="C", name="C_0"),), (Temporary(array="C", name="C_1"),))


def at(shift: int, held: int) -> StatementInstance:
    return StatementInstance("S", (variable("x") + constant(shift), variable("k")), HELD[held])


def one() -> StatementInstance:
    return StatementInstance("S", (variable("x"), variable("k")))


def loop(body: Node, upper: str = "n") -> For:
    return For("k", constant(0), variable(upper), 1, body)


def test_points_share_a_loop_whose_bounds_do_not_change() -> None:
    assert jammed(loop(one()), TWO_POINTS, X, HELD) == loop(Block((at(0, 0), at(32, 1))))


def test_a_loop_to_a_coordinate_stands_once_per_point() -> None:
    first, second = loop(at(0, 0), "x"), For("k", constant(0), variable("x") + constant(32), 1, at(32, 1))
    assert jammed(loop(one(), "x"), TWO_POINTS, X, HELD) == Block((first, second))


def test_conditions_of_points_stay_with_them() -> None:
    condition = Comparison("<", variable("x"), variable("n"))
    found = jammed(loop(If(condition, one())), TWO_POINTS, X, HELD)
    beside = Comparison("<", variable("x") + constant(32), variable("n"))
    assert found == loop(Block((If(condition, at(0, 0)), If(beside, at(32, 1)))))
    assert not is_shared(loop(If(condition, one())), X)
    assert is_shared(loop(one()), X)
    assert not is_shared(one(), X)


def test_a_condition_around_a_shared_loop_goes_inside() -> None:
    condition, beside = (Comparison("<", variable("x") + constant(shift), variable("n")) for shift in (0, 32))
    inside = Block((If(condition, at(0, 0)), If(beside, at(32, 1))))
    assert jammed(If(condition, loop(one())), TWO_POINTS, X, HELD) == loop(inside)
    own = If(condition, loop(one(), "x"))   # each point has a loop of its own, with its condition around it
    assert jammed(own, TWO_POINTS, X, HELD) == Block((
        If(condition, loop(at(0, 0), "x")),
        If(beside, For("k", constant(0), variable("x") + constant(32), 1, at(32, 1)))))
    either = If(Comparison("<", variable("m"), variable("n")), loop(one()), loop(one(), "m"))
    assert jammed(If(condition, either), TWO_POINTS, X, HELD) == If(either.condition, loop(inside), loop(inside, "m"))


def test_points_are_a_block_apart() -> None:
    (launch,) = mapped(PRODUCT, points=(2, 2)).launches
    found = [(point.number, {name: str(value) for name, value in point.values.items()})
             for point in points_of(launch, ("x", "y"))]
    x, y = str(variable("x") + constant(32)), str(variable("y") + constant(8))
    assert found == [((0, 0), {}), ((1, 0), {"x": x}), ((0, 1), {"y": y}), ((1, 1), {"x": x, "y": y})]


def test_full_blocks() -> None:
    (launch,) = mapped(PRODUCT, points=(2, 2)).launches
    places = Names(host=(), coordinates=("x", "y"), firsts=("a", "b"), tile="t")
    found = full_blocks(launch, launch.phases[1], places)
    edge = launch.phases[1].edge
    assert found.is_equal(isl.Set(f"[n, a, b, t] -> {{ : 0 <= a <= n - 64 and 0 <= b <= n - 16 and "
                                  f"0 <= t <= n - {edge} }}"))


def test_full_blocks_run_without_conditions() -> None:
    program = emit_opencl(mapped(PRODUCT, points=(2, 2))).program
    assert ("for (long k = tile; k < tile + 32; k++) {\n          C_item1_0_0 += A_tile1[y - block_y][k - tile] * "
            "B_tile1[k - tile][x - block_x];\n          C_item1_1_0 += ") in program


def test_operands_are_loaded_once_for_all_points() -> None:
    if library() is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc-cu12")
    (one_point,) = resources(emit_cuda(mapped(PRODUCT)).program, "sm_80")
    (many,) = resources(emit_cuda(mapped(PRODUCT, points=(4, 4))).program, "sm_80")
    assert one_point.registers < many.registers <= 255


@pytest.mark.parametrize(("name", "points"), and_campaign(
    [("triangle", (2, 2))],
    [(name, points) for name in sorted(ALL) for points in ((3, 1), (1, 4), (2, 3, 2))]))
def test_an_opencl_device_computes_the_same(name: str, points: tuple[int, ...], tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    text, sizes = ALL[name]
    (tmp_path / "f.c").write_text(text)
    options = PipelineOptions(device="opencl", gpu=GpuOptions(points=points))
    assert largest_difference(verified(tmp_path / "f.c", sizes, options)) == 0


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("text", "sizes"), and_campaign([(PRODUCT, {"n": 17})], [
    *((PRODUCT, {"n": size}) for size in (1, 15, 16, 31, 33)), (SCALE, {"n": 17}), (SWEEP, {"n": 23}),
    (STENCIL, {"t": 5, "n": 31}), (WAVEFRONT, {"n": 19})]))
def test_points_of_small_blocks(text: str, sizes: dict[str, int], shared: bool, tmp_path: Path,
                                monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    (tmp_path / "f.c").write_text(text)
    options = PipelineOptions(device="cuda", gpu=GpuOptions(block=(4, 2), points=(2, 4), shared=shared))
    assert largest_difference(verified(tmp_path / "f.c", sizes, options)) == 0
