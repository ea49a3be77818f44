"""What a panel is made of: loops of a constant length, copies as wide as their rows, operands that nothing changes."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.index import Linear, constant, extreme, variable
from polysched.emit_c.loop_ir.loops import Block, For
from polysched.emit_c.register_tiles.packing import arrays_of, constant_extent, off_the_grid
from polysched.pipeline import PipelineOptions, optimize
from polysched.scop import from_c_text
from polysched.scop.body import assignments
from polysched.target import CacheLevel, Target
from polysched.tiling import TilingOptions
from tests.emit_c.nodes import panels
from tests.scop.c_frontend.read_region import in_function
from tests.tiling.planning.test_tile_search import SMALL

N, T = variable("n"), variable("t")


def loop(lower: Linear, upper: Linear) -> For:
    return For("i", lower, upper, 1, Block(()))


@pytest.mark.parametrize(("lower", "upper", "count"), [
    (constant(3), constant(9), 6), (T * 8, T * 8 + 8, 8), (T * 8, extreme("min", (T * 8 + 8, N)), 8),
    (extreme("max", (T * 8, constant(0))), extreme("min", (T * 8 + 5, N)), 5),
    (extreme("max", (constant(2), N - 4)), extreme("min", (constant(9), N)), 4), (N, N, 0)])
def test_the_least_constant_length_of_a_loop(lower: Linear, upper: Linear, count: int) -> None:
    found = constant_extent(loop(lower, upper))
    assert found is not None
    assert found[1] == count


@pytest.mark.parametrize(("lower", "upper"), [(constant(0), N), (T, N), (T * 2, T * 3 + 4)])
def test_a_length_that_sizes_decide_is_not_constant(lower: Linear, upper: Linear) -> None:
    assert constant_extent(loop(lower, upper)) is None


def test_the_arrays_of_a_value() -> None:
    scop = from_c_text(in_function("for (int i = 0; i < n; i++) x[i] += y[i] * s + z[2 * i];", "double s = 2;",
                                   head="int n, double *restrict x, double *restrict y, double *restrict z"))
    value = next(assignments(scop.statements[0].body)).value
    assert arrays_of(scop, scop.statements[0].name, value) == {"y", "z"}, "a scalar needs no panel"


@pytest.mark.parametrize("line_bytes", [64, 128])
@pytest.mark.parametrize(("ways", "grid"), [(8, 1024), (2, 4096), (0, 1024)])
@pytest.mark.parametrize("more", [0, 3])
def test_rows_of_a_panel_do_not_share_the_sets_of_a_cache(more: int, ways: int, grid: int, line_bytes: int) -> None:
    columns = grid // 8 + more
    row = off_the_grid(columns, 8, Target(caches=(
        CacheLevel(level=1, size_bytes=1 << 15, line_bytes=line_bytes, ways=ways),)))
    assert row * 8 % grid
    assert row - columns == (0 if more else line_bytes // 8)


def test_packed_operands_are_those_asked_for() -> None:
    n = 48
    scop = from_c_text(in_function(
        f"for (int i = 0; i < {n}; i++) for (int j = 0; j < {n}; j++) for (int k = 0; k < {n}; k++)"
        " C[i][j] += A[i][k] * B[k][j];", head=", ".join(f"double {a}[restrict {n}][{n}]" for a in "CAB")))
    for packed, made_of in ((("A",), set()), (("B",), {"B"})):   # A is read in place, a row at a time
        made = optimize(scop, PipelineOptions(parallel=False, tiling=TilingOptions(
            sizes=(12, 16, 24), register=(2, 8), packed=packed, target=SMALL, parallel=False)))
        assert {name.partition("_")[0] for name in panels(made.source.loops)} == made_of


@pytest.mark.parametrize(("columns", "row", "made_of"), [(8, 8, set()), (8, 12, {"B"}), (16, 16, {"B"})])
def test_an_operand_that_lies_as_a_panel_is_not_copied(columns: int, row: int, made_of: set[str]) -> None:
    scop = from_c_text(in_function(
        f"for (int i = 0; i < 48; i++) for (int j = 0; j < {columns}; j++) for (int k = 0; k < 48; k++)"
        " C[i][j] += A[i][k] * B[k][j];",
        head=f"double C[restrict 48][{columns}], double A[restrict 48][48], double B[restrict 48][{row}]"))
    made = optimize(scop, PipelineOptions(parallel=False, tiling=TilingOptions(
        sizes=(12, columns, 48), register=(2, 8), packed=("B",), target=SMALL, parallel=False)))
    assert {name.partition("_")[0] for name in panels(made.source.loops)} == made_of
