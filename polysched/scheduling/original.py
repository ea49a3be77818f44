"""The schedule as written, with the flags that the dependences allow."""

from __future__ import annotations

import time

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import require_legal
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.schedule import Schedule, SolverReport
from polysched.scheduling.tree.flags import with_exact_flags
from polysched.scop.budget import with_budget


def original(dependences: Dependences, *, options: SchedulerOptions | None = None) -> Schedule:
    """The order of the source; its bands say exactly which loops are parallel and may be permuted.

    Of the options only the budget of isl applies: when it runs out, no loop is called parallel.
    The order needs no check then, since every dependence comes from it.
    """
    options = options or SchedulerOptions()
    started = time.perf_counter()
    rungs = ("as written",)
    tree = with_budget(options.isl_operations, lambda: _judged(dependences), seconds=options.seconds)
    if tree is None:
        tree = dependences.scop.schedule
        rungs = (f"as written, without parallel loops: judging them ran out of {options.isl_budget}",)
    return Schedule(dependences=dependences, tree=tree, algorithm="original",
                    report=SolverReport(rungs=rungs, total_seconds=time.perf_counter() - started))


def _judged(dependences: Dependences) -> isl.Schedule:
    tree = with_exact_flags(dependences, dependences.scop.schedule)
    require_legal(dependences, tree, what="schedule as written")
    return tree
