"""Bodies and branches of statements: put back as one statement, opened as several, and what leaves them."""

import pytest
from pycparser import c_ast, c_parser

from polysched.scop.c_frontend.parse import c_text
from polysched.scop.c_frontend.rewrites.bodies import as_one, block, leaves, rewrite_bodies


def statement(text: str) -> c_ast.Node:
    return c_parser.CParser().parse(f"void f() {{ {text} }}").ext[0].body.block_items[0]


@pytest.mark.parametrize(("before", "after"), [
    ("if (n) a(); else b();", "if (n) { a(); a(); } else { b(); b(); }"),
    ("while (n) a();", "while (n) { a(); a(); }"),
    ("n ? a() : b();", "(n) ? (a()) : (b())"),     # no statements
    ("a();", "a()"),
])
def test_bodies_become_blocks_where_they_become_several(before: str, after: str) -> None:
    node = statement(before)
    rewrite_bodies(node, lambda below: (below, below))
    assert c_text(node) == after


def test_one_statement_is_no_block() -> None:
    one = statement("a();")
    assert as_one([one], one) is one
    assert as_one([], one).block_items == []


def test_the_statements_of_a_body() -> None:
    assert [c_text(n) for n in block(statement("{ a(); b(); }"))] == ["a()", "b()"]
    assert [c_text(n) for n in block(statement("a();"))] == ["a()"]
    assert block(statement("{}")) == block(statement(";")) == block(None) == []


@pytest.mark.parametrize(("body", "left"), [
    ("{ if (n) break; }", True), ("while (n) break;", False), ("{ continue; }", False), (";", False)])
def test_what_leaves_the_loop_around(body: str, left: bool) -> None:
    assert leaves(statement(body), c_ast.Break) is left
    assert not leaves(None, c_ast.Break)
