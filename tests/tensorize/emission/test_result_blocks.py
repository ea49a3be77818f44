"""Blocks of results: in place where they lie inside the array, else in a buffer with the part that exists."""

from __future__ import annotations

import re

import pytest

from polysched.target import host
from polysched.tensorize import match
from polysched.tensorize.emission.plan import Plan, block_cases, make_plan
from polysched.tensorize.emission.result_blocks import block_of_results, buffer_distances, ragged_helpers
from tests.tensorize.emission.native import FOUR, product


def plan_of(m: int, n: int, k: int) -> Plan:
    (found, *_) = match(product(m, n, k), FOUR).matches
    return make_plan(found, emulated=False, unroll=(3, 2), target=host())


def test_whole_blocks_have_no_buffer() -> None:
    block = block_of_results(plan_of(6, 16, 4), "Y", 0, reads="")
    assert not block.before
    assert not block.after
    assert block.pointer({}).startswith("Y + ")
    assert [*ragged_helpers(plan_of(6, 16, 4), "f")] == []


def test_registers_lie_behind_one_another_in_the_buffer() -> None:
    distances, elements = buffer_distances(plan_of(7, 13, 4), "Y")
    assert elements == 24
    assert sorted(distances.values()) == [4, 8]


@pytest.mark.parametrize(("reads", "filled"), [("", True), ("!(b == 0)", True), ("0", False)])
def test_a_buffer_is_filled_where_registers_are_loaded_from_it(reads: str, filled: bool) -> None:
    block = block_of_results(plan_of(7, 13, 4), "Y", 0, reads=reads)
    calls = [line for line in block.before if "{function}_edge(" in line]
    assert bool(calls) is filled
    assert all(reads in line for line in calls)
    assert len(block.after) == 1
    assert "ps_whole_Y" in block.after[0]


def test_the_edge_is_one_function_with_loops() -> None:
    lines = [*ragged_helpers(plan_of(7, 13, 4), "f")]
    cases = len(block_cases(plan_of(7, 13, 4)))
    assert sum("noinline" in line for line in lines) == cases
    assert len([line for line in lines if re.match(r" *for \(", line)]) <= 3 * cases
