"""The same kernel as C, as Python and as a tensor expression gives equal Scops."""

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from polysched.scop import from_c_file, from_c_text
from polysched.scop.expression import axis, build, compute, placeholder, scalar, symbols
from polysched.scop.expression import sum as reduce_sum
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.python_frontend import from_python
from polysched.scop.scop import Scop, Storage
from tests.kernels.expressions import EXPRESSIONS
from tests.scop.equality import differences

KERNELS = Path(__file__).parents[1] / "kernels"
NAMES = sorted(path.stem for path in KERNELS.glob("*.c"))


def module_of(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"kernel_{name}", KERNELS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def as_c(name: str) -> Scop:
    return from_c_file(KERNELS / f"{name}.c")


@cache
def as_python(name: str) -> Scop:
    return from_python(getattr(module_of(name), name))


@cache
def as_expression(name: str) -> Scop:
    return EXPRESSIONS[name]()


def renamed_in_python(name: str) -> dict[str, str]:
    """Arrays of the Python version whose names are not those of C."""
    return getattr(module_of(name), "NAMES", {})


@pytest.mark.parametrize("name", NAMES)
def test_python_and_c_give_equal_scops(name: str) -> None:
    assert differences(as_c(name), as_python(name), renamed_in_python(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_tensor_expressions_give_scops_equal_to_both(name: str) -> None:
    assert differences(as_c(name), as_expression(name)) == []
    assert differences(as_expression(name), as_python(name), renamed_in_python(name)) == []


def random_arrays(scop: Scop, sizes: dict[str, int], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Well-conditioned input: diagonally dominant where an array is square."""
    arrays = {}
    for array in scop.arrays:
        if array.storage is Storage.LOCAL:
            continue
        shape = tuple(e or 0 for e in extents_of(array, sizes))
        values = rng.random(shape) + 0.5 if array.dtype.is_float else rng.integers(0, 9, shape)
        if len(shape) == 2 and shape[0] == shape[1]:
            values = values + values.T + shape[0] * np.eye(shape[0])
        arrays[array.name] = np.asarray(values).astype(array.dtype.name)
    return arrays


@pytest.mark.parametrize("language", [as_python, as_expression])
@pytest.mark.parametrize("name", NAMES)
def test_every_language_computes_what_c_does(name: str, language: Callable[[str], Scop]) -> None:
    left, right = as_c(name), language(name)
    renamed = renamed_in_python(name) if language is as_python else {}
    sizes = {p.name: 3 + position for position, p in enumerate(left.parameters)}
    arrays = random_arrays(left, sizes, np.random.default_rng(3))
    other = {a.name: arrays[renamed.get(a.name, a.name)].copy() for a in right.arrays
             if renamed.get(a.name, a.name) in arrays and a.storage is not Storage.LOCAL}
    execute(left, sizes, arrays, wrap_signed=True)
    execute(right, sizes, other, wrap_signed=True)
    for array_name, values in other.items():
        expected = arrays[renamed.get(array_name, array_name)]
        tolerance = 1e-4 if values.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance, err_msg=array_name)


def atax_forward() -> Scop:
    m, n = symbols("m n")
    A, x = placeholder("A", (m, n), "float64"), placeholder("x", (n,), "float64")
    j = axis("j")
    return build(compute((m,), lambda i: reduce_sum(A[i, j] * x[j], over=j), name="ax"))


def interior_average() -> Scop:
    m, n = symbols("m n")
    a, s = placeholder("a", (m, n), "float64"), scalar("s", "float64")
    return build(compute((m - 2, n - 2), lambda i, j: s * (
        a[i + 1, j + 1] + a[i + 1, j] + a[i + 1, j + 2] + a[i, j + 1] + a[i + 2, j + 1]), name="b"))


C_TEXTS = {
    "ax": """void f(int m, int n, double A[m][n], double x[n], double ax[m]) {
#pragma scop
for (int i = 0; i < m; i++) { ax[i] = 0; for (int j = 0; j < n; j++) ax[i] += A[i][j] * x[j]; }
#pragma endscop
}""",
    "b": """void f(int m, int n, double s, double a[m][n], double b[m - 2][n - 2]) {
#pragma scop
for (int i = 0; i < m - 2; i++) for (int j = 0; j < n - 2; j++)
  b[i][j] = s * (a[i + 1][j + 1] + a[i + 1][j] + a[i + 1][j + 2] + a[i][j + 1] + a[i + 2][j + 1]);
#pragma endscop
}""",
}


def python_ax(m: int, n: int, A: "float64[m, n]", x: "float64[n]", ax: "float64[m]"):  # noqa: F821
    ax[:] = A @ x


def python_b(m: int, n: int, s: float, a: "float64[m, n]", b: "float64[m - 2, n - 2]"):  # noqa: F821
    b[:, :] = s * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])


@pytest.mark.parametrize(("expression", "text", "function"), [
    (atax_forward, "ax", python_ax), (interior_average, "b", python_b)])
def test_expressions_equal_c_and_python(expression, text: str, function) -> None:
    scop = expression()
    assert differences(from_c_text(C_TEXTS[text]), scop) == []
    assert differences(from_python(function), scop) == []


def test_what_differs_is_said() -> None:
    assert differences(as_c("lu"), as_c("trisolv")) == ["2 and 3 statements"]
    found = differences(as_c("jacobi_1d"), as_c("mvt"))
    assert any("domains" in text for text in found)
    assert any("only the first has" in text for text in found)
