"""Lower bounds as formulas: those of the literature, what they may not claim, and a simulated cache above them."""

from pathlib import Path

import pytest
import sympy

from polysched.dependence import analyse
from polysched.errors import UsageError
from polysched.scop import from_c_file, from_c_text
from polysched.tiling.footprints.bound_formula import bound_formula

KERNELS = Path(__file__).parents[2] / "kernels"
IJ = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
K = "for (int k = 0; k < n; k++)"


def _of_kernel(name):
    return bound_formula(analyse(from_c_file(KERNELS / f"{name}.c")))


def _of(signature, body):
    return bound_formula(analyse(from_c_text(f"void f({signature}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")))


def _same(formula, text):
    names = {str(s): s for s in formula.free_symbols}
    return sympy.simplify(formula - sympy.sympify(text, locals=names)) == 0


@pytest.mark.parametrize(("name", "expected"), [
    ("gemm", "2*m*n*k/sqrt(S)"), ("syrk", "m*n**2/(2*sqrt(S))"), ("syr2k", "m*n**2/sqrt(S)"),
    ("cholesky", "n**3/(6*sqrt(S))"), ("lu", "2*n**3/(3*sqrt(S))"), ("jacobi_1d", "n*steps/(4*S)"),
    ("ludcmp", "2*n**3/(3*sqrt(S))"), ("symm", "sqrt(2)*m**2*n/sqrt(S)"),
    ("mm2", "2*l*m*(k + n)/sqrt(S)"), ("floyd_warshall", "2*n**3/sqrt(S)"), ("mvt", "n**2"), ("trisolv", "n**2/2"),
])
def test_the_published_bound(name, expected):
    assert _same(_of_kernel(name).leading, expected)


def test_a_copy_moves_its_elements_and_no_more():
    found = _of("int n, double a[n][n], double b[n][n]", f"{IJ} b[i][j] = a[j][i];")
    assert _same(found.leading, "n**2")
    assert found.reuse == 0
    assert not found.statements


def test_an_array_that_is_written_first_is_no_input():
    found = _of("int n, double a[n], double b[n]",
                "for (int i = 0; i < n; i++) a[i] = i; for (int i = 0; i < n; i++) b[i] = a[i];")
    assert found.leading == 0


def test_two_products_that_read_the_same_operands_are_not_added_up():
    loops = f"{IJ} {K} {{{{ {{}} }}}}"
    signature = "int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n], double E[n][n]"
    shared = _of(signature, loops.format("C[i][j] += A[i][k] * B[k][j]; D[i][j] -= A[i][k] * B[k][j];"))
    apart = _of("int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n], double E[n][n], double F[n][n]",
                loops.format("C[i][j] += A[i][k] * B[k][j]; D[i][j] -= E[i][k] * F[k][j];"))
    assert _same(shared.leading, "2*n**3/sqrt(S)")
    assert _same(apart.leading, "4*n**3/sqrt(S)")


def test_halves_of_a_product_are_as_the_whole():
    """Two statements whose instances lie beside each other have the projections of one: no value counts twice."""
    signature = "int n, double A[n][n], double B[n][n], double C[n][n]"
    half = "for (int k = {}; k < {}; k++) C[i][j] += A[i][k] * B[k][j];"
    found = _of(signature, f"{IJ} {{ {half.format(0, 'i')} {half.format('i', 'n')} }}")
    assert _same(found.leading, "2*n**3/sqrt(S)")
    assert [s.statement for s in found.statements] == ["S0, S1"]
    other = _of(signature, f"{IJ} {{ {half.format(0, 'n')} {half.format(0, 'n')} }}")
    assert _same(other.leading, "2*n**3/sqrt(S)"), "both may run beside each other, on the same values"


def test_both_operands_from_one_array_share_its_values():
    squared = _of("int n, double A[n][n], double C[n][n]", f"{IJ} {K} C[i][j] += A[i][k] * A[k][j];")
    assert _same(squared.leading, "n**3/sqrt(S)")


def test_a_sum_that_goes_nowhere_twice_forces_nothing():
    found = _of("int n, double a[n][n][n], double s[1]",
                f"{IJ} {K} s[0] += a[i][j][k];")
    assert _same(found.leading, "n**3")


def test_loops_of_fixed_length_add_no_power():
    # nearly all of a loop of three iterations is not two thirds of it
    found = _of("int h, int o, double X[h + 2], double W[o][3], double Y[o][h]",
                "for (int b = 0; b < o; b++) for (int i = 0; i < h; i++) for (int u = 0; u < 3; u++)"
                " Y[b][i] += W[b][u] * X[i + u];")
    assert all(s.exponent == 2 for s in found.statements)
    assert _same(found.leading, "h*o")


def test_a_sum_over_several_loops_is_one_chain():
    summed = _of("int m, int n, int k, int q, double A[m][k][q], double B[k][q][n], double C[m][n]",
                 "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++)"
                 " for (int a = 0; a < k; a++) for (int b = 0; b < q; b++) C[i][j] += A[i][a][b] * B[a][b][j];")
    assert _same(summed.leading, "2*k*m*n*q/sqrt(S)")


def test_border_reads_are_no_reuse_of_the_interior():
    # the right border is read in all steps, but every other value of a step once
    found = _of_kernel("jacobi_1d")
    assert [s.statement for s in found.statements] == ["S0"]
    assert all(" by " in r.name for r in found.statements[0].reuses)


def test_reads_that_may_not_happen_are_not_counted():
    chosen = _of("int n, double a[n], double b[n], double c[n]",
                 "for (int i = 0; i < n; i++) b[i] = c[i] > 0 ? a[i] : 0;")
    indirect = _of("int n, double a[n], int p[n], double b[n]", "for (int i = 0; i < n; i++) b[i] = a[p[i]];")
    assert _same(chosen.leading, "n")
    assert indirect.leading == 0, "all may be one element"


def test_rows_that_data_choose_are_no_operand():
    found = _of("int n, double A[n][n], double B[n][n], double C[n][n], int p[n]",
                f"{IJ} {K} C[i][j] += A[i][p[k]] * B[k][j];")
    assert found.reuse == 0 or found.statements[0].exponent > 1.5


@pytest.mark.parametrize("body", ["if (b[i] > 0) b[i] = a[i];", "b[p[i]] = a[i];"])
def test_writes_that_are_not_certain_are_refused(body):
    with pytest.raises(UsageError, match="writes that are certain"):
        _of("int n, double a[n], int p[n], double b[n]", f"for (int i = 0; i < n; i++) {body}")


def test_memory_based_dependences_are_refused():
    with pytest.raises(UsageError, match="needs exact, value-based dependences"):
        bound_formula(analyse(from_c_file(KERNELS / "gemm.c"), value_based=False))


def test_it_shows_itself_in_one_line():
    assert repr(_of_kernel("gemm")) == "<BoundFormula 2*k*m*n/sqrt(S)>"
