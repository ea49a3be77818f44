"""Ten descriptions of a distrustful user, at sizes that only the running program knows.

Programs that look like them are refused, programs in other words match, and what is emitted computes the same.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.target import find_compiler
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.options import TensorizeOptions
from tests.tensorize.imagined_units import DESCRIBED

EXACT = Numerics(reassociate=False, contract=False, flush=False, finite=False)
SAME, OTHER, EITHER = "same", "other", "either"   # than the unit; either: some words for the same are not known
HEAD = ("void program(int n, int m, int32_t c[n + 1], const int16_t q[4 * n + 12], const int16_t w[m][n], "
        "float f[n + 1], const float g[n + 2], const uint32_t u[n + 2], "
        "int32_t T[n][m], const uint8_t X[n][n], const int8_t Y[n][m])")
UNITS: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "strided reads": (
        "int32_t O[8], const int16_t A[16]",
        "for (int i = 0; i < 8; i++) O[i] = A[2 * i];", [
            ("for (int i = 0; i < n; i++) c[i] = q[2*i+1];", SAME),
            ("for (int i = 0; i < n; i++) c[i] = q[2*i+i%2];", EITHER),
            ("for (int i = 0; i < n; i++) c[i] = q[n-1-i];", EITHER),
            ("for (int i = n - 1; i >= 0; i--) c[i] = q[3*i+2];", EITHER)]),
    "five of eight rows added": (
        "int32_t O[8], const int16_t A[8][8]",
        "for (int i = 0; i < 8; i++) for (int k = 0; k < 5; k++) O[i] += A[i][k];", [
            ("for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) c[i] += w[k][i];", SAME),
            ("for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) if (k != 3) c[i] += w[k][i];", EITHER),
            ("for (int i = 0; i < n; i++) for (int k = 0; k < m && k <= i; k++) c[i] += w[k][i];", EITHER),
            ("for (int i = 0; i < n; i++) for (int k = 0; k < m; k += 2) c[i] += w[k][i];", EITHER),
            ("for (int i = 0; i < n; i++) for (int k = 1; k < m; k++) c[i] += w[k][i] + 1;", OTHER)]),
    "a factor that stays": (
        "int32_t O[8], const int16_t A[8], const int16_t B[8]",
        "for (int i = 0; i < 8; i++) O[i] += A[i] * B[3];", [
            ("for (int i = 0; i < n; i++) c[i] += q[i] * q[5];", SAME),
            ("for (int i = 0; i < n; i++) c[i] += q[i] * q[i % 3];", EITHER),
            ("for (int i = 0; i < n; i++) c[i] += q[i] * q[i];", OTHER),
            ("for (int i = 0; i < n; i++) c[i] -= q[i] * q[5];", EITHER),
            ("for (int i = 0; i < n; i++) c[i] += (int16_t)(q[i] * q[5]);", OTHER)]),
    "a narrow local": (
        "int32_t O[8], const int16_t A[8], const int16_t B[8]",
        "for (int i = 0; i < 8; i++) { int16_t t = A[i] + B[i]; O[i] = t; }", [
            ("for (int i = 0; i < n; i++) c[i] = q[i] + q[i+1];", OTHER),
            ("for (int i = 0; i < n; i++) c[i] = (int16_t)(q[i] + q[i+1]);", SAME),
            ("for (int i = 0; i < n; i++) c[i] = (uint16_t)(q[i] + q[i+1]);", OTHER),
            ("for (int i = 0; i < n; i++) c[i] = (int16_t)(q[i] - q[i+1]);", EITHER)]),
    "a bound": (
        "int32_t O[8], const int16_t A[8]",
        "for (int i = 0; i < 8; i++) O[i] = A[i] > 7 ? A[i] : 7;", [
            ("for (int i = 0; i < n; i++) c[i] = q[i] >= 7 ? q[i] : 7;", SAME),
            ("for (int i = 0; i < n; i++) c[i] = q[i] > 8 ? q[i] : 8;", OTHER),
            ("for (int i = 0; i < n; i++) c[i] = q[i] < 7 ? q[i] : 7;", OTHER),
            ("for (int i = 0; i < n; i++) c[i] = q[i] >= 8 ? q[i] : 7;", SAME)]),
    "an update whose order counts": (
        "int32_t O[8], const int16_t A[8]",
        "for (int i = 0; i < 8; i++) O[i] = O[i] * 3 + A[i];", [
            ("for (int i = 0; i < n; i++) c[i] = c[i] * 3 + q[i];", SAME),
            ("for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) c[i] = 3 * c[i] + w[k][i];", EITHER),
            ("for (int i = 0; i < n; i++) for (int k = m - 1; k >= 0; k--) c[i] = 3 * c[i] + w[k][i];", EITHER),
            ("for (int k = 0; k < m; k++) for (int i = 0; i < n; i++) c[i] = 3 * c[i] + w[k][i];", EITHER),
            ("for (int i = 0; i < n; i++) c[i] = c[i] * 3 - q[i];", EITHER),
            ("for (int i = 1; i < n; i++) c[i] = c[i-1] * 3 + q[i];", OTHER),
            ("for (int i = 0; i < n - 1; i++) c[i] = c[i+1] * 3 + q[i];", OTHER)]),
    "every second element written": (
        "int32_t O[16], const int16_t A[8]",
        "for (int i = 0; i < 8; i++) O[2 * i + 1] += A[i];", [
            ("for (int i = 0; i < n; i++) c[i] += q[i];", EITHER),
            ("for (int i = 0; 2 * i < n; i++) c[2*i] += q[i];", EITHER),
            ("for (int i = 0; i < n; i++) c[i / 2] += q[i];", EITHER),
            ("for (int i = 0; i < n; i++) c[n - 1 - i] += q[2 * i];", EITHER)]),
    "a product rounded first": (
        "float O[8], const float A[8], const float B[8]",
        "for (int i = 0; i < 8; i++) O[i] = O[i] + A[i] * B[i];", [
            ("for (int i = 0; i < n; i++) f[i] = f[i] + g[i] * g[i+1];", SAME),
            ("for (int i = 0; i < n; i++) f[i] = fmaf(g[i], g[i+1], f[i]);", OTHER),
            ("for (int i = 0; i < n; i++) f[i] = g[i] * g[i+1] - f[i];", OTHER),
            ("for (int i = 0; i < n; i++) f[i] = (float)((double)f[i] + (double)g[i] * g[i+1]);", OTHER),
            ("for (int i = 0; i < n; i++) f[i] += g[i+1] * g[i];", SAME)]),
    "unsigned comparison": (
        "int32_t O[8], const uint32_t A[8], const uint32_t B[8]",
        "for (int i = 0; i < 8; i++) O[i] = A[i] < B[i] ? -1 : 0;", [
            ("for (int i = 0; i < n; i++) c[i] = -((uint32_t)q[i] < (uint32_t)q[i+1]);", EITHER),
            ("for (int i = 0; i < n; i++) c[i] = -(q[i] < q[i+1]);", OTHER),
            ("for (int i = 0; i < n; i++) c[i] = -(u[i] < u[i+1]);", SAME),
            ("for (int i = 0; i < n; i++) c[i] = -((int)u[i] < (int)u[i+1]);", OTHER),
            ("for (int i = 0; i < n; i++) c[i] = -(u[i+1] > u[i] + 0u);", SAME),
            ("for (int i = 0; i < n; i++) c[i] = -(u[i] <= u[i+1]);", OTHER)]),
    "slanted loops": (
        "int32_t O[8], const uint8_t A[4], const int8_t B[8][4]",
        "for (int i = 0; i < 8; i++) for (int k = 0; k < 4; k++) O[i] += A[k] * B[i][k];", [
            ("for (int i = 0; i < n; i++) for (int j = 0; j <= i && j < m; j++) for (int k = 0; k < n; k++) "
             "T[i][j] += X[i][k] * Y[k][j];", SAME),
            ("for (int i = 0; i < n; i++) for (int j = i; j < m; j++) for (int k = j; k < n; k++) T[i][j] += "
             "X[i][k] * Y[k][j];", EITHER),
            ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < i; k++) T[i][j] += "
             "X[i][k] * Y[k][j];", SAME),
            ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < n && k < i + j; "
             "k++) T[i][j] += X[i][k] * Y[k][j];", EITHER),
            ("for (int i = 0; i < n; i++) for (int j = 0; j < m && j < n - i; j++) for (int k = 0; k < n; "
             "k++) T[i][j] += X[k][i] * Y[k][j];", EITHER),
            ("for (int i = 2; i < n; i += 2) for (int j = 0; j < m; j++) for (int k = 0; k < i; k++) T[i][j] "
             "+= X[i][k] * Y[k][j];", EITHER),
            ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < i && k < n - j; "
             "k++) T[i][j] += X[i][k] * Y[k][j];", EITHER),
            ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = i; k < n - i; k++) "
             "T[i][j] += (int8_t)X[i][k] * Y[k][j];", EITHER)]),
}
CASES = [(unit, program) for unit, (_, _, programs) in UNITS.items() for program in range(len(programs))]


def compiled(text: str, folder: Path, name: str) -> ctypes.CDLL:
    source, library, compiler = folder / f"{name}.c", folder / f"{name}.so", find_compiler()
    source.write_text(text)
    done = compiler.run(["-O1", "-fwrapv", "-w", "-ffp-contract=off", "-shared", "-fPIC", *compiler.openmp_compile,
                         str(source), "-o", str(library), *compiler.openmp_link, "-lm"])
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def operands(n: int, m: int) -> list[np.ndarray]:
    """Arrays of every value of their types; floats whose products are rounded."""
    chooser = np.random.default_rng(1000 * n + m)
    integers = [((n + 1,), np.int32), ((4 * n + 12,), np.int16), ((m, n), np.int16), ((n + 2,), np.uint32),
                ((n, m), np.int32), ((n, n), np.uint8), ((n, m), np.int8)]
    c, q, w, u, t, x, y = (chooser.integers(np.iinfo(k).min, np.iinfo(k).max, s, dtype=k, endpoint=True)
                           for s, k in integers)
    f, g = (100 * chooser.standard_normal(size).astype(np.float32) for size in (n + 1, n + 2))
    return [c, q, w, f, g, u, t, x, y]


@pytest.mark.parametrize(("unit", "number"), CASES)
def test_near_misses_are_refused_and_matches_compute_the_same(unit: str, number: int, tmp_path: Path) -> None:
    parameters, body, programs = UNITS[unit]
    text, kind = programs[number]
    names = "".join(p.split("[")[0][-1] for p in parameters.split(","))
    file, path = tmp_path / "units.py", tmp_path / "program.c"
    file.write_text(DESCRIBED.format(parameters=parameters, body=body, names=names))
    path.write_text(f"#include <stdint.h>\n#include <math.h>\n{HEAD} {{\n#pragma scop\n{text}\n#pragma endscop\n}}\n")
    wanted = TensorizeOptions(intrinsic="unit", files=(str(file),), numerics=EXACT)
    done = transform_file(path, PipelineOptions(tensorize=wanted, verify_instructions="never"))
    matched = "by unit */" in done.text
    assert kind == EITHER or matched is (kind == SAME), done.regions[0].instructions
    if not matched:
        return
    made, plain = compiled(done.text, tmp_path, "made"), compiled(path.read_text(), tmp_path, "plain")
    for n, m in ((1, 1), (2, 2), (8, 8), (37, 10), (9, 64), (64, 9), (101, 33)):
        found, expected = operands(n, m), operands(n, m)
        for library, arrays in ((made, found), (plain, expected)):
            library.program(n, m, *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"{n} {m}")
