"""Modules, regions and the generic form."""

import pytest

from polysched.errors import SourceSyntaxError
from polysched.scop.mlir_frontend.custom_forms import CUSTOM
from polysched.scop.mlir_frontend.grammar import Grammar
from polysched.scop.mlir_frontend.operations import Operation
from polysched.scop.mlir_frontend.words import Words


def read(text: str) -> tuple[Operation, ...]:
    return Grammar(Words(text, "t.mlir"), CUSTOM).top()


def test_the_generic_form() -> None:
    (found,) = read('%a, %b:2 = "x.y"(%c, %d#1) <{p = 1 : i64}> ({\n^bb0(%i: index):\n "z"() : () -> ()\n}) {q}'
                    " : (f32, index) -> (i1, f32, f64) loc(unknown)")
    assert found.name == "x.y"
    assert found.results == ("a", "b#0", "b#1")
    assert found.operands == ("c", "d#1")
    assert found.attributes == {"p": 1, "q": True}
    assert found.types == ("i1", "f32", "f64")
    assert found.regions[0].arguments == ("i",)
    assert found.regions[0].operations[0].line == 3


@pytest.mark.parametrize(("text", "message"), [
    ("scf.for %i", r"t.mlir:1: no such operation is read\n  witness: `scf.for`"),
    ("module {\n  module {", "`}`|operation was expected"),
    ("func.func @f() {\n^bb0:\n  return\n^bb1:\n  return\n}", "t.mlir:4: a region has a second block"),
    ('"x"(%a) : () -> ()', "other numbers of types"),
    ("%a = ", "an operation was expected"),
    ("module {" * 200, "brackets inside each other"),
    ("func.func f()", "the name of a function"),
])
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(SourceSyntaxError, match=message):
        read(text)
