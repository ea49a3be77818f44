"""Records of JSON values: every type that a field may have, and the place of a wrong value."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from polysched.target.json_record import place_of, read_json, read_record


@dataclass(frozen=True, kw_only=True)
class Part:
    name: str
    size: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Whole:
    count: int
    ready: bool = False
    parts: tuple[Part, ...] = ()
    pair: tuple[int, float] = (0, 0.5)
    words: frozenset[str] = frozenset()
    rates: Mapping[int, float] = field(default_factory=dict)


def test_what_is_left_out_has_its_default():
    assert read_record(Whole, {"count": 3}) == Whole(count=3)


def test_every_type_is_read():
    given = {"count": 1, "ready": True, "parts": [{"name": "a"}, {"name": "b", "size": 2}], "pair": [3, 4],
             "words": ["y", "x"], "rates": {"0": 1e9, "12": 2}}
    assert read_record(Whole, given) == Whole(
        count=1, ready=True, parts=(Part(name="a"), Part(name="b", size=2)), pair=(3, 4), words=frozenset("xy"),
        rates={0: 1e9, 12: 2})


@pytest.mark.parametrize(("given", "problem"), [
    ([], r"the whole: \[\] is no object"),
    ({}, "count: this is left out"),
    ({"count": 1, "Ready": True}, "Ready: there is no such field, but count, ready, parts, pair, words, rates"),
    ({"count": 10.0}, "count: 10.0 is no integer"),
    ({"count": 1, "ready": 1}, "ready: 1 is no truth value"),
    ({"count": 1, "parts": [{"name": "a", "size": float("nan")}]}, r"parts\[a\].size: nan is no finite number"),
    ({"count": 1, "parts": [{"name": "a", "size": 10 ** 400}]}, "is no finite number"),
    ({"count": 1, "parts": [{"size": 1}]}, r"parts\[0\].name: this is left out"),
    ({"count": 1, "pair": [1, 2, 3]}, r"pair: \[1, 2, 3\] is no list of 2"),
    ({"count": 1, "words": {"x": 1}}, "words: {'x': 1} is no list"),
    ({"count": 1, "rates": {"-1": 2}}, "rates.-1: '-1' is no integer"),
])
def test_a_wrong_value_is_refused_with_its_place(given, problem):
    with pytest.raises(ValueError, match=problem):
        read_record(Whole, given, at="")
    with pytest.raises(ValueError, match=r"whole\[7\]"):
        read_record(Whole, given, at="whole[7]")


def test_json_of_a_file_and_of_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text("[1]")
    monkeypatch.setattr("sys.stdin", io.StringIO("[2]"))
    assert (read_json(tmp_path / "a.json"), read_json("-")) == ([1], [2])
    assert (place_of("a.json"), place_of("-")) == ("a.json", "<stdin>")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for name in ("deep.json", "a"):
        with pytest.raises((ValueError, OSError)):
            read_json(tmp_path / name)
