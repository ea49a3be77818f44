"""Integer expressions of C declarations."""

import pytest

from polysched.measure.programs.c_integers import evaluate


@pytest.mark.parametrize(("text", "value"), [
    ("7", 7), ("n", 10), ("n + 1", 11), ("2 * (n - m) / 4 * 4", 12), ("-7 / 2", -3), ("-7 % 3", -1), ("7 % -3", 1),
    ("0x10u", 16), ("010", 8), ("1L << 4", 16), ("n > m ? n : m", 10), ("(int) n", 10), ("n == 10", 1),
    ("sizeof(int)", None), ("f(n)", None), ("q", None), ("n / 0", None), ("", None), ("n; int z = 3", None),
    ("1.5", None), ("!n", None), ("(unsigned int)m - 8u", (1 << 32) - 5), ("(unsigned char)(n * 100)", 232),
    ("(unsigned)m < 4u ? n : m / 0", 10), ("(_Bool)n", 1), ("(double)n", None), ("1 << n * 9", None),
    ("1L << -n", None), ("2147483647 + 1", None), ("n << 1000000000000", None), ("-" * 60 + "n", None),
    ("- " * 60 + "n", 10), ("n" + " << 0" * 60, 10)])
def test_evaluate(text: str, value: int | None) -> None:
    assert evaluate(text, {"n": 10, "m": 3}) == value
