"""The schedule as written, with the flags that the dependences allow."""

from __future__ import annotations

import time

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import check_legal
from polysched.scheduling.flags import with_exact_flags
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.schedule import Schedule, SolverReport


def original(dependences: Dependences, *, options: SchedulerOptions | None = None) -> Schedule:
    """The order of the source; its bands say exactly which loops are parallel and may be permuted.

    `options` is there for the common interface of the schedulers; nothing in it applies.
    """
    del options
    started = time.perf_counter()
    tree = with_exact_flags(dependences, dependences.scop.schedule)
    check_legal(dependences, tree, what="schedule as written")
    return Schedule(dependences=dependences, tree=tree, algorithm="original",
                    report=SolverReport(rungs=("as written",), total_seconds=time.perf_counter() - started))
