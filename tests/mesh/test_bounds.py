"""Bounds against all placements of small graphs, and by hand."""

import itertools
import random

import numpy as np
import pytest

from polysched.mesh import MeshTarget, Message, Operator, OperatorGraph, Rectangle, chain
from polysched.mesh.bounds import (
    hop_bytes_bound,
    interval_bound,
    latency_bound,
    layers_bound,
    least_hop_bytes,
    load_bound,
    sides,
    whole_pieces_bound,
)
from polysched.mesh.cost import Ledger, turn_routes
from polysched.mesh.shapes import Shape, fronts
from polysched.mesh.traffic import Traffic
from tests.mesh.random_graphs import random_graph

MESH = MeshTarget(rows=4, columns=5)


def places(shape: Shape, target: MeshTarget):
    return [Rectangle(r, c, shape.rows, shape.columns) for r in range(target.rows - shape.rows + 1)
            for c in range(target.columns - shape.columns + 1)]


def apart(a: Rectangle, b: Rectangle) -> bool:
    return (a.row >= b.row + b.rows or b.row >= a.row + a.rows or a.column >= b.column + b.columns
            or b.column >= a.column + a.columns)


@pytest.mark.parametrize("cut", ["cells", "rows", "columns"])
def test_the_least_byte_hops_of_a_message_are_those_of_all_pairs_of_places(cut) -> None:
    traffic, draw = Traffic(MESH), random.Random(5)
    for _ in range(12):
        source, sink = (Shape(draw.randint(1, 3), draw.randint(1, 3), 0.0, 0) for _ in range(2))
        message = Message(source="a", sink="b", bytes=draw.randint(1, 60), cut=cut)
        best = min((traffic.flow(message, a, b, "xy").hop_bytes for a in places(source, MESH)
                    for b in places(sink, MESH) if apart(a, b)), default=None)
        if best is not None:
            assert least_hop_bytes(message, source, sink, MESH) == best


def test_no_placement_of_a_small_graph_is_below() -> None:
    target = MeshTarget(rows=3, columns=3)
    for seed in range(3):
        graph = random_graph(seed, 4, single=True)
        shapes = [f[0] for f in fronts(graph, target)]
        hops, load = hop_bytes_bound(graph, shapes, target), load_bound(graph, shapes, target)[0]
        cores = [Rectangle(r, c, 1, 1) for r in range(3) for c in range(3)]
        for chosen in itertools.islice(itertools.permutations(cores, 4), 0, None, 37):
            ledger = Ledger(graph, target, chosen)
            turn_routes(ledger)
            assert ledger.hop_bytes >= hops
            assert ledger.largest >= load


def test_partners_of_one_operator_do_not_all_stand_beside_it() -> None:
    """Five of one core around one core: the one that hears least is two hops away."""
    graph = OperatorGraph(name="star", operators=tuple(Operator(name=str(n), work=1) for n in range(6)),
                          messages=tuple(Message(source="0", sink=str(n), bytes=6 - n) for n in range(1, 6)))
    assert hop_bytes_bound(graph, [Shape(1, 1, 0.0, 0)] * 6, MESH) == 5 + 4 + 3 + 2 + 2 * 1
    broad = [Shape(1, 1, 0.0, 0), *[Shape(2, 2, 0.0, 0)] * 5]
    assert hop_bytes_bound(graph, broad, MeshTarget(rows=20, columns=20)) == sum(
        least_hop_bytes(m, broad[0], broad[1], MESH) for m in graph.messages)   # so large a mesh is not looked at


@pytest.mark.parametrize("seed", range(4))
def test_no_placement_has_fewer_byte_hops_than_partners_around_each_operator(seed: int) -> None:
    target, draw = MeshTarget(rows=2, columns=3), random.Random(seed)
    shapes = [Shape(1, 1, 0.0, 0)] * 4
    shapes.insert(draw.randrange(5), Shape(*draw.choice([(1, 1), (1, 2), (2, 1)]), 0.0, 0))
    graph = OperatorGraph(name="g", operators=tuple(Operator(name=str(n), work=1) for n in range(5)),
                          messages=tuple(Message(source=str(s), sink=str(t), bytes=draw.randint(1, 60),
                                                 cut=draw.choice(["cells", "rows", "columns"]))
                                         for s, t in [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (0, 1)]))
    traffic = Traffic(target)
    found = [Ledger(graph, target, chosen, traffic).hop_bytes
             for chosen in itertools.product(*(places(s, target) for s in shapes))
             if all(apart(a, b) for a, b in itertools.combinations(chosen, 2))]
    assert sum(least_hop_bytes(m, shapes[s], shapes[t], target) for m, (s, t) in zip(
        graph.messages, graph.ends, strict=True)) <= hop_bytes_bound(graph, shapes, target) <= min(found)


def test_sides_at_the_edge_of_the_mesh_have_no_links() -> None:
    assert sides(Shape(2, 3, 0.0, 0), MESH) == 2 * 2 + 2 * 3
    assert sides(Shape(4, 4, 0.0, 0), MESH) == 4
    assert sides(Shape(4, 5, 0.0, 0), MESH) == 0


def test_times_by_hand() -> None:
    target = MeshTarget(rows=2, columns=2, compute=10.0, link=1.0, hop=0.5)
    graph = chain("c", [Operator(name="a", work=100, extents=(1, 4), result=0), Operator(name="b", work=20)])
    choices = fronts(graph, target)
    assert interval_bound(graph, choices, target) == (5.0, "all operators share the cores")   # 1x2 and 1x1
    assert layers_bound(choices) == 5.0 + 2.0
    assert latency_bound(graph, choices, target) == 7.0
    sending = OperatorGraph(name="s", operators=graph.operators, messages=(Message(source="a", sink="b", bytes=400),))
    assert latency_bound(sending, choices, target) == 7.5
    assert interval_bound(sending, choices, target) == (400 / 4, "sides of one operator")


def test_a_broad_operator_sends_over_its_own_sides() -> None:
    shapes = [Shape(1, 1, 0.0, 0), Shape(2, 2, 0.0, 0)]
    graph = chain("c", [Operator(name="a", work=1, result=80), Operator(name="b", work=1)])
    assert load_bound(graph, shapes, MeshTarget(rows=4, columns=4)) == (20, "what the cores of b pass on")
    single = [Shape(1, 1, 0.0, 0), Shape(1, 1, 0.0, 0)]
    whole = (80, "pieces, whole, at the sides of b")
    assert load_bound(graph, single, MeshTarget(rows=4, columns=4)) == whole


def test_whole_pieces_share_links_as_well_as_any_assignment_does() -> None:
    draw = random.Random(3)
    for _ in range(20):
        pieces, links = [draw.randint(1, 9) for _ in range(draw.randint(1, 6))], draw.randint(1, 3)
        best = min(max(sum(p for p, at in zip(pieces, chosen, strict=True) if at == link) for link in range(links))
                   for chosen in itertools.product(range(links), repeat=len(pieces)))
        assert max(pieces) <= whole_pieces_bound(np.array(pieces), links) <= best
    assert whole_pieces_bound(np.array([5, 5, 5]), 2) == 10
    assert whole_pieces_bound(np.zeros(0, dtype=np.int64), 2) == 0


def test_a_message_between_two_cores_is_never_split_over_links() -> None:
    graph = chain("c", [Operator(name=n, work=1, result=80) for n in "ab"])
    shapes = [Shape(1, 1, 0.0, 0)] * 2
    assert load_bound(graph, shapes, MESH)[0] == 80
