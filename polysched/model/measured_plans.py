"""The fastest of a graph's best plans: each is compared with the interpreter, and timed beside the greedy one.

The runs are in a process of their own.  A plan that computes something else, crashes or hangs is a record, and is never
chosen (`search.building.Runner` judges candidates of one program the same way).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import PolyschedError, RunFailedError
from polysched.graph.evaluation.interpreter import interpret
from polysched.graph.planning.plan import Plan
from polysched.graph.values.graph import Graph
from polysched.measure.field import Ran, Verdict
from polysched.measure.processes.isolation import ChildEnd, End, Limits, run_isolated
from polysched.measure.processes.workspace import workspace
from polysched.model.compiled_model import CompiledModel
from polysched.model.limits import LIMITS
from polysched.model.sizes import given_arrays
from polysched.model.verification import random_inputs
from polysched.pipeline.options import PipelineOptions
from polysched.records import dataclass

WORKER = "polysched.model.plan_race_worker"
GREEDY = "greedy"


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredPlan:
    """A plan of a race.

    Parameters
    ----------
    model : of the plan.
    ran : what came of it: seconds of a call of the greedy plan and of this one, in alternation, or why it has none.
    """

    model: CompiledModel
    ran: Ran

    @property
    def ratio(self) -> float:
        """The median of the greedy plan's seconds over its own; above 1 it is faster."""
        return statistics.median(first / own for first, own in self.ran.pairs)

    @property
    def seconds(self) -> float:
        """The median of a call's."""
        return statistics.median(own for _, own in self.ran.pairs)

    def as_json(self) -> dict[str, Any]:
        """Plain values, for scripts."""
        plan = self.model.plan
        told: dict[str, Any] = {"kernels": plan.regions, "verdict": self.ran.verdict.value}
        if not self.ran.pairs:
            return told | {"reason": self.ran.reason}
        return told | {"seconds": self.seconds, "ratio": {GREEDY: self.ratio}}


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanRace:
    """What came of the plans.

    Parameters
    ----------
    ranked : the right ones, the fastest first.
    refused : the others.
    """

    ranked: tuple[MeasuredPlan, ...]
    refused: tuple[MeasuredPlan, ...] = ()

    @property
    def fastest(self) -> CompiledModel:
        """The model that is kept."""
        return self.ranked[0].model

    def as_json(self) -> list[dict[str, Any]]:
        """Plain values, the plan that is kept first."""
        return [m.as_json() for m in (*self.ranked, *self.refused)]


def race(graph: Graph, plans: Sequence[Plan], options: PipelineOptions, *,
         inputs: Mapping[str, np.ndarray] | None = None) -> PlanRace:
    """Verify and time plans of a graph of known sizes.

    Parameters
    ----------
    plans : the last one is the greedy one, beside which the others are timed.
    inputs : arrays for the graph; random ones where none are given.

    Raises
    ------
    RunFailedError : no plan is right; the witness is what the first one did.
    PolyschedError : the pipeline refuses the greedy plan, or the interpreter the inputs.
    """
    arrays = given_arrays(graph, {n: inputs[n] for n, _ in graph.inputs if n in inputs} if inputs else
                          random_inputs(graph))
    wanted = interpret(graph, arrays)
    models, refused = _built(graph, plans, options)
    with workspace() as folder:
        np.savez(folder / "inputs.npz", *(arrays[name] for name, _ in graph.inputs))   # in the order of the driver
        ran = _run(models, wanted, folder)
    measured = [MeasuredPlan(model=models[name], ran=each) for name, each in ran.items()]
    right = sorted((m for m in measured if m.ran.pairs), key=lambda m: -m.ratio)
    wrong = (*refused, *(m for m in measured if not m.ran.pairs))
    if not right:
        raise RunFailedError("no plan of the graph is right", where=f"graph {graph.name}",
                             witness=wrong[0].ran.reason if wrong else None)
    return PlanRace(ranked=tuple(right), refused=tuple(wrong))


def _built(graph: Graph, plans: Sequence[Plan], options: PipelineOptions) -> tuple[dict[str, CompiledModel], list[
        MeasuredPlan]]:
    """The models of plans by name, and those that a stage refuses; the greedy one comes first."""
    models: dict[str, CompiledModel] = {}
    refused = []
    named = {GREEDY: plans[-1], **{f"plan{k}": p for k, p in enumerate(plans[:-1])}}
    for name, plan in named.items():
        model = CompiledModel(graph, plan, options)
        try:
            model.library  # noqa: B018
        except PolyschedError as error:
            if name == GREEDY:
                raise
            refused.append(MeasuredPlan(model=model, ran=Ran(name=name, verdict=Verdict.NO_CODE, reason=str(error))))
        else:
            models[name] = model
    return models, refused


def _run(models: Mapping[str, CompiledModel], wanted: Mapping[str, np.ndarray], folder: Path) -> dict[str, Ran]:
    """The models in child processes: what ends one is a record, and the others run again without it."""
    done: dict[str, Ran] = {}
    while left := {name: model for name, model in models.items() if name not in done}:
        request = {"inputs": str(folder / "inputs.npz"), "rounds": LIMITS.rounds,
                   "least_seconds": LIMITS.least_call_seconds, "reference": next(iter(left)),
                   "models": {name: _described(name, model, wanted, folder) for name, model in left.items()}}
        ended = run_isolated(WORKER, request, folder=folder, limits=Limits())
        done |= _read(left, ended)
    return done


def _described(name: str, model: CompiledModel, wanted: Mapping[str, np.ndarray], folder: Path) -> dict[str, Any]:
    """What the child needs to call a model."""
    constants, results = folder / f"{name}_constants.npz", folder / f"{name}_wanted.npz"
    graph = model.plan.graph
    if not constants.exists():
        np.savez(constants, *graph.constants.values())
        np.savez(results, *(wanted[o] for o in graph.outputs))
    return {"library": str(model.library), "constants": str(constants), "wanted": str(results),
            "arena": model.plan.arena.bytes, "outputs": list(graph.outputs)}


def _read(left: Mapping[str, CompiledModel], ended: ChildEnd) -> dict[str, Ran]:
    """The records of one child; at least one."""
    found = {str(r["refused"]): Ran(name=str(r["refused"]), verdict=Verdict.WRONG, reason=str(r["reason"]))
             for r in ended.reports if "refused" in r}
    if ended.end is End.FINISHED:
        pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in left if name not in found}
        for report in ended.reports:
            if "timed" in report:
                pairs[str(report["timed"])].append((float(report["pair"][0]), float(report["pair"][1])))
        return found | {name: Ran(name=name, verdict=Verdict.TIMED, pairs=tuple(own)) for name, own in pairs.items()}
    entered = [str(r["entry"]) for r in ended.reports if "entry" in r]
    culprit = entered[-1] if entered else next(iter(left))
    verdict = {End.CRASHED: Verdict.CRASHED, End.HUNG: Verdict.HUNG, End.MEMORY: Verdict.MEMORY}
    return found | {culprit: Ran(name=culprit, verdict=verdict.get(ended.end, Verdict.FAILED),
                                 reason=f"the process {ended.describe()}")}
