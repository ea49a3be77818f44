"""Tables, sums from zero and several results without sizes: one function for all of them, beside the original."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import analysed, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.target import find_compiler, host
from polysched.tensorize.decision import decide
from polysched.tensorize.options import TensorizeOptions
from tests.tensorize.test_kinds_in_files import USERS

PROGRAMS = {   # instruction: parameters behind `int m, int n`, body, shapes of the arrays
    "vpshufb": ("uint8_t A[n], uint8_t B[n], uint8_t X[16]", "for (int i = 0; i < n; i++) A[i] = X[B[i] & 15];"),
    "vpshufb of a longer table": ("uint8_t A[n], uint8_t B[n], uint8_t X[m+16]",
                                  "for (int i = 0; i < n; i++) A[i] = X[B[i] & 15];"),
    "vpshufb of a shorter table": ("uint8_t A[n], uint8_t B[n], uint8_t X[m+3]",
                                   "for (int i = 0; i < n; i++) A[i] = X[(B[i] & 3) & 15];"),
    "vpermd of a part": ("int32_t A[n], int32_t B[n], int32_t X[m][n+8]",
                         "for (int i = 0; i < n; i++) A[i] = X[m - 1][B[i] & 7];"),
    "vpermd": ("int32_t A[m][n], int32_t B[m][n], int32_t X[8]",
               "for (int p = 0; p < m; p++) for (int i = 0; i < n; i++) A[p][i] = X[B[p][i] & 7];"),
    "dots": ("int32_t A[m][n], int8_t B[m][8], int8_t C[n][8]",
             "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { A[i][j] = 0; "
             "for (int k = 0; k < 8; k++) A[i][j] += B[i][k] * C[j][k]; }"),
    "dots of any length": (
        "int32_t A[m][n], int8_t B[m][m], int8_t C[n][m]",
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { A[i][j] = 0; "
        "for (int k = 0; k < m; k++) A[i][j] += B[i][k] * C[j][k]; }"),
    "compare_exchange_ub_avx2": (
        "uint8_t A[n], uint8_t B[n]",
        "for (int i = 0; i < n; i++) { uint8_t a = A[i], b = B[i]; A[i] = a < b ? a : b; B[i] = a < b ? b : a; }"),
    "compare_exchange_sd_avx2": (
        "int32_t A[m][n], int32_t B[m][n], int32_t C[n]",
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) A[i][j] = C[j] > B[i][j] ? C[j] : B[i][j];\n"
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) B[i][j] = C[j] < B[i][j] ? C[j] : B[i][j];"),
    "complex_i32_avx2": (
        "int32_t A[n], int32_t B[n], int32_t C[n], int32_t D[n], int32_t E[n], int32_t F[n]",
        "for (int i = 0; i < n; i++) { F[i] += A[i] * D[i] + B[i] * C[i]; E[i] += A[i] * C[i] - B[i] * D[i]; }")}
SHIFTED = ("uint8_t A[n + m], uint8_t B[n], uint8_t L[n]",   # in one loop, later minima would read what is written
           "for (int i = 0; i < n; i++) L[i] = A[i] < B[i] ? A[i] : B[i];\n"
           "for (int i = 0; i < n; i++) A[i + m] = A[i] < B[i] ? B[i] : A[i];")
VERIFIED = ("vpshufb", "complex_i32_avx2")   # its check runs, too; it takes a second or two
SIZES = [(2, 2), (3, 40), (7, 33), (23, 11), (1, 5), (9, 1), (16, 64), (5, 129)]


def written(folder: Path, unit: str, parameters: str, body: str) -> tuple[str, str]:
    """The file before and behind the transformation."""
    text = f"#include <stdint.h>\nvoid f(int m, int n, {parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    (folder / "program.c").write_text(text)
    (folder / "units.py").write_text(USERS)
    wanted = TensorizeOptions(intrinsic=unit, files=(str(folder / "units.py"),))
    done = transform_file(folder / "program.c", PipelineOptions(
        scheduler="original", tile="off", verify_instructions="auto" if unit in VERIFIED else "never",
        tensorize=wanted))
    return text, done.text


@pytest.mark.parametrize("unit", PROGRAMS)
def test_every_size_computes_what_it_did(unit: str, tmp_path: Path) -> None:
    (parameters, body), unit = PROGRAMS[unit], unit.split(" ")[0]
    texts = written(tmp_path, unit, parameters, body)
    assert f" by {unit} */" in texts[1]
    compare(texts, parameters, tmp_path)


def test_statements_whose_order_a_size_decides_are_not_computed_at_once(tmp_path: Path) -> None:
    """At sizes with n <= m nothing would change its order."""
    scop = from_c_text(f"#include <stdint.h>\nvoid f(int m, int n, {SHIFTED[0]}) {{\n#pragma scop\n{SHIFTED[1]}\n"
                       "#pragma endscop\n}\n")
    prepared = analysed(scop, for_instructions=True).dependences.scop
    options = TensorizeOptions(intrinsic="compare_exchange_ub_avx2", samples={"n": 32, "m": 64})
    assert decide(prepared, options, host()).program is None


def compare(texts: tuple[str, str], parameters: str, tmp_path: Path) -> None:
    """Both files at every size."""
    libraries = []
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.c").write_text(text)
        done = find_compiler().run(["-O1", "-fwrapv", "-w", "-shared", "-fPIC", str(tmp_path / f"{number}.c"), "-o",
                                    str(tmp_path / f"{number}.so"), "-lm"])
        assert not done.returncode, done.stderr
        libraries.append(ctypes.CDLL(str(tmp_path / f"{number}.so")))
    for m, n in SIZES:
        chooser, arrays = np.random.default_rng(m * n), []
        for parameter in parameters.split(", "):
            kind, shown = parameter.split(" ")
            shape = [eval(e, {"m": m, "n": n}) for e in shown.replace("]", "").split("[")[1:]]
            ends = np.iinfo(dtype := np.dtype(kind.removesuffix("_t")))
            arrays.append(chooser.integers(ends.min, ends.max, shape, dtype=dtype, endpoint=True))
        results = []
        for library in libraries:
            own = [a.copy() for a in arrays]
            library.f(m, n, *(ctypes.c_void_p(a.ctypes.data) for a in own))
            results.append(own)
        for before, after in zip(*results, strict=True):
            np.testing.assert_array_equal(after, before, err_msg=f"{m} {n}")


def test_sums_longer_than_an_execution_are_left_to_ordinary_code(tmp_path: Path) -> None:
    parameters, body = PROGRAMS["dots of any length"]
    _, text = written(tmp_path, "dots", parameters, body)
    assert "if (!((double)ps_size_m <= 8)) return 0;" in text
