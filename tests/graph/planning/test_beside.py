"""Kernels side by side: which may share a region, and what that saves."""

from __future__ import annotations

import pytest

from polysched.graph import from_text
from polysched.graph.evaluation.inference import infer
from polysched.graph.limits import LIMITS
from polysched.graph.passes.simple import with_types
from polysched.graph.planning.beside import are_independent, seconds_saved, side_by_side
from polysched.graph.planning.patterns import Pattern, Patterns
from polysched.target import Target

SLOW = Target(cores=2, bandwidth_bytes_per_second={0: 1e6})


def maker_of(text: str, target: Target = SLOW) -> Patterns:
    graph = with_types(from_text(text))
    return Patterns(graph, infer(graph), target)


CHAIN = """graph f(x: float32[64], y: float32[64], z: float32[32]) {
  let a = Exp(x)
  let b = Exp(a)
  let c = Exp(y)
  let d = Exp(z)
  return b, c, d
}"""


def tried(maker: Patterns, reason: str = "") -> list[tuple[Pattern, str]]:
    alone = [maker.pattern((k,)) for k in range(len(maker.graph.nodes))]
    return list(side_by_side(maker, alone, lambda fragment: reason))


def test_only_independent_kernels_with_equal_fragments_are_tried() -> None:
    (found, reason), = tried(maker_of(CHAIN))
    assert (found.parts, reason) == (((0,), (2,)), "")   # b needs a, d is shorter
    assert found.nodes == (0, 2)


def test_why_they_are_apart_is_said() -> None:
    assert [reason for _, reason in tried(maker_of(CHAIN), "no team")] == ["no team"]


def test_a_region_has_so_many_kernels_at_most() -> None:
    count = LIMITS.most_beside + 2
    lines = "".join(f"  let v{k} = Exp(x{k})\n" for k in range(count))
    inputs = ", ".join(f"x{k}: float32[64]" for k in range(count))
    outputs = ", ".join(f"v{k}" for k in range(count))
    found = tried(maker_of(f"graph f({inputs}) {{\n{lines}  return {outputs}\n}}"))
    assert [len(p.parts) for p, _ in found] == [LIMITS.most_beside, 2]


def test_ways_of_several_steps_are_ways() -> None:
    maker = maker_of(CHAIN)
    assert not are_independent(maker, (0,), (1,))
    assert not are_independent(maker, (1,), (0,))
    assert not are_independent(maker, (0,), (0, 2))
    assert are_independent(maker, (0, 1), (2, 3))


def pattern(work: float, target: Target) -> Pattern:
    return Pattern(nodes=(0,), bytes_moved=0, seconds=work / target.cores + target.team_seconds)


@pytest.mark.parametrize(("count", "cores", "work", "barriers"), [(2, 2, 1.0, 1), (3, 2, 1.0, 2), (3, 1, 1.0, 0)])
def test_kernels_with_much_to_do_save_every_barrier_but_one(count: int, cores: int, work: float, barriers: int) -> None:
    target = Target(cores=cores)
    saved = seconds_saved([pattern(work, target)] * count, target)
    assert saved == pytest.approx(barriers * target.team_seconds)


def test_kernels_without_a_team_pay_for_its_start() -> None:
    target = Target(cores=4)
    small = target.team_seconds   # so much work is no faster with a team
    assert seconds_saved([pattern(small, target)] * 4, target) == pytest.approx(2 * target.team_seconds)
    assert seconds_saved([pattern(small / 100, target)] * 4, target) < 0
