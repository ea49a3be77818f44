"""Exact integer linear algebra: rank and orthogonal complement."""

import random

from polysched.scheduling.solving.linear_algebra import null_space, rank


def test_null_space_and_rank() -> None:
    assert null_space((), 2) == ((1, 0), (0, 1))
    assert null_space(((1, 1, 0),), 3) == ((-1, 1, 0), (0, 0, 1))
    assert null_space(((2, 0), (0, 3)), 2) == ()
    assert rank([(1, 2), (2, 4)], 2) == 1
    rng = random.Random(3)
    for _ in range(50):
        rows = tuple(tuple(rng.randint(-3, 3) for _ in range(4)) for _ in range(rng.randint(0, 4)))
        basis = null_space(rows, 4)
        assert len(basis) + rank(rows, 4) == 4
        assert all(sum(a * b for a, b in zip(r, n, strict=True)) == 0 for r in rows for n in basis)
