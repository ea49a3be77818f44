"""Numbers over sizes known at run time: what their C computes is what the numbers do, at every size."""

import itertools
from operator import neg

import pytest

from polysched.tensorize.software.sizes import (
    Size,
    divides,
    greatest_of,
    is_general,
    least_of,
    may_exceed,
    run_time_sizes,
    same,
)


def blocks(count: int, size: int) -> int:
    return -(-count // size)


EXPRESSIONS = {
    "rounded up": lambda n, m: -(-n // 6),
    "tiles of tiles": lambda n, m: blocks(blocks(n, 6), 4),
    "shifted twice": lambda n, m: n - 1 + 3 - 2,
    "product": lambda n, m: (n + 1) * m * 2 - m,
    "remainder": lambda n, m: (n * m) % 7 + n // 3,
    "difference": lambda n, m: 5 - n + m,
    "least": lambda n, m: least_of(n, m * 2),
    "greatest": lambda n, m: greatest_of(n, m * 2),
    "nothing": lambda n, m: n * 0 + m * 1 - 0,
    "negative of a negative": lambda n, m: neg(neg(n + m)),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_text_computes_the_number(name: str) -> None:
    compute = EXPRESSIONS[name]
    values, _ = run_time_sizes({"n": 50, "m": 60}, ["n", "m"])
    made = compute(values["n"], values["m"])
    assert int(made) == compute(50, 60)
    text = str(made).replace("/", "//")
    if name == "least":
        text = "min(ps_size_n, (ps_size_m * 2))"
        assert str(made) == "(ps_size_n < (ps_size_m * 2) ? ps_size_n : (ps_size_m * 2))"
    if name == "greatest":
        text = "max(ps_size_n, (ps_size_m * 2))"
        assert str(made) == "(ps_size_n > (ps_size_m * 2) ? ps_size_n : (ps_size_m * 2))"
    for n, m in itertools.product((2, 3, 5, 6, 7, 23, 24, 25, 1000), repeat=2):
        assert eval(text, {"ps_size_n": n, "ps_size_m": m, "min": min, "max": max}) == compute(n, m)


def test_comparisons_are_for_all_sizes_or_become_conditions() -> None:
    values, conditions = run_time_sizes({"n": 50, "m": 60}, ["n"])
    n = values["n"]
    before = len(conditions.texts)
    assert n > 1
    assert n - 1 >= 1
    assert n == n + 0
    assert not n * 2 < 4
    assert bool(n * 3)
    assert len(conditions.texts) == before
    assert n > 49
    assert n != 51
    assert [*conditions.texts][before:] == ["ps_size_n > 49", "ps_size_n != 51"]


def test_questions_for_all_sizes_leave_no_conditions() -> None:
    values, conditions = run_time_sizes({"n": 48, "m": 60}, ["n"])
    n, before = values["n"], len(conditions.texts)
    assert may_exceed(n, 100)
    assert not may_exceed(n, n + 0)
    assert not divides(6, n)
    assert divides(1, n)
    assert divides(6, 48)
    assert same(n, n + 2 - 2)
    assert not same(n, 48)
    assert is_general(3, n)
    assert not is_general(3, int(n))
    assert len(conditions.texts) == before


def test_what_c_would_compute_otherwise_is_refused() -> None:
    values, _ = run_time_sizes({"n": 48}, ["n"])
    with pytest.raises(TypeError, match="may be negative"):
        (40 - values["n"]) // 3
    with pytest.raises(TypeError, match="divided by"):
        values["n"] // values["n"]
    assert isinstance(values["n"], Size)
