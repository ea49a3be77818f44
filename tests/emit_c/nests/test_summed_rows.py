"""Rows that are added to one row, several at a time."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.nodes import for_loops

HEAD = ("void f(int m, int n, double A[restrict m][n], double x[restrict m], double y[restrict n], "
        "double w[restrict m])\n{\n#pragma scop\n")
TAIL = "\n#pragma endscop\n}\n"
COLUMNS = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[j] += A[i][j] * x[i];"
TOGETHER = {
    "sums of columns": COLUMNS,
    "several of them": "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { y[j] += A[i][j] * x[i]; "
                       "y[j] = y[j] - w[i]; }",
    "from inner bounds on": COLUMNS.replace("j = 0", "j = 3").replace("i = 0", "i = 2"),
    "largest values": "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[j] = y[j] > A[i][j] ? y[j] : A[i][j];",
    "rows also summed": COLUMNS + "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) w[i] += A[i][j] * y[j];",
}
ONE_BY_ONE = {
    "nothing is added to": "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) A[i][j] += x[i];",
    "rows begin elsewhere": COLUMNS.replace("j = 0", "j = i"),
    # In blocks of rows, y[j] at a later i would be there before y[j + 1] at an earlier one reads it.
    "rows wait for neighbours further along": """for (int i = 1; i < m; i++) for (int j = 0; j < n - 1; j++) {
        y[j] = y[j] * 0.5 + x[i]; A[i][j] = y[j] + A[i - 1][j + 1]; }""",
}
# In the order of the source, where rows of the scheduler's own order would be skewed.
WAITING = {
    "what is summed up waits": """for (int i = 1; i < m; i++) for (int j = 0; j < n - 1; j++) {
        y[j] = y[j] * 0.5 + x[i]; A[i][j] = y[j] + A[i - 1][j + 1]; }""",
    "only what is read does": """for (int i = 1; i < m; i++) for (int j = 0; j < n - 1; j++) {
        y[j] += A[i - 1][j + 1]; A[i][j] = x[i]; }""",
}
SIZES = [(m, n) for m in (1, 2, 7, 8, 9, 15, 17, 26) for n in (1, 3, 4, 5, 8, 30, 261)]


def _emitted(body: str, vector_bits: int = 256, scheduler: str = "pluto") -> CSource:
    scop = from_c_text(HEAD + body + TAIL)
    return polysched.optimize(scop, polysched.PipelineOptions(vector_bits=vector_bits, scheduler=scheduler)).source


def _is_together(made: CSource) -> bool:
    """Whether a loop over rows does eight of them, of which the loop inside does each."""
    return any(loop.step == 8 and loop.variable in ("i_rows", "j_rows") for loop in for_loops(made.loops))


@pytest.mark.parametrize("case", [*TOGETHER, *ONE_BY_ONE])
@pytest.mark.parametrize("vector_bits", [128, 256])
def test_rows_added_to_one_row_go_several_at_a_time(case: str, vector_bits: int, tmp_path: Path) -> None:
    body = {**TOGETHER, **ONE_BY_ONE}[case]
    made = _emitted(body, vector_bits)
    assert _is_together(made) is (case in TOGETHER), made.text
    _assert_same_results(made.text, body, tmp_path)


@pytest.mark.parametrize("case", WAITING)
def test_rows_wait_for_neighbours_further_along(case: str, tmp_path: Path) -> None:
    """Only the dependences tell; all else is as it is in rows that go together."""
    made = _emitted(WAITING[case], scheduler="original")
    assert not _is_together(made), made.text
    _assert_same_results(made.text, WAITING[case], tmp_path)
    turned = WAITING[case].replace("A[i - 1][j + 1]", "A[i - 1][j]")
    assert _is_together(_emitted(turned, scheduler="original"))


def _assert_same_results(text: str, body: str, tmp_path: Path) -> None:
    new = load(HEAD.replace("#pragma scop\n", "") + text + "}\n", tmp_path)
    old = load(HEAD + body + TAIL, tmp_path)
    for m, n in SIZES:
        results = []
        for library in (new, old):
            random = np.random.default_rng(1000 * m + n)
            arrays = [random.random((m, n)), random.random(m), random.random(n), random.random(m)]
            library.f(ctypes.c_int(m), ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        for mine, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(mine, theirs, err_msg=f"{m} x {n}")


def test_what_is_summed_up_is_loaded_once_for_all_rows() -> None:
    text = _emitted(COLUMNS).text
    block = text[text.index("i_rows += 8"):]
    assert block.index("y_0 = ") < block.index("i < i_rows + 8") < block.index("y_0 += ") < block.index("= y_0;"), text
