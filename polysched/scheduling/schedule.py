"""The Schedule value: a schedule tree that has passed the exact legality check, and how it was found."""

from __future__ import annotations

import json
from dataclasses import field
from typing import Any

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import check_legal
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.primitives.step import ProgramStep, Step
from polysched.scheduling.primitives.stored import step_from_json
from polysched.scheduling.tree.promises import check_promises, require_readable_marks
from polysched.scop.provided import provided
from polysched.scop.scop import Scop
from polysched.scop.shown import Shown

STORED = "stored"


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One schedule that was compared with others.

    Parameters
    ----------
    name : scheduler and policy.
    predicted_seconds : by the cost model, after tiling; None where there is no prediction.
    note : why there is none, or why the candidate was not compared; empty otherwise.
    chosen : this one was taken.
    """

    name: str
    predicted_seconds: float | None = None
    note: str = ""
    chosen: bool = False

    def __str__(self) -> str:
        cost = self.note if self.predicted_seconds is None else f"{self.predicted_seconds:.3g} s predicted"
        return f"{self.name}: {cost}{', chosen' if self.chosen else ''}"


@dataclass(frozen=True, kw_only=True)
class SolverReport:
    """What the scheduler did.

    Parameters
    ----------
    rungs : the rungs of the ladder that were used, in order, each with its reason; the first is the normal one.
    variables, rows : the largest integer program that was solved.
    solves : number of integer programs solved.
    solver_seconds, total_seconds : wall time inside the solver, and of the whole call with the legality check.
    candidates : the schedules that were compared, when the best of several was asked for.
    """

    rungs: tuple[str, ...] = ()
    variables: int = 0
    rows: int = 0
    solves: int = 0
    solver_seconds: float = 0.0
    total_seconds: float = 0.0
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Schedule(Shown):
    """A legal schedule.

    Parameters
    ----------
    dependences : what it respects; holds the Scop.
    tree : isl schedule tree; its bands carry `permutable` and, per member, `coincident`.
    algorithm : a name of `algorithms.ALGORITHMS`, or `imported`.
    report : how it was found.
    steps : what was done by hand afterwards, in order (`scheduling.steps`).
    """

    dependences: Dependences
    tree: isl.Schedule
    algorithm: str
    report: SolverReport = field(default_factory=SolverReport)
    steps: tuple[Step, ...] = ()

    @property
    def scop(self) -> Scop:
        return self.dependences.scop

    def to_text(self, form: str = STORED) -> str:
        """The schedule as text that `from_text` reads.

        Parameters
        ----------
        form : `stored`, JSON with the tree in isl's notation, algorithm, rungs and steps; or only the order: `tree`
            and `map` in isl's notation, `pluto`, lines like `T(S1): (k, i, j)`, `halide`, the steps as chains of calls,
            `openscop`, the region with the order as its scattering.

        Raises
        ------
        UsageError : there is no such form, or it cannot say this schedule.
        """
        if form != STORED:
            text: str = provided("scheduling", "Schedule.to_text")(self, form)
            return text
        return json.dumps({"format": TEXT_FORMAT, "program": self.scop.name, "algorithm": self.algorithm,
                           "rungs": list(self.report.rungs), "steps": [s.to_json() for s in self.steps],
                           "tree": str(self.tree)}, indent=1) + "\n"

    @classmethod
    def from_text(cls, text: str, dependences: Dependences) -> Schedule:
        """Read what `to_text` wrote in any form, or another tool in that form, and check it exactly.

        The flags of the bands of a tree and its marks are checked, too; a band without flags stays without.  Those of
        the other forms, which have none, are exact.

        Parameters
        ----------
        dependences : those of the program that the schedule is for.  After a step that changed the program
            (privatize, compute_at) that is the changed one.

        Raises
        ------
        UsageError : the text is no schedule, or one of another program.
        IllegalScheduleError : it breaks a dependence, or calls a loop parallel, or a band permutable, that is not.
        """
        from polysched.scheduling.interchange.dates import require_parameters
        from polysched.scheduling.interchange.isl_text import read_tree
        foreign = provided("scheduling", "Schedule.from_text")(text, dependences)
        if isinstance(foreign, Schedule):
            return foreign
        stored = _stored(text)
        tree = read_tree(stored["tree"]) if foreign is None else foreign
        require_readable_marks(tree)
        require_parameters(tree.get_map(), dependences.scop)
        steps = tuple(step_from_json(s) for s in stored["steps"])
        try:
            check_legal(dependences, tree, what="stored schedule")
        except UsageError as error:
            if not any(isinstance(step, ProgramStep) for step in steps):
                raise
            raise UsageError(error.problem, where=dependences.scop.name, witness=error.witness,
                             hint="a step changed the program: `scheduling.steps.replay` applies the stored steps to "
                                  "the schedule that they began from") from error
        check_promises(dependences, tree, what="stored schedule", flags=True)
        return cls(dependences=dependences, tree=tree, algorithm=stored["algorithm"],
                   report=SolverReport(rungs=tuple(stored["rungs"])),
                   steps=steps)

    def headline(self) -> str:
        """For instance `of gemm: pluto, 2 steps by hand`."""
        by_hand = f", {len(self.steps)} steps by hand" if self.steps else ""
        return f"of {self.scop.name}: {self.algorithm}{by_hand}"

    def __str__(self) -> str:
        text: str = provided("scheduling", "Schedule.__str__")(self)
        return text

    def _repr_html_(self) -> str:
        html: str = provided("scheduling", "Schedule._repr_html_")(self)
        return html


TEXT_FORMAT = "polysched schedule 1"


def _stored(text: str) -> dict[str, Any]:
    """The stored object; a bare tree becomes one without a history."""
    try:
        value = json.loads(text)
    except ValueError:
        value = {}
    if value == {}:   # a map without dates is such JSON, too
        return {"algorithm": "imported", "rungs": [], "steps": [], "tree": text}
    if not isinstance(value, dict) or value.get("format") != TEXT_FORMAT:
        raise UsageError("this is no stored schedule", witness=text[:60],
                         hint=f"its format would be {TEXT_FORMAT!r}")
    if missing := {"algorithm", "rungs", "steps", "tree"} - set(value):
        raise UsageError("the stored schedule is incomplete", witness=f"no {sorted(missing)[0]!r}")
    for name, kind in (("tree", str), ("algorithm", str), ("rungs", list), ("steps", list)):
        if not isinstance(value[name], kind):
            raise UsageError(f"the stored schedule's {name} is no {'list' if kind is list else 'text'}",
                             witness=json.dumps(value[name])[:60], hint="Schedule.to_text writes one")
    return value
