"""An answer to a question and its verdict: right, or wrong with a hint that the program itself computes."""

from __future__ import annotations

import html
from collections.abc import Iterable
from enum import Enum
from typing import Protocol

from polysched.errors import PolyschedError, UsageError
from polysched.records import dataclass
from polysched.scop.shown import Shown


class State(Enum):
    """OPEN: the reader has not answered yet."""

    RIGHT = "right"
    WRONG = "wrong"
    OPEN = "no answer yet"


COLOURS = {State.RIGHT: "#228833", State.WRONG: "#aa3377", State.OPEN: "#777777"}


@dataclass(frozen=True, kw_only=True)
class Verdict(Shown):
    """What `check` says.

    Parameters
    ----------
    text : what was found, in words.
    hint : for a wrong answer: something that the program computed and that helps; may be empty.
    """

    state: State
    text: str
    hint: str = ""

    def headline(self) -> str:
        """For instance `right: 15 instances`."""
        return f"{self.state.value}: {self.text}"

    def __str__(self) -> str:
        return f"{self.headline()}\n  hint: {self.hint}\n" if self.hint else f"{self.headline()}\n"

    def _repr_html_(self) -> str:
        hint = f"<br><i>hint:</i> {html.escape(self.hint)}" if self.hint else ""
        return (f'<div style="border-left:4px solid {COLOURS[self.state]};padding:2px 10px;margin:4px 0">'
                f"<b>{self.state.value}</b>: {html.escape(self.text)}{hint}</div>")


class Question(Protocol):
    """Something that an answer can be right about."""

    @property
    def expects(self) -> str:
        """What kind of value an answer is, for instance `a number`."""

    def judge(self, answer: object) -> Verdict:
        """The verdict; an answer of another kind raises UsageError."""


def check(answer: object, question: Question) -> Verdict:
    """Judge an answer; `...` and None are none.

    An answer that cannot be read, or that the program refuses, is wrong, and the refusal says why.
    """
    if answer is Ellipsis or answer is None:
        return Verdict(state=State.OPEN, text=f"replace the three dots by {question.expects}")
    try:
        return question.judge(answer)
    except PolyschedError as error:
        return wrong(error.problem, "; ".join(filter(None, (error.witness, error.hint))))


def right(text: str) -> Verdict:
    """The verdict on a right answer."""
    return Verdict(state=State.RIGHT, text=text)


def wrong(text: str, hint: str = "") -> Verdict:
    """The verdict on a wrong answer."""
    return Verdict(state=State.WRONG, text=text, hint=hint)


def as_number(answer: object) -> int:
    """The answer as an integer.

    Raises
    ------
    UsageError : it is none.
    """
    if isinstance(answer, bool) or not isinstance(answer, int):
        raise UsageError("the answer should be a whole number", witness=f"it is {answer!r}"[:80])
    return answer


def as_text(answer: object, example: str) -> str:
    """The answer as text.

    Raises
    ------
    UsageError : it is none.
    """
    if not isinstance(answer, str):
        raise UsageError("the answer should be text between quotation marks", witness=f"it is {answer!r}"[:80],
                         hint=f"for instance {example}")
    return answer


def as_words(answer: object, known: Iterable[str]) -> set[str]:
    """The answer as a set of names, each of them a known one.

    Raises
    ------
    UsageError : it is no set of names, or has one that is not known.
    """
    names = tuple(known)
    if isinstance(answer, str) or not isinstance(answer, set | frozenset | list | tuple):
        raise UsageError("the answer should be a set of names", witness=f"it is {answer!r}"[:80],
                         hint=f"for instance {{{names[0]!r}}}; the empty set is set()")
    for word in answer:
        if word not in names:
            raise UsageError(f"{word!r} is none of {', '.join(names)}")
    return set(answer)


def sizes_text(sizes: Iterable[tuple[str, int]]) -> str:
    """For instance ` at n = 6`; nothing where there are no sizes."""
    told = ", ".join(f"{name} = {value}" for name, value in sizes)
    return f" at {told}" if told else ""
