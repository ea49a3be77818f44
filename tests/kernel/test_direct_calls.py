"""Calls like an earlier one go straight to the code, unless where arrays lie or what names stand for forbids it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched
import polysched.kernel
from polysched.errors import PolyschedError, UsageError
from polysched.kernel.choosing import Code
from polysched.kernel.scop_function import ScopFunction
from polysched.scop.expression import axis, compute, loop, placeholder, scalar, symbols, update

SCALE = 3


def add(y: Any, x: Any) -> None:
    for i in range(len(y)):
        y[i] += SCALE * x[i]


def shift(y: Any, x: Any, first: Any, factor: Any) -> None:
    for i in range(len(y)):
        y[i] += factor * x[first + i]


def totals(x: Any, y: Any) -> Any:
    z = np.zeros(len(x))
    s = 0.0
    for i in range(len(x)):
        z[i] = x[i] * y[i]
        s += x[i]
    return z, s


@pytest.fixture
def direct_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call of this on, whatever binds arguments fails."""
    def bound(self: Any, *given: Any) -> Any:
        raise AssertionError(f"{self.function.__name__} binds its arguments")

    return lambda: monkeypatch.setattr(polysched.kernel.Kernel, "_bound", bound)


def test_the_second_call_goes_straight_to_the_code(direct_only: Callable[[], None]) -> None:
    kernel, x = polysched.kernel.kernel(add), np.arange(8.0)
    kernel(np.zeros(8), x)
    x.flags.writeable = False
    kernel(np.zeros(8), x)
    direct_only()
    for _ in range(3):
        y = np.ones(8)
        kernel(y, x)
        np.testing.assert_array_equal(y, 1 + SCALE * x)
    for others in ((np.zeros(9), np.zeros(9)), (np.zeros(8),), (np.zeros(8), np.zeros(8, np.float32))):
        with pytest.raises(AssertionError, match="binds"):
            kernel(*others)


def test_numbers_go_straight_to_the_code(direct_only: Callable[[], None]) -> None:
    kernel, x = polysched.kernel.kernel(shift), np.arange(20.0)
    kernel(np.zeros(8), x, 2, 0.5)
    direct_only()
    for factor in (0.5, -3.0, float("inf")):
        y = np.ones(8)
        kernel(y, x, 2, factor)
        np.testing.assert_array_equal(y, 1 + factor * x[2:10])
    with pytest.raises(AssertionError, match="binds"):
        kernel(np.zeros(8), x, 3, 0.5)


def test_what_is_returned_straight_from_the_code_is_new(direct_only: Callable[[], None]) -> None:
    kernel, x = polysched.kernel.kernel(totals), np.arange(1.0, 7.0)
    first, total = kernel(x, x)
    direct_only()
    again, later = kernel(x, x)
    np.testing.assert_array_equal(again, x * x)
    np.testing.assert_array_equal(again, first)
    assert again is not first
    assert not np.shares_memory(again, first)
    assert type(later) is type(total)
    assert later == total == x.sum()


def test_arrays_that_lie_otherwise_are_copied_in_every_call() -> None:
    kernel, memory = polysched.kernel.kernel(add), np.zeros(17 * 8, np.uint8)
    x = np.arange(8.0)
    for _ in range(3):
        y = np.zeros(16)[::2]
        kernel(y, x)
        np.testing.assert_array_equal(y, SCALE * x)
        odd = memory[3:67].view(np.float64)
        odd[:] = 1
        kernel(odd, x)
        np.testing.assert_array_equal(odd, 1 + SCALE * x)


def test_straight_calls_see_arrays_that_overlap_and_names_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, memory = polysched.kernel.kernel(add), np.arange(24.0)
    for _ in range(2):
        kernel(memory[:8], memory[8:16])
    with pytest.raises(PolyschedError, match="overlap"):
        kernel(memory[1:9], memory[8:16])
    before = memory.copy()
    kernel(memory[8:16], memory[8:16])
    np.testing.assert_array_equal(memory[8:16], (1 + SCALE) * before[8:16])
    monkeypatch.setitem(add.__globals__, "SCALE", -2)
    y = np.zeros(8)
    kernel(y, np.ones(8))
    np.testing.assert_array_equal(y, np.full(8, -2.0))


def test_safe_kernels_go_straight_to_the_code_that_was_chosen(direct_only: Callable[[], None]) -> None:
    kernel, x = polysched.kernel.kernel(safe=True)(shift), np.arange(60_000.0)
    kernel(np.zeros(50_000), x, 2, 0.5)
    choice = kernel.choice
    assert choice is not None
    assert choice.code is not Code.PYTHON, "loops of Python are slower"
    kernel.choice = None
    direct_only()
    y = np.ones(50_000)
    kernel(y, x, 2, 3.0)
    np.testing.assert_array_equal(y, 1 + 3 * x[2:50_002])
    assert kernel.choice is choice


@pytest.fixture
def scale() -> ScopFunction:
    """Multiplies an array by a number, several times."""
    n, steps = symbols("n steps")
    array, factor = placeholder("A", (n,), "float64"), scalar("factor", "float64")
    t, i = axis("t", steps), axis("i", n)
    return polysched.compile(loop(t, i, update(array[i], array[i] * factor)))


@pytest.fixture
def both() -> ScopFunction:
    """Two results of one array."""
    (n,) = symbols("n")
    array = placeholder("A", (n,), "float64")
    return polysched.compile([compute((n,), lambda i: array[i] * 2, name="twice"),
                              compute((n,), lambda i: array[i] + 1, name="more")])


@pytest.fixture
def scop_direct_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call of this on, whatever binds arguments fails."""
    def bound(self: Any, *given: Any) -> Any:
        raise AssertionError(f"{self.__name__} binds its arguments")

    return lambda: monkeypatch.setattr(ScopFunction, "_bound", bound)


def test_scops_with_sizes_and_numbers(scale: ScopFunction, scop_direct_only: Callable[[], None]) -> None:
    scale(np.ones(5), 2.0, steps=3)
    scale(np.ones(5), factor=2.0, steps=3)
    scop_direct_only()
    for factor in (2.0, -1.5):
        for call in (lambda x, f: scale(x, f, steps=3), lambda x, f: scale(x, factor=f, steps=3)):
            x = np.arange(5.0)
            assert call(x, factor) is None
            np.testing.assert_array_equal(x, np.arange(5.0) * factor ** 3)
    for other in (lambda: scale(np.ones(5), 2.0, steps=4), lambda: scale(np.ones(6), 2.0, steps=3),
                  lambda: scale(np.ones(5, np.float32), 2.0, steps=3), lambda: scale(np.ones(5), 2, steps=3),
                  lambda: scale(np.ones(5), 2.0)):
        with pytest.raises(AssertionError, match="binds"):
            other()


def test_scops_that_make_results(both: ScopFunction, scop_direct_only: Callable[[], None]) -> None:
    x = np.arange(9.0)
    for given in (x, np.zeros(0)):
        both(given)
    twice = np.zeros(9)
    assert both(x, twice=twice).shape == (9,)
    scop_direct_only()
    first, again = both(x), both(x)
    for one, other, wanted in zip(first, again, (2 * x, x + 1), strict=True):
        np.testing.assert_array_equal(one, wanted)
        np.testing.assert_array_equal(other, wanted)
        assert not np.shares_memory(one, other)
    assert [r.shape for r in both(np.zeros(0))] == [(0,), (0,)]
    np.testing.assert_array_equal(both(x, twice=twice), x + 1)
    np.testing.assert_array_equal(twice, 2 * x)


def test_arguments_by_place_and_by_name_are_other_calls(both: ScopFunction) -> None:
    x, one, other = np.arange(4.0), np.zeros(4), np.zeros(4)
    for _ in range(3):
        assert both(x, one, other) is None
        np.testing.assert_array_equal(one, 2 * x)
        np.testing.assert_array_equal(other, x + 1)
        assert both(x, more=one, twice=other) is None
        np.testing.assert_array_equal(one, x + 1)
        np.testing.assert_array_equal(other, 2 * x)


def test_arrays_of_scops_that_overlap_are_refused_in_later_calls(both: ScopFunction) -> None:
    memory = np.arange(12.0)
    for _ in range(2):
        both(memory[:4], memory[4:8], memory[8:])
    for arrays in ((memory[:4], memory[3:7], memory[8:]), (memory[:4], memory[4:8], memory[5:9])):
        with pytest.raises(PolyschedError, match="overlap"):
            both(*arrays)
    strided = np.zeros(8)[::2]
    for _ in range(2):
        both(memory[:4], strided, memory[8:])
        np.testing.assert_array_equal(strided, 2 * memory[:4])


def test_read_only_results_of_scops_are_refused(both: ScopFunction) -> None:
    x, frozen = np.arange(4.0), np.zeros(4)
    both(x, twice=np.zeros(4))
    frozen.flags.writeable = False
    with pytest.raises(UsageError, match="read-only"):
        both(x, twice=frozen)
    np.testing.assert_array_equal(both(frozen)[1], np.ones(4))
