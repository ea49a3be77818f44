"""Register tiles that bounds cut off: computed in full on a copy, and refused where that could be seen."""

from __future__ import annotations

import pytest

from polysched.emit_c.vector_code.vector_expressions import NotVectorised
from tests.emit_c.printers import printed, printer_of, tile_code

ROWS = "for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n    "
SUM = ROWS + "for (int k = 0; k < 16; k++)\n      A[i][j] += {factor} * y[k];"
TILE = ("with register_tile(loops=(loop(k, 0, 16), ), edges=(edge(i, 2*p, 2), edge(j, 8*q, 8, simd=True), ), "
        "within=((linear(2*p), linear(min(2*p + 2, n)), ), (linear(8*q), linear(min(8*q + 8, m)), ), )):\n"
        "    S0(i, j, k)\n")


def test_points_that_are_instances_are_copied_and_all_computed() -> None:
    text = printed(printer_of(SUM.format(factor="x[i]").replace("double", "float")), TILE)
    assert "A_cut[2][" in text
    into, back = text.index("A_cut[row][column] = A["), text.rindex("] = A_cut[row][column]")
    assert into < text.index("for (long k = 0") < back
    assert "n" in text[:into]


def test_rows_outside_read_what_the_nearest_row_inside_reads() -> None:
    text = printed(printer_of(SUM.format(factor="x[i]")), TILE)
    assert "const long i_1 = " in text
    assert "x[i_1]" in text


@pytest.mark.parametrize(("factor", "why"), [
    ("B[k][j]", "an operand beyond the edge may not exist"),
    ("B[i][at[k]]", "a subscript is not linear"),
])
def test_what_other_points_must_not_read(factor: str, why: str) -> None:
    code = tile_code(printer_of(SUM.format(factor=factor)), TILE)
    with pytest.raises(NotVectorised, match=why):
        code.lines()


def test_integer_divisions_of_other_points_may_trap() -> None:
    code = tile_code(printer_of(ROWS + "for (int k = 0; k < 16; k++)\n      at[i] += c[k] / c[i];"), TILE.replace(
        "edge(j, 8*q, 8, simd=True), ), ", "), ").replace(
        "(linear(8*q), linear(min(8*q + 8, m)), ), ", "").replace("edge(i, 2*p, 2)", "edge(i, 2*p, 2)"))
    with pytest.raises(NotVectorised, match="an integer division beyond the edge may trap"):
        code.lines()


def test_results_outside_of_registers_would_be_seen() -> None:
    code = tile_code(printer_of(ROWS + "for (int k = 0; k < 16; k++)\n      A[i][j] = A[i][j] + A[0][0];"), TILE)
    with pytest.raises(NotVectorised, match=r"A is written outside of registers|points of a cut tile share"):
        code.lines()
