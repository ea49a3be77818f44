"""Sums in another order wrap around where the source's own would not overflow; their values stay."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.dependence.reductions import find_reductions
from polysched.emit_c.bodies.wrapping_sums import (
    accumulator,
    can_overflow,
    unsigned,
    with_wrapping_sums,
    without_overflow,
)
from polysched.scop import from_c_text
from polysched.scop.body import Binary, Expr, assignments, statement_expressions, walk
from polysched.scop.dtypes import BOOL, FLOAT64, INT8, INT16, INT32, INT64, UINT8, UINT32, DType, Kind
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop
from tests.emit_c.small_scops import it, num, op


def program(body: str, kind: str) -> Scop:
    return from_c_text(f"""void f({kind} A[8], {kind} s[1]) {{
#pragma scop
  for (int i = 0; i < 8; i++) {body}
#pragma endscop
}}""")


def overflowing(scop: Scop) -> list[Expr]:
    """Operations of signed types on the sum."""
    return [e for s in scop.statements for top in statement_expressions(s.body) for e in walk(top)
            if isinstance(e, Binary) and e.dtype.kind is Kind.SIGNED and e.op in "+-*"]


@pytest.mark.parametrize(("body", "kind"), [
    ("s[0] += A[i];", "int"), ("s[0] = s[0] - A[i];", "int"), ("s[0] *= A[i];", "int"), ("s[0] += A[i];", "short"),
    ("if (A[i] > 0) s[0] += A[i];", "int"), ("s[0] = A[i] + s[0];", "long")])
def test_the_changed_program_computes_the_same_and_wraps(body: str, kind: str) -> None:
    scop = program(body, kind)
    changed = with_wrapping_sums(scop, find_reductions(scop))
    assert changed is not scop
    assert not overflowing(changed)
    dtype = np.dtype({"int": "int32", "short": "int16", "long": "int64"}[kind])
    results = []
    for made in (scop, changed):
        arrays = {"A": np.arange(1, 9).astype(dtype), "s": np.full(1, 3, dtype)}
        execute(made, {}, arrays)
        results.append(arrays["s"][0])
    assert results[0] == results[1]


def test_a_partial_result_may_leave_the_range() -> None:
    """Largest value first: the program's own order would be undefined here, the changed one is not."""
    scop = program("s[0] += A[i];", "int")
    changed = with_wrapping_sums(scop, find_reductions(scop))
    arrays = {"A": np.array([5, -5, 0, 0, 0, 0, 0, 0], np.int32), "s": np.full(1, 2**31 - 3, np.int32)}
    execute(changed, {}, arrays)
    assert arrays["s"][0] == 2**31 - 3


def test_programs_without_such_sums_stay_the_same_object() -> None:
    for body, kind in (("s[0] += A[i];", "double"), ("s[0] = A[i] > s[0] ? A[i] : s[0];", "int"),
                       ("A[i] = s[0] + 1;", "int")):
        scop = program(body, kind)
        assert with_wrapping_sums(scop, find_reductions(scop)) is scop


@pytest.mark.parametrize(("dtype", "wide"), [(INT32, UINT32), (UINT32, UINT32), (FLOAT64, FLOAT64), (INT8, UINT8)])
def test_the_unsigned_type_of_a_width(dtype: DType, wide: DType) -> None:
    assert unsigned(dtype) == wide


@pytest.mark.parametrize(("operator", "dtype", "can"), [
    ("sum", INT32, True), ("product", INT16, True), ("max", INT32, False), ("sum", UINT32, False),
    ("sum", FLOAT64, False), ("sum", BOOL, False)])
def test_which_reductions_can_overflow(operator: str, dtype: DType, can: bool) -> None:
    assert can_overflow(operator, dtype) is can


def test_short_accumulators_stay_signed() -> None:
    assert accumulator("sum", INT16) == INT16
    assert accumulator("sum", INT32) == UINT32
    assert accumulator("max", INT32) == INT32


def test_an_expression_that_nobody_may_compute_wraps() -> None:
    made = without_overflow(op("+", op("*", it("i"), num(3)), num(1)))
    assert made.dtype == INT32
    assert not [e for e in walk(made) if isinstance(e, Binary) and e.dtype.kind is Kind.SIGNED]
    kept = op("*", it("i"), num(3))
    inner = without_overflow(op("+", kept, num(1)), but=[kept])
    assert kept in list(walk(inner)), "what is at hand already is not computed again"
    assert without_overflow(op("/", it("i"), num(3))) == op("/", it("i"), num(3))


def test_long_sums_are_wrapped_in_their_own_width() -> None:
    scop = program("s[0] += A[i];", "long")
    changed = with_wrapping_sums(scop, find_reductions(scop))
    (item,) = (a for s in changed.statements for a in assignments(s.body))
    assert item.dtype == INT64
    assert item.value.dtype == unsigned(INT64)
