"""Small programs with a statement by an instruction that only its own text executes."""

from __future__ import annotations

from functools import cache

from polysched.tensorize.program import TensorizedProgram, tensorize
from tests.tensorize.described import matched, program, unit

LANES = unit("lanes", "int32_t C[4], const int16_t A[4], const int16_t B[1]",
             "for (int i = 0; i < 4; i++)\n C[i] += A[i] * B[0];")
FLOATS = unit("floats", "float C[1], const float A[4], const float B[4]",
              "for (int k = 0; k < 4; k++)\n C[0] += A[k] * B[k];")


@cache
def integers(rows: int = 20, terms: int = 9) -> TensorizedProgram:
    """A matrix times a vector of 16-bit numbers."""
    scop = program(f"int32_t y[{rows}], const int16_t A[{rows}][{terms}], const int16_t x[{terms}]",
                   f"for (int i = 0; i < {rows}; i++) for (int k = 0; k < {terms}; k++) y[i] += A[i][k] * x[k];")
    return tensorize(matched(scop, LANES).matches[0])


@cache
def floats() -> TensorizedProgram:
    """The same of floats, whose sums may change places."""
    scop = program("float y[20], const float A[20][9], const float x[9]",
                   "for (int i = 0; i < 20; i++) for (int k = 0; k < 9; k++) y[i] += A[i][k] * x[k];")
    return tensorize(matched(scop, FLOATS).matches[0])
