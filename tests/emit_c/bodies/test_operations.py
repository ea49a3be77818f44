"""How many operations a body has, and what a loop waits for."""

from __future__ import annotations

import pytest

from polysched.emit_c.bodies.operations import only_copies, operations, waits_for_divider
from polysched.emit_c.loop_ir.loops import For, RegisterTile
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

ROW = parse_loops("with register_tile(loops=(loop(i, 0, n, 4),), edges=(edge(i, i, 4, simd=True),)): S0(i)")


def program(body: str) -> Scop:
    return from_c_text(f"""double exp(double);
void f(int n, double A[n], double B[n], float F[n], int k[n]) {{
#pragma scop
  for (int i = 0; i < n; i++) {body}
#pragma endscop
}}""")


@pytest.mark.parametrize(("body", "simple", "calls", "divisions", "contracted"), [
    ("A[i] = B[i];", 0, 0, 0, 0),
    ("A[i] = A[i] * 2.0 + B[i];", 2, 0, 0, 1),            # one fused operation
    ("A[i] += B[i] * 3.0;", 2, 0, 0, 1),
    ("A[i] = (A[i] - B[i]) / 3.0 + exp(B[i]);", 2, 1, 1, 4),
    ("A[i] /= B[i];", 0, 0, 1, 1),
    ("A[i] = B[i] > 0 ? B[i] : 1.0;", 1, 0, 0, 1),
    ("k[i] = k[i] * 2 + i;", 0, 0, 0, 0),                 # of floating-point numbers only
])
def test_counts(body: str, simple: int, calls: int, divisions: int, contracted: int) -> None:
    found = operations(parse_loops("S0(i)"), program(body))
    assert (found.simple, found.calls, len(found.divisors), found.contracted) == (simple, calls, divisions, contracted)
    assert found.total == simple + calls + divisions


@pytest.mark.parametrize(("body", "waits"), [
    ("A[i] = B[i] / A[i];", True),
    ("A[i] = B[i] / 4.0;", False),        # a power of two is a multiplication
    ("A[i] = B[i] / 3.0;", True),
    ("A[i] = exp(B[i]) / A[i];", False),
    ("A[i] = B[i] * 2.0;", False),
])
def test_a_row_that_divides_waits_for_the_divider(body: str, waits: bool) -> None:
    assert isinstance(ROW, RegisterTile)
    assert waits_for_divider(ROW, program(body)) is waits


@pytest.mark.parametrize(("body", "copies"), [
    ("A[i] = B[i];", True), ("A[i] = B[n - 1 - i];", True), ("A[i] = B[0];", False), ("A[i] = F[i];", False),
    ("A[i] += B[i];", False), ("A[i] = -B[i];", False)])
def test_loops_that_only_copy(body: str, copies: bool) -> None:
    loop = parse_loops("for i in range(0, n): S0(i)")
    assert isinstance(loop, For)
    assert only_copies(loop, program(body)) is copies
