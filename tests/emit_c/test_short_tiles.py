"""Register tiles of the rows that a constant end leaves: a smaller tile in place of a full one on a copy."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import CSource, EmitOptions, emit, splice
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.emit_c.convolutions import assert_convolves, convolution
from tests.emit_c.nodes import blocks, shape
from tests.schedules import pluto_of

MACHINE = Target(vector_bits=256, vector_registers=16, cores=2)
PRODUCT = """void f(int n, double C[{rows}][{columns}], double A[{rows}][n], double B[n][{columns}]) {{
#pragma scop
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {columns}; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""


def emitted(text: str, **options: object):
    made = tile(pluto_of(text), TilingOptions(target=MACHINE, **options))
    return emit(made, options=EmitOptions(vector_bits=256))


def shapes(source: CSource) -> list[tuple[tuple[int, ...], bool]]:
    """Of every block, its edges, and whether it is computed in full on a copy."""
    return [(shape(tile), bool(tile.within)) for tile in blocks(source.loops)]


WHOLE, ON_COPY = False, True


@pytest.mark.parametrize(("rows", "columns", "expected"), [
    (48, 32, [((6, 8), WHOLE)]),
    (49, 32, [((6, 8), WHOLE), ((1, 8), WHOLE)]),
    (50, 32, [((6, 8), WHOLE), ((2, 8), WHOLE)]),
    (52, 32, [((6, 8), WHOLE), ((4, 8), WHOLE)]),
    (53, 32, [((6, 8), WHOLE), ((5, 8), WHOLE)]),
    (52, 31, [((6, 8), WHOLE), ((4, 8), WHOLE), ((6, 8), ON_COPY)]),
    (48, 31, [((6, 8), WHOLE), ((6, 8), ON_COPY)]),
])
def test_rows_that_are_left_are_a_smaller_tile(rows: int, columns: int, expected: list[object], tmp_path: Path) -> None:
    """A corner of rows and columns that are left stays a full tile on a copy."""
    text = PRODUCT.format(rows=rows, columns=columns)
    source = emitted(text, sizes=(24, 16, 8), register=(6, 8), parameters={"n": 40})
    assert shapes(source) == expected
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for n in (0, 1, 7, 8, 9, 41):
        rng = np.random.default_rng(n)
        a, b, start = (rng.standard_normal(shape) for shape in ((rows, n), (n, columns), (rows, columns)))
        results = []
        for function in (original, ours):
            result = start.copy()
            function(n, *(ctypes.c_void_p(v.ctypes.data) for v in (result, a, b)))
            results.append(result.tobytes())
        assert results[0] == results[1], f"{n}\n{source.text}"


def test_rows_up_to_a_parameter_stay_on_a_copy() -> None:
    text = PRODUCT.format(rows="n", columns=32)
    made = emitted(text, sizes=(24, 16, 8), register=(6, 8), parameters={"n": 40})
    assert shapes(made) == [((6, 8), WHOLE), ((6, 8), ON_COPY)]


@pytest.mark.parametrize(("packed", "array"), [(None, "B_panels?"), ((), "B")])
def test_few_rows_read_the_vectors_that_they_share_once(packed: tuple[()] | None, array: str) -> None:
    """gcc would put the load of a vector into each of up to four multiply-adds that use it."""
    few, many = (emitted(PRODUCT.format(rows=rows, columns=32), sizes=(24, 16, 8), register=(6, 8), packed=packed,
                         parameters={"n": 40}).text for rows in (52, 53))
    assert len(re.findall(rf"\*\(volatile polysched_f64x4 \*\)&{array}\b", few)) == 2, few
    assert "volatile" not in many


def test_a_vector_of_all_steps_is_left_to_stay_in_its_register() -> None:
    text = PRODUCT.replace("* B[k][j]", "* (B[k][j] - m[j])").replace(
        "double B[n][{columns}])", "double B[n][{columns}], double m[{columns}])")
    made = emitted(text.format(rows=52, columns=32), sizes=(24, 16, 8), register=(4, 8), packed=(),
                   parameters={"n": 40})
    read = set(re.findall(r"volatile polysched_f64x4 \*\)&(\w+)", made.text))
    assert read == {"B"}, made.text


def test_vectors_that_every_row_has_of_its_own_are_read_as_compilers_like() -> None:
    text = PRODUCT.replace("B[n][{columns}]", "B[n][{rows}][{columns}]").replace("B[k][j]", "B[k][i][j]")
    made = emitted(text.format(rows=52, columns=32), sizes=(24, 16, 8), register=(4, 8), parameters={"n": 40})
    assert shapes(made) == [((4, 8), WHOLE)]
    assert "volatile" not in made.text


@pytest.mark.parametrize(("wide", "expected"), [(14, [(5, 16), (4, 16)]), (56, [(6, 16), (2, 16)])])
def test_sums_that_lie_apart_have_blocks_that_leave_little(
        wide: int, expected: list[tuple[int, int]], tmp_path: Path) -> None:
    source = emitted(convolution(wide))
    assert shapes(source) == [(block, ON_COPY) for block in expected]
    assert_convolves(source, wide, tmp_path)


@pytest.mark.parametrize(("bits", "registers", "expected"), [
    (256, 16, "#pragma GCC unroll 3"),   # 12 sums: a core could not issue the steps of a loop as fast as it computes
    (512, 32, "#pragma GCC unroll 1"),   # 28 sums
])
def test_a_window_is_unrolled_where_its_loop_would_cost_something(bits: int, registers: int, expected: str) -> None:
    """And its vectors are read once: sums that leave hardly a register make gcc read them again for each row."""
    target = Target(vector_bits=bits, vector_registers=registers, cores=2)
    made = tile(pluto_of(convolution(56)), TilingOptions(target=target))
    text = emit(made, options=EmitOptions(vector_bits=bits, vector_registers=registers)).text
    _, sums = text.split("on a transposed copy */", 1)
    sums, _, _ = sums.partition("on a transposed copy */")
    assert sums.count("#pragma GCC unroll 3") == (2 if expected.endswith("3") else 0), text
    assert expected in sums
    assert '__asm__ volatile("" : : : "memory");' in sums
    assert ("(volatile" in sums) == expected.endswith("3")


WINDOWS = """void f(float Y[6][5][{wide}], float X[6][9][{wide} + 4], float W[6][5][5]) {{
#pragma scop
  for (int c = 0; c < 6; c++)
    for (int y = 0; y < 5; y++)
      for (int x = 0; x < {wide}; x++)
        for (int r = 0; r < 5; r++)
          for (int s = 0; s < 5; s++)
            Y[c][y][x] += X[c][y + r][x + s] * W[c][r][s];
#pragma endscop
}}
"""


@pytest.mark.parametrize(("wide", "columns"), [
    (5, {5}), (7, {7}), (10, {10}), (14, {14}), (28, {16, 8, 4}), (46, {32, 14}), (31, {31}), (45, {32, 13})])
def test_short_rows_of_windows_are_computed_in_vectors_that_overlap(
        wide: int, columns: set[int], tmp_path: Path) -> None:
    """Each channel has windows of its own: operands in lanes lie in no panel, so a tile has the row's length."""
    target, text = Target(vector_bits=512, vector_registers=32, cores=2), WINDOWS.format(wide=wide)
    source = emit(tile(pluto_of(text), TilingOptions(target=target)),
                  options=EmitOptions(vector_bits=512, vector_registers=32))
    assert {tile.edges[-1].count for tile in blocks(source.loops)} == columns
    lanes = {1 << min(4, count.bit_length() - 1) for count in columns}
    assert {int(n) for n in re.findall(r"polysched_f32x(\d+) Y_", source.text)} == lanes, source.text
    rng = np.random.default_rng(wide)
    start, image, weights = (rng.standard_normal(s).astype(np.float32) for s in (
        (6, 5, wide), (6, 9, wide + 4), (6, 5, 5)))
    results = []
    for function in (load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f):
        result = start.copy()
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (result, image, weights)))
        results.append(result.tobytes())
    assert results[0] == results[1], source.text
