"""Points of work items: where the model wants them, and where there are none."""

from __future__ import annotations

import pytest

from polysched.gpu import GpuOptions, Launch, map_to_device
from polysched.gpu.blocks import registers_of
from polysched.gpu.throughput import LaunchModel, points_that_share
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.target.gpus import POCL, SM_80, Gpu
from tests.gpu.mapped import CHAIN, PRODUCT, SCALE, STENCIL, WAVEFRONT, mapped
from tests.gpu.staged import BATCH, WINDOW


def chosen(text: str, options: GpuOptions | None = None, **sizes: int) -> Launch:
    """The first launch as the model wants it."""
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    return map_to_device(schedule, options=options, sizes=sizes).launches[0]


def seconds(launch: Launch, text: str, n: int) -> float:
    scop = from_c_text(text)
    model = LaunchModel(scop=scop, launch=launch, gpu=SM_80, sizes={"n": n},
                        registers=registers_of(scop, launch))
    return max(model.seconds().values())


def test_a_large_product_is_bound_by_its_arithmetic() -> None:
    launch, one = chosen(PRODUCT, n=4096), chosen(PRODUCT, GpuOptions(points=(1,)), n=4096)
    assert one.points == ()
    assert launch.points_of_item >= 16
    bound = 4096**3 / (64 * 108 * 1.41e9)   # 1024 blocks on 108 multiprocessors: some have a tenth
    assert bound <= seconds(launch, PRODUCT, 4096) <= 1.06 * bound
    assert seconds(one, PRODUCT, 4096) > 3.7 * seconds(launch, PRODUCT, 4096)


def test_a_small_product_rather_has_more_blocks() -> None:
    assert chosen(PRODUCT, n=128).points_of_item < chosen(PRODUCT, n=4096).points_of_item


@pytest.mark.parametrize("text", [SCALE, STENCIL, WAVEFRONT, CHAIN])
def test_no_points_where_nothing_is_read_again(text: str) -> None:
    assert chosen(text).points == ()


@pytest.mark.parametrize("text", [WINDOW, BATCH])
def test_other_programs_share_operands_too(text: str) -> None:
    assert chosen(text, n=512, b=512, m=512).points_of_item > 1


def test_points_along_a_coordinate_share_what_does_not_change_along_it() -> None:
    (launch,) = mapped(PRODUCT, points=(2, 4)).launches
    update = from_c_text(PRODUCT).statements[1]
    shared = {access.array: points_that_share(launch, update, access) for access in update.reads}
    assert shared == {"C": 1, "A": 2, "B": 4}
    assert registers_of(from_c_text(PRODUCT), launch) == 32 + 8 + 4 + 2
    assert launch.edges == (64, 32)


def test_points_by_hand_need_no_shared_memory() -> None:
    (launch,) = mapped(PRODUCT, points=(1, 2), shared=False, block=(32, 8)).launches
    assert [(phase.staged, phase.kept) for phase in launch.phases] == [((), ()), ((), ("C",))]
    assert str(launch) == ("kernel0: 2 dimensions in blocks of 32x8 work items, 1x2 points each, run S0, S1; "
                           "C in registers")


def test_a_block_that_registers_do_not_hold_has_fewer_points() -> None:
    wide = chosen(PRODUCT, GpuOptions(block=(32, 32)), n=4096)
    assert registers_of(from_c_text(PRODUCT), wide) * 1024 <= SM_80.registers


def test_a_launch_with_temporaries_has_one_point() -> None:
    text = ("void f(int n, double A[n][n]) {\n  double t[n];\n#pragma scop\n  for (int i = 0; i < n; i++) {\n"
            "    t[i] = 0;\n    for (int j = 0; j < n; j++)\n      t[i] += A[i][j];\n    A[i][0] = t[i];\n  }\n"
            "#pragma endscop\n}\n")
    assert chosen(text, GpuOptions(points=(4,))).points == ()


def test_a_device_that_loops_over_work_items_has_blocks_of_a_row_where_rows_are_long() -> None:
    text = SCALE.replace("i < n", "i < m").replace("int n, ", "int n, int m, ").replace("A[n]", "A[m]").replace(
        "B[n][n]", "B[m][n]").replace("B[j][i]", "B[i][j]")
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))

    def block(n: int, *gpus: Gpu) -> tuple[int, ...]:
        return map_to_device(schedule, sizes={"n": n, "m": 4096}, gpus=gpus).launches[0].block

    assert block(4096, POCL) == (256, 1)
    assert block(40, POCL)[1] > 1
    assert block(4096, SM_80) == (32, 8)
