"""Instructions as their manuals' pseudocode has them, word for word; every match in plain loops is executed."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import SourceSyntaxError
from polysched.scop.interpreter import execute
from polysched.target import find_compiler
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.program import tensorize
from tests.tensorize.compiled import FLAGS, call
from tests.tensorize.described import filled, matched, program, unit

DOT = ("int32_t C[9], int8_t X[9][24], int8_t Y[24]",
       "for (int i = 0; i < 9; i++) for (int k = 0; k < 24; k++) C[i] += X[i][k] * Y[k];")
PRODUCT = ("int32_t C[5][7], int8_t X[5][24], int8_t Y[24][7]",
           "for (int i = 0; i < 5; i++) for (int j = 0; j < 7; j++) for (int k = 0; k < 24; k++) "
           "C[i][j] += X[i][k] * Y[k][j];")
QUADS = ("int32_t C[9], uint8_t X[9][4], uint8_t Y[9][4]",
         "for (int i = 0; i < 9; i++) { C[i] = 0; for (int k = 0; k < 4; k++) C[i] += X[i][k] * Y[i][k]; }")
PAIRS = "int16_t C[9], int8_t X[18]", "for (int i = 0; i < 9; i++) C[i] += X[2 * i] + X[2 * i + 1];"
ROWS = "int16_t C[9], int8_t X[9][2]", "for (int i = 0; i < 9; i++) for (int k = 0; k < 2; k++) C[i] += X[i][k];"
LOOKUP = ("uint8_t C[37], uint8_t T[16], uint8_t I[37]",
          "for (int i = 0; i < 37; i++) C[i] = I[i] < 16 ? T[I[i]] : 0;")
MASKED = ("uint8_t C[37], uint8_t T[16], uint8_t I[37]", "for (int i = 0; i < 37; i++) C[i] = T[I[i] & 15];")
SWAP = "int32_t X[9], int32_t Y[9]", "for (int i = 0; i < 9; i++) { int t = X[i]; X[i] = Y[i]; Y[i] = t; }"
REVERSAL = "int32_t X[18]", "for (int i = 0; i < 9; i++) { int t = X[17 - i]; X[17 - i] = X[i]; X[i] = t; }"
UNITS = {   # manual, section: parameters, body, programs
    "dp4a": (   # CUDA Math API, 1.12
        "int32_t d[1], const int8_t a[4], const int8_t b[4]",
        "d[0] = d[0] + a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];", (DOT, PRODUCT)),
    "sdot": (   # Arm Architecture Reference Manual, C8.2, SDOT (vectors)
        "int32_t da[4], const int8_t zn[16], const int8_t zm[16]",
        "for (int e = 0; e < 4; e++) { int32_t res = da[e]; for (int i = 0; i < 4; i++) { int32_t element1 = "
        "zn[4 * e + i]; int32_t element2 = zm[4 * e + i]; res = res + element1 * element2; } da[e] = res; }",
        (DOT, PRODUCT)),
    "smopa": (   # the same, SMOPA (4-way), all predicates true
        "int32_t za[4][4], const int8_t zn[16], const int8_t zm[16]",
        "for (int row = 0; row < 4; row++) for (int col = 0; col < 4; col++) { int32_t sum = za[row][col]; "
        "for (int k = 0; k < 4; k++) { sum = sum + zn[4 * row + k] * zm[4 * col + k]; } za[row][col] = sum; }",
        (PRODUCT,)),
    "tdpbssd": (   # Intel SDM, vol. 2, TDPBSSD, with rows of 16 bytes
        "int32_t dst[4][4], const int8_t src1[4][16], const int8_t src2[4][16]",
        "for (int m = 0; m < 4; m++) for (int k = 0; k < 4; k++) for (int n = 0; n < 4; n++) { int32_t "
        "p0 = src1[m][4 * k] * src2[k][4 * n]; int32_t p1 = src1[m][4 * k + 1] * src2[k][4 * n + 1]; int32_t "
        "p2 = src1[m][4 * k + 2] * src2[k][4 * n + 2]; int32_t p3 = src1[m][4 * k + 3] * src2[k][4 * n + 3]; "
        "dst[m][n] = dst[m][n] + p0 + p1 + p2 + p3; }", (PRODUCT,)),
    "vrmpy": (   # Hexagon V66 HVX manual, Vd.uw=vrmpy(Vu.ub,Vv.ub)
        "int32_t vd[8], const uint8_t vu[32], const uint8_t vv[32]",
        "for (int i = 0; i < 8; i++) { vd[i] = vu[4 * i] * vv[4 * i]; vd[i] += vu[4 * i + 1] * vv[4 * i + 1]; "
        "vd[i] += vu[4 * i + 2] * vv[4 * i + 2]; vd[i] += vu[4 * i + 3] * vv[4 * i + 3]; }", (QUADS,)),
    "sadalp": (   # Arm Architecture Reference Manual, C7.2, SADALP
        "int16_t o[4], const int8_t a[8]", "for (int i = 0; i < 4; i++) o[i] = o[i] + a[2 * i] + a[2 * i + 1];",
        (PAIRS, ROWS)),
    "tbl": (   # the same, TBL of one register
        "uint8_t o[16], const uint8_t t[16], const uint8_t n[16]",
        "for (int i = 0; i < 16; i++) { int index = n[i]; o[i] = 0; if (index < 16) o[i] = t[index]; }",
        (LOOKUP, MASKED)),
    "vswp": (   # Arm Architecture Reference Manual, F6.1, VSWP
        "int32_t d[4], int32_t m[4]", "for (int i = 0; i < 4; i++) { int32_t t = d[i]; d[i] = m[i]; m[i] = t; }",
        (SWAP, REVERSAL)),
    "vrgather": (   # RISC-V V 1.0, 16.4
        "uint8_t vd[8], const uint8_t vs2[16], const uint8_t vs1[8]",
        "for (int i = 0; i < 8; i++) vd[i] = vs1[i] >= 16 ? 0 : vs2[vs1[i]];", (LOOKUP, MASKED)),
}

def test_manuals_word_for_word(tmp_path: Path) -> None:
    cases = []
    for name, (parameters, body, programs) in UNITS.items():
        for scop in (program(*p) for p in programs):
            found = matched(scop, unit(name, parameters, body))
            assert found.count, [name, *map(str, found.explanations), *found.refused]
            cases += [(name, scop, tensorize(m)) for m in found.matches[:1]]
    functions = [emit_match(w.match, f"m{at}", EmissionOptions(emulated=True, parallel=False, zero=w.zero))
                 for at, (_, _, w) in enumerate(cases)]
    texts = dict.fromkeys((*(f.shared for f in functions), *(f.emulator for f in functions)))
    source, library = tmp_path / "units.c", tmp_path / "units.so"
    source.write_text("".join((*texts, *(f.text for f in functions))))
    done = find_compiler().run(["-O0", *FLAGS, str(source), "-o", str(library), "-lm"])
    assert done.returncode == 0, done.stderr
    calls = ctypes.CDLL(str(library))
    for (name, scop, whole), function in zip(cases, functions, strict=True):
        wanted, arrays = filled(scop), filled(scop)
        execute(scop, {}, wanted, wrap_signed=True)
        if whole.before is not None:
            execute(whole.before, {}, {a.name: arrays[a.name] for a in whole.before.arrays}, wrap_signed=True)
        assert whole.after is None
        call(calls, function, arrays)
        for array, values in wanted.items():
            np.testing.assert_array_equal(arrays[array], values, err_msg=f"{name}, {array}: {whole.match}")


def test_another_bound_is_another_function() -> None:
    parameters, body, _ = UNITS["vrgather"]
    found = matched(program(LOOKUP[0], LOOKUP[1].replace("I[i] < 16", "I[i] < 15")), unit("vrgather", parameters, body))
    assert not found.count
    assert "I[i] = 15" in str(found.explanations[0])


def test_two_copies_are_no_swap() -> None:
    parameters, body, _ = UNITS["vswp"]
    found = matched(program(SWAP[0], "for (int i = 0; i < 9; i++) { X[i] = Y[i]; Y[i] = X[i]; }"),
                    unit("vswp", parameters, body))
    assert not found.count
    assert "X[i] = Y[i]; Y[i] = Y[i] against d[i] = m[i]; m[i] = d[i]" in str(found.explanations[0])


def test_what_a_manual_has_and_the_language_has_not() -> None:
    with pytest.raises(SourceSyntaxError, match="no type unsigned __int128"):   # VPMADD52HUQ
        unit("huq", "uint64_t a[4], const uint64_t b[4], const uint64_t c[4]", "for (int i = 0; i < 4; i++) "
             "a[i] += (uint64_t)(((unsigned __int128)b[i] * c[i]) >> 52);")
