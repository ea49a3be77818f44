"""Predicted figures of a placement, each with its bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.mesh.bounds import (
    hop_bytes_bound,
    interval_bound,
    latency_bound,
    layers_bound,
    load_bound,
    partners_are_weighed,
)
from polysched.mesh.cost import Ledger
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.packing import free_places
from polysched.mesh.placement import Figure
from polysched.mesh.shapes import Rectangle, Shape
from polysched.mesh.target import MeshTarget
from polysched.mesh.traffic import Traffic

ANY, THESE = "any placement", "these shapes"


def figures_of(ledger: Ledger, shapes: Sequence[Shape], choices: Sequence[Sequence[Shape]],
               proven_hop_bytes: int = 0) -> dict[str, Figure]:
    """The figures of what a ledger holds.

    Parameters
    ----------
    shapes : of its rectangles.
    choices : every shape that each operator may have.
    proven_hop_bytes : a bound of the byte hops for these shapes that a solver proved.
    """
    graph, target = ledger.graph, ledger.target
    slowest = max(s.seconds for s in shapes)
    interval, why = interval_bound(graph, choices, target)
    load, load_why = load_bound(graph, shapes, target)
    alone = hop_bytes_bound(graph, shapes, target)
    hops = max(alone, proven_hop_bytes)
    hops_why = ("proved by CP-SAT" if hops > alone else
                "partners of an operator around it, none on another" if partners_are_weighed(graph, target) else
                "every message alone, between neighbours")
    score = LIMITS.congestion_weight * load + hops
    standing = [(*front, shape) for front, shape in zip(choices, shapes, strict=True)]
    layers = layer_by_layer(graph, standing, target, ledger.traffic)
    listed = (
        Figure(name="interval", unit="s", value=max(slowest, ledger.largest / target.link), bound=interval, holds=ANY,
               why=why),
        Figure(name="latency", unit="s", value=latency(ledger, shapes), bound=latency_bound(graph, choices, target),
               holds=ANY, why="the longest path, every operator at its fastest"),
        Figure(name="layer_by_layer", unit="s", value=layers, bound=layers_bound(choices), holds=ANY,
               why="every operator at its fastest, one after the other"),
        Figure(name="largest_load", unit="B", value=ledger.largest, bound=load, holds=THESE, why=load_why),
        Figure(name="hop_bytes", unit="B", value=ledger.hop_bytes, bound=hops, holds=THESE, why=hops_why),
        Figure(name="score", unit="B", value=ledger.score, bound=score, holds=THESE,
               why=f"{LIMITS.congestion_weight} times the bound of the load, and that of the byte hops"))
    return {f.name: f for f in listed}


def latency(ledger: Ledger, shapes: Sequence[Shape]) -> float:
    """Seconds of one item through a pipeline that runs: the longest path.

    A message takes its hops, and the time of the most loaded link on its way for the bytes of all messages.
    """
    graph, target = ledger.graph, ledger.target
    ready = [0.0] * len(graph.operators)
    arrival = [0.0] * len(graph.messages)
    sending: list[list[int]] = [[] for _ in graph.operators]
    hearing: list[list[int]] = [[] for _ in graph.operators]
    for message, (source, sink) in enumerate(graph.ends):
        sending[source].append(message)
        hearing[sink].append(message)
    flows = ledger.flows
    for number in graph.order:
        ready[number] = max((arrival[m] for m in hearing[number]), default=0.0) + shapes[number].seconds
        for message in sending[number]:
            flow = flows[message]
            arrival[message] = (ready[number] + flow.hops * target.hop
                                + int(ledger.loads[flow.links].max(initial=0)) / target.link)
    return max(ready)


def layer_by_layer(graph: OperatorGraph, choices: Sequence[Sequence[Shape]], target: MeshTarget,
                   traffic: Traffic | None = None) -> float:
    """Seconds of one item where operators run one after the other, each on the fastest rectangle that lives.

    Weights are taken to be in place.  Messages travel one after the other, too.
    """
    traffic = traffic or Traffic(target)
    rectangles, seconds = [], 0.0
    for front in choices:
        rectangle, taken = _fastest(front, target)
        rectangles.append(rectangle)
        seconds += taken
    for message, (source, sink) in zip(graph.messages, graph.ends, strict=True):
        flow = traffic.flow(message, rectangles[source], rectangles[sink], "xy")
        seconds += flow.hops * target.hop + int(np.max(flow.loads, initial=0)) / target.link
    return seconds


def _fastest(front: Sequence[Shape], target: MeshTarget) -> tuple[Rectangle, float]:
    """The fastest shape for which there are cores that live, at the first such place."""
    for shape in sorted(front, key=lambda s: (s.seconds, s.cores)):
        places = free_places(target.alive, shape.rows, shape.columns)
        if len(places):
            row, column = places[0].tolist()
            return Rectangle(row, column, shape.rows, shape.columns), shape.seconds
    raise AssertionError("a shape of each operator was placed, so there are cores for it")
