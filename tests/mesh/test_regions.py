"""Regions, their parts, and operators that are moved out of full ones."""

import numpy as np
import pytest

from polysched.mesh import Rectangle
from polysched.mesh.regions import Region, parts_of, read_regions, within, write_regions


@pytest.mark.parametrize("sides", [(1000, 1000), (17, 33), (4, 100), (5, 3)])
@pytest.mark.parametrize("count", [4, 40, 10_000])
def test_parts_cover_a_region_once_and_are_64_at_most(sides, count) -> None:
    parts, grid = parts_of(Rectangle(2, 3, *sides), count)
    assert len(parts) == grid[0] * grid[1] <= min(count, 64)
    taken = np.zeros((sides[0] + 2, sides[1] + 3), dtype=int)
    for part in parts:
        taken[part.slices] += 1
    assert (taken[2:, 3:] == 1).all()
    assert taken[:2].sum() == taken[:, :3].sum() == 0


def test_what_is_too_much_goes_to_the_nearest_part_with_room() -> None:
    block = np.array([0, 0, 0, 0, 3])
    moved = within(block, np.array([2, 1, 1, 3]), (2, 2))
    assert np.bincount(moved, minlength=4).tolist() == [2, 1, 1, 1]
    assert moved[:2].tolist() == [0, 0]


def test_regions_written_are_read(tmp_path) -> None:
    draw = np.random.default_rng(0)
    regions = [Region(cores=Rectangle(n, 0, 4, 5 + n), members=np.arange(n, 3 * n), ends=draw.integers(0, 2, (2, k)),
                      sizes=draw.integers(0, 9, k)) for n, k in ((1, 0), (2, 3), (0, 0), (4, 7))]
    alive = draw.integers(0, 2, (9, 9)).astype(bool)
    write_regions(tmp_path / "r.npz", regions, alive, 7)
    read, cores, seed = read_regions(tmp_path / "r.npz")
    assert (cores == alive).all()
    assert seed == 7
    for one, two in zip(regions, read, strict=True):
        assert one.cores == two.cores
        assert all((getattr(one, a) == getattr(two, a)).all() for a in ("members", "ends", "sizes"))
