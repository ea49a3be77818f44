"""Skewed loops run over the source's iterators again: the same instances in the same order."""

from __future__ import annotations

import pytest

from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.generation.unskewing import unskew
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.traversal import instances, walk_nodes

SKEWED = {
    "one statement": "for t in range(0, n):\n    for v in range(2*t + 1, min(2*t + n, m)): S(t, v - 2*t)",
    "two, a constant apart":
        "for t in range(0, n):\n    for v in range(t, t + m):\n        S(v - t)\n        T(v - t - 1)",
    "below a condition": "for t in range(0, n):\n    for v in range(t, t + m):\n        if v >= t + 2: S(v - t)",
}
KEPT = {
    "different shifts": "for t in range(0, n):\n    for v in range(t, t + m):\n        S(v - t)\n        T(v - 2*t)",
    "nothing to shift": "for t in range(0, n):\n    for v in range(0, m): S(v, t)",
    "a constant alone": "for v in range(0, m): S(v - 1)",
    "a shift by a loop inside": "for v in range(0, m):\n    for t in range(0, n): S(v - t)",
    "a loop over tiles": "for t in range(0, n):\n    for v in range(t, t + m, mark='role=tile'): S(v - t)",
}


@pytest.mark.parametrize("name", SKEWED)
def test_the_same_instances_run(name: str) -> None:
    loops = parse_loops(SKEWED[name])
    made = unskew(loops)
    assert any(len(form.terms) == 1 and not form.constant for i in instances(made) for form in i.iterators)
    assert made != loops
    for n, m in ((0, 3), (3, 4), (4, 9)):
        assert run_loops(made, {"n": n, "m": m}) == run_loops(loops, {"n": n, "m": m})


@pytest.mark.parametrize("name", KEPT)
def test_other_loops_stay(name: str) -> None:
    loops = parse_loops(KEPT[name])
    assert unskew(loops) == loops


def test_a_loop_around_keeps_its_bounds() -> None:
    made = unskew(parse_loops(SKEWED["one statement"]))
    outer = next(node for node in walk_nodes(made) if isinstance(node, For))
    assert outer.variable == "t"
    assert outer.lower.is_constant
