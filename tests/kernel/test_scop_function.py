"""Compiled Scops as functions of NumPy arrays."""

from pathlib import Path

import numpy as np
import pytest

from polysched.scop.expression import axis, build, compute, loop, placeholder, scalar, symbols, update
from polysched.scop.python_frontend import from_python
from tests.kernel.products import compiled, product_of, refuses, whole


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 8, 9), (33, 31, 32)])
def test_a_tensor_expression(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    product = compiled(product_of("int32"))
    a, b = whole(m, k, dtype="int32"), whole(k, n, dtype="int32")
    np.testing.assert_array_equal(product(a, b), a @ b)
    given = np.full((m, n), 77, "int32")
    assert product(a, b, C=given) is None
    np.testing.assert_array_equal(given, a @ b)


def test_an_update_in_place_takes_a_size_that_no_shape_gives() -> None:
    n, steps = symbols("n steps")
    A, factor = placeholder("A", (n,), "float64"), scalar("factor", "float64")
    t, i = axis("t", steps), axis("i", n)
    scale = compiled(loop(t, i, update(A[i], A[i] * factor)))
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
    both = compiled([twice, more])
    x = whole(17)
    for result, expected in zip(both(x), (x * 2, x + 1), strict=True):
        np.testing.assert_array_equal(result, expected)
    assert [r.shape for r in both(np.zeros(0))] == [(0,), (0,)]


def test_a_scop_of_a_python_function() -> None:
    def shift(x: "float64[N]", y: "float64[N]"):  # noqa: F821
        y[:] = x[::-1] * 2
        return y
    call = compiled(from_python(shift))
    x = whole(11)
    np.testing.assert_array_equal(call(x), x[::-1] * 2)


@pytest.mark.parametrize(("arguments", "parts"), [
    (lambda a, b: (a, b[:3]), ["C: B has the shape (3, 5), its extent 0 has to be K = 4"]),
    (lambda a, b: (a, b.astype("float64")), ["B has to be an array of float32 with 2 dimensions", "float64"]),
    (lambda a, b: (a,), ["missing a required argument: 'B'"]),
    (lambda a, b: (a, b, np.zeros((6, 6), "f")), ["C has the shape (6, 6), its extent 1 has to be N = 5"]),
    (lambda a, b: (a, 3), ["B has to be an array of float32", "it is the number 3"]),
])
def test_arguments_of_expressions_that_do_not_fit_are_refused(arguments, parts: list[str]) -> None:
    product = compiled(product_of())
    refuses(lambda: product(*arguments(whole(6, 4, dtype="float32"), whole(4, 5, dtype="float32"))), *parts)


def test_a_scop_is_named_by_all_that_its_code_depends_on(cache: Path) -> None:
    a = whole(4, 4, dtype="int32")
    compiled(product_of("int32"))(a, a)
    compiled(build(product_of("int32")))(a, a)
    assert len(list(cache.iterdir())) == 1
    compiled(product_of("int64"))(a.astype("int64"), a.astype("int64"))
    assert len(list(cache.iterdir())) == 2
