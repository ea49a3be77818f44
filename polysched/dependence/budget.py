"""A budget of isl operations: no isl call may run without end.

isl counts its own elementary operations, so a budget is the same on every machine and in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import islpy as isl

Result = TypeVar("Result")

ISL_OPERATIONS = 5_000_000
"""The default budget of one computation: some three seconds; the kernels of the tests need less than a million."""


def with_budget(operations: int, compute: Callable[[], Result]) -> Result | None:
    """The value of an isl computation, or None when it needs more than so many isl operations.

    Inside another budget the smaller one holds.  One that is spent is taken off the outer one, which begins
    to count anew after it.
    """
    context = isl.DEFAULT_CONTEXT
    outer = after = context.get_max_operations()
    context.reset_operations()
    context.set_max_operations(min(operations, outer) if outer else operations)
    try:
        return compute()
    except isl.Error:
        if not _is_spent():
            raise
        after = max(1, outer - operations) if outer else 0
        return None
    finally:
        context.reset_operations()
        context.set_max_operations(after)


def _is_spent() -> bool:
    """Whether the budget is used up: then isl refuses even this, under whatever message the first refusal had."""
    try:
        isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "{ [i] : 0 <= i < 4 }")
    except isl.Error:
        return True
    return False
