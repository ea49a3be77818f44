"""A budget of isl operations and of processor time: no isl call may run without end.

isl counts its own elementary operations, so that part of a budget is the same on every machine and in every run.  It
is no measure of time, though: an operation takes a third of a microsecond or forty of them.  So every budget has
seconds beside it, of this thread's processor time, several times what as many operations usually take: whether they
run out does not hang on what else the machine does, and hardly ever on which machine it is.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import islpy as isl

from polysched.scop.isl_clock import clock
from polysched.scop.limits import LIMITS

Result = TypeVar("Result")

ISL_OPERATIONS = LIMITS.isl_operations
SECONDS_PER_OPERATION = LIMITS.seconds_per_operation
LEAST_SECONDS = LIMITS.least_budget_seconds

ANY_NUMBER = 0
"""Of operations: a budget of seconds only."""

_OF_MISSING_VALUES = (TypeError, ValueError, AttributeError)
"""What Python raises on what isl gives, once it is stopped, instead of a number or a name: None, or no number."""


class _Around(threading.local):
    """The deadlines of the budgets around, in the thread's processor time; the inner ones are last."""

    def __init__(self) -> None:
        self.deadlines: list[float] = []


_AROUND = _Around()


def seconds_of(operations: int) -> float:
    """The processor seconds that go with a budget of operations."""
    return max(LEAST_SECONDS, operations * SECONDS_PER_OPERATION)


def seconds_left() -> float:
    """The processor seconds until the first of the budgets around ends; infinity outside of all."""
    return max(0.0, min(_AROUND.deadlines, default=math.inf) - time.thread_time())


def operations_left() -> int:
    """The isl operations that the budget around had when its last part began; as many as there are outside of all."""
    return isl.DEFAULT_CONTEXT.get_max_operations() or sys.maxsize


def in_words(operations: int, seconds: float | None = None) -> str:
    """A budget, as reports and refusals call it."""
    return f"{operations} isl operations or {seconds_of(operations) if seconds is None else seconds:g} s"


def with_budget(operations: int, compute: Callable[[], Result], *, seconds: float | None = None) -> Result | None:
    """The value of an isl computation, or None when it needs more than its budget.

    Inside another budget the smaller one holds.  Operations that are spent are taken off the outer budget, which begins
    to count anew after it; its seconds go on.

    Parameters
    ----------
    operations : of isl; `ANY_NUMBER` for a budget of seconds only.
    seconds : of processor time; None for those that go with the operations (`seconds_of`).
    """
    context = isl.DEFAULT_CONTEXT
    outer = after = context.get_max_operations()
    if operations:
        context.reset_operations()
        context.set_max_operations(min(operations, outer) if outer else operations)
    _AROUND.deadlines.append(time.thread_time() + (seconds_of(operations) if seconds is None else seconds))
    _set_clock()
    spent = False
    try:
        value = compute()
        spent = _is_spent()   # then isl may have given a part of the value, and no error
        return None if spent else value
    except (isl.Error, *_OF_MISSING_VALUES):
        spent = _is_spent()
        if not spent:
            raise
        return None
    finally:
        in_time = _leave()
        if operations:
            if spent and in_time:
                after = max(1, outer - operations) if outer else 0
            context.reset_operations()
        context.set_max_operations(after)


def require_budget() -> None:
    """Raise isl's error when the budget around is spent: what was computed last may be a part only."""
    isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)


def _set_clock() -> None:
    """Let isl stop at the earliest of the deadlines, or at once when it has passed."""
    timer = clock()
    if timer is None or not _AROUND.deadlines:
        return
    left = min(_AROUND.deadlines) - time.thread_time()
    timer.set(max(left, 0.0))
    if left <= 0:
        isl.DEFAULT_CONTEXT.abort()


def _leave() -> bool:
    """End the innermost budget of seconds; whether no time had run out."""
    _AROUND.deadlines.pop()
    if (timer := clock()) is not None:
        timer.set(0)
    in_time = not isl.DEFAULT_CONTEXT.aborted()
    isl.DEFAULT_CONTEXT.resume()
    _set_clock()
    return in_time


def _is_spent() -> bool:
    """Whether the budget is used up: then isl refuses even this, under whatever message the first refusal had."""
    try:
        require_budget()
    except isl.Error:
        return True
    return False
