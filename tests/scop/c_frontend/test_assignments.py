"""Assignments convert to the type of their target, chains from right to left, and steps wrap around as C's do."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from tests.scop.c_frontend.differences import check
from tests.scop.c_frontend.one_region import one

COMPOUND = [
    "for (int i = 0; i < 20; i++) { C[i] += i * 100; D[i] *= A[i] * 1000; C[i + 20] >>= 1, D[i + 20] <<= 3; }",
    "for (int i = 0; i < 20; i++) { A[i] += 0.7; A[i] *= 1.3; A[i] -= 0.5f; C[i] *= 0.7; C[i + 20] -= X[i]; }",
    "for (int i = 0; i < 20; i++) { V[i] -= 60; V[i] /= 3; V[i] %= -5; A[i] /= X[i] + 10; }",
    "for (int i = 0; i < 20; i++) { C[i] ^= 0x1ff; C[i] |= 0x300; C[i] &= ~1; C[i] %= 7; C[i]--; C[i] = -C[i]; }",
    "for (int i = 0; i < 20; i++) { A[i] += V[i] - 200; B[i] += V[i] - 200; B[i + 20] = V[i] - 200L; D[i]++; }",
]
CHAINS = [
    "for (int i = 0; i < 10; i++) A[i] = C[i] = i * 100;",
    "for (int i = 0; i < 10; i++) B[i] = C[i] = D[i] = A[i] * 5000;",
    "for (int i = 0; i < 10; i++) { B[i] += C[i] -= A[i] * 50; X[i] = A[i] = X[i] * 3; }",
    "unsigned char k; int j; for (int i = 0; i < 10; i++) { j = k = i * 100; A[j & 63] += j; B[k & 63] += k; }",
]
STEPS = [
    "unsigned char k = 250; for (int i = 0; i < 20; i++) { A[k & 63] += i; k++; } B[0] = k;",
    "unsigned char k = 0; for (int i = 0; i < 20; i++) { k += 100; A[k & 63] += k; } B[0] = k;",
    "unsigned k = 3; for (int i = 0; i < 20; i++) { k -= 1; A[k & 63] += k; } B[0] = k;",
    "char k = 100; for (int i = 0; i < 20; i++) { k += 10; A[i] += k; } B[0] = k;",
    "short k = 30000; k += 10000; A[0] = k; B[0] = k * 2; A[k & 63] = 5;",
    "unsigned char k = n + 300; for (int i = 0; i < k; i++) A[i & 63] += 1;",
    "long k = u - 5; A[k & 63] = k > 100; B[0] = k;",
]
INSIDE = [
    "unsigned char k; for (int i = 0; i < 20; i++) if ((k = C[i] * 300) > 100 && k < 250) B[i] += k; else A[i] = k;",
    "double t = 0, r = 0; for (int i = 0; i < 20; i++) { if ((t = A[i])) r += t; else if (!(t = B[i])) r -= 3; }"
    " A[0] = r; B[0] = t;",
    "double p; short q; for (int i = 1; i < 20; i++) { p = ((q = A[i] * 9000) - A[i - 1]) / 2; B[i] = p * q; }",
    "int k = 3; for (int i = 0; i < 9; i++) { int j = (k += 2) * 3; A[j & 63] = (k = k % 9) ? k : j; } B[1] = k;",
]
TRUTH = [
    "_Bool b = n; A[b] = 5; b = !b; A[b + 3] = 6; b = b - 1; A[b + 5] = 8;",
    "_Bool b = 5; b += 3; A[1] = b; b ^= 2; A[2] = b; b--; A[3] = b; b++; A[4] = b; b <<= 1; b = 0.3; A[7] = b;",
    "_Bool b = n; for (int i = 0; i < 10; i++) { b = A[i]; A[i] = b + 1; b += A[i + 1]; B[i] = b; b *= -1; B[i] += b;}",
    "_Bool b = 0; for (int i = 0; i < 10; i++) { b--; A[i] = b; }",
]


@pytest.mark.parametrize("programs", [COMPOUND, CHAINS, STEPS, INSIDE, TRUTH],
                         ids=["compound", "chains", "steps", "inside", "truth"])
def test_the_stored_value_is_the_converted_one(programs: list[str], tmp_path: Path) -> None:
    check(programs, tmp_path, sizes=({"n": 7, "u": 2}, {"u": 9}))


@pytest.mark.parametrize(("text", "problem"), [
    ("static int k = 3; A[k] = 1;", "a static or extern variable"),
    ("for (int i = 0; i < n; i++) A[i] = (x[i] = 2) + 1;", "an assignment inside an expression"),
    ("for (int i = 0; i < n; i++) A[i] %= 2;", "needs integers"),
])
def test_what_is_no_single_assignment_of_a_number_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UnsupportedScopError, match=problem):
        one(text)
