"""Bodies of functions as statements that reach at least as much."""

from __future__ import annotations

import pytest
from pycparser import c_ast, c_parser

from polysched.scop.c_frontend.parse import c_text
from polysched.scop.c_frontend.rewrites.reaching import reaching_block


def block(text: str) -> str | None:
    function = next(f for f in c_parser.CParser().parse(text).ext if isinstance(f, c_ast.FuncDef))
    before = c_text(function)
    items = reaching_block(function)
    assert c_text(function) == before, "the function itself stays"
    return None if items is None else c_text(c_ast.Compound(items))


@pytest.mark.parametrize(("text", "made"), [
    ("void f(int n) { g(n); return; }", "{ g(n); }"),
    ("int f(int n) { if (n) return 1; g(n); return 2; }",
     "{ int polysched_returned; if (n) { polysched_returned = 1; } else { g(n); polysched_returned = 2; } }"),
    ("void f(int n) { while (n) { if (g(n)) return; h(n); } k(n); }",
     "{ while (n) { if (g(n)) break; h(n); } k(n); }"),
    ("int f(int n) { for (;;) if (n) { if (g(n)) return 7; } }",
     "{ int polysched_returned; for (;;) if (n) { if (g(n)) { polysched_returned = 7; break; } } }"),
])
def test_a_return_leaves_its_loop_or_goes_on(text: str, made: str) -> None:
    assert block(text) == made


@pytest.mark.parametrize("text", ["void f(int n) { again: if (n) goto again; }", "int *f(int *p) { return p; }"])
def test_functions_without_such_statements(text: str) -> None:
    assert block(text) is None
