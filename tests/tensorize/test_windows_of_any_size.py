"""Convolutions whose sizes only the running program knows: samples that the context allows, and when copies pay."""

from __future__ import annotations

import re
from dataclasses import replace

import islpy as isl
import pytest

from polysched.pipeline import analysed
from polysched.pipeline.verified_replacements import verdict_on
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.target import host
from polysched.tensorize.decision import decide
from polysched.tensorize.emission import EmissionOptions
from polysched.tensorize.emission.any_size import emit_for_all_sizes
from polysched.tensorize.options import BY_DEFAULT, TensorizeOptions

CONVOLUTION = """#include <stdint.h>
void convolution(int P, int K, int R, int C, int L, uint8_t Y[P][K], uint8_t X[L][C], int8_t W[R][C][K], int32_t b[K]) {
#pragma scop
  for (int p = 0; p < P; p++)
    for (int k = 0; k < K; k++) {
      int32_t t = b[k];
      for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++)
          t += X[p + r][c] * W[r][c][k];
      t = t > 0 ? (t + 128) >> 8 : 0;
      Y[p][k] = t > 255 ? 255 : t;
    }
#pragma endscop
}
"""
PRODUCT = """#include <stdint.h>
void product(int m, int n, int q, int32_t C[m][n], uint8_t A[m][q], int8_t B[q][n]) {
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < q; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
WANTED = TensorizeOptions(intrinsic="vpmaddwd", numerics=BY_DEFAULT.numerics)


def convolution() -> Scop:
    """With the context that shapes of arrays give: all windows lie inside of the image."""
    scop = from_c_text(CONVOLUTION)
    inside = isl.Set("[P, R, L] -> { : P + R <= L + 1 }")
    return replace(scop, context=scop.context.intersect(inside))


def test_a_convolution_of_any_size_runs_by_an_instruction() -> None:
    given = convolution()
    prepared = analysed(given, for_instructions=True).dependences.scop
    decision = decide(prepared, WANTED, host())
    assert decision.program is not None, decision.reasons
    program = decision.program
    assert program.general is not None
    samples = program.match.fragment.sizes
    assert samples["L"] >= samples["P"] + samples["R"] - 1
    found = verdict_on(decision, numerics=WANTED.numerics, parallel=False, given=given)
    assert found.outcome.equal, str(found)
    assert len(found.outcome.sizes) >= 2
    assert found.untouched


@pytest.mark.parametrize(("text", "windows"), [(CONVOLUTION, True), (PRODUCT, False)])
def test_copied_windows_have_to_pay_at_the_sizes_of_the_call(text: str, windows: bool) -> None:
    decision = decide(analysed(from_c_text(text), for_instructions=True).dependences.scop, WANTED, host())
    assert decision.program is not None, decision.reasons
    program = decision.program
    assert program.general is not None
    assert (program.ordinary_cycles > 0) == windows
    made = emit_for_all_sizes(program.general, program.match, "f", EmissionOptions(zero=program.zero),
                              least_work=program.least_work, ordinary_cycles=program.ordinary_cycles)
    assert bool(re.search(r"\d \* \(double\)\S+ \* .* >= .* \+ ", made.fits)) == windows


def test_sizes_that_are_stated_do_not_give_way() -> None:
    scop = convolution()
    stated = replace(WANTED, sizes={"L": 40}).sizes_of(scop)
    assert stated["L"] == 40
    assert stated["P"] + stated["R"] <= 41
    assert replace(WANTED, sizes={"L": 4, "P": 40}).sizes_of(scop)["L"] == 4   # there are none; nothing is changed
