"""Loops, conditions, `break` and `continue`: what they leave in counters and scalars is what C leaves."""

from pathlib import Path

import pytest

from tests.scop.c_frontend.differences import check

COUNTERS = [
    "int i; for (i = 0; i < n; i += 4) A[i] = 1; B[0] = i;",
    "int i; for (i = n; i > 0; i -= 4) A[i] = 1; B[0] = i;",
    "int i = 9; if (n > 3) for (i = 0; i < n; i++) A[i] = i; B[0] = i;",
    "int i = 9; if (A[0] > 3) for (i = 0; i < n; i++) A[i] = i; B[0] = i;",
    "int i; for (i = 0; i < n; i++) { if (i == m) break; A[i] = 1; } B[0] = i;",
    "int i; for (i = 0; i < n; i++) { if (A[i] > 0) break; } B[0] = i;",
    "int i; for (i = 0; i < n; i++) { if (A[i] > 0) continue; B[i] = 3; } B[63] = i;",
    "int i; for (i = 0; i < n; i++) for (int i = 0; i < 3; i++) A[i] += 1; B[0] = i;",
    "int i, j = 7; for (i = 0; i < n; i++) for (j = 0; j < i; j++) A[j] += i; B[0] = i; B[1] = j;",
    "int i, j; for (i = 0; i < n; i++) { for (j = 0; j < i; j++) if (j == m) break; B[i] = j; } B[40] = i;",
    "int i; for (i = 3; i < n; i++) A[i] = i; for (; i < 40; i++) A[i] = -i;",
    "int i, j; for (i = 0, j = 10; i < j; i++, j--) A[i] = j; B[0] = i; B[1] = j;",
    "unsigned char i; for (i = 0; i < c; i += 50) A[i & 63] = i; B[0] = i;",
    "unsigned i; for (i = 0; i < u; i++) A[i & 63] = i; B[0] = i - 20; B[1] = -i; D[0] = i;",
]
SCALARS = [
    "int k = 5; for (int i = 0; i < n; i++) { k = 2; if (i == m) continue; k = i; } A[k] = 99;",
    "int k = 5; for (int i = 0; i < n; i++) { if (A[i] > 3) { k = i; continue; } k = 2; } A[k] = 99;",
    "int k = 5; if (n > 2) k = 9; A[k] = k; if (m > 2) k++; A[k] += k;",
    "int k = 5; if (A[3] > 2) { int k = 9; A[k] = 1; k++; } else k = 12; A[k] = k;",
    "int k = 5; { int j = k; int k = 7; A[k] = j; } A[k] = k;",
    "for (int i = 0; i < 20; i++) { int i = 3; { int i = 4; A[i] += i; } A[i] += i; }",
    "for (int n = 0; n < 20; n++) { A[n] = n; for (int n = 0; n < 3; n++) B[n] += n; }",
    "int k = 0; for (int i = 0; i < n; i++) { if (A[i] > 0) B[k++] = A[i]; } B[63] = k;",
]
WHILE = [
    "int i = n; while (i > 0) { A[i] = i; i--; } B[0] = i;",
    "int i = 0; do { A[i] = i; i += 3; } while (i < n); B[0] = i;",
    "unsigned char i = 0; do { A[i & 31] += i; i += 3; } while (i < n); B[0] = i;",
    "for (unsigned i = 5; i >= 0; i--) { A[i] = 1; if (i == 0) break; }",
]


@pytest.mark.parametrize("programs", [COUNTERS, SCALARS, WHILE], ids=["counters", "scalars", "while"])
def test_what_is_read_behind_a_loop_is_what_c_leaves(programs: list[str], tmp_path: Path) -> None:
    check(programs, tmp_path, sizes=({"n": 7, "m": 3, "u": 9, "c": 200}, {"n": -1, "m": 2}))
