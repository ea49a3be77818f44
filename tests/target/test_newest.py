"""The newest values by key: the oldest go, also while several threads keep and look up."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from polysched.target.newest import Newest


@pytest.fixture
def switching_often() -> Iterator[None]:
    """Threads take turns after every few steps of the interpreter."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_the_oldest_goes_and_a_value_that_is_kept_again_is_the_newest() -> None:
    kept: Newest[str, int] = Newest(2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        assert kept.keep(key, value) == value
    assert (kept.get("a"), kept.get("b"), kept.get("c"), len(kept)) == (3, None, 4, 2)
    assert "a" in kept
    assert "b" not in kept


def test_a_value_is_made_once_while_it_is_kept() -> None:
    kept: Newest[int, int] = Newest(1)
    made = []

    def squared(number: int) -> int:
        made.append(number)
        return number ** 2

    assert [kept.find_or_make(n, lambda n=n: squared(n)) for n in (3, 3, 4, 3)] == [9, 9, 16, 9]  # type: ignore[misc]
    assert made == [3, 4, 3]


def test_a_refusal_keeps_nothing() -> None:
    kept: Newest[int, int] = Newest(1)
    with pytest.raises(ZeroDivisionError):
        kept.find_or_make(1, lambda: 1 // 0)
    assert len(kept) == 0


@pytest.mark.usefixtures("switching_often")
def test_threads_that_keep_and_look_up_do_not_disturb_each_other() -> None:
    kept: Newest[int, int] = Newest(3)

    def asked(first: int) -> bool:
        return all(kept.find_or_make(n % 7, lambda n=n: n % 7) == n % 7  # type: ignore[misc]
                   for n in range(first, first + 4000))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(asked, range(8)))
    assert len(kept) <= 3
