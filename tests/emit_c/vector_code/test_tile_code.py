"""A full register tile as C: unrolled points, vectors along the simd edge, accumulators in registers."""

from __future__ import annotations

import pytest

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


ROW = "with register_tile(loops=(), edges=(edge(j, 0, {edge}, simd=True), )):\n    S0(i, j)"


@pytest.mark.parametrize(("edge", "lanes"), [(8, 4), (7, 4), (6, 4), (5, 4), (4, 4), (2, 2)])
def test_vectors_overlap_where_none_of_full_width_divides_the_edge(edge: int, lanes: int) -> None:
    assert tile_code(COPY, ROW.format(edge=edge)).lanes == lanes


@pytest.mark.parametrize(("edge", "lanes"), [(8, 4), (6, 2), (4, 4), (2, 2)])
@pytest.mark.parametrize("body", ["A[i][j] += B[i][j];", "A[i][j] = A[i][j] * B[i][j];", "A[i][j] = A[i + 1][j];"])
def test_lanes_divide_the_edge_where_memory_is_read_that_is_written(body: str, edge: int, lanes: int) -> None:
    """A point in two vectors would be computed from its own result."""
    assert tile_code(printer_of(ROWS + body), ROW.format(edge=edge)).lanes == lanes


def test_sums_in_registers_may_overlap() -> None:
    """All are read before the first is written back."""
    lines = printed(PRODUCT, SUMS.replace("8*q, 8", "7*q, 7")).splitlines()
    loop = next(k for k, line in enumerate(lines) if line.startswith("for (long k"))
    end = lines.index("}")
    assert [line.split(" = ")[1] for line in lines[2:loop]] == [
        f"*(polysched_f32x4 *)&A[i{row}][j{column}];" for row in ("", " + 1") for column in ("", " + 3")]
    assert len(lines[end + 1:]) == 4
    assert all(line.startswith("*(polysched_f32x4 *)&A[i") for line in lines[end + 1:])


@pytest.mark.parametrize(("edge", "body"), [
    (1, "A[i][j] += A[i][j];"), (3, "A[i][j] += A[i][j];"), (5, "A[i][j] += A[i][j];"), (3, "A[i][j] = B[i][j];")])
def test_an_edge_that_no_vector_divides_has_no_form(edge: int, body: str) -> None:
    doubled = printer_of(ROWS + body)
    with pytest.raises(NotVectorised, match="too short for a vector"):
        _ = tile_code(doubled, ROW.format(edge=edge)).lanes
    if edge > 1:
        assert f"for (long j = 0; j < {edge}; j++)" in printed(doubled, ROW.format(edge=edge)), "its loops are printed"


def test_a_target_without_vectors_gets_loops() -> None:
    scalar = printer_of(ROWS + "A[i][j] = 2 * B[i][j];", vector_bits=0)
    tile = "with register_tile(loops=(), edges=(edge(j, 0, 8, simd=True), )):\n    S0(i, j)"
    with pytest.raises(NotVectorised, match="has no vectors"):
        _ = tile_code(scalar, tile).lanes
    assert "for (long j = 0; j < 8; j++)" in printed(scalar, tile)
