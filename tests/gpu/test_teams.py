"""Teams: where work items reduce together, and where they may not."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.gpu import GpuOptions, Launch, map_to_device
from polysched.gpu.instances import dealt
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from tests.gpu.mapped import CHAIN, PRODUCT, STENCIL
from tests.gpu.reduced import FLOATS, NARROW, PLANE, PREFIX, ROWS, TOTAL, TWICE


def launches(text: str, *, reassociate: bool = False, **sizes: int) -> tuple[Launch, ...]:
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    return map_to_device(schedule, options=GpuOptions(reassociate=reassociate), sizes=sizes).launches


def test_a_sum_has_a_team() -> None:
    (launch,) = launches(TOTAL)
    assert str(launch) == ("kernel0: 0 dimensions, a team of 256 work items for each value, run S0, S1; "
                           "sum of s by a tree")
    assert launch.items == 256


@pytest.mark.parametrize(("text", "operators"), [
    (ROWS, ["sum"]), (PLANE, ["xor"]), (TWICE, ["max", "sum"]), (NARROW, ["product", "sum"])])
def test_phases_reduce_one_after_the_other(text: str, operators: list[str]) -> None:
    found = [phase for launch in launches(text, n=100, m=10000) for phase in launch.phases if phase.reduces]
    assert [phase.reduces.operator for phase in found if phase.reduces] == operators


def test_a_team_waits_for_what_one_item_wrote() -> None:
    (launch,) = launches(TWICE, n=100, m=10000)
    assert [phase.waits for phase in launch.phases] == [False, False, False, True]
    (launch,) = launches(ROWS, n=100, m=10000)
    assert not any(phase.waits for phase in launch.phases)


def test_floats_are_reassociated_only_when_asked_for() -> None:
    assert launches(FLOATS, n=100, m=10000)[0].team == 0
    assert launches(FLOATS, reassociate=True, n=100, m=10000)[0].team == 256


def test_no_team_where_work_items_abound() -> None:
    assert launches(ROWS, n=1_000_000, m=100)[0].team == 0


@pytest.mark.parametrize("text", [
    PREFIX, STENCIL, CHAIN, PRODUCT.replace("float", "int"),
    TOTAL.replace("s[0] += A[i]", "s[0] += A[i] * s[0]"), TOTAL.replace("s[0] += A[i]", "s[i % 2] += A[i]"),
    TOTAL.replace("s[0] += A[i]", "A[i + 1] = A[i] + s[0]")])
def test_no_team_where_the_order_counts(text: str) -> None:
    assert not any(launch.team for launch in launches(text))


def test_values_are_dealt_out() -> None:
    domain = isl.UnionSet("[n] -> { S[i] : 0 <= i < n }")
    step = isl.UnionPwAff("{ S[i] -> [(2i + 1)] }")
    found = dealt(domain, step, "lane", 8)
    assert found.is_equal(isl.UnionSet("[n, lane] -> { S[i] : 0 <= i < n and (2i + 1 - lane) mod 8 = 0 }"))


def test_a_number_may_take_part() -> None:
    (launch,) = launches(TOTAL.replace("int n, ", "int n, int by, ").replace("+= A[i]", "+= A[i] * by"))
    assert launch.team == 256
