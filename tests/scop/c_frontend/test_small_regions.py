"""Regions without loops, without statements, and with declarations that outlive them, through every room."""

import ctypes

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import emit, splice
from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling import ALGORITHMS
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.serialise import scop_to_json
from polysched.target import find_compiler
from polysched.tiling import TilingOptions, tile

REGIONS = {
    "empty": ("", "the region has no statement that ever runs"),
    "no iteration": ("for (int i = 3; i < 2; i++) x[i] = 0;", "the region has no statement that ever runs"),
    "straight": ("x[0] = 2; x[1] = x[0];", None),
    "endless": ("for (;;) { x[0] += 1; if (x[0] > 7) break; }", "the loop `for (; ; )` is kept whole"),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", REGIONS)
def test_small_regions_go_through_every_room(name, algorithm):
    code, note = REGIONS[name]
    text = f"void f(double x[2]) {{\n#pragma scop\n{code}\n#pragma endscop\n}}\n"
    scop = from_c_text(text)
    assert len(scop.notes) == (note is not None)
    assert note is None or (note in scop.notes[0] and note in str(scop) and note in scop_to_json(scop)["notes"][0])
    dependences = analyse(scop)
    source = emit(tile(ALGORITHMS[algorithm](dependences), TilingOptions()))
    assert bool(source.text) == bool(scop.statements)
    again = splice(text, [source]).replace("void f(double x[2]) {\n", "void f(double x[2]) {\n#pragma scop\n")
    emitted = from_c_text(again[:again.rindex("}")] + "\n#pragma endscop\n}\n")
    given, expected = np.array([1.0, 5.0]), np.array([1.0, 5.0])
    execute(emitted, {}, {"x": given})
    execute(scop, {}, {"x": expected})
    np.testing.assert_array_equal(given, expected)
    for value in (scop, dependences, source.tiled):
        assert value._repr_html_()


OUTLIVING = """
static double u = -1;
double f(int n, double B[n], double *C) {
#pragma scop
  const int m = n - 1;
  double t[5], q = 0;
  for (int i = 0; i < 5; i++) t[i] = B[i] + m;
  for (int i = 0; i < m; i++) { double s = 0; s += B[i] * C[i]; C[i] += s; q += s; }
#pragma endscop
  double s = q;
  return t[3] + m + s + u;
}
"""


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize("memory", [False, True])
def test_declarations_that_outlive_the_region(tmp_path, guard, memory):
    """With and without a guard (both of its branches), and with and without memory for copies of s."""
    (tmp_path / "f.c").write_text(OUTLIVING)
    text = transform_file(tmp_path / "f.c", PipelineOptions(guard=guard)).text
    refusing = "#include <stddef.h>\nstatic void *no_memory(size_t a, size_t n) { return 0; }\n"
    if not memory:
        assert "aligned_alloc(64, " in text
        text = refusing + text.replace("void *aligned_alloc(unsigned long, unsigned long);", "").replace(
            "aligned_alloc(", "no_memory(")
    (tmp_path / "g.c").write_text(text)
    results = []
    for name in ("f", "g"):
        library = tmp_path / f"{name}.so"
        done = find_compiler().run(["-w", "-fopenmp", "-shared", "-fPIC", "-o", str(library),
                                    str(tmp_path / f"{name}.c")])
        assert done.returncode == 0, done.stderr
        function = ctypes.CDLL(str(library)).f
        function.restype = ctypes.c_double
        b, c = np.arange(9.0), np.ones(9)
        at = [a.ctypes.data_as(ctypes.c_void_p) for a in (b, c)]
        results.append((function(9, *at), b.tolist(), c.tolist()))
        if guard:
            results[-1] += (function(9, at[0], at[0]), b.tolist())
    assert results[0] == results[1]
