"""Declarations without a type are those of `int`; others are left as they are."""

from __future__ import annotations

import pytest

from polysched.scop.c_frontend.text.implicit_int import with_implicit_int


@pytest.mark.parametrize(("text", "typed"), [
    ("static count, total = 1;", "static int count, total = 1;"),
    ("register i; const n = 3;", "register int i; const int n = 3;"),
    ("extern volatile flag;", "extern volatile int flag;"),
    ("f(n) int n; { return n; }", "int f(n) int n; { return n; }"),
    ("static f() { return 3; }", "static int f() { return 3; }"),
    ("main() { }", "int main() { }"),
    ("int g(const n) { return n; }", "int g(const int n) { return n; }"),
    ("static table[3];", "static int table[3];"),
])
def test_types_that_are_missing(text: str, typed: str) -> None:
    assert with_implicit_int(text) == typed
    assert with_implicit_int(typed) == typed, "once is enough"


@pytest.mark.parametrize("text", [
    "static int count;", "static unsigned count;", "typedef long T; static T count;", "int f(int n) { return g(n); }",
    "void f(void) { g(3); h(4); }", "struct s { int a; }; static struct s x;", "static const char *name = \"f\";",
    "x = f(n);", "typedef int T; T f(T n) { return n; }", "int f(n) int n; { return n; }"])
def test_what_has_a_type(text: str) -> None:
    assert with_implicit_int(text) == text
