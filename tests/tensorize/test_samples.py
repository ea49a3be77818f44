"""Samples give way to instructions that hold whole sums, and to these alone."""

from __future__ import annotations

import pytest

from polysched.scop import from_c_text
from polysched.tensorize import Intrinsic, find_intrinsic
from polysched.tensorize.samples import samples_of_whole_sums
from tests.tensorize.described import unit

WHOLE = unit("whole", "int32_t C[4], const int16_t A[4][6], const int16_t B[6]",
             "for (int i = 0; i < 4; i++) { int32_t t = 0; for (int k = 0; k < 6; k++) t += A[i][k] * B[k]; "
             "C[i] = t; }")
PART = unit("part", "int32_t C[4], const int16_t A[4], const int16_t B[4]",
            "for (int i = 0; i < 4; i++) C[i] += A[i] * B[i];")
TEXT = """void f(int m, int q, int p, int C[m], short A[m][q + p], short B[q + p]) {{
#pragma scop
    for (int i = 0; i < m; i++) {{ C[i] = 0; for (int k = 0; k < {end}; k++) C[i] += A[i][k] * B[k]; }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(("intrinsics", "end", "unknown", "found"), [
    ([WHOLE], "q", "mqp", {"q": 6}), ([PART, WHOLE], "q", "mqp", {"q": 6}), ([PART], "q", "mqp", {}),
    ([WHOLE], "q", "m", {}), ([WHOLE], "q + p", "mqp", {"q": 6, "p": 6}), ([WHOLE], "5", "mqp", {}),
    ([find_intrinsic("cblas_sgemm")], "q", "mqp", {})])
def test_lengths_of_sums_fit_one_execution(intrinsics: list[Intrinsic], end: str, unknown: str,
                                           found: dict[str, int]) -> None:
    sizes = dict.fromkeys("mqp", 1024)
    assert samples_of_whole_sums(from_c_text(TEXT.format(end=end)), intrinsics, sizes, unknown) == found
    assert samples_of_whole_sums(from_c_text(TEXT.format(end=end)), intrinsics, dict.fromkeys("mqp", 6), unknown) == {}
