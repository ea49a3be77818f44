"""Operands for all readings: what every filling draws, in every format, and how bits are compared."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.scop.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT8, INT64, UINT8, UINT64, DType
from polysched.tensorize.description.inputs import Filling, carrier, drawn, first_difference, operands_of, shape_of
from polysched.tensorize.description.reading import parse

INTEGERS, FLOATS = (INT8, UINT8, INT64, UINT64), (FLOAT16, BFLOAT16, FLOAT32, FLOAT64)


def numbers(dtype: DType, values: np.ndarray) -> np.ndarray:
    """What drawn elements are, as doubles."""
    if dtype == BFLOAT16:
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return (values.view(np.float16) if dtype == FLOAT16 else values).astype(np.float64)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=str)
@pytest.mark.parametrize("filling", Filling)
def test_elements_have_their_carrier_and_every_run_draws_the_same(filling: Filling, dtype: DType) -> None:
    first, again = (drawn(dtype, filling, (5, 40), np.random.default_rng(1)) for _ in range(2))
    assert first.dtype == carrier(dtype)
    assert first.shape == (5, 40)
    assert first.tobytes() == again.tobytes()
    assert len(np.unique(first)) > 3


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_corners_of_integers_are_both_ends(dtype: DType) -> None:
    low, high = dtype.value_range()
    found = set(drawn(dtype, Filling.CORNERS, (500,), np.random.default_rng(1)).tolist())
    assert {low, high, 0, 1, low + 1, high - 1} <= found
    small = drawn(dtype, Filling.SMALL, (500,), np.random.default_rng(1)).tolist()
    assert set(small) == set(range(max(low, -4), 5))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_corners_of_floats_are_zeros_infinities_and_no_numbers(dtype: DType) -> None:
    with np.errstate(all="ignore"):
        found = numbers(dtype, drawn(dtype, Filling.CORNERS, (800,), np.random.default_rng(1)))
    assert {0.0, 1.0, -1.0, np.inf, -np.inf} <= set(found.tolist())
    assert np.isnan(found).any()
    assert np.signbit(found[found == 0]).any()
    least = np.min(np.abs(found[(found != 0) & np.isfinite(found)]))
    assert least == {"float16": 2.0 ** -24, "bfloat16": 2.0 ** -133, "float32": 2.0 ** -149,
                     "float64": 2.0 ** -1074}[dtype.name]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_exact_floats_are_whole_numbers_and_small_ones_are_near_one(dtype: DType) -> None:
    whole = numbers(dtype, drawn(dtype, Filling.EXACT, (300,), np.random.default_rng(1)))
    assert set(whole.tolist()) == set(range(-4, 5))
    near = np.abs(numbers(dtype, drawn(dtype, Filling.SMALL, (300,), np.random.default_rng(1))))
    assert near.min() >= 2.0 ** -7
    assert near.max() < 2.0 ** 7


def test_operands_have_a_row_per_execution_and_differ_by_filling_and_seed() -> None:
    semantics = parse("void u(int n, int32_t C[n], const bf16 A[4][2], float s) { C[0] += s > bf16_to_f32(A[0][0]); }")
    first, other = (operands_of(semantics, Filling.BITS, 6, seed, {"n": 3}) for seed in (1, 2))
    assert {n: a.shape for n, a in first.items()} == {"C": (6, 3), "A": (6, 4, 2), "s": (6,)}
    assert first["C"].tobytes() != other["C"].tobytes()
    assert first["C"].tobytes() != operands_of(semantics, Filling.CORNERS, 6, 1, {"n": 3})["C"].tobytes()
    assert shape_of(("n", 4), {"n": 7}) == (7, 4)


@pytest.mark.parametrize(("dtype", "left", "right", "expected"), [
    (FLOAT32, [1, np.nan, 2], [1, -np.nan, 2], -1), (FLOAT32, [1, 0.0, 2], [1, -0.0, 2], 1),
    (FLOAT64, [[1, 2], [np.nan, 4]], [[1, 2], [3, 4]], 2),
    (BFLOAT16, [0x7FC0, 0x3F80], [0xFFC1, 0x3F80], -1),   # two that are no numbers
    (BFLOAT16, [0x7F80], [0x7FC0], 0),                      # infinity is one
    (FLOAT16, [0x7C00, 0x7C01], [0x7C00, 0x7E00], -1), (INT8, [1, 2, 3], [1, 2, 4], 2),
    (UINT64, [1 << 63], [1 << 63], -1)])
def test_differences_are_those_of_bits_but_for_what_is_no_number(dtype: DType, left: list[float], right: list[float],
                                                                 expected: int) -> None:
    first, second = (np.array(values, carrier(dtype)) for values in (left, right))
    assert first_difference(dtype, first, second) == expected
