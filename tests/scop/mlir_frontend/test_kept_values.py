"""A value is kept in a variable just where a store lies between its load and a use."""

import pytest

from polysched.scop.mlir_frontend.custom_forms import CUSTOM
from polysched.scop.mlir_frontend.grammar import Grammar
from polysched.scop.mlir_frontend.kept_values import kept_values
from polysched.scop.mlir_frontend.words import Words


def kept(lines: list[str]) -> frozenset[str]:
    text = "func.func @f(%A: memref<9xf64>, %B: memref<9xf64>, %i: index) {\n" + "\n".join(lines) + "\n}"
    (function,) = Grammar(Words(text, "t.mlir"), CUSTOM).top()
    return kept_values(function.regions[0])


LOAD = "%a = affine.load %A[%i] : memref<9xf64>"
OTHER = "%b = affine.load %B[%i] : memref<9xf64>"
TO_A, TO_B = "affine.store %{} , %A[%i] : memref<9xf64>", "affine.store %{}, %B[%i] : memref<9xf64>"
SUM = "%s = arith.addf %a, %b : f64"


@pytest.mark.parametrize(("lines", "expected"), [
    ([LOAD, OTHER, SUM, TO_A.format("s")], set()),
    ([LOAD, OTHER, TO_A.format("b"), TO_B.format("a")], {"a"}),
    ([LOAD, OTHER, SUM, TO_A.format("b"), TO_B.format("s")], {"a"}),
    ([LOAD, "affine.for %j = 0 to 9 {", TO_A.format("a"), "}"], {"a"}),
    (["affine.for %j = 0 to 9 {", LOAD, TO_A.format("a"), "}"], set()),
    ([LOAD, "affine.for %j = 0 to 9 {", TO_B.format("a"), "}"], set()),
    ([LOAD, "affine.for %j = 0 to 9 {", TO_B.format("a"), "affine.store %x, %A[0] : memref<9xf64>", "}"], {"a"}),
])
def test_hazards(lines: list[str], expected: set[str]) -> None:
    assert kept(lines) == expected


def test_a_long_expression_is_cut() -> None:
    doubled = [LOAD, "%0 = arith.addf %a, %a : f64",
               *(f"%{k + 1} = arith.addf %{k}, %{k} : f64" for k in range(40)), TO_B.format("40")]
    found = kept(doubled)
    assert 4 <= len(found) <= 41
