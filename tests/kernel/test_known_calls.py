"""Calls like earlier ones skip checks that have passed; what depends on more than their arguments' types does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polysched.kernel
from polysched.errors import PolyschedError, UsageError
from polysched.kernel.known_calls import MOST_CALLS, KnownCalls, lie_apart, signature_of

SCALE = 3


def add(y: Any, x: Any) -> None:
    for i in range(len(y)):
        y[i] += SCALE * x[i]


def shift(y: Any, x: Any, first: Any, factor: Any) -> None:
    for i in range(len(y)):
        y[i] += factor * x[first + i]


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry per call that was checked."""
    seen: list[str] = []
    checked = polysched.kernel.Kernel._checked

    def recorded(self: Any, *given: Any) -> Any:
        seen.append(self.function.__name__)
        return checked(self, *given)

    monkeypatch.setattr(polysched.kernel.Kernel, "_checked", recorded)
    return seen


def test_the_second_call_is_not_checked_again(looked_at: list[str]) -> None:
    kernel = polysched.kernel.kernel(add)
    for size, times in ((8, 1), (8, 1), (9, 2), (8, 2)):
        y, x = np.zeros(size), np.arange(float(size))
        kernel(y, x)
        np.testing.assert_array_equal(y, SCALE * np.arange(size))
        assert len(looked_at) == times


def test_other_arguments_are_other_calls(looked_at: list[str]) -> None:
    kernel = polysched.kernel.kernel(shift)
    x = np.arange(20.0)
    for first, factor, times in ((2, 2.0, 1), (2, 0.5, 1), (5, 0.5, 2), (np.int64(5), 0.5, 3), (5, np.float64(2), 4)):
        y = np.ones(8)
        kernel(y, x, first, factor)
        np.testing.assert_array_equal(y, 1 + factor * x[first:first + 8])
        assert len(looked_at) == times
    with pytest.raises(UsageError):
        kernel(np.ones(8), x, 13, 2.0)


def test_arrays_that_overlap_are_looked_at_in_every_call(looked_at: list[str]) -> None:
    kernel = polysched.kernel.kernel(add)
    memory = np.arange(20.0)
    kernel(memory[:8].copy(), memory[8:16].copy())
    kernel(memory[:8], memory[8:16])
    assert len(looked_at) == 1
    with pytest.raises(PolyschedError, match="overlap"):
        kernel(memory[:8], memory[4:12])
    same = memory[:8].copy()
    kernel(same, same)
    np.testing.assert_array_equal(same, (1 + SCALE) * memory[:8])


def test_a_name_from_outside_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, x = polysched.kernel.kernel(add), np.arange(8.0)
    for factor in (3, 3, 7, 7, 2):
        monkeypatch.setitem(add.__globals__, "SCALE", factor)
        y = np.zeros(8)
        kernel(y, x)
        np.testing.assert_array_equal(y, factor * x)


def test_read_only_and_strided_arrays_are_other_calls() -> None:
    kernel, x = polysched.kernel.kernel(add), np.arange(8.0)
    kernel(np.zeros(8), x)
    frozen = np.zeros(8)
    frozen.flags.writeable = False
    with pytest.raises(UsageError, match="read-only"):
        kernel(frozen, x)
    wide = np.zeros(16)
    kernel(wide[::2], x)
    np.testing.assert_array_equal(wide[::2], SCALE * x)
    with pytest.raises(UsageError, match="overlap each other"):
        kernel(np.lib.stride_tricks.as_strided(np.zeros(1), (8,), (0,), writeable=True), x)


def later(y: Any, x: Any, *, factor: float = 2.0) -> None:
    for i in range(len(y)):
        y[i] += factor * x[i]


def spread(*arrays: Any) -> None:
    arrays[0][0] = 1.0


def test_arguments_by_place_and_by_name() -> None:
    kernel, x = polysched.kernel.kernel(later), np.arange(8.0)
    for call, factor in ((lambda y: kernel(y, x), 2.0), (lambda y: kernel(x=x, y=y, factor=3.0), 3.0)):
        y = np.zeros(8)
        call(y)
        np.testing.assert_array_equal(y, factor * x)
    with pytest.raises(UsageError):
        kernel(np.zeros(8), x, 3.0)
    with pytest.raises(UsageError):
        polysched.kernel.kernel(add)(x)
    with pytest.raises(PolyschedError, match="variable number"):
        polysched.kernel.kernel(spread)(x)
    polysched.kernel.kernel(add)(np.zeros(8), x=x)


def test_signatures_tell_what_checks_depend_on() -> None:
    x = np.zeros((4, 5), np.int16)
    assert signature_of([x]) == signature_of([x.copy()])
    for other in (x.T, x[:, ::2], x[:3], x.astype(np.uint16), x.astype(">i2"), x.astype(np.int32)):
        assert signature_of([x]) != signature_of([other])
    assert signature_of([1]) != signature_of([True])
    assert signature_of([1]) != signature_of([np.int32(1)])
    assert signature_of([0.5]) == signature_of([float("nan")])
    assert signature_of([0.5]) != signature_of([np.float32(0.5)])
    for value in (np.ma.zeros(3), "text", None, 1j):
        assert signature_of([value]) is None
    assert lie_apart({"x": x, "y": x.copy(), "n": 3})
    assert not lie_apart({"x": x[:2], "y": x[1:]})


def test_the_oldest_goes() -> None:
    calls, code = KnownCalls(), polysched.kernel.kernel(add).specialise(np.zeros(2), np.zeros(2))
    for n in range(MOST_CALLS + 2):
        calls.keep((n,), code, {"n": n})
    assert calls.look_up((1,)) is None
    assert calls.look_up((2,)) == (code, {"n": 2})
    assert calls.look_up(None) is None
