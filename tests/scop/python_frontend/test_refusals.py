"""Every refusal shows the line and a caret under the place at fault, and says what to write instead."""

import re

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from tests.scop.python_frontend.running import extracted

OUTSIDE = np.zeros(3)


def product_subscript(x):
    for i in range(len(x)):
        for j in range(len(x)):
            x[i * j] = 0


def indirect(x, idx):
    for i in range(len(x)):
        x[idx[i]] = 0
        idx[i] = 0


def float_subscript(x):
    for i in range(len(x)):
        x[i / 2] = 0


def data_bound(x, n):
    for i in range(n[0]):
        x[i] = 0


def symbolic_step(x, s: int):
    for i in range(0, 10, s):
        x[i] = 0


def over_array(x):
    for e in x:
        x[0] = e


def while_loop(x):
    i = 0
    while i < 3:
        x[i] = 0


def breaks(x):
    for i in range(len(x)):
        if x[i] > 0:
            break


def early_return(x):
    if len(x) > 3:
        return
    x[0] = 1


def unknown_function(x):
    x[0] = np.linalg.norm(x)


def own_function(x):
    x[0] = extracted(x)


def comprehension(x):
    x[0] = sum([v for v in x])  # noqa: C416


def outside_array(x):
    x[0] = OUTSIDE[0]


def undefined_name(x):
    x[0] = not_there  # noqa: F821


def before_assignment(x):
    for i in range(len(x)):
        x[i] = last  # noqa: F821
        last = x[i]  # noqa: F841


def rebound_in_loop(A, B):
    for _ in range(3):
        A, B = B, A
        A[0] = 1


def assigned_loop_variable(x):
    for i in range(len(x)):
        i = i + 1
        x[i - 1] = 0


def out_of_bounds(x):
    x[len(x)] = 1


def too_many_indices(x):
    x[0, 1] = 1


def boolean_mask(x):
    x[x > 1] = 0


def mismatched(x, y):
    x[1:] = y[:, None]


def row_in_element(x, y):
    y[0] = x[1]


def in_place_row(x, y):
    x[:] += y


def broken_broadcast(x):
    return x + np.zeros((4, 1)) + np.zeros((1, 3)) + np.zeros((2, 2))


def in_place_cast(n):
    n[:] /= 2


def two_types(x, n):
    s = x[0]
    for i in range(len(n)):
        n[i] = s
        s = n[i]


def minus_booleans(x, y):
    y[:] = (x > 1) - (x > 2)


def big_literal(n):
    n[0] = n[1] + 300


def integer_power(n):
    n[0] = n[1] ** n[2]


def and_of_numbers(x):
    for i in range(len(x)):
        x[i] = 1 if x[i] and x[i] > 2 else 0


def slice_of_data(x, n):
    x[:n[0]] = 0


def ellipsis_einsum(x):
    return np.einsum("...i->...", x)


def part_returned(x):
    return x[1:]


def assertion_on_data(x):
    assert x[0] > 0
    x[0] = 1


def try_statement(x):
    try:
        x[0] = 1
    finally:
        x[1] = 2


def unpack_wrong(x):
    a, b, c = x.shape
    x[0] = a + b + c


def star_arguments(*x):
    x[0][0] = 1


def narrow_shape(x, w):
    out = np.empty(x.shape[0] - w)
    out[:] = 1


X = np.zeros(5)
I8 = np.zeros(5, "int8")
CASES = [
    (product_subscript, (X,), "the subscript is not affine", "            x[i * j] = 0\n                  ^^^^^"),
    (indirect, (X, I8), "depends on idx, which the kernel computes", "        x[idx[i]] = 0\n              ^^^^^^"),
    (float_subscript, (X,), "the index is not an integer", "^^^^^"),
    (narrow_shape, (X, np.int32(2)), "NumPy's narrow integers could wrap around", "np.empty(x.shape[0] - w)"),
    (data_bound, (X, I8), "a bound of the loop is not affine", "for i in range(n[0]):\n                       ^^^^"),
    (symbolic_step, (X, 2), "the step of the loop is not a constant other than 0", "                              ^"),
    (over_array, (X,), "a loop over something else than a range", "^"),
    (while_loop, (X,), "a while loop", "    while i < 3:\n              ^^^^^"),
    (breaks, (X,), "a break", "^^^^^"),
    (early_return, (X,), "a return before the end", "^^^^^^"),
    (unknown_function, (X,), "the function norm has no meaning in a kernel", "^^^^^^^^^^^^^^^^^"),
    (own_function, (X,), "the function extracted has no meaning in a kernel", "^^^^^^^^^^^^"),
    (comprehension, (X,), "ListComp is no expression that a kernel can contain", "^^^^^^^^^^^^"),
    (outside_array, (X,), "OUTSIDE is an array from outside the function", "^^^^^^^"),
    (undefined_name, (X,), "the name not_there is not defined", "^^^^^^^^^"),
    (before_assignment, (X,), "last may be read before it is assigned", "^^^^"),
    (rebound_in_loop, (X, X), "stands for different arrays or tuples on different ways to this line", "^"),
    (assigned_loop_variable, (X,), "the loop variable i is assigned in its loop", "^"),
    (out_of_bounds, (X,), "x is accessed outside its extents whatever the sizes are", "^^^^^^^^^^^^^"),
    (too_many_indices, (X,), "too many indices: x has 1 dimensions here, 2 are indexed", "^^^^^^^"),
    (boolean_mask, (X,), "an index that is an array", "^^^^^"),
    (mismatched, (X, X), "a value of 2 dimensions does not fit into one of 1", "^"),
    (row_in_element, (np.zeros((3, 1)), X), "an array is assigned to an element", "^^^^^^^^^^^"),
    (broken_broadcast, (np.zeros((1, 1)),), "the shapes do not broadcast together", "^^^^^"),
    (in_place_row, (X, np.zeros((1, 3))), "an in-place operation with an array of more dimensions", "^^^^^^^^^"),
    (in_place_cast, (I8,), "the float64 result of an in-place operation does not fit int8 elements", "^^^^^^^^^"),
    (two_types, (X, I8), "s is of type float64 here and of type int8 there", "^"),
    (minus_booleans, (X, X), "NumPy has no subtraction of booleans", "^^^^^^^^^^^^"),
    (big_literal, (I8,), "the Python integer 300 does not fit int8", "^^^^^^^^^^"),
    (integer_power, (I8,), "an integer power whose exponent is not a small constant", "^^^^^^^^^^^^"),
    (and_of_numbers, (X,), "`and` and `or` of values that are not truth values", "^^^^"),
    (slice_of_data, (X, I8), "a bound of the slice is not affine", "^^^^"),
    (ellipsis_einsum, (X,), "an ellipsis in the subscripts of einsum", "^^^^^^"),
    (part_returned, (X,), "a part of an array is returned", "^^^^^^"),
    (assertion_on_data, (X,), "an assertion about data", "^^^^^^^^"),
    (try_statement, (X,), "Try is no statement that a kernel can contain", "^"),
    (unpack_wrong, (np.zeros((2, 2)),), "a tuple does not unpack into 3 names", "^^^^^^^"),
    (star_arguments, (X,), "a variable number of arguments", "^"),
]


@pytest.mark.parametrize(("function", "arguments", "problem", "marked"), CASES, ids=[c[0].__name__ for c in CASES])
def test_refusal(function, arguments, problem: str, marked: str) -> None:
    with pytest.raises(UnsupportedScopError) as caught:
        extracted(function, *arguments)
    message = str(caught.value)
    assert problem in message
    assert marked in message
    assert re.search(r"test_refusals\.py:\d+:\d+: ", message)
