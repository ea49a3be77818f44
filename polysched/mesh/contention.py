"""Latency of packets on a mesh that is loaded: hops, and what a packet waits for others at every link.

A link passes a flit each cycle.  Packets that come to it by one input follow each other already, and do not wait for
each other there; those of several inputs that come in one cycle do.  With `p_i` the share of cycles in which input `i`
brings one, and `p` their sum, a packet waits

    (p^2 - sum of p_i^2) / (2 p (1 - p))   cycles

on average, which is what a queue of discrete time with arrivals in groups and one departure a cycle has.  The waits of
a route add up; packets of several flits wait for whole packets.

Source: Karol, Hluchyj, Morgan, "Input versus output queueing on a space-division packet switch", IEEE Transactions on
Communications 35(12), 1987 (its formula is that of equal inputs); checked against BookSim2 in `experiments/mesh`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polysched.errors import UsageError
from polysched.mesh.target import MeshTarget
from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Router:
    """What a packet takes on an empty mesh, in cycles.

    Parameters
    ----------
    hop : of a router and the link behind it.
    ends : of the first router's input and the last one's output, together.
    flits : of a packet; the last one arrives as many cycles less one behind the first.
    """

    hop: float
    ends: float = 0.0
    flits: int = 1

    def __post_init__(self) -> None:
        if self.flits < 1 or self.hop < 0 or self.ends < 0:
            raise UsageError("a router takes time, and a packet has flits", witness=str(vars(self)))


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Of the packets of a traffic, on average.

    Parameters
    ----------
    cycles : from a packet's first flit in its source to its last flit in its sink; infinite where a link saturates.
    empty : the same with no other packet on the mesh.
    busiest : the share of cycles in which the most loaded link is busy.
    """

    cycles: float
    empty: float
    busiest: float


def packet_latency(rates: np.ndarray, target: MeshTarget, router: Router) -> Latency:
    """The latency of packets that go along their row first.

    Parameters
    ----------
    rates : packets a cycle from every core to every core, numbered row by row, shape (cores, cores).

    Raises
    ------
    UsageError : the rates are none of this mesh, or a core is dead.
    """
    cores = target.rows * target.columns
    if rates.shape != (cores, cores) or not np.isfinite(rates).all() or rates.min(initial=0) < 0 or target.dead:
        raise UsageError("rates are at least 0, from every core to every core of a mesh whose cores live",
                         witness=f"shape {rates.shape} on {target.headline()}")
    if not rates.any():
        return Latency(cycles=0.0, empty=0.0, busiest=0.0)
    routes = {(a, b): _links(a, b, target) for a, b in np.argwhere(rates > 0).tolist()}
    inputs = _inputs(rates * router.flits, routes)
    busy = inputs.sum(1)
    waits = np.zeros(len(busy))
    used = (busy > 0) & (busy < 1)
    p = busy[used]
    waits[used] = (p ** 2 - (inputs[used] ** 2).sum(1)) / (2 * p * (1 - p)) * router.flits
    waits[(busy > 1) | ((busy == 1) & ((inputs > 0).sum(1) > 1))] = np.inf
    total = rates.sum()
    hops = float(sum(rates[ends] * (len(links) - 1) for ends, links in routes.items()) / total)
    waited = float(sum(rates[ends] * waits[links].sum() for ends, links in routes.items()) / total)
    empty = hops * router.hop + router.ends + router.flits - 1
    return Latency(cycles=empty + waited, empty=empty, busiest=float(busy.max()))


def _links(source: int, sink: int, target: MeshTarget) -> list[int]:
    """The outputs of cores on the way, by number: `core * 5 + direction`, and direction 4 is the sink itself."""
    (row, column), (last_row, last_column) = divmod(source, target.columns), divmod(sink, target.columns)
    found = []
    while (row, column) != (last_row, last_column):
        if column != last_column:
            direction, step = (0, 1) if last_column > column else (1, -1)
            found.append((row * target.columns + column) * 5 + direction)
            column += step
        else:
            direction, step = (2, 1) if last_row > row else (3, -1)
            found.append((row * target.columns + column) * 5 + direction)
            row += step
    return [*found, (row * target.columns + column) * 5 + 4]


def _inputs(flits: np.ndarray, routes: Mapping[tuple[int, int], list[int]]) -> np.ndarray:
    """The share of cycles in which each input of a core brings a flit for each output; input 4 is the core itself."""
    found = np.zeros((len(flits) * 5, 5))
    for ends, links in routes.items():
        by = 4
        for output in links:
            found[output, by] += flits[ends]
            by = output % 5
    return found
