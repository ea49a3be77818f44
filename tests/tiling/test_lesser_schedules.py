"""What is given up of a schedule, piece by piece, and that what is left is legal."""

from __future__ import annotations

from polysched.dependence import violation
from polysched.scheduling.marks import Role
from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
from polysched.tiling import tile
from polysched.tiling.lesser_schedules import lesser_schedules, without_tiles
from tests.tiling import kernels
from tests.tiling.test_tile_bands import plain, scheduled


def roles(tree):
    return [band.mark.role for band in walk(from_isl(tree).root) if isinstance(band, Band) and band.mark is not None]


def test_pieces_are_given_up_one_after_the_other():
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=4, parallel_degrees=2))
    found = list(lesser_schedules(tiled))
    assert [lost for lost, _ in found] == [
        "all parallel loops of a nest but one were given up", "the tiles were given up",
        "tiles and marks were given up", "the order as written was taken"]
    assert all(violation(tiled.schedule.dependences, lesser.tree) is None for _, lesser in found)
    one, untiled, bare, _ = (lesser for _, lesser in found)
    assert one.options.parallel_degrees == 1
    assert any(band.sizes for band in one.bands)
    assert not any(band.sizes for band in untiled.bands)
    assert roles(bare.tree) == []


def test_points_stay_without_the_loops_between_tiles():
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=4))
    assert {Role.TILE, Role.WAVEFRONT} & set(roles(tiled.tree))
    left = without_tiles(tiled.tree)
    assert not {Role.TILE, Role.WAVEFRONT} & set(roles(left))
    assert roles(left)
    assert violation(tiled.schedule.dependences, left) is None
