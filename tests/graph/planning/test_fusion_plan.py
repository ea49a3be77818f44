"""Fusion plans by cost: what is fused, what a judge refuses, what is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from polysched.graph import Graph, from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import with_types
from polysched.graph.planning import fusion_plan as module
from polysched.graph.planning.fusion_plan import FusionPlan, Verdict, fusion_plan, fusion_plans, seconds_of
from polysched.graph.planning.partition import Beside
from polysched.graph.planning.plan import plan
from polysched.target import Target
from tests.graph.samples import read_plan

SOFTMAX = """graph f(x: float32[6, 40]) {
  let a = Softmax(x; axis=-1)
  let y = Mul(a, x)
  return y
}"""

ATTENTION = """graph f(q: float32[2, 5, 4], k: float32[2, 4, 5], v: float32[2, 5, 4]) {
  let s = MatMul(q, k)
  let p = Softmax(s; axis=-1)
  let y = MatMul(p, v)
  return y
}"""

SEEN = """graph f(x: float32[6, 40]) {
  const last: int64[1] = [1]
  let a = Exp(x)
  let s = ReduceSum(a, last; keepdims=1)
  let y = Div(a, s)
  return y, s
}"""

THREE = """graph f(x: float32[16, 12], a: float32[12, 8], b: float32[12, 8], c: float32[12, 8]) {
  let p = MatMul(x, a)
  let q = MatMul(x, b)
  let r = MatMul(x, c)
  return p, q, r
}"""

TARGET = Target(cores=2)
SLOW = Target(cores=2, bandwidth_bytes_per_second={0: 1e6})


def graph_of(text: str):
    return with_types(standard(from_text(text)))


def kernels(found: FusionPlan) -> list[list[str]]:
    return [[n.op for n in group.nodes] for group in found.kernels]


@pytest.mark.parametrize("text", [SOFTMAX, ATTENTION])
def test_stages_become_one_kernel(text):
    found = fusion_plan(graph_of(text), TARGET)
    assert len(found.kernels) == 1
    assert found.optimal
    assert found.bytes_moved == found.bytes_compulsory < found.bytes_apart


@pytest.mark.parametrize("text", [SOFTMAX, ATTENTION, SEEN, THREE])
def test_a_plan_by_cost_computes_the_graph(text):
    graph = graph_of(text)
    chance = np.random.default_rng(3)
    inputs = {n: chance.standard_normal([int(e) for e in t.shape]).astype(np.float32) for n, t in graph.inputs}
    found = read_plan(plan(graph, fusion_plan(graph, SLOW).groups), inputs)
    for name, value in interpret(graph, inputs).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-5)


def test_a_result_that_is_seen_from_outside_is_one_more_of_the_kernel():
    graph = graph_of(SEEN)
    (group,) = fusion_plan(graph, TARGET).kernels
    assert [n.op for n in group.nodes] == ["Exp", "ReduceSum", "Div"]
    assert group.results == ("s", "y")


def test_equal_kernels_that_need_nothing_of_each_other_stand_side_by_side():
    graph = graph_of(THREE)
    found = fusion_plan(graph, SLOW)
    (beside,) = found.kernels
    assert isinstance(beside, Beside)
    assert [n.op for g in beside.groups for n in g.nodes] == ["MatMul"] * 3
    assert "3 side by side: MatMul" in str(found)
    apart = fusion_plan(graph, SLOW, refusal=lambda fragment: "no team")
    assert len(apart.kernels) == 3
    assert ("MatMul MatMul MatMul", "no team") in apart.refused
    assert apart.seconds - found.seconds == pytest.approx(2 * SLOW.team_seconds)


def test_the_best_few_plans_are_different_and_the_cheapest_comes_first():
    graph = graph_of(ATTENTION)
    found = fusion_plans(graph, TARGET, count=4)
    assert len(found) == 4
    assert [p.seconds for p in found] == sorted(p.seconds for p in found)
    assert len({str([[n.op for n in g.nodes] for g in p.kernels]) for p in found}) == 4
    assert kernels(found[-1]) == kernels(fusion_plan(graph, TARGET, patterns=False))
    assert not any(p.optimal for p in found[1:])


def test_other_groups_have_a_cost_too():
    graph = graph_of(SOFTMAX)
    alone = seconds_of(graph, [(k,) for k in range(len(graph.nodes))], TARGET)
    together = seconds_of(graph, [range(len(graph.nodes))], TARGET)
    assert together == pytest.approx(fusion_plan(graph, TARGET).seconds)
    assert alone > together


def test_what_is_refused_is_said_and_the_cover_is_found_anew():
    graph = graph_of(SOFTMAX)
    found = fusion_plan(graph, TARGET, judge=lambda fragment, _: Verdict(
        "too large" if len(fragment.nodes) > 3 else ""))
    assert all(len(group.nodes) <= 3 for group in found.kernels)
    assert ("ReduceMax Sub Exp ReduceSum Div Mul", "too large") in found.refused
    assert "not ReduceMax Sub Exp ReduceSum Div Mul: too large" in str(found)


def test_tiles_that_take_longer_than_kernels_apart_are_left():
    slow = fusion_plan(graph_of(SOFTMAX), TARGET, judge=lambda fragment, _: Verdict(seconds=1.0))
    alone = fusion_plan(graph_of(SOFTMAX), TARGET, patterns=False)
    assert kernels(slow) == kernels(alone)
    assert any("its tiles take 1.0e+00 s" in reason for _, reason in slow.refused)


def test_every_node_is_in_one_kernel_and_groups_are_in_order():
    graph = graph_of(ATTENTION)
    found = fusion_plan(graph, TARGET, judge=lambda fragment, _: Verdict("no" if len(fragment.nodes) > 2 else ""))
    nodes = [id(n) for group in found.groups for n in group.nodes]
    assert sorted(nodes) == sorted(id(n) for n in graph.nodes)
    made = {name for name, _ in graph.inputs} | set(graph.constants)
    for group in found.groups:
        inside = {o for n in group.nodes for o in n.outputs}
        assert {i for n in group.nodes for i in n.inputs if i} - inside <= made
        made |= set(group.results)


def test_open_sizes_are_fused_greedily():
    graph = graph_of(SOFTMAX.replace("6, 40", "N, 40"))
    assert infer(graph).types["x"].shape[0].symbols
    assert len(fusion_plan(graph, TARGET).kernels) == 4


def test_open_sizes_are_fused_by_the_cost_at_some_values():
    """What is fused stays open, and its judge is told the values by the names that the fragment has for its sizes."""
    asked = []

    def judge(fragment, sizes):
        asked.append((tuple(fragment.symbols), dict(sizes)))
        return Verdict()

    open_size = graph_of(SOFTMAX.replace("6, 40", "N, 40"))
    found = fusion_plan(open_size, TARGET, sizes={"N": 6}, judge=judge)
    known = fusion_plan(graph_of(SOFTMAX), TARGET)
    assert kernels(found) == kernels(known)
    assert (found.seconds, found.bytes_moved) == (known.seconds, known.bytes_moved)
    assert ("n0",) in [symbols for symbols, _ in asked]
    assert all(sizes == {"n0": 6} for _, sizes in asked)
    groups = [range(len(open_size.nodes))]
    assert seconds_of(open_size, groups, TARGET, sizes={"N": 6}) == pytest.approx(found.seconds)


def test_a_size_without_a_value_keeps_the_greedy_rule():
    graph = graph_of(SOFTMAX.replace("6, 40", "N, M"))
    assert len(fusion_plan(graph, TARGET, sizes={"N": 6}).kernels) == 4
    assert len(fusion_plan(graph, TARGET, sizes={"N": 6, "M": 40}).kernels) == 1


def test_work_on_covers_ends_and_what_was_judged_is_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def refuse(fragment: Graph, sizes: Mapping[str, int]) -> Verdict:
        asked.append(len(fragment.nodes))
        return Verdict("no")
    graph = graph_of(SOFTMAX)
    for most, is_told in ((module.LIMITS.cover_work_in_all, False), (-1.0, True)):
        monkeypatch.setattr(module, "LIMITS", replace(module.LIMITS, cover_work_in_all=most))
        asked.append(0)
        found = fusion_plan(graph, TARGET, judge=refuse)
        assert sum(len(group.nodes) for group in found.groups) == len(graph.nodes)
        assert found.optimal is not is_told
        assert any(nodes == "further patterns" for nodes, _ in found.refused) is is_told
    until_the_end, at_once = asked[1:asked.index(0, 1)], asked[asked.index(0, 1) + 1:]
    assert len(until_the_end) > len(at_once) == 0
