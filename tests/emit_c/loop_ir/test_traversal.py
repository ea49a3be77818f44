"""Walks over the loop IR: order, changes, names, and the loops that a register tile stands for."""

from __future__ import annotations

import pytest

from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.loop_ir.loops import Block, For, RegisterTile, Temporary
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.traversal import (
    as_loops,
    block,
    child_nodes,
    instances,
    is_innermost,
    loop_names,
    map_children,
    straight,
    variables_of,
    walk_nodes,
)
from polysched.records import whole

NEST = parse_loops("""for i in range(0, n):
    with let(p, i + 1):
        S(i, p)
    if i >= 2:
        for j in range(0, i):
            T(i, j)
    else:
        S(0, 0)
""")


def test_a_register_tile_stands_for_its_loops_around_its_points() -> None:
    tile = parse_loops("with register_tile(loops=(loop(k, 0, 2),), edges=(edge(i, 3, 2), edge(j, i, 2))):\n"
                       "    S(i, j, k)\n")
    assert isinstance(tile, RegisterTile)
    assert run_loops(as_loops(tile), {}) == [
        ("S", (i, j, k)) for k in range(2) for i in (3, 4) for j in (i, i + 1)]


def test_of_a_cut_tile_only_the_points_within_run() -> None:
    tile = parse_loops("with register_tile(loops=(), edges=(edge(i, 0, 4),), within=((linear(1), linear(n)),)):\n"
                       "    S(i)\n")
    assert isinstance(tile, RegisterTile)
    assert run_loops(as_loops(tile), {"n": 3}) == [("S", (1,)), ("S", (2,))]


def test_walks_are_in_textual_order() -> None:
    assert [instance.statement for instance in instances(NEST)] == ["S", "T", "S"]
    assert [type(node).__name__ for node in walk_nodes(NEST)] == [
        "For", "Block", "Let", "StatementInstance", "If", "For", "StatementInstance", "StatementInstance"]
    assert loop_names(NEST) == {"i", "p", "j"}


def test_a_change_of_children_reaches_all_that_are_directly_below() -> None:
    for node in walk_nodes(NEST):
        changed = map_children(node, lambda child: Block((child, child)))
        assert sorted(map(whole, child_nodes(changed))) == sorted(whole(Block((c, c))) for c in child_nodes(node))


def test_an_innermost_loop_has_none_below() -> None:
    loops = [node for node in walk_nodes(NEST) if isinstance(node, For)]
    assert [is_innermost(loop) for loop in loops] == [False, True]


@pytest.mark.parametrize(("text", "named"), [
    ("for i in range(a, n - b): S(i)", {"a", "n", "b"}),
    ("if a >= n: S(i)", {"a", "n"}),
    ("S(i + 2*n)", {"i", "n"}),
    ("with let(p, q): S(p)", {"q"}),
])
def test_the_variables_of_a_node_are_its_own_alone(text: str, named: set[str]) -> None:
    assert variables_of(parse_loops(text)) == named


def test_blocks_are_opened_up() -> None:
    first, second = parse_loops("S(0)"), parse_loops("S(1)")
    assert block((Block((first, second)), first)) == Block((first, second, first))
    assert block((first,)) is first


def test_bodies_without_loops_and_conditions_are_straight() -> None:
    body, private = straight(parse_loops("with local(Temporary(array='t', name='t')): S(i)")) or (None, ())
    assert body == parse_loops("S(i)")
    assert private == (Temporary("t", "t"),)
    assert straight(NEST) is None
    assert straight(parse_loops("with local(Temporary(array='t', name='t', kept=(0,), bases=(linear(0),), "
                                "extents=(8,))): S(i)")) is None, "a buffer is no single variable"
