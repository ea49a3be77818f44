"""Predictions by hand."""

import pytest

from polysched.mesh import MeshTarget, Message, Operator, OperatorGraph, Rectangle
from polysched.mesh.cost import Ledger
from polysched.mesh.figures import figures_of, latency, layer_by_layer
from polysched.mesh.shapes import fronts

TARGET = MeshTarget(rows=1, columns=3, compute=10.0, link=4.0, hop=0.25)
GRAPH = OperatorGraph(name="g", operators=(Operator(name="a", work=20), Operator(name="b", work=30),
                                           Operator(name="c", work=10)),
                      messages=(Message(source="a", sink="b", bytes=8), Message(source="a", sink="c", bytes=4)))


def test_a_path_has_work_hops_and_the_load_of_its_links() -> None:
    ledger = Ledger(GRAPH, TARGET, [Rectangle(0, c, 1, 1) for c in range(3)])
    shapes = [f[0] for f in fronts(GRAPH, TARGET)]
    # 12 bytes on the first link, 4 on the second; a: 2 s, then b: 0.25 + 3 + 3, and c: 0.5 + 3 + 1
    assert latency(ledger, shapes) == pytest.approx(2 + 0.25 + 3 + 3)
    figures = figures_of(ledger, shapes, fronts(GRAPH, TARGET))
    assert figures["interval"].value == pytest.approx(3.0)
    assert figures["largest_load"].value == 12
    assert figures["hop_bytes"].value == 8 + 2 * 4
    assert figures["hop_bytes"].bound == 12
    assert figures["score"].value == 1200 + 16
    assert all(f.bound <= f.value for f in figures.values())


def test_layers_have_the_cores_to_themselves() -> None:
    wide = OperatorGraph(name="w", operators=(Operator(name="a", work=30, extents=(1, 3)), Operator(name="b", work=10)),
                         messages=(Message(source="a", sink="b", bytes=9),))
    # a on all three cores: 1 s; its bytes come to the first core over two hops, 6 of them over one link; b: 1 s
    assert layer_by_layer(wide, fronts(wide, TARGET), TARGET) == pytest.approx(1 + 0.5 + 6 / 4 + 1)


def test_a_proved_bound_is_told() -> None:
    ledger = Ledger(GRAPH, TARGET, [Rectangle(0, c, 1, 1) for c in range(3)])
    shapes = [f[0] for f in fronts(GRAPH, TARGET)]
    figure = figures_of(ledger, shapes, fronts(GRAPH, TARGET), proven_hop_bytes=13)["hop_bytes"]
    assert (figure.bound, figure.why) == (13, "proved by CP-SAT")


def test_on_a_large_mesh_every_message_is_alone() -> None:
    for columns, why in ((3, "partners of an operator around it, none on another"),
                         (300, "every message alone, between neighbours")):
        target = MeshTarget(rows=1, columns=columns)
        choices = fronts(GRAPH, target)
        ledger = Ledger(GRAPH, target, [Rectangle(0, c, 1, 1) for c in range(3)])
        assert figures_of(ledger, [f[0] for f in choices], choices)["hop_bytes"].why == why


def test_a_figure_below_its_bound_is_a_fault() -> None:
    ledger = Ledger(GRAPH, TARGET, [Rectangle(0, c, 1, 1) for c in range(3)])
    shapes = [f[0] for f in fronts(GRAPH, TARGET)]
    with pytest.raises(AssertionError, match="hop_bytes: the bound"):
        figures_of(ledger, shapes, fronts(GRAPH, TARGET), proven_hop_bytes=5000)
