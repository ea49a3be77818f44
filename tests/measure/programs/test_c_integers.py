"""Integer expressions of C declarations."""

import pytest

from polysched.measure.programs.c_integers import evaluate


@pytest.mark.parametrize(("text", "value"), [
    ("7", 7), ("n", 10), ("n + 1", 11), ("2 * (n - m) / 4 * 4", 12), ("-7 / 2", -3), ("-7 % 3", -1), ("7 % -3", 1),
    ("0x10u", 16), ("010", 8), ("1L << 4", 16), ("n > m ? n : m", 10), ("(int) n", 10), ("n == 10", 1),
    ("sizeof(int)", None), ("f(n)", None), ("q", None), ("n / 0", None), ("", None), ("n; int z = 3", None),
    ("1.5", None), ("!n", None)])
def test_evaluate(text: str, value: int | None) -> None:
    assert evaluate(text, {"n": 10, "m": 3}) == value
