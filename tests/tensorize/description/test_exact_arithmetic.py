"""The C functions of the description language against NumPy and against exact rational arithmetic."""

import ctypes
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from polysched.target import find_compiler
from polysched.tensorize.description.exact_arithmetic import PRELUDE

WRAPPERS = """
void widen_f16(const uint16_t *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = f16_to_f32(x[i]); }
void widen_bf16(const uint16_t *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = bf16_to_f32(x[i]); }
void narrow_f16(const float *x, uint16_t *y, long n) { for (long i = 0; i < n; i++) y[i] = f32_to_f16(x[i]); }
void narrow_bf16(const float *x, uint16_t *y, long n) { for (long i = 0; i < n; i++) y[i] = f32_to_bf16(x[i]); }
void sum_odd(const float *x, const float *y, float *z, long n)
{ for (long i = 0; i < n; i++) z[i] = add_odd(x[i], y[i]); }
void clamp16(const int32_t *x, int16_t *y, long n) { for (long i = 0; i < n; i++) y[i] = sat_i16(x[i]); }
void clamp32(const int64_t *x, int32_t *y, long n) { for (long i = 0; i < n; i++) y[i] = sat_i32(x[i]); }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("arithmetic")
    (folder / "a.c").write_text(PRELUDE + WRAPPERS)
    done = find_compiler().run(["-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC", str(folder / "a.c"), "-o",
                                str(folder / "a.so"), "-lm"])
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "a.so"))


def apply(library: ctypes.CDLL, name: str, inputs: list[np.ndarray], dtype: str) -> np.ndarray:
    result = np.empty(inputs[0].shape, dtype)
    getattr(library, name)(*(ctypes.c_void_p(a.ctypes.data) for a in (*inputs, result)), ctypes.c_long(result.size))
    return result


def every_kind_of_float(count: int = 400_000) -> np.ndarray:
    chooser = np.random.default_rng(2)
    bits = chooser.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32)
    near = (np.float32(1) * chooser.integers(0, 1 << 16, count).astype(np.uint16).view(np.float16)).astype(np.float32)
    ties = near.view(np.uint32) + chooser.integers(-2, 3, count).astype(np.uint32) + np.uint32(0x1000)
    return np.concatenate([bits.view(np.float32), near, ties.view(np.float32)])


def test_f16_widens_exactly(library: ctypes.CDLL) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    np.testing.assert_array_equal(apply(library, "widen_f16", [bits], "float32"), bits.view(np.float16))


def test_bf16_widens_exactly(library: ctypes.CDLL) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    wanted = (bits.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(apply(library, "widen_bf16", [bits], "float32"), wanted)


def test_f16_narrows_to_nearest_even(library: ctypes.CDLL) -> None:
    values = every_kind_of_float()
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(apply(library, "narrow_f16", [values], "uint16").view(np.float16),
                                      values.astype(np.float16))


def test_bf16_narrows_to_nearest_even(library: ctypes.CDLL) -> None:
    values = np.array([1.0, 1.00390625, 1.01171875, 1.00390637, -3.3e38, 3.4e38, 1e-40, 0.0, -0.0, np.inf], np.float32)
    wanted = [0x3F80, 0x3F80, 0x3F82, 0x3F81, 0xFF78, 0x7F80, 0x0001, 0, 0x8000, 0x7F80]
    assert apply(library, "narrow_bf16", [values], "uint16").tolist() == wanted


def test_sums_rounded_to_odd(library: ctypes.CDLL) -> None:
    chooser = np.random.default_rng(3)
    x = (chooser.standard_normal(3000) * 2.0 ** chooser.integers(-60, 60, 3000)).astype(np.float32)
    y = (chooser.standard_normal(3000) * 2.0 ** chooser.integers(-60, 60, 3000)).astype(np.float32)
    for a, b, found in zip(x, y, apply(library, "sum_odd", [x, y], "float32"), strict=True):
        exact = Fraction(float(a)) + Fraction(float(b))
        if Fraction(float(found)) == exact:
            continue
        assert found.view(np.uint32) & 1
        below, above = np.nextafter(found, np.float32(-np.inf)), np.nextafter(found, np.float32(np.inf))
        assert Fraction(float(below)) < exact < Fraction(float(above))


def test_clamps(library: ctypes.CDLL) -> None:
    x = np.array([0, -1, 32767, 32768, -32768, -32769, 2**31 - 1, -2**31], np.int32)
    assert apply(library, "clamp16", [x], "int16").tolist() == np.clip(x, -32768, 32767).tolist()
    y = np.array([0, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**62, -2**62], np.int64)
    assert apply(library, "clamp32", [y], "int32").tolist() == np.clip(y, -2**31, 2**31 - 1).tolist()
