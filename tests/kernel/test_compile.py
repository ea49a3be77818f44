"""`polysched.compile`: every kind of program as a function, against the original, and what a call refuses."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.errors import CompileError, UsageError
from polysched.kernel import Kernel, SharedMemoryError
from polysched.kernel.c_program import CProgram
from polysched.scop.expression import axis, build, compute, loop, placeholder, scalar, sum, symbols, update
from polysched.scop.python_frontend import from_python

RNG = np.random.default_rng(33)

PRODUCT = """
#include "rows.h"
double table[ROWS][5];
int calls = 0;
void product(int n, int m, double C[n][m], const double A[n][n], const double B[n][m]) {
  calls++;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
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
def one(tmp_path: Path) -> Path:
    (tmp_path / "rows.h").write_text("#define ROWS 4\n")
    path = tmp_path / "product.c"
    path.write_text(PRODUCT)
    return path


@pytest.fixture
def several(one: Path) -> Path:
    one.write_text(PRODUCT + MORE)
    return one


def original(path: Path, function: str) -> object:
    """The function of the file as the compiler makes it of the text as written."""
    library = path.with_suffix(".so")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", str(path), "-o", str(library)], check=True)
    return getattr(ctypes.CDLL(str(library)), function)


def whole(*shape: int, dtype: str = "float64") -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype(dtype)


def product_of(dtype: str = "float32"):
    M, N, K = symbols("M N K")
    A, B = placeholder("A", (M, K), dtype), placeholder("B", (K, N), dtype)
    k = axis("k")
    return compute((M, N), lambda i, j: sum(A[i, k] * B[k, j], over=k), name="C")


def refuses(call, *parts: str, error: type = UsageError) -> None:
    with pytest.raises(error) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 8, 9), (33, 31, 32)])
def test_a_tensor_expression(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    product = polysched.compile(product_of("int32"))
    a, b = whole(m, k, dtype="int32"), whole(k, n, dtype="int32")
    np.testing.assert_array_equal(product(a, b), a @ b)
    given = np.full((m, n), 77, "int32")
    assert product(a, b, C=given) is None
    np.testing.assert_array_equal(given, a @ b)


def test_an_update_in_place_takes_a_size_that_no_shape_gives() -> None:
    n, steps = symbols("n steps")
    A, factor = placeholder("A", (n,), "float64"), scalar("factor", "float64")
    t, i = axis("t", steps), axis("i", n)
    scale = polysched.compile(loop(t, i, update(A[i], A[i] * factor)))
    x = whole(9)
    expected = x * 8
    assert scale(x, 2.0, steps=3) is None
    np.testing.assert_array_equal(x, expected)
    refuses(lambda: scale(x, 2.0), "no shape says what steps is", "steps=...")
    refuses(lambda: scale(x, "two", steps=3), "factor has to be a number of type float64, it is a str")
    refuses(lambda: scale(x, 2.0, steps=1.5), "steps has to be a number of type int64, it is the number 1.5")


def test_several_results_and_empty_arrays() -> None:
    (n,) = symbols("n")
    A = placeholder("A", (n,), "float64")
    twice, more = compute((n,), lambda i: A[i] * 2, name="twice"), compute((n,), lambda i: A[i] + 1, name="more")
    both = polysched.compile([twice, more])
    x = whole(17)
    for result, expected in zip(both(x), (x * 2, x + 1), strict=True):
        np.testing.assert_array_equal(result, expected)
    assert [r.shape for r in both(np.zeros(0))] == [(0,), (0,)]


def test_a_scop_of_a_python_function() -> None:
    def shift(x: "float64[N]", y: "float64[N]"):  # noqa: F821
        y[:] = x[::-1] * 2
        return y
    call = polysched.compile(from_python(shift))
    x = whole(11)
    np.testing.assert_array_equal(call(x), x[::-1] * 2)


def test_kernels_and_functions_are_kernels() -> None:
    def double(x):
        x *= 2
    for program in (double, polysched.kernel(double)):
        call = polysched.compile(program)
        assert isinstance(call, Kernel)
        x = whole(5)
        expected = x * 2
        call(x)
        np.testing.assert_array_equal(x, expected)
    kernel = polysched.kernel(double)
    assert polysched.compile(kernel) is kernel
    options = polysched.PipelineOptions(parallel=False)
    assert polysched.compile(kernel, options=options).options == options


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 9), (32, 33)])
def test_a_c_file(one: Path, n: int, m: int) -> None:
    as_written = original(one, "product")
    product = polysched.compile(one)
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
    polysched.compile(tmp_path / "scale.c")(*(arrays.get(a, a) for a in arguments), **given)
    np.testing.assert_array_equal(arrays["y"], 2.5 * arrays["x"])


def test_a_file_with_several_functions_says_which(several: Path) -> None:
    refuses(lambda: polysched.compile(several), "the file has regions in 4 functions", "product, count, fill, square",
            'function="product"')
    refuses(lambda: polysched.compile(several, function="cont"), "no region in a function named `cont`")
    count = polysched.compile(several, function="count")
    x = whole(50, dtype="int32")
    assert count(50, x) == original(several, "count")(50, ctypes.c_void_p(x.ctypes.data)) == int((x > 0).sum())
    fill = polysched.compile(several, function="fill")
    fill(3)
    np.testing.assert_array_equal(fill.variables["table"], np.full((4, 5), 3.0))
    fill.variables["table"][1] = 0
    fill(2)
    np.testing.assert_array_equal(fill.variables["table"][:2], [[5.0] * 5, [2.0] * 5])
    square = polysched.compile(several, function="square")
    a = whole(6, 6)
    expected = 2 * a
    square(6, a)
    np.testing.assert_array_equal(a, expected)
    refuses(lambda: square(7, a), "square: a has to have at least 49 elements, it has 36")


def test_a_scop_of_a_c_file_is_the_function_around_it(several: Path) -> None:
    scop = polysched.scop.from_c_file(several, function="count")
    count = polysched.compile(scop)
    x = whole(20, dtype="int32")
    assert count(20, x) == int((x > 0).sum())


@pytest.mark.parametrize(("arguments", "parts"), [
    (lambda C, A, B: (C, A, B[:5]), ["B has to have the shape (n, m) = (6, 8), it has the shape (5, 8)"]),
    (lambda C, A, B: (7, 8, C, A, B), ["C has to have the shape (n, m) = (7, 8), it has the shape (6, 8)"]),
    (lambda C, A, B: (C, A.astype("float32"), B),
     ["A has to be an array of float64 with 2 dimensions", "it is an array of float32 with the shape (6, 6)"]),
    (lambda C, A, B: (C, A, B[0]), ["B has to be an array of float64 with 2 dimensions", "the shape (8,)"]),
    (lambda C, A, B: (C, A), ["the argument B is missing", "(n, m, C, A, B)"]),
    (lambda C, A, B: (6, 8, C, A, B, 1), ["6 arguments are too many"]),
    (lambda C, A, B: (6.5, 8, C, A, B), ["n has to be a number of type int32, it is the number 6.5"]),
    (lambda C, A, B: (2**40, 8, C, A, B), ["n has to be a number of type int32"]),
    (lambda C, A, B: (C, A, [1.0]), ["B has to be an array of float64", "it is a list"]),
])
def test_c_arguments_that_do_not_fit_are_refused(one: Path, arguments, parts: list[str]) -> None:
    product = polysched.compile(one)
    C, A, B = whole(6, 8), whole(6, 6), whole(6, 8)
    before = C.copy()
    refuses(lambda: product(*arguments(C, A, B)), *parts)
    np.testing.assert_array_equal(C, before)


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
    polysched.compile(tmp_path / "changed.c", function=function)(*arguments[:-1], x)
    np.testing.assert_array_equal(x, expected)


def test_sizes_that_the_function_changes_behind_the_region_are_the_callers(tmp_path: Path) -> None:
    (tmp_path / "changed.c").write_text(CHANGED)
    call = polysched.compile(tmp_path / "changed.c", function="behind")
    refuses(lambda: call(8, np.zeros(4)), "x has to have at least 8 elements, it has 4")


def test_the_other_byte_order_is_said(one: Path) -> None:
    C, A, B = whole(3, 4), whole(3, 3), whole(3, 4)
    message = "B has elements in the other byte order (>f8)"
    refuses(lambda: polysched.compile(one)(C, A, B.astype(">f8")), message, "newbyteorder")
    call = polysched.compile(product_of("float64"))
    refuses(lambda: call(A, B.astype(">f8")), message, "newbyteorder")


def test_memory_that_does_not_fit_is_refused(one: Path) -> None:
    product = polysched.compile(one)
    C, A, B = whole(6, 6), whole(6, 6), whole(6, 6)
    refuses(lambda: product(C, C, B), "product: C and A overlap, and one of them is written", error=SharedMemoryError)
    product(C.copy(), A, A)
    C.flags.writeable = False
    refuses(lambda: product(C, A, B), "C is written, but the array is read-only")
    expression = polysched.compile(product_of("float64"))
    refuses(lambda: expression(A, B, C=A), "A and C overlap", error=SharedMemoryError)


@pytest.mark.parametrize(("arguments", "parts"), [
    (lambda a, b: (a, b[:3]), ["C: B has the shape (3, 5), its extent 0 has to be K = 4"]),
    (lambda a, b: (a, b.astype("float64")), ["B has to be an array of float32 with 2 dimensions", "float64"]),
    (lambda a, b: (a,), ["missing a required argument: 'B'"]),
    (lambda a, b: (a, b, np.zeros((6, 6), "f")), ["C has the shape (6, 6), its extent 1 has to be N = 5"]),
    (lambda a, b: (a, 3), ["B has to be an array of float32", "it is the number 3"]),
])
def test_arguments_of_expressions_that_do_not_fit_are_refused(arguments, parts: list[str]) -> None:
    product = polysched.compile(product_of())
    refuses(lambda: product(*arguments(whole(6, 4, dtype="float32"), whole(4, 5, dtype="float32"))), *parts)


def test_what_does_not_compile(tmp_path: Path) -> None:
    refuses(lambda: polysched.compile(3), "a int does not compile")
    refuses(lambda: polysched.compile(product_of(), function="f"), "function= names a function of a C file")
    refuses(lambda: polysched.compile(tmp_path / "none.c"), "cannot read the file")
    path = tmp_path / "struct.c"
    path.write_text("struct s { int n; };\nvoid f(struct s *s, double A[9]) {\n#pragma scop\n"
                    "for (int i = 0; i < 9; i++) A[i] = 1;\n#pragma endscop\n}\n")
    refuses(lambda: polysched.compile(path), "no NumPy array or number can be passed for `struct s *s`")
    path.write_text("double *A;\nvoid f(int n) {\n#pragma scop\nfor (int i = 0; i < n; i++) A[i] = 1;\n"
                    "#pragma endscop\n}\n")
    refuses(lambda: polysched.compile(path), "A is a pointer of the file", "make it a parameter")
    path.write_text("void other(double *);\nvoid f(double A[9]) {\nother(A);\n#pragma scop\n"
                    "for (int i = 0; i < 9; i++) A[i] = 1;\n#pragma endscop\n}\n")
    refuses(lambda: polysched.compile(path), "the compiled code cannot be loaded", "other", error=CompileError)


def test_a_compiled_file_is_found_again(one: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polysched.compile(one)
    (entry,) = cache.iterdir()
    assert sorted(p.name for p in entry.iterdir()) == ["entry.json", "kernel.c", "kernel.so", "program.c"]

    def built_again(*_: object) -> None:
        raise AssertionError("nothing is optimised or compiled again")
    with monkeypatch.context() as forbidden:
        forbidden.setattr(CProgram, "_build", built_again)
        C, A, B = whole(6, 8), whole(6, 6), whole(6, 8)
        expected = C + A @ B
        polysched.compile(one)(C, A, B)
        np.testing.assert_array_equal(C, expected)
    (one.parent / "rows.h").write_text("#define ROWS 6\n")
    polysched.compile(one)
    polysched.compile(one, options=polysched.PipelineOptions(parallel=False))
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("kind", ["file", "expression"])
def test_an_entry_that_others_could_have_written_is_not_loaded(one: Path, cache: Path, kind: str) -> None:
    def run() -> None:
        x = np.eye(4)
        if kind == "file":
            C = np.zeros((4, 4))
            polysched.compile(one)(C, x, x)
        else:
            C = polysched.compile(product_of("float64"))(x, x)
        np.testing.assert_array_equal(C, x)
    run()
    (entry,) = cache.iterdir()
    library = entry / "kernel.so"
    library.unlink()
    library.write_bytes(b"theirs")
    entry.chmod(0o777)
    run()
    assert library.read_bytes() != b"theirs"
    assert (entry.stat().st_mode & 0o777, cache.stat().st_mode & 0o777) == (0o700, 0o700)


def test_a_scop_is_named_by_all_that_its_code_depends_on(cache: Path) -> None:
    a = whole(4, 4, dtype="int32")
    polysched.compile(product_of("int32"))(a, a)
    polysched.compile(build(product_of("int32")))(a, a)
    assert len(list(cache.iterdir())) == 1
    polysched.compile(product_of("int64"))(a.astype("int64"), a.astype("int64"))
    assert len(list(cache.iterdir())) == 2


def test_a_compiled_function_shows_its_name_and_its_arguments_in_one_line(one: Path) -> None:
    for function in (polysched.compile(one), polysched.compile(product_of())):
        assert repr(function).startswith("<polysched.compile: ")
        assert "(" in repr(function)
        assert "\n" not in repr(function)
