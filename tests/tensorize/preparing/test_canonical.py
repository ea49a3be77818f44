"""Programs in other words: each spelling becomes the plain sum and computes the same; what is almost one stays.

Every program is run as written and in its canonical form, and what is left of one statement by the instruction's
emulator, too: bit for bit, on ends of ranges, wrapping sums, and for floats on zeros of both signs and NaN.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.scop.body import Assign, Select, walk
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.emission import EmissionOptions, emit_match
from tests.tensorize.compiled import call, compiled

M, N, K = 5, 17, 24
BYTES = f"int32_t C[{M}][{N}], uint8_t A[{M}][{K}], int8_t B[{K}][{N}]"
FLOATS = f"float C[{M}][{N}], float A[{M}][{K}], float B[{K}][{N}]"
IMAGE = "int32_t C[4][3][17], uint8_t A[4][3][2], int8_t B[3][3][2][17]"
REDUCED = f"for (int k = 0; k < {K}; k++) "
ROWS = f"for (int i = 0; i < {M}; i++) for (int j = 0; j < {N}; j++) "
CLEARED = ROWS + "C[i][j] = 0; "
SUM = "C[i][j] += A[i][k] * B[k][j];"
WINDOW = ("for (int y = 0; y < 4; y++) for (int x = 0; x < 3; x++) for (int o = 0; o < 17; o++) "
          "for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++) for (int c = 0; c < 2; c++) ")
INSIDE = "y + r - 1 >= 0 && y + r - 1 < 4 && x + s - 1 >= 0 && x + s - 1 < 3"


def program(arrays: str, text: str) -> Scop:
    return from_c_text(f"#include <stdint.h>\nvoid f({arrays}) {{\n#pragma scop\n{text}\n#pragma endscop\n}}\n")


def canonical(scop: Scop) -> Scop:
    """The program that commands look for instructions in."""
    return analysed(scop, for_instructions=True).dependences.scop


def loops(*, tile: int, end: str) -> str:
    return ROWS + f"for (int kk = 0; kk < {K}; kk += {tile}) for (int k = kk; k < {end}; k++) {SUM}"


def steps(count: int, *, at: str = "k") -> str:
    """So many iterations, one behind the other."""
    return " ".join(SUM.replace("k]", f"{at} + {n}]") for n in range(count))


SAME: dict[str, tuple[str, str]] = {
    "tiles that divide": (BYTES, loops(tile=8, end="kk + 8")),
    "tiles with a minimum": (BYTES, loops(tile=7, end=f"(kk + 7 < {K} ? kk + 7 : {K})")),
    "tiles with two conditions": (BYTES, loops(tile=7, end=f"kk + 7 && k < {K}")),
    "numbered tiles": (BYTES, ROWS + f"for (int t = 0; t < {K // 8}; t++) "
                       f"for (int k = 8 * t; k < 8 * t + 8; k++) {SUM}"),
    "tiles of two dimensions": (BYTES, f"""for (int jj = 0; jj < {N}; jj += 16) for (int kk = 0; kk < {K}; kk += 8)
        for (int i = 0; i < {M}; i++) for (int j = jj; j < jj + 16 && j < {N}; j++)
        for (int k = kk; k < kk + 8; k++) {SUM}"""),
    "written out": (BYTES, ROWS + f"for (int k = 0; k < {K}; k += 4) {{ {steps(4)} }}"),
    "written out in a scalar": (BYTES, ROWS + f"""{{ int32_t t = C[i][j]; for (int k = 0; k < {K}; k += 3) {{
        t += A[i][k] * B[k][j]; t += A[i][k + 1] * B[k + 1][j]; t += A[i][k + 2] * B[k + 2][j]; }} C[i][j] = t; }}"""),
    "several addends": (BYTES, ROWS + f"for (int k = 0; k < {K}; k += 2) "
                        "C[i][j] += A[i][k] * B[k][j] + A[i][k + 1] * B[k + 1][j];"),
    "several addends in tiles": (BYTES, ROWS + f"for (int kk = 0; kk < {K}; kk += 8) "
                                 "for (int k = kk; k < kk + 8; k += 2) "
                                 "C[i][j] = C[i][j] + A[i][k] * B[k][j] + A[i][k + 1] * B[k + 1][j];"),
    "partial sums": (BYTES, ROWS + f"{{ int32_t s = 0, t = 0; for (int k = 0; k < {K}; k += 2) {{ "
                     "s += A[i][k] * B[k][j]; t += A[i][k + 1] * B[k + 1][j]; } C[i][j] = s + t; }"),
    "four partial sums": (BYTES, ROWS + "{ int32_t s = C[i][j], t = 0, u = 0, v = 0; "
                          f"for (int k = 0; k < {K}; k += 4) {{ "
                          "s += A[i][k] * B[k][j]; t += A[i][k + 1] * B[k + 1][j]; u = u + A[i][k + 2] * B[k + 2][j]; "
                          "v += A[i][k + 3] * B[k + 3][j]; } C[i][j] = (s + t) + (u + v); }"),
    "the rest in a loop of its own": (BYTES, ROWS + f"{{ for (int k = 0; k < {K - 4}; k += 4) {{ {steps(4)} }} "
                                      f"for (int k = {K - 4}; k < {K}; k++) {SUM} }}"),
    "the last one alone": (BYTES, ROWS + f"{{ int k; int32_t s = 0, t = 0; for (k = 0; k + 1 < {K - 1}; k += 2) {{ "
                           "s += A[i][k] * B[k][j]; t += A[i][k + 1] * B[k + 1][j]; } "
                           f"for (; k < {K - 1}; k++) s += A[i][k] * B[k][j]; C[i][j] = s + t; }}"),
    "columns written out": (BYTES.replace("17", "18"), f"for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) "
                            "for (int j = 0; j < 18; j += 2) { C[i][j] += A[i][k] * B[k][j]; "
                            "C[i][j + 1] += A[i][k] * B[k][j + 1]; }"),
    "a guard": (BYTES, CLEARED + ROWS + REDUCED + f"if (A[i][k] != 0) {SUM}"),
    "a number as a guard": (BYTES, CLEARED + ROWS + REDUCED + f"if (B[k][j]) {SUM}"),
    "two guards": (BYTES, CLEARED + ROWS + REDUCED + f"if (A[i][k] > 0 && B[k][j] != 0) {SUM}"),
    "either guard": (BYTES, CLEARED + ROWS + REDUCED + f"if (A[i][k] != 0 || B[k][j] != 0) {SUM}"),
    "a guard around a loop": (BYTES, CLEARED + f"for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) "
                              f"if (A[i][k] != 0) for (int j = 0; j < {N}; j++) {SUM}"),
    "continue": (BYTES, CLEARED + ROWS + REDUCED + f"{{ if (A[i][k] == 0) continue; {SUM} }}"),
    "a choice of addends": (BYTES, ROWS + REDUCED +
                            "C[i][j] += A[i][k] == 0 ? 0 : A[i][k] * B[k][j];"),
    "a start inside": (BYTES, ROWS + REDUCED + "C[i][j] = (k == 0 ? 0 : C[i][j]) + A[i][k] * B[k][j];"),
    "a start of another value": (BYTES + f", int32_t b[{N}]", ROWS + REDUCED +
                                 "C[i][j] = (k > 0 ? C[i][j] : b[j]) + A[i][k] * B[k][j];"),
    "padding by a choice": (IMAGE, WINDOW +
                            f"C[y][x][o] += ({INSIDE} ? A[y + r - 1][x + s - 1][c] : 0) * B[r][s][c][o];"),
    "padding by an if": (IMAGE, WINDOW + f"if ({INSIDE}) C[y][x][o] += A[y + r - 1][x + s - 1][c] * B[r][s][c][o];"),
    "converted copies": (BYTES, f"""int32_t X[{M}][{K}], Y[{K}][{N}];
        for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) X[i][k] = A[i][k];
        for (int k = 0; k < {K}; k++) for (int j = 0; j < {N}; j++) Y[k][j] = B[k][j];
        """ + ROWS + REDUCED + "C[i][j] += X[i][k] * Y[k][j];"),
    "a turned and shifted copy": (BYTES, f"""int32_t Y[{N}][{K + 1}];
        for (int k = 0; k < {K}; k++) for (int j = 0; j < {N}; j++) Y[j][k + 1] = B[k][j];
        """ + ROWS + REDUCED + "C[i][j] += A[i][k] * Y[j][k + 1];"),
    "a copy of a copy": (BYTES, f"""int16_t X[{M}][{K}]; int32_t Z[{M}][{K}];
        for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) X[i][k] = A[i][k];
        for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) Z[i][k] = X[i][k];
        """ + ROWS + REDUCED + "C[i][j] += Z[i][k] * B[k][j];"),
    "a copy that somebody else needs": (BYTES + f", int32_t X[{M}][{K}]", f"""
        for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) X[i][k] = A[i][k];
        """ + ROWS + REDUCED + "C[i][j] += X[i][k] * B[k][j];"),
}


def filled(scop: Scop, seed: int) -> dict[str, np.ndarray]:
    """Ends of the ranges, zeros, and as many values between them."""
    chooser = np.random.default_rng(seed)
    arrays = {}
    for array in (a for a in scop.arrays if not a.is_temporary):
        shape = [int(e.max_val().get_num_si()) for e in array.extents]
        if array.dtype.is_float:
            values = np.array([0.0, -0.0, 1.5, -2.0, np.inf, np.nan, 1e-40], array.dtype.name)
            arrays[array.name] = chooser.choice(values, shape)
            continue
        info = np.iinfo(array.dtype.name)
        ends = np.array([info.min, info.min + 1, 0, 0, info.max - 1, info.max])
        between = chooser.integers(info.min, info.max, shape, endpoint=True)
        arrays[array.name] = np.where(chooser.random(shape) < 0.6, chooser.choice(ends, shape), between).astype(
            array.dtype.name)
    return arrays


def after(scop: Scop, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    values = {name: array.copy() for name, array in arrays.items()}
    execute(scop, {}, values, wrap_signed=True)
    return values


def assert_same(left: Mapping[str, np.ndarray], right: Mapping[str, np.ndarray]) -> None:
    for name, array in left.items():
        assert array.tobytes() == right[name].tobytes(), name


@pytest.mark.parametrize("name", SAME)
def test_the_spelling_becomes_the_plain_sum(name: str, tmp_path: Path) -> None:
    scop = program(*SAME[name])
    made = canonical(scop)
    found = match(made, find_intrinsic("vpdpbusd"))
    assert found.count, [str(e) for e in found.explanations]
    assert {t.replace(" + 0", "") for t in found.matches[0].to_json()["operands"].values()} <= {
        "A[i][k]", "B[k][j]", "C[i][j]", "A[y + r - 1][x + s - 1][c]", "B[r][s][c][o]", "C[y][x][o]"}
    function = emit_match(found.matches[0], "f", EmissionOptions(emulated=True, parallel=False))
    library = compiled([function], tmp_path) if len(made.statements) == 1 else None
    for seed in range(2):
        arrays = filled(scop, seed)
        wanted = after(scop, arrays)
        assert_same(wanted, after(made, arrays))
        if library is not None:
            call(library, function, arrays)
            assert_same(wanted, arrays)


ALMOST: dict[str, tuple[str, str]] = {
    "a tile that is named": (BYTES, ROWS + f"for (int kk = 0; kk < {K}; kk += 8) for (int k = kk; k < kk + 8; k++) "
                             "C[i][j] += (A[i][k] + kk) * B[k][j];"),
    "overlapping tiles": (BYTES, ROWS + f"for (int kk = 0; kk < {K - 8}; kk += 4) "
                          f"for (int k = kk; k < kk + 8; k++) {SUM}"),
    "a guard that counts": (BYTES, ROWS + REDUCED + f"if (A[i][k] != 1) {SUM}"),
    "a guard by sign": (BYTES, ROWS + REDUCED + f"if (B[k][j] > 0) {SUM}"),
    "a guard of another element": (BYTES, ROWS + REDUCED + f"if (A[i][0] != 0) {SUM}"),
    "either of two guards is needed": (BYTES, ROWS + REDUCED + f"if (A[i][k] != 0 && B[0][j] != 0) {SUM}"),
    "an addend behind the guard": (BYTES, ROWS + REDUCED +
                                   "if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j] + 1;"),
    "a start in the middle": (BYTES, ROWS + REDUCED +
                              "C[i][j] = (A[i][k] == 0 ? 0 : C[i][j]) + A[i][k] * B[k][j];"),
    "a copy of something else": (BYTES, f"""int32_t X[{M}][{K}];
        for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) X[i][k] = A[i][k];
        X[1][2] = 7;
        """ + ROWS + REDUCED + "C[i][j] += X[i][k] * B[k][j];"),
    "what was copied is written": (BYTES, f"""int32_t X[{M}][{K}];
        for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) X[i][k] = A[i][k];
        A[0][0] = 1;
        """ + ROWS + REDUCED + "C[i][j] += X[i][k] * B[k][j];"),
    "a copy of a part": (BYTES, f"""int32_t X[{M}][{K}];
        for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) X[i][k] = 300;
        for (int i = 0; i < {M}; i++) for (int k = 1; k < {K}; k++) X[i][k] = A[i][k];
        """ + ROWS + REDUCED + "C[i][j] += X[i][k] * B[k][j];"),
    "a copy that wraps": (BYTES.replace("uint8_t A", "int32_t A"), f"""int16_t X[{M}][{K}];
        for (int i = 0; i < {M}; i++) for (int k = 0; k < {K}; k++) X[i][k] = A[i][k];
        """ + ROWS + REDUCED + "C[i][j] += X[i][k] * B[k][j];"),
}


@pytest.mark.parametrize("name", ALMOST)
def test_what_is_almost_the_plain_sum_is_none(name: str) -> None:
    scop = program(*ALMOST[name])
    made = canonical(scop)
    assert match(made, find_intrinsic("vpdpbusd")).count == 0
    for seed in range(2):
        arrays = filled(scop, seed)
        assert_same(after(scop, arrays), after(made, arrays))


def partial(c_type: str, end: str, *, start: str = "0", other: str = "0", more: str = "") -> str:
    return ROWS + (f"{{ {c_type} s = {other}, t = {start}; for (int k = 0; k < {K}; k += 2) {{ s += A[i][k] * B[k][j]; "
                   f"t += A[i][k + 1] * B[k + 1][j]; {more} }} C[i][j] = {end}; }}")


APART: dict[str, tuple[str, str]] = {
    "written out from another row on": (BYTES, ROWS + f"for (int k = 0; k < {K}; k += 2) "
                                        "C[i][j] += A[i][k] * B[k][j] + A[i][k + 1] * B[k][j];"),
    "written out, the last one twice": (BYTES, ROWS + f"for (int k = 0; k < {K - 2}; k += 2) {{ {steps(3)} }}"),
    "an addend of another kind": (BYTES, ROWS + REDUCED + "C[i][j] += A[i][k] * B[k][j] + 1;"),
    "addends of other arrays": (BYTES, ROWS + REDUCED + "C[i][j] += A[i][k] * B[k][j] + A[i][k];"),
    "partial sums of floats": (FLOATS, partial("float", "s + t")),
    "the difference of partial sums": (BYTES, partial("int32_t", "s - t")),
    "a wider sum of partial sums": (BYTES, partial("int32_t", "((long)s + t) >> 32")),
    "a partial sum that starts elsewhere": (BYTES, partial("int32_t", "s + t", start="C[i][j]", other="1")),
    "a partial sum that is seen": (BYTES + f", int32_t D[{M}][{N}]", partial(
        "int32_t", "s + t", more="D[i][j] = t;")),
    "written out backwards": (FLOATS, ROWS + f"for (int k = 0; k < {K}; k += 2) "
                              "{ C[i][j] += A[i][k + 1] * B[k + 1][j]; C[i][j] += A[i][k] * B[k][j]; }"),
}


@pytest.mark.parametrize("name", APART)
def test_what_is_no_further_iteration_stays_apart(name: str) -> None:
    scop = program(*APART[name])
    made = canonical(scop)
    counts = [sorted(s.domain.count_val().to_str() for s in each.statements
                     if any(a.array in "AB" for a in s.accesses)) for each in (made, scop)]
    assert counts[0] == counts[1]
    arrays = filled(scop, 0)
    with np.errstate(invalid="ignore", over="ignore"):
        assert_same(after(scop, arrays), after(made, arrays))


FLOAT_SAME = {
    "tiles": loops(tile=7, end=f"kk + 7 && k < {K}"),
    "written out": ROWS + f"for (int k = 0; k < {K}; k += 4) {{ {steps(4)} }}",
    "addends from left to right": ROWS + f"for (int k = 0; k < {K}; k += 2) "
                                  "C[i][j] = C[i][j] + A[i][k] * B[k][j] + A[i][k + 1] * B[k + 1][j];",
    "a start inside": ROWS + REDUCED + "C[i][j] = (k == 0 ? -0.0f : C[i][j]) + A[i][k] * B[k][j];",
    "a start of another type": ROWS + REDUCED + "C[i][j] = (k == 0 ? 0 : C[i][j]) + A[i][k] * B[k][j];",
}
FLOAT_ALMOST = {   # zero times infinity is no number, and zero added to the negative zero is the positive one
    "a guard": ROWS + REDUCED + f"if (A[i][k] != 0) {SUM}",
    "addends that are added to each other first": ROWS + f"for (int k = 0; k < {K}; k += 2) "
                                                  "C[i][j] += A[i][k] * B[k][j] + A[i][k + 1] * B[k + 1][j];",
    "a choice of addends": ROWS + REDUCED + "C[i][j] += A[i][k] != 0 ? A[i][k] * B[k][j] : 0;",
    "padding by a choice": ROWS + REDUCED + "C[i][j] += (k < i ? A[i][k] : 0) * B[k][j];",
}


@pytest.mark.parametrize("name", [*FLOAT_SAME, *FLOAT_ALMOST])
def test_floats_keep_every_bit(name: str) -> None:
    scop = program(FLOATS, (FLOAT_SAME | FLOAT_ALMOST)[name])
    made = canonical(scop)
    plain = [b for s in made.statements for b in s.body if isinstance(b, Assign) and len(list(walk(b.value))) <= 5]
    assert bool(plain) is (name in FLOAT_SAME)   # one product, and for `=` the old value
    with np.errstate(invalid="ignore", over="ignore"):
        for seed in range(3):
            arrays = filled(scop, seed)
            assert_same(after(scop, arrays), after(made, arrays))


def test_a_guard_that_keeps_reads_inside_an_array_stays() -> None:
    """The rows of B are known, their number is not: what stands behind the guard need not exist."""
    text = ROWS + REDUCED + f"if (A[i][k]) {SUM}"
    scop = program(f"int32_t C[{M}][{N}], uint8_t A[{M}][{K}], int8_t (*B)[{N}]", text)
    assert match(canonical(scop), find_intrinsic("vpdpbusd")).count == 0


def test_what_a_position_keeps_from_being_read_stays_unread() -> None:
    """Without the choice row -1 of A would be read, which the access relation does not know."""
    choice = "(i != 0 && B[k][j] != 0) ? i * A[i - 1][k] * B[k][j] : 0"
    scop = program(BYTES, ROWS + REDUCED + f"C[i][j] += {choice};")
    made = canonical(scop)
    assert any(isinstance(e, Select) for s in made.statements for b in s.body if isinstance(b, Assign)
               for e in walk(b.value))
    arrays = filled(scop, 0)
    assert_same(after(scop, arrays), after(made, arrays))


def test_a_program_in_plain_words_stays_as_it_is() -> None:
    scop = program(BYTES, ROWS + REDUCED + SUM)
    assert canonical(scop).statements[0].domain.is_equal(scop.statements[0].domain)


def test_what_is_done_is_told_in_words(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        canonical(program(*SAME["tiles that divide"]))
    told = [line for line in caplog.messages if "compared with instructions" in line]
    assert told == ["function f: compared with instructions, it is read with a loop over tiles and the loop inside it "
                    "as one loop"]
