"""Which loops over elements apart are unrolled by the compiler, and that the results stay."""

from __future__ import annotations

import ctypes
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_c.nests.strided_loops import COPIES
from polysched.pipeline import transform_file
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

HEAD = ("double exp(double);\nvoid f(int n, int s, double a[restrict n][s], double b[restrict n][s], "
        "double c[restrict 2 * n], double r[restrict 2])")
UNROLLED = {
    "a column": "for (int i = 0; i < n; i++) a[i][0] += 3 * b[i][0];",
    "a recurrence along a column": "for (int i = 1; i < n; i++) a[i][0] = a[i - 1][0] / 2 + c[i];",
    "every other element": "for (int i = 0; i < n; i++) c[2 * i] = c[2 * i] / 7 + 1;",
    "a ring of every other element": "for (int i = 0; i < n; i++) c[2 * ((i + 1) % n)] = i;",
}
LEFT = {
    "along memory": "for (int i = 1; i < n; i++) c[i] = c[i - 1] / 3 + b[i][0];",
    "a sum of a column": "for (int i = 0; i < n; i++) r[0] += a[i][0];",
    "a call": "for (int i = 0; i < n; i++) a[i][0] = exp(a[i][0]);",
    "a branch": "for (int i = 0; i < n; i++) if (b[i][0] > 1) a[i][0] = 2;",
    "a known length": "for (int i = 0; i < 9; i++) a[i][0] += 3 * b[i][0];",
    "many operands": "for (int i = 1; i < n - 1; i++) a[i][0] = a[i - 1][0] + b[i][0] * b[i - 1][0] * b[i + 1][0]"
                     " + c[i - 1] * c[i] * c[i + 1] * a[i + 1][0];",
}


def source(body: str) -> str:
    return f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def emitted(body: str) -> CSource:
    return polysched.optimize(from_c_text(source(body)), polysched.PipelineOptions(simd=False, tile="off")).source


def factors(made: CSource) -> set[int]:
    return {node.mark.unroll for node in walk_nodes(made.loops) if isinstance(node, For)}


@pytest.mark.parametrize("body", UNROLLED.values(), ids=UNROLLED)
def test_short_loops_over_elements_apart(body: str) -> None:
    made = emitted(body)
    assert COPIES in factors(made)
    assert f"#pragma GCC unroll {COPIES}\n" in made.text


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_other_loops_stay(body: str) -> None:
    assert factors(emitted(body)) <= {1}


def test_no_pragma_stands_between_openmp_and_its_loop() -> None:
    lines = [line.strip() for line in emitted(UNROLLED["a column"]).text.splitlines()]
    for before, line in pairwise(lines):
        assert not (before.startswith("#pragma omp") and line.startswith("#pragma GCC"))


def test_a_bound_with_a_choice_is_no_bound_that_gcc_unrolls(tmp_path: Path) -> None:
    file = tmp_path / "steps.c"
    file.write_text("void f(int n, int s, int *restrict c) {\n#pragma scop\n  for (int j = s; j < n; j += s)\n"
                    "    c[j]++;\n#pragma endscop\n}\n")
    text = transform_file(file, polysched.PipelineOptions()).text
    assert "/ (long)s" in text
    assert "GCC unroll" not in text


@pytest.mark.parametrize("body", UNROLLED.values(), ids=UNROLLED)
def test_results(body: str, tmp_path: Path) -> None:
    text, made = source(body), emitted(body)
    assert not made.preamble
    new, old = load(f"{HEAD}\n{{\n{made.text}}}\n", tmp_path), load(text, tmp_path)
    for n in (0, 1, 2, 7, 8, 9, 16, 23):
        for s in (1, 3):
            results = []
            for library in (new, old):
                random = np.random.default_rng(n)
                arrays = [random.random(size) for size in (n * s, n * s, 2 * n, 2)]
                library.f(ctypes.c_int(n), ctypes.c_int(s), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
                results.append(arrays)
            for changed, expected in zip(*results, strict=True):
                np.testing.assert_array_equal(changed, expected)
