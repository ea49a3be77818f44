"""Nests that end in the edges of a register tile: which bounds an edge has, and how it is widened."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import Comparison, Linear, constant, variable
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.text import linear_text
from polysched.emit_c.register_tiles.register_nests import (
    EdgeRange,
    RegisterNest,
    points_left,
    register_nest,
    widened,
)

FACTS = Facts(context=isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n >= 1 }"))
ROWS = "mark='role=point register=1 unroll=4'"
LANES = "mark='role=point register=1 unroll=16 simd=1'"
NEST = ("for k in range(0, n):\n    for i in range({i}, {ROWS}):\n        for j in range({j}, {LANES}):\n"
        "            S(i, j, k)\n")


def nest(i: str = "4*a, 4*a + 4", j: str = "16*b, 16*b + 16", text: str = NEST) -> RegisterNest | None:
    top = parse_loops(text.format(i=i, j=j, ROWS=ROWS, LANES=LANES))
    assert isinstance(top, For)
    return register_nest(top)


def texts(forms: tuple[Linear, ...]) -> list[str]:
    return [linear_text(form) for form in forms]


def test_a_full_tile() -> None:
    found = nest()
    assert found is not None
    assert [loop.variable for loop in found.loops] == ["k"]
    assert [(r.edge.variable, r.edge.count, r.edge.simd) for r in found.ranges] == [("i", 4, False), ("j", 16, True)]
    assert all(r.is_fixed and not r.is_full() for r in found.ranges)
    assert found.columns == 16


def test_bounds_are_sorted_by_what_moves_them() -> None:
    found = nest("max(4*a, k), min(4*a + 4, n)", "16*b, min(16*b + 16, n, i + 1)")
    assert found is not None
    rows, lanes = found.ranges
    assert (texts(rows.uppers), texts(rows.moving_lowers), rows.cross_lowers) == (["n"], ["k"], ())
    assert (texts(lanes.uppers), texts(lanes.cross_uppers), lanes.moving_uppers) == (["n"], ["i + 1"], ())
    assert not rows.is_fixed
    assert not lanes.is_fixed
    assert rows.is_full() == (Comparison(">=", variable("n"), variable("a") * 4 + 4),)


@pytest.mark.parametrize(("i", "j"), [
    ("0, n", "16*b, 16*b + 16"),          # no constant number of points
    ("4*a, 4*a + 5", "16*b, 16*b + 16"),  # more than are unrolled
    ("4*a, 4*a", "16*b, 16*b + 16"),      # none
    ("k, k + 4", "16*b, 16*b + 16"),      # moved by a loop inside
])
def test_no_edge(i: str, j: str) -> None:
    assert nest(i, j) is None


@pytest.mark.parametrize("text", [
    "for k in range(0, n):\n    S(0, 0, k)\n",
    NEST.replace("            S(i, j, k)", "            if i < j:\n                S(i, j, k)"),
    NEST.replace("range(0, n)", "range(0, n, guard=condition(k < n))"),
])
def test_no_nest(text: str) -> None:
    assert nest(text=text) is None


@pytest.mark.parametrize(("count", "wide"), [(3, 4), (5, 8), (8, None), (9, 16), (15, 16), (16, None), (1, None)])
def test_short_rows_are_widened_to_whole_vectors(count: int, wide: int | None) -> None:
    found = nest(j=f"0, {count}")
    assert found is not None
    made = widened(found)
    assert (made.ranges[-1].edge.count if made else None) == wide
    if made:
        assert texts(made.ranges[-1].uppers) == [str(count)], "no more points than before are instances"
        assert made.ranges[0] == found.ranges[0]


def part(base: Linear, *uppers: Linear) -> EdgeRange:
    found = nest(j="16*b, 16*b + 16")
    assert found is not None
    return replace(found.ranges[-1], edge=replace(found.ranges[-1].edge, base=base), uppers=uppers)


def test_points_left_of_a_constant_end() -> None:
    last = variable("b") * 16
    there = FACTS.given(Comparison("==", variable("b"), constant(6)))
    assert points_left(part(last, constant(100)), there) == 4
    assert points_left(part(last, constant(100)), FACTS) == 0, "not certain in which tile"
    assert points_left(part(last, variable("n")), there) == 0
    assert points_left(part(last, constant(100), constant(101)), there) == 0
    assert points_left(part(last, constant(96)), there) == 0, "nothing is left"
