"""Loads of single messages by hand, with and without dead cores."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from polysched.errors import PlacementError
from polysched.mesh import MeshTarget, Message, Rectangle, traffic
from polysched.mesh.traffic import Traffic, pieces, total_loads

MESH = MeshTarget(rows=3, columns=3)


def loads_of(target, message, source, sink, order="xy"):
    flow = Traffic(target).flow(message, source, sink, order)
    loads = total_loads([flow], target).reshape(4, target.rows, target.columns)
    return flow, {(("east", "west", "south", "north")[d], r, c): int(loads[d, r, c])
                  for d, r, c in np.argwhere(loads).tolist()}


def test_pieces_cover_every_byte_once() -> None:
    for sources, sinks, size in ((1, 1, 5), (4, 6, 24), (3, 5, 7), (5, 2, 3), (2, 2, 0)):
        i, j, each = pieces(sources, sinks, size)
        assert each.sum() == size
        assert (each > 0).all()
        for counts, ends in ((sources, i), (sinks, j)):
            shares = np.bincount(ends, weights=each, minlength=counts)
            assert shares.tolist() == [size * (n + 1) // counts - size * n // counts for n in range(counts)]


def test_orders_turn_at_different_corners() -> None:
    message = Message(source="a", sink="b", bytes=10)
    flow, loads = loads_of(MESH, message, Rectangle(0, 0, 1, 1), Rectangle(2, 1, 1, 1))
    assert loads == {("east", 0, 0): 10, ("south", 0, 1): 10, ("south", 1, 1): 10}
    assert (flow.hops, flow.hop_bytes) == (3, 30)
    _, loads = loads_of(MESH, message, Rectangle(2, 1, 1, 1), Rectangle(0, 0, 1, 1), "yx")
    assert loads == {("north", 2, 1): 10, ("north", 1, 1): 10, ("west", 0, 1): 10}


def test_rows_are_passed_on_in_both_directions() -> None:
    message = Message(source="a", sink="b", bytes=6, cut="rows")
    flow, loads = loads_of(MESH, message, Rectangle(0, 0, 1, 3), Rectangle(1, 0, 1, 3))
    assert loads == {("south", 0, 0): 2, ("south", 0, 1): 2, ("south", 0, 2): 2, ("east", 1, 0): 2, ("east", 1, 1): 4,
                     ("west", 1, 1): 4, ("west", 1, 2): 2}
    assert flow.hops == 3


def test_columns_are_passed_on_along_them() -> None:
    message = Message(source="a", sink="b", bytes=4, cut="columns")
    _, loads = loads_of(MESH, message, Rectangle(0, 0, 2, 1), Rectangle(0, 1, 2, 1))
    assert loads == {("east", 0, 0): 2, ("east", 1, 0): 2, ("south", 0, 1): 2, ("north", 1, 1): 2}


def test_a_way_goes_around_dead_cores() -> None:
    broken = MeshTarget(rows=3, columns=3, dead=((0, 1),))
    message = Message(source="a", sink="b", bytes=5)
    flow, loads = loads_of(broken, message, Rectangle(0, 0, 1, 1), Rectangle(0, 2, 1, 1))
    assert flow.detours == (((0, 0), (1, 0), (1, 1), (1, 2), (0, 2)),)
    assert flow.hops == 4
    assert sum(loads.values()) == 20
    straight, _ = loads_of(broken, message, Rectangle(1, 0, 1, 1), Rectangle(1, 2, 1, 1))
    assert straight.detours == ()


@pytest.mark.parametrize("target", [MESH, MeshTarget(rows=3, columns=3, dead=((1, 1),))])
def test_few_flows_are_kept(target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "LIMITS", replace(traffic.LIMITS, most_flows=2))
    message, first, kept = Message(source="a", sink="b", bytes=6), Rectangle(0, 0, 1, 1), Traffic(target)
    for row, column in [place for place in itertools.product(range(3), repeat=2) if place not in ((0, 0), (1, 1))] * 2:
        there = Rectangle(row, column, 1, 1)
        flow, again = kept.flow(message, first, there, "xy"), Traffic(target).flow(message, first, there, "xy")
        assert (flow.links.tolist(), flow.loads.tolist()) == (again.links.tolist(), again.loads.tolist())
        assert len(kept._straight) <= 2


def test_a_mesh_that_is_cut_apart_is_refused() -> None:
    cut = MeshTarget(rows=1, columns=3, dead=((0, 1),))
    with pytest.raises(PlacementError, match="cut the mesh apart"):
        loads_of(cut, Message(source="a", sink="b", bytes=5), Rectangle(0, 0, 1, 1), Rectangle(0, 2, 1, 1))
