"""Register blocks fit the registers, hold sums that the inner loops leave alone, and cover a tile exactly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.target.target import Target
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.planning import register_shape as shapes
from polysched.tiling.planning.register_shape import register_shapes
from tests.tiling.footprints.test_traffic import A, B, C, product_nest, reference
from tests.tiling.planning.test_tile_search import SMALL

LANES = 4   # doubles in 256 bits


def fitting(n: int = 512, target: Target = SMALL) -> tuple[shapes.RegisterShape, ...]:
    return register_shapes(product_nest(n), "S", target)


def test_every_block_fits_and_the_best_comes_first() -> None:
    found = fitting()
    assert found
    for shape in found:
        assert sorted((shape.rows, shape.columns, *shape.inner, *shape.outer)) == [0, 1, 2]
        assert shape.inner == (2,), "the loop of the sum"
        assert shape.column_count % LANES == 0
        vectors = shape.column_count // LANES
        assert shape.row_count * vectors + 1 <= SMALL.vector_registers
    plain = [s.cycles for s in found if not s.transposed]
    assert plain == sorted(plain)
    assert (found[0].rows, found[0].columns) == (0, 1)


@pytest.mark.parametrize("extents", [(508, 16, 64), (52, 64, 80), (64, 24, 9)])
def test_loops_of_a_sum_at_an_angle_leave_blocks_as_they_are(extents: tuple[int, ...]) -> None:
    """A sum over `c` and `4c + r` fills a part of its box, but its rows and columns are the same everywhere."""
    box = replace(product_nest(512), extents=extents)
    angled = replace(box, density=0.08, free=(True, True, False))
    assert [(s.row_count, s.column_count, s.cycles) for s in register_shapes(angled, "S", SMALL)] == [
        (s.row_count, s.column_count, s.cycles) for s in register_shapes(box, "S", SMALL)]
    moved = replace(angled, free=(False, True, False))
    assert register_shapes(moved, "S", SMALL)[0].cycles > register_shapes(box, "S", SMALL)[0].cycles


def test_more_registers_never_make_the_best_block_slower() -> None:
    cycles = [fitting(target=replace(SMALL, vector_registers=n))[0].cycles for n in (8, 16, 32)]
    assert cycles == sorted(cycles, reverse=True)


@pytest.mark.parametrize(("references", "why"), [
    ((replace(C, whole=True), A, B), "an element that data decides"),
    ((reference("x", ((1, 0, 0),), writes=True), A, B), "a sum that one loop moves"),
    ((A, B), "nothing is written")])
def test_what_has_no_block(references: tuple[object, ...], why: str) -> None:
    nest = Nest(loops=("i", "j", "k"), extents=(64,) * 3, references=references, parameters={})
    assert register_shapes(nest, "S", SMALL) == (), why


def test_a_machine_without_vectors_has_no_block() -> None:
    assert fitting(target=replace(SMALL, vector_bits=0)) == ()


@pytest.mark.parametrize(("rows", "columns"), [(4, 8), (5, 9), (7, 31), (12, 32), (1, 1), (3, 40)])
def test_blocks_of_a_tile_cover_it(rows: int, columns: int) -> None:
    shape = fitting()[0]
    parts = shapes.block_parts((shape.row_count, shape.column_count), rows, columns, LANES)
    covered = sum(r for r, _ in parts) / -(-columns // shape.column_count)
    assert covered == rows
    assert all(r <= shape.row_count and v <= shape.column_count // LANES for r, v in parts)
    whole = -(-rows // shape.row_count) * -(-columns // shape.column_count)
    assert len(parts) == whole


def test_cut_blocks_take_longer() -> None:
    shape = fitting()[0]
    whole = shapes.cut_share(shape, 3 * shape.row_count, 2 * shape.column_count, LANES, SMALL)
    assert whole == pytest.approx(1.0)
    assert shapes.cut_share(shape, shape.row_count + 1, shape.column_count, LANES, SMALL) > 1.0
    assert shapes.cut_share(shape, 1, 1, LANES, SMALL) > 2.0


def test_rows_of_whole_blocks_lose_nothing() -> None:
    losses = {vectors: shapes.row_loss(vectors, SMALL) for vectors in range(1, 13)}
    assert all(loss >= 1.0 for loss in losses.values())
    assert min(losses.values()) == pytest.approx(1.0)
    assert losses[1] >= losses[12]


def test_panels_are_of_operands_that_nobody_writes() -> None:
    nest, shape = product_nest(64), fitting(64)[0]
    assert {r.array for r in shapes.panel_operands(nest, shape)} == {"A", "B"}
    assert {r.array for r in shapes.panel_operands(nest, replace(shape, in_place=True))} == {"A"}
    assert {r.array for r in shapes.panel_operands(nest, replace(shape, packed=frozenset({"B"})))} == {"B"}
    written = replace(nest, references=(C, A, replace(B, writes=True)))
    assert {r.array for r in shapes.panel_operands(written, shape)} == {"A"}


def test_a_few_vectors_are_enough_for_a_row() -> None:
    wide = replace(SMALL, vector_bits=512, vector_registers=32)
    assert shapes.short_row(wide) == 2
    assert shapes.row_loss(2, wide) <= shapes.LIMITS.most_row_loss < shapes.row_loss(1, wide)


def blocked_convolution(places: int) -> Nest:
    """`y[k][i][j][b] += x[c][i][j] * w[k][c][b]`: rows of the block are places, or blocks of channels."""
    def own(array: str, *loops: str, writes: bool = False) -> object:
        names = "kijcb"
        return reference(array, tuple(tuple(int(n == loop) for n in names) for loop in loops), writes=writes,
                         reach=tuple({"k": 16, "i": 13, "j": places, "c": 256, "b": 8}[loop] for loop in loops))
    return Nest(loops=tuple("kijcb"), extents=(16, 13, places, 256, 8), references=(
        own("y", "k", "i", "j", "b", writes=True), own("x", "c", "i", "j"), own("w", "k", "c", "b")), parameters={},
        constant=(True,) * 5)


def test_vectors_that_no_row_shares_come_from_the_cache_that_keeps_them_all() -> None:
    nest = blocked_convolution(13)
    target = replace(SMALL, vector_bits=512, vector_registers=32)
    found = register_shapes(nest, "S", target)
    assert nest.loops[found[0].rows] == "j", "rows of places share the weights"
    by_channels = min(s.cycles for s in found if nest.loops[s.rows] == "k")
    roomy = replace(target, caches=(replace(target.caches[0], size_bytes=1 << 24), *target.caches[1:]))
    assert min(s.cycles for s in register_shapes(nest, "S", roomy) if nest.loops[s.rows] == "k") < by_channels
