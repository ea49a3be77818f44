"""Rows of the next iteration, fetched while a later loop of this one computes."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.scop import from_c_text
from polysched.target import CacheLevel, Target
from polysched.tiling import TilingOptions
from tests.emit_c.compiled import load
from tests.emit_c.nodes import tiles

FETCH = re.compile(r"__builtin_prefetch\(\(const void \*\)\(\(__UINTPTR_TYPE__\)&(.*) \+ (\d+)\)\);")
PASSES = """
    float e[COLUMNS];
    float largest = x[i][0];
    for (int j = 0; j < COLUMNS; j++)
      largest = x[i][j] > largest ? x[i][j] : largest;
    for (int j = 0; j < COLUMNS; j++)
      e[j] = EXPRESSION;
    for (int j = 0; j < COLUMNS; j++)
      y[i][j] = e[j];"""


def program(passes: str = PASSES, *, rows: int = 2000, columns: int = 203, after: int = 0, element: str = "float",
            expression: str = "expf(x[i][j] - largest)") -> str:
    body = passes.replace("COLUMNS", str(columns)).replace("EXPRESSION", expression)
    return (f"#include <math.h>\nvoid f(const {element} x[restrict {rows + 2}][{columns + after}],\n"
            f"       {element} y[restrict {rows}][{columns}])\n{{\n#pragma scop\n"
            f"  for (int i = 0; i < {rows}; i++) {{{body}\n  }}\n#pragma endscop\n}}\n")


def caches(first: int, second: int) -> tuple[CacheLevel, CacheLevel]:
    return CacheLevel(level=1, size_bytes=first), CacheLevel(level=2, size_bytes=second)


MACHINE = Target(vector_bits=512, vector_registers=32, caches=caches(48 << 10, 2 << 20))


def emitted(text: str, vector_bits: int = 512, target: Target = MACHINE) -> CSource:
    options = polysched.PipelineOptions(
        vector_bits=vector_bits, scheduler="original", tiling=TilingOptions(target=target))
    return polysched.optimize(from_c_text(text), options).source


def whole(text: str, made: CSource) -> str:
    return text.split("#pragma scop")[0] + made.text + "}\n"


def fetches_of(made: CSource) -> set[tuple[str, int]]:
    """The arrays whose rows are fetched, and how many bytes ahead."""
    return {(row.array, row.bytes_ahead) for tile in tiles(made.loops) for row in tile.fetched}


@pytest.mark.parametrize(("after", "distances"), [(0, {812}), (5, {832})])
def test_the_loop_that_computes_fetches_what_the_next_iteration_reads_first(
        after: int, distances: set[int], tmp_path: Path) -> None:
    text = program(after=after)
    made = emitted(text)
    assert fetches_of(made) == {("x", distance) for distance in distances}   # one row: a line of 16 elements each
    assert set(FETCH.findall(made.text)) == {("x[i][j]", str(distance)) for distance in distances}
    x = np.random.default_rng(1).standard_normal((2002, 203 + after)).astype(np.float32)
    results = [np.zeros((2000, 203), np.float32) for _ in range(2)]
    for code, result in zip((text, whole(text, made)), results, strict=True):
        load(code, tmp_path, strict=False).f(*(ctypes.c_void_p(a.ctypes.data) for a in (x, result)))
    np.testing.assert_allclose(*results, rtol=1e-6)


@pytest.mark.parametrize("text", [
    program(rows=200),                                                              # lies in the second cache
    program(columns=20000, rows=50),                                                # a row is longer than the first
    program(PASSES.replace("x[i][j] > largest ? x[i][j]", "x[i + 1][j] > largest ? x[i][j]")),   # it is there already
    program(PASSES.replace("j = 0; j < COLUMNS; j++)\n      largest", "j = i % 16; j < COLUMNS; j++)\n      largest")),
    program(expression="x[i + 2][j] * x[i][j]"),                                    # reads what no loop before it has
    program("\n    for (int j = 0; j < COLUMNS; j++)\n      y[i][j] = expf(x[i][j]);"),   # one loop: memory is not idle
])
def test_what_gains_nothing_is_not_fetched(text: str) -> None:
    assert not fetches_of(emitted(text))


@pytest.mark.parametrize(("first", "second", "fetched"), [
    (48 << 10, 2 << 20, True), (1 << 10, 2 << 20, False), (48 << 10, 4 << 20, False)])
def test_the_caches_of_the_machine_decide(first: int, second: int, fetched: bool) -> None:
    """Rows of 812 bytes, of an array of 1.6 MB."""
    machine = replace(MACHINE, caches=caches(first, second))
    assert bool(fetches_of(emitted(program(), target=machine))) is fetched


def test_rows_that_are_written_later_are_fetched_where_vectors_are_narrower_than_a_line(tmp_path: Path) -> None:
    text = program()
    made = emitted(text, vector_bits=256)
    assert fetches_of(made) == {("x", 812), ("y", 0)}
    x = np.random.default_rng(1).standard_normal((2002, 203)).astype(np.float32)
    results = [np.zeros((2000, 203), np.float32) for _ in range(2)]
    for code, result in zip((text, whole(text, made)), results, strict=True):
        load(code, tmp_path, strict=False).f(*(ctypes.c_void_p(a.ctypes.data) for a in (x, result)))
    np.testing.assert_allclose(*results, rtol=1e-6)


def test_a_loop_of_few_operations_fetches_no_row_that_is_written() -> None:
    few = program(expression="x[i][j] - largest")
    assert {array for array, _ in fetches_of(emitted(few, vector_bits=256))} == {"x"}


def test_a_written_row_that_the_second_cache_holds_is_not_fetched() -> None:
    text = program(rows=2000).replace("y[restrict 2000][203]", "y[restrict 2000][203], float z[restrict 16][203]")
    small = text.replace("      y[i][j] = e[j]", "      z[i % 16][j] = e[j]")
    assert {array for array, _ in fetches_of(emitted(small, vector_bits=256))} == {"x"}
