"""A loop that isl cannot unroll is emitted as it is, and the fallback says so."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.emit_c import emit
from polysched.scheduling import original, pluto
from polysched.scheduling.steps import Peel, Step, Unroll, Vectorize, replay
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile
from tests.emit_c.nodes import for_loops

NOT_UNROLLED = ("full and partial tiles share their loops, and isl unrolls none of them: "
                "a loop to be unrolled has no single lower bound")
COUNTED = """void f(int n, float A[n + 2]) {
#pragma scop
    for (int i = 0; i <= n - 1; i++)
        A[i] += 0.25f + 0.125f * A[i + 2];
#pragma endscop
}"""
TWO_NESTS = """void f(int n, unsigned short A[2], unsigned B[n + 4], unsigned C[3], unsigned char out[1]) {
    unsigned char s = out[0];
#pragma scop
    for (int i = n - 3; i >= 2; i--) {
        if ((i + 2) % 2 == 0 && -n + 1 >= 0)
            B[i + 4] = 3u;
        s = 5u * s + 5u * s + 3u * s;
    }
    for (int i = 0; i <= 0; i += 2)
        for (int j = 0; j <= i; j++) {
            for (int k = 2; k <= i + 2; k++) {
                C[0] += 1 + 3u * A[j] + 3u * A[i + 1] + 5u;
                if (i - j >= 0)
                    B[2 * i + 3] = B[i + 3] - 5u * (k + 1) + C[k];
            }
            for (int k = (1 > j ? 1 : j); k <= i + 2; k += 2) {
                s = 3u * s;
                C[i + 1] = 5u * B[-i + n] + 3u * j;
            }
        }
#pragma endscop
    out[0] = s;
}"""
PEELED = (Peel(loop=0, count=1, where="last"), Peel(loop=0, count=1, where="first"), Vectorize(loop=2),
          Unroll(loop=1, factor=2))


@pytest.mark.parametrize(("text", "algorithm", "steps"), [
    (COUNTED, original, (Unroll(loop=0, factor=3),)), (TWO_NESTS, pluto, PEELED)], ids=["counted", "two nests"])
def test_a_loop_without_a_single_lower_bound_stays(text: str, algorithm, steps: tuple[Step, ...]) -> None:
    schedule = replay(algorithm(analyse(from_c_text(text))), steps)
    source = emit(tile(schedule, TilingOptions(sizes="off")))
    assert source.fallbacks == (NOT_UNROLLED,)
    assert for_loops(source.loops)
