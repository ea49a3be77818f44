"""Instructions of a plan: work, bytes, order."""

from __future__ import annotations

from polysched.gpu.boxes import Edge
from polysched.gpu.scratchpad.instructions import Costing, clipped, last_use
from tests.gpu.scratchpad.accelerated import mapped, norm, product


def test_the_cube_does_the_programs_work() -> None:
    for tile in ((16, 16), (16, 32), (33, 7)):
        for target in ("davinci", "gemmini"):
            own = mapped(product(33, 40, 50, integers=target == "gemmini"), target, tile=tile)
            assert own.timeline.work == 33 * 40 * 50


def test_every_element_is_stored_once() -> None:
    for tile in ((), (3,), (16,)):
        own = mapped(norm(16, 9), tile=tile)
        assert own.timeline.moved["UB -> DRAM"] == 4 * (16 * 9 + 16 + 16)


def test_loads_of_the_next_tile_stand_in_front_of_the_stages_of_a_tile() -> None:
    mapping = mapped(norm(16, 8), tile=(8,))
    (own,) = mapping.groups.values()
    names = [i.name for i in Costing.of(mapping.scop, mapping.target, own.plan).all()]
    assert names[:4] == ["load X", "load g", "load X", "load g"]
    assert names[4] == "S0"
    assert last_use(mapping.scop, own.plan, "X") == 6


def test_a_box_ends_with_its_array() -> None:
    edge = Edge(factors=(("t", 1),), constant=-1, extent=10)
    assert clipped((edge,), ((0, 19),), {"t": 0}) == (9,)
    assert clipped((edge,), ((0, 19),), {"t": 16}) == (5,)
