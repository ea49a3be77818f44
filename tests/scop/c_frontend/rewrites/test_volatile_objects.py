"""Regions that reach volatile objects are refused, by whatever way; those beside such objects are read."""

from __future__ import annotations

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.read_region import in_function

FILE = """
volatile int v; static volatile float rows[4][9]; int plain; typedef volatile int shared; shared w; shared *to;
struct S { volatile int v; int w; } s; extern struct S *several; int *volatile moving; volatile struct S all;
typedef int *pointer; volatile pointer walking;
static int get(void) { return v; }
static int three(int x) { return 3; }
static int drops(void) { int t = v; return 3; }
static int deep(int x) { return drops() + x; }
static int around(int x) { return x > 0 ? again(x - 1) : 0; }
static int again(int x) { int t = w; return around(x); }
static int local(int x) { volatile int t = x; return t; }
static int given(volatile int x) { return x + x; }
static int behind(volatile int *x) { return *x; }
static void put(shared *x, int y) { *x = y; }
static int hidden(int v) { return v; }
static int member(struct S *x) { return x->v; }
static int copied(struct S x) { return x.w; }
"""
HEAD = "int n, int *restrict a, int *restrict b"


def read(statement: str) -> None:
    from_c_text(FILE + in_function(f"for (int i = 0; i < n; i++) {{ {statement} }}", head=HEAD))


@pytest.mark.parametrize("statement", [
    "a[i] = v;", "v = b[i];", "v = 1; a[i] = i;", "a[v] = i;", "a[i] = b[v - v + i];", "if (v) a[i] = i;", "if (v) ;",
    "if (v++) a[i] = 1;", "a[v++] = 1;", "a[i] = v * 0;", "a[i] = v ? 3 : 3;", "if (b[i] && v++) a[i] = 3;", "(void)v;",
    "for (int k = 0; k < v; k++) a[k] += 1;", "for (int k = v; k < n; k++) a[k] += 1;",
    "for (int k = 0; k < n; k += v) a[k] += 1;", "switch (v++) { case 1: a[i] = 3; break; default: a[i] = 4; }",
    "volatile int t = 0; if (t++) a[i] = 1;", "volatile int t = b[i]; a[i] = 3;", "shared t = b[i]; a[i] = t;",
    "a[i] = w;", "to[i] = 1;", "moving[i] = b[i];", "walking[i] = b[i];", "rows[1][i] = b[i];", "a[i] = all.w;",
    "a[i] = three(all.w);",
    "s.v = b[i];", "a[i] = three(s.v);", "a[i] = three(several[i].v);", "if (several->v++) a[i] = 1;",
    "a[i] = ((volatile int *)b)[i];", "((shared *)a)[i] = 1;", "a[i] = *(volatile int *)&plain;",
    "a[i] = three(v);", "a[i] = get();", "get(); a[i] = 1;", "a[i] = drops();", "a[i] = deep(i);", "a[i] = around(i);",
    "a[i] = local(b[i]);", "a[i] = given(b[i]);", "a[i] = behind(&b[i]);", "put(&a[i], b[i]);", "a[i] = member(&s);",
    "a[i] = copied(s);",
])
def test_what_reaches_one_is_refused(statement: str) -> None:
    with pytest.raises(UnsupportedScopError, match="a volatile object can change behind the program's back"):
        read(statement)


@pytest.mark.parametrize("statement", [
    "a[i] = sizeof v;", "a[i] = s.w;", "a[i] = hidden(b[i]);", "a[i] = three(several[i].w);",
])
def test_what_only_has_the_name_of_one_is_read(statement: str) -> None:
    read(statement)


def test_a_function_that_is_declared_pure_stays_a_call() -> None:
    from_c_text("#pragma polysched pure get\n" + FILE + in_function(
        "for (int i = 0; i < n; i++) a[i] = get();", head=HEAD))
