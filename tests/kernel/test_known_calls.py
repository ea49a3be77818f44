"""Calls like earlier ones skip the checks that would find the same, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polysched import kernel
from polysched.errors import UsageError
from polysched.kernel.call_checks import SharedMemoryError
from polysched.kernel.checked_subscripts import SubscriptError
from polysched.kernel.decorated import Kernel
from polysched.kernel.known_calls import KnownCall, KnownCalls, call_key, lie_apart
from polysched.kernel.limits import LIMITS

FACTOR = 3


@kernel
def scaled(x: Any, y: Any, n: int) -> None:
    for i in range(n):
        y[i] = FACTOR * x[i]


@kernel
def gathered(x: Any, at: Any, y: Any) -> None:
    for i in range(at.shape[0]):
        y[i] = x[at[i]]


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels whose arguments were checked in full, in order."""
    found: list[str] = []
    real = Kernel._fitting

    def counting(self: Kernel, values: Any) -> Any:
        found.append(self.function.__name__)
        return real(self, values)
    monkeypatch.setattr(Kernel, "_fitting", counting)
    return found


def test_a_second_call_is_not_checked_again(checked: list[str]) -> None:
    made = kernel(scaled.function)
    for start in (0.0, 5.0):
        x, y = np.arange(start, start + 8), np.zeros(8)
        made(x, y, 8)
        assert np.array_equal(y, FACTOR * x)
    assert checked == ["scaled"]
    made(x=np.arange(8.0), y=y, n=8)
    assert checked == ["scaled"] * 2, "arguments by name are"


@pytest.mark.parametrize("other", [
    (np.arange(8.0), np.zeros(8), 5), (np.arange(9.0), np.zeros(8), 8), (np.arange(8), np.zeros(8), 8),
    (np.arange(16.0)[::2], np.zeros(8), 8), (np.arange(8.0), np.zeros(8)[::-1], 8),
    (np.arange(8.0), np.zeros(8), np.int64(8))])
def test_other_types_shapes_strides_and_numbers_are(other: tuple[Any, ...], checked: list[str]) -> None:
    made = kernel(scaled.function)
    made(np.arange(8.0), np.zeros(8), 8)
    x, y, n = other
    made(x, y, n)
    assert np.array_equal(y[:n], FACTOR * x[:n])
    assert checked == ["scaled"] * 2


def test_memory_and_contents_are_looked_at_every_time() -> None:
    made, x, y = kernel(scaled.function), np.arange(8.0), np.zeros(8)
    made(x, y, 8)
    both = np.arange(12.0)
    with pytest.raises(SharedMemoryError):
        made(both[:8], both[4:], 8)
    y.flags.writeable = False
    with pytest.raises(UsageError, match="read-only"):
        made(x, y, 8)
    with pytest.raises(UsageError):
        made(x, np.zeros(8), 9)
    at = np.arange(3)
    for _ in range(2):
        gathered(x, at, np.zeros(3))
    at[1] = 8
    with pytest.raises(SubscriptError):
        gathered(x, at, np.zeros(3))


def test_one_array_twice_is_one_array() -> None:
    made, x = kernel(scaled.function), np.arange(8.0)
    made(np.arange(8.0), np.zeros(8), 8)
    made(x, x, 8)
    assert np.array_equal(x, FACTOR * np.arange(8.0))


def test_a_name_from_outside_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    made, x, y = kernel(scaled.function), np.arange(8.0), np.zeros(8)
    made(x, y, 8)
    monkeypatch.setitem(scaled.function.__globals__, "FACTOR", 7)
    made(x, y, 8)
    assert np.array_equal(y, 7 * x)


def test_what_a_key_tells_apart() -> None:
    x = np.arange(6.0)
    assert call_key([x, 1.5, 3]) == call_key([x + 1, 2.5, 3])
    assert call_key([x, 1.5, 3]) != call_key([x, 1.5, 4])
    assert call_key([1]) != call_key([True])
    assert call_key([np.float32(1)]) != call_key([1.0])
    assert call_key([np.ma.array(x)]) is None
    assert call_key([[1.0]]) is None
    assert call_key(["n"]) is None


def test_arrays_that_lie_apart() -> None:
    x = np.arange(12.0)
    assert lie_apart([x[:4], x[4:8], x[8:], 3])
    assert lie_apart([x[5::-1], x[6:]])
    assert not lie_apart([x[:5], x[4:]])
    assert not lie_apart([x[::2], x[1::2]]), "in doubt the arrays are checked"
    assert not lie_apart([x, x])


def test_the_oldest_goes() -> None:
    calls, made = KnownCalls(), KnownCall(scaled.specialise(np.zeros(2), np.zeros(2), 2), {"n": 2})
    for number in range(LIMITS.known_calls + 1):
        calls.keep((number,), made)
    assert calls.find((0,)) is None
    assert calls.find((1,)) is made
