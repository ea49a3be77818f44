"""The fastest of a graph's best plans: each is compared with the interpreter, and raced with the greedy one.

The race and its decision are those of every search (`measure.timing.race`); the runs are in a process of their own.  A
plan that computes something else, crashes or hangs is a record, and is never chosen; one is taken over the greedy plan
only if the interval of its gain lies above 1.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import PolyschedError, RunFailedError
from polysched.graph.evaluation.interpreter import interpret
from polysched.graph.planning.plan import Plan
from polysched.graph.values.graph import Graph
from polysched.measure.field import Ran, Verdict, verdict_of
from polysched.measure.processes.isolation import ChildEnd, End, Limits, run_isolated
from polysched.measure.processes.workspace import workspace
from polysched.measure.timing.race import Gain, clean_of, decided, ratios_of
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
    def clean(self) -> tuple[tuple[float, float], ...]:
        """The pairs that no other program disturbed; all where each was: whichever plan runs, it is right."""
        return clean_of(self.ran.pairs, self.ran.disturbed) or self.ran.pairs

    @property
    def ratio(self) -> float:
        """The median of the greedy plan's seconds over its own; above 1 it is faster."""
        return statistics.median(ratios_of(self.clean))

    @property
    def seconds(self) -> float:
        """The median of a call's."""
        return statistics.median(own for _, own in self.clean)

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
    ranked : the right ones: what is kept, and the others, the fastest first.
    refused : the others.
    gain : of what is kept over the greedy plan, or over the first that is right where that one is not.
    ties : names of those that are as fast as what is kept, as far as the samples tell.
    """

    ranked: tuple[MeasuredPlan, ...]
    refused: tuple[MeasuredPlan, ...] = ()
    gain: Gain = field(default_factory=Gain)
    ties: tuple[str, ...] = ()

    @property
    def fastest(self) -> CompiledModel:
        """The model that is kept."""
        return self.ranked[0].model

    def as_json(self) -> list[dict[str, Any]]:
        """Plain values, the plan that is kept first."""
        return [m.as_json() | ({"tie": True} if m.ran.name in self.ties else {})
                for m in (*self.ranked, *self.refused)]


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
    right = [m for m in measured if m.ran.pairs]
    wrong = (*refused, *(m for m in measured if not m.ran.pairs))
    if not right:
        raise RunFailedError("no plan of the graph is right", where=f"graph {graph.name}",
                             witness=wrong[0].ran.reason if wrong else None,
                             hint="leave measure_plans out, and report the graph: a plan is a fault of polysched")
    return ranked(right, wrong)


def ranked(right: Sequence[MeasuredPlan], refused: Sequence[MeasuredPlan] = ()) -> PlanRace:
    """What is kept of plans that were timed in pairs with the first of them."""
    first, *others = right
    found = decided({m.ran.name: ratios_of(m.clean) for m in others})
    kept = next((m for m in others if m.ran.name == found.winner), first)
    return PlanRace(ranked=(kept, *sorted((m for m in right if m is not kept), key=lambda m: -m.ratio)),
                    refused=tuple(refused), gain=found.gain, ties=found.ties)


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
                   "least_seconds": LIMITS.least_call_seconds,
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
        rounds = [r["round"] for r in ended.reports if "round" in r]
        right = [name for name in left if name not in found]
        return found | {name: _timed(name, right[0], rounds) for name in right}
    entered = [str(r["entry"]) for r in ended.reports if "entry" in r]
    culprit = entered[-1] if entered else next(iter(left))
    return found | {culprit: Ran(name=culprit, verdict=verdict_of(ended.end),
                                 reason=f"the process {ended.describe()}")}


def _timed(name: str, first: str, rounds: Sequence[Mapping[str, tuple[float, bool]]]) -> Ran:
    """The samples of a plan in pairs with those of another one; a sample is seconds, and whether it is clean."""
    taken = [(*each[first], *each[name]) for each in rounds]
    return Ran(name=name, verdict=Verdict.TIMED, pairs=tuple((a, b) for a, _, b, _ in taken),
               disturbed=tuple(k for k, (_, one, _, other) in enumerate(taken) if not (one and other)))
