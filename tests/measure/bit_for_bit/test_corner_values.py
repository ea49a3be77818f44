"""Values that find wrong instructions: repeatable, of every kind that was asked for, within their limits."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.measure.bit_for_bit.corner_values import BLOCK_ELEMENTS, FLOAT_CORNERS, WAYS, fill

TYPES = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "int32": np.int32, "uint32": np.uint32,
         "int64": np.int64, "float32": np.float32, "float64": np.float64}


def filled(dtype: str, *, values: str = "any", most: int = 0, way: str = "mixed", seed: int = 1, name: str = "A",
           count: int = 4096) -> np.ndarray:
    array = np.zeros(count, TYPES[dtype])
    fill(array, dtype, name=name, values=values, most=most, way=way, seed=seed)
    return array


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", TYPES)
def test_the_same_again_and_other_values_for_others(dtype: str, way: str) -> None:
    first = filled(dtype, way=way).tobytes()
    assert filled(dtype, way=way).tobytes() == first
    assert filled(dtype, way=way, seed=2).tobytes() != first
    assert filled(dtype, way=way, name="B").tobytes() != first


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_corners_are_the_ends_of_the_type(dtype: str) -> None:
    found = set(filled(dtype, way="corners").tolist())
    limits = np.iinfo(TYPES[dtype])
    assert {limits.min, limits.max, -1, 0, 1} <= found
    assert len(found) < 12


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_corners_of_floats_have_infinities_denormals_and_a_nan(dtype: str) -> None:
    found = filled(dtype, way="corners")
    tiny = np.finfo(TYPES[dtype]).tiny
    assert np.isnan(found).any()
    assert np.isinf(found).any()
    assert ((found != 0) & (np.abs(found) < tiny)).any()
    assert (np.signbit(found) & (found == 0)).any()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", TYPES)
def test_whole_numbers_stay_within_their_magnitude(dtype: str, way: str) -> None:
    found = filled(dtype, values="whole", most=5, way=way).astype(np.float64)
    assert (found == np.round(found)).all()
    assert found.max() <= 5
    assert found.min() >= (0 if dtype.startswith("u") else -5)
    assert found.max() > 0


def test_divisors_and_subscripts() -> None:
    assert set(filled("int32", values="positive").tolist()) == set(range(1, 8))
    assert set(filled("int32", values="index", most=3).tolist()) == {0, 1, 2}
    assert set(filled("int32", values="index", most=0).tolist()) == {0}


def test_large_arrays_repeat_a_block_of_prime_length() -> None:
    found = filled("int8", count=BLOCK_ELEMENTS + 100)
    np.testing.assert_array_equal(found[BLOCK_ELEMENTS:], found[:100])
    assert all(BLOCK_ELEMENTS % n for n in range(2, 256))


def test_corners_are_bits_of_their_type() -> None:
    for dtype, bits in FLOAT_CORNERS.items():
        width = {"float32": 32, "float64": 64}.get(dtype, 16)
        assert all(0 <= value < 1 << width for value in bits)
        assert len(set(bits)) == len(bits)
