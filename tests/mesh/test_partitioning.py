"""Regions, their parts, and operators that are moved out of full ones."""

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.mesh import MeshTarget, Rectangle
from polysched.mesh.partitioning import partitioned, parts_of, within


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


def test_two_groups_that_do_not_talk_have_parts_of_their_own() -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    line = np.arange(63)
    ends = np.stack([np.concatenate([line, line + 64]), np.concatenate([line + 1, line + 65])])
    target = MeshTarget(rows=8, columns=16)
    rows, columns = partitioned(128, ends, np.full(126, 9), target)
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == 128
    again = partitioned(128, ends, np.full(126, 9), target)
    assert (rows == again[0]).all()
    assert (columns == again[1]).all()


@pytest.mark.parametrize("count", [2, 3, 4, 5, 24, 25, 26])
@pytest.mark.parametrize("rows_alive", [20, 2])
def test_few_operators_have_cores_of_a_large_mesh(count, rows_alive) -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    target = MeshTarget(rows=20, columns=20, dead=tuple((r, c) for r in range(rows_alive, 20) for c in range(20)))
    ends = np.stack([np.arange(count - 1), np.arange(1, count)])
    rows, columns = partitioned(count, ends, np.full(count - 1, 9), target)
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == count
    assert target.alive[rows, columns].all()


def test_more_operators_than_were_tried_are_refused() -> None:
    with pytest.raises(UsageError, match="at most 25000 operators"):
        partitioned(25_001, np.zeros((2, 0), int), np.zeros(0, int), MeshTarget(rows=200, columns=200))


def test_a_region_whose_parts_have_no_sizes_of_their_own_is_full() -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    count = 22_500
    ends = np.stack([np.arange(count - 1), np.arange(1, count)])
    rows, columns = partitioned(count, ends, np.ones(count - 1, int), MeshTarget(rows=150, columns=150))
    assert len(np.unique(rows * 150 + columns)) == count
    hops = np.abs(np.diff(rows)) + np.abs(np.diff(columns))
    assert hops.mean() < 75 / 2   # by number along the rows it is nearly 1, drawn at random 100
