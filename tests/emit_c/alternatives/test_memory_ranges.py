"""The memory of rows behind pointers: ranges as long as the rows, and one declaration for all cases."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import islpy as isl
import numpy as np
import pytest

from polysched.emit_c.alternatives import memory_ranges
from polysched.emit_c.alternatives.memory_ranges import memory_of
from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.scop.budget import with_budget
from polysched.scop.scop import union_map
from tests.emit_c.compiled import load

SWAP = """
typedef struct { unsigned int m, n; double **me; } matrix;
void exchange(matrix *A, int i, int j)
{
  double tmp;
  int k, n = A->n;
  for (k = j + 1; k < n; k++) {
    tmp = A->me[j][k];
    A->me[j][k] = A->me[i][k];
    A->me[i][k] = tmp;
  }
  for (k = i + 1; k < j; k++) {
    tmp = A->me[k][j];
    A->me[k][j] = A->me[i][k];
    A->me[i][k] = tmp;
  }
}
"""


class Matrix(ctypes.Structure):
    _fields_ = [("m", ctypes.c_uint), ("n", ctypes.c_uint),
                ("me", ctypes.POINTER(ctypes.POINTER(ctypes.c_double)))]


def exchanged(library: ctypes.CDLL, n: int, i: int, j: int) -> np.ndarray:
    values = np.random.default_rng(0).random((n, n))
    rows = (ctypes.POINTER(ctypes.c_double) * n)(*(row.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
                                                  for row in values))
    library.exchange(ctypes.byref(Matrix(n, n, rows)), i, j)
    return values


def test_rows_in_several_pieces_are_no_longer_than_their_elements(tmp_path: Path) -> None:
    """Pieces of a row on both sides of a column: their simple hull is as wide as the bounds of an int are apart."""
    source = tmp_path / "exchange.c"
    source.write_text(SWAP)
    text = transform_file(source, PipelineOptions(autodetect=True)).text
    assert "polysched_A_me_here" in text
    assert not re.search(r"\d{9}", text)
    given, made = load(SWAP, tmp_path, strict=False), load(text, tmp_path, strict=False)
    for n, i, j in ((9, 2, 5), (9, 0, 8), (9, 3, 4), (2, 0, 1), (40, 7, 31)):
        np.testing.assert_array_equal(exchanged(made, n, i, j), exchanged(given, n, i, j))


def test_an_array_that_no_instance_reads_is_apart_from_all(tmp_path: Path) -> None:
    """The right side of `2 || never[i]` is not computed, so nothing of `never` is touched."""
    source = tmp_path / "short.c"
    source.write_text("void f(int n, int *a, int *b, int *never) {\n"
                      "  for (int i = 0; i < n; i++)\n    a[i] = b[i] + (2 || never[i]);\n}\n")
    (region,) = transform_file(source, PipelineOptions(autodetect=True)).regions
    assert "&b[" in region.text
    assert "&never[" not in region.text


def test_memory_that_takes_too_long_to_find_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checksum of NPB's FT: which elements remainders of several multiples of a counter reach."""
    scop = from_c_text("""
int first[3];
static double u[64][64][64];
void f(double sum[1]) {
#pragma scop
  for (int j = 1; j <= 1024; j++)
    if (j % 64 >= first[0] && 3 * j % 64 >= first[1])
      sum[0] += u[0][3 * j % 64 - first[1]][j % 64 - first[0]];
#pragma endscop
}
""")
    assert with_budget(20, lambda: memory_of(scop, scop.array("u"))) is None, "the budget around has ended"
    assert memory_of(scop, scop.array("u")) is not None
    monkeypatch.setattr(memory_ranges, "MOST_OPERATIONS", 20)
    assert memory_of(scop, scop.array("u")) is None


FILTER = """
struct wave { int length; double *low; };
void f(int n, int m, int odd, double *out, double *in, struct wave *w) {
#pragma scop
  for (int i = 0; i < m; i++)
    for (int l = 0; l < n; l++)
      if (2 * i - l >= 3 && 2 * i - l < m || (2 * i - l < 0 && odd == 0))
        out[i] += w->low[l] * in[l % 5 + 2];
#pragma endscop
}
"""


def test_larger_bounds_where_the_exact_ones_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows behind a pointer and an array in one piece; bounds from types of parameters would never be apart."""
    scop = from_c_text(FILTER)
    monkeypatch.setattr(memory_ranges, "_touched_memory", lambda *_: None)
    row, given = (memory_of(scop, scop.array(name)) for name in ("w_low", "in"))
    assert row is not None
    assert given is not None
    assert "low[0]" in "".join(row.before)
    assert "low[(long)n - 1]" in "".join(row.before)
    assert not re.search(r"\d{9}", given.begin + given.end)


EVERY_THIRD = """
void f(int n, int m, double *out, double **A) {
#pragma scop
  for (int i = 0; i < m; i++)
    for (int l = 0; l < n; l++)
      if (i % 3 == 0)
        out[i] += A[i][l];
#pragma endscop
}
"""


@pytest.mark.parametrize(("text", "name"), [(FILTER, "w_low"), (EVERY_THIRD, "A")])
def test_larger_bounds_read_no_pointer_that_the_program_does_not(
        text: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may lead nowhere: `w` may be null where `m` is 0."""
    scop = from_c_text(text)
    visited: list[isl.Set] = []
    monkeypatch.setattr(memory_ranges, "_touched_memory", lambda *_: None)
    monkeypatch.setattr(memory_ranges, "_rows", lambda _, __, touched, pointers, **___: visited.append(
        touched.project_out(isl.dim_type.set, pointers, 2 - pointers)))
    memory_of(scop, scop.array(name))
    (rows,) = visited
    touched = isl.Set.from_union_set(union_map(
        a.relation for s in scop.statements for a in s.accesses if a.array == name).range())
    read = touched.project_out(isl.dim_type.set, 1, 1)
    assert rows.intersect_params(scop.context).is_equal(read.intersect_params(scop.context))
