"""isl's own scheduler on the same dependences, for comparison and as a fallback.

Source: Verdoolaege and Janssens, "Scheduling for PPCG", report CW 706, KU Leuven, 2017.
"""

from __future__ import annotations

import time
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.dependence.legality import require_legal
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.original import original
from polysched.scheduling.schedule import Schedule, SolverReport
from polysched.scop.budget import with_budget

ORDERING = (DependenceKind.FLOW, DependenceKind.ANTI, DependenceKind.OUTPUT)


def isl_schedule(dependences: Dependences, *, options: SchedulerOptions | None = None) -> Schedule:
    """Let isl schedule; when its budget runs out, the schedule as written.

    Fusion `none` serialises components and `max` schedules whole components; the other policies leave the
    choice to isl.
    """
    options = options or SchedulerOptions()
    started = time.perf_counter()
    scop = dependences.scop
    proximity = dependences.validity
    if options.input_dependences:
        proximity = proximity.union(dependences.of_kind(DependenceKind.INPUT))
    constraints = (isl.ScheduleConstraints.on_domain(scop.domain).set_context(scop.context)
                   .set_validity(dependences.validity).set_proximity(proximity)
                   .set_coincidence(dependences.of_kind(*ORDERING)))   # a relaxed reduction is not parallel either
    solver_seconds = 0.0

    def compute() -> isl.Schedule:
        nonlocal solver_seconds
        found = _with_policy(options.fusion, constraints)
        solver_seconds = time.perf_counter() - started
        require_legal(dependences, found, what="schedule by isl")
        return found

    reason = f"as written: isl's scheduler ran out of {options.isl_budget}"
    try:
        tree = with_budget(options.isl_operations, compute, seconds=options.seconds)
    except isl.Error as error:   # isl gives up with an error, for instance "unable to carry dependences"
        tree = None
        reason = f"as written: isl's scheduler gave up: {error}"
    if tree is None:
        fallback = original(dependences, options=options)
        return replace(fallback, algorithm="isl", report=replace(
            fallback.report, rungs=(reason,), total_seconds=time.perf_counter() - started))
    return Schedule(dependences=dependences, tree=tree, algorithm="isl", report=SolverReport(
        rungs=("isl",), solves=1, solver_seconds=solver_seconds, total_seconds=time.perf_counter() - started))


def _with_policy(fusion: str, constraints: isl.ScheduleConstraints) -> isl.Schedule:
    context = isl.DEFAULT_CONTEXT
    serialize, whole = context.get_schedule_serialize_sccs(), context.get_schedule_whole_component()
    try:
        context.set_schedule_serialize_sccs(int(fusion == "none"))
        context.set_schedule_whole_component(int(fusion == "max"))
        return constraints.compute_schedule()
    finally:
        context.set_schedule_serialize_sccs(serialize)
        context.set_schedule_whole_component(whole)
