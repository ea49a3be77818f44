"""Rows of a sparse matrix run on threads where a test finds that they lie in order, else as they are written."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c.alternatives.row_starts import rows_in_order
from polysched.pipeline import transform_file
from polysched.scop import from_c_text
from polysched.scop.construction.rows_in_order import with_rows_in_order
from tests.emit_c.compiled import load

HEAD = ("void f(int n, const int *restrict p, double *restrict v, const double *restrict d, const int *restrict c, "
        "double *restrict s)")
EACH, ROW = "for (int i = 0; i < n; i++)", "for (int k = p[i]; k < p[i + 1]; k++)"
"""What EACH and ROW stand for in the programs."""

PROGRAMS = {
    "scaled": "EACH ROW v[k] *= d[i];",
    "every third row": "for (int i = 0; 3 * i < n; i++) for (int k = p[3 * i]; k < p[3 * i + 1]; k++)"
                       " v[k] = v[k] / 2 + i;",
    "backwards": "for (int i = n - 1; i >= 0; i--) ROW v[k] = v[k] / 3 + d[i];",
    "with sums": "EACH { double t = 0; for (int k = p[i]; k < p[i + 1]; k++)"
                 " { v[k] += d[i]; t += v[k] * d[c[k]]; } s[i] = t; }",
    "twice": "EACH ROW v[k] += d[i];\n"
             "EACH ROW v[k] /= d[i];",
}
ROWS = 20_000


def source(body: str) -> str:
    return f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n".replace("EACH", EACH).replace("ROW", ROW)


def starts(kind: str, rows: int) -> np.ndarray:
    """Row starts in order, or not."""
    random = np.random.default_rng(3)
    p = np.concatenate(([0], np.cumsum(random.integers(0, 4, rows)))).astype(np.int32)
    if kind == "one row overlaps" and rows > 9:
        p[rows // 2] -= min(7, p[rows // 2])
    if kind == "some begin at the front":
        p[:min(rows, 50):2] = 0
    if kind == "all rows are one" and rows:
        p[:] = [0, 5][rows % 2]
        p[1::2], p[::2] = 5, 0
    return p


@pytest.mark.parametrize("autodetect", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_those_of_the_program_as_written(program: str, autodetect: bool, tmp_path: Path) -> None:
    text = source(PROGRAMS[program])
    text = text.replace("#pragma scop\n", "").replace("#pragma endscop\n", "") if autodetect else text
    file = tmp_path / "rows.c"
    file.write_text(text)
    made = transform_file(file, polysched.PipelineOptions(autodetect=autodetect))
    assert "polysched_rows_0" in made.text
    assert "omp parallel for" in made.text
    new, old = load(made.text, tmp_path), load(text, tmp_path)
    for rows in (0, 1, 2, 31, ROWS):
        for kind in ("in order", "one row overlaps", "some begin at the front", "all rows are one"):
            p, results = starts(kind, rows), []
            for library in (new, old):
                random = np.random.default_rng(rows)
                elements = int(p.max(initial=0)) + 1
                arrays = [random.random(elements) + 1, random.random(rows + 1) + 1,
                          random.integers(0, rows + 1, elements).astype(np.int32), np.zeros(rows + 1)]
                library.f(ctypes.c_int(rows), ctypes.c_void_p(p.ctypes.data),
                          *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
                results.append(arrays)
            for changed, expected in zip(*results, strict=True):
                np.testing.assert_array_equal(changed, expected)


def test_the_test_stays_small_where_rows_alone_are_too_few_for_threads() -> None:
    made = with_rows_in_order(from_c_text(source(PROGRAMS["scaled"])))
    assert made is not None
    (assumption,) = made.assumptions
    test = rows_in_order(made, assumption, "rows", least_rows=100)
    assert test.condition == "rows"
    assert test.before[0] == "_Bool rows = (long)n >= 100;"
    assert "if (rows) {" in test.before
    other = with_rows_in_order(from_c_text(source(PROGRAMS["scaled"] + "\nEACH s[i] = d[i];")))
    assert other is not None
    assert rows_in_order(other, assumption, "rows", least_rows=100).before[0] == "_Bool rows = 1;"


def test_the_number_of_rows_may_be_a_choice() -> None:
    text = source("for (int i = 0; i < n; i++) if (i < m) ROW v[k] *= d[i];").replace("(int n,", "(int n, int m,")
    made = with_rows_in_order(from_c_text(text))
    assert made is not None
    (assumption,) = made.assumptions
    test = rows_in_order(made, assumption, "rows", least_rows=100)
    assert "?" in test.before[0]
    assert test.before[0].startswith("_Bool rows = (")
    assert test.before[0].endswith(") >= 100;")


def test_a_marked_region_tests_its_rows_and_says_nothing_of_them(caplog: pytest.LogCaptureFixture, tmp_path: Path
                                                                ) -> None:
    file = tmp_path / "rows.c"
    file.write_text(source(PROGRAMS["scaled"]))
    made = transform_file(file, polysched.PipelineOptions(guard=False))
    assert "polysched_rows_0 &= " in made.text
    assert "takes for granted" not in caplog.text


def test_rows_that_nothing_can_look_at_stay_in_one_thread(tmp_path: Path) -> None:
    file = tmp_path / "rows.c"
    file.write_text("void f(int n, int m, const int *restrict p, const int *restrict length, double *restrict v, "
                    "double *restrict w)\n{\n#pragma scop\n"
                    f"{EACH} {ROW} v[k] = v[k] * v[k] + 1;\nif (m > 3) for (int j = 0; j < *length; j++) w[j] += 1;\n"
                    "#pragma endscop\n}\n")
    made = transform_file(file, polysched.PipelineOptions())
    assert "if ((long)m >= 4) {" in made.text, "`*length` can be read"
    rows, _, _ = made.text.partition("while (k < p[i + 1])")
    assert "omp parallel" not in rows
    assert not any("lie in order" in why for region in made.regions for why in region.source.fallbacks)
