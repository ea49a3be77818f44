"""Regions found beside macros that hide loops, brackets or statements: the whole file runs as it did."""

import ctypes

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import all_from_c_file
from tests.scop.c_frontend.compiled_c import compile_library

MACROS = """
#define TWICE for (int r = 0; r < 2; r++)
#define UNLESS(c) if (!(c))
#define FIRST(x) x[0] = 7;
#define SWAP(a, b) { double t = a; a = b; b = t; }
#define BOTH(first, second) first second
#define CLOSE }
#define BEGIN(n, at, \\
              most) { int blocks = most; if ((n) < most) { blocks = (n); } \\
                      if (blocks > 0) { at = blocks - 1; } blocks = blocks + 0;
#define BLOCKS(k) for (k = 0; k < blocks; k++) {
#define END }}
"""
PROGRAMS = {
    "a loop in front of the loop": ("TWICE for (int k = 0; k < n; k++) x[k] += k;", 0),
    "a condition in front of the loop": ("UNLESS(n > 3) for (int k = 0; k < n; k++) x[k] += k;", 1),
    "a statement behind the loop": ("for (int k = 0; k < n; k++) FIRST(x) x[1] += 3;", 0),
    "a bracket that a macro closes": ("for (int k = 0; k < n; k++) { x[k] += k; CLOSE { x[1] += 3; }", 0),
    "a loop as an argument": ("BOTH(x[0] += 3;, for (int k = 0; k < n; k++) x[k] += k;)", 1),
    "whole statements inside": ("for (int k = 0; k < n; k++) { SWAP(x[k], y[k]) }", 1),
    "a whole loop inside": ("for (int k = 0; k < n; k++) { TWICE x[k] += k; }", 1),
    "a macro over several lines": ("int at = 0, k;\nBEGIN(n, at,\n      2);\nBLOCKS(k)\nx[k] = y[k] + at;\nEND", 0),
    "a label inside": ("for (int k = 0; k < n; k++) { x[k] += k; on: x[k] += 1; }", 1),
    "a label in front of a loop inside": ("for (int k = 0; k < n; k++) { x[k] += k; on: TWICE { x[k] += 1; } }", 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_macros_hide_stays(name, tmp_path):
    body, region_count = PROGRAMS[name]
    text = f"{MACROS}void f(int n, double *restrict x, double *restrict y) {{\n{body}\n}}\n"
    given = tmp_path / "given.c"
    given.write_text(text)
    try:
        result = transform_file(given, PipelineOptions(autodetect=True))
    except UnsupportedScopError:
        assert not region_count
        return
    assert len(result.regions) == region_count
    results = []
    for at, code in enumerate((text, result.text)):
        x, y = np.arange(40.0), np.arange(40.0)[::-1].copy()
        compile_library(code, f"version{at}", tmp_path).f(5, *(ctypes.c_void_p(a.ctypes.data) for a in (x, y)))
        results.append(np.concatenate((x, y)))
    np.testing.assert_array_equal(*results)


def test_the_name_of_a_header_in_its_own_text_hides_nothing(tmp_path, monkeypatch):
    """Names of headers are spelled in another way where the text with marks is read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "where.h").write_text("static const char *where(void) { return __FILE__; }\n")
    (tmp_path / "in.c").write_text('#include "sub/where.h"\nvoid f(int n, int *x) {\n'
                                   "  for (int i = 0; i < n; i++)\n    x[i] = i;\n}\n")
    assert len(all_from_c_file("in.c", autodetect=True)) == 1
