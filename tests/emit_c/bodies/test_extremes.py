"""The ends of sets of numbers: exact, larger where these take too long, and kept with the budget that there was."""

import islpy as isl
import pytest

from polysched.emit_c.bodies import extremes as module
from polysched.emit_c.bodies.extremes import extremes
from polysched.scop.budget import with_budget

CASES = """[n, m, k] -> { [i] : 0 <= i < n and (i < m or i >= 2k) and (3i < n + k or i mod 5 = 0 or i > m + k) }"""


@pytest.fixture(autouse=True)
def forgotten() -> None:
    module._KNOWN.clear()


def values(text: str, **sizes: int) -> tuple[int, int]:
    ends = extremes(isl.Set(text))
    assert ends is not None
    point = isl.Set(f"[{', '.join(sizes)}] -> {{ : {' and '.join(f'{n} = {v}' for n, v in sizes.items())} }}")
    low, high = (e.intersect_params(point).max_val().to_python() for e in ends)
    return low, high


def test_exact_ends() -> None:
    assert values("[n] -> { [i] : 0 <= i < n and i mod 3 = 1 }", n=12) == (1, 10)
    assert values(CASES, n=30, m=4, k=20) == (0, 29)


def test_larger_bounds_where_there_is_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ends", lambda numbers, exact=module._ends: (
        exact(numbers) if numbers.n_basic_set() == 1 else with_budget(1, lambda: isl.Set("{ [i] }").lexmin())))
    assert values("[n] -> { [i] : 0 <= i < n and (i < 3 or i > 7 or 2 * i = n) }", n=100) == (0, 99)
    assert extremes(isl.Set("[n, m] -> { [i] : i = n or i = m }")) is None, "no convex set around these has ends"


def test_a_refusal_is_kept_until_there_is_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    original = module._found
    monkeypatch.setattr(module, "_found", lambda *arguments: asked.append("") or original(*arguments))
    numbers = isl.Set(CASES)
    assert hash(numbers)   # which takes operations of its own, once
    assert with_budget(50, lambda: extremes(numbers)) is None
    assert with_budget(40, lambda: extremes(numbers)) is None
    assert len(asked) == 1
    assert extremes(numbers) is not None
    assert extremes(isl.Set(CASES)) is not None
    assert with_budget(50, lambda: extremes(numbers)) is not None
    assert len(asked) == 2


def test_few_sets_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    for size in range(8):
        assert extremes(isl.Set(f"{{ [i] : 0 <= i <= {size} }}")) is not None
    assert len(module._KNOWN) == 3


def test_another_thread_may_drop_a_set_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = isl.Set("{ [i] : 0 <= i <= 3 }")
    assert extremes(numbers) is not None
    monkeypatch.setattr(module._Found, "answers", lambda *_: module._KNOWN.clear() is None)
    assert extremes(numbers) is not None
    assert len(module._KNOWN) == 1
