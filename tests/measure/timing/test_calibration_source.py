"""The text of the calibration: it compiles without a warning at every width, and its rows are computed in full."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from polysched.measure.processes.building import compile_shared
from polysched.measure.timing.calibration_source import calibration_program
from polysched.target import find_compiler


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    made = compile_shared(calibration_program(0), name="calibration", folder=tmp_path_factory.mktemp("calibration"),
                          compiler=find_compiler(), flags=("-O2", "-ffp-contract=off", "-Wall", "-Werror"))
    return ctypes.CDLL(str(made.path))


@pytest.mark.parametrize("length", [0, 1, 7, 67, 259])
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_rows_are_what_numpy_computes(length: int, rows: int, program: ctypes.CDLL) -> None:
    sums, data = np.linspace(-1, 1, 260), np.linspace(3, 4, 260)
    expected = sums.copy()
    for _ in range(rows):
        expected[:length] = expected[:length] * 0.999 + data[:length]
    program.calibrate_rows(ctypes.c_void_p(sums.ctypes.data), ctypes.c_void_p(data.ctypes.data), ctypes.c_long(rows),
                           ctypes.c_long(length))
    np.testing.assert_array_equal(sums, expected)


def test_every_function_is_there_and_one_vector_is_128_bits_at_least(program: ctypes.CDLL) -> None:
    for name in ("clock", "team", "barrier", "rows", "allocation"):
        assert hasattr(program, f"calibrate_{name}")
    assert program.stream_step() == 16
    program.peak_float32(ctypes.c_long(3))
    program.calibrate_allocation(ctypes.c_long(3), ctypes.c_ulong(1 << 62))   # no block of this size


def test_a_width_changes_vectors_alone() -> None:
    texts = {bits: calibration_program(bits) for bits in (0, 128, 256, 512)}
    assert texts[0] == texts[128] != texts[256] != texts[512]
    assert len({t[t.index("void *aligned_alloc"):] for t in texts.values()}) == 1
