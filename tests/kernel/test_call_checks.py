"""Single arguments of a call: what is taken, what is refused, and what shares memory."""

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.kernel.call_checks import (
    SharedMemoryError,
    check_apart,
    check_array,
    check_number,
    is_number_of,
    overlaps_itself,
    share_elements,
)
from polysched.scop.dtypes import BOOL, COMPLEX64, COMPLEX128, FLOAT32, INT8, INT32, UINT64, DType

MEMORY = np.zeros(100)


@pytest.mark.parametrize(("dtype", "value", "taken"), [
    (INT8, 127, True), (INT8, 128, False), (INT8, np.int64(-128), True), (INT8, 1.0, False), (INT8, True, False),
    (UINT64, 2 ** 64 - 1, True), (UINT64, -1, False), (FLOAT32, 1, True), (FLOAT32, 2 ** 63, False),
    (FLOAT32, np.float64(0.1), True), (FLOAT32, 1j, False), (FLOAT32, "1", False), (BOOL, True, True),
    (BOOL, np.True_, True), (BOOL, 1, False), (INT32, np.zeros(1, "int32"), False), (FLOAT32, None, False),
    (COMPLEX64, 1j, True), (COMPLEX64, np.complex64(1), True), (COMPLEX128, 2, True), (COMPLEX128, np.float32(1), True),
    (COMPLEX128, 10 ** 400, False), (COMPLEX128, True, False), (COMPLEX128, "1j", False)])
def test_numbers_are_of_the_type_or_fit_it(dtype: DType, value: object, taken: bool) -> None:
    assert is_number_of(dtype, value) is taken
    if not taken:
        with pytest.raises(UsageError, match=f"f: x has to be a number of type {dtype}"):
            check_number("f", "x", dtype, value)


@pytest.mark.parametrize(("array", "words"), [
    (np.zeros(3), "has to be an array of float32 with 2 dimensions, it is an array of float64"),
    (np.zeros(3, "float32"), "with 2 dimensions"), (3.0, "it is the number 3.0"), ([[1.0]], "it is a list"),
    (np.zeros((2, 2), ">f4"), "elements in the other byte order"),
    (np.ma.zeros((2, 2), "float32"), "x is a masked array, and compiled code sees no mask")])
def test_arrays_of_another_kind_are_refused(array: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_array("f", "x", FLOAT32, 2, array, written=False)


def test_a_written_array_is_writable_and_lies_once_in_memory() -> None:
    fixed = np.zeros((2, 2), "float32")
    check_array("f", "x", FLOAT32, 2, fixed, written=True)
    fixed.flags.writeable = False
    check_array("f", "x", FLOAT32, 2, fixed, written=False)
    with pytest.raises(UsageError, match="x is written, but the array is read-only"):
        check_array("f", "x", FLOAT32, 2, fixed, written=True)
    with pytest.raises(UsageError, match="its elements overlap each other"):
        check_array("f", "x", FLOAT32, None, np.lib.stride_tricks.as_strided(
            np.zeros(9, "float32"), (3, 3), (4, 4)), written=True)


@pytest.mark.parametrize(("array", "found"), [
    (MEMORY.reshape(10, 10).T, False), (MEMORY[::-2], False), (MEMORY.reshape(10, 10)[::3, ::4], False),
    (np.broadcast_to(MEMORY[:4], (3, 4)), True), (np.lib.stride_tricks.sliding_window_view(MEMORY, 3), True),
    (np.broadcast_to(MEMORY[:0], (3, 0)), False), (MEMORY[:1], False)])
def test_layouts_that_overlap_themselves(array: np.ndarray, found: bool) -> None:
    assert overlaps_itself(array) is found


@pytest.mark.parametrize(("left", "right", "found"), [
    (MEMORY[:50], MEMORY[50:], False), (MEMORY[::2], MEMORY[1::2], False), (MEMORY[:51], MEMORY[50:], True),
    (MEMORY, MEMORY.copy(), False)])
def test_arrays_that_share_elements(left: np.ndarray, right: np.ndarray, found: bool) -> None:
    assert share_elements(left, right) is found
    arrays = {"a": left, "b": right}
    check_apart("f", arrays, frozenset())
    if found:
        with pytest.raises(SharedMemoryError, match="f: a and b overlap, and one of them is written"):
            check_apart("f", arrays, frozenset({"b"}))
    else:
        check_apart("f", arrays, frozenset({"a", "b"}))
