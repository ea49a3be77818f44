"""What a register tile fetches into the caches: its next tile, rows of panels, rows of later loops."""

from __future__ import annotations

from polysched.emit_c.vector_code.tile_fetches import ROWS_AHEAD
from tests.emit_c.printers import printed, printer_of

PRODUCT = printer_of("for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n"
                     "    for (int k = 0; k < 512; k++)\n      A[i][j] += B[i][k] * B[k][j];")
PANEL = ("with packed(Panel(name='P', statement='S0', value=Load(reference='S0_r2', dtype=dtype('float32')), "
         "subscripts=(linear(k), linear(j - 16*q), ), extents=({rows}, 16, ), loops=(loop(k, 0, {rows}), "
         "loop(j, 16*q, 16*q + 16), ), in_lanes=True), S0(0, j, k)):\n"
         "    with register_tile(loops=(loop(k, 0, {rows}), ), edges=(edge(i, 4*p, 4), "
         "edge(j, 16*q, 16, simd=True), ), {more}panels=('P', )):\n        S0(i, j, k)\n")
COPY = printer_of("for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n    A[i][j] = 2 * B[i][j];")
ROW = "with register_tile(loops=(), edges=(edge(j, 0, 16, simd=True), ){more}):\n    S0(i, j)"


def fetches(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if "__builtin_prefetch(" in line]


def test_the_sums_of_the_next_tile() -> None:
    lines = fetches(printed(PRODUCT, PANEL.format(rows=16, more="ahead='i', ")))
    assert lines
    assert all(line.endswith(", 1);") for line in lines), "they will be written"
    assert all(" + 4 * (long)sizeof(A[" in line for line in lines), "no element outside of the array is named"


def test_no_next_tile_without_an_edge_that_goes_on() -> None:
    assert fetches(printed(PRODUCT, PANEL.format(rows=16, more=""))) == []


def test_rows_of_a_long_panel_are_fetched_ahead() -> None:
    text = printed(PRODUCT, PANEL.format(rows=512, more=""))
    assert any("(__UINTPTR_TYPE__)&P[k]" in line for line in fetches(text)), text


def test_rows_of_a_later_loop() -> None:
    more = ", fetched=(FetchedRow(array='B', subscripts=(linear(i), linear(j), ), bytes_ahead=256), )"
    (line, *_) = fetches(printed(COPY, ROW.format(more=more)))
    assert "B[i][j]" in line
    assert "256" in line
    assert fetches(printed(COPY, ROW.format(more=""))) == []


IN_PLACE = ("with register_tile(loops=(loop(k, 0, {rows}), ), edges=(edge(i, 4*p, {count}), "
            "edge(j, 16*q, 16, simd=True), )):\n    S0(i, j, k)\n")


def in_place(columns: str, *, rows: str = "512", count: int = 4) -> list[str]:
    """The prefetches of a block that reads rows of B where they lie."""
    head = (f"void f(int n, int m, float A[restrict n][m], float B[restrict 512][{columns}],"
            " float C[restrict n][512])\n{\n#pragma scop\n")
    printer = printer_of("for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n"
                         "    for (int k = 0; k < 512; k++)\n      A[i][j] += C[i][k] * B[k][j];", head)
    return fetches(printed(printer, IN_PLACE.format(rows=rows, count=count)))


def test_rows_that_lie_pages_apart_are_fetched_ahead() -> None:
    assert in_place("1024") == [
        f"__builtin_prefetch((const void *)((__UINTPTR_TYPE__)&B[k][j] + {ROWS_AHEAD * 4096}));"]


def test_rows_that_others_fetch_or_nobody_waits_for_are_not() -> None:
    assert in_place("256") == [], "1024 bytes apart, and half a megabyte in all"
    assert in_place("m") == [], "nobody knows how large the array is"
    assert in_place("1024", count=2) == [], "two rows have few multiply-adds per line"
    assert in_place("1024", rows=str(ROWS_AHEAD)) == [], "the loop ends before"
