"""What is dereferenced right where its address is taken is the object itself; every other address stays."""

import copy

import pytest
from pycparser import c_generator, c_parser

from polysched.scop.c_frontend.rewrites.addresses import without_idle_addresses


def rewritten(statement: str) -> str:
    body = c_parser.CParser().parse(f"void f() {{ {statement}; }}").ext[0].body
    before = copy.deepcopy(body)
    made = c_generator.CGenerator().visit(without_idle_addresses(body).block_items[0])
    again = without_idle_addresses(before)
    assert c_generator.CGenerator().visit(without_idle_addresses(again)) == c_generator.CGenerator().visit(again)
    return made


@pytest.mark.parametrize(("statement", "made"), [
    ("*&v = 1", "v = 1"), ("(&v)[0] = 1", "v = 1"), ("(&s)->m = 1", "s.m = 1"), ("(*&s).m = 1", "s.m = 1"),
    ("*&*&v += 2", "v += 2"), ("*&a[i]++", "a[i]++"), ("(&a[i])[0] = 1", "a[i] = 1"),
    ("(&p->in)->m = 1", "p->in.m = 1"),
    ("x = f(*&v, (&w)[0])", "x = f(v, w)"), ("for (; *&v < 3; (*&v)++) *&w = *&v", "for (; v < 3; v++)\n  w = v;"),
    ("a[*&i] = (&s)->v[*&j]", "a[i] = s.v[j]"), ("&*&v == p", "(&v) == p")])
def test_rewritten(statement: str, made: str) -> None:
    assert rewritten(statement).rstrip(";\n") == made.rstrip(";\n")


@pytest.mark.parametrize("statement", [
    "(&v)[1] = 1", "(&v)[i] = 1", "(&a[i])[1] = 2", "*(&v + 1) = 1", "p = &v", "*p = 1", "p->m = 1", "(*p).m = 1",
    "*(unsigned *) (&v) = 1", "&p[0]", "x = *(&v + i)"])
def test_left(statement: str) -> None:
    plain = c_generator.CGenerator().visit(c_parser.CParser().parse(f"void f() {{ {statement}; }}").ext[0].body)
    assert rewritten(statement).strip() == plain.strip("{}\n ").rstrip(";")
