"""Complex numbers inside regions: elements with C's own operations; results are the original's bit for bit."""

from pathlib import Path

import numpy as np
import pytest

from polysched import compile as compiled
from polysched.dependence import find_reductions
from polysched.errors import UnsupportedScopError, UsageError
from polysched.scop import from_c_text
from polysched.scop.dtypes import COMPLEX64, COMPLEX128
from polysched.scop.interpreter import execute
from tests.scop.c_frontend.same_output import same_output

HEAD = "#include <complex.h>\n#include <math.h>\n"
FILL = """
  enum { N = 37 };
  static double complex x[N * N], y[N * N], z[N * N];
  filled((double *)x, 2 * N * N); filled((double *)y, 2 * N * N);
"""
CORNERS = """
  double corners[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e300, -1.5};
  for (int k = 0; k < N * N; k += 5) ((double *)x)[2 * k + k % 2] = corners[k % 7];
  for (int k = 0; k < N * N; k += 3) ((double *)y)[2 * k + k % 2] = corners[k % 5];
"""
SHOW = ' for (int k = 0; k < 2 * N * N; k++) { double v = ((double *)z)[k]; printf(v != v ? "nan " : "%a ", v); }'
"""A NaN's sign is no part of what C says of a product."""

BODIES = {
    "elementwise": "z[i * n + j] = x[i * n + j] * y[i * n + j] + x[i * n + j] - y[i * n + j];",
    "real factors": "z[i * n + j] = 2 * x[i * n + j] * creal(y[i * n + j]) - 1.5f / 2.0 - (0.5 - y[i * n + j]) / 3;",
    "the imaginary unit": "z[i * n + j] = I * x[i * n + j] + CMPLX(i, j) * -y[i * n + j];",
    "functions": "z[i * n + j] = conj(x[i * n + j]) * cexp(-cabs(y[i * n + j]) / 50) + carg(x[i * n + j]);",
    "choices": "if (x[i * n + j] != y[i * n + j]) z[i * n + j] = x[i * n + j] ? y[i * n + j] : cimag(x[i * n + j]);",
    "conversions": "double r = x[i * n + j]; int k = creal(y[i * n + j]) > 0; z[i * n + j] += r * k;",
    "updates": "z[i * n + j] += x[i * n + j]; z[i * n + j] *= y[j * n + i]; z[i * n + j] -= i; z[i * n + j] /= 2;",
    "locals": "double complex t = x[i * n + j] * I; z[i * n + j] = t * t + ~t;",
    "truth": "_Bool b = x[i * n + j]; z[i * n + j] += b; int c = !y[i * n + j]; z[i * n] -= c;",
    "narrow": "float complex f = x[i * n + j]; z[i * n + j] = f * f + y[i * n + j];",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_elementwise(tmp_path: Path, body: str) -> None:
    text = f"{HEAD}void f(int n, const double complex *restrict x, const double complex *restrict y,\n" \
           f"       double complex *restrict z) {{\n#pragma scop\nfor (int i = 0; i < n; i++)\n" \
           f"for (int j = 0; j < n; j++) {{\n{body}\n}}\n#pragma endscop\n}}\n"
    made = same_output(tmp_path, text, f"{FILL}{CORNERS} f(N, x, y, z); {SHOW}")
    assert len(made.regions) == 1
    assert all(region.source is not None for region in made.regions)


def test_a_product_of_matrices_keeps_its_order_and_its_sums_in_registers(tmp_path: Path) -> None:
    text = f"{HEAD}void f(int n, float complex C[restrict n][n], float complex A[restrict n][n],\n" \
           "       float complex B[restrict n][n]) {\n#pragma scop\nfor (int i = 0; i < n; i++)\n" \
           "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}\n"
    main = "enum { N = 41 }; static float complex C[N][N], A[N][N], B[N][N];\n" \
           "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)\n" \
           "  A[i][j] = i - j * I, B[i][j] = (i * j % 7) * 0.1f * I;\n" \
           'A[3][4] = INFINITY; f(N, C, A, B); float *p = (float *)C;\n' \
           'for (int k = 0; k < 2 * N * N; k++) printf(p[k] != p[k] ? "nan " : "%a ", p[k]);'
    made = same_output(tmp_path, text, main)
    assert "#pragma omp parallel for" in made.text
    assert "C_held += A[i][k] * B[k][j];" in made.text
    assert "_tile" not in made.text


def test_stencils_over_time_are_tiled(tmp_path: Path) -> None:
    text = f"{HEAD}void f(int t, int n, double complex A[restrict n][n], double complex B[restrict n][n]) {{\n" \
           "#pragma scop\nfor (int s = 0; s < t; s++) {\n" \
           "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)\n" \
           "  B[i][j] = 0.5 * A[i - 1][j] - A[i][j + 1];\n" \
           "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) A[i][j] = B[i][j] * I;\n}\n" \
           "#pragma endscop\n}\n"
    main = f"{FILL} f(7, N, (double complex (*)[N])x, (double complex (*)[N])z); {SHOW}"
    assert "_tile" in same_output(tmp_path, text, main).text


def test_sums_are_no_reductions() -> None:
    """Terms of a sum could be reordered; factors could not, since the order decides which infinities are recovered."""
    scop = from_c_text(f"{HEAD}void f(int n, const double complex *x, double complex *s, double *d) {{\n#pragma scop\n"
                       "for (int i = 0; i < n; i++) { s[0] += x[i]; s[1] *= x[i]; d[0] += x[i]; }\n"
                       "#pragma endscop\n}\n")
    assert find_reductions(scop) == ()


def test_the_interpreter_has_them(tmp_path: Path) -> None:
    scop = from_c_text(f"{HEAD}void f(int n, float complex a, const double complex *x, double complex *y) {{\n"
                       "#pragma scop\nfor (int i = 0; i < n; i++) {\n"
                       "  y[i] -= a * x[i] * I; if (!x[i]) y[i] = CMPLX(1, i); }\n#pragma endscop\n}\n")
    assert [array.dtype for array in scop.arrays] == [COMPLEX128, COMPLEX64, COMPLEX128]
    x, y = np.array([1 + 2j, 0, 3j]), np.ones(3, np.complex128)
    execute(scop, {"n": 3}, {"a": 2j, "x": x, "y": y})
    assert y.tolist() == [1 - (2j * (1 + 2j) * 1j), 1 + 1j, 1 - (2j * 3j * 1j)]


def test_parts_and_whole_numbers_may_share_memory() -> None:
    """C lets a pointer to double lead to a part of a complex number, and to no element of another type."""
    scop = from_c_text(f"{HEAD}void f(int n, double *p, float *q, double complex *z) {{\n#pragma scop\n"
                       "for (int i = 0; i < n; i++) { z[i] = p[i] + q[i]; }\n#pragma endscop\n}\n")
    apart = {pair for assumption in scop.assumptions for pair in assumption.apart}
    assert apart in ({("z", "p")}, {("p", "z")})


def test_a_function_of_a_file_takes_complex_arrays_and_numbers(tmp_path: Path) -> None:
    file = tmp_path / "axpy.c"
    file.write_text(f"{HEAD}double complex axpy(int n, double complex a, const double complex *x,\n"
                    "                    double complex *y) {\n#pragma scop\n"
                    "for (int i = 0; i < n; i++) y[i] += a * x[i];\n#pragma endscop\nreturn a * y[0];\n}\n")
    axpy = compiled(file)
    x, y = np.arange(5) * (1 + 2j), np.ones(5, np.complex128)
    expected = y + (3 - 1j) * x
    assert axpy(5, 3 - 1j, x, y) == (3 - 1j) * expected[0]
    assert y.tolist() == expected.tolist()
    with pytest.raises(UsageError, match="x has to be an array of complex128"):
        axpy(5, 1, x.real.copy(), y)


def test_numbers_counted_by_complex_conditions(tmp_path: Path) -> None:
    text = f"{HEAD}void f(int n, const double complex *restrict x, double *restrict z) {{\n#pragma scop\n" \
           "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { _Bool b = x[i * n + j]; z[i] += b; }\n" \
           "#pragma endscop\n}\n"
    same_output(tmp_path, text, "enum { N = 37 }; static double complex x[N * N]; static double z[N];\n"
                "filled((double *)x, N * N); f(N, x, z); shown(\"z\", z, N);")
    text = text.replace("double *restrict z", "int *restrict z")
    same_output(tmp_path, text, "enum { N = 37 }; static double complex x[N * N]; static int z[N];\n"
                'filled((double *)x, N * N); f(N, x, z); for (int k = 0; k < N; k++) printf("%d ", z[k]);')


@pytest.mark.parametrize(("body", "problem"), [
    ("z[i] = z[i] % 2;", "the operator % needs integers"),
    ("z[i] <<= 1;", "the operator <<= needs integers"),
    ("if (z[i] < 2) z[i] = 0;", "the operator < needs real numbers"),
    ("z[(int)creal(z[i])] = __builtin_complex(1, 2);", "two numbers of one floating-point type"),
    ("z[i] = __builtin_complex(1.0, 2.0f);", "two numbers of one floating-point type"),
])
def test_refusals(body: str, problem: str) -> None:
    with pytest.raises(UnsupportedScopError, match=problem):
        from_c_text(f"{HEAD}void f(int n, double complex *z) {{\n#pragma scop\nfor (int i = 0; i < n; i++) {body}\n"
                    "#pragma endscop\n}\n")
