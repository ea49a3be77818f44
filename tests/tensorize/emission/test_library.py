"""Fragments replaced by BLAS calls: arguments from the match, preconditions checked, results NumPy's."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.tensorize import Match, MatchOptions, find_intrinsic, match
from polysched.tensorize.description.exact_arithmetic import PRELUDE
from polysched.tensorize.emission import library_call
from polysched.tensorize.emission.library import library_arrays
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.program import tensorize


def program(parameters: str, body: str) -> Scop:
    return from_c_text(f"void f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


NEST = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) for (int k = 0; k < q; k++) {};"
SIZES = {"m": 5, "n": 7, "q": 3}
PRODUCTS = {
    "plain": ("double C[m][n], double A[m][q], double B[q][n]", "C[i][j] += A[i][k] * B[k][j]", "mk,kn->mn"),
    "A transposed": ("double C[m][n], double A[q][m], double B[q][n]", "C[i][j] += A[k][i] * B[k][j]", "km,kn->mn"),
    "B transposed": ("double C[m][n], double A[m][q], double B[n][q]", "C[i][j] += A[i][k] * B[j][k]", "mk,nk->mn"),
    "C transposed": ("double C[n][m], double A[m][q], double B[q][n]", "C[j][i] += A[i][k] * B[k][j]", "mk,kn->nm"),
    "wider arrays": ("double C[m][n + 4], double A[m + 1][q + 2], double B[q][2 * n]",
                     "C[i][j] += A[i + 1][k + 2] * B[k][j + n]", ""),
}


def best_call(scop: Scop, name: str, sizes: dict[str, int], function: str) -> tuple[Match, str]:
    found = match(scop, find_intrinsic(name), sizes=sizes)
    assert found.count >= 1, found.explanations
    return found.matches[0], library_call(found.matches[0], function)


CALLED = ("cblas_dgemm", "cblas_dgemv", "cblas_sgemm_batch_strided", "cblas_dgemm_batch_strided")


def compiled_calls(text: str, folder: Path) -> ctypes.CDLL:
    """Calls of the OpenBLAS of the wheel `scipy-openblas32`, which has batched products and names of its own."""
    wheel = pytest.importorskip("scipy_openblas32", reason="no OpenBLAS: the extra `test` has the wheel of one")
    source, library = folder / "calls.c", folder / "calls.so"
    source.write_text(f"#include <cblas.h>\n{PRELUDE}{text}")
    linked = [f"-I{wheel.get_include_dir()}", *(f"-D{name}=scipy_{name}" for name in CALLED),
              f"-L{wheel.get_lib_dir()}", f"-l{wheel.get_library()}", f"-Wl,-rpath,{wheel.get_lib_dir()}"]
    done = find_compiler().run(["-O1", "-w", "-shared", "-fPIC", str(source), "-o", str(library), *linked])
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def run(text: str, m: Match, arrays: dict[str, np.ndarray], folder: Path) -> None:
    order = dict.fromkeys(v.array for v in m.layouts)
    compiled_calls(text, folder).call(*(ctypes.c_void_p(arrays[a].ctypes.data) for a in order))


def filled(scop: Scop, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    chooser = np.random.default_rng(7)
    return {a.name: chooser.integers(-9, 9, tuple(extents_of(a, sizes))).astype(np.float64) for a in scop.arrays}


@pytest.mark.parametrize("case", PRODUCTS)
def test_products(case: str, tmp_path: Path) -> None:
    declarations, update, formula = PRODUCTS[case]
    scop = program(f"int m, int n, int q, {declarations}", NEST.format(update))
    m, text = best_call(scop, "cblas_dgemm", SIZES, "call")
    arrays = filled(scop, SIZES)
    wanted = arrays["C"].copy()
    if formula:
        wanted += np.einsum(formula, arrays["A"], arrays["B"])
    else:
        wanted[:, :7] += arrays["A"][1:, 2:] @ arrays["B"][:, 7:]
    run(text, m, arrays, tmp_path)
    np.testing.assert_array_equal(arrays["C"], wanted)


@pytest.mark.parametrize(("matrix", "update"), [("A[m][q]", "y[i] += A[i][k] * x[k]"),
                                                ("A[q][m]", "y[i] += A[k][i] * x[k]")])
def test_matrix_vector(matrix: str, update: str, tmp_path: Path) -> None:
    scop = program(f"int m, int q, double y[m], double {matrix}, double x[q]",
                   f"for (int i = 0; i < m; i++) for (int k = 0; k < q; k++) {update};")
    sizes = {"m": 5, "q": 3}
    m, text = best_call(scop, "cblas_dgemv", sizes, "call")
    arrays = filled(scop, sizes)
    a = arrays["A"] if matrix == "A[m][q]" else arrays["A"].T
    wanted = arrays["y"] + a @ arrays["x"]
    run(text, m, arrays, tmp_path)
    np.testing.assert_array_equal(arrays["y"], wanted)


@pytest.mark.parametrize(("letter", "kind", "update", "formula"), [
    ("d", "double", "C[p][i][j] += A[p][i][k] * B[p][j][k]", "pik,pjk->pij"),
    ("s", "float", "C[p][i][j] += A[p][k][i] * B[p][k][j]", "pki,pkj->pij")])
def test_a_batched_call_computes_all_products(letter: str, kind: str, update: str, formula: str,
                                              tmp_path: Path) -> None:
    a, b = ("m][q", "n][q") if letter == "d" else ("q][m", "q][n")
    scop = program(f"int b, int m, int n, int q, {kind} C[b][m][n], {kind} A[b][{a}], {kind} B[b][{b}]",
                   "for (int p = 0; p < b; p++) " + NEST.format(update))
    sizes, name = {"b": 4, **SIZES}, f"cblas_{letter}gemm_batch_strided"
    m, text = best_call(scop, name, sizes, "call")
    arrays = {n: x.astype(kind.replace("float", "float32")) for n, x in filled(scop, sizes).items()}
    wanted = arrays["C"] + np.einsum(formula, arrays["A"], arrays["B"])
    run(text, m, arrays, tmp_path)
    np.testing.assert_array_equal(arrays["C"], wanted)


def test_a_batch_is_a_loop_around_the_call_or_the_batched_function(tmp_path: Path) -> None:
    scop = program("int b, int m, int n, int q, double C[b][m][n], double A[b][m][q], double B[b][q][n]",
                   "for (int p = 0; p < b; p++) " + NEST.format("C[p][i][j] += A[p][i][k] * B[p][k][j]"))
    sizes = {"b": 4, **SIZES}
    m, text = best_call(scop, "cblas_dgemm", sizes, "call")
    assert "for (long o_p = 0; o_p < 4; o_p++)" in text
    arrays = filled(scop, sizes)
    wanted = arrays["C"] + arrays["A"] @ arrays["B"]
    run(text, m, arrays, tmp_path)
    np.testing.assert_array_equal(arrays["C"], wanted)
    _, batched = best_call(scop, "cblas_dgemm_batch_strided", sizes, "call")
    assert "cblas_dgemm_batch_strided(CblasRowMajor, CblasNoTrans, CblasNoTrans, 5, 7, 3, 1, A, 3, 15" in batched


REFUSED = {
    "operand A cannot be A: its strides are 6 and 2; cblas_dgemm takes unit stride in the last subscript":
        ("cblas_dgemm", "double C[m][n], double A[m][q][2], double B[q][n]",
         NEST.format("C[i][j] += A[i][k][1] * B[k][j]")),
    "operand C cannot be C: its strides are 14 and 2":
        ("cblas_dgemm", "double C[m][n][2], double A[m][q], double B[q][n]",
         NEST.format("C[i][j][1] += A[i][k] * B[k][j]")),
    "operand A cannot be A: its strides are 1 and 1":
        ("cblas_dgemm", "double C[m][n], double A[m + q], double B[q][n]",
         NEST.format("C[i][j] += A[i + k] * B[k][j]")),
    "operand X cannot be x: its step is -1":
        ("cblas_dgemv", "double C[m], double A[m][q], double x[q]",
         "for (int i = 0; i < m; i++) for (int k = 0; k < q; k++) C[i] += A[i][k] * x[q - 1 - k];"),
    "operand C cannot be C: its matrices of 5 rows 7 elements apart do not lie one behind the other (step -35)":
        ("cblas_dgemm_batch_strided", "double C[8][m][n], double A[8][m][q], double B[8][q][n]",
         "for (int p = 0; p < 8; p++) " + NEST.format("C[7 - p][i][j] += A[p][i][k] * B[p][k][j]")),
    "one call would read and write the same element of C":   # in the program's order, too, but no function may
        ("cblas_dgemv", "double C[m][2 * q], double B[q][q]",
         "for (int i = 0; i < m; i++) for (int j = 0; j < q; j++) for (int k = 0; k < q; k++)"
         " C[i][j] += C[i][q - 1 + k] * B[k][j];"),
    "operand A cannot be A: its elements do not lie at equal steps":
        ("cblas_dgemv", "double C[4], double A[2][q], double x[q]",
         "for (int t = 0; t < 4; t++) for (int k = 0; k < q; k++) C[t] += A[t % 2][k] * x[k];"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_strides_that_the_function_cannot_take_are_refused(why: str) -> None:
    name, declarations, body = REFUSED[why]
    scop = program(f"int m, int n, int q, {declarations}", body)
    found = match(scop, find_intrinsic(name), sizes={p.name: SIZES[p.name] for p in scop.parameters})
    assert not any(why in str(m) for m in found.with_mirrors)
    assert any(why in refusal for refusal in found.refused), found.refused


def test_a_dimension_of_one_element_has_no_stride(tmp_path: Path) -> None:
    """A matrix product of one column is called with the column's own leading dimension."""
    scop = program("double y[5][3], double A[5][7], double x[7]",
                   "for (int i = 0; i < 5; i++) for (int k = 0; k < 7; k++) y[i][1] += A[i][k] * x[k];")
    m, text = best_call(scop, "cblas_dgemm", {}, "call")
    arrays = filled(scop, {})
    wanted = arrays["y"].copy()
    wanted[:, 1] += arrays["A"] @ arrays["x"]
    run(text, m, arrays, tmp_path)
    np.testing.assert_array_equal(arrays["y"], wanted)


def test_arrays_of_another_type_are_not_handed_over() -> None:
    """`float` widens to `double` in C, but a function that reads doubles must not get an array of floats."""
    scop = from_c_text("""void f(double C[9][9], float A[9][9], double B[9][9]) {
#pragma scop
for (int i = 0; i < 9; i++)
  for (int j = 0; j < 9; j++)
    for (int k = 0; k < 9; k++)
      C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}""")
    found = match(scop, find_intrinsic("cblas_dgemm"))
    assert found.count == 0
    assert "operand A: the program has float32, cblas_dgemm wants float64" in str(found.explanations[0])
    assert "store the operand in an array of float64 first" in str(found.explanations[0])


FACTORS = {   # body, the call, whether the statement that scales the result is part of it
    "alpha and beta": ("for (int i = 0; i < m; i++) { for (int j = 0; j < n; j++) C[i][j] *= beta;"
                       "for (int k = 0; k < q; k++) for (int j = 0; j < n; j++)"
                       "C[i][j] += alpha * A[i][k] * B[k][j]; }",
                       "5, 7, 3, alpha[0], A, 3, B, 7, beta[0], C, 7", True),
    "other words": ("for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) { C[i][j] = (beta + 1) * C[i][j];"
                    "for (int k = 0; k < q; k++) { double p = A[i][k] * B[k][j];"
                    "C[i][j] = C[i][j] - 2 * alpha * p; } }",
                    "7, 3, (-2.0 * alpha[0]), A, 3, B, 7, (beta[0] + 1), C, 7", True),
    "cleared": ("for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { C[i][j] = 0;"
                "for (int k = 0; k < q; k++) C[i][j] -= A[i][k] * B[k][j]; }", "-1.0, A, 3, B, 7, 0, C, 7", True),
    "two calls add to one element": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) C[i][j] *= beta;"
        "for (int p = 0; p < 2; p++)" + NEST.format("C[i][j] += D[p] * A[i][k] * B[k][j]"), "B, 7, 1, C, 7", False),
    "a factor that changes": ("for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) C[i][j] *= D[j];"
                              + NEST.format("C[i][j] += A[i][k] * B[k][j]"), "B, 7, 1, C, 7", False),
    "a factor that is written": ("for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) C[i][j] *= D[0];"
                                 + NEST.format("C[i][j] += A[i][k] * B[k][j]") + "D[0] = 3;", "B, 7, 1, C, 7", False),
    "not all elements": ("for (int i = 1; i < m; i++) for (int j = 0; j < n; j++) C[i][j] *= beta;"
                         + NEST.format("C[i][j] += A[i][k] * B[k][j]"), "B, 7, 1, C, 7", False),
    "twice": ("for (int p = 0; p < 2; p++) for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) C[i][j] *= beta;"
              + NEST.format("C[i][j] += A[i][k] * B[k][j]"), "B, 7, 1, C, 7", False),
}


def test_alpha_and_beta_are_given_to_the_call(tmp_path: Path) -> None:
    functions, programs = [], []
    for at, (body, call, folded) in enumerate(FACTORS.values()):
        scop = program("int m, int n, int q, double alpha, double beta, double C[m][n], double A[m][q], double B[q][n],"
                       "double D[n]", body)
        dependences = analysed(scop, for_instructions=True).dependences
        found = match(dependences.scop, find_intrinsic("cblas_dgemm"), sizes=SIZES, dependences=dependences)
        assert found.count == 1, (body, found.explanations)
        whole = tensorize(found.matches[0], dependences=dependences)
        functions.append(library_call(found.matches[0], f"call{at}", whole.scale))
        assert call in functions[-1], functions[-1]
        assert (whole.scale is not None, whole.before is None) == (folded, folded)
        programs.append((scop, whole))
    calls = compiled_calls("".join(functions), tmp_path)
    for at, (scop, whole) in enumerate(programs):
        arrays = filled(scop, SIZES)
        wanted = {n: x.copy() for n, x in arrays.items()}
        execute(scop, SIZES, wanted)
        if whole.before is not None:
            execute(whole.before, SIZES, {a.name: arrays[a.name] for a in whole.before.arrays})
        order = library_arrays(whole.match, whole.scale)
        getattr(calls, f"call{at}")(*(ctypes.c_void_p(arrays[a].ctypes.data) for a in order))
        np.testing.assert_array_equal(arrays["C"], wanted["C"], err_msg=list(FACTORS)[at])


def test_a_call_that_would_round_otherwise_says_so() -> None:
    scop = program("int m, int n, int q, double alpha, double C[m][n], double A[m][q], double B[q][n]",
                   NEST.format("C[i][j] += alpha * A[i][k] * B[k][j]"))
    for numerics, why in ((Numerics(reassociate=False), "cblas_dgemm reorders float additions, which is not allowed"),
                          (Numerics(contract=False), "cblas_dgemm may round a product and its addition once"),
                          (Numerics(finite=False), "cblas_dgemm may leave out what is multiplied by zero")):
        found = match(scop, find_intrinsic("cblas_dgemm"), MatchOptions(numerics=numerics), sizes=SIZES)
        assert found.count == 0
        assert why in str(found.explanations[0])


def test_a_factor_that_may_be_zero_is_an_assumption() -> None:
    """With alpha = 0 the function reads neither A nor B, with beta = 0 not C, whatever these hold."""
    scop = program("int m, int n, int q, double alpha, double beta, double C[m][n], double A[m][q], double B[q][n]",
                   "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) C[i][j] *= beta;"
                   + NEST.format("C[i][j] += alpha * A[i][k] * B[k][j]"))
    found = match(scop, find_intrinsic("cblas_dgemm"), sizes=SIZES).matches[0]
    assert "what is multiplied by zero is finite" in found.assumptions
    assert tensorize(found).scale is not None
