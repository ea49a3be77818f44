"""Functions of exact arithmetic on exact numbers, against NumPy's conversions and hand-made corners."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from polysched.tensorize.description.exact_numbers import MEANINGS, from_bits, fused, nearest, odd, to_bits, to_float

ALL_BITS = np.arange(1 << 16, dtype=np.uint16)


def test_every_half_float_is_its_bits() -> None:
    theirs = ALL_BITS.view(np.float16).astype(np.float32)
    ours = np.array([from_bits(int(b), "f16") for b in ALL_BITS], np.float32)
    np.testing.assert_array_equal(ours, theirs)
    numbers = ~np.isnan(theirs)
    back = [to_bits(x, "f16") for x in ours[numbers]]
    np.testing.assert_array_equal(back, ALL_BITS[numbers])


def test_every_bfloat16_is_the_upper_half_of_a_float() -> None:
    theirs = (ALL_BITS[::7].astype(np.uint32) << np.uint32(16)).view(np.float32)
    ours = np.array([from_bits(int(b), "bf16") for b in ALL_BITS[::7]], np.float32)
    np.testing.assert_array_equal(ours, theirs)


def test_halves_are_rounded_as_numpy_rounds() -> None:
    random = np.random.default_rng(1)
    x = (random.standard_normal(2000) * 10.0 ** random.integers(-9, 6, 2000)).astype(np.float32)
    ours = [to_bits(v, "f16") for v in x]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(ours, x.astype(np.float16).view(np.uint16))


@pytest.mark.parametrize(("x", "value"), [
    (Fraction(0), 0.0), (Fraction(1, 3), float(np.float32(1 / 3))),
    (Fraction(2**24 + 1), 2.0**24), (Fraction(2**24 + 3), 2.0**24 + 4),      # ties to the even number
    (Fraction(2)**-150, 0.0), (Fraction(3) * Fraction(2)**-150, 2.0**-148),  # between denormals
    (Fraction(2)**128, math.inf), (-Fraction(2)**128, -math.inf),
])
def test_the_closest_number(x: Fraction, value: float) -> None:
    assert nearest(x, "float") == value


def test_integers_become_floats_rounded_once() -> None:
    assert to_float(2**53 + 1, "double") == np.float64(2**53)
    assert to_float(2**24 + 1, "float") == np.float32(2**24)
    assert to_float(-(2**63), "float") == np.float32(-(2**63))


@pytest.mark.parametrize(("a", "b", "c", "value"), [
    (1 + 2**-12, 1 + 2**-12, -1.0, 2**-11 + 2**-24),      # the exact product is added
    (3.0, 2.0, -6.0, 0.0), (0.0, -1.0, -0.0, -0.0), (0.0, 1.0, -0.0, 0.0), (math.inf, 1.0, 1.0, math.inf)])
def test_one_rounding(a: float, b: float, c: float, value: float) -> None:
    made = fused("float")(np.float32(a), np.float32(b), np.float32(c))
    assert made == np.float32(value)
    assert np.signbit(made) == np.signbit(np.float32(value))


def test_not_a_number_stays_none() -> None:
    with np.errstate(invalid="ignore"):
        assert np.isnan(fused("float")(np.float32(math.inf), np.float32(0), np.float32(1)))
    assert np.isnan(from_bits(to_bits(np.float32(math.nan), "bf16"), "bf16"))


def test_truncation_to_odd_remembers_what_was_lost() -> None:
    assert odd(Fraction(1) + Fraction(1, 2**40), 1.0) == np.float32(1 + 2**-23)
    assert odd(Fraction(1), 1.0) == np.float32(1)
    assert odd(Fraction(2)**-140, 1.0) == 0
    assert np.signbit(odd(Fraction(0), -1.0))


@pytest.mark.parametrize(("name", "arguments", "value"), [
    ("sat_i8", (200,), 127), ("sat_u8", (-3,), 0), ("sat_i16", (-40000,), -32768), ("popcount_u32", (0xF0,), 4),
    ("clz_u32", (0,), 32), ("clz_u32", (9,), 28), ("clz_u64", (1 << 63,), 0), ("ctz_u32", (0,), 32),
    ("ctz_u64", (3 << 40,), 40),
    ("abs_i32", (-(2**31),), -(2**31)), ("clamp_i32", (7, 0, 5), 5), ("min_i32", (3, -4), -4),
    ("sat_f32_i32", (np.float32(1e20),), 2**31 - 1), ("cvt_f32_i32", (np.float32(1e20),), -(2**31)),
    ("sat_f32_i32", (np.float32(math.nan),), 0), ("round", (np.float64(2.5),), 3.0), ("rint", (np.float64(2.5),), 2.0),
    ("flush", (np.float32(1e-40),), 0.0)])
def test_functions(name: str, arguments: tuple, value: float) -> None:
    assert MEANINGS[name](*arguments) == value
