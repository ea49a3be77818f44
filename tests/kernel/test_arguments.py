"""The arguments of a call: which share memory, which sizes they have; odd ones compute what Python computes."""

import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched
from polysched.errors import PolyschedError, UnsupportedScopError, UsageError
from polysched.kernel import SharedMemoryError
from polysched.kernel.arguments import Overlaps, check_types, overlaps, sizes_of_call
from polysched.scop.dtypes import FLOAT64, INT8, INT64
from polysched.scop.python_frontend import PythonScop
from polysched.scop.python_frontend.signature import ArrayType, ScalarType


@polysched.kernel
def third(A, B, C):
    for i in range(1, A.shape[0]):
        C[i] = A[i] * 0.5 + B[i - 1]


@polysched.kernel
def last_two(A, B, C, D):
    for i in range(1, A.shape[0]):
        C[i] = A[i] + B[i] * 0.5
        D[i] = C[i - 1] + B[i - 1] * 0.25


def agrees(kernel: Any, *args: Any) -> None:
    """Call a kernel and its Python function on copies that share what the arguments share."""
    expected, found = copy.deepcopy(args), copy.deepcopy(args)
    wanted, result = kernel.function(*expected), kernel(*found)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(result or (), wanted or (), strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("pattern", list(itertools.product(range(3), repeat=3)), ids=str)
def test_any_of_three_arguments_may_be_the_same_array(pattern: tuple[int, ...]) -> None:
    arrays = [np.arange(40.0) + 7 * i for i in range(3)]
    agrees(third, *(arrays[i] for i in pattern))


@pytest.mark.parametrize("pattern", ["aaaa", "abab", "baab", "abbb", "abcb"])
def test_any_of_four_arguments_of_which_two_are_written_may_be_the_same(pattern: str) -> None:
    arrays = {name: np.arange(40.0) + 7 * i for i, name in enumerate("abc")}
    agrees(last_two, *(arrays[name] for name in pattern))


def python_of(kernel: Any, *args: Any) -> PythonScop:
    return kernel.specialise(*args).python


def test_what_two_that_are_only_read_share_matters_once_a_third_writes_it() -> None:
    x, y, z = (np.arange(9.0) for _ in range(3))
    python = python_of(third, x, y, z)

    def found(*args: np.ndarray) -> Overlaps:
        return overlaps(python, dict(zip("ABC", args, strict=True)))
    assert found(x, x, z) == Overlaps()
    assert found(x, x, x) == Overlaps((("B", "A"), ("C", "A")))
    assert found(x, y, x) == Overlaps((("C", "A"),))
    assert found(y, x, x) == Overlaps((("C", "B"),))
    assert found(x[:8], x[1:], z[:8]) == Overlaps()
    assert found(x[:8], x[1:], x[:8]).partial == ("A", "B")
    assert found(x[:8], y[:8], x[1:]).partial == ("A", "C")
    assert found(x[::-1], y, x).partial == ("A", "C")
    assert found(x[::2], y[:5], np.append(x, 0)[1::2]) == Overlaps()
    both = np.arange(18.0)
    assert found(both[::2], both[1::2], both[::2]) == Overlaps((("C", "A"),))


def test_interleaved_arrays_are_no_overlap() -> None:
    memory = np.arange(40.0)
    expected = memory.copy()
    third.function(expected[::2], np.ones(20), expected[1::2])
    third(memory[::2], np.ones(20), memory[1::2])
    np.testing.assert_array_equal(memory, expected)


@polysched.kernel
def scaled(y, x, a=2, *, b=0.5):
    for i in range(y.shape[0]):
        y[i] = x[i] * a + b
    return y * 1, x.sum()


LAYOUTS: dict[str, Callable[[str], np.ndarray]] = {
    "plain": lambda t: np.arange(6).astype(t), "reversed": lambda t: np.arange(6).astype(t)[::-1],
    "strided": lambda t: np.arange(18).astype(t)[1::3], "backwards": lambda t: np.arange(18).astype(t)[::-3],
    "broadcast": lambda t: np.broadcast_to(np.array([3], t), (6,)),
    "unaligned": lambda t: np.frombuffer(b"\1" + np.arange(6.0).tobytes(), "u1")[1:].view("float64"),
    "column": lambda t: np.arange(42).astype(t).reshape(6, 7)[:, 2], "recarray": lambda t: np.arange(6).astype(
        t).view(np.recarray)}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_read_may_lie_anywhere(layout: str) -> None:
    x = LAYOUTS[layout]("float64")
    expected, found = np.zeros(6), np.zeros(6)
    wanted, result = scaled.function(expected, x), scaled(found, x)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(result[0], wanted[0])
    assert (result[1], np.asarray(result[1]).dtype) == (wanted[1], np.asarray(wanted[1]).dtype)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name not in ("broadcast", "unaligned")])
def test_what_is_written_may_lie_anywhere_that_is_its_own(layout: str) -> None:
    expected, found = LAYOUTS[layout]("float64"), LAYOUTS[layout]("float64")
    scaled.function(expected, np.arange(6.0))
    scaled(found, np.arange(6.0))
    np.testing.assert_array_equal(found, expected)
    if found.base is not None:
        np.testing.assert_array_equal(found.base, expected.base)


@pytest.mark.parametrize(("args", "kwargs"), [
    ((), {}), ((3,), {}), ((), {"a": 3}), ((2**62,), {}), ((-1,), {"b": np.float16(0.1)}), ((True,), {"b": 1}),
    ((np.int16(7),), {"b": np.array(2)})])
def test_defaults_and_keywords_bind_as_pythons(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    y, x = np.zeros(5), np.arange(5.0)
    expected, found = y.copy(), y.copy()
    scaled.function(expected, x, *args, **kwargs)
    scaled(found, *([x, *args]), **kwargs)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("args", "kwargs", "message"), [
    ((1, 2, 3), {}, "too many positional arguments"), ((1,), {"a": 2}, "multiple values"),
    ((), {"c": 1}, "unexpected keyword argument 'c'")])
def test_calls_that_python_refuses_are_refused(args: tuple[Any, ...], kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        scaled(np.zeros(3), np.ones(3), *args, **kwargs)


def test_numbers_that_no_type_of_c_holds_are_refused_before_anything_runs() -> None:
    y = np.zeros(3)
    for number in (2**63, -(2**63) - 1, 1j, "1", None, [1], np.datetime64("2020")):
        with pytest.raises(PolyschedError):
            scaled(y, np.ones(3), number)
    assert not y.any()


@pytest.mark.parametrize("shapes", [((0,), (0,)), ((0,), (3,)), ((1,), (1,)), ((1,), (3,)), ((3,), (4,))])
def test_extents_of_nothing_and_of_one(shapes: tuple[tuple[int, ...], ...]) -> None:
    agrees(scaled, *(np.arange(float(s[0])) for s in shapes))


def test_shapes_that_python_refuses_are_refused_before_anything_runs() -> None:
    y = np.ones(4)
    with pytest.raises(IndexError):
        scaled.function(y.copy(), np.ones(3))
    with pytest.raises(UsageError, match="scaled: the shapes do not fit"):
        scaled(y, np.ones(3))
    assert (y == 1).all()


class Doubling(np.ndarray):
    """A subclass whose sums are other sums."""

    def __add__(self, other: Any) -> Any:
        return np.add(self, 2 * other)


@pytest.mark.parametrize("array", [
    np.ma.masked_array([1.0, 2.0], [0, 1]), np.arange(2.0).view(Doubling), np.arange(2.0).astype(">f8"),
    np.arange(2.0).astype("c16"), np.array([1, "a"], object), np.array(["a"]), np.zeros(2, [("a", "f8")])],
    ids=lambda a: type(a).__name__ + a.dtype.str)
def test_arrays_whose_arithmetic_is_another_are_refused(array: np.ndarray) -> None:
    with pytest.raises(UnsupportedScopError, match="the argument x is a"):
        scaled(np.zeros(2), array)


def test_a_masked_array_falls_back_to_what_python_does() -> None:
    def increased(x):
        x += 1
    x = np.ma.masked_array([1.0, 2.0], [0, 1])
    with pytest.warns(polysched.kernel.FallbackWarning, match="the argument x is a MaskedArray"):
        polysched.kernel(increased, fallback=True)(x)
    assert x.data.tolist() == [2.0, 2.0]


def test_read_only_arrays_are_read() -> None:
    x = np.arange(5.0)
    x.flags.writeable = False
    agrees(scaled, np.zeros(5), x)
    with pytest.raises(UsageError, match="y is written, but the array is read-only"):
        scaled(x, np.zeros(5))
    memory = np.ones(9)
    with pytest.raises(SharedMemoryError, match="y and x overlap"):
        scaled(memory[:5], memory[2:7])
    assert (memory == 1).all()


@pytest.mark.parametrize(("kind", "value", "message"), [
    (ArrayType(FLOAT64, (None,)), [1.0], "f: x is a list, the kernel takes an array of 1 dimensions of float64"),
    (ArrayType(FLOAT64, (None,)), np.zeros((2, 2)), "x is an array of 2 dimensions of float64"),
    (ArrayType(FLOAT64, ()), np.float64(1), "x is a float64, the kernel takes an array of 0 dimensions"),
    (ScalarType(INT8, False), 128, "x is 128, the kernel takes a number of type int8"),
    (ScalarType(INT64, False), 10**99, "x is an integer of 329 bits, the kernel takes a number of type int64"),
    (ScalarType(INT8, False), np.zeros(()), "x is an array of 0 dimensions of float64")])
def test_types_that_are_not_the_kernels_are_said(kind: Any, value: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_types("f", {"x": kind}, {"x": value})
    assert message in str(caught.value)


def sums(x: "float64[N]", y: "float64[2 * N + 1, N - (2 - N)]", z: "float64[3, N + N * 3]"):  # noqa: F821
    y[0, 0] = x[0] + z[0, 0]


@pytest.mark.parametrize(("y", "z", "said"), [
    ((9, 6), (3, 16), ""), ((8, 6), (3, 16), "y has the shape (8, 6), its extent 0 has to be 2 * N + 1 = 9"),
    ((9, 5), (3, 16), "its extent 1 has to be N - (2 - N) = 6"), ((9, 6), (4, 16), "its extent 0 has to be 3"),
    ((9, 6), (3, 17), "z has the shape (3, 17), its extent 1 has to be N + N * 3 = 16")])
def test_extents_of_annotations_are_arithmetic(y: tuple[int, ...], z: tuple[int, ...], said: str) -> None:
    values = {"x": np.zeros(4), "y": np.zeros(y), "z": np.zeros(z)}
    python = polysched.kernel(sums).specialise(*values.values()).python
    if not said:
        assert sizes_of_call("sums", python, values) == {"N": 4}
        return
    with pytest.raises(UsageError) as caught:
        sizes_of_call("sums", python, values)
    assert said in str(caught.value)
