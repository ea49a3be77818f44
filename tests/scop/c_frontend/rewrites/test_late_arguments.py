"""An argument that stands in the place of its parameter says what it said when the call began, or the call is left."""

from pathlib import Path

import pytest
from pycparser import c_ast, c_parser

from polysched.scop.c_frontend.rewrites.late_arguments import Changes, Memory, calls_a_variable, keeps_a_state, offsets
from tests.scop.c_frontend.differences import check

FUNCTIONS = """
static int G;
static void set(int v) { G = v; }
static void put(int *p, int *q) { *q = 5; p[0] = 7; }
static void first(int *p, long *b) { b[0] = 5; p[0] = 7; }
static void copied(int *p, const int *r, long *b) { b[0] = 5; p[0] = r[0]; }
static void often(int *p, long *b) { for (int i = 0; i < 3; i++) { b[0] += 1; p[i] = 7; } }
static void global(int *p) { G = 5; p[0] = 7; }
static void through(int v, int *a) { set(v + 1); a[0] = v; }
static void step(int *p) { p[0] = p[0] + 1; }
static void behind(int v, int *q, int *a) { step(q); a[0] = v; }
static void local(int *a) { int t = 3; step(&t); a[t] = t; }
"""
THE_SAME = [
    "G = 3; through(G, A + 1); G = 0;",
    "int x = 3; behind(x, &x, A + 1); A[4] = x;",
    "for (int i = 0; i < 20; i++) local(A + i);",
    "for (int i = 0; i < 9; i++) first(A + i, B + i);",
    "first(A + (D[0] & 7), B);",
    "for (int i = 0; i < 9; i++) first(&A[D[i] & 7], B + i);",
    "for (int i = 0; i < 9; i++) behind(A[i], A + i + 1, A + i + 2);",
]
LEFT = [
    "int k = 2; put(A + k, &k); A[k] = k;",
    "first(A + (B[0] & 7), B);",
    "first(A + 1 + (B[0] & 7), B + 1);",
    "B[0] = 3; first(&A[B[0]], B);",
    "B[0] = 3; first(B[0] + A, B);",
    "B[0] = 3; copied(A, A + B[0], B);",
    "B[0] = 3; often(A + B[0], B);",
    "G = 3; global(A + G); G = 0;",
    "G = 3; global(&A[G + 1]); G = 0;",
    "int x = 3; behind(x + 1, &x, A + x); A[8] = x;",
    "behind(A[2], &A[2], A + (A[2] & 7));",
    "long *q = B; first(A + (q[0] & 7), B);",
]


def test_calls_leave_what_c_leaves(tmp_path: Path) -> None:
    check(THE_SAME, tmp_path, before=FUNCTIONS, sizes=({},), refused=LEFT)


def parsed(text: str) -> dict[str, c_ast.FuncDef]:
    return {f.decl.name: f for f in c_parser.CParser().parse(text).ext if isinstance(f, c_ast.FuncDef)}


def argument(text: str) -> c_ast.Node:
    return parsed(f"void f(void) {{ x = {text}; }}")["f"].body.block_items[0].rvalue


@pytest.mark.parametrize(("text", "numbers"), [
    ("A + k", ["k"]), ("&A[k]", ["k"]), ("&A[i][k]", ["i", "k"]), ("k + A", ["k"]), ("A[i] + k", ["i", "k"]),
    ("&x", []), ("A", []), ("p->x + k", ["k"]), ("(int *)(A + k)", ["k"]), ("c ? A + i : A", ["c", "i"])])
def test_the_numbers_of_a_pointer_are_found_whatever_stands_first(text: str, numbers: list[str]) -> None:
    assert [number.name for number in offsets(argument(text), {"A", "p"})] == numbers


def test_what_a_function_writes_has_the_callers_names() -> None:
    functions = parsed("int G; struct s { int *v; int n; };"
                       "void inner(int *p, int n) { p[n] = 1; }"
                       "void outer(struct s *t, int *a) { inner(t->v, t->n); a = a; G = 2; t->n = 3; }"
                       "void again(int *a, int n) { if (n) { a[0] = 1; again(a, n - 1); } }")
    changes = Changes(functions, {"A"}, set())
    call = [argument("&g"), argument("A")]
    assert changes.memory(functions["outer"], call) >= {Memory("g", "v"), Memory("g", "n")}
    assert changes.variables(functions["outer"]) == {"G"}
    assert changes.memory(functions["again"], [argument("A + 1"), argument("3")]) == {Memory("A")}
    assert not Memory("g", "v").meets(Memory("g", "n"))
    assert Memory("g", "v").meets(Memory("g"))


@pytest.mark.parametrize(("text", "kept", "variable"), [
    ("int f(int a) { static int q = 3; return a + q; }", False, False),
    ("int f(int a) { static int q = 3; q += a; return q; }", True, False),
    ("int f(int a) { static int q = 3; int *p = &q; return *p + a; }", True, False),
    ("int f(int (*g)(int), int a) { return g(a); }", False, True),
    ("int f(int a) { return g(a); }", False, False)])
def test_functions_with_a_memory_of_their_own_are_known(text: str, kept: bool, variable: bool) -> None:
    function = parsed(text)["f"]
    assert (keeps_a_state(function), calls_a_variable(function)) == (kept, variable)
