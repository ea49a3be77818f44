"""Ranges of subscripts by interval arithmetic: they hold whatever the region uses, for any signs of sizes."""

from __future__ import annotations

import ctypes
import itertools
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c.scalar_code.intervals import Interval, has_interval
from polysched.pipeline import transform_file
from polysched.scop import from_c_text
from polysched.scop.scop import Access, Scop
from tests.emit_c.compiled import load

COMPUTED = ["i * n + j", "(i * n + j) / m", "i * (j - 3) + m", "i * n + j * m", "3 - i * n", "(j + n) / 4 * i"]
REFUSED = ["i * n * m", "i * n % 7", "i * n + j * m + i * m", "(i * n + j) / (m + 1)", "(long)l * i * 2"]


def access_to_w(subscript: str) -> tuple[Scop, Access]:
    scop = from_c_text("void f(int n, int m, long l, float *restrict y, const float *restrict w) {\n#pragma scop\n"
                       " for (int i = 0; i < 5; i++)\n  for (int j = 0; j < n; j++)\n"
                       f"   y[j] += w[{subscript}];\n#pragma endscop\n}}\n")
    (statement,) = scop.statements
    return scop, next(a for a in statement.accesses if a.array == "w")


@pytest.mark.parametrize("subscript", COMPUTED)
def test_the_range_holds_every_value(subscript: str, tmp_path: Path) -> None:
    scop, access = access_to_w(subscript)
    (statement,) = scop.statements
    assert has_interval(statement, access.subscripts[0])
    interval = Interval(scop, statement, "part")
    low, high = interval.ends(access.subscripts[0])
    library = load("void ends(int n, int m, long *found) {\n" + "\n".join(interval.lines)
                   + f"\nfound[0] = {low};\nfound[1] = {high};\n}}\n", tmp_path)
    for n, m in itertools.product((1, 2, 9), (-3, -1, 1, 2, 5)):
        found = (ctypes.c_long * 2)()
        library.ends(n, m, found)
        values = [eval(subscript.replace("/", "//"), {"i": i, "j": j, "n": n, "m": m}) if "/" not in subscript else
                  truncated(subscript, i, j, n, m) for i in range(5) for j in range(n)]
        assert found[0] <= min(values), (n, m)
        assert max(values) <= found[1], (n, m)


def truncated(subscript: str, i: int, j: int, n: int, m: int) -> int:
    """The quotient of the examples, rounded towards zero."""
    if "m" in subscript:
        return int((i * n + j) / m)
    return (j + n) // 4 * i


@pytest.mark.parametrize("subscript", REFUSED)
def test_what_might_overflow_or_has_no_range_is_refused(subscript: str) -> None:
    scop, access = access_to_w(subscript)
    assert not has_interval(scop.statements[0], access.subscripts[0])


def test_products_in_groups_run_on_threads_where_nothing_overlaps(tmp_path: Path) -> None:
    """After llama2.c's product of quantised matrices."""
    text = """void f(int n, int d, int GS, float *out, const signed char *x, const signed char *w, const float *s) {
  for (int i = 0; i < d; i++) {
    float val = 0;
    int ival = 0, in = i * n, j;
    for (j = 0; j <= n - GS; j += GS) {
      for (int k = 0; k < GS; k++)
        ival += x[j + k] * w[in + j + k];
      val += (float)ival * s[(in + j) / GS] * s[j / GS];
      ival = 0;
    }
    out[i] = val;
  }
}
"""
    path = tmp_path / "groups.c"
    path.write_text(text)
    made = transform_file(path, polysched.PipelineOptions(autodetect=True)).text
    assert "omp parallel for" in made
    assert "aligned_alloc" not in made
    results = []
    for library in (load(text, tmp_path), load(made, tmp_path)):
        found = []
        for n, d, size, at in ((128, 300, 32, 0), (128, 3, 32, 40), (100, 300, 33, 7), (0, 5, 8, 0), (64, 400, 64, 2)):
            made_up = np.random.default_rng(n)
            x, w = (made_up.integers(-9, 9, max(count, 1)).astype(np.int8) for count in (n, n * d))
            floats = made_up.random(60_000).astype(np.float32)
            start = floats.ctypes.data
            out = ctypes.c_void_p(start + 4 * (40_000 if at == 0 else at))   # beside the factors, or among them
            library.f(n, d, size, out, ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(w.ctypes.data),
                      ctypes.c_void_p(start))
            found.append(floats)
        results.append(found)
    for new, old in zip(*results, strict=True):
        np.testing.assert_array_equal(new, old)
