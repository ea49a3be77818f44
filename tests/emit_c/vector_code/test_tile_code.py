"""A full register tile as C: unrolled points, vectors along the simd edge, accumulators in registers."""

from __future__ import annotations

import pytest

from polysched.emit_c.register_tiles.tile_accesses import Lanes
from polysched.emit_c.vector_code.vector_expressions import NotVectorised
from tests.emit_c.printers import printed, printer_of, tile_code

ROWS = "for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n    "
PRODUCT = printer_of(ROWS + "for (int k = 0; k < n; k++) A[i][j] += B[i][k] * B[k][j];")
COPY = printer_of(ROWS + "A[i][j] = 2 * B[i][j];")
SUMS = ("with register_tile(loops=(loop(k, 0, n), ), edges=(edge(i, 2*p, 2), edge(j, 8*q, 8, simd=True), )):\n"
        "    S0(i, j, k)\n")


def test_sums_live_in_registers_across_the_loop() -> None:
    lines = printed(PRODUCT, SUMS).splitlines()
    loop = next(k for k, line in enumerate(lines) if line.startswith("for (long k"))
    end = lines.index("}")
    assert lines[:2] == ["const long i = 2 * p;", "const long j = 8 * q;"]
    assert [line.split(" = ")[1] for line in lines[2:loop]] == [
        f"*(polysched_f32x4 *)&A[i{row}][j{column}];" for row in ("", " + 1") for column in ("", " + 4")]
    assert sum(" += " in line for line in lines[loop:end]) == 4
    assert not [line for line in lines[loop:end] if "A[" in line], "no element of the result in the loop"
    assert len(lines[end + 1:]) == 4


def test_a_vector_that_rows_share_is_read_once() -> None:
    assert printed(PRODUCT, SUMS).count("&B[k][j]") == 1


@pytest.mark.parametrize(("edge", "lanes"), [(8, 4), (4, 4), (6, 2), (2, 2)])
def test_lanes_divide_the_edge(edge: int, lanes: int) -> None:
    tile = f"with register_tile(loops=(), edges=(edge(j, 0, {edge}, simd=True), )):\n    S0(i, j)"
    assert tile_code(COPY, tile).lanes == lanes


def test_an_edge_that_no_vector_divides_has_no_form() -> None:
    tile = "with register_tile(loops=(), edges=(edge(j, 0, 3, simd=True), )):\n    S0(i, j)"
    with pytest.raises(NotVectorised, match="too short for a vector"):
        _ = tile_code(COPY, tile).lanes
    assert "for (long j = 0; j < 3; j++)" in printed(COPY, tile), "its loops are printed"


def test_a_target_without_vectors_gets_loops() -> None:
    scalar = printer_of(ROWS + "A[i][j] = 2 * B[i][j];", vector_bits=0)
    tile = "with register_tile(loops=(), edges=(edge(j, 0, 8, simd=True), )):\n    S0(i, j)"
    with pytest.raises(NotVectorised, match="has no vectors"):
        _ = tile_code(scalar, tile).lanes
    assert "for (long j = 0; j < 8; j++)" in printed(scalar, tile)


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
    assert code.widest_vector() == width
    assert code.widest_vector(also=frozenset({Lanes.REVERSED})) == apart


def test_what_a_tile_is_asked_about_its_accesses() -> None:
    row = "with register_tile(loops=(), edges=(edge(j, 0, 4, simd=True), )):\n    S0(i, j)"
    column = "with register_tile(loops=(), edges=(edge(i, 0, 4, simd=True), )):\n    S0(i, j)"
    assert not tile_code(COPY, row).scatters()
    assert tile_code(COPY, column).scatters()
    narrow = printer_of(ROWS + "x[i] += c[j];")
    assert tile_code(narrow, row).converts_far()
    assert not tile_code(COPY, row).converts_far()
    assert not tile_code(COPY, row).computes_integers()
    assert tile_code(printer_of(ROWS + "at[i] += c[j];"), row).computes_integers()


def test_what_is_held_around_all_loops() -> None:
    held = "with register_tile(loops=(loop(j, 0, m), ), edges=()):\n    S0(i, j)"
    assert tile_code(printer_of(ROWS + "y[i] += A[i][j];"), held).holds_elements()
    assert not tile_code(printer_of(ROWS + "y[j] += A[i][j];"), held).holds_elements()
