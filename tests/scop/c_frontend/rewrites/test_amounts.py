"""What variables are stepped by, in types that hold every sum of steps."""

import pytest
from pycparser import c_ast, c_parser

from polysched.scop.c_frontend.declarations.scopes import Origin, Scope
from polysched.scop.c_frontend.parse import c_text
from polysched.scop.c_frontend.rewrites.amounts import Amount, StepTypes, sum_of, wide_text
from polysched.scop.c_frontend.rewrites.lvalue_types import LvalueTypes

DECLARED = "int i; long l; unsigned u; double x; double *p; int c; static int s;"


def types(plain: str = "i l u x p c s") -> StepTypes:
    scope = Scope()
    for declaration in c_parser.CParser().parse(DECLARED).ext:
        scope.declare(declaration, Origin.LOCAL)
    return StepTypes(LvalueTypes(scope), frozenset(plain.split()))


def expression(text: str) -> c_ast.Node:
    return c_parser.CParser().parse(f"void f() {{ i = {text}; }}").ext[0].body.block_items[0].rvalue


@pytest.mark.parametrize(("name", "value", "made"), [
    ("i", "c * 2", "c * 2"), ("i", "u", "(long) u"), ("i", "l", "(long) l"),
    ("l", "c", "(long) c"), ("l", "3", "3"), ("l", "70000", "(long) 70000"), ("l", "l", "l"),
    ("p", "c", "c"), ("p", "l", "l"), ("p", "u", "(long) u"),
    ("i", "x", None), ("i", "0.5", None), ("l", "p - p", None), ("p", "c + x", None), ("i", "other", None),
])
def test_widened(name: str, value: str, made: str | None) -> None:
    found = types().widened(name, expression(value))
    assert (None if found is None else c_text(found)) == made


def test_may_step() -> None:
    assert [n for n in ("i", "l", "u", "x", "p", "s", "other") if types().may_step(n)] == ["i", "l", "p"]
    assert not types(plain="l").may_step("i")


def test_moved() -> None:
    known = types()
    assert c_text(known.moved("i", expression("c * 2"))) == "i + (c * 2)"
    assert c_text(known.moved("i", known.widened("i", expression("u")))) == "(int) (i + ((long) u))"
    assert c_text(known.moved("l", known.widened("l", expression("u")))) == "l + ((long) u)"


@pytest.mark.parametrize(("name", "value", "made"), [
    ("i", "4", "4"), ("l", "4", "4L"), ("i", "3000000000", None), ("i", "0.5", None), ("i", "c", None),
    ("p", "0", None),
])
def test_constant(name: str, value: str, made: str | None) -> None:
    found = types().constant(name, expression(value))
    assert (None if found is None else found.value) == made


def test_exposed() -> None:
    assert [c_text(n) for n in types(plain="c").exposed(expression("c + i + 3"))] == ["i"]


def test_sum_is_wide() -> None:
    parts = [Amount(expression(text), expression(text)) for text in ("c", "c * i")]
    assert wide_text(sum_of(parts).exact) == "((long)c + ((long)c * (long)i))"
