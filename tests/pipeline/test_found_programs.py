"""The programs of `experiments/found`: what is emitted computes the same, bit for bit; where it stays as written."""

from __future__ import annotations

import ctypes
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polysched.pipeline import PipelineOptions, transform_file
from tests.emit_c.compiled import load

PROGRAMS = Path(__file__).parents[2] / "experiments" / "found"
FLAGS = ("-O2", "-w")


def both(name: str, folder: Path, *, safe: bool = False) -> tuple[ctypes.CDLL, ctypes.CDLL, str]:
    """The program as written and as emitted, and the emitted text."""
    file = PROGRAMS / f"{name}.c"
    text = transform_file(file, PipelineOptions(safe=safe, autodetect=name == "quantised")).text
    return load(file.read_text(), folder, flags=FLAGS), load(text, folder, flags=FLAGS), text


def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize(("incx", "incy"), [(1, 1), (3, 2), (1, 4)])
def test_strides_of_one_have_a_version(tmp_path: Path, incx: int, incy: int, safe: bool) -> None:
    written, emitted, text = both("strided_axpy", tmp_path, safe=safe)
    assert text.count("if (incx == 1 && incy == 1) {") == 1
    for n in (0, 1, 7, 8, 9, 65536 + 3):
        x, start = np.random.default_rng(n).random((2, max(1, n * max(incx, incy))))
        results = []
        for library in (written, emitted):
            y = start.copy()
            library.strided_axpy(ctypes.c_int(n), ctypes.c_double(0.3), pointer(x), ctypes.c_int(incx), pointer(y),
                                 ctypes.c_int(incy))
            results.append(y)
        np.testing.assert_array_equal(results[0], results[1])


def test_strided_loops_are_no_lanes(tmp_path: Path) -> None:
    text = transform_file(PROGRAMS / "strided_axpy.c").text
    unit, general = text.split("\n} else {\n")
    assert "simd" in unit
    assert "simd" not in general


def test_no_team_inside_the_callers_parallel_loop(tmp_path: Path) -> None:
    written, emitted, text = both("quantised", tmp_path)
    assert text.count("#pragma omp") == 1
    n, d, size = 128, 17, 32
    made = np.random.default_rng(0)
    x, w = (made.integers(-9, 9, count).astype(np.int8) for count in (n, n * d))
    xs, ws = (made.random(count).astype(np.float32) for count in (n // size, n * d // size))
    results = []
    for library in (written, emitted):
        out = np.zeros(d, np.float32)
        library.quantised(n, d, size, *map(pointer, (out, x, w, xs, ws)))
        results.append(out)
    np.testing.assert_array_equal(results[0], results[1])


def test_a_function_that_a_team_calls_asks_for_one(tmp_path: Path) -> None:
    written, emitted, text = both("rows_on_threads", tmp_path)
    assert "if (omp_in_parallel()) {" in text
    for m, n in ((3, 100), (2, 65536 + 5)):
        a, b, start = np.random.default_rng(n).random((3, m * n)).astype(np.float32)
        results = []
        for library in (written, emitted):
            c, out = start.copy(), np.zeros(m, np.float32)
            library.rows_on_threads(m, n, *map(pointer, (a, b, c, out)))
            results.append(np.concatenate([c, out]))
        np.testing.assert_array_equal(results[0], results[1])


def test_an_index_and_a_flag_of_one_array_are_found_in_one_loop_on_threads(tmp_path: Path) -> None:
    written, emitted, text = both("last_and_any", tmp_path)
    assert "partial results of last_index, any per thread" in text
    for m, n, zero, negative in ((300, 200, 7, 9), (300, 200, 59_999, 0), (300, 200, None, None), (3, 2, 2, 1)):
        numbers = np.arange(1, m * n + 1, dtype=np.int32)
        if zero is not None:
            numbers[[zero, negative]] = 0, -1
        results = []
        for library in (written, emitted):
            found = np.zeros(2, np.int32)
            library.last_and_any(m, n, pointer(numbers), pointer(found))
            results.append(found)
        np.testing.assert_array_equal(results[0], results[1])


def test_without_a_gain_the_region_stays_as_written(caplog: pytest.LogCaptureFixture) -> None:
    reason = "there is too little to do at the largest sizes that its arrays and types allow"
    with caplog.at_level(logging.WARNING):
        made = transform_file(PROGRAMS / "small_square.c")
    lines = (PROGRAMS / "small_square.c").read_text().splitlines(keepends=True)
    assert made.text == "".join(line for line in lines if "scop" not in line)
    assert made.regions[0].as_written == reason
    assert any(reason in record.getMessage() for record in caplog.records)


def test_large_extents_are_transformed(tmp_path: Path) -> None:
    file = tmp_path / "large.c"
    file.write_text((PROGRAMS / "small_square.c").read_text().replace("[12]", "[900]"))
    made = transform_file(file)
    assert not made.regions[0].as_written
    assert "#pragma scop" not in made.text


@pytest.mark.parametrize("safe", [False, True])
def test_blocks_of_bytes_have_no_remainder_in_each_iteration(tmp_path: Path, safe: bool) -> None:
    written, emitted, text = both("blocks_of_bytes", tmp_path, safe=safe)
    assert "32 * (n / 32)" in text
    assert "% 32 + n" not in text
    for n, d in ((0, 3), (31, 4), (32, 1), (100, 9), (1000, 70)):
        made = np.random.default_rng(n)
        x, w = (made.integers(-128, 128, count).astype(np.int8) for count in (max(n, 1), max(n * d, 1)))
        results = []
        for library in (written, emitted):
            out = np.zeros(d, np.int32)
            library.blocks_of_bytes(n, d, *map(pointer, (out, x, w)))
            results.append(out)
        np.testing.assert_array_equal(*results, err_msg=f"{n}, {d}")


@pytest.mark.parametrize("safe", [False, True])
def test_rows_of_floats_keep_their_order(tmp_path: Path, safe: bool) -> None:
    written, emitted, _ = both("rows_of_floats", tmp_path, safe=safe)
    for n, d in ((0, 3), (1, 1), (7, 33), (100, 9), (250, 80)):
        made = np.random.default_rng(n)
        x, w = (made.random(max(count, 1)).astype(np.float32) for count in (n, n * d))
        results = []
        for library in (written, emitted):
            out = np.zeros(d, np.float32)
            library.rows_of_floats(n, d, *map(pointer, (out, x, w)))
            results.append(out)
        np.testing.assert_array_equal(*results, err_msg=f"{n}, {d}")
