"""Whole programs: what stands around the matched statement runs before or behind it, and the result is the same."""

from pathlib import Path

import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop
from polysched.tensorize import MatchOptions, find_intrinsic, match, operators
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.program import tensorize
from tests.tensorize.compiled import call, compiled


def filled(scop: Scop, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    chooser = np.random.default_rng(11)
    arrays = {}
    for a in scop.arrays:
        dtype = "uint16" if a.dtype.name == "bfloat16" else a.dtype.name
        arrays[a.name] = chooser.integers(-4, 5, tuple(extents_of(a, sizes))).astype(dtype)
    return arrays


def run_tensorized(scop: Scop, name: str, sizes: dict[str, int], arrays: dict[str, np.ndarray], folder: Path,
                   options: MatchOptions | None = None) -> int:
    found = match(scop, find_intrinsic(name), options, sizes=sizes)
    assert found.count >= 1, [str(e) for e in found.explanations]
    expected = {k: v.copy() for k, v in arrays.items()}
    execute(scop, sizes, expected)
    programs = [tensorize(m) for m in found.with_mirrors]
    functions = [emit_match(p.match, f"match_{i}", EmissionOptions(emulated=True, zero=p.zero))
                 for i, p in enumerate(programs)]
    library = compiled(functions, folder)
    for whole, function in zip(programs, functions, strict=True):
        mine = {k: v.copy() for k, v in arrays.items()}
        if whole.before is not None:
            execute(whole.before, sizes, {a.name: mine[a.name] for a in whole.before.arrays})
        call(library, function, mine)
        if whole.after is not None:
            execute(whole.after, sizes, {a.name: mine[a.name] for a in whole.after.arrays})
        for k in expected:
            np.testing.assert_array_equal(mine[k], expected[k], err_msg=f"{k} of {whole.match}")
    return found.total


def test_initialisation_and_epilogue_around_a_product(tmp_path: Path) -> None:
    scop = from_c_text("""#include <stdint.h>
void f(int n, int32_t C[n][n], int8_t A[n][n], int8_t B[n][n]) {
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    C[i][j] = i - j;
    for (int k = 0; k < n; k++)
      C[i][j] += A[i][k] * B[k][j];
    C[i][j] = C[i][j] > 20 ? 20 : C[i][j];
  }
#pragma endscop
}
""")
    sizes = {"n": 19}
    assert run_tensorized(scop, "mma_16x16x16_s8", sizes, filled(scop, sizes), tmp_path) == 2


def test_a_triangular_product(tmp_path: Path) -> None:
    scop = from_c_text("""#include <stdint.h>
void f(int n, int32_t C[n][n], int8_t A[n][n], int8_t B[n][n]) {
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j <= i; j++)
    for (int k = j; k <= i; k++)
      C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""")
    sizes = {"n": 21}
    assert run_tensorized(scop, "gemmini_matmul", sizes, filled(scop, sizes), tmp_path) >= 1


@pytest.mark.parametrize("name", ["gmv", "men", "var", "scn", "gfc"])
def test_operators_in_short_floats(name: str, tmp_path: Path) -> None:
    """Small integers: every sum is exact, so any order of additions gives the same bits."""
    sizes = {"var": {"m": 5, "n": 16}, "men": {"m": 5, "n": 16}, "gmv": {"m": 19, "k": 21}, "scn": {"m": 5, "n": 18},
             "gfc": {"groups": 3, "k": 5, "c": 18}}[name]
    scop = operators.OPERATORS[name](**sizes)
    parameters = {"batch": 3} if name == "gfc" else {}
    arrays = filled(scop, parameters)
    assert run_tensorized(scop, "mma_16x16x16", parameters, arrays, tmp_path) >= 1


def test_a_loop_in_which_others_wait_for_a_statement_stays_around_it() -> None:
    scop = from_c_text("""
void f(int n, double C[n][n][n], double A[n][n], double B[n][n]) {
#pragma scop
for (int t = 1; t < n; t++) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = C[t - 1][j][i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[t][i][j] += A[i][k] * B[k][j];
}
#pragma endscop
}
""")
    found = match(scop, find_intrinsic("cblas_dgemm"), sizes={"n": 6})
    program = tensorize(found.matches[0])
    assert [(a.loop.name, a.before, a.after) for a in program.around] == [("t", None, None)]
    assert [s.name for s in program.before.statements] == ["S0"]
    assert program.after is None


def test_what_runs_before_may_not_wait_for_what_runs_behind() -> None:
    """The statement between them has nothing to do with it, but taking it out would split the loop that they share."""
    scop = from_c_text("""
void f(double C[9][8][8], double A[9][8][8], double B[9][8][8], double x[9], double y[10]) {
#pragma scop
for (int t = 0; t < 9; t++) {
  x[t] = y[t] * 0.5;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 8; k++)
        C[t][i][j] += A[t][i][k] * B[t][k][j];
  y[t + 1] = x[t] + 1;
}
#pragma endscop
}
""")
    found = match(scop, find_intrinsic("cblas_dgemm"))
    assert all(m.fragment.kept == ("t",) for m in found.with_mirrors)
    program = tensorize(found.matches[0])
    assert [s.name for s in program.before.statements] == ["S0"]
    assert [s.name for s in program.after.statements] == ["S2"]


def test_a_statement_without_a_loop_of_its_own_is_not_taken_out() -> None:
    """All of its loops carry dependences with another: no nest is left for an instruction."""
    scop = from_c_text("""
void f(double a[9], double b[10][8]) {
#pragma scop
for (int i = 0; i < 9; i++)
  for (int j = 0; j < 7; j++) {
    a[i] += b[i][j] * b[i + 1][j];
    b[i][j + 1] = a[i];
  }
#pragma endscop
}
""")
    found = match(scop, find_intrinsic("fma_f64_avx512"))
    assert found.count == 0
    assert "loop j carries a dependence between S1 and S0 on b" in str(found.explanations[0])


SUMS = {
    "dot": ("int32_t s[1], const int8_t x[n], const int8_t y[n]", "for (int i = 0; i < n; i++) s[0] += x[i] * y[i];"),
    "rows": ("int32_t s[m], const int8_t x[m][n], const int8_t y[m][n]",
             "for (int r = 0; r < m; r++) for (int i = 0; i < n; i++) s[r] += x[r][i] * y[r][i];"),
    "frames": ("int32_t s[m], const int8_t x[m][n][m], const int8_t y[m][n][m]",
               "for (int r = 0; r < m; r++) for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
               "s[r] += x[r][i][j] * y[r][i][j];"),
}


@pytest.mark.parametrize("case", SUMS)
@pytest.mark.parametrize("name", ["sve256_sdot", "mma_16x16x16_s8", "arm_smmla"])
def test_partial_sums_in_lanes(case: str, name: str, tmp_path: Path) -> None:
    """A sum of products fills the lanes of a vector dot product only when lanes may hold partial sums."""
    declarations, body = SUMS[case]
    scop = from_c_text(f"#include <stdint.h>\nvoid f(int m, int n, {declarations}) {{\n#pragma scop\n{body}\n"
                       "#pragma endscop\n}\n")
    sizes = {"m": 5, "n": 83} if case != "dot" else {"n": 83}
    sizes = {p.name: sizes[p.name] for p in scop.parameters}
    arrays = filled(scop, sizes)
    plain = match(scop, find_intrinsic(name), sizes=sizes)
    options = MatchOptions(partial_sums=True)
    total = run_tensorized(scop, name, sizes, arrays, tmp_path, options)
    found = match(scop, find_intrinsic(name), options, sizes=sizes)
    lanes = [m for m in found.with_mirrors if "partial sums in lanes are added at the end" in m.assumptions]
    assert total == len(found.with_mirrors) >= plain.total
    assert bool(lanes) == (name == "sve256_sdot")


ODD_LOOPS = {
    "strided": "for (int i = 1; i < n; i += 2) for (int j = 0; j < n; j++) for (int k = 2; k < n; k += 3) "
               "C[i][j] += A[i][k] * B[k][j];",
    "reversed": "for (int i = n - 1; i >= 0; i--) for (int j = 0; j < n; j++) for (int k = n - 1; k >= 3; k--) "
                "C[i][n - 1 - j] += A[n - 1 - i][k] * B[n - k][j];",
    "guarded": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "
               "if (i + k < n) C[i][j] += A[i][k] * B[k][j];",
    "bounds of a loop that operands do not know": "for (int o = 0; o < 5; o++) for (int j = 0; j < n; j++) "
              "for (int k = 0; k <= o; k++) C[o][j] += A[0][k] * B[k][j];",
    "offset": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "
              "C[i][j] += (A[i][k] - 3) * B[k][j] * 1;",
}


@pytest.mark.parametrize("case", ODD_LOOPS)
def test_loops_and_domains_of_other_shapes(case: str, tmp_path: Path) -> None:
    scop = from_c_text("#include <stdint.h>\nvoid f(int n, int32_t C[n][n], uint8_t A[n][n], int8_t B[n + 1][n]) {\n"
                       f"#pragma scop\n{ODD_LOOPS[case]}\n#pragma endscop\n}}\n")
    sizes = {"n": 18}
    arrays = filled(scop, sizes)
    if case == "offset":   # A - 3 is no uint8: an int16, or a uint8 whose zero point is added behind the product
        (tmp_path / "wide").mkdir()
        assert run_tensorized(scop, "vpdpwssd", sizes, arrays, tmp_path / "wide") >= 1
    assert run_tensorized(scop, "vpdpbusd", sizes, arrays, tmp_path) >= 1


def test_partial_sums_of_rows_that_begin_elsewhere(tmp_path: Path) -> None:
    """An element is stored whichever of its iterations exist, not only where the first one does."""
    scop = from_c_text("""#include <stdint.h>
void f(int32_t s[7], uint8_t A[7][90], int8_t B[7][90]) {
#pragma scop
for (int r = 0; r < 7; r++)
  for (int k = 0; k < 90; k++)
    if ((r + k) % 3 == 1) s[r] += A[r][k] * B[r][k];
#pragma endscop
}
""")
    assert run_tensorized(scop, "vpdpbusd_vector", {}, filled(scop, {}), tmp_path, MatchOptions(partial_sums=True)) >= 2


def test_a_product_of_three_factors(tmp_path: Path) -> None:
    scop = from_c_text("""
void f(int n, float C[n][n], float A[n][n], float B[n][n], float z) {
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++)
      C[i][j] += A[i][k] * B[k][j] * z;
#pragma endscop
}
""")
    sizes = {"n": 19}
    arrays = filled(scop, sizes)
    arrays["z"] = np.array(3, np.float32)
    assert run_tensorized(scop, "fma_f32_avx512", sizes, arrays, tmp_path) >= 5
