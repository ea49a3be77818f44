"""Refusals: where, witness and hint in lines of their own, and exit codes that scripts can tell apart."""

from __future__ import annotations

import pickle

import pytest

from polysched import errors
from polysched.errors import (
    FaultError,
    PolyschedError,
    RunFailedError,
    SourceLocation,
    UsageError,
    WrongResultError,
)

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PolyschedError)]


@pytest.mark.parametrize(("place", "text"), [
    (SourceLocation("a.c"), "a.c"), (SourceLocation("a.c", 7), "a.c:7"), (SourceLocation("a.c", 7, 3), "a.c:7:3"),
    (SourceLocation("a.c", 0, 3), "a.c")])
def test_places(place: SourceLocation, text: str) -> None:
    assert str(place) == text


@pytest.mark.parametrize(("given", "lines"), [
    ({}, ["it is wrong"]),
    ({"where": "here"}, ["here: it is wrong"]),
    ({"witness": "i = 3", "hint": "use 4"}, ["it is wrong", "  witness: i = 3", "  hint: use 4"]),
    ({"where": SourceLocation("a.c", 2), "hint": "use 4"}, ["a.c:2: it is wrong", "  hint: use 4"]),
])
def test_the_message_has_a_line_for_each_part(given: dict[str, object], lines: list[str]) -> None:
    refusal = UsageError("it is wrong", **given)  # type: ignore[arg-type]
    assert str(refusal).split("\n") == lines
    assert refusal.problem == "it is wrong"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_explained_and_has_a_code(kind: type[PolyschedError]) -> None:
    assert kind.__doc__
    assert kind.exit_code in ((1,) if kind is FaultError else (2, 3, 4))   # as after a traceback
    with pytest.raises(PolyschedError):
        raise kind("x")


def test_codes_of_runs_and_results() -> None:
    assert (UsageError.exit_code, RunFailedError.exit_code, WrongResultError.exit_code) == (2, 3, 4)


def test_a_refusal_can_be_sent_between_processes() -> None:
    sent = pickle.loads(pickle.dumps(UsageError("it is wrong")))
    assert isinstance(sent, UsageError)
    assert str(sent) == "it is wrong"
