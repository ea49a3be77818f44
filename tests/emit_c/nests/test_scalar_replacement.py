"""Scalar replacement in plain loops, on the loop IR: which loops around an update it takes in."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.loops import Node, RegisterTile
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_c.nests.scalar_replacement import hold_elements

FACTS = Facts(context=isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n >= 1 }"))
NEST = "for i in range(0, n):\n    for j in range(0, n):\n        for k in range(0, n):\n            S(i, j, k)\n"


def held(text: str, around: set[str]) -> Node:
    """The nest where a tile holds an element around all of its loops if these are among some variables."""
    return hold_elements(parse_loops(text), FACTS, lambda tile, _: {x.variable for x in tile.loops} <= around)


def tiles(node: Node) -> list[list[str]]:
    return [[loop.variable for loop in n.loops] for n in walk_nodes(node) if isinstance(n, RegisterTile)]


@pytest.mark.parametrize(("around", "found"), [
    (set(), []),
    ({"k"}, [["k"]]),
    ({"j", "k"}, [["j", "k"]]),
    ({"i", "j", "k"}, [["i", "j", "k"]]),
    ({"j"}, []),
])
def test_loops_join_from_the_innermost_outwards(around: set[str], found: list[list[str]]) -> None:
    assert tiles(held(NEST, around)) == found


def test_a_nest_that_holds_nothing_stays() -> None:
    assert held(NEST, set()) == parse_loops(NEST)


@pytest.mark.parametrize("mark", ["mark='role=loop simd=1'", "mark='role=loop parallel=1'",
                                  "guard=condition(k < n)"])
def test_loops_for_lanes_or_threads_or_without_a_bound_hold_nothing(mark: str) -> None:
    text = NEST.replace("k in range(0, n)", f"k in range(0, n, {mark})")
    assert held(text, {"i", "j", "k"}) == parse_loops(text)


def test_a_branch_inside_is_no_straight_code() -> None:
    text = "for k in range(0, n):\n    if k < 3:\n        S(0, 0, k)\n"
    assert held(text, {"k"}) == parse_loops(text)


def test_each_of_two_loops_gets_its_tile() -> None:
    text = ("for i in range(0, n):\n    for j in range(0, n):\n        S(i, j, 0)\n"
            "    for k in range(0, n):\n        S(i, 0, k)\n")
    assert tiles(held(text, {"i", "j", "k"})) == [["j"], ["k"]]


def test_temporaries_of_the_body_stay_private() -> None:
    text = "for k in range(0, n):\n    with local(Temporary(array='t', name='t')):\n        S(0, 0, k)\n"
    (tile,) = [n for n in walk_nodes(held(text, {"k"})) if isinstance(n, RegisterTile)]
    assert [t.name for t in tile.private] == ["t"]
