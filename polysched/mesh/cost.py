"""`Ledger`: the loads of a placement while it changes: a move takes out and puts in only the flows that it touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.shapes import Rectangle
from polysched.mesh.target import MeshTarget
from polysched.mesh.traffic import Flow, Traffic, total_loads
from polysched.records import dataclass


@dataclass(frozen=True, eq=False)
class Change:
    """Operators at other places, or messages in other orders; made of a ledger as it is, and for that alone.

    Parameters
    ----------
    rectangles : by operator.
    orders : by message.
    flows : of the messages that change, as they are kept, and by how many numbers of links they are moved.
    hop_bytes : of all messages with it.
    least : bytes that the most loaded link has at least then.
    """

    rectangles: Mapping[int, Rectangle]
    orders: Mapping[int, str]
    flows: Mapping[int, tuple[Flow, int]]
    hop_bytes: int
    least: int

    @property
    def least_score(self) -> int:
        """What neither the score nor the energy is below then."""
        return LIMITS.congestion_weight * self.least + self.hop_bytes


_Placed: TypeAlias = tuple[Flow, np.ndarray]
"""The flow of a message as it is kept, and the numbers of its links here."""


@dataclass(frozen=True, eq=False)
class Undo:
    """What a change of a ledger replaced.

    Parameters
    ----------
    rectangles : by operator.
    orders, flows : by message.
    loads, hop_bytes : of all.
    """

    rectangles: Mapping[int, Rectangle]
    orders: Mapping[int, str]
    flows: Mapping[int, _Placed]
    loads: np.ndarray
    hop_bytes: int


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
        self._placed: list[_Placed] = [self._flow(n) for n in range(len(graph.messages))]
        self.loads = total_loads(self.flows, target)
        self.hop_bytes = sum(f.hop_bytes for f, _ in self._placed)
        self._links = max(1, target.live_links)

    @property
    def flows(self) -> list[Flow]:
        """Of all messages."""
        return [flow.on(links) for flow, links in self._placed]

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

    def moved(self, places: Mapping[int, Rectangle]) -> Change:
        """The change that puts operators elsewhere; nothing is changed yet."""
        graph, rectangles = self.graph, self.rectangles
        flows = {}
        for message in dict.fromkeys(m for n in places for m in graph.touching[n]):
            source, sink = graph.ends[message]
            flows[message] = self.traffic.kept(graph.messages[message], places.get(source, rectangles[source]),
                                               places.get(sink, rectangles[sink]), self.orders[message])
        return self._change(places, {}, flows)

    def turned(self, message: int, order: str) -> Change:
        """The change that routes a message in another order; nothing is changed yet."""
        source, sink = self.graph.ends[message]
        return self._change({}, {message: order}, {message: self.traffic.kept(
            self.graph.messages[message], self.rectangles[source], self.rectangles[sink], order)})

    def _change(self, rectangles: Mapping[int, Rectangle], orders: Mapping[int, str],
                flows: Mapping[int, tuple[Flow, int]]) -> Change:
        hop_bytes, least = self.hop_bytes, 0
        for message, (flow, _) in flows.items():
            hop_bytes += flow.hop_bytes - self._placed[message][0].hop_bytes
            least = max(least, flow.largest)
        return Change(rectangles, orders, flows, hop_bytes, max(least, -(-hop_bytes // self._links)))

    def make(self, change: Change) -> Undo:
        """Make a change, and say what takes it back."""
        undo = Undo({n: self.rectangles[n] for n in change.rectangles}, {m: self.orders[m] for m in change.orders},
                    {m: self._placed[m] for m in change.flows}, self.loads, self.hop_bytes)
        new = {m: (flow, flow.links + links) for m, (flow, links) in change.flows.items()}
        for number, rectangle in change.rectangles.items():
            self.rectangles[number] = rectangle
        for message, order in change.orders.items():
            self.orders[message] = order
        if new:
            old = undo.flows.values()
            links = np.concatenate([*(links for _, links in new.values()), *(links for _, links in old)])
            loads = np.concatenate([*(flow.loads for flow, _ in new.values()), *(-flow.loads for flow, _ in old)])
            # in floats, which are exact: a link has at most all bytes, below LIMITS.most_bytes
            self.loads = self.loads + np.bincount(links, loads, len(self.loads)).astype(np.int64)
        for message, placed in new.items():
            self._placed[message] = placed
        self.hop_bytes = change.hop_bytes
        return undo

    def move(self, places: Mapping[int, Rectangle]) -> Undo:
        """Put operators elsewhere."""
        return self.make(self.moved(places))

    def turn(self, message: int, order: str) -> Undo:
        """Route a message in another order."""
        return self.make(self.turned(message, order))

    def undo(self, change: Undo) -> None:
        """Take the last change back."""
        for number, rectangle in change.rectangles.items():
            self.rectangles[number] = rectangle
        for message, order in change.orders.items():
            self.orders[message] = order
        for message, placed in change.flows.items():
            self._placed[message] = placed
        self.loads, self.hop_bytes = change.loads, change.hop_bytes

    def _flow(self, message: int) -> _Placed:
        source, sink = self.graph.ends[message]
        flow, links = self.traffic.kept(self.graph.messages[message], self.rectangles[source], self.rectangles[sink],
                                        self.orders[message])
        return flow, flow.links + links


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
