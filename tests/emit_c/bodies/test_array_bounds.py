"""Accesses that may be carried out where the program does not."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.dependence.reductions import find_reductions
from polysched.emit_c.bodies.array_bounds import (
    accumulators_exist,
    all_elements_are_written,
    can_be_read,
    can_be_written,
    inside_array,
)
from polysched.scop import from_c_text
from polysched.scop.body import If
from polysched.scop.dtypes import FLOAT32
from polysched.scop.expression import axis, build, compute, placeholder, where
from polysched.scop.expression import sum as sum_of
from polysched.scop.scop import Access, Scop


def program(body: str) -> Scop:
    return from_c_text(f"""void f(int n, double A[n], double B[n + 1], double *p, int k[n], int *q) {{
#pragma scop
  for (int i = 0; i < n; i++) {{ {body} }}
#pragma endscop
}}""")


def read_of(scop: Scop, array: str) -> Access:
    return next(a for s in scop.statements for a in s.reads if a.array == array)


@pytest.mark.parametrize(("body", "array", "inside"), [
    ("A[i] = B[i + 1];", "B", True),
    ("A[i] = B[i + 2];", "B", False),
    ("if (k[i] > 0) A[i] = B[i - 1];", "B", False),
    ("A[i] = p[i];", "p", False),          # of unknown extent
    ("A[i] = B[k[i]];", "B", False),       # of unknown subscript
])
def test_inside_the_array(body: str, array: str, inside: bool) -> None:
    scop = program(body)
    assert inside_array(scop, read_of(scop, array)) is inside


@pytest.mark.parametrize(("body", "every"), [
    ("A[i] = B[i];", True), ("B[i] = A[i];", False), ("if (k[i] > 0) A[i] = B[i];", False), ("A[k[i]] += B[i];", False),
    ("p[i] = A[i];", False)])
def test_arrays_of_which_every_element_is_written(body: str, every: bool) -> None:
    scop = program(body)
    assert all_elements_are_written(scop, scop.statements[0].writes[0].array) is every


def test_what_the_program_reaches_anyway_can_be_read() -> None:
    guarded = "if (k[i] > 0) A[i] = p[i];"
    scop = program(guarded)
    assert not can_be_read(scop, read_of(scop, "p"))
    scop = program(guarded + " p[i] = 0;")
    assert can_be_read(scop, read_of(scop, "p"))
    scop = program(guarded + " p[i + 1] = 0;")
    assert not can_be_read(scop, read_of(scop, "p")), "the first element is not written"


@pytest.mark.parametrize(("body", "written"), [
    ("if (k[i] > 0) A[i] = B[i];", False),                     # inside the array, but perhaps another thread's
    ("if (k[i] > 0) A[i] = B[i]; else A[i] = 3;", True),
    ("if (k[i] > 0) A[i] = B[i]; else k[i] = 3;", False),
    ("if (k[i] > 0) { if (B[i] > 0) A[i] = B[i]; else A[i] = 1; } else A[i] = 3;", True),
    ("if (k[i] > 0) { if (B[i] > 0) A[i] = B[i]; } else A[i] = 3;", False),
    ("if (k[i] > 0) A[i] = B[i]; A[i] += 1;", True),           # then nobody else may write it meanwhile
    ("if (k[i] > 0) A[i] = B[i]; B[i] = A[i];", False),        # what is only read may be read-only
    ("if (k[i] > 0) A[i] = B[i]; B[i + 1] = A[0];", False),
    ("if (B[i] > A[i]) A[i] = B[i];", False),
    ("if (B[i] > A[i]) A[i] = B[i]; else A[i] = A[i];", True),
    ("if (k[i] > 0 && B[i] > A[i]) A[i] = B[i];", False),
    ("if (k[i] > 0) p[i] = B[i];", False),
    ("if (k[i] > 0) { if (i > 4) A[i] = B[i]; else A[i - 1] = 3; } B[i] = A[i];", False),   # i - 1 writes A[i], too
    ("double t[3]; t[0] = 1; if (k[i] > 0) t[2] = B[i]; A[i] = t[0];", True),
])
def test_old_values_are_written_back_where_nobody_else_writes(body: str, written: bool) -> None:
    scop = program(body)
    statement, access = next((s, a) for s in scop.statements if isinstance(s.body[0], If) for a in s.writes)
    assert can_be_written(scop, statement, access) is written


@pytest.mark.parametrize(("body", "exist"), [
    ("if (k[i] > 0) A[0] += B[i];", True),
    ("if (k[i] > 0) p[0] += B[i];", False),
    ("p[0] += B[i];", True),               # without a condition
    ("A[k[i]] += B[i];", True),            # somewhere in an array whose extent is known
    ("p[k[i]] += B[i];", True),            # without a condition
    ("if (B[i] > A[0]) { A[0] = B[i]; k[0] = i; }", True),
    ("if (B[i] > A[0]) { A[0] = B[i]; q[0] = i; }", False),
    ("if (B[i] > p[0]) { p[0] = B[i]; k[0] = i; }", True),     # compared in every iteration
])
def test_partial_results_have_somewhere_to_go(body: str, exist: bool) -> None:
    scop = program(body)
    (reduction,) = find_reductions(scop)
    assert accumulators_exist(scop, reduction) is exist


def test_what_a_condition_keeps_inside_is_not_inside_without_it() -> None:
    i = axis("i", 8)
    x = placeholder("x", [8], FLOAT32)
    total = compute([8], lambda n: sum_of(where((n + i >= 4) & (n + i < 12), x[n + i - 4], 0.0), over=i), name="y")
    scop = build([total], name="f", arguments=[x, total])
    access = next(a for s in scop.statements for a in s.accesses if a.array == "x")
    assert access.relation.range().is_subset(isl.Set("{ x[i] : 0 <= i < 8 }"))
    assert not inside_array(scop, access)
    assert not can_be_read(scop, access)


@pytest.mark.parametrize("subscript", ["i / 4", "i % 4", "i >> 2"])
def test_a_condition_does_not_say_what_a_subscript_that_divides_is_without_it(subscript: str) -> None:
    scop = from_c_text(f"""void f(double A[1], double y[64]) {{
#pragma scop
  for (int i = 0; i < 64; i++) y[i] = i < {1 if "%" in subscript else 4} ? A[{subscript}] : 0.0;
#pragma endscop
}}""")
    assert not inside_array(scop, read_of(scop, "A"))
    assert not can_be_read(scop, read_of(scop, "A"))
