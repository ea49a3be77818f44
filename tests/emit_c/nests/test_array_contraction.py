"""Temporary arrays become variables and small buffers, and the code computes the same."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c.loop_ir.loops import Local
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.scheduling.primitives.stitch import Stitch
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.nodes import temporaries, vectors

HEAD = "void f(int n, double A[restrict n][n], double B[restrict n][n])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
SIZES = (1, 7, 8, 9, 23)
# Per program, the temporaries that get memory from the heap.
PROGRAMS: dict[str, tuple[str, set[str]]] = {
    "variables": ("""
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double t = A[i][j] * 2;
      double u = t + B[i][j];
      if (u > 1) B[i][j] = u * t; else B[i][j] = t;
      A[i][j] = u - t;
    }""", set()),
    "a small buffer": ("""
  for (int i = 0; i < n; i++) {
    double t[3];
    for (int k = 0; k < 3; k++) t[k] = A[i][0] + k;
    for (int k = 0; k < 3; k++) B[i][0] += t[2 - k] * (k + 1);
  }""", set()),
    "an accumulator": ("""
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++) s += A[i][k] * A[k][j];
      B[i][j] += 2 * s;
    }""", {"s"}),
    "an accumulator that ends in an element": ("""
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++) s += A[i][k] * A[k][j];
      B[i][j] = s;
    }""", set()),
    "carried": ("""
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) { s = 0.5 * s + A[i][j]; B[i][j] = s; }""", set()),
    "a row of unknown length": ("""
  for (int i = 0; i < n; i++) {
    double t[n];
    for (int j = 0; j < n; j++) t[j] = A[i][j] + i;
    for (int j = 0; j < n; j++) B[i][j] = t[n - 1 - j] * A[i][0];
  }""", set()),
    "a row of an array with a fixed length": ("""
  for (int i = 0; i < n; i++) {
    double t[40];
    for (int j = 0; j < n; j++) t[j] = A[i][j] + i;
    for (int j = 0; j < n; j++) B[i][j] = t[n - 1 - j] * A[i][0];
  }""", set()),
    "two rows": ("""
  for (int i = 0; i < n; i++) {
    double last = 1, sum = 0;
    for (int j = 0; j < n; j++) { sum += last * A[i][j]; last = B[i][j]; }
    for (int j = 0; j < n; j++) B[i][j] = sum - A[i][j];
  }""", {"last", "sum"}),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("vector_bits", [0, 256])
def test_transformed_and_original_agree(program: str, vector_bits: int, tmp_path: Path) -> None:
    text = HEAD + PROGRAMS[program][0] + TAIL
    scop = from_c_text(text)
    region = polysched.optimize(scop, polysched.PipelineOptions(vector_bits=vector_bits))
    allocated = set(region.source.allocated)
    placed = temporaries(region.source.loops)
    in_tiles = "s" in placed and bool(placed["s"].kept)    # of the sums that a tile holds
    assert allocated == (set() if in_tiles else PROGRAMS[program][1])
    new = load(f"{HEAD}{region.text}{TAIL}".replace("#pragma scop", "").replace("#pragma endscop", ""), tmp_path)
    old = load(text, tmp_path)
    for n in SIZES:
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random((n, n)) for _ in range(2)]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        for changed, expected in zip(*results, strict=True):
            np.testing.assert_array_equal(changed, expected)


AROUND = """
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t[i][j] = 2 * A[i][j];
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = t[i][j] + A[i][j];"""
AROUND_HEAD = HEAD.replace("{\n#", "{\n  double t[n][n];\n  t[0][0] = 3;\n  (void)t[0][0];\n#")


@pytest.mark.parametrize(("body", "tail", "contracted"), [
    (AROUND, TAIL, True),
    (AROUND.replace("t[i][j] + A[i][j]", "t[0][0] + t[i][j]"), TAIL, False),
    (AROUND.replace("int i = 0", "int i = 1", 1), TAIL, False),
    (AROUND, TAIL.replace("}", "  if (n > 1) A[0][0] += t[1][1];\n}"), False),
])
def test_an_array_of_the_function_is_contracted_if_all_of_its_values_are_the_regions(
        body: str, tail: str, contracted: bool, tmp_path: Path) -> None:
    """Not one with a value that all iterations read, that comes from before, or that is read afterwards."""
    text = AROUND_HEAD + body + tail
    made = polysched.optimize(from_c_text(text), polysched.PipelineOptions(vector_bits=256))
    assert ("t" in temporaries(made.source.loops)) == contracted, made.text
    new = made.text
    libraries = [load(t.replace("#pragma scop", "").replace("#pragma endscop", ""), tmp_path)
                 for t in (AROUND_HEAD + new + tail, text)]
    for n in SIZES:
        results = []
        for library in libraries:
            arrays = [np.random.default_rng(n).random((n, n)) for _ in range(2)]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        first = 1 if "int i = 1" in body else 0   # what nobody has set is anything
        for changed, expected in zip(*results, strict=True):
            np.testing.assert_array_equal(changed[first:], expected[first:])


def test_variables_live_in_vector_registers() -> None:
    made = polysched.optimize(from_c_text(HEAD + PROGRAMS["variables"][0] + TAIL),
                              polysched.PipelineOptions(vector_bits=256))
    assert [[t.name for t in tile.private] for tile in vectors(made.source.loops)] == [["t", "u"]]
    text = made.text
    assert re.search(r"polysched_f64x4 t;\n\s*polysched_f64x4 u;\n", text)
    assert re.search(r"double t;\n\s*double u;\n", text)


def test_a_row_of_unknown_length_gets_a_part_of_memory_per_thread() -> None:
    made = polysched.optimize(from_c_text(HEAD + PROGRAMS["a row of unknown length"][0] + TAIL))
    row = temporaries(made.source.loops)["t"]
    assert (row.kept, row.extents, row.memory) == ((1,), (), "t_parts")
    text = made.text
    assert "double *t = t_parts + omp_get_thread_num() * " in text
    assert text.index("omp parallel for") < text.index("double *t = ") < text.index("t[j]")


def test_rows_of_unknown_length_are_as_many_as_a_tile_has(tmp_path: Path) -> None:
    """The part of a thread has 32 rows of n elements, whatever the array has."""
    text = """void f(int n, float A[n][n], float B[n][n])
{
#pragma scop
  float t[n][n];
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t[i][j] = A[i][j] * 2.0f + A[i][0];
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++) B[i][j] += t[i][k] * A[k][j];
#pragma endscop
}
"""
    stitched = polysched.PipelineOptions(steps=(Stitch(dominant="S1", sizes=(32,)),), vector_bits=256)
    made = polysched.optimize(from_c_text(text), stitched)
    rows = temporaries(made.source.loops)["t"]
    assert (rows.kept, rows.spans, rows.memory) == ((0, 1), (32, 0), "t_parts")
    assert "((long)(32) * (long)(" in made.text
    head, _, _ = text.partition("#pragma scop")
    original, ours = load(text, tmp_path, strict=False).f, load(head + made.text + "}\n", tmp_path, strict=False).f
    for n in (1, 2, 31, 32, 33, 70):
        results = []
        for function in (original, ours):
            arrays = [np.random.default_rng(n).random((n, n)).astype(np.float32) for _ in range(2)]
            function(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays[1].tobytes())
        assert results[0] == results[1]


def test_a_row_of_an_array_with_a_fixed_length_needs_no_memory_from_the_heap() -> None:
    source = polysched.optimize(from_c_text(HEAD + PROGRAMS["a row of an array with a fixed length"][0] + TAIL)).source
    row = temporaries(source.loops)["t"]
    assert (row.kept, row.extents, row.memory) == ((1,), (40,), "")
    assert not source.allocated


def test_a_value_that_crosses_iterations_keeps_its_place_outside_the_loops() -> None:
    made = polysched.optimize(from_c_text(HEAD + PROGRAMS["carried"][0] + TAIL), polysched.PipelineOptions(tile="off"))
    assert isinstance(made.source.loops, Local), "around all loops"
    assert [t.array for t in made.source.loops.temporaries] == ["s"]
    assert sum(isinstance(n, Local) for n in walk_nodes(made.source.loops)) == 1


@pytest.mark.parametrize(("first", "rows"), [
    ("int i = 0; i < n", "(long)n <= 0 ? 1 : (long)n"),
    ("int i = 0; i < (n < m ? n : m)",
     "(long)n >= 2 && (long)m >= (long)n + 1 ? (long)n : (long)m >= 2 && (long)n >= (long)m ? (long)m : 1")])
def test_copies_have_elements_also_where_no_loop_runs(first: str, rows: str) -> None:
    """C has no arrays of 0 or -1 rows, and the declaration stands ahead of the loops."""
    region = polysched.optimize(from_c_text(f"""void f(int n, int m, double A[90][90], double B[90][90])
{{
#pragma scop
  for ({first}; i++)
    for (int j = 0; j < m; j++) {{
      double s = 0;
      for (int k = 0; k < m; k++) s += A[i][k] * A[k][j];
      B[i][j] += 2 * s;
    }}
#pragma endscop
}}"""), polysched.PipelineOptions(tile=128, parallel=False))
    assert f"(*s_copies)[(long)m <= 0 ? 1 : (long)m] = (unsigned long)(({rows}) * ((long)m " in region.text
    assert f"aligned_alloc(64, ((unsigned long)(({rows}) * ((long)m " in region.text


def test_the_original_code_does_not_see_the_copies() -> None:
    """It stays as the alternative for want of memory, with the variable that it declares outside the region."""
    text = HEAD.replace("{\n#", "{\n  double s;\n#") + PROGRAMS["an accumulator"][0].replace("double s", "s") + TAIL
    region = polysched.optimize(from_c_text(text), polysched.PipelineOptions(tile=128, parallel=False))
    assert "double (*s_copies)[(long)n] = (unsigned long)" in region.text
    assert "*s)" not in region.text


def test_copies_are_refused_where_they_would_need_too_much_memory() -> None:
    body = """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < n; l++) {
        double s = 0;
        for (int k = 0; k < n; k++) s += A[i][k] * A[k][j] * A[k][l];
        B[i][j] += s;
      }"""
    region = polysched.optimize(from_c_text(HEAD + body + TAIL))
    assert region.unexpanded == ("s",)
    assert "temporary s: one for all iterations" in "\n".join(region.steps())
    assert not region.source.allocated
