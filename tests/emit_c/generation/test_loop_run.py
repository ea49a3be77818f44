"""Loops run in Python visit what C's loops would."""

from __future__ import annotations

import pytest

from polysched.emit_c.generation.loop_run import MOST_NESTED, compile_instances, run_loops
from polysched.emit_c.loop_ir.index import Comparison, variable
from polysched.emit_c.loop_ir.loops import For, Node
from polysched.emit_c.loop_ir.parser import parse_loops


def points(text: str, **values: int) -> list[tuple[int, ...]]:
    return [point for _, point in run(parse_loops(text), values)]


def run(loops: Node, values: dict[str, int]) -> list[tuple[str, tuple[int, ...]]]:
    """The instances in order, which are those that each statement has for itself."""
    ordered = run_loops(loops, values)
    apart = compile_instances(loops)(values)
    assert {name: sorted(own) for name, own in apart.items() if own} == {
        name: sorted(point for other, point in ordered if other == name) for name in dict(ordered)}
    return ordered


def test_statements_of_one_loop_and_one_that_stands_twice() -> None:
    nest = "for i in range(0, 3):\n    for j in range(i, n, 2):\n        S(i, j)\n        T(j)\n        S(j, j)"
    assert points(nest, n=4)[:4] == [(0, 0), (0,), (0, 0), (0, 2)]


def test_bounds_steps_and_conditions() -> None:
    assert points("for i in range(max(0, m), min(n, 5), 2): S(i)", m=-3, n=9) == [(0,), (2,), (4,)]
    assert points("for i in range(0, n):\n    if any(i == 1, i >= 3): S(i)\n    else: S(-1)", n=5) == [
        (-1,), (1,), (-1,), (3,), (4,)]
    assert points("for i in range(0, n):\n    with let(p, 2*i - 1): S(p)", n=3) == [(-1,), (1,), (3,)]


def test_quotients_round_down() -> None:
    assert points("S(floord(n, 4), rem(n, 4))", n=-3) == [(-1, 1)]
    assert points("S(choose(n < 0, product(n, n), 7))", n=-3) == [(9,)]


def test_a_guard_ends_the_loop() -> None:
    body = parse_loops("S(i)")
    loop = For("i", variable("a"), variable("n"), 1, body, guard=Comparison("<", variable("i"), variable("m")))
    assert run(loop, {"a": 1, "n": 9, "m": 3}) == [("S", (1,)), ("S", (2,))]


def test_an_inner_loop_may_hide_a_name() -> None:
    assert points("for i in range(0, 2):\n    for i in range(5, 7): S(i)") == [(5,), (6,)] * 2


@pytest.mark.parametrize("depth", [MOST_NESTED - 1, MOST_NESTED, 3 * MOST_NESTED])
def test_nests_deeper_than_python_takes(depth: int) -> None:
    nest: Node = parse_loops(f"S({', '.join(f'i{d}' for d in range(depth))})")
    for d in reversed(range(depth)):
        nest = For(f"i{d}", variable("n"), variable("n") + 1 + (d == depth - 1), 1, nest)
    assert run(nest, {"n": 4}) == [("S", (4,) * (depth - 1) + (last,)) for last in (4, 5)]


def test_what_comes_behind_plain_loops_is_refused() -> None:
    with pytest.raises(ValueError, match="RegisterTile is no plain loop"):
        points("with register_tile(loops=(), edges=()): S(i)", i=1)
    with pytest.raises(ValueError, match="neither subscripts nor addresses"):
        points("S(source('%', i, 3))", i=1)
