"""Records show themselves in one line of at most 300 characters; keys are made of everything that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from polysched.target.one_line import LONGEST, OneLine, whole


@dataclass(frozen=True)
class Point(OneLine):
    x: int
    y: int = 0
    hidden: str = field(default="", repr=False)


@dataclass(frozen=True)
class Holder(OneLine):
    points: Sequence[object]
    text: str = ""


@dataclass(frozen=True)
class Named(OneLine):
    x: int

    def __repr__(self) -> str:
        return "own"


class Pair(NamedTuple):
    first: Holder
    second: int = 0


@dataclass(frozen=True, slots=True)
class Slotted(Point):
    z: int = 1


def test_a_short_record_is_shown_as_ever() -> None:
    assert repr(Point(1, hidden="no")) == "Point(x=1, y=0)"
    assert repr(Slotted(1)) == "Slotted(x=1, y=0, z=1)"
    assert repr(Named(1)) == "own"


@pytest.mark.parametrize("value", [
    Holder(tuple(Point(n) for n in range(1000))), Holder((), "a\n" * 500), Holder((Point(0),), "x" * 100000)])
def test_a_long_one_is_one_line(value: Holder) -> None:
    line = repr(value)
    assert len(line) <= LONGEST
    assert "\n" not in line
    assert line.startswith("Holder(points=(")
    assert line.endswith(")")
    assert "..." in line


def test_a_record_that_holds_itself_ends() -> None:
    held: list[object] = []
    holder = Holder(held)
    held.append(holder)
    assert repr(holder) == "Holder(points=[...], text='')"


def test_many_fields_are_cut_at_the_end() -> None:
    wide = dataclass(type("Wide", (OneLine,), {"__annotations__": {f"field_{n}": int for n in range(60)}}))
    line = repr(wide(*range(60)))
    assert len(line) == LONGEST
    assert line.endswith("...)")


def test_keys_tell_apart_what_lines_do_not() -> None:
    first, second = (Holder(tuple(Point(n) for n in (*range(100), last))) for last in (1, 2))
    assert repr(first) == repr(second)
    assert whole(first) != whole(second)
    assert whole([{"a": first}]) != whole([{"a": second}])
    assert whole(Pair(first)) != whole(Pair(second))
    assert whole(((1,), [2], {"k": Point(3)})) == "((1,), [2], {'k': Point(x=3, y=0)},)"
    assert whole(frozenset({Point(2), Point(1)})) == "{Point(x=1, y=0), Point(x=2, y=0)}"
