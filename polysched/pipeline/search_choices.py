"""Two choices that the stages of a region leave to a search: they only ask; whoever searches says it.

Of the models' plans for an instruction, where they are to be measured, `search.clients.measured_plans` takes one; of
the schedules of all schedulers (`--scheduler best`), `search.clients.best_schedule` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling.options import SchedulerOptions
from polysched.tensorize.decision import Decision
from polysched.tiling.options import TilingOptions
from polysched.tiling.tiled_schedule import TiledSchedule

T = TypeVar("T")
ChoosePlan = Callable[[Decision, PipelineOptions], Decision]
"""A decision with several plans, and the options of the region; the decision with one of them."""

ChooseSchedule = Callable[[Dependences, SchedulerOptions, TilingOptions], TiledSchedule]
"""A program, how it is scheduled and tiled but for the scheduler; the cheapest of its schedules, tiled."""

_PLAN: ContextVar[ChoosePlan | None] = ContextVar("choice of plans", default=None)
_SCHEDULE: ContextVar[ChooseSchedule | None] = ContextVar("choice of schedules", default=None)


@contextmanager
def _asking(who: ContextVar[T | None], choose: T) -> Iterator[None]:
    token = who.set(choose)
    try:
        yield
    finally:
        who.reset(token)


def choosing_plans(choose: ChoosePlan) -> AbstractContextManager[None]:
    """Ask `choose` for plans that are to be measured as long as this lasts."""
    return _asking(_PLAN, choose)


def choosing_schedules(choose: ChooseSchedule) -> AbstractContextManager[None]:
    """Ask `choose` for the cheapest schedule of all schedulers as long as this lasts."""
    return _asking(_SCHEDULE, choose)


def with_chosen_plan(decision: Decision, options: PipelineOptions) -> Decision:
    """The decision with the plan that was chosen among those of its rivals; as it is where it has none.

    Raises
    ------
    UsageError : plans are to be measured, and nobody is there who measures.
    PolyschedError : no plan is right.
    """
    if decision.program is None or not decision.rivals:
        return decision
    choose = _PLAN.get()
    if choose is None:
        raise UsageError("nobody measures plans here", where=decision.program.match.fragment.scop.name,
                         hint="polysched.optimize does, of the room search")
    return choose(decision, options)


def with_chosen_schedule(dependences: Dependences, options: SchedulerOptions, tiling: TilingOptions) -> TiledSchedule:
    """The cheapest schedule of all schedulers, tiled.

    Raises
    ------
    UsageError : nobody is there who compares them.
    PolyschedError : every scheduler refuses.
    """
    choose = _SCHEDULE.get()
    if choose is None:
        raise UsageError("nobody compares schedules here", where=dependences.scop.name,
                         hint="polysched.optimize does, of the room search; search.lookup.searching() has stages do")
    return choose(dependences, options, tiling)
