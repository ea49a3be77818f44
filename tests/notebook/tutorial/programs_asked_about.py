"""Small programs that the tests of the tutorial's questions ask about."""

from __future__ import annotations

from polysched.scop import from_c_text
from polysched.scop.scop import Scop


def program(head: str, body: str) -> Scop:
    """A function with one region."""
    return from_c_text(f"void f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


def triangle() -> Scop:
    return program("int n, double a[restrict n][n]",
                   "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i][j] = 0.0;")


def steps() -> Scop:
    return program("int T, int n, double a[restrict n]",
                   "for (int t = 0; t < T; t++) for (int i = 1; i < n - 1; i++) a[i] = a[i - 1] + a[i + 1];")


def diagonal() -> Scop:
    return program("int n, double a[restrict n][n]", "for (int i = 1; i < n; i++)\n"
                   "  for (int j = 0; j < n - 1; j++) a[i][j] = a[i - 1][j + 1] + 1.0;")
