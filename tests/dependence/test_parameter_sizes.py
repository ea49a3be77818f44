"""How large parameters can be, by the arrays that they index."""

from __future__ import annotations

import islpy as isl
import pytest

import polysched
from polysched.dependence.analysis import analyse
from polysched.dependence.expansion import expand_temporaries, is_affordable
from polysched.dependence.parameter_sizes import largest_parameters, sizes_inside
from polysched.scop import from_c_text
from polysched.scop.scop import Scop


def _scop(body: str) -> Scop:
    return from_c_text(f"""
void f(int n, int m, int k, double A[restrict 50][80], double B[restrict 80], double C[restrict k])
{{
#pragma scop
  {body}
#pragma endscop
}}
""")


@pytest.mark.parametrize(("body", "sizes"), [
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = 0;", {"n": 50, "m": 80}),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = 0;", {"n": 50}),
    ("for (int i = 1; i < n - 1; i++) B[i + 1] = B[i - 1];", {"n": 80}),
    ("for (int i = 0; i < n; i++) C[i] = B[0];", {}),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) C[i] = B[j];", {"m": 80}),
    ("for (int i = 0; i < n; i++) if (C[i] > 0) B[i] = 1;", {}),
    ("for (int i = 0; i < n; i++) A[i / 2][i % 2] = 0;", {"n": 100}),
    ("for (int i = n; i < m; i++) A[0][m - i] = 0;", {}),
    ("if (n > 60) C[0] = B[n]; else C[0] = A[n][n];", {"n": 79}),
    ("for (int i = 0; i < n; i++) B[i + 80] = 0;", {}),
])
def test_accesses_stay_inside(body: str, sizes: dict[str, int]) -> None:
    assert largest_parameters(_scop(body)) == sizes


@pytest.mark.parametrize(("body", "inside"), [
    ("for (int i = 0; i < n; i++) C[i] = B[0];", "n <= k or n <= 0"),
    ("for (int i = -n; i < n; i++) C[i + 12] = B[i + 12];", "n <= 0 or (n <= 12 and n + 12 <= k)"),
    ("for (int i = 0; i < n; i++) B[i + 80] = 0;", "n <= 0"),
    ("for (int i = 0; i < n; i++) if (C[0] > 0) B[i + 80] = 0;", "1 <= k"),
    ("B[80] = 0;", "1 = 0"),
])
def test_sizes_at_which_accesses_stay_inside(body: str, inside: str) -> None:
    scop = _scop(body)
    wanted = isl.Set(f"[n, m, k] -> {{ : {inside} }}").intersect_params(scop.context.params())
    found = sizes_inside(scop)
    assert found is not None
    assert found.params().is_equal(wanted.params()), (str(found), str(wanted))
    running = sizes_inside(scop, "S0")
    assert running is not None
    assert running.is_equal(wanted.intersect(scop.statement("S0").domain.params()))


ROWS = """
void f(int r, int q, int n, double A[restrict {r}][{q}][{n}], double M[restrict {n}][{n}], double t[restrict {n}])
{{
#pragma scop
  for (int i = 0; i < r; i++)
    for (int j = 0; j < q; j++) {{
      for (int k = 0; k < n; k++) {{ t[k] = 0; for (int s = 0; s < n; s++) t[k] += A[i][j][s] * M[s][k]; }}
      for (int k = 0; k < n; k++) A[i][j][k] = t[k];
    }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(("sizes", "affordable"), [
    ({"r": "150", "q": "140", "n": "160"}, True),
    ({"r": "r", "q": "q", "n": "n"}, True),
    ({"r": "r", "q": "2000", "n": "2000"}, True),
])
def test_copies_are_as_large_as_their_loops_can_be(sizes: dict[str, str], affordable: bool) -> None:
    scop = from_c_text(ROWS.format(**sizes))
    expanded = expand_temporaries(analyse(scop)).dependences.scop
    assert is_affordable(expanded, "t_copy") is affordable
    optimized = polysched.optimize(scop)
    assert ("#pragma omp parallel for" in optimized.text) is affordable
    assert bool(optimized.last_values) is affordable


def test_copies_of_more_than_all_arrays_are_too_many() -> None:
    scop = from_c_text("""
void f(int r, int n, double b[restrict 400], double c[restrict 400], double t[restrict 400])
{
#pragma scop
  for (int i = 0; i < r; i++) {
    for (int k = 0; k < n; k++) t[k] = b[k] * c[i];
    for (int k = 0; k < n; k++) c[i] += t[n - 1 - k];
  }
#pragma endscop
}
""")
    expanded = expand_temporaries(analyse(scop)).dependences.scop
    assert largest_parameters(scop) == {"r": 400, "n": 400}
    assert not is_affordable(expanded, "t_copy")   # 400 x 400 elements are more than SMALLEST_LIMIT_BYTES


@pytest.mark.parametrize(("dtype", "known"), [("short", {}), ("unsigned short", {}), ("int", {}), ("char", {"n": 127})])
def test_the_largest_value_of_a_type_is_no_size_of_an_array(dtype: str, known: dict[str, int]) -> None:
    scop = from_c_text(f"""
void f({dtype} n, double *x)
{{
#pragma scop
  for (int i = 0; i < n; i++) x[i] = 1;
#pragma endscop
}}
""")
    assert largest_parameters(scop) == known
