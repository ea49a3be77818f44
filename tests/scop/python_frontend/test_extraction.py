"""A Python function's Scop, and how the arguments of a call reach it."""

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop.dtypes import FLOAT16, FLOAT32, INT8
from polysched.scop.python_frontend import extract, extract_for
from polysched.scop.python_frontend.extraction import Extent, from_python
from polysched.scop.python_frontend.signature import ArrayType, ScalarType, argument_types
from polysched.scop.python_frontend.source import read_source
from polysched.scop.scop import Storage
from tests.scop.python_frontend.running import check, extracted, interpret


def scaled(A, n, s, B):
    for i in range(n):
        B[i] = A[i, 0] * s
    return B, A.shape[1] * 2, s + 1


def test_arguments_reach_the_scop_by_name() -> None:
    values = {"A": np.ones((3, 4)), "n": 2, "s": np.float32(2.5), "B": np.zeros(5)}
    python = extract_for(read_source(scaled), values)
    assert [(a.name, a.is_size, len(a.extents)) for a in python.arguments] == [
        ("A", False, 2), ("n", True, 0), ("s", False, 0), ("B", False, 1)]
    sizes = python.sizes_of(values)
    targets = {a.name: a for a in python.arguments}
    assert sizes[targets["n"].target] == 2
    assert [sizes[e.parameter or ""] for e in targets["A"].extents] == [3, 4]
    assert [sizes[e.parameter or ""] for e in targets["B"].extents] == [5]
    assert {p.name for p in python.scop.parameters} == sizes.keys()


def test_results_are_arguments_or_new_arrays() -> None:
    python = check(scaled, np.ones((3, 4)), 2, np.float32(2.5), np.zeros(5))
    assert python.returns_tuple
    assert python.results[0] == "B"
    assert python.weak_results == {python.results[1]}, "a size is a Python number, what NumPy computed is none"
    arrays = {a.name: a for a in python.scop.arrays}
    assert all(arrays[name].storage is Storage.ARGUMENT for name in python.results)
    assert (arrays["A"].constant, arrays["B"].constant) == (True, False)


def one(A):
    return (A + 1,)


def nothing(A):
    A[0] = 1


def part(A):
    return A[1:]


def backwards(A):
    return A[::-1]


def test_what_is_returned() -> None:
    assert check(one, np.ones(3)).returns_tuple
    assert check(nothing, np.ones(3)).results == ()
    for function in (part, backwards):
        with pytest.raises(UnsupportedScopError, match="a part of an array is returned"):
            extracted(function, np.ones(3))


def annotated(A: "float64[n, m + 1]", B: "float64[m, 2 * n]", m: int):  # noqa: F821
    for i in range(m):
        B[i, 0] = A[0, i + 1]


def test_extents_that_follow_from_others_are_no_parameters() -> None:
    source = read_source(annotated)
    python = extract(source, argument_types(source, None))
    extents = {a.name: a.extents for a in python.arguments}
    assert extents["A"] == (Extent("n"), Extent(None, "m + 1"))
    assert extents["B"] == (Extent(None, "m"), Extent(None, "2 * n"))
    a, b = np.arange(8.0).reshape(2, 4), np.zeros((3, 4))
    interpret(python, (a, b, 3))
    np.testing.assert_array_equal(b[:, 0], a[0, 1:])


def times(A, B):
    for i in range(A.shape[0]):
        A[i] = B[i] * 2 + B[0]


def test_two_names_of_one_array() -> None:
    types = {"A": ArrayType(FLOAT32, (None,)), "B": ArrayType(FLOAT32, (None,))}
    python = extract(read_source(times), types, same={"B": "A"})
    assert [a.target for a in python.arguments] == ["A", "A"]
    array = np.arange(1, 5).astype("float32")
    expected = array.copy()
    times(expected, expected)
    found = array.copy()
    interpret(python, (found, found))
    np.testing.assert_array_equal(found, expected)


def flag(A, on, small, half):
    if on:
        A[0] = small + A[1] + half


def test_small_numbers_keep_their_types() -> None:
    args = (np.ones(3, "float16"), True, np.int8(100), np.float16(0.1))
    python = check(flag, *args)
    kinds = {a.name: a.type for a in python.arguments}
    assert kinds["small"] == ScalarType(INT8, False)
    assert kinds["half"] == ScalarType(FLOAT16, False)
    half = next(a for a in python.arguments if a.name == "half")
    assert python.scop.array(half.target).dtype == FLOAT32, "which holds it exactly"
    check(flag, args[0], False, *args[2:])


def wraps(A, n):
    for i in range(n):
        A[i] = A[i] * 3


def test_integers_that_wrap_are_assumed_to_be_compiled_so() -> None:
    assert [a.kind for a in from_python(wraps, np.arange(3), 2).assumptions if a.kind == "wrap"] == ["wrap"]
    for unsigned in (np.arange(3.0), np.arange(3).astype("uint32")):
        assert not any(a.kind == "wrap" for a in from_python(wraps, unsigned, 2).assumptions)


def widening(A):
    s = 0
    for i in range(A.shape[0]):
        t = s
        s = t + A[i]
        A[i] = s / 2


def test_types_settle_over_passes() -> None:
    for dtype in ("int16", "float32"):
        check(widening, np.arange(4).astype(dtype))
