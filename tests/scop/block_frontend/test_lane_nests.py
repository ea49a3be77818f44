"""Which loops over lanes become one: those in which each lane has only to do with itself."""

from __future__ import annotations

import pytest

from polysched.scop.block_frontend.lane_nests import LaneNest, joined_bodies


def nest(name: str, *body: str, shape: tuple[int, ...] = (8,)) -> LaneNest:
    names = tuple(f"{name}{k}" if edge != 1 else "0" for k, edge in enumerate(shape))
    return LaneNest(first=0, depth=0, shape=shape, names=names, body=body)


@pytest.mark.parametrize(("first", "second", "joined"), [
    ("t[p, i0] = x[i0] * 3", "a[p, j0] = t[p, j0] + 1", True),
    ("t[p, i0] = a[p, i0] * 3", "a[p, j0] = t[p, j0] + 1", True),
    ("t[p, i0] = x[i0]", "a[p, j0] = x[j0 + 1]", True),                     # only read
    ("t[p, i0] += x[i0]", "t[p, j0] += y[j0]", True),
    ("t[p, i0] = x[i0]", "a[p, j0] = t[p, 7 - j0]", False),                 # of another lane
    ("t[p, i0] = a[p, 0]", "a[p, j0] = 1.0", False),
    ("s[p, 0] += x[i0]", "a[p, j0] = s[p, 0]", False),                      # a sum over all lanes
    ("out[i0] = x[i0]", "a[p, j0] = out[j0]", False),                       # an argument may have other subscripts
    ("v = x[i0]\nt[p, i0] = v", "a[p, j0] = v", False),                     # a variable of the last lane
    ("v = x[i0]\nt[p, i0] = v", "w = t[p, j0]\na[p, j0] = w * w", True),
    ("t[p, i0] = x[i0]", "if j0 < n:\n    a[p, j0] = t[p, j0]", True),
])
def test_a_lane_that_needs_another_keeps_loops_apart(first: str, second: str, *, joined: bool) -> None:
    made = joined_bodies(nest("i", *first.split("\n")), nest("j", *second.split("\n")), {"t", "a", "s"}, ["p", "i0"])
    assert made == ((*first.split("\n"), *second.replace("j0", "i0").split("\n")) if joined else None)


def test_only_equal_shapes_are_joined() -> None:
    own = ["p", "i0", "i1"]
    square = nest("i", "t[p, i0, i1] = 0", shape=(8, 8))
    assert joined_bodies(square, nest("j", "a[p, j0, j1] = t[p, j0, j1]", shape=(8, 4)), {"t", "a"}, own) is None
    assert joined_bodies(square, nest("j", "a[p, j0, j1] = t[p, j1, j0]", shape=(8, 8)), {"t", "a"}, own) is None
    assert joined_bodies(square, nest("j", "a[p, j0, j1] = t[p, j0, j1]", shape=(8, 8)), {"t", "a"}, own) == (
        "t[p, i0, i1] = 0", "a[p, i0, i1] = t[p, i0, i1]")
