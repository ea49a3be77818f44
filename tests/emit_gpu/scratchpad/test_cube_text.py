"""A stage of the cube as text."""

from __future__ import annotations

import pytest

from tests.gpu.scratchpad.accelerated import emitted, is_same, mapped, program

CONVOLUTION = program(
    "float Y[20][6][7], const _Float16 X[5][8][9], const _Float16 W[20][5][3][3]",
    "for (int k = 0; k < 20; k++) for (int p = 0; p < 6; p++) for (int q = 0; q < 7; q++) { Y[k][p][q] = 0.0f;\n"
    "for (int c = 0; c < 5; c++) for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)\n"
    "  Y[k][p][q] += (float)W[k][c][r][s] * (float)X[c][p + r][q + s]; }")


@pytest.mark.parametrize("tile", [(), (3, 16, 4), (7, 20, 5)])
def test_a_convolution_gathers_its_matrix_while_it_moves(tile: tuple[int, ...]) -> None:
    mapping = mapped(CONVOLUTION, tile=tile)
    assert mapping.timeline.work > 0
    assert is_same(CONVOLUTION, mapping)


def test_loops_around_the_cube() -> None:
    text = program("float C[3][18][17], const _Float16 A[3][18][20], const _Float16 B[3][20][17]",
                   "for (int b = 0; b < 3; b++) for (int i = 0; i < 18; i++) for (int j = 0; j < 17; j++) "
                   "{ C[b][i][j] = 0.0f; for (int k = 0; k < 20; k++)\n"
                   "  C[b][i][j] += (float)A[b][i][k] * (float)B[b][k][j]; }")
    for tile in ((), (16, 16, 2)):
        mapping = mapped(text, tile=tile)
        assert mapping.timeline.work > 0
        assert is_same(text, mapping)


def test_operands_that_run_backwards_or_lie_across() -> None:
    text = program("float C[18][17], const _Float16 A[20][18], const _Float16 B[17][20]",
                   "for (int i = 0; i < 18; i++) for (int j = 0; j < 17; j++) { C[i][j] = 0.0f; "
                   "for (int k = 0; k < 20; k++) C[i][j] += (float)A[k][17 - i] * (float)B[j][19 - k]; }")
    mapping = mapped(text, tile=(16, 16))
    assert mapping.timeline.work > 0
    assert is_same(text, mapping)


def test_the_instruction_is_a_function() -> None:
    assert "static void polysched_scratchpad_davinci_cube" in emitted(CONVOLUTION, mapped(CONVOLUTION))


@pytest.mark.parametrize("tile", [(), (16,), (5, 7)])
def test_a_product_of_a_part_of_the_tiles(tile: tuple[int, ...]) -> None:
    text = program("float C[20][20], const _Float16 A[20][20], const _Float16 B[20][20]",
                   "for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) C[i][j] = 1.0f;\n"
                   "for (int i = 3; i < 19; i++) for (int j = 2; j < 20; j++) for (int k = 1; k < 20; k++)\n"
                   "  C[i][j] += (float)A[i][k] * (float)B[k][j];")
    assert is_same(text, mapped(text, tile=tile))


@pytest.mark.parametrize("other", ["A[k][j]", "A[j][k]"])
def test_an_array_that_is_both_operands(other: str) -> None:
    text = program("float C[20][20], const _Float16 A[20][20]",
                   "for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) { C[i][j] = 0.0f;\n"
                   f"for (int k = 0; k < 20; k++) C[i][j] += (float)A[i][k] * (float){other}; }}")
    mapping = mapped(text, tile=(16,))
    assert mapping.timeline.work > 0
    assert is_same(text, mapping)
