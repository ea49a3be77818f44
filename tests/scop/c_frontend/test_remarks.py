"""Statements without effect are dropped only where nobody can tell, and what a program states restricts the context."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.read_region import in_function

HEAD = "int n, int m, int *restrict A, volatile int v, volatile int *w, struct { int a; } s"


def context(inside: str, head: str = HEAD, before: str = "") -> isl.Set:
    return from_c_text(before + in_function(inside, head=head)).context.params()


def allowed(inside: str) -> isl.Set:
    found = context(f"{inside} for (int i = n; i < m; i++) A[i + 20] = 1;")
    return found.intersect(isl.Set("[n, m] -> { : -9 <= n, m <= 9 }").params())


@pytest.mark.parametrize("remark", [
    "(void)n", "(void)A[n]", "(void)(A[0] + n * m)", "(void)(n ? A[1] : -m)", "(void)sizeof(v)", "(void)*A",
    "(void)(short)A[2]", "__pencil_kill(A)", "__builtin_assume(A[0] > 3)", "(void)!n", "(void)&A[1]"])
def test_what_has_no_effect_is_no_statement(remark: str) -> None:
    scop = from_c_text(in_function(f"for (int i = 0; i < n; i++) {{ {remark}; A[i] = 1; }}", head=HEAD))
    assert [len(s.accesses) for s in scop.statements] == [1]


@pytest.mark.parametrize("statement", [
    "(void)v", "(void)w[0]", "(void)(n + *w)", "(void)f(1)", "(void)(n = 3, m)", "n", "n + m", "A[0]"])
def test_what_may_have_one_is_refused(statement: str) -> None:
    with pytest.raises(UnsupportedScopError):
        from_c_text("int f(int);\n" + in_function(f"{statement}; A[0] = 1;", head=HEAD).replace("void f(", "void g("))


@pytest.mark.parametrize(("stated", "expected"), [
    ("n > 2", "n > 2"), ("n > 2 && m < n", "n > 2 and m < n"), ("n % 2 == 0 || m == 1", "n mod 2 = 0 or m = 1"),
    ("n > 2, m > 3", "n > 2 and m > 3"), ("!(n == m)", "n != m"), ("n * m > 3", ""), ("A[0] > n", ""),
    ("n", "n != 0")])
def test_what_is_stated_holds(stated: str, expected: str) -> None:
    for name in ("__builtin_assume", "__pencil_assume"):
        found = allowed(f"{name}({stated});")
        wanted = isl.Set(f"[n, m] -> {{ : -9 <= n, m <= 9 {'and (' + expected + ')' if expected else ''} }}").params()
        assert found.is_equal(wanted)


def test_a_statement_in_a_loop_holds_for_all_its_iterations() -> None:
    found = allowed("for (int i = 0; i < n; i++) { __builtin_assume(i < m); A[i] = 1; }")
    assert found.is_equal(isl.Set("[n, m] -> { : -9 <= n, m <= 9 and (n <= 0 or n <= m) }").params())


def test_a_statement_under_a_condition_holds_there() -> None:
    found = allowed("if (n > 3) { __builtin_assume(m == 2); A[0] = 1; } A[1] = n + m;")
    assert found.is_equal(isl.Set("[n, m] -> { : -9 <= n, m <= 9 and (n <= 3 or m = 2) }").params())


def test_what_contradicts_itself_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="holds for no parameter value"):
        context("__builtin_assume(n > 3); __builtin_assume(n < 3); A[n] = 1;")


def test_a_function_of_the_file_is_no_remark() -> None:
    before = "static int seen; static void __pencil_kill(int k) { seen = k; }\n"
    scop = from_c_text(before + in_function("__pencil_kill(n); A[0] = 1;", head=HEAD))
    assert {a.array for s in scop.statements for a in s.writes} == {"seen", "A"}
