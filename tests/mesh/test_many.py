"""Many operators: all have cores, the loads are walked, the bound holds for all placements of a small mesh."""

import itertools

import numpy as np
import pytest

from polysched.errors import PlacementError, UsageError
from polysched.mesh import (
    ManyOperators,
    MeshTarget,
    Message,
    Operator,
    OperatorGraph,
    Placement,
    Rectangle,
    Route,
    Shape,
    place_many,
    verify,
)
from polysched.mesh.many import hop_bytes_bound


def random_operators(seed: int, count: int) -> ManyOperators:
    draw = np.random.default_rng(seed)
    sinks = np.tile(np.arange(1, count), 2)
    return ManyOperators(count=count, sources=np.maximum(0, sinks - draw.integers(1, 40, len(sinks))), sinks=sinks,
                         bytes=draw.integers(0, 1000, len(sinks)))


@pytest.mark.parametrize("dead", [(), ((3, 3), (19, 0))])
def test_every_operator_has_a_core_and_bytes_travel_less_than_in_order(dead) -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    operators, target = random_operators(1, 390), MeshTarget(rows=20, columns=20, dead=dead)
    found = place_many(operators, target)
    assert len(set(zip(found.rows.tolist(), found.columns.tolist(), strict=True))) == 390
    assert target.alive[found.rows, found.columns].all()
    figure = found.figures["hop_bytes"]
    assert figure.bound <= figure.value < 0.6 * place_many(operators, target, method="order").figures["hop_bytes"].value
    assert (found.loads is None) == bool(dead)


def test_the_loads_are_those_of_a_walk() -> None:
    operators, target = random_operators(2, 30), MeshTarget(rows=5, columns=6)
    found = place_many(operators, target, method="order")
    graph = OperatorGraph(name="many", operators=tuple(Operator(name=str(n), work=0) for n in range(30)),
                          messages=tuple(Message(source=str(s), sink=str(t), bytes=b) for s, t, b in zip(
                              operators.sources.tolist(), operators.sinks.tolist(), operators.bytes.tolist(),
                              strict=True)))
    assert found.loads is not None
    verify(Placement(graph=graph, target=target, shapes=(Shape(1, 1, 0.0, 0),) * 30, loads=found.loads,
                     rectangles=tuple(Rectangle(r, c, 1, 1) for r, c in zip(found.rows.tolist(),
                                                                            found.columns.tolist(), strict=True)),
                     routes=(Route("xy"),) * len(graph.messages)))
    assert found.loads.sum() == found.figures["hop_bytes"].value


def test_no_placement_is_below_the_bound() -> None:
    star = ManyOperators(count=6, sources=np.zeros(5, int), sinks=np.arange(1, 6), bytes=np.array([5, 4, 3, 2, 1]))
    cores = [(r, c) for r in range(3) for c in range(3)]
    best = min(sum(b * (abs(p[0][0] - p[n][0]) + abs(p[0][1] - p[n][1])) for n, b in enumerate((5, 4, 3, 2, 1), 1))
               for p in itertools.permutations(cores, 6) if p[0] == (1, 1))
    assert best == 16
    assert hop_bytes_bound(star) == 16     # half of 16 at the middle and of 15 at the ends, rounded up


@pytest.mark.parametrize(("arrays", "said"), [
    (([0], [0], [1]), "sends to itself"), (([0], [2], [1]), "operators 0 to 1"), (([0], [1], [-1]), "operators 0 to 1"),
    (([0, 1], [1], [1]), "three lists"), (([0], [1], [1.5]), "witness: float64"),
    (([0], [1], [2 << 40]), "at most 1099511627776 bytes in all")])
def test_arrays_that_do_not_fit_are_refused(arrays, said) -> None:
    with pytest.raises(UsageError, match=said):
        ManyOperators(count=2, **dict(zip(("sources", "sinks", "bytes"), map(np.array, arrays), strict=True)))


def test_refusals() -> None:
    operators = random_operators(1, 5)
    with pytest.raises(PlacementError, match="need 5 cores, and 4 live"):
        place_many(operators, MeshTarget(rows=2, columns=2))
    with pytest.raises(UsageError, match="partition, order"):
        place_many(operators, MeshTarget(rows=3, columns=2), method="magic")


def test_text() -> None:
    found = place_many(random_operators(1, 5), MeshTarget(rows=3, columns=2), method="order")
    assert repr(found) == "<ManyPlacement 5 operators, 8 messages on 3x2 by order>"
    assert "hop_bytes: " in str(found)
    assert "hops on average; the farthest message goes 2, from operator 0 to 3" in str(found)


def test_notes_say_what_dead_cores_cost() -> None:
    corner = MeshTarget(rows=3, columns=3, dead=((0, 1), (1, 0)))
    found = place_many(random_operators(1, 5), corner, method="order")
    assert found.target == corner
    assert found.notes[0] == "dead cores cut off 1 core, used by nothing"
    assert "loads are not known" in found.notes[1]
    with pytest.raises(PlacementError, match="need 7 cores, and 6 of the 7 that live can reach each other"):
        place_many(random_operators(1, 7), corner)
