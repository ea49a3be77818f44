"""What the dialects write in forms of their own are the operations that the generic form gives."""

import pytest

from polysched.errors import SourceSyntaxError
from polysched.scop.mlir_frontend.custom_forms import CUSTOM
from polysched.scop.mlir_frontend.grammar import Grammar
from polysched.scop.mlir_frontend.operations import Operation
from polysched.scop.mlir_frontend.words import Words


def read(text: str) -> Operation:
    (found,) = Grammar(Words(text, "t.mlir"), CUSTOM).top()
    return found


@pytest.mark.parametrize(("own", "generic"), [
    ("%0 = arith.addf %a, %b fastmath<fast> : f32", '%0 = "arith.addf"(%a, %b) : (f32, f32) -> f32'),
    ("%0 = arith.extf %a : f32 to f64", '%0 = "arith.extf"(%a) : (f32) -> f64'),
    ("%0 = affine.load %A[%i, %j] : memref<4x4xf32>",
     '%0 = "affine.load"(%A, %i, %j) <{map = affine_map<(i, j) -> (i, j)>}> : (memref<4x4xf32>, index, index) -> f32'),
    ("affine.for %i = 0 to %n {\n}", '"affine.for"(%n) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = '
     "array<i32: 0, 1, 0>, step = 1 : index, upperBoundMap = affine_map<()[s0] -> (s0)>}> ({\n^bb0(%i: index):\n}) : "
     "(index) -> ()"),
    ("func.func private @f(%a: index {x.y}) {\n return\n}",
     '"func.func"() <{sym_name = "f"}> ({\n^bb0(%a: index):\n "func.return"() : () -> ()\n}) : () -> ()'),
])
def test_they_are_the_generic_operations(own: str, generic: str) -> None:
    mine, other = read(own), read(generic)
    assert (mine.name, mine.results, mine.operands) == (other.name, other.results, other.operands)
    assert mine.attributes == other.attributes
    assert [(r.arguments, r.types, len(r.operations)) for r in mine.regions] == [
        (r.arguments, r.types, len(r.operations)) for r in other.regions]


def test_a_parallel_loop_is_loops() -> None:
    outer = read("affine.parallel (%i, %j) = (0, %m + 1) to (min(%n, 4), 8) step (1, 2) {\n}")
    inner = outer.regions[0].operations[0]
    assert outer.operands == ("n",)
    assert len(outer.attributes["upperBoundMap"].results) == 2
    assert (inner.operands, inner.attributes["step"], inner.regions[0].arguments) == (("m",), 2, ("j",))


@pytest.mark.parametrize(("text", "message"), [
    ("affine.for %i = 0 to affine_map<() -> (1, 2)>() {\n}", "2 values, and no `min`"),
    ("affine.for %i = 0 to affine_map<(d0) -> (d0)>() {\n}", "has 1 arguments, not 0"),
    ("affine.for %i = 0 to #none() {\n}", "stands no map"),
    ("affine.parallel (%i) = (0) to (4) reduce (\"addf\") -> f32 {\n}", "reduces nothing"),
    ("affine.if affine_map<() -> (1)>() {\n}", "stands no set"),
    ("%0 = affine.for %i = 0 to 4 iter_args(%a = %b) -> (f32, f32) {\n}", "other numbers of types"),
    ("affine.store %v %A[%i] : memref<4xf32>", "`,` was expected"),
])
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(SourceSyntaxError, match=message):
        read(text)
