"""`Ledger`: the loads of a placement while it changes: a move takes out and puts in only the flows that it touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.shapes import Rectangle
from polysched.mesh.target import MeshTarget
from polysched.mesh.traffic import Flow, Traffic, total_loads
from polysched.records import dataclass


@dataclass(frozen=True, eq=False)
class Undo:
    """What a change of a ledger replaced.

    Parameters
    ----------
    rectangles : by operator.
    orders, flows : by message.
    """

    rectangles: Mapping[int, Rectangle]
    orders: Mapping[int, str]
    flows: Mapping[int, Flow]


class Ledger:
    """Rectangles, orders of routes, and the bytes that they put on every link.

    Parameters
    ----------
    graph, target : what is placed on what.
    rectangles : of the operators, in their order.
    traffic : makes the flows.
    orders : of the routes; None for all along their rows first.
    """

    def __init__(self, graph: OperatorGraph, target: MeshTarget, rectangles: Sequence[Rectangle],
                 traffic: Traffic | None = None, orders: Sequence[str] | None = None) -> None:
        self.graph = graph
        self.target = target
        self.traffic = traffic or Traffic(target)
        self.rectangles = list(rectangles)
        self.orders = ["xy"] * len(graph.messages) if orders is None else list(orders)
        self.flows = [self._flow(n) for n in range(len(graph.messages))]
        self.loads = total_loads(self.flows, target)
        self.hop_bytes = sum(f.hop_bytes for f in self.flows)

    @property
    def largest(self) -> int:
        """The bytes on the most loaded link."""
        return int(self.loads.max())

    @property
    def score(self) -> int:
        """What the search makes small: `LIMITS.congestion_weight` times the largest load, and the byte hops."""
        return LIMITS.congestion_weight * self.largest + self.hop_bytes

    @property
    def energy(self) -> float:
        """The score with the loads' 8-norm for the largest one: it falls, too, where one of several large ones does."""
        largest = self.largest
        if not largest:
            return self.hop_bytes
        powers = self.loads / largest
        for _ in range(3):
            powers *= powers
        return float(LIMITS.congestion_weight * largest * powers.sum() ** 0.125 + self.hop_bytes)

    def move(self, places: Mapping[int, Rectangle]) -> Undo:
        """Put operators elsewhere."""
        before = {n: self.rectangles[n] for n in places}
        for number, rectangle in places.items():
            self.rectangles[number] = rectangle
        touched = dict.fromkeys(m for n in places for m in self.graph.touching[n])
        return Undo(before, {}, {m: self._renew(m) for m in touched})

    def turn(self, message: int, order: str) -> Undo:
        """Route a message in another order."""
        before = self.orders[message]
        self.orders[message] = order
        return Undo({}, {message: before}, {message: self._renew(message)})

    def undo(self, change: Undo) -> None:
        """Take the last change back."""
        for number, rectangle in change.rectangles.items():
            self.rectangles[number] = rectangle
        for message, order in change.orders.items():
            self.orders[message] = order
        for message, flow in change.flows.items():
            self._put(message, flow)

    def _flow(self, message: int) -> Flow:
        source, sink = self.graph.ends[message]
        return self.traffic.flow(self.graph.messages[message], self.rectangles[source], self.rectangles[sink],
                                 self.orders[message])

    def _renew(self, message: int) -> Flow:
        return self._put(message, self._flow(message))

    def _put(self, message: int, flow: Flow) -> Flow:
        old = self.flows[message]
        self.loads[old.links] -= old.loads
        self.loads[flow.links] += flow.loads
        self.hop_bytes += flow.hop_bytes - old.hop_bytes
        self.flows[message] = flow
        return old


def scored(graph: OperatorGraph, target: MeshTarget, rectangles: Sequence[Rectangle],
           traffic: Traffic | None = None) -> int:
    """The score of rectangles with routes along the rows first."""
    return Ledger(graph, target, rectangles, traffic).score


def turn_routes(ledger: Ledger) -> int:
    """Adaptive routes: turn messages, the largest first, where that makes the score smaller; how many stay turned.

    Orders mixed in one network need a virtual channel each, so that no cycle of waiting messages arises
    (Dally and Towles, Principles and Practices of Interconnection Networks, chapter 14).
    """
    by_size = sorted(range(len(ledger.flows)), key=lambda m: (-ledger.graph.messages[m].bytes, m))
    better = True
    while better:
        better = False
        for message in by_size:
            before = ledger.score
            undo = ledger.turn(message, "yx" if ledger.orders[message] == "xy" else "xy")
            if ledger.score < before:
                better = True
            else:
                ledger.undo(undo)
    return ledger.orders.count("yx")


def as_array(loads: np.ndarray, target: MeshTarget) -> np.ndarray:
    """Loads by number of the link as an array (4, rows, columns)."""
    return loads.reshape(4, target.rows, target.columns).copy()
