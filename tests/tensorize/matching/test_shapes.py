"""Programs whose iterations are a triangle, and instructions that compute one: isl says what padding is computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.scop.scop import Scop
from polysched.tensorize.matching.facts import Numerics
from tests.tensorize.described import executes, matched, programs_of, unit

LOWER, STRICT = "for (int i = 0; i < 8; i++) for (int k = 0; k <= i; k++) ", "for (int i = 0; i < 8; i++) " \
    "for (int k = 0; k < i; k++) "
UNITS = {u.name: u for u in (
    unit("scan", "int32_t Y[8], const int32_t X[8]", LOWER + "Y[i] += X[k];"),
    unit("strict", "int32_t Y[8], const int32_t X[8]", STRICT + "Y[i] += X[k];"),
    unit("largest", "int32_t Y[8], const int32_t X[8]", LOWER + "Y[i] = Y[i] > X[k] ? Y[i] : X[k];"),
    unit("causal", "int32_t Y[8], const int32_t X[8], const int32_t W[8]", LOWER + "Y[i] += X[i - k] * W[k];"),
    unit("triangle", "float Y[8], const float L[8][8], const float X[8]", LOWER + "Y[i] += L[i][k] * X[k];"))}
ARRAYS = "int32_t y[24], int32_t x[24], int32_t w[24], float f[8], float l[8][8], float g[8]"
MATCHED = {   # body, unit
    "itself": (LOWER + "y[i] += x[k];", "scan"),
    "the sum outside": ("for (int k = 0; k < 8; k++) for (int i = k; i < 8; i++) y[i] += x[k];", "scan"),
    "a condition": ("for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) if (k <= i) y[i] += x[k];", "scan"),
    "a choice": ("for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) y[i] += k <= i ? x[k] : 0;", "scan"),
    "from one": ("for (int i = 1; i <= 8; i++) for (int k = 0; k < i; k++) y[i - 1] += x[k];", "scan"),
    "shorter": ("for (int i = 0; i < 5; i++) for (int k = 0; k <= i; k++) y[i] += x[k];", "scan"),
    "blocks": ("for (int b = 0; b < 3; b++) " + LOWER + "y[8 * b + i] += x[8 * b + k];", "scan"),
    "without its own": (STRICT + "y[i] += x[k];", "strict"),
    "without its own, from one": ("for (int i = 1; i < 8; i++) for (int k = 1; k <= i; k++) y[i] += x[k - 1];",
                                  "strict"),
    "a running maximum": (LOWER + "y[i] = x[k] < y[i] ? y[i] : x[k];", "largest"),
    "a causal filter": ("for (int k = 0; k < 8; k++) for (int j = 0; j + k < 8; j++) y[j + k] += x[j] * w[k];",
                        "causal"),
    "floats": (LOWER + "f[i] += l[i][k] * g[k];", "triangle"),
}
REFUSED = {   # body, unit, words
    "its own, too": (LOWER + "y[i] += x[k];", "strict", "no box"),
    "the other triangle": ("for (int i = 0; i < 8; i++) for (int k = i; k < 8; k++) y[i] += x[k];", "scan", "no box"),
    "a longer one": ("for (int i = 0; i < 16; i++) for (int k = 0; k <= i; k++) y[i] += x[k];", "scan", "no box"),
    "a box": ("for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) y[i] += x[k];", "scan", "computes nothing at"),
    "a running minimum": (LOWER + "y[i] = x[k] > y[i] ? y[i] : x[k];", "largest", "does not have the form"),
    "fewer of a running maximum": ("for (int i = 0; i < 8; i++) for (int k = 0; k <= i && k < 3; k++) "
                                   "y[i] = x[k] < y[i] ? y[i] : x[k];", "largest", "counts"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    texts = {name: (ARRAYS, case[0]) for name, case in (*MATCHED.items(), *REFUSED.items())}
    return programs_of(texts, tmp_path_factory.mktemp("shapes"))


@pytest.mark.parametrize("name", MATCHED)
def test_a_triangle_is_computed_by_a_triangle(name: str, programs: dict[str, Scop], tmp_path: Path) -> None:
    executes(programs[name], matched(programs[name], UNITS[MATCHED[name][1]]), tmp_path)


def test_no_zero_meets_an_infinity_where_the_instruction_computes_nothing(programs: dict[str, Scop]) -> None:
    strict = Numerics(reassociate=False, contract=False, flush=False, narrow=False, finite=False)
    (found,) = matched(programs["floats"], UNITS["triangle"], numerics=strict).matches
    assert not found.takes_zeros
    assert not found.assumptions


@pytest.mark.parametrize("name", REFUSED)
def test_other_shapes_are_refused(name: str, programs: dict[str, Scop]) -> None:
    _, by, words = REFUSED[name]
    found = matched(programs[name], UNITS[by])
    assert found.count == 0, str(found.matches[0])
    assert words in "\n".join(map(str, found.explanations))
