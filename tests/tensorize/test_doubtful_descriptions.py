"""Descriptions that a distrustful user tries: what looks like one is refused, and what is one computes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.errors import PolyschedError
from polysched.pipeline import analysed
from polysched.tensorize import MatchOptions, match
from polysched.tensorize.description.agreement import require_agreement
from polysched.tensorize.matching.facts import Numerics
from tests.tensorize.described import executes, program, unit

LANES, ROWS = "for (int i = 0; i < 8; i++)", "for (int i = 0; i < 19; i++)"
ARRAYS = ("int32_t C[19], int64_t L[19], int16_t a[19], int16_t b[19], int32_t x[60], int32_t y[19], uint32_t u[19], "
          "float f[19], float g[19], float h[19]")
EXACT = MatchOptions(numerics=Numerics(reassociate=False, contract=False, flush=False))
SHORTS, INTS = "int16_t O[8], const int16_t A[8], const int16_t B[8]", "int32_t O[8], const int32_t A[8]"
FLOATS = "float O[8], const float A[8]"
DOUBTFUL = {   # parameters, body, what looks like it, what is it
    "a narrow local": (SHORTS.replace("int16_t O", "int32_t O"), "int16_t t = 0; t += A[i] * B[i]; O[i] += t;",
                       "C[i] += a[i] * b[i];", "C[i] += (int16_t)(a[i] * b[i]);"),
    "an unsigned literal": (INTS, "O[i] += A[i] / 2u;", "C[i] += y[i] / 2;", "C[i] += (unsigned)y[i] >> 1;"),
    "a wide literal": ("int64_t O[8], const int32_t A[8]", "O[i] = A[i] & 0xFFFFFFFF;", "L[i] = y[i];",
                       "L[i] = (unsigned)y[i];"),
    "a window": ("int32_t O[8], const int32_t A[9]", "for (int k = 0; k < 2; k++) O[i] += (k + 1) * A[i + k];",
                 "for (int k = 0; k < 2; k++) C[i] += (k + 1) * x[2 * i + k];",
                 "for (int k = 0; k < 2; k++) C[i] += (1 + k) * x[k + i + 3];"),
    "the other half": (SHORTS, "O[i] = (A[i] * B[i]) >> 16;", "a[i] = a[i] * b[i];",
                       "a[i] = ((long)a[i] * b[i]) / 65536 - (((long)a[i] * b[i]) % 65536 < 0);"),
    "an overflow": (INTS + ", const int32_t B[8]", "O[i] = (A[i] + B[i]) >> 1;", "C[i] = ((long)y[i] + x[i]) >> 1;",
                    "C[i] = (int)((unsigned)y[i] + (unsigned)x[i]) >> 1;"),
    "two types": (INTS + ", const uint32_t B[8]", "O[i] = A[i] < B[i] ? 1 : 0;", "C[i] = (long)y[i] < u[i];",
                  "C[i] = u[i] > y[i];"),
    "a rounded half": (INTS, "O[i] = A[i] >> 1;", "C[i] = y[i] / 2;", "C[i] = y[i] / 2 - (y[i] % 2 < 0);"),
    "a negative zero": (FLOATS, "O[i] = A[i] + 0.0f;", "f[i] = g[i];", "f[i] = 0.0f + g[i];"),
    "a maximum of NaN": (FLOATS + ", const float B[8]", "O[i] = A[i] > B[i] ? A[i] : B[i];",
                         "f[i] = g[i] < h[i] ? g[i] : h[i];", "f[i] = g[i] < h[i] ? h[i] : g[i];"),
    "a cut that doubles": (SHORTS, "O[i] = sat_i16((2 * A[i] * B[i] + 32768) >> 16);",
                           "a[i] = (a[i] * b[i] + 32768) >> 15;", "a[i] = (a[i] * b[i] + 16384) >> 15;")}


@pytest.mark.parametrize("what", DOUBTFUL)
def test_what_looks_like_a_description_is_refused_and_what_is_it_computes_it(what: str, tmp_path: Path) -> None:
    parameters, body, looks_like_it, is_it = DOUBTFUL[what]
    described = unit("doubtful", parameters, f"{LANES} {{ {body} }}")
    for text in (looks_like_it, is_it):
        prepared = analysed(program(ARRAYS, f"{ROWS} {{ {text} }}"), for_instructions=True).dependences
        found = match(prepared.scop, described, EXACT, dependences=prepared)
        assert bool(found.count) == (text == is_it), str(found.matches[0]) if found.count else found.explanations
        if found.count:
            executes(prepared.scop, found, tmp_path)
        else:
            assert "because" in str(found.explanations[0])


@pytest.mark.parametrize(("parameters", "body", "witness"), [
    ("uint8_t O[8], const uint8_t T[16], const uint8_t I[8]", "O[i] = T[I[i]];", "T[I[i]]"),
    (INTS + ", const int32_t B[8]", "O[i] = A[i] << (B[i] & 32);", "A[i] << (B[i] & 32)"),
    (INTS + ", const int32_t B[8]", "O[i] = A[i] / B[i];", "A[i] / B[i]"),
    (INTS + ", const float B[8]", "O[i] = A[i] + B[i];", "A[i] + B[i]")])
def test_what_c_leaves_undefined_is_refused_with_the_sub_expression(parameters: str, body: str, witness: str) -> None:
    with pytest.raises(PolyschedError) as refusal:
        require_agreement(f"void doubtful({parameters}) {{ {LANES} {{ {body} }} }}")
    assert witness in str(refusal.value.witness)
