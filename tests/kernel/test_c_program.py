"""Functions of C files: which is meant, and what its sizes are."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polysched
from tests.kernel.products import PRODUCT, compiled, refuses, whole

MORE = """
int count(int n, const int *x) {
  int found = 0;
#pragma scop
  for (int i = 0; i < n; i++) found += x[i] > 0;
#pragma endscop
  return found;
}
void fill(int k) {
#pragma scop
  for (int i = 0; i < ROWS; i++) for (int j = 0; j < 5; j++) table[i][j] += k;
#pragma endscop
}
static void square(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i * n + j] *= 2;
#pragma endscop
}
int main(void) { return 0; }
"""



@pytest.fixture
def several(one: Path) -> Path:
    one.write_text(PRODUCT + MORE)
    return one


def original(path: Path, function: str) -> object:
    """The function of the file as the compiler makes it of the text as written."""
    library = path.with_suffix(".so")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", str(path), "-o", str(library)], check=True)
    return getattr(ctypes.CDLL(str(library)), function)




@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 9), (32, 33)])
def test_a_c_file(one: Path, n: int, m: int) -> None:
    as_written = original(one, "product")
    product = compiled(one)
    assert str(product.__signature__) == "(n, m, C, A, B)"
    C, A, B = whole(n, m), whole(n, n), whole(n, m)
    expected = C.copy()
    as_written(n, m, *(ctypes.c_void_p(x.ctypes.data) for x in (expected, A, B)))
    results = [C.copy(), C.copy(), C.copy(order="F")]
    product(n, m, results[0], A, B)
    product(results[1], A, B)
    product(C=results[2], A=A.copy(order="F"), B=B)
    for result in results:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("arguments", "by_name"), [
    ((2.5, "x", "y"), {}), ((5, 2.5, "x", "y"), {}), ((2.5, "x", "y"), {"n": 5}), ((2.5, "x"), {"y": "y"}),
    ((5, 2.5, "x"), {"y": "y"}), ((), {"a": 2.5, "x": "x", "y": "y"})])
def test_a_number_before_the_arrays_is_told_from_a_size_by_the_count(tmp_path: Path, arguments: tuple,
                                                                     by_name: dict) -> None:
    (tmp_path / "scale.c").write_text("""
void scale(int n, double a, const double x[n], double y[n]) {
#pragma scop
  for (int i = 0; i < n; i++) y[i] = a * x[i];
#pragma endscop
}
""")
    arrays = {"x": whole(5), "y": np.zeros(5)}
    given = {name: arrays.get(value, value) for name, value in by_name.items()}
    compiled(tmp_path / "scale.c")(*(arrays.get(a, a) for a in arguments), **given)
    np.testing.assert_array_equal(arrays["y"], 2.5 * arrays["x"])


def test_a_file_with_several_functions_says_which(several: Path) -> None:
    refuses(lambda: compiled(several), "the file has regions in 4 functions", "product, count, fill, square",
            'function="product"')
    refuses(lambda: compiled(several, function="cont"), "no region in a function named `cont`")
    count = compiled(several, function="count")
    x = whole(50, dtype="int32")
    assert count(50, x) == original(several, "count")(50, ctypes.c_void_p(x.ctypes.data)) == int((x > 0).sum())
    fill = compiled(several, function="fill")
    fill(3)
    np.testing.assert_array_equal(fill.variables["table"], np.full((4, 5), 3.0))
    fill.variables["table"][1] = 0
    fill(2)
    np.testing.assert_array_equal(fill.variables["table"][:2], [[5.0] * 5, [2.0] * 5])
    square = compiled(several, function="square")
    a = whole(6, 6)
    expected = 2 * a
    square(6, a)
    np.testing.assert_array_equal(a, expected)
    refuses(lambda: square(7, a), "square: a has to have at least 49 elements, it has 36")


def test_a_scop_of_a_c_file_is_the_function_around_it(several: Path) -> None:
    scop = polysched.scop.from_c_file(several, function="count")
    count = compiled(scop)
    x = whole(20, dtype="int32")
    assert count(20, x) == int((x > 0).sum())


CHANGED = """
int count = 9;
void half(int n, double *x) {
  n = n / 2;
#pragma scop
  for (int i = 0; i < n; i++) x[i] += 1;
#pragma endscop
}
void other(int n, int m, double *x) {
  if (m > 3) n = m;
  {
    int m = n - 1;
#pragma scop
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[j] += 1;
#pragma endscop
  }
}
void moved(int n, double *x) {
  x += n;
#pragma scop
  for (int i = 0; i < n; i++) x[i - n] += 1;
#pragma endscop
}
void behind(int n, double *x) {
#pragma scop
  for (int i = 0; i < n; i++) x[i] += 1;
#pragma endscop
  n = 0;
}
void again(int n, double *x) {
  for (int t = 0; t < 2; t++) {
#pragma scop
    for (int i = 0; i < n; i++) x[i] += 1;
#pragma endscop
    n = n / 2;
  }
}
void global(double *x) {
#pragma scop
  for (int i = 0; i < count; i++) x[i] += 1;
#pragma endscop
}
"""


@pytest.mark.parametrize(("function", "arguments", "expected"), [
    ("half", (8, 4), [1, 1, 1, 1]), ("other", (1, 4, 3), [4, 4, 4]), ("moved", (3, 3), [1, 1, 1]),
    ("behind", (3, 3), [1, 1, 1]), ("again", (4, 4), [2, 2, 1, 1]), ("global", (9,), [1] * 9)])
def test_sizes_that_the_function_changes_before_the_region_are_not_the_callers(
        tmp_path: Path, function: str, arguments: tuple[int, ...], expected: list[int]) -> None:
    (tmp_path / "changed.c").write_text(CHANGED)
    x = np.zeros(arguments[-1])
    compiled(tmp_path / "changed.c", function=function)(*arguments[:-1], x)
    np.testing.assert_array_equal(x, expected)


def test_sizes_that_the_function_changes_behind_the_region_are_the_callers(tmp_path: Path) -> None:
    (tmp_path / "changed.c").write_text(CHANGED)
    call = compiled(tmp_path / "changed.c", function="behind")
    refuses(lambda: call(8, np.zeros(4)), "x has to have at least 8 elements, it has 4")
