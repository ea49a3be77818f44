"""What the lanes of a warp touch together, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.gpu import GpuOptions, Launch, map_to_device
from polysched.gpu.mapping import Phase
from polysched.gpu.warps import Warp, warp_of
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.scop.scop import Access, Statement
from polysched.target.gpus import POCL, SM_80
from tests.gpu.mapped import PRODUCT, SCALE
from tests.gpu.reduced import TOTAL


def of(text: str, block: tuple[int, ...]) -> tuple[Statement, Launch]:
    """The last statement of a program, and its launch with blocks of these edges."""
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    launch = map_to_device(schedule, options=GpuOptions(block=block, points=(1,))).launches[0]
    return schedule.scop.statements[-1], launch


def first_warp(launch: Launch) -> Warp:
    return warp_of(launch, Phase(domain=launch.domain), SM_80)


def access_of(statement: Statement, array: str) -> Access:
    return next(access for access in statement.accesses if access.array == array)


@pytest.mark.parametrize(("block", "lanes"), [
    ((32, 8), (32, 1)), ((8, 8), (8, 4)), ((16, 1), (16, 1)), ((5, 3), (5, 3)), ((256, 1), (32, 1)),
    ((1, 64), (1, 32))])
def test_lanes_are_along_the_first_coordinates(block: tuple[int, int], lanes: tuple[int, int]) -> None:
    assert first_warp(of(SCALE, block)[1]).lanes == lanes


@pytest.mark.parametrize(("block", "written", "read"), [
    ((32, 8), 8, 32),     # 32 doubles of a row; one of each of 32 rows
    ((8, 8), 4 * 2, 8 * 1),   # four rows of two sectors each; four doubles of each of eight rows
    ((4, 8), 8 * 1, 4 * 2)])
def test_sectors_of_a_transposed_copy(block: tuple[int, int], written: int, read: int) -> None:
    statement, launch = of(SCALE, block)
    warp = first_warp(launch)
    assert [warp.sectors(statement, access_of(statement, array), 8) for array in "AB"] == [written, read]


def test_neighbours_that_read_one_element_read_one_sector() -> None:
    update, launch = of(PRODUCT, (32, 8))
    assert first_warp(launch).sectors(update, access_of(update, "A"), 4) == 1
    assert first_warp(launch).sectors(update, access_of(update, "B"), 4) == 4
    narrow = first_warp(of(PRODUCT, (8, 8))[1])
    assert narrow.sectors(update, access_of(update, "A"), 4) == 4


@pytest.mark.parametrize(("block", "extents", "array", "width", "times"), [
    ((32, 8), (8, 32), "A", 4, 1.0),     # all lanes read one word
    ((32, 8), (32, 32), "B", 4, 1.0),    # 32 neighbours
    ((32, 8), (32, 32), "B", 8, 1.0),    # 64 words of 32 banks: two rounds are what they need
    ((1, 32), (32, 32), "A", 4, 32.0),   # 32 rows that begin at one bank
    ((1, 32), (32, 33), "A", 4, 1.0),    # rows a word longer begin at banks of their own
    ((8, 4), (4, 32), "A", 4, 4.0)])
def test_conflicts_of_banks(block: tuple[int, int], extents: tuple[int, int], array: str, width: int,
                            times: float) -> None:
    update, launch = of(PRODUCT, block)
    assert first_warp(launch).conflicts(update, access_of(update, array), extents, width) == times


def test_caches_have_no_banks() -> None:
    update, launch = of(PRODUCT, (1, 32))
    warp = replace(first_warp(launch), gpu=POCL)
    assert warp.conflicts(update, access_of(update, "A"), (32, 32), 4) == 1.0


def test_rows_that_do_not_fill_a_warp_leave_lanes_idle() -> None:
    short = SCALE.replace("j < n", "j < 5")
    wide, narrow = (of(short, block)[1] for block in ((32, 8), (8, 8)))
    assert first_warp(wide).issued(wide.domain, {"n": 1024}) == 32 / 5
    assert first_warp(narrow).issued(narrow.domain, {"n": 1024}) == 8 / 5


def test_a_team_is_along_the_steps_of_a_reduction() -> None:
    schedule = scheduled(analysed(from_c_text(TOTAL)).dependences, PipelineOptions(scheduler="original"))
    launch = map_to_device(schedule).launches[0]
    reduction = next(phase for phase in launch.phases if phase.reduces)
    warp = warp_of(launch, reduction, SM_80)
    assert warp.items == 32
    assert warp.functions[0] is reduction.step
