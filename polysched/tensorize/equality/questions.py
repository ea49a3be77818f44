"""What the ladder was asked in one match: one budget for all of its exhaustive comparisons, and the answers so far.

The budget is counted in operations, so that every run and machine decides the same.  Answers live as long as the match:
what another one was told before changes nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Any, Generic, TypeVar

from polysched.records import dataclass
from polysched.tensorize.limits import LIMITS

EXHAUSTIVE_OPERATIONS = LIMITS.exhaustive_operations
Answer = TypeVar("Answer")


@dataclass(eq=False)
class Questions(Generic[Answer]):
    """The budget and the answers of one match.

    Parameters
    ----------
    operations : inputs times nodes that may be tried, all questions together.
    spent : of these.
    refused : questions that stayed open since the rest was too little.
    answers : by whatever two equal questions have in common.
    """

    operations: int = EXHAUSTIVE_OPERATIONS
    spent: int = 0
    refused: int = 0
    answers: dict[Hashable, Answer] = field(default_factory=dict)

    def affords(self, operations: float) -> bool:
        """Whether that much is left."""
        return self.spent + operations <= self.operations

    def spend(self, operations: float) -> None:
        """Take an affordable number off the budget."""
        self.spent += int(operations)

    @property
    def words(self) -> str:
        """The budget, as refusals call it."""
        return f"ran out of {self.operations} operations of exhaustive comparison"


_ASKED: ContextVar[Questions[Any] | None] = ContextVar("questions of a match", default=None)


@contextmanager
def one_budget(operations: int = EXHAUSTIVE_OPERATIONS) -> Iterator[Questions[Any]]:
    """All questions inside share a budget and their answers; within another such block they share those around."""
    around = _ASKED.get()
    asked: Questions[Any] = Questions(operations=operations) if around is None else around
    token = _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(token)


def asked_here() -> Questions[Any]:
    """Those of the match that is going on; new ones outside of any."""
    return _ASKED.get() or Questions()
