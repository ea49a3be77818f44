"""What a Scop assumes: no wrapping, no overlap, types and extents."""

import islpy as isl
import pytest

from polysched.pipeline import PipelineOptions, optimize
from polysched.scop import from_c_text
from tests.scop.c_frontend.one_region import one


def test_no_wrap_becomes_an_assumption_with_a_condition():
    scop = from_c_text("void f(unsigned n, double *A) {\n#pragma scop\nfor (unsigned i = 0; i < n - 1; i++) A[i] = 0;\n"
                       "#pragma endscop\n}\n")
    (assumption,) = scop.assumptions
    assert assumption.kind == "no-wrap"
    assert assumption.condition == "(long)n >= 1"
    assert assumption.parameters.is_equal(isl.Set("[n] -> { : 1 <= n <= 4294967295 }"))
    assert scop.context.is_equal(isl.Set("[n] -> { : 1 <= n <= 4294967295 }"))


@pytest.mark.parametrize("first", ["x[i] = 0;", ""])
def test_statements_that_a_later_assumption_excludes_are_none(first):
    scop = one(f"for (int i = 0; i < n; i++) {{ {first} if (i == m) A[i] = 0; }} __builtin_assume(n < m);",
               head="int n, int m, double A[restrict 90], double *x")
    assert [a.name for a in scop.arrays] == (["x"] if first else [])
    assert len(scop.statements) == len(scop.arrays)
    assert scop.schedule.get_domain().is_equal(scop.domain)
    assert "x[" in optimize(scop, PipelineOptions(guard=True, scheduler="isl")).text or not first


def test_context_knows_types_and_extents():
    scop = one("for (int i = 0; i < m + c; i++) A[i] = B[0][0];")
    assert scop.context.is_equal(isl.Set(
        "[n, m, c] -> { : 1 <= n <= 2147483647 and 1 <= m <= 2147483647 and 0 <= c <= 255 }"))
    assert [p.name for p in scop.parameters] == ["n", "m", "c"]


def test_no_alias_is_assumed_only_where_c_allows_overlap():
    head = "int n, double *A, double *restrict B, float *C, double *D"
    scop = one("for (int i = 0; i < n; i++) { A[i] = B[i] + C[i] + D[i]; C[i] = 1; }", head=head)
    (assumption,) = scop.assumptions
    assert assumption.kind == "no-alias"
    assert assumption.text == "the memory of A, D does not overlap"
    restricted = one("for (int i = 0; i < n; i++) A[i] = B[i];", head="int n, double *restrict A, double *restrict B")
    assert restricted.assumptions == ()
    sized = one("for (int i = 0; i < n; i++) A[i] = B[i];", head="int n, double A[n], double B[n]")
    assert "sizeof(double) * (n) <= (const char *)&A[0]" in sized.assumptions[0].condition
