"""The search over blocks and points: as good as all sizes tried, and never beyond what a multiprocessor has."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

import pytest

from polysched.gpu import GpuOptions, Launch, map_to_device
from polysched.gpu.blocks import BlockSearch, Cost, Sizes, registers_of, sizes_of
from polysched.gpu.limits import LIMITS
from polysched.gpu.staging import phases_of
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_text
from polysched.target.gpus import SM_80, SM_90, Gpu
from tests.gpu.mapped import PRODUCT, SCALE, STENCIL
from tests.gpu.staged import BATCH, WINDOW
from tests.tiers import and_campaign

CHANNELS = ("void f(int n, float A[n][5], float B[n][5]) {\n#pragma scop\n"
            "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < 5; j++)\n      A[i][j] = 2 * B[i][j];\n"
            "#pragma endscop\n}\n")


def schedule_of(text: str) -> Schedule:
    return scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))


def search(text: str, size: int, gpu: Gpu = SM_80) -> BlockSearch:
    """The search for the first launch of a program, all of whose sizes are one number."""
    schedule = schedule_of(text)
    launch = map_to_device(schedule, options=GpuOptions(points=(1,), block=GpuOptions().block_of(2))).launches[0]
    launch = replace(launch, block=GpuOptions().block_of(len(launch.coordinates)))

    def sized(sizes: Sizes) -> Launch:
        own = replace(launch, block=sizes.block, points=sizes.points if prod(sizes.points) > 1 else (), phases=())
        return replace(own, phases=phases_of(schedule, own))
    start = sized(Sizes(launch.block, (1,) * len(launch.block)))
    return BlockSearch(scop=schedule.scop, start=start, sized=sized, gpus=(gpu,), blocks=True,
                       points=any(phase.staged for phase in start.phases),
                       sizes={parameter.name: size for parameter in schedule.scop.parameters})


def every_cost(searched: BlockSearch) -> list[Cost]:
    """Of all powers of two that the search may reach."""
    powers, dimensions = [2**k for k in range(9)], len(searched.start.block)
    points = [1, 2, 4, 8] if searched.points else [1]
    found = []
    for block in product(powers, repeat=dimensions):
        for own in product(points, repeat=dimensions):
            there = all(map(searched._has_values, range(dimensions), block, own))
            if there and searched._is_block(Sizes(block, own)) and prod(own) <= LIMITS.most_points:
                launch = searched.sized(Sizes(block, own))
                if searched.reason(launch) is None:
                    found.append(searched.cost(launch))
    return found


@pytest.mark.parametrize(("text", "size"), and_campaign([
    (SCALE, 100), (SCALE, 4096), (STENCIL, 1000), (CHANNELS, 5000)], [
    (PRODUCT, 64), (PRODUCT, 1000), (PRODUCT, 4096), (WINDOW, 1000)]))
def test_the_search_finds_what_all_sizes_have(text: str, size: int) -> None:
    searched = search(text, size)
    best = searched.best()
    least = min(cost.limiter for cost in every_cost(searched))
    assert least <= searched.cost(best).limiter <= 1.05 * least
    assert best.choice is not None
    assert best.choice.seconds == searched.cost(best).limiter <= best.choice.usual_seconds


def test_a_transposed_copy_has_squares_that_read_whole_sectors_both_ways() -> None:
    best = search(SCALE, 4096).best()
    assert best.block[0] * 8 >= 32
    assert best.block[1] * 8 >= 32
    assert best.choice is not None
    assert best.choice.usual_seconds > 2.4 * best.choice.seconds


def test_rows_of_five_leave_few_lanes_idle() -> None:
    best = search(CHANNELS, 100_000).best()
    assert best.block[0] == 8


@pytest.mark.parametrize("registers", [8192, 16384, 65536])
def test_no_block_needs_more_registers_than_there_are(registers: int) -> None:
    searched = search(PRODUCT, 2048, replace(SM_90, registers=registers))
    best = searched.best()
    assert registers_of(searched.scop, best) * best.items <= registers
    assert best.choice is not None
    assert (sum(best.choice.rejected.values()) > 0) == (registers < 65536)


def test_no_point_lies_beyond_all_values() -> None:
    searched = search(PRODUCT, 20)
    at = Sizes((32, 1), (1, 2))
    assert searched.start.coordinates   # 20 values along both
    steps = list(searched.steps(at))
    assert steps
    assert all(edge * (count - 1) < 20 for step in steps for edge, count in zip(*step, strict=True))
    assert all(step.points[0] == 1 for step in steps if step.block[0] == 32)


def test_a_block_has_a_warp_at_least_and_fits_every_device() -> None:
    searched = search(BATCH, 64)
    steps = [step for at in (sizes_of(searched.start), Sizes((32, 1, 1), (1, 8, 8)), Sizes((32, 4, 2), (1, 2, 1)))
             for step in searched.steps(at)]
    assert {prod(step.block) for step in steps} <= {32, 64, 128, 256}
    assert all(prod(step.points) <= LIMITS.most_points for step in steps)


def test_a_grid_of_unknown_length_does_not_get_longer_than_with_the_usual_block() -> None:
    assert all(step.block[1] >= 8 for step in search(SCALE, 64).steps(Sizes((32, 8), (1, 1))))
    rows = CHANNELS.replace("A[n][5]", "A[5][n]").replace("B[n][5]", "B[5][n]").replace("A[i][j] = 2 * B[i][j]",
                                                                                     "A[j][i] = 2 * B[j][i]")
    searched = search(rows, 64)   # its second coordinate has five values, whatever n is
    assert Sizes((32, 4), (1, 1)) in set(searched.steps(Sizes((32, 8), (1, 1))))


def test_fewer_points_do_not_make_the_grid_longer() -> None:
    searched = search(PRODUCT, 64)
    assert Sizes((32, 8), (1, 1)) in set(searched.steps(Sizes((32, 8), (1, 2))))
    assert all(step.block[1] * step.points[1] >= 8 for step in searched.steps(Sizes((64, 4), (1, 2))))


@pytest.mark.parametrize("options", [GpuOptions(block=(16, 4), points=(2, 2)), GpuOptions(block=(64, 2))])
def test_a_block_by_hand_stays(options: GpuOptions) -> None:
    launch = map_to_device(schedule_of(PRODUCT), options=options, sizes={"n": 64}).launches[0]
    assert launch.block == options.block
    assert (launch.choice is None) == bool(options.points)


def test_what_is_told_of_a_choice() -> None:
    best = search(PRODUCT, 2048, replace(SM_90, registers=8192)).best()
    told = str(best.choice)
    assert told.startswith("best of ")
    assert " sizes on sm_90, " in told
    assert "without registers of a multiprocessor" in told


def test_two_gpus_weigh_as_much_as_each_other() -> None:
    one, other = (search(PRODUCT, 4096, gpu) for gpu in (SM_80, SM_90))
    both = replace(one, gpus=(SM_80, SM_90))
    launch = both.start
    assert both.cost(launch).limiter == pytest.approx(
        (one.cost(launch).limiter * other.cost(launch).limiter) ** 0.5)
    assert str(both.best().choice).count("on sm_80 and sm_90") == 1
