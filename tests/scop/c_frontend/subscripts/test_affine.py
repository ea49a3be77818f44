"""Affine values are those of C on all of a domain: rounding, remainders, shifts, conversions and wrapping sums."""

from pathlib import Path

import pytest

from tests.scop.c_frontend.differences import OUTSIDE, SAME, check, outcomes

QUOTIENTS = [
    "for (int i = 0; i < 10; i++) A[(i - 5) % 3 + 5] += i;",
    "for (int i = 0; i < 10; i++) A[(i - 5) / -2 + 5] += i;",
    "for (int i = 0; i < 10; i++) A[(i - 5) % -3 + 5] += i;",
    "for (int i = 0; i < 10; i++) A[((i - 5) >> 1) + 5] += (i - 5) & 7;",
    "for (int i = 0; i < 20; i++) A[(i - n) / 3 + 20] += i;",
    "for (int i = 0; i < 20; i++) A[((i - n) % 3 + 3) % 3 + 20] += i;",
    "for (int i = 0; i < 20; i++) A[(3 + (i - s) % 3) % 3 + 20] += i;",
    "if (n > 0) for (int i = 0; i < 2 * n; i++) A[i / n * 20 + i % n] += i;",
    "if (n > 0) for (int i = -n; i < 2 * n; i++) A[i / n * 20 + i % n + 20] += i;",
    "if (n > 0) for (int i = -2 * n; i < 2 * n; i++) A[i / n + 30] += i % n;",
    "int k = -n; A[k / 2 + 30] = 1; A[k % 4 + 20] = 2; A[(k >> 1) + 30] += 3; A[(k & 3) + 40] = 4;",
]
CHOICES = [
    "for (int i = 0; i < 20; i++) A[(i < n ? i : n) + 10] += abs(i - n);",
    "for (int i = 0; i < 20; i++) A[!(i - 5)] += (i == 5 || i == 7);",
    "for (int i = 0; i < 20; i++) if ((n > 3) & (i > 4) | (m == 2)) B[i] = 2;",
    "for (int i = 0; i < 20; i++) if ((n > 3) + (i > 4) - 1) B[i] = 2; else if ((n > 3) == (i > 4)) B[i] = 3;",
    "for (int i = 0; i < 20; i++) if (i < 5 ? n : m) B[i] = 2;",
    "for (int i = 0; i < 10; i++) if ((_Bool)(i & 2)) A[i] = 1;",
    "for (int i = 0; i < 10; i++) if (i - s < c) A[i] = 1;",
]
CONSTANTS = [
    "const unsigned char k = 300; for (int i = 0; i < k; i++) A[i] += k;",
    "const short k = -3; for (int i = 5; i < 20; i++) A[i + k] += k;",
    "for (int i = 5; i < 20; i++) A[-~i] += i - 5u;",
    "for (int i = 5; i < 20; i++) A[i - u + u] = 2;",
]
UNSIGNED = [   # and what becomes of them at u = 0, 30 and 4294967290
    ("for (int i = 0; i < 20; i++) A[i - u + u] = 2;", [SAME, SAME, SAME]),
    ("for (int i = 0; i < 20; i++) A[(i - u) + 0L + u] = 2;", [SAME, OUTSIDE, OUTSIDE]),
    ("for (int i = 5; i < 20; i++) A[(u + i) % 5] += 2;", [SAME, SAME, OUTSIDE]),
    ("for (int i = 5; i < 20; i++) A[(u - i) & 7] += 2;", [OUTSIDE, SAME, SAME]),
    ("for (int i = 0; i < 20; i++) if (u + i < u) B[i] = 2;", [SAME, SAME, OUTSIDE]),
    ("for (int i = 0; i < 20; i++) if (-u > i) B[i] = 2;", [SAME, OUTSIDE, OUTSIDE]),
]


@pytest.mark.parametrize("programs", [QUOTIENTS, CHOICES, CONSTANTS], ids=["quotients", "choices", "constants"])
def test_subscripts_and_conditions_have_the_values_of_c(programs: list[str], tmp_path: Path) -> None:
    sizes = ({"n": 5, "m": 3, "s": -3, "c": 200, "u": 3}, {"n": -4, "m": 2, "s": 5, "c": 4})
    check(programs, tmp_path, before="#include <stdlib.h>\n", sizes=sizes)


def test_what_wraps_around_is_assumed_away_and_nothing_else(tmp_path: Path) -> None:
    found = outcomes([p for p, _ in UNSIGNED], tmp_path, sizes=({"u": 0}, {"u": 30}, {"u": 4294967290}))
    assert found == dict(UNSIGNED)


def test_a_conversion_that_always_changes_the_value_is_refused(tmp_path: Path) -> None:
    check([], tmp_path, refused=["for (int i = 0; i < 10; i++) if ((short)(i * 10000) < 100) A[i] = 1;",
                                 "for (int i = 0; i < 10; i++) if (-1 < 1u) A[i] = 1;",
                                 "for (int i = 0; i < 10; i++) if (i - 5u < 3) A[i] = 1;"])
