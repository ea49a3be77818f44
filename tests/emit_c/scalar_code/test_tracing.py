"""The trace mode prints macro calls and no pragmas."""

from __future__ import annotations

from polysched.emit_c import EmitOptions, emit
from polysched.tiling import TilingOptions, tile
from tests.schedules import original_of

TEXT = """void f(int n, float A[n][n], float B[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
      A[i][j - 1] = B[i][j];
#pragma endscop
}
"""


def test_macros_stand_for_pragmas_and_name_source_iterators() -> None:
    schedule = original_of(TEXT)
    source = emit(tile(schedule, TilingOptions(sizes="off")), options=EmitOptions(trace="TRACE", comments=False))
    assert source.text == """TRACE_begin(1);
for (long i = 0; i < n; i++) {
  TRACE_iteration(1);
  TRACE_begin(2);
  for (long j = 1; j < n; j++) {
    TRACE_iteration(2);
    TRACE_0((long)i, (long)j);
    A[i][j - 1] = B[i][j];
  }
  TRACE_end(2);
}
TRACE_end(1);
"""
