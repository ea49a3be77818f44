"""Lengths of the loops around a register block are those that counting the instances gives."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.scheduling import pluto
from polysched.scheduling.tree.loop_tree import from_isl, multi_union_pw_aff
from polysched.scop import from_c_text
from polysched.scop.points import points_of
from polysched.tiling import TilingOptions, tile
from polysched.tiling.rewriting.block_path import Block, register_blocks
from tests.scop.c_frontend.read_region import in_function
from tests.tiling.planning.test_tile_search import SMALL

SIZES = (13, 18, 11)


@cache
def block(sizes: tuple[int, ...] | str, shape: tuple[int, int], outer: tuple[int, ...] = ()) -> Block:
    """The register block of a product with extents that no edge divides."""
    n, m, k = SIZES
    scop = from_c_text(in_function(
        f"for (int i = 0; i < {n}; i++) for (int j = 0; j < {m}; j++) for (int k = 0; k < {k}; k++)"
        " C[i][j] += A[i][k] * B[k][j];", head=f"double C[restrict {n}][{m}], double A[restrict {n}][{k}], double "
                                               f"B[restrict {k}][{m}]"))
    options = TilingOptions(sizes=sizes, register=shape, target=SMALL, parallel=False,
                            outer_sizes=(outer,) if outer else ())
    made = tile(pluto(analyse(scop)), options)
    found, = register_blocks(from_isl(made.tree).root, made.tree.get_domain(), (), {})
    return found


CASES = [((6, 8, 5), (2, 4)), ((6, 8, 5), (3, 8)), ("off", (2, 4)), ((13, 18, 11), (4, 8))]


def iterations(found: Block, at: int) -> set[int]:
    """How many values a loop has in each iteration of the loops around it."""
    functions = multi_union_pw_aff(tuple(loop.band.members[0] for loop in found.path[:at + 1]))
    places = isl.UnionMap.from_multi_union_pw_aff(functions).intersect_domain(found.domain).range()
    inside = defaultdict(set)
    for point in points_of(isl.Set.from_union_set(places)):
        inside[tuple(point[:-1])].add(point[-1])
    return {len(values) for values in inside.values()}


@pytest.mark.parametrize(("sizes", "shape"), CASES)
def test_extents_are_the_most_iterations(sizes: tuple[int, ...] | str, shape: tuple[int, int]) -> None:
    found = block(sizes, shape)
    for at in range(len(found.path)):
        extent = found.extent(at)
        if extent is not None and at < found.first_edge:
            assert max(iterations(found, at)) <= extent
            assert at in found.points or max(iterations(found, at)) == extent, "tiles are counted exactly"


@pytest.mark.parametrize(("sizes", "shape"), CASES)
def test_the_last_loops_are_the_edges_of_the_block(sizes: tuple[int, ...] | str, shape: tuple[int, int]) -> None:
    found = block(sizes, shape)
    edges = range(found.first_edge, len(found.path))
    assert sorted(found.register_edge(at) for at in edges) == sorted(shape)
    assert all(found.path[at].is_edge for at in edges)
    assert found.path[-1].band.mark is not None
    assert found.path[-1].band.mark.simd
    moving = {found.path[at].key for at in edges}
    assert all(found.path[at].key not in moving for at in range(found.nest, found.first_edge))


@pytest.mark.parametrize(("sizes", "shape"), CASES)
def test_every_loop_before_tiling_is_one_point(sizes: tuple[int, ...] | str, shape: tuple[int, int]) -> None:
    found = block(sizes, shape)
    lengths = {found.path[at].key[1]: length for at, length in zip(found.points, found.lengths, strict=True)}
    assert sorted(lengths.values()) == sorted(SIZES)
    assert all(found.free)
    for at in found.points:
        tiles = found.tile_loops(found.path[at].key, 0)
        assert set(found.moving_tiles(at, 0)) <= set(tiles)
        assert found.carrier(at) in (at, *tiles)


def test_even_tiles_are_those_whose_edges_divide() -> None:
    found = block((6, 8, 5), (2, 4))
    assert all(found.is_even(at) for at in range(found.first_edge))
    outer = block((6, 8, 5), (2, 4), outer=(9, 16, 10))
    uneven = [outer.path[at].key[1] for at in range(outer.first_edge) if not outer.is_even(at)]
    assert all(key in {outer.path[at].key[1] for at in range(outer.first_edge)} for key in uneven)
    assert len(set(uneven)) == 1, "6 does not divide 9"


def test_a_tree_without_a_block_has_none() -> None:
    scop = from_c_text(in_function("for (int i = 0; i < 9; i++) x[i] = 1;", head="double *restrict x"))
    made = tile(pluto(analyse(scop)), TilingOptions(register=False))
    assert list(register_blocks(from_isl(made.tree).root, made.tree.get_domain(), (), {})) == []
