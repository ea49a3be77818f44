"""Several teams for one value: where they pay, and what becomes of the launch."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.gpu import GpuOptions, Launch, map_to_device
from polysched.gpu.choice import seconds_of
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from tests.gpu.reduced import FLOATS, TOTAL, TWICE


def launches(text: str, *, reassociate: bool = False, shares: int = 0, **sizes: int) -> tuple[Launch, ...]:
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    options = GpuOptions(reassociate=reassociate, shares=shares)
    return map_to_device(schedule, options=options, sizes=sizes).launches


def test_a_long_sum_has_many_teams() -> None:
    first, second = launches(TOTAL, n=10_000_000)
    assert str(first) == "kernel0: one work item runs S0"
    assert str(second) == ("kernel1: 0 dimensions, 256 teams of 256 work items for each value, run S1; "
                           "sum of s by a tree")
    assert second.domain.is_equal(second.phases[0].domain)


@pytest.mark.parametrize(("rows", "columns", "shares"), [
    (1, 100_000_000, [1, 256]), (20, 1_000_000, [1, 19]), (1, 70_000, [1, 256]), (1, 60_000, [1]),
    (300, 1_000_000, [1])])
def test_teams_follow_from_what_they_spare(rows: int, columns: int, shares: list[int]) -> None:
    assert [own.shares for own in launches(FLOATS, reassociate=True, n=rows, m=columns)] == shares


def test_phases_become_launches_in_their_order() -> None:
    found = launches(TWICE, shares=3, n=5, m=600)
    assert [(own.team, own.shares, own.statements()) for own in found] == [
        (0, 1, ("S0",)), (256, 3, ("S1",)), (0, 1, ("S2",)), (256, 3, ("S3",))]
    assert [len(own.coordinates) for own in found] == [1, 1, 1, 1]


def test_more_teams_are_expected_to_be_faster() -> None:
    schedule = scheduled(analysed(from_c_text(TOTAL)).dependences, PipelineOptions(scheduler="original"))
    one, many = (map_to_device(schedule, options=GpuOptions(shares=shares), sizes={"n": 10_000_000})
                 for shares in (1, 256))
    assert seconds_of(many, {"n": 10_000_000}) < seconds_of(one, {"n": 10_000_000})


def test_too_many_are_refused() -> None:
    with pytest.raises(UsageError, match="257 blocks cannot reduce together"):
        GpuOptions(shares=257)
