"""The best plans of a graph, verified and timed: what is kept, what a wrong or dying plan becomes."""

from __future__ import annotations

import numpy as np
import pytest

import polysched
from polysched.errors import PolyschedError, RunFailedError, UsageError
from polysched.graph import Graph, from_text, interpret
from polysched.graph.planning.plan import Plan
from polysched.measure.field import Ran, Verdict
from polysched.model import compile_graph, compiling
from polysched.model.compiled_model import CompiledModel
from polysched.model.measured_plans import GREEDY, MeasuredPlan, PlanRace, race, ranked
from polysched.model.planned import best_plans, planned
from polysched.pipeline.options import PipelineOptions
from polysched.target import host

OPTIONS = PipelineOptions()
GRAPH = from_text("""graph f(x: float32[6, 40]) {
  let a = Exp(x)
  let y = Softmax(a; axis=-1)
  return y
}""")


def plan_of(text: str) -> Plan:
    return planned(from_text(text), host(), options=OPTIONS, fusion="greedy")


RIGHT = planned(GRAPH, host(), options=OPTIONS, fusion="greedy")
WRONG = plan_of("graph f(x: float32[6, 40]) { let y = Softmax(x; axis=-1) return y }")


def test_the_fastest_right_plan_is_kept_and_all_times_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []
    monkeypatch.setattr(compiling, "best_plans", lambda *given: plans.extend(best_plans(*given)) or plans)
    model = polysched.compile(GRAPH, measure_plans=True)
    assert model.race is not None
    assert model.race.fastest is model
    ratios = [m.ratio for m in model.race.ranked]
    assert ratios[1:] == sorted(ratios[1:], reverse=True)
    assert model.race.gain.low >= 1
    assert len(ratios) == len(plans) > 1
    assert {m.ran.name for m in model.race.ranked} >= {GREEDY, "plan0"}
    x = np.random.default_rng(2).normal(size=(6, 40)).astype(np.float32)
    np.testing.assert_allclose(model(x=x)["y"], interpret(GRAPH, {"x": x})["y"], rtol=1e-5)
    told = model.race.as_json()
    assert all(t["verdict"] == "timed" and t["seconds"] > 0 for t in told)


def test_a_plan_that_computes_something_else_is_a_record() -> None:
    found = race(GRAPH, [WRONG, RIGHT], OPTIONS)
    assert [m.ran.name for m in found.ranked] == [GREEDY]
    (wrong,) = found.refused
    assert wrong.ran.verdict is Verdict.WRONG
    assert "output 'y': element [" in wrong.ran.reason
    assert found.as_json()[1] == {"kernels": wrong.model.plan.regions, "verdict": "wrong", "reason": wrong.ran.reason}


def test_without_a_right_plan_there_is_none() -> None:
    with pytest.raises(RunFailedError, match="no plan of the graph is right") as refusal:
        race(GRAPH, [WRONG], OPTIONS)
    assert ", wanted " in str(refusal.value.witness)


class Dying(CompiledModel):
    """A model whose library ends its process."""

    @property
    def library(self):  # type: ignore[override]
        return "/dev/null"


def test_a_plan_that_ends_its_process_is_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(graph: Graph, plan: Plan, options: PipelineOptions) -> CompiledModel:
        return (Dying if plan is WRONG else CompiledModel)(graph, plan, options)
    monkeypatch.setattr("polysched.model.measured_plans.CompiledModel", made)
    found = race(GRAPH, [WRONG, RIGHT], OPTIONS)
    assert [m.ran.name for m in found.ranked] == [GREEDY]
    assert found.refused[0].ran.verdict is Verdict.FAILED


def test_a_plan_that_is_not_compiled_is_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused(CompiledModel):
        @property
        def library(self):  # type: ignore[override]
            raise PolyschedError("a stage refuses it")

    def made(graph: Graph, plan: Plan, options: PipelineOptions) -> CompiledModel:
        return (Refused if plan is WRONG else CompiledModel)(graph, plan, options)
    monkeypatch.setattr("polysched.model.measured_plans.CompiledModel", made)
    (refused,) = race(GRAPH, [WRONG, RIGHT], OPTIONS).refused
    assert (refused.ran.verdict, refused.ran.reason) == (Verdict.NO_CODE, "a stage refuses it")


def test_ratios_are_of_pairs() -> None:
    model = CompiledModel(GRAPH, RIGHT, OPTIONS)
    measured = MeasuredPlan(model=model, ran=Ran(name="p", verdict=Verdict.TIMED, pairs=((2, 1), (6, 2), (4, 4))))
    assert (measured.ratio, measured.seconds) == (2, 2)
    assert PlanRace(ranked=(measured,)).fastest is model


def plans(**pairs: list[tuple[float, float]]) -> dict[str, MeasuredPlan]:
    """Plans with times of the greedy one and their own; a negative one is of a disturbed pair."""
    return {name: MeasuredPlan(model=CompiledModel(GRAPH, RIGHT, OPTIONS), ran=Ran(
        name=name, verdict=Verdict.TIMED, pairs=tuple((abs(a), b) for a, b in own),
        disturbed=tuple(k for k, (a, _) in enumerate(own) if a < 0))) for name, own in pairs.items()}


def test_a_plan_is_kept_over_the_greedy_one_by_the_interval_of_its_gain() -> None:
    made = plans(greedy=[(1, 1)] * 15, noisy=[(1, 0.5), (1, 1.2)] * 7 + [(1, 0.5)], slow=[(1, 3)] * 15)
    found = ranked(list(made.values()))
    assert [m.ran.name for m in found.ranked] == ["greedy", "noisy", "slow"]
    assert (found.ties, found.gain.pairs) == (("noisy",), 0)
    assert found.as_json()[1]["tie"]
    made |= plans(faster=[(1, 0.8)] * 14 + [(-1, 9)])
    found = ranked(list(made.values()))
    assert (found.fastest, found.gain.median) == (made["faster"].model, 1.25)
    every = plans(greedy=[(-1, 1)] * 15, faster=[(-1, 0.5)] * 15)
    assert ranked(list(every.values())).fastest is every["faster"].model, "nothing is clean, and all are right"


def test_open_sizes_and_devices_are_refused() -> None:
    open_size = from_text("graph f(x: float32[N]) { let y = Exp(x) return y }")
    with pytest.raises(UsageError, match="plans of open sizes are not measured"):
        compile_graph(open_size, measure_plans=True)
    with pytest.raises(UsageError, match="do not run on opencl"):
        compile_graph(GRAPH, measure_plans=True, options=PipelineOptions(device="opencl"))
