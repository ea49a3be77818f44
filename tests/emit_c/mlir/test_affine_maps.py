"""Index expressions in the notation of the affine dialect."""

import islpy as isl
import pytest

from polysched.emit_c.loop_ir.index import (
    Comparison,
    Junction,
    constant,
    extreme,
    product,
    quotient,
    remainder,
    variable,
)
from polysched.emit_c.mlir.affine_maps import affine_map, bound, integer_set, of_function
from polysched.errors import UnsupportedScopError

ROW, COLUMN, N = variable("i"), variable("j"), variable("n")


def test_maps_have_dimensions_and_symbols() -> None:
    assert affine_map([ROW * 2 + COLUMN - 3, N], ["n"]) == (
        "affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 + -3, s0)>(%i, %j)[%n]")
    assert affine_map([quotient(ROW + N, 4, truncates=False) * 4], ["n"]) == (
        "affine_map<(d0)[s0] -> (((d0 + s0) floordiv 4) * 4)>(%i)[%n]")
    assert affine_map([remainder(ROW, 3)], []) == "affine_map<(d0) -> ((d0) mod 3)>(%i)"


def test_bounds() -> None:
    assert bound(constant(5), "min", ["n"]) == "5"
    assert bound(extreme("max", [ROW, N - 4]), "max", ["n"]) == "max affine_map<(d0)[s0] -> (d0, s0 + -4)>(%i)[%n]"
    with pytest.raises(UnsupportedScopError, match=r"no such index expression\n  witness: Extreme"):
        bound(extreme("max", [ROW, N]), "min", ["n"])


def test_conditions_are_sets() -> None:
    both = Junction("&&", (Comparison("<", ROW, N), Comparison("==", COLUMN, constant(2))))
    assert integer_set(both, ["n"]) == (
        "affine_set<(d0, d1)[s0] : (s0 + d0 * -1 + -1 >= 0, d1 + -2 == 0)>", "%i, %j, %n")
    with pytest.raises(UnsupportedScopError, match="no sets that are unions"):
        integer_set(Junction("||", both.arms), ["n"])


def test_functions_of_iterators() -> None:
    (piece,) = isl.PwAff("[n] -> { [i, j] -> [(2i + n - 3 + floor((i + j) / 4))] }").get_pieces()
    assert of_function(piece[1], [ROW, COLUMN]) == ROW * 2 + N - 3 + quotient(ROW + COLUMN, 4, truncates=False)
    with pytest.raises(UnsupportedScopError, match="witness: Product"):
        affine_map([product(ROW, N)], ["n"])
