"""Bounds of several arms get a name, declared around what uses them; nothing else changes."""

from __future__ import annotations

from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.loop_ir.loops import For, Let
from polysched.emit_c.loop_ir.named_bounds import named_bounds
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.traversal import variables_of, walk_nodes


def names() -> TakenNames:
    return TakenNames(used=frozenset(), visible=frozenset())


def test_a_loop_with_named_bounds_runs_the_same() -> None:
    loop = parse_loops("for i in range(max(a, b), min(n, a + 4)):\n    S(i)\n")
    assert isinstance(loop, For)
    bounds = named_bounds(loop, names())
    assert len(bounds.names) == 2
    short = bounds.around(For("i", bounds.lower, bounds.upper, 1, loop.body))
    assert isinstance(short, Let)
    for a, b, n in ((0, 2, 9), (3, 1, 5), (4, 8, 3)):
        values = {"a": a, "b": b, "n": n}
        assert run_loops(short, values) == run_loops(loop, values)


def test_one_arm_needs_no_name() -> None:
    loop = parse_loops("for i in range(0, min(n, m)):\n    S(i)\n")
    assert isinstance(loop, For)
    bounds = named_bounds(loop, names())
    assert bounds.lower == loop.lower
    assert [value for _, value in bounds.names] == [loop.upper]


def test_the_name_hides_nothing_that_the_loop_names() -> None:
    loop = parse_loops("for i in range(0, min(i_end, m)):\n    S(i_end)\n")
    assert isinstance(loop, For)
    (name, _), = named_bounds(loop, names()).names
    assert name not in frozenset().union(*map(variables_of, walk_nodes(loop)))
