"""What a marked region takes for granted without a test is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.pipeline.files import optimize, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.promises import told_promises
from polysched.scop import from_c_text

WALK = """
void f(int n, float *p, float *restrict z) {
#pragma scop
  for (int i = 0; i < n; i++)
    *p++ = 2 * z[i];
  *p = 1;
#pragma endscop
}
"""
PLAIN = """
void f(int n, float *p, float *z) {
#pragma scop
  for (int i = 0; i < n; i++)
    p[i] = 2 * z[i];
#pragma endscop
}
"""


def told(text: str, **options: object) -> str:
    return told_promises(from_c_text(text, path="in.c"), PipelineOptions(**options)) or ""  # type: ignore[arg-type]


def test_a_pointer_behind_a_loop_without_iterations_is_told() -> None:
    assert "takes for granted: in.c:6: `0 <= n`" in told(WALK)
    assert "--guard" in told(WALK)


def test_memory_that_must_not_overlap_is_what_the_pragma_says() -> None:
    assert not told(PLAIN)


@pytest.mark.parametrize("guard", [True, False])
def test_who_chose_is_told_nothing(guard: bool) -> None:
    assert not told(WALK, guard=guard)


def test_what_a_test_cannot_tell_is_told() -> None:
    rows = """
    void f(int n, int m, double **a, double **b, int *k) {
    #pragma scop
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
          a[k[i]][j] = b[i][j];
    #pragma endscop
    }
    """
    assert "no test at run time can tell" in told(rows, guard=True)


def test_the_line_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "walk.c"
    path.write_text(WALK)
    transform_file(path)
    assert "takes for granted" in caplog.text
    caplog.clear()
    optimize(path)
    assert "takes for granted" in caplog.text
    caplog.clear()
    transform_file(path, PipelineOptions(guard=True))
    assert "takes for granted" not in caplog.text


def test_what_the_code_always_tests_is_not_told() -> None:
    assert not told("""void f(int n, int s, int k, int *m, double *restrict d, double c[n][9]) {
    #pragma scop
      for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
          if (j < *m) d[i * s + j] += c[i][0];
    #pragma endscop
    }
    """)
