"""Subscripts in one dimension of rows: delinearised where rows are long enough."""

import islpy as isl
import pytest

from polysched.scop.scop import AccessKind
from tests.scop.c_frontend.one_region import one


def test_delinearised_when_rows_are_long_enough():
    scop = one("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) P[i * n + j] = 0;",
               head="int n, int m, double *P")
    (write,) = scop.statements[0].writes
    assert write.exact
    assert write.relation.is_equal(isl.Map("[n, m] -> { S0[i, j] -> P[i, j] : 0 <= i < n and 0 <= j < m }"))
    assert [a.condition for a in scop.assumptions] == ["(long)n <= 0 || (long)n >= (long)m"]
    assert len(write.subscripts) == 1


@pytest.mark.parametrize(("subscript", "row"), [
    ("i * (n + 1) + j", "n + 1"), ("(i + 2) * (n + 4) + j + 3", "n + 4"), ("i * (n + 12) + i", "n + 13"),
    ("((i + 5) * (n + 12) + i) * (n + 12) + i + 7", "n + 12")])
def test_rows_longer_than_a_parameter(subscript, row):
    scop = one(f"for (int i = 0; i < (n < m ? n : m); i++) for (int j = 0; j < n; j++) P[{subscript}] = 0;",
               head="int n, int m, double *P")
    (array,), ((write,),) = scop.arrays, (s.writes for s in scop.statements)
    assert write.exact
    assert not scop.assumptions
    assert set(array.c_extents[1:]) == {f"(long){row}"}


def test_of_rows_longer_than_a_parameter_little_is_assumed():
    scop = one("""P[2 * (n + 12) + 11] = 0;
    for (int i = 0; i < m; i++) P[(i + 3) * (n + 12) + 4] = 0;""", head="int n, int m, double *P")
    assert [a.condition for a in scop.assumptions] == ["(long)n >= 0"]


@pytest.mark.parametrize("subscript", ["i * j", "i * n + 2 * j"])
def test_not_delinearised_where_that_would_be_wrong(subscript):
    scop = one(f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) P[{subscript}] = 0;",
               head="int n, double *P")
    (write,) = scop.statements[0].writes
    assert not write.exact
    assert write.kind is AccessKind.MAY_WRITE
