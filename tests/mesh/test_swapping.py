"""Swaps keep operators apart, and every round has no more byte hops than the one before."""

import numpy as np
import pytest

from polysched.mesh import MeshTarget
from polysched.mesh.swapping import swapped


@pytest.mark.parametrize("dead", [(), ((1, 1), (5, 2))])
def test_no_round_makes_it_worse(dead) -> None:
    draw, target = np.random.default_rng(3), MeshTarget(rows=9, columns=7, dead=dead)
    ends = draw.integers(0, 50, (2, 140))
    ends = ends[:, ends[0] != ends[1]]
    sizes = draw.integers(0, 100, ends.shape[1])
    rows, columns = (a[:50] for a in np.nonzero(target.alive))

    def hops(r, c):
        return int((sizes * (np.abs(r[ends[0]] - r[ends[1]]) + np.abs(c[ends[0]] - c[ends[1]]))).sum())

    before, found = hops(rows, columns), []
    for rounds in (1, 2, 5, 20, 60):
        r, c = swapped(ends, sizes, target, rows, columns, rounds=rounds)
        assert len(set(zip(r.tolist(), c.tolist(), strict=True))) == 50
        assert target.alive[r, c].all()
        found.append(hops(r, c))
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.8 * before
    assert found[0] <= before
