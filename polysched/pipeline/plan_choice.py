"""Which of the models' plans for an instruction is taken where they are to be measured: whoever can measure says it.

The stages of a region only ask; `search.clients.measured_plans` races the plans and answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from polysched.errors import UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.tensorize.decision import Decision

ChoosePlan = Callable[[Decision, PipelineOptions], Decision]
"""A decision with several plans, and the options of the region; the decision with one of them."""

_CHOOSE: ContextVar[ChoosePlan | None] = ContextVar("choice of plans", default=None)


@contextmanager
def choosing_plans(choose: ChoosePlan) -> Iterator[None]:
    """Ask `choose` for plans that are to be measured as long as this lasts."""
    token = _CHOOSE.set(choose)
    try:
        yield
    finally:
        _CHOOSE.reset(token)


def with_chosen_plan(decision: Decision, options: PipelineOptions) -> Decision:
    """The decision with the plan that was chosen among those of its rivals; as it is where it has none.

    Raises
    ------
    UsageError : plans are to be measured, and nobody is there who measures.
    PolyschedError : no plan is right.
    """
    if decision.program is None or not decision.rivals:
        return decision
    choose = _CHOOSE.get()
    if choose is None:
        raise UsageError("nobody measures plans here", where=decision.program.match.fragment.scop.name,
                         hint="polysched.optimize does, of the room search")
    return choose(decision, options)
