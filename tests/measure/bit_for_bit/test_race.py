"""A race from its reports: times, refusals, and the others again without a code that ends its process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from polysched.emit_c.alternatives.checked_values import Equality
from polysched.emit_c.alternatives.replacement_check import ReplacementCheck
from polysched.errors import CompileError
from polysched.measure.bit_for_bit import race as tested
from polysched.measure.bit_for_bit.race import Raced, race
from polysched.measure.field import Verdict
from polysched.measure.processes.isolation import ChildEnd, End, Limits
from polysched.target import find_compiler

ENDED = ChildEnd(end=End.FINISHED, reports=(), phase="", signal_name=None, exit_status=0, seconds=1.0, peak_bytes=0,
                 error_output="", limits=Limits())
CRASHED = replace(ENDED, end=End.CRASHED, signal_name="SIGILL", phase="running the code")
DIFFERENT = {"array": "C", "index": [1], "expected": "7", "found": "8", "count": 1, "of": 9,
             "sizes": "i 9", "data": "x"}


def check(entry: str) -> ReplacementCheck:
    return ReplacementCheck(statement="S0", instruction="add", entry=entry, sizes="i 9", original_text="",
                            replaced_text=f"{entry};", arrays=(), parameters=(), equality=Equality.BITS)


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[list[ChildEnd], list[list[str]]]]:
    """How children end, one after another, and the codes that each was asked to race; `bad` does not compile."""
    ends: list[ChildEnd] = []
    asked: list[list[str]] = []

    def run(module: str, request: Mapping[str, Any], **other: Any) -> ChildEnd:
        asked.append([c["entry"] for c in request["checks"]])
        return ends.pop(0)

    def compiled(text: str, **other: Any) -> SimpleNamespace:
        if "bad" in text:
            raise CompileError("the plan does not compile", witness="no such register")
        return SimpleNamespace(path=Path("made.so"))

    monkeypatch.setattr(tested, "run_isolated", run)
    monkeypatch.setattr(tested, "compile_shared", compiled)
    yield ends, asked
    assert not ends


def raced(*entries: str) -> tuple[Raced, ...]:
    return race([check(e) for e in entries], compiler=find_compiler(), flags=())


def times(*entries: str) -> Sequence[Mapping[str, Any]]:
    """The second report is of a disturbed call."""
    return [{"timed": e, "seconds": float(n), "clean": n != 1} for n, e in enumerate(entries)]


def test_times_are_those_of_the_code_in_the_order_of_the_checks(
        children: tuple[list[ChildEnd], list[list[str]]]) -> None:
    children[0].append(replace(ENDED, reports=(*times("b", "a", "a", "b"),)))
    assert raced("a", "b", "c") == (
        Raced(entry="a", seconds=(1.0, 2.0), clean=(False, True)),
        Raced(entry="b", seconds=(0.0, 3.0), clean=(True, True)),
        Raced(entry="c", verdict=Verdict.FAILED, refusal="its process told nothing of it"))


def test_what_differs_strays_or_skips_is_refused_by_name(children: tuple[list[ChildEnd], list[list[str]]]) -> None:
    children[0].append(replace(ENDED, reports=(
        {"entry": "a"}, {"phase": "p"}, {"difference": DIFFERENT}, {"entry": "b"},
        {"stray": {"which": "replaced", "array": "A", "sizes": "i 9"}}, {"entry": "c"}, {"skipped": "i 9"},
        {"entry": "d"}, {"equal": "i 9"}, *times("d"))))
    a, b, c, d = raced("a", "b", "c", "d")
    assert a.refusal.startswith("C[1] has to be 7 and is 8")
    assert b.refusal == "the replaced code writes beside the array A at i 9"
    assert c.refusal == "it leaves these sizes to ordinary code"
    assert (d.refusal, d.seconds) == ("", (0.0,))
    assert not any(r.seconds for r in (a, b, c))
    assert [r.verdict for r in (a, b, c, d)] == [Verdict.WRONG, Verdict.WRONG, Verdict.FAILED, Verdict.TIMED]


def test_a_crash_costs_the_code_that_ran_and_the_others_run_again(
        children: tuple[list[ChildEnd], list[list[str]]]) -> None:
    ends, asked = children
    ends += [replace(CRASHED, reports=({"entry": "a"}, {"difference": DIFFERENT}, {"entry": "b"})),
             replace(CRASHED, reports=()), replace(ENDED, reports=(*times("d"),))]
    a, b, c, d = raced("a", "b", "c", "d")
    assert asked == [["a", "b", "c", "d"], ["c", "d"], ["d"]]
    assert a.refusal.startswith("C[1] has to be")
    assert b.refusal == c.refusal == "the process crashed with SIGILL after 1.0 seconds while it was running the code"
    assert d.seconds == (0.0,)
    assert [r.verdict for r in (a, b, c)] == [Verdict.WRONG, Verdict.CRASHED, Verdict.CRASHED]


def test_code_that_does_not_compile_leaves_the_others(children: tuple[list[ChildEnd], list[list[str]]]) -> None:
    children[0].append(replace(ENDED, reports=(*times("a", "c"),)))
    a, b, c = raced("a", "bad", "c")
    assert children[1] == [["a", "c"]]
    assert "no such register" in b.refusal
    assert a.seconds
    assert c.seconds


def test_nothing_is_run_where_nothing_compiles(children: tuple[list[ChildEnd], list[list[str]]]) -> None:
    (only,) = raced("bad")
    assert not children[1]
    assert "does not compile" in only.refusal
    assert only.verdict is Verdict.NO_CODE
    assert race((), compiler=find_compiler(), flags=()) == ()
