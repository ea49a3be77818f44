"""What a register tile is before it is printed: its widest vector, and what keeps vectors from paying."""

from __future__ import annotations

import pytest

from polysched.emit_c.register_tiles.tile_accesses import Lanes
from polysched.emit_c.vector_code.tile_traits import (
    chooses_across_types,
    computes_integers,
    converts_far,
    holds_elements,
    scatters,
    widest_vector,
)
from tests.emit_c.printers import printer_of, tile_code

ROWS = "for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n    "
COPY = printer_of(ROWS + "A[i][j] = 2 * B[i][j];")


@pytest.mark.parametrize(("statement", "width", "apart"), [
    ("A[i][j] = 2 * B[i][j];", 4, 4),
    ("A[i][j] = x[i] * B[i][j];", 2, 2),       # doubles
    ("A[i][j] = B[i][m - 1 - j];", 0, 4),
    ("A[i][j] = B[i][at[j]];", 0, 0),
    ("A[i][0] = B[i][1];", 0, 0),              # nothing moves
])
def test_the_widest_vector(statement: str, width: int, apart: int) -> None:
    code = tile_code(printer_of(ROWS + statement),
                     "with register_tile(loops=(), edges=(edge(j, 0, 2, simd=True), )):\n    S0(i, j)")
    assert widest_vector(code) == width
    assert widest_vector(code, also=frozenset({Lanes.REVERSED})) == apart


def test_what_a_tile_is_asked_about_its_accesses() -> None:
    row = "with register_tile(loops=(), edges=(edge(j, 0, 4, simd=True), )):\n    S0(i, j)"
    column = "with register_tile(loops=(), edges=(edge(i, 0, 4, simd=True), )):\n    S0(i, j)"
    assert not scatters(tile_code(COPY, row))
    assert scatters(tile_code(COPY, column))
    narrow = printer_of(ROWS + "x[i] += c[j];")
    assert converts_far(tile_code(narrow, row))
    assert not converts_far(tile_code(COPY, row))
    assert not computes_integers(tile_code(COPY, row))
    assert computes_integers(tile_code(printer_of(ROWS + "at[i] += c[j];"), row))


def test_what_is_held_around_all_loops() -> None:
    held = "with register_tile(loops=(loop(j, 0, m), ), edges=()):\n    S0(i, j)"
    assert holds_elements(tile_code(printer_of(ROWS + "y[i] += A[i][j];"), held))
    assert not holds_elements(tile_code(printer_of(ROWS + "y[j] += A[i][j];"), held))


@pytest.mark.parametrize(("statement", "chooses"), [
    ("at[j] = (int) (A[i][j] > 0 ? A[i][j] : 1.0f);", True),
    ("at[j] = (int) A[i][j];", False),
    ("A[i][j] = B[i][j] > 0 ? B[i][j] : 1.0f;", False),
])
def test_choices_that_become_integers(statement: str, chooses: bool) -> None:
    row = "with register_tile(loops=(), edges=(edge(j, 0, 4, simd=True), )):\n    S0(i, j)"
    assert chooses_across_types(tile_code(printer_of(ROWS + statement), row)) is chooses
