"""Statements that add to the same elements: each by an instruction, one after the other, where nobody looks between."""

from __future__ import annotations

import pytest

from polysched.fuzz.checking import Plan, Subject, check, prepare
from polysched.fuzz.configuration import Configuration
from polysched.measure.programs.inputs import WHOLE
from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.target import find_compiler
from polysched.tensorize import Matches, MatchOptions, find_intrinsic, match
from polysched.tensorize.matching.facts import Numerics

SIZES = {"n": 5, "m": 7}
FLOATS = "float C[n][19][2], float A[n][m][2], float B[m][19][2], float D[n][19][m]"
BYTES = "int32_t C[n][19][2], uint8_t A[n][m][2], int8_t B[m][19][2], int32_t D[n][19][m]"
EACH = "for (int i = 0; i < n; i++) for (int j = 0; j < 19; j++) for (int k = 0; k < m; k++)"
FIRST, SECOND = "C[i][j][0] += A[i][k][0] * B[k][j][0];", "C[i][j][0] += A[i][k][1] * B[k][j][1];"
COMPLEX = (f"{EACH} {{ {FIRST} C[i][j][0] -= A[i][k][1] * B[k][j][1]; C[i][j][1] += A[i][k][0] * B[k][j][1]; "
           "C[i][j][1] += A[i][k][1] * B[k][j][0]; }")
WHOLE_PROGRAM = f"""for (int i = 0; i < n; i++) for (int j = 0; j < 19; j++) {{
    C[i][j][0] = 3;
    for (int k = 0; k < m; k++) {{ {FIRST} C[i][j][0] += k; C[i][j][0] += A[i][k][1] * B[k][j][1] + 2 * A[i][k][0] *
                                   (B[k][j][1] >> 1); }}
    D[i][j][0] = C[i][j][0] * 2;
}}"""
IN_ONE = {   # a statement that adds several products
    "complex": ("float c[5][19], float d[5][19], float a[5][7], float b[5][7], float x[7][19], float y[7][19]",
                f"{EACH} {{ c[i][j] += a[i][k] * x[k][j] - b[i][k] * y[k][j]; d[i][j] += a[i][k] * y[k][j] + b[i][k] * "
                "x[k][j]; }", "cblas_sgemm", {"S0", "S0_2", "S1", "S1_2"}),
    "scaled": (BYTES, f"{EACH} C[i][j][0] = C[i][j][0] - (A[i][k][0] * B[k][j][0] - A[i][k][1] * (B[k][j][1] >> 1)) + "
                      "k;", "vpdpbusd", {"S0_2"}),   # the other one's factor is -B, which no byte holds
}
IN_ONE_REFUSED = {
    "reads the sum": (FLOATS, f"{EACH} C[i][j][0] += A[i][k][0] * B[k][j][0] + C[i][k][0] * B[k][j][1];",
                      "fma_f32_avx512", "its other iterations write"),
    "cut off": (BYTES, f"{EACH} C[i][j][0] = (int16_t)(C[i][j][0] + A[i][k][0] * B[k][j][0] + A[i][k][1] * B[k][j][1]"
                       ");", "vpdpbusd", "one statement per product"),
    "of strided arrays": (FLOATS, f"{EACH} C[i][j][0] += A[i][k][0] * B[k][j][0] + A[i][k][1] * B[k][j][1];",
                          "cblas_sgemm", "one statement per product: the update adds 2 terms"),
}
ONE_BY_ONE = {   # the same, and why not
    "read between": (FLOATS, f"{EACH} {{ {FIRST} D[i][j][k] = C[i][j][0]; {SECOND} }}", "fma_f32_avx512",
                     "loop k carries a dependence between S2 and S1 on C"),
    "read behind": (FLOATS, f"{EACH} {{ {FIRST} {SECOND} D[i][j][k] = C[i][j][0]; }}", "fma_f32_avx512",
                    "loop k carries a dependence between"),
    "scaled between": (FLOATS, f"{EACH} {{ {FIRST} C[i][j][0] *= 2; {SECOND} }}", "fma_f32_avx512",
                       "loop k carries a dependence between"),
    "cut off": (BYTES, f"{EACH} {{ {FIRST} C[i][j][0] = (int16_t)(C[i][j][0] + A[i][k][1]); }}", "vpdpbusd",
                "loop k carries a dependence between"),
    "a factor of itself": (FLOATS, f"{EACH} {{ {FIRST} C[i][j][0] += C[i][j][0] * A[i][k][1]; }}", "fma_f32_avx512",
                           "loop k carries a dependence between"),
}


def text(name: str, arrays: str, region: str) -> str:
    return (f"#include <stdint.h>\nvoid {name}(int n, int m, {arrays})\n{{\n#pragma scop\n{region}\n"
            "#pragma endscop\n}\n")


def matched(program: str, name: str, numerics: Numerics) -> Matches:
    dependences = analysed(from_c_text(program), for_instructions=True).dependences
    return match(dependences.scop, find_intrinsic(name), MatchOptions(numerics=numerics), dependences=dependences,
                 sizes=SIZES)


def test_every_sum_is_computed_on_its_own() -> None:
    used = Configuration(scheduler="original", expand=True, parallel=False, intrinsic="vpdpbusd")
    prepared = prepare("f", text("f", BYTES, WHOLE_PROGRAM), [used], recipe=WHOLE, schedules=False)
    assert isinstance(prepared, Subject)
    assert prepared.versions[1].text.count(" by vpdpbusd */") == 4   # three products, and k as a sum of k * 1
    assert check([prepared], {"f": Plan(run=({"n": 37, "m": 41},), small=())}, compiler=find_compiler()) == []


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_what_is_seen_of_the_order_is_kept(name: str) -> None:
    arrays, region, unit, why = ONE_BY_ONE[name]
    found = matched(text("f", arrays, region), unit, Numerics())
    assert found.count == 0, str(found.matches[0])
    assert why in "\n".join(map(str, found.explanations))


@pytest.mark.parametrize("name", IN_ONE)
def test_every_product_of_a_sum_is_a_statement(name: str) -> None:
    arrays, region, unit, statements = IN_ONE[name]
    found = matched(text("f", arrays, region), unit, Numerics())
    assert {m.fragment.statement.name for m in found.matches} == statements
    assert not any(m.apart for m in found.matches) or unit == "cblas_sgemm"
    assert unit == "vpdpbusd" or not matched(text("f", arrays, region), unit, Numerics(reassociate=False)).count


@pytest.mark.parametrize("name", IN_ONE_REFUSED)
def test_products_stay_together_where_that_counts(name: str) -> None:
    arrays, region, unit, why = IN_ONE_REFUSED[name]
    found = matched(text("f", arrays, region), unit, Numerics())
    assert found.count == 0, str(found.matches[0])
    assert why in "\n".join(map(str, found.explanations))


def test_sums_of_floats_change_places_with_leave_only() -> None:
    found = matched(text("f", FLOATS, COMPLEX), "fma_f32_avx512", Numerics())
    assert {m.fragment.statement.name for m in found.matches} == {"S0", "S1", "S2", "S3"}
    assert "float additions of several statements may be reordered" in found.matches[0].assumptions
    assert not matched(text("f", FLOATS, COMPLEX), "fma_f32_avx512", Numerics(reassociate=False)).count
