"""Products with a start and an end: bias, activation and requantisation run behind the instruction, bit for bit.

The sum is a scalar of the program, or an element of an array; what is done with it stays a statement of its own.
"""

from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.program import tensorize
from tests.tensorize.compiled import call, compiled

ROWS = "for (int i = 0; i < 5; i++) for (int j = 0; j < 17; j++) "
SUM = "for (int k = 0; k < 9; k++) s += A[i][k] * B[k][j]; "
BYTES = "uint8_t A[5][9], int8_t B[9][17], int32_t b[17]"
SIGNED = BYTES.replace("uint8_t", "int8_t")
PROGRAMS = {
    "bias and clamp": (BYTES + ", uint8_t O[5][17]", ROWS + "{ int32_t s = b[j]; " + SUM +
                       "s = s < 0 ? 0 : s; s >>= 7; O[i][j] = s > 255 ? 255 : s; }"),
    "rounded requantisation": (BYTES + ", int8_t O[5][17], int32_t m[17]", ROWS + "{ int32_t s = 0; " + SUM +
                               "int64_t t = (int64_t)(s + b[j]) * m[j]; t = (t + 1073741824L) >> 31; "
                               "O[i][j] = t > 127 ? 127 : t < -128 ? -128 : t; }"),
    "of signed bytes": (SIGNED + ", int8_t O[5][17]", ROWS + "{ int32_t s = b[j]; " + SUM +
                        "s = (s + 64) >> 7; O[i][j] = s > 127 ? 127 : s < -128 ? -128 : s; }"),
    "in an array": (BYTES + ", int32_t C[5][17], uint8_t O[5][17]", ROWS + "{ C[i][j] = b[j]; " +
                    SUM.replace("s +=", "C[i][j] +=") + "O[i][j] = C[i][j] < 0 ? 0 : C[i][j] > 255 ? 255 : C[i][j]; }"),
    "guarded, written out": (BYTES + ", uint8_t O[5][17]", ROWS + "{ int32_t s = b[j]; "
                             "for (int k = 0; k < 9; k += 3) { "
                             "if (A[i][k]) s += A[i][k] * B[k][j]; if (A[i][k + 1]) s += A[i][k + 1] * B[k + 1][j]; "
                             "if (A[i][k + 2]) s += A[i][k + 2] * B[k + 2][j]; } O[i][j] = s < 0 ? 0 : s; }"),
    "a convolution": ("uint8_t A[4][3][2], int8_t B[3][3][2][17], int32_t b[17], uint8_t O[4][3][17]",
                      "for (int y = 0; y < 4; y++) for (int x = 0; x < 3; x++) for (int o = 0; o < 17; o++) { "
                      "int32_t s = b[o]; for (int r = 0; r < 3; r++) for (int q = 0; q < 3; q++) "
                      "for (int c = 0; c < 2; c++) "
                      "if (0 <= y + r - 1 && y + r - 1 < 4 && 0 <= x + q - 1 && x + q - 1 < 3) "
                      "s += A[y + r - 1][x + q - 1][c] * B[r][q][c][o]; "
                      "s = s < 0 ? 0 : s >> 6; O[y][x][o] = s > 255 ? 255 : s; }"),
}


def filled(scop: Scop) -> dict[str, np.ndarray]:
    chooser = np.random.default_rng(5)
    arrays = {}
    for array in scop.arrays:
        info = np.iinfo(array.dtype.name)
        ends = [info.min, info.min + 1, 0, info.max - 1, info.max] if array.dtype.bits == 8 else [-70000, 0, 90000]
        arrays[array.name] = chooser.choice(np.array(ends), tuple(extents_of(array, {}))).astype(array.dtype.name)
    return arrays


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_done_with_a_sum_runs_behind_it(name: str, tmp_path: Path) -> None:
    arrays, text = PROGRAMS[name]
    scop = from_c_text(f"#include <stdint.h>\nvoid f({arrays}) {{\n#pragma scop\n{text}\n#pragma endscop\n}}\n")
    made = analysed(scop, for_instructions=True).dependences.scop
    found = match(made, find_intrinsic("vpdpbusd"))
    assert len({m.fragment.statement.name for m in found.matches}) == 1   # the whole sum at once
    whole = tensorize(found.matches[0])
    function = emit_match(whole.match, "f", EmissionOptions(emulated=True, parallel=False, zero=whole.zero))
    library = compiled([function], tmp_path)
    mine = filled(made)
    expected = {a.name: mine[a.name].copy() for a in scop.arrays if not a.is_temporary}
    local = {a.name: np.zeros((), a.dtype.name) for a in scop.arrays if a.is_temporary}
    execute(scop, {}, expected | local, wrap_signed=True)
    if whole.before is not None:
        execute(whole.before, {}, {a.name: mine[a.name] for a in whole.before.arrays}, wrap_signed=True)
    call(library, function, mine)
    if whole.after is not None:
        execute(whole.after, {}, {a.name: mine[a.name] for a in whole.after.arrays}, wrap_signed=True)
    for array, values in expected.items():
        np.testing.assert_array_equal(mine[array], values, err_msg=array)
