"""Loops on a team of threads or plain: both branches compute the same, and only short loops stand twice."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import emit
from polysched.emit_c.c_source import EmitOptions
from polysched.emit_c.scalar_code import region_branches
from polysched.emit_c.splice import splice
from polysched.scheduling.marks import LoopMark
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.marked_trees import marked

TEXT = """void f(int n, float A[n], float B[n]) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    {body}
  }}
#pragma endscop
}}
"""
BODY = "A[i] = A[i] + 2.0f * B[i];"
LOOP = (("i", LoopMark(parallel=True, simd=True, least_work=100)),)


def test_a_plain_loop_runs_where_there_is_too_little_for_a_team(tmp_path: Path) -> None:
    text = TEXT.format(body=BODY)
    source = emit(marked(from_c_text(text), LOOP))
    team, alone = source.text.split("} else {")
    assert "if ((double)n >= 100) {\n  #pragma omp parallel for simd\n" in team
    assert "parallel" not in alone
    assert alone.startswith("\n  #pragma omp simd\n  for (")
    ours = load(splice(text, [source]), tmp_path).f
    for n in (0, 1, 99, 100, 101, 317):
        a, b = np.random.default_rng(n).standard_normal((2, n)).astype(np.float32)
        expected = a + np.float32(2) * b
        ours(ctypes.c_int(n), ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data))
        np.testing.assert_allclose(a, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("most", "twice"), [(2, True), (1, False)])
def test_long_loops_stand_once_and_have_a_clause(most: int, twice: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region_branches, "MOST_LINES", most)
    text = emit(marked(from_c_text(TEXT.format(body=BODY)), LOOP)).text
    assert ("if(parallel: " in text) is not twice, text
    assert text.count("#pragma omp parallel for") == 1
    assert text.count("for (long") == 1 + twice


def test_without_threads_there_is_one_loop() -> None:
    text = emit(marked(from_c_text(TEXT.format(body=BODY)), LOOP), options=EmitOptions(openmp=False)).text
    assert text.count("for (") == 1
    assert "if" not in text
