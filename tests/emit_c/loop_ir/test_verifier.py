"""Every invariant of the loop IR, broken once."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.verifier import faults


def found(text: str) -> tuple[str, ...]:
    return faults(parse_loops(text), depths={"S0": 1, "S1": 2}, parameters=frozenset({"n"}))


@pytest.mark.parametrize("text", [
    "for i in range(0, n): S0(i)",
    "with let(i, n - 1): S0(i)",
    "with local(Temporary(array='a', name='a')):\n    for i in range(0, n):\n"
    "        S0(i, temporaries=(Temporary(array='a', name='a'),))",
    "for i in range(0, n, 8):\n    with register_tile(loops=(loop(k, 0, n),), edges=(edge(i, i, 8, simd=True),)):\n"
    "        S1(i, k)",
])
def test_sound_loops_have_no_faults(text: str) -> None:
    assert found(text) == ()


@pytest.mark.parametrize(("text", "fault"), [
    ("for i in range(0, m): S0(i)", "m has no value: for i in range(0, m):"),
    ("S0(i)", "i has no value: S0(i)"),
    ("for i in range(0, n):\n    for i in range(0, n): S0(i)", "i gets a second value: for i in range(0, n):"),
    ("for i in range(0, n, 0): S0(i)", "the step 0 is not positive: for i in range(0, n, 0):"),
    ("for i in range(0, n): S0(i, i)", "statement S0 has 1 iterators: S0(i, i)"),
    ("for i in range(0, n): S2(i)", "statement S2 has None iterators: S2(i)"),
    ("S0(n, temporaries=(Temporary(array='a', name='t'),))", "t is declared nowhere around: S0(n, "),
    ("with register_tile(loops=(), edges=()):\n    for i in range(0, n): S0(i)",
     "a register tile holds For, which is no straight code: "),
    ("with register_tile(loops=(), edges=(edge(i, n, 0),)): S0(i)", "an edge of a register tile has no point: "),
    ("with register_tile(loops=(), edges=(edge(i, n, 2),), within=((linear(n), linear(n)), (linear(n), linear(n)))):\n"
     "    S0(i)", "a register tile has 1 edges and bounds for 2: "),
    ("with register_tile(loops=(For(variable='k', lower=linear(0), upper=linear(n), step=1, "
     "body=StatementInstance(statement='S0', iterators=(linear(n),))),), edges=()): S0(n)",
     "a loop around the points of a register tile has a body of its own: "),
])
def test_a_broken_invariant_is_told(text: str, fault: str) -> None:
    (told,) = found(text)
    assert told.startswith(fault)


def test_a_panel_that_nothing_fills_is_told() -> None:
    packed = parse_loops("with packed(Panel(name='p', statement='S0', value=Load(reference='r', "
                         "dtype=dtype('float32')), subscripts=(), extents=(), loops=(), in_lanes=False), S0(n)):\n"
                         "    with register_tile(loops=(), edges=(), panels=('p',)): S0(n)")
    known = {"depths": {"S0": 1}, "parameters": frozenset({"n"})}
    assert faults(packed, **known) == ()   # type: ignore[arg-type]
    inside = packed.body   # type: ignore[union-attr]
    assert faults(inside, **known) == (   # type: ignore[arg-type]
        "a register tile reads panel p, which nothing around it fills",)
