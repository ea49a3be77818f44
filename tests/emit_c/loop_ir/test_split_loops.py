"""Loops cut into ranges visit what they visited, in the same order."""

from __future__ import annotations

import pytest

from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.loop_ir.index import Comparison, constant, variable
from polysched.emit_c.loop_ir.loops import For, If, RegisterTile
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.split_loops import around, limits_of, split_loop, split_where
from polysched.emit_c.loop_ir.traversal import block, walk_nodes

I_, N = variable("i"), variable("n")


def loop_of(text: str) -> tuple[For, If]:
    loop = parse_loops(text)
    assert isinstance(loop, For)
    return loop, next(node for node in walk_nodes(loop) if isinstance(node, If))


@pytest.mark.parametrize("condition", ["i >= 3", "n - 2 >= i", "all(i >= 3, n - 2 >= i)", "all(2*i >= n, 7 >= 3*i)"])
@pytest.mark.parametrize("otherwise", ["", "    else:\n        T(i)\n"])
def test_parts_visit_what_the_loop_visits(condition: str, otherwise: str) -> None:
    loop, condition_of = loop_of(f"for i in range(1, n):\n    if {condition}:\n        S(i)\n{otherwise}    U(i)\n")
    parts = split_where(loop, condition_of)
    assert parts is not None
    assert not any(isinstance(node, If) for part in parts for node in walk_nodes(part))
    for n in range(12):
        assert run_loops(block(parts), {"n": n}) == run_loops(loop, {"n": n})


@pytest.mark.parametrize("text", [
    "for i in range(0, n, 2):\n    if i >= 3:\n        S(i)\n",                            # not every value
    "for i in range(0, n):\n    if m >= 3:\n        S(i)\n",                               # not of the loop
    "for i in range(0, n):\n    if any(i >= 3, 1 >= i):\n        S(i)\n",                  # two ranges
    "for i in range(0, n):\n    if i == 3:\n        S(i)\n",
    "for i in range(0, n):\n    if i >= floord(i, 2):\n        S(i)\n",                    # the limit moves with it
    "for i in range(0, n):\n    for j in range(0, n):\n        if i >= 3:\n            S(i, j)\n",
])
def test_conditions_that_are_no_range_of_the_loop_stay(text: str) -> None:
    assert split_where(*loop_of(text)) is None


@pytest.mark.parametrize(("comparison", "lowers", "uppers"), [
    (Comparison(">=", I_, N), [N], []),
    (Comparison(">=", N, I_), [], [N + 1]),
    (Comparison(">=", I_ * 2, constant(5)), [constant(3)], []),
    (Comparison(">=", constant(7), I_ * 3), [], [constant(3)]),
])
def test_limits_are_the_first_value_and_one_past_the_last(comparison, lowers, uppers) -> None:
    assert limits_of("i", [comparison]) == (lowers, uppers)


def test_the_range_in_the_middle_holds_the_inner_node() -> None:
    loop, inner = parse_loops("for i in range(0, n):\n    S(i)\n"), parse_loops("T(i)")
    assert isinstance(loop, For)
    assert run_loops(split_loop(loop, inner, [constant(2)], [constant(4)]), {"n": 6}) == [
        ("S", (0,)), ("S", (1,)), ("T", (2,)), ("T", (3,)), ("S", (4,)), ("S", (5,))]
    assert run_loops(split_loop(loop, inner, [], [constant(4)]), {"n": 2}) == [("T", (0,)), ("T", (1,))]


def test_a_loop_around_a_register_tile_is_one_of_its_loops() -> None:
    loop, tile = parse_loops("for k in range(0, n):\n    S(k)\n"), RegisterTile((), (), parse_loops("S(k)"))
    assert isinstance(loop, For)
    made = around(loop, tile)
    assert isinstance(made, RegisterTile)
    assert [inner.variable for inner in made.loops] == ["k"]
