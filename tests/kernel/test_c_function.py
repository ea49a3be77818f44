"""Compiled functions of C files: arguments, memory, and the cache."""

from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.errors import CompileError
from polysched.kernel import SharedMemoryError
from polysched.kernel.c_program import CProgram
from tests.kernel.products import compiled, product_of, refuses, whole


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
    product = compiled(one)
    C, A, B = whole(6, 8), whole(6, 6), whole(6, 8)
    before = C.copy()
    refuses(lambda: product(*arguments(C, A, B)), *parts)
    np.testing.assert_array_equal(C, before)


def test_the_other_byte_order_is_said(one: Path) -> None:
    C, A, B = whole(3, 4), whole(3, 3), whole(3, 4)
    message = "B has elements in the other byte order (>f8)"
    refuses(lambda: compiled(one)(C, A, B.astype(">f8")), message, "newbyteorder")
    call = compiled(product_of("float64"))
    refuses(lambda: call(A, B.astype(">f8")), message, "newbyteorder")


def test_memory_that_does_not_fit_is_refused(one: Path) -> None:
    product = compiled(one)
    C, A, B = whole(6, 6), whole(6, 6), whole(6, 6)
    refuses(lambda: product(C, C, B), "C and A overlap, and one of them is not `const`", error=SharedMemoryError)
    product(C.copy(), A, A)
    C.flags.writeable = False
    refuses(lambda: product(C, A, B), "C is written, but the array is read-only")
    expression = compiled(product_of("float64"))
    refuses(lambda: expression(A, B, C=A), "A and C overlap", error=SharedMemoryError)


def test_what_does_not_compile(tmp_path: Path) -> None:
    refuses(lambda: compiled(3), "a int does not compile")
    refuses(lambda: compiled(product_of(), function="f"), "function= names a function of a C file")
    refuses(lambda: compiled(tmp_path / "none.c"), "cannot read the file")
    path = tmp_path / "struct.c"
    path.write_text("struct s { int n; };\nvoid f(struct s *s, double A[9]) {\n#pragma scop\n"
                    "for (int i = 0; i < 9; i++) A[i] = 1;\n#pragma endscop\n}\n")
    refuses(lambda: compiled(path), "no NumPy array or number can be passed for `struct s *s`")
    path.write_text("double *A;\nvoid f(int n) {\n#pragma scop\nfor (int i = 0; i < n; i++) A[i] = 1;\n"
                    "#pragma endscop\n}\n")
    refuses(lambda: compiled(path), "A is a pointer of the file", "make it a parameter")
    path.write_text("void other(double *);\nvoid f(double A[9]) {\nother(A);\n#pragma scop\n"
                    "for (int i = 0; i < 9; i++) A[i] = 1;\n#pragma endscop\n}\n")
    refuses(lambda: compiled(path), "the compiled code cannot be loaded", "other", error=CompileError)


def test_a_compiled_file_is_found_again(one: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(one)
    (entry,) = cache.iterdir()
    assert sorted(p.name for p in entry.iterdir()) == ["entry.json", "kernel.c", "kernel.so", "program.c"]

    def built_again(*_: object) -> None:
        raise AssertionError("nothing is optimised or compiled again")
    with monkeypatch.context() as forbidden:
        forbidden.setattr(CProgram, "_build", built_again)
        C, A, B = whole(6, 8), whole(6, 6), whole(6, 8)
        expected = C + A @ B
        compiled(one)(C, A, B)
        np.testing.assert_array_equal(C, expected)
    (one.parent / "rows.h").write_text("#define ROWS 6\n")
    compiled(one)
    polysched.compile(one, options=polysched.PipelineOptions(scheduler="original", tile="off"))
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("kind", ["file", "expression"])
def test_an_entry_that_others_could_have_written_is_not_loaded(one: Path, cache: Path, kind: str) -> None:
    def run() -> None:
        x = np.eye(4)
        if kind == "file":
            C = np.zeros((4, 4))
            compiled(one)(C, x, x)
        else:
            C = compiled(product_of("float64"))(x, x)
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


@pytest.mark.parametrize("sizes", [(0, 5, 3), (4, 0, 3), (4, 5, 0), (0, 0, 0), (4, 5, 3)])
def test_arrays_without_elements(tmp_path: Path, sizes: tuple[int, int, int]) -> None:
    n, m, k = sizes
    path = tmp_path / "f.c"
    path.write_text("""void f(int n, int m, int k, double A[n][k], double B[m][k], double C[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      C[i][j] = 0;
      for (int l = 0; l < k; l++)
        C[i][j] += A[i][l] * B[j][l];
    }
#pragma endscop
}
""")
    A, B, C = np.ones((n, k)), np.ones((m, k)), np.full((n, m), 7.0)
    compiled(path)(A, B, C)
    np.testing.assert_array_equal(C, np.full((n, m), float(k)))


@pytest.mark.parametrize("sizes", [(5, 2, 4), (5, 4, 4), (5, 9, 3), (0, 3, 3), (1, 0, 3)])
def test_windows_that_overlap(tmp_path: Path, sizes: tuple[int, int, int]) -> None:
    """The original code runs for them, and what it reaches is looked at all the same."""
    n, s, k = sizes
    path = tmp_path / "f.c"
    path.write_text("""void f(int n, int s, int k, double *restrict d, double c[n][k]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < k; j++)
      d[i * s + j] = d[i * s + j] * 0.5 + c[i][j];
#pragma endscop
}
""")
    c, needed = np.arange(n * k, dtype=float).reshape(n, k), (n - 1) * s + k if n else 0
    d, expected = np.ones(needed + 1), np.ones(needed + 1)
    for i in range(n):
        for j in range(k):
            expected[i * s + j] = expected[i * s + j] * 0.5 + c[i, j]
    function = compiled(path)
    function(n, s, k, d, c)
    np.testing.assert_array_equal(d, expected)
    if needed:
        refuses(lambda: function(n, s, k, np.ones(needed - 1), c), f"d has to have at least {needed} elements")
