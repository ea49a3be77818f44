"""Loops that start off zero, started at zero, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.tensorize.preparing.from_zero import with_loops_from_zero

PROGRAMS = {   # body, and the first iterations behind it
    "one loop": ("for (int i = 5; i < 17; i++) O[i - 5] = A[i] + i;", "0 <= i <= 11"),
    "two loops": ("for (int i = 2; i < 9; i++) for (int k = 1; k < 4; k++) O[i] += A[i + k] * k;", "0 <= i <= 6"),
    "below zero": ("for (int i = -3; i < 4; i++) O[i + 3] = A[3 - i];", "0 <= i <= 6"),
    "downwards": ("for (int i = 9; i >= 2; i--) O[i] = O[i + 1] + A[i];", "0 <= i <= 7"),
    "a triangle": ("for (int i = 1; i < 8; i++) for (int k = 0; k < i; k++) O[i] += A[k];", "i <= 6"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_start_at_zero(name: str) -> None:
    body, wanted = PROGRAMS[name]
    before = analyse(from_c_text(f"void f(int O[20], int A[20]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"))
    after = with_loops_from_zero(before)
    assert wanted in str(after.scop.statements[0].domain)
    results = []
    for scop in (before.scop, after.scop):
        own = {"O": np.arange(20, dtype=np.int32) - 7, "A": (np.arange(20, dtype=np.int32) * 5) % 11}
        execute(scop, {}, own)
        results.append(own["O"])
    np.testing.assert_array_equal(*results)


def test_programs_from_zero_stay_as_they_are() -> None:
    before = analyse(from_c_text("void f(int n, int O[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
                                 "for (int k = i; k < n; k++) O[k] += i;\n#pragma endscop\n}\n"))
    assert with_loops_from_zero(before) is before
