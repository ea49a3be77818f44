"""Bodies of functions without `return`."""

import pytest
from pycparser import c_ast, c_parser

from polysched.scop.c_frontend.parse import c_text
from polysched.scop.c_frontend.rewrites.returns import body_of, jumps, with_result, without_returns


def rewritten(body: str, result: str | None = "r") -> str:
    items = [with_result(item, result) for item in body_of(c_parser.CParser().parse(f"int f() {{ {body} }}").ext[0])]
    return " ".join(c_text(c_ast.Compound(without_returns(items))).split())


@pytest.mark.parametrize(("before", "after"), [
    ("return 1;", "r = 1;"),
    ("if (a) return 1; x = 2; return 3;", "if (a) { r = 1; } else { x = 2; r = 3; }"),
    ("if (a) { x = 1; return 1; } else x = 2; y = 3; return 4;",
     "if (a) { x = 1; r = 1; } else { x = 2; y = 3; r = 4; }"),
    ("if (a) x = 1; else { y = 2; return 2; } return 3;", "if (a) { x = 1; r = 3; } else { y = 2; r = 2; }"),
    ("if (a) { int x = 1; y = x; } else { return 2; } y += x; return 3;",
     "if (a) { { int x = 1; y = x; } y += x; r = 3; } else { r = 2; }"),
    ("if (a) return 1; else return 2;", "if (a) { r = 1; } else { r = 2; }"),
    ("switch (k) { case 1: return 5; case 2: x = 1; break; default: return 7; } return 8;",
     "if (k == 1) { r = 5; } else { if (k == 2) { x = 1; r = 8; } else { r = 7; } }"),
])
def test_what_follows_a_return_stands_under_the_opposite_condition(before: str, after: str) -> None:
    assert rewritten(before) == f"{{ {after} }}"


@pytest.mark.parametrize("body", [
    "while (a) { if (b) return 1; } return 2;",
    "if (a) { if (b) return 1; x = 2; } y = 3; return 4;",
    "if (a++) return 1; return 2;",
    "switch (k) { case 1: return 5; case 2: if (a) return 6; x = 1; default: return 7; }",
])
def test_others_still_jump(body: str) -> None:
    items = [with_result(item, "r") for item in body_of(c_parser.CParser().parse(f"int f() {{ {body} }}").ext[0])]
    assert jumps(without_returns(items))


def test_the_function_stays_as_it_was() -> None:
    function = c_parser.CParser().parse("int f(int k) { switch (k) { case 1: return 5; default: return 7; } }").ext[0]
    before = c_text(function)
    without_returns([with_result(item, "r") for item in body_of(function)])
    assert c_text(function) == before
