"""What the readers of functions that were made elsewhere share: a budget, names, and refusals with a place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polysched.errors import BudgetExceededError, SourceLocation, UnsupportedScopError
from polysched.scop.budget import in_words, with_budget
from polysched.scop.construction.region import OutOfBounds
from polysched.scop.construction.values import CannotExpress
from polysched.scop.limits import LIMITS
from polysched.scop.scop import Scop


def within_budget(read: Callable[[], Scop], where: SourceLocation | str, *, hint: str, witness: str | None = None
                  ) -> Scop:
    """The Scop of a function; isl's work on it is limited, as that on a region of C.

    Raises
    ------
    BudgetExceededError : it takes more.
    """
    scop = with_budget(LIMITS.reading_isl_operations, read, seconds=LIMITS.reading_seconds)
    if scop is None:
        raise BudgetExceededError(
            f"reading the function takes more than {in_words(LIMITS.reading_isl_operations, LIMITS.reading_seconds)}",
            where=where, witness=witness, hint=hint)
    return scop


@contextmanager
def refusing(where: SourceLocation | str, witness: Callable[[], str]) -> Iterator[None]:
    """Say where something was refused that has no place of its own.

    Parameters
    ----------
    witness : the part of the function that is read, in words.
    """
    try:
        yield
    except CannotExpress as error:
        raise UnsupportedScopError(error.problem, where=where, witness=witness(), hint=error.hint) from None
    except OutOfBounds as error:
        raise UnsupportedScopError(f"{error.array} is accessed outside its extents", where=where,
                                   witness=error.witness) from None


def plain_name(name: str) -> str:
    """A name of another language as one of C's."""
    letters = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return letters if letters[:1].isalpha() else f"v{letters}"
