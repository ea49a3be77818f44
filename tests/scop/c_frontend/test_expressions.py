"""Expressions have C's types: promotions, unsigned operands, quotients of negative numbers, truth values, literals."""

from pathlib import Path

import pytest

from tests.scop.c_frontend.differences import check

INTEGERS = [
    "for (int i = 0; i < 10; i++) A[i] = ~i + ~c + ~u;",
    "for (int i = 0; i < 10; i++) B[i] = (long)-u + (u - 7) + (c - 7) + (u - 7 > 0);",
    "for (int i = 0; i < 10; i++) B[i] = (i - u > 3 ? 5 : -1u) + (i < 5 ? -1 : u) + (sizeof(int) - i > 0);",
    "for (int i = 0; i < 20; i++) B[i] = (V[i] > A[i]) + V[i] / (A[i] - 60) + A[i] % 7u;",
    "for (int i = 0; i < 20; i++) B[i] = A[i] / -3 + A[i] % -3 + A[i] % 7;",
    "for (int i = 0; i < 20; i++) B[i] = (A[i] >> 2) + (V[i] << 30) + (C[i] << 10) + (-V[i] >> 28);",
    "for (int i = 0; i < 20; i++) B[i] = ~C[i] + -C[i] + !C[i] + ~V[i] + C[i] * C[i] * 70000;",
    "for (int i = 0; i < 20; i++) B[i] = (short)(A[i] * 999) + (unsigned short)A[i] + (_Bool)A[i] + (signed char)A[i];",
]
TRUTH = [
    "for (int i = 0; i < 20; i++) B[i] = A[i] > 0 && B[i] / A[i] > 0 || C[i] == 5;",
    "for (int i = 0; i < 20; i++) { B[i] = (A[i] > 0) + (A[i] > 10) - (X[i] > 0) * 2; B[i] += X[i] ? 1 : !X[i]; }",
    "for (int i = 0; i < 20; i++) { if (0.5) B[i]++; if (0.0) B[i] += 5; if (-0.0) B[i] += 7; if ('a') B[i] += 9; }",
    "for (int i = 0; i < 20; i++) B[i] = A[i] > 0 ? C[i] : V[i] - 100;",
]
FLOATS = [
    "for (int i = 0; i < 20; i++) X[i] = i / 3 + i / 3. - i % 3 + (float)i / 3 + 7 % -4 + -7 / 2;",
    "for (int i = 0; i < 20; i++) { A[i] = 16777217 + 0.0f; B[i] = 16777217 * 1.0f; X[i] = (float)(A[i] * 0.1); }",
    "for (int i = 0; i < 20; i++) { X[i] = V[i] - 100; X[i] += (float)(V[i] - 100); }",
    "for (int i = 0; i < 20; i++) { A[i] = X[i]; B[i] = -X[i]; C[i] = fabs(X[i]) * 20; D[i] = X[i] * 1000; }",
]
LITERALS = [
    "for (int i = 0; i < 20; i++) B[i] = 0xFFFFFFFF + i + 037 + 'a' + 0xFFL + 2147483648 + -2147483648;",
    "for (int i = 0; i < 20; i++) B[i] = '\\377' + '\\x41' + '\\n' + '\\'' + '\\\\' + (i < 10 ? -1 : 0u);",
    "for (int i = 0; i < 20; i++) X[i] = 0x1p-3 + 1e-3f + .5 + 3.f + 1e2 + 0.1f;",
    "enum { P = 3, Q, R = -1, T }; for (int i = P; i < 20 + Q; i++) A[i + R + T] += Q;",
]


@pytest.mark.parametrize("programs", [INTEGERS, TRUTH, FLOATS, LITERALS], ids=["integer", "truth", "float", "literal"])
def test_values_are_those_of_c(programs: list[str], tmp_path: Path) -> None:
    check(programs, tmp_path, before="#include <math.h>\n", sizes=({"n": 7, "u": 2, "c": 200}, {"u": 9}))
