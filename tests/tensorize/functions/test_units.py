"""Units of several stages: a group of statements against an instruction, computed tile by tile by its own code."""

from __future__ import annotations

import platform
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import splice
from polysched.errors import RunFailedError, WrongResultError
from polysched.pipeline import PipelineOptions, analysed
from polysched.pipeline.way import optimized_region
from polysched.scop import from_c_text
from polysched.tensorize.called import call_function
from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand, Register
from polysched.tensorize.functions.tilings import with_counts
from polysched.tensorize.functions.units import has_partial_sum, match_unit
from polysched.tensorize.options import TensorizeOptions
from polysched.tensorize.probes import executes_here
from polysched.tensorize.registry import find_intrinsic
from tests.tensorize.compiled import AS_WRITTEN
from tests.tensorize.functions.replaced import region, same_results

REGISTER = Register(c_type="void *", load="load({register}, {pointer});", store="store({pointer}, {register});")


def unit(text: str, operands: str) -> Intrinsic:
    """An instruction that no machine has."""
    return Intrinsic(name="unit", section="none", cost=Cost(issue_cycles=1, latency_cycles=4), semantics=text,
                     isa=Isa(name="imagined", machine="none", manual="none"), template="unit();",
                     operands=tuple(Operand(name=n, register=REGISTER) for n in operands.split()))


RELU = unit("""
void dot_relu(int32_t O[4], const int32_t bias[4], const uint8_t A[8], const int8_t B[4][8]) {
    for (int i = 0; i < 4; i++) {
        int32_t t = bias[i];
        for (int k = 0; k < 8; k++)
            t += A[k] * B[i][k];
        O[i] = t > 0 ? t : 0;
    }
}""", "O bias A B")
REQUANTISE = unit("""
void requantise(int8_t O[4], const int16_t A[8], const int16_t B[8][4], const int32_t scale[4]) {
    for (int i = 0; i < 4; i++) {
        int32_t t = 0;
        for (int k = 0; k < 8; k++)
            t += A[k] * B[k][i];
        int32_t r = (t * scale[i] + 512) >> 10;
        O[i] = r > 127 ? 127 : r < -128 ? -128 : r;
    }
}""", "O A B scale")
LAYER = ("int m, int n, int q, uint8_t A[m][q], int8_t W[q][n], int32_t b[n], int32_t C[m][n]", """
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
        int32_t s = b[j];
        for (int k = 0; k < q; k++) s += A[i][k] * W[k][j];
        C[i][j] = s < 0 ? 0 : s;
    }""")
ROWS = ("int m, int n, int q, uint8_t A[m][q], int8_t W[n][q], int32_t b[n], int32_t C[m][n]", """
for (int i = 0; i < m; i++) {
    int32_t s[64];
    for (int j = 0; j < n; j++) s[j] = b[j];
    for (int k = 0; k < q; k++) for (int j = 0; j < n; j++) s[j] += W[j][k] * A[i][k];
    for (int j = 0; j < n; j++) C[i][j] = s[j] > 0 ? s[j] : 0;
}""")
BYTES = ("int m, int n, int16_t A[m][8], int16_t W[8][n], int32_t f[n], int8_t C[n][m]", """
for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
        int32_t t = 0;
        for (int k = 0; k < 8; k++) t += W[k][j] * A[i][k];
        t = (f[j] * t + 512) >> 10;
        if (t > 127) t = 127;
        if (t < -128) t = -128;
        C[j][i] = t;
    }""")
HEAD = "#include <stdint.h>\n"
LANES = Register(c_type="__m256i", load="{register} = _mm256_loadu_si256((const void *)({pointer}));",
                 store="_mm256_storeu_si256((void *)({pointer}), {register});")
FOUR = Register(c_type="__m256i", load="{ long long four; __builtin_memcpy(&four, {pointer}, 8); "
                                       "{register} = _mm256_set1_epi64x(four); }")
ROW = Register(c_type="const int16_t *", load="{register} = (const int16_t *)({pointer});")
SUMS = ", ".join(f"_mm256_madd_epi16({{A}}, _mm256_loadu_si256((const void *)({{B}} + {at})))" for at in (0, 16))
NATIVE = Intrinsic(
    name="fours_relu", section="vol. 2B, VPMADDWD", cost=Cost(issue_cycles=1, latency_cycles=12),
    isa=Isa(name="avx2", machine="x86_64", manual="Intel SDM", headers=("immintrin.h",), flags=("-mavx2",)),
    semantics="""
void fours_relu(int32_t O[8], const int32_t bias[8], const int16_t A[4], const int16_t B[8][4]) {
    for (int i = 0; i < 8; i++) {
        int32_t t = bias[i];
        for (int k = 0; k < 4; k++)
            t += A[k] * B[i][k];
        O[i] = t > 0 ? t : 0;
    }
}""", operands=(Operand(name="O", register=LANES), Operand(name="bias", register=LANES),
                Operand(name="A", register=FOUR), Operand(name="B", register=ROW)),
    template=f"{{O}} = _mm256_max_epi32(_mm256_add_epi32({{bias}}, _mm256_permute4x64_epi64(_mm256_hadd_epi32({SUMS}), "
             "0xD8)), _mm256_setzero_si256());")
FOURS = ("int m, int n, int16_t A[m][4], int16_t W[4][n], int32_t b[n], int32_t C[m][n]",
         LAYER[1].replace("k < q", "k < 4"))
PAIRS = unit("""
void pairs(int16_t O[4], const int16_t bias[4], const uint8_t A[2], const int8_t B[4][2]) {
    for (int i = 0; i < 4; i++) {
        int32_t t = bias[i];
        for (int k = 0; k < 2; k++)
            t += A[k] * B[i][k];
        O[i] = sat_i16(t);
    }
}""", "O bias A B")
SATURATED = ("int m, int n, uint8_t A[m][2], int8_t W[2][n], int16_t b[n], int16_t C[m][n]", """
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
        int32_t s = b[j];
        for (int k = 0; k < 2; k++) s += A[i][k] * W[k][j];
        C[i][j] = s > 32767 ? 32767 : s < -32768 ? -32768 : s;
    }""")


def data(text: str, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Random numbers that no sum leaves its type with."""
    from polysched.scop.interpreter import extents_of
    chooser = np.random.default_rng(5)
    found = {}
    for array in from_c_text(text).arrays:
        if array.storage.value == "argument":
            dtype = np.dtype(array.dtype.name)
            ends = (-100, 100) if np.iinfo(dtype).min else (0, 100)
            found[array.name] = chooser.integers(*ends, tuple(extents_of(array, sizes))).astype(dtype)
    return found


ONE = LAYER[0], LAYER[1].replace("A[i][k]", "A[i][0]")   # an operand that is copied may hold one element many times


@pytest.mark.parametrize(("described", "program"), [
    (RELU, LAYER), (RELU, ROWS), (REQUANTISE, BYTES), (RELU, ONE), (PAIRS, SATURATED)],
    ids=["packed", "in place", "requantised", "one element", "two terms, a function of the language"])
@pytest.mark.parametrize("sizes", [{"m": 3, "n": 8, "q": 8}, {"m": 5, "n": 12, "q": 8}, {"m": 2, "n": 7, "q": 8},
                                   {"m": 3, "n": 9, "q": 8}], ids=["3x8", "5x12", "2x7", "3x9"])
def test_groups_of_statements_become_calls(described: Intrinsic, program: tuple[str, str], sizes: dict[str, int],
                                           tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = region(*program, HEAD)
    used = {n: v for n, v in sizes.items() if f"int {n}" in program[0]}
    monkeypatch.setattr(TensorizeOptions, "unit", lambda _: described)
    made = optimized_region(from_c_text(text), PipelineOptions(**AS_WRITTEN, tensorize=TensorizeOptions(
        intrinsic="unit", sizes=used)), {})
    other = splice(text, [made.source])
    assert "by the description's own code" in " ".join(made.instructions), made.instructions
    assert ("polysched_B[4][8];" in other) == (program in (LAYER, ONE))
    assert ("polysched_sat_i16(" in other) == (described is PAIRS)
    same_results(text, other, data(text, used), used, tmp_path)


@pytest.mark.parametrize(("described", "program"), [(RELU, LAYER), (RELU, ROWS), (REQUANTISE, BYTES)],
                         ids=["packed", "in place", "requantised"])
def test_the_running_program_knows_the_sizes(described: Intrinsic, program: tuple[str, str], tmp_path: Path,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole tiles by the unit, as many as there are, the rest by ordinary code; sums have the unit's length."""
    text = region(*program, HEAD)
    monkeypatch.setattr(TensorizeOptions, "unit", lambda _: described)
    made = optimized_region(from_c_text(text), PipelineOptions(**AS_WRITTEN, tensorize=TensorizeOptions(
        intrinsic="unit", sizes={"q": 8} if "int q" in program[0] else {})), {})
    other = splice(text, [made.source])
    assert ") / 4)" in other, made.instructions
    for sizes in ({"m": 3, "n": 3}, {"m": 1, "n": 4}, {"m": 5, "n": 17}, {"m": 2, "n": 31}):
        used = sizes | ({"q": 8} if "int q" in program[0] else {})
        same_results(text, other, data(text, used), used, tmp_path)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the unit is one of x86_64")
def test_a_unit_is_computed_by_its_instructions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = region(*FOURS, HEAD)
    monkeypatch.setattr(TensorizeOptions, "unit", lambda _: NATIVE)
    made = optimized_region(from_c_text(text), PipelineOptions(
        tensorize=TensorizeOptions(intrinsic="unit"), **AS_WRITTEN), {})
    other = splice(text, [made.source])
    assert '__attribute__((target("avx2"))) static void fours_relu_native(' in other, made.instructions
    assert "if (polysched_has_avx2())" in other
    assert "fours_relu_chosen(" in made.text
    sizes = {"m": 3, "n": 21}
    same_results(text, other, data(text, sizes), sizes, tmp_path)
    elsewhere = re.sub(r"if \(polysched_has_avx2\(\)\)", "if (0)", other)   # as on a processor without them
    same_results(text, elsewhere, data(text, sizes), sizes, tmp_path)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the unit is one of x86_64")
def test_instructions_unlike_the_text_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(NATIVE, template=NATIVE.template.replace("max_epi32", "min_epi32"))
    monkeypatch.setattr(TensorizeOptions, "unit", lambda _: wrong)
    if not executes_here(NATIVE):
        pytest.skip("this machine has no AVX2, so that only the text runs")
    with pytest.raises(WrongResultError, match="has to be"):
        optimized_region(from_c_text(region(*FOURS, HEAD)), PipelineOptions(**AS_WRITTEN, tensorize=TensorizeOptions(
            intrinsic="unit")), {})


PIECES = unit("""
void pieces(int64_t C[4], const uint8_t A[4][2], const int16_t B[4][2]) {
    for (int i = 0; i < 4; i++) {
        int16_t t = 0;
        for (int k = 1; k >= 0; k--)
            t += A[i][k] * B[i][k];
        C[i] += t;
    }
}""", "C A B")
IN_PIECES = ("int m, int q, int64_t *called, int64_t *C, const uint8_t *A, const int16_t *B", """
for (int i = 0; i < m; i++)
    for (int q0 = 0; q0 < q; q0 += 2) {
        int16_t t = 0;
        for (int k = q0 + 1; k >= q0; k--) t += A[i * 40 + k] * B[i * 40 + k];
        C[i] += t;
    }""")


@pytest.mark.parametrize("given", [{}, {"m": 9}, {"q": 6}, {"m": 9, "q": 6}], ids=str)
def test_sizes_may_have_any_sign(given: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum in pieces that starts at its last elements, its number of pieces known or not; nothing runs below zero."""
    text = region(*IN_PIECES, HEAD).replace("#pragma scop", "*called += 1;\n#pragma scop")
    monkeypatch.setattr(TensorizeOptions, "unit", lambda _: PIECES)
    made = optimized_region(from_c_text(text), PipelineOptions(**AS_WRITTEN, tensorize=TensorizeOptions(
        intrinsic="unit", sizes=given)), {})
    other = splice(text, [made.source])
    assert "by the description's own code" in " ".join(made.instructions), made.instructions
    chooser = np.random.default_rng(6)
    arrays = {"called": np.zeros(1, np.int64), "C": chooser.integers(-9, 9, 20),
              "A": chooser.integers(0, 256, 800).astype(np.uint8),
              "B": chooser.integers(-300, 300, 800).astype(np.int16)}
    for sizes in ({"m": 9, "q": 6}, {"m": 13, "q": 40}, {"m": 3, "q": 5}, {"m": -70, "q": 6}, {"m": 9, "q": -900},
                  {"m": -1, "q": -1}, {"m": 0, "q": 0}):
        same_results(text, other, arrays, sizes, tmp_path)


SIZES = {"m": 3, "n": 8, "q": 8}
NEAR = {
    "a longer sum": (LAYER, {"q": 16}, "the sum over k has 16 terms and dot_relu adds 8: what ends the sum"),
    "fewer than a tile": (LAYER, {"n": 3}, "loop j has 3 iterations and dot_relu takes 4 at once"),
    "an unknown length of the sum": (LAYER, {"q": 0}, "the sum over k has a number of terms that is not known"),
    "another threshold": ((LAYER[0], LAYER[1].replace("s < 0 ? 0 : s", "s < 1 ? 0 : s + 1")), {},
                          "the program computes"),
    "another start": ((LAYER[0], LAYER[1].replace("s = b[j]", "s = b[j] + 1")), {}, "the program computes"),
    "another type": ((LAYER[0].replace("int8_t W", "int16_t W"), LAYER[1]), {}, "the program computes"),
    "another subscript": ((LAYER[0], LAYER[1].replace("A[i][k]", "A[i][j]")), {},
                          "the program computes (b[4j + j0] + (A[i, 4j + j0] *"),
    "an element that need not exist": ((LAYER[0].replace("int32_t b[n]", "int32_t *b"), LAYER[1].replace(
        "s = b[j]", "s = A[i][0] > 3 ? b[j] : 0")), {}, "nothing says that the elements exist elsewhere"),
    "a sum that is read": ((f"{LAYER[0]}, int32_t D[m][n]", LAYER[1].replace("C[i][j] =", "D[i][j] = s; C[i][j] =")),
                           {}, "it leaves values in C, D"),
    "the order changed": ((LAYER[0], LAYER[1].replace("s += A", "s = (s < 0 ? 0 : s) + A")), {},
                          "the program computes (select((b[4j + j0] < 0), 0,"),
}


@pytest.mark.parametrize("name", NEAR)
def test_what_is_nearly_the_unit_is_refused(name: str) -> None:
    program, changed, why = NEAR[name]
    sizes = {n: v for n, v in (SIZES | changed).items() if v}
    dependences = analysed(from_c_text(region(*program, HEAD)), for_instructions=True).dependences
    made = call_function(dependences, RELU, TensorizeOptions(intrinsic="unit", sizes=sizes))
    assert made.program is None
    assert made.reasons
    assert why in " ".join(made.reasons), made.reasons


@pytest.mark.parametrize(("assumed", "sizes", "tiles"), [
    ("", {"m": 3, "n": 21}, 2), ("", {"m": 50, "n": 7}, 0), ("", {"m": 3, "n": 24, "other": 5}, 3),
    ("", {"m": 3}, None), ("n >= 4000", {"m": 3, "n": 21}, None), ("n > m", {"m": 50, "n": 7}, None)])
def test_numbers_of_whole_tiles_follow_from_sizes_that_the_program_allows(
        assumed: str, sizes: dict[str, int], tiles: int | None) -> None:
    text = region(FOURS[0], f"{f'__builtin_assume({assumed});' if assumed else ''}{FOURS[1]}", HEAD)
    dependences = analysed(from_c_text(text), for_instructions=True).dependences
    made = call_function(dependences, NATIVE, TensorizeOptions(intrinsic="unit"))
    assert made.program is not None
    counted = with_counts(made.program.match.scop, sizes)
    assert counted == (None if tiles is None else sizes | {"polysched_tiles_n_8": tiles})


def test_a_program_that_allows_none_of_the_sizes_tried_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TensorizeOptions, "unit", lambda _: NATIVE)
    text = region(FOURS[0], f"__builtin_assume(n >= 4000);{FOURS[1]}", HEAD)
    with pytest.raises(RunFailedError) as refusal:
        optimized_region(from_c_text(text), PipelineOptions(
        tensorize=TensorizeOptions(intrinsic="unit"), **AS_WRITTEN), {})
    assert "the program allows none of the sizes tried" in str(refusal.value)


@pytest.mark.parametrize("name", ["vpopcntd", "vcvtph2ps", "vdpbf16ps", "mma_16x16x8_tf32"])
def test_texts_that_are_no_functions_are_refused_in_words(name: str) -> None:
    """Short floats and counted bits ended the transformation of a file in which nothing matched."""
    scop = from_c_text(region("int R[40], int X[40]", "for (int x = 0; x < 40; x++) R[x] += X[x];"))
    found = match_unit(analysed(scop, for_instructions=True).dependences, find_intrinsic(name))
    assert not found.matches
    assert "the text is not read as a function" in found.reasons[0]
    assert not has_partial_sum(find_intrinsic(name))
