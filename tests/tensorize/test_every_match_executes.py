"""Every match of small odd-sized operators, emitted against the emulator, compiled and run: bitwise NumPy's result."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from polysched.scop.interpreter import extents_of
from polysched.scop.scop import Scop
from polysched.tensorize import find_intrinsic, match, operators
from polysched.tensorize.emission import EmissionOptions, emit_match
from tests.tensorize.compiled import call, compiled

SIGNED = {"dtype": "int8", "accumulator": "int32"}
SMALL = {"k": 5, "c": 3}


def filled(scop: Scop, sizes: dict[str, int], seed: int = 0) -> dict[str, np.ndarray]:
    chooser = np.random.default_rng(seed)
    arrays = {}
    for array in scop.arrays:
        shape = tuple(extents_of(array, sizes))
        low, high = (-4, 4) if array.dtype.is_float else array.dtype.value_range()
        arrays[array.name] = chooser.integers(low, high, shape, endpoint=True).astype(array.dtype.name)
    return arrays


def convolution_1d(a: dict[str, np.ndarray], y: np.ndarray) -> np.ndarray:
    x, w = a["X"].astype(np.int32), a["W"].astype(np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2], axis=2)
    return y + np.einsum("ncpr,kcr->nkp", windows, w)


def convolution_2d(a: dict[str, np.ndarray], y: np.ndarray, dilation: int = 1, stride: int = 1) -> np.ndarray:
    x, w = a["X"].astype(np.int32), a["W"].astype(np.int32)
    result = y.copy()
    for r in range(w.shape[2]):
        for s in range(w.shape[3]):
            rows = slice(r * dilation, r * dilation + (y.shape[2] - 1) * stride + 1, stride)
            columns = slice(s * dilation, s * dilation + (y.shape[3] - 1) * stride + 1, stride)
            result += np.einsum("ncpq,kc->nkpq", x[:, :, rows, columns], w[:, :, r, s])
    return result


def grouped_2d(a: dict[str, np.ndarray], y: np.ndarray) -> np.ndarray:
    x, w = a["X"].astype(np.int32), a["W"].astype(np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[3:], axis=(3, 4))
    return y + np.einsum("ngcpqrs,gkcrs->ngkpq", windows, w)


def transposed_2d(a: dict[str, np.ndarray], y: np.ndarray) -> np.ndarray:
    x, w = a["spread"].astype(np.int32), a["W"].astype(np.int32)[:, :, ::-1, ::-1]
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return y + np.einsum("ncpqrs,ckrs->nkpq", windows, w)


def depthwise_2d(a: dict[str, np.ndarray], y: np.ndarray) -> np.ndarray:
    x, w = a["X"].astype(np.int32), a["W"].astype(np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return y + np.einsum("ncpqrs,cmrs->ncmpq", windows, w)


def batched_2d(a: dict[str, np.ndarray], y: np.ndarray) -> np.ndarray:
    x, w = a["X"].astype(np.int32), a["W"].astype(np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[3:], axis=(2, 3))
    return y + np.einsum("ncpqrs,nkcrs->nkpq", windows, w)


CASES: dict[str, tuple[Scop, Callable[..., np.ndarray], int]] = {
    "c1d": (operators.c1d(**SMALL, size=7, window=3, **SIGNED), convolution_1d, 18),
    "grp": (operators.grp(groups=2, **SMALL, size=3, window=3, **SIGNED), grouped_2d, 98),
    "dilated and strided": (operators.c2d(**SMALL, size=3, window=2, dilation=3, stride=2, **SIGNED),
                            lambda a, y: convolution_2d(a, y, dilation=3, stride=2), 98),
    "t2d": (operators.t2d(**SMALL, size=3, window=3, stride=2, **SIGNED), transposed_2d, 98),
    "dep": (operators.dep(channels=3, multiplier=5, size=5, window=3, **SIGNED), depthwise_2d, 42),
    "bcv": (operators.bcv(**SMALL, size=5, window=3, **SIGNED), batched_2d, 42),
}

FLOATS = {"dtype": "float32", "accumulator": "float32"}   # small integers: every order of additions gives the same bits
UNSIGNED = {"dtype": "uint8", "accumulator": "int32", "right_dtype": "int8"}
OTHER_UNITS: dict[str, tuple[str, Scop, Callable[..., np.ndarray], int]] = {
    "c1d by a VNNI instruction": ("vpdpbusd", operators.c1d(**SMALL, size=7, window=3, **UNSIGNED), convolution_1d, 3),
    "c2d by an AMX instruction": ("tdpbusd", operators.c2d(**SMALL, size=3, window=2, **UNSIGNED), convolution_2d, 49),
    "c1d by a GEMV unit": ("gemv_unit", operators.c1d(**SMALL, size=7, window=3, **FLOATS), convolution_1d, 12),
    "c1d by an AXPY unit": ("axpy_unit", operators.c1d(**SMALL, size=7, window=3, **FLOATS), convolution_1d, 4),
}


@pytest.mark.parametrize("case", OTHER_UNITS)
def test_every_match_of_other_units_is_bitwise_numpy(case: str, tmp_path: Path) -> None:
    name, scop, reference, expected = OTHER_UNITS[case]
    bitwise(scop, name, reference, expected, tmp_path)


@pytest.mark.parametrize("case", CASES)
def test_every_match_is_bitwise_numpy(case: str, tmp_path: Path) -> None:
    bitwise(CASES[case][0], "mma_16x16x16_s8", *CASES[case][1:], tmp_path)


def bitwise(scop: Scop, name: str, reference: Callable[..., np.ndarray], expected: int, folder: Path) -> None:
    """Run every match by the emulator, on inputs of its own."""
    sizes = {"batch": 3}
    found = match(scop, find_intrinsic(name), sizes=sizes)
    assert found.total == expected
    functions = [emit_match(m, f"match_{i}", EmissionOptions(emulated=True, parallel=i % 7 == 0))
                 for i, m in enumerate(found.with_mirrors)]
    library = compiled(functions, folder)
    for seed, function in enumerate(functions):
        arrays = filled(scop, sizes, seed)
        arrays["Y"] = (arrays["Y"] // 256).astype(arrays["Y"].dtype)
        wanted = reference(arrays, arrays["Y"])
        call(library, function, arrays)
        np.testing.assert_array_equal(arrays["Y"], wanted, err_msg=str(found.with_mirrors[seed]))
