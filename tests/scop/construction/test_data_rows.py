"""Which loops of statements go along rows that an array delimits."""

from __future__ import annotations

import pytest

from polysched.scop import from_c_text
from polysched.scop.construction.data_rows import Row, leading_values, rows_of

HEAD = """typedef struct { int n; int *p, *c; double *v; } M;
void f(int n, const int *restrict p, const int *restrict q, double *restrict v, double *restrict y, M *restrict A)"""


def found(body: str) -> list[Row]:
    loops = body.replace("EACH", "for (int i = 0; i < n; i++)")
    scop = from_c_text(f"{HEAD}\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n")
    return [row for s in scop.statements for row in rows_of(scop, s)]


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) for (int k = p[i]; k < p[i + 1]; k++) v[k] = 1;",
    "for (int i = 0; i < n; i++) { y[i] = 0; for (int k = p[i]; k < p[i + 1]; k++) y[i] += v[k]; }",
    "for (int i = 0; i < A->n; i++) { y[i] = 0; for (int k = A->p[i]; k < A->p[i + 1]; k++) y[i] += A->v[k]; }",
])
def test_a_row_may_be_set_by_the_statement_before(body: str) -> None:
    (row,) = found(body)
    assert row.step == 1
    along = [a for a in row.statement.accesses if row.goes_along(a) and row.statement.access(a.reference).array != "y"]
    assert {a.array for a in along} <= {"v", "A_v"}
    assert along
    assert leading_values(row.start) == ((0,) if "A->" in body else ())


@pytest.mark.parametrize("body", [
    "int k; EACH k = p[i]; EACH while (k < p[i + 1]) { y[i] += v[k]; k += 1; }",
    "int k; EACH { k = p[i]; y[i] = 0; k = q[i]; while (k < p[i + 1]) { y[i] += v[k]; k += 1; } }",
    "int k; EACH { k = p[i]; while (k < q[i + 1]) { y[i] += v[k]; k += 1; } }",
    "int k; EACH { k = p[i]; while (k < p[i + 1]) { y[i] += v[k]; k += p[0]; } }",
])
def test_counters_that_come_from_elsewhere_are_none(body: str) -> None:
    assert found(body) == []
