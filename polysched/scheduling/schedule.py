"""The Schedule value: a schedule tree that has passed the exact legality check, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.scheduling.primitives.step import Step
from polysched.scop.scop import Scop


@dataclass(frozen=True, kw_only=True)
class SolverReport:
    """What the scheduler did.

    Parameters
    ----------
    rungs : the rungs of the ladder that were used, in order, each with its reason; the first is the normal one.
    variables, rows : the largest integer program that was solved.
    solves : number of integer programs solved.
    solver_seconds, total_seconds : wall time inside the solver, and of the whole call with the legality check.
    """

    rungs: tuple[str, ...] = ()
    variables: int = 0
    rows: int = 0
    solves: int = 0
    solver_seconds: float = 0.0
    total_seconds: float = 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Schedule:
    """A legal schedule.

    Parameters
    ----------
    dependences : what it respects; holds the Scop.
    tree : isl schedule tree; its bands carry `permutable` and, per member, `coincident`.
    algorithm : `pluto`, `isl`, `feautrier` or `original`.
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
