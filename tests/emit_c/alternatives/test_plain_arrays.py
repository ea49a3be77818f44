"""Regions as functions of arrays of known extents, whatever these are in the source."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c.alternatives import plain_arrays
from polysched.emit_c.alternatives.plain_arrays import (
    as_written_function,
    extents_can_be_said,
    of_parameters,
    shape_of,
    with_plain_arrays,
)
from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.scop import Storage
from tests.emit_c.compiled import load

TEXT = """struct grid { int n; float A[30][20]; };
void f(int n, struct grid *g, float *x, float *total) {
#pragma scop
  float t;
  for (int i = 0; i < n; i++) {
    t = g->A[i][3] * x[i];
    *total += t;
  }
#pragma endscop
}
"""
SCOP = from_c_text(TEXT)
SIZES = {p.name: 7 for p in SCOP.parameters}


def test_every_array_is_an_argument_by_its_own_name() -> None:
    made = with_plain_arrays(SCOP, SIZES)
    assert {a.storage for a in made.arrays} == {Storage.ARGUMENT}
    assert all(a.restrict for a in made.arrays)
    constant = {a.name for a in made.arrays if a.constant}
    assert len(constant) == 2, "what nobody writes"


def test_temporaries_may_stay_inside() -> None:
    made = with_plain_arrays(SCOP, SIZES, temporaries=True)
    assert [a.name for a in made.arrays if a.storage is Storage.LOCAL] == ["t"]


def test_the_function_computes_the_region(tmp_path: Path) -> None:
    made = with_plain_arrays(SCOP, SIZES, temporaries=True)
    function = as_written_function(made, "alone")
    assert "#pragma omp" not in function.text
    library = load(function.text, tmp_path, strict=False)
    values = {a.name: np.ones([int(n or 7) for n in a.c_extents] or [1], np.float32) for a in made.arrays
              if a.storage is Storage.ARGUMENT}
    arguments = [ctypes.c_int(7) if p.name in SIZES else ctypes.c_void_p(values[p.name].ctypes.data)
                 for p in function.signature.parameters]
    library.alone(*arguments)
    (total,) = [v for name, v in values.items() if v.size == 1]
    assert total[0] == 1 + 7


def test_an_extent_that_nobody_declared_is_as_long_as_subscripts_reach() -> None:
    assert shape_of(SCOP.array("x"), SCOP, SIZES) == (7,)


def test_too_large_arrays_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_arrays, "MOST_BYTES", 100)
    with pytest.raises(UnsupportedScopError, match="too large to run") as refused:
        with_plain_arrays(SCOP, SIZES)
    assert "MiB" in refused.value.witness


def test_extents_over_parameters() -> None:
    scop = from_c_text("void f(int n, int m, float A[n][2 * m + 1]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
                       "    A[i][m] = 1;\n#pragma endscop\n}\n")
    assert extents_can_be_said(scop)
    assert of_parameters(scop.array("A").extents[1]) == "(2 * (long)m + 1)"
    assert of_parameters(None) == ""
    (made,) = with_plain_arrays(scop, {"n": 3, "m": 4}, symbolic=True).arrays
    assert made.c_extents == (None, "(2 * (long)m + 1)")
