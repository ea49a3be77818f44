"""`Known`: what a search over sizes of one launch asks isl again and again, answered once.

Blocks and points change, but instances, coordinates, steps of neighbours and elements of a tile of the same edges do
not: of some 90 sizes of a launch most have edges that another one has, too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from polysched.scop.budget import require_budget

Answer = TypeVar("Answer")

_PLAIN = (str, int, float, type(None))


class Known:
    """Answers about one launch, for one set of sizes of parameters."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, tuple[tuple[object, ...], object]] = {}

    def once(self, question: tuple[object, ...], compute: Callable[[], Answer]) -> Answer:
        """The answer to a question: computed for the first who asks it.

        Parameters
        ----------
        question : words, numbers, and values that are told apart by their identity.

        Raises
        ------
        islpy.Error : the budget around is spent, so that the answer may be a part only; nothing is kept of it.
        """
        key = _key(question)
        if key not in self._answers:
            answer = compute()
            require_budget()
            self._answers[key] = question, answer   # as long as the values live, nothing else has their identity
        return cast(Answer, self._answers[key][1])


def _key(value: object) -> Hashable:
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return value if isinstance(value, _PLAIN) else id(value)
