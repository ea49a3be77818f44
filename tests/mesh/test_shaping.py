"""Shapes that send less: as fast, within memory, with a bound that no placement is below."""

import itertools
import random

import pytest

from polysched.mesh import MeshTarget, Message, Operator, OperatorGraph, PlaceOptions, Rectangle, place, verify
from polysched.mesh.cost import Ledger
from polysched.mesh.exact import least_score_of_any
from polysched.mesh.shapes import shape_of
from polysched.mesh.shaping import least_score, reshaped


def graph_of(seed: int, operators: int = 4) -> OperatorGraph:
    draw = random.Random(seed)
    made = tuple(Operator(name=f"o{n}", work=100.0 * draw.randint(1, 4), weights=draw.randint(0, 40), result=64,
                          extents=(draw.randint(1, 4), draw.randint(1, 4))) for n in range(operators))
    pairs = sorted({(draw.randrange(n), n) for n in range(1, operators) for _ in range(2)})
    return OperatorGraph(name=f"g{seed}", operators=made, messages=tuple(
        Message(source=f"o{s}", sink=f"o{t}", bytes=draw.randint(1, 90), cut=draw.choice(("cells", "rows", "columns")))
        for s, t in pairs))


@pytest.mark.parametrize("seed", range(6))
def test_other_shapes_are_as_fast_fit_and_have_cores(seed: int) -> None:
    graph, target = graph_of(seed), MeshTarget(rows=4, columns=4, memory=400)
    given = place(graph, target, PlaceOptions(method="greedy")).shapes
    slowest = max(s.seconds for s in given)
    for _, shapes in reshaped(graph, given, target):
        assert sum(s.cores for s in shapes) <= target.live_cores
        for number, shape in enumerate(shapes):
            assert shape == shape_of(graph.operators[number], graph.inputs[number], target, shape.rows, shape.columns)
            assert shape.memory <= target.memory
            assert shape.seconds <= slowest


@pytest.mark.parametrize("seed", range(4))
def test_a_placement_with_other_shapes_is_right_and_never_worse(seed: int) -> None:
    graph, target = graph_of(seed, 6), MeshTarget(rows=4, columns=4, memory=400)
    own = place(graph, target, PlaceOptions(routing="xy"))
    kept = place(graph, target, PlaceOptions(routing="xy", reshape=False))
    verify(own)
    assert own.figures["score"].value <= kept.figures["score"].value
    assert own.figures["interval"].value <= max(kept.figures["interval"].value,
                                                own.figures["largest_load"].value / target.link)


def test_a_message_to_all_rows_makes_an_operator_long() -> None:
    """`wide` needs every row of its input in each column: one column of cores hears it once."""
    graph = OperatorGraph(name="g", operators=(
        Operator(name="first", work=4000.0, extents=(4, 4), result=4096),
        Operator(name="wide", work=4000.0, extents=(4, 4), result=4096)),
        messages=(Message(source="first", sink="wide", bytes=65536, cut="rows"),))
    target = MeshTarget(rows=4, columns=4)
    own, kept = place(graph, target), place(graph, target, PlaceOptions(reshape=False))
    assert own.figures["score"].value < kept.figures["score"].value
    assert max(s.seconds for s in own.shapes) <= max(s.seconds for s in kept.shapes)
    assert any("other shapes" in note for note in own.notes)


def test_on_a_large_mesh_no_other_shapes_are_tried() -> None:
    graph = OperatorGraph(name="g", operators=(
        Operator(name="first", work=4000.0, extents=(64, 64), result=4096),
        Operator(name="wide", work=4000.0, extents=(64, 64), result=4096)),
        messages=(Message(source="first", sink="wide", bytes=65536, cut="rows"),))
    target = MeshTarget(rows=32, columns=32)
    own, kept = place(graph, target), place(graph, target, PlaceOptions(reshape=False))
    assert own.shapes == kept.shapes
    assert any("no other shapes were tried" in note for note in own.notes)


@pytest.mark.parametrize("seed", range(6))
def test_no_placement_of_any_shapes_as_fast_is_below_the_bound(seed: int) -> None:
    graph, target = graph_of(seed, 3), MeshTarget(rows=3, columns=3, memory=400)
    given = place(graph, target, PlaceOptions(method="greedy")).shapes
    bound, slowest = least_score(graph, given, target), max(s.seconds for s in given)
    choices = []
    for number, operator in enumerate(graph.operators):
        shapes = (shape_of(operator, graph.inputs[number], target, h, w)
                  for h in range(1, min(3, operator.extents[0]) + 1) for w in range(1, min(3, operator.extents[1]) + 1))
        choices.append([Rectangle(r, c, s.rows, s.columns) for s in shapes
                        if s.seconds <= slowest and s.memory <= target.memory
                        for r in range(4 - s.rows) for c in range(4 - s.columns)])
    found = [Ledger(graph, target, places).score for places in itertools.product(*choices) if apart(places)]
    assert found
    assert bound <= least_score_of_any(graph, given, target) <= min(found)


def test_one_core_that_sends_much_gets_more_of_them() -> None:
    """Two whole results cross its four sides, and no piece is split: only with two cores do halves go apart."""
    names = ("before", "sender", "one", "two")
    graph = OperatorGraph(name="g", operators=tuple(
        Operator(name=n, work=64.0, extents=(4, 4), result=64000) for n in names), messages=tuple(
            Message(source="sender", sink=n, bytes=64000) for n in ("one", "two")))
    target = MeshTarget(rows=3, columns=3, memory=1 << 20)
    given = tuple(shape_of(o, i, target, 1, 1) for o, i in zip(graph.operators, graph.inputs, strict=True))
    least, shapes = reshaped(graph, given, target)[0]
    assert shapes[1].cores > 1
    assert least < place(graph, target, PlaceOptions(shapes=given)).figures["score"].bound


def apart(places: tuple[Rectangle, ...]) -> bool:
    return not any(a.row < b.row + b.rows and b.row < a.row + a.rows and a.column < b.column + b.columns
                   and b.column < a.column + a.columns for a, b in itertools.combinations(places, 2))
