"""C files whose statements go to instructions with several results, tables and sums from zero: both versions run."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.target import find_compiler
from polysched.tensorize.options import TensorizeOptions

PROGRAMS = {   # instruction: parameters, body
    "compare_exchange_ub_avx2": (
        "uint8_t A[107], uint8_t B[107]",
        "for (int i = 0; i < 107; i++) { uint8_t a = A[i], b = B[i]; A[i] = a < b ? a : b; B[i] = a < b ? b : a; }"),
    "compare_exchange_sd_avx2": (
        "int32_t A[5][107], int32_t B[5][107], int32_t C[107]",
        "for (int i = 0; i < 5; i++) for (int j = 0; j < 107; j++) A[i][j] = C[j] > B[i][j] ? C[j] : B[i][j];\n"
        "for (int i = 0; i < 5; i++) for (int j = 0; j < 107; j++) B[i][j] = C[j] < B[i][j] ? C[j] : B[i][j];"),
    "butterfly_i16_avx2": (
        "int16_t A[9][16], int16_t B[9][16]",
        "for (int i = 0; i < 9; i++) for (int j = 0; j < 16; j++) { int16_t t = A[i][j]; A[i][j] = t + B[i][j]; "
        "B[i][j] = t - B[i][j]; }"),
    "complex_i32_avx2": (
        "int32_t A[77], int32_t B[77], int32_t C[77], int32_t D[77], int32_t E[77], int32_t F[77]",
        "for (int i = 0; i < 77; i++) { F[i] += A[i] * D[i] + B[i] * C[i]; E[i] += A[i] * C[i] - B[i] * D[i]; }"),
    "vpshufb": ("uint8_t A[107], uint8_t B[107], uint8_t X[16]", "for (int i = 0; i < 107; i++) A[i] = X[B[i] & 15];"),
    "vpermd": ("int32_t A[7][33], int32_t B[7][33], int32_t X[7][8]",
               "for (int p = 0; p < 7; p++) for (int i = 0; i < 33; i++) A[p][i] = X[p][B[p][i] & 7];"),
    "vpavgb": ("uint8_t A[107], uint8_t B[107]", "for (int i = 0; i < 107; i++) A[i] = (A[i] + B[i] + 1) >> 1;"),
    "vpmaxsd": ("int32_t A[1], int32_t B[1]", "A[0] = A[0] > B[0] ? A[0] : B[0];"),
}

USERS = """
from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand, Register

REGISTER = Register(c_type="int", load="", store="", zero="")


def unit(name, parameters, body):
    return Intrinsic(
        name=name, section="imagined", cost=Cost(issue_cycles=1, latency_cycles=2), template="-",
        isa=Isa(name="imagined", machine="none", manual="none"), semantics=f"void {name}({parameters}) {{ {body} }}",
        operands=tuple(Operand(name=p.split("[")[0].split()[-1], register=REGISTER) for p in parameters.split(",")))


DOTS = unit("dots", "int32_t C[8], const int8_t A[8], const int8_t B[8][8]",
            "for (int i = 0; i < 8; i++) { int32_t t = 0; for (int k = 0; k < 8; k++) t += A[k] * B[i][k]; C[i] = t; }")
LOWER = unit("lower", "int32_t C[8], const int8_t A[8][8], const int8_t B[8]",
             "for (int i = 0; i < 8; i++) for (int k = 0; k <= i; k++) C[i] += A[i][k] * B[k];")
PAIRS = unit("pairs", "int32_t O[4][2], const int16_t A[4][2], const int16_t B[4][2]",
             "for (int i = 0; i < 4; i++) { O[i][0] += A[i][0] * B[i][0] - A[i][1] * B[i][1]; "
             "O[i][1] += A[i][0] * B[i][1] + A[i][1] * B[i][0]; }")
WRONG = unit("wrong", "int32_t C[8], const int32_t A[8]", "for (int i = 0; i < 8; i++) C[i] += A[i] / (A[i] - 1);")
"""
PROGRAMS |= {
    "dots": ("int32_t A[23][11], int8_t B[23][8], int8_t C[11][8]",
             "for (int i = 0; i < 23; i++) for (int j = 0; j < 11; j++) { A[i][j] = 0; "
             "for (int k = 0; k < 8; k++) A[i][j] += B[i][k] * C[j][k]; }"),
    "lower": ("int32_t A[23][8], int8_t B[8][8], int8_t C[23][8]",
              "for (int i = 0; i < 23; i++) for (int j = 0; j < 8; j++) for (int k = 0; k <= j; k++) "
              "A[i][j] += B[j][k] * C[i][k];"),
    "pairs": ("int32_t A[23][2], int16_t B[23][2], int16_t C[23][2]",
              "for (int i = 0; i < 23; i++) { A[i][1] += B[i][1] * C[i][0] + B[i][0] * C[i][1]; "
              "A[i][0] += B[i][0] * C[i][0] - B[i][1] * C[i][1]; }"),
}


def _built(text: str, folder: Path, name: str) -> ctypes.CDLL:
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    made = find_compiler().run(["-O2", "-fwrapv", "-w", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"])
    assert made.returncode == 0, made.stderr
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("unit", PROGRAMS)
def test_the_file_computes_what_it_did(unit: str, tmp_path: Path) -> None:
    parameters, body = PROGRAMS[unit]
    text = f"#include <stdint.h>\nvoid f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    path = tmp_path / "program.c"
    path.write_text(text)
    users = tmp_path / "units.py"
    users.write_text(USERS)
    done = transform_file(path, PipelineOptions(scheduler="original", tile="off", verify_instructions="never",
                                                tensorize=TensorizeOptions(intrinsic=unit, files=(str(users),))))
    assert f" by {unit} */" in done.text
    libraries = [_built(text, tmp_path, "before"), _built(done.text, tmp_path, "after")]
    chooser = np.random.default_rng(5)
    arrays = []
    for parameter in parameters.split(", "):
        kind, shown = parameter.split(" ")
        shape = [int(n) for n in shown.replace("]", "").split("[")[1:]]
        dtype = np.dtype(kind.removesuffix("_t"))
        ends = np.iinfo(dtype)
        arrays.append(chooser.integers(ends.min, ends.max, shape, dtype=dtype, endpoint=True))
    results = []
    for library in libraries:
        own = [a.copy() for a in arrays]
        library.f(*(ctypes.c_void_p(a.ctypes.data) for a in own))
        results.append(own)
    for parameter, before, after in zip(parameters.split(", "), *results, strict=True):
        np.testing.assert_array_equal(after, before, err_msg=parameter)
