"""Rows of a sparse matrix behind members and plain pointers: on threads where nothing overlaps, else as written."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.errors import UnsupportedScopError
from polysched.pipeline import transform_file

HEAD = "typedef struct { int n; int *ptr, *col; double *val; } Matrix;\n"
MEMBERS = "void f(const Matrix *A, const double *x, double *y) {"
EACH = "for (int i = 0; i < A->n; i++)"
PROGRAMS = {
    "behind a pointer": f"{MEMBERS}\n int i, k;\n for (i = 0; i < A->n; i++) {{\n  y[i] = 0;\n"
                        "  for (k = A->ptr[i]; k < A->ptr[i + 1]; k++)\n   y[i] += A->val[k] * x[A->col[k]]; } }",
    "added": f"{MEMBERS}\n {EACH} for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++)\n"
             "  y[i] += A->val[k] * x[A->col[k]]; }",
    "a variable": f"{MEMBERS}\n {EACH} {{ double s = 0; int k;\n  for (k = A->ptr[i]; k < A->ptr[i + 1]; k++)\n"
                  "   s += A->val[k] * x[A->col[k]];\n  y[i] = s; } }",
    "backwards": f"{MEMBERS}\n for (int i = A->n - 1; i >= 0; i--) for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++)\n"
                 "  y[i] += A->val[k] * x[A->col[k]]; }",
    "every other": f"{MEMBERS}\n for (int i = 0; i < A->n - 1; i += 2)\n"
                   "  for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++)\n   y[i] -= A->val[k] * x[A->col[k]]; }",
    "two elements": f"{MEMBERS}\n {EACH} for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++)\n"
                    "  y[i] += A->val[k] * x[2 * A->col[k] + 1] + x[A->col[k]]; }",
    "written rows": f"{MEMBERS}\n {EACH} for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++) A->val[k] *= x[i] + y[i]; }}",
}
CALL = """
void g(int n, int *ptr, int *col, double *val, const double *x, double *y) {
  Matrix a = {n, ptr, col, val};
  f(&a, x, y);
}
"""
LEAST = 16384
"""Rows from which on threads are tried (`Costs.team_worth`)."""


def compiled(text: str, name: str, folder: Path) -> ctypes.CDLL:
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text + CALL)
    subprocess.run(["gcc", "-O1", "-fopenmp", "-Wall", "-Werror", "-ffp-contract=off", "-shared", "-fPIC", str(source),
                    "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def transformed(body: str, folder: Path) -> str:
    path = folder / "rows.c"
    path.write_text(f"{HEAD}{body}\n")
    return transform_file(path, polysched.PipelineOptions(autodetect=True)).text


def rows_in(text: str) -> int:
    """How many rows the emitted code wants for threads."""
    return next((int(word) for word in text.replace(")", " ").split() if word.isdigit() and int(word) > 1000), 0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_overlaps_the_results_are_those_of_the_source(name: str, tmp_path: Path,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    text = transformed(PROGRAMS[name], tmp_path)
    assert "omp parallel for" in text
    assert "omp_get_max_threads() > 1" in text
    few = text.replace(str(rows_in(text)), "3")   # so that threads run few rows, too
    libraries = compiled(few, "new", tmp_path), compiled(HEAD + PROGRAMS[name], "old", tmp_path)
    random = np.random.default_rng(3)
    memory = random.integers(-9, 9, 4000).astype("float64")
    for n in (0, 1, 2, 7, 40):
        counts = random.integers(0, 5, n)
        for order in ("in order", "not in order"):
            ptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
            if order != "in order" and n > 3:
                ptr[n // 2] = max(ptr[n // 2] - 6, 0)
            col = random.integers(0, max(n, 1), max(int(ptr.max()), 1)).astype(np.int32)
            for val, x, y in ((0, 1000, 2000), (0, 1000, 1001), (0, 1001, 1000), (1000, 3000, 1002), (1002, 0, 1000)):
                results = []
                for library in libraries:
                    found = memory.copy()
                    start = found.ctypes.data
                    library.g(ctypes.c_int(n), ctypes.c_void_p(ptr.ctypes.data), ctypes.c_void_p(col.ctypes.data),
                              *(ctypes.c_void_p(start + 8 * at) for at in (val, x, y)))
                    results.append(found)
                np.testing.assert_array_equal(*results, err_msg=f"{n} rows {order}, at {val}, {x}, {y}")


def test_subscripts_of_rows_in_order_are_one_piece(tmp_path: Path) -> None:
    text = transformed(PROGRAMS["added"], tmp_path)
    assert "#pragma omp simd reduction(min : polysched_x_low) reduction(max : polysched_x_high)" in text
    assert "polysched_x_ordered &= " in text
    assert "ordered" not in transformed(PROGRAMS["every other"], tmp_path)


@pytest.mark.parametrize("body", [
    "y[i] += A->val[k] * (x[0] > 0 ? x[A->col[k]] : 1);",      # read on a condition
    "{ y[i] += x[A->col[k]]; A->col[k] = 0; }",                # an index that is written
    "y[i] += x[A->col[k + 1]];",                               # elements of the next row
    "{ if (A->val[k] < 0) break; y[i] += x[A->col[k]]; }",     # a row that ends early
])
def test_what_may_not_be_read_ahead_is_not(body: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedScopError, match="no test can tell it"):
        transformed(f"{MEMBERS}\n {EACH} for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++) {body} }}", tmp_path)
