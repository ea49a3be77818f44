"""Loops end at the last whole step: the same instances in the same order, and no condition in the body."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.generation.whole_steps import end_at_multiples
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.loops import If
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.traversal import walk_nodes

ENDED = {
    "whole blocks": "for s in range(0, n):\n    if rem(s, 8) + n >= s + 8: S(s)",
    "beside another end": "for s in range(0, m):\n    if rem(s, 8) + n >= s + 8: S(s)",
    "moved": "for s in range(0, n):\n    if rem(s + 3, 8) + n > s + m: S(s)",
    "less or equal": "for s in range(2, n):\n    if s + 5 <= rem(s, 4) + m: S(s)",
    "beside another condition": "for s in range(0, n):\n    if all(rem(s, 8) + n >= s + 8, s >= m): S(s)",
}
KEPT = {
    "a multiple of the remainder": "for s in range(0, n):\n    if 2*rem(s, 8) + n >= s + 8: S(s)",
    "a condition on the remainder": "for s in range(0, n):\n    if rem(s, 8) >= m: S(s)",
    "twice the variable": "for s in range(0, n):\n    if rem(s, 8) + n >= 2*s + 8: S(s)",
    "another branch": "for s in range(0, n):\n    if rem(s, 8) + n >= s + 8: S(s)\n    else: T(s)",
    "a step": "for s in range(0, n, 2):\n    if rem(s, 8) + n >= s + 8: S(s)",
}
FACTS = Facts(context=isl.Set("[n, m] -> { : -1000 <= n, m <= 1000 }"))


@pytest.mark.parametrize("name", ENDED)
def test_the_same_instances_run(name: str) -> None:
    loops = parse_loops(ENDED[name])
    made = end_at_multiples(loops, FACTS)
    assert made != loops
    assert any(isinstance(node, If) for node in walk_nodes(made)) == ("another condition" in name)
    for n in (-9, 0, 1, 7, 8, 9, 31, 40):
        for m in (-3, 0, 4, 5, 8, 33):
            assert run_loops(made, {"n": n, "m": m}) == run_loops(loops, {"n": n, "m": m}), (n, m)


@pytest.mark.parametrize("name", KEPT)
def test_other_conditions_stay(name: str) -> None:
    loops = parse_loops(KEPT[name])
    assert end_at_multiples(loops, FACTS) == loops
