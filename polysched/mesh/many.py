"""Very many operators of one core each: some thousands, as arrays.

Hierarchical partitioning gives positions, swaps of cores make them better, and a flow model, XY routes without waiting,
gives the load of every link.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from polysched.errors import PlacementError, UsageError
from polysched.mesh.limits import LIMITS
from polysched.mesh.partitioning import partitioned
from polysched.mesh.placement import Figure
from polysched.mesh.swapping import swapped
from polysched.mesh.target import MeshTarget, cores_left, cut_off
from polysched.mesh.traffic import straight_loads
from polysched.records import dataclass
from polysched.scop.shown import Shown

METHODS = ("partition", "order")


@dataclass(frozen=True, eq=False, kw_only=True)
class ManyOperators(Shown):
    """Operators that take one core each, by number, and messages between them.

    Parameters
    ----------
    count : of operators.
    sources, sinks, bytes : of each message; no operator sends to itself.

    Raises
    ------
    UsageError : the arrays do not fit together, are no whole numbers, or name an operator that is not had.
    """

    count: int
    sources: np.ndarray
    sinks: np.ndarray
    bytes: np.ndarray

    def __post_init__(self) -> None:
        shapes = {a.shape for a in (self.sources, self.sinks, self.bytes)}
        if len(shapes) != 1 or self.sources.ndim != 1:
            raise UsageError("sources, sinks and bytes are three lists of one length", witness=str(sorted(shapes)))
        if kinds := {str(a.dtype) for a in (self.sources, self.sinks, self.bytes) if a.dtype.kind != "i"}:
            raise UsageError("sources, sinks and bytes are whole numbers with a sign", witness=", ".join(sorted(kinds)))
        if (total := float(self.bytes.sum(dtype=float))) > LIMITS.most_bytes:
            raise UsageError(f"messages have at most {LIMITS.most_bytes} bytes in all", witness=f"{total:.0f}")
        if len(self.sources) and (min(self.sources.min(), self.sinks.min()) < 0 or self.bytes.min() < 0
                                  or max(self.sources.max(), self.sinks.max()) >= self.count):
            raise UsageError(f"messages join operators 0 to {self.count - 1} with at least 0 bytes")
        if (self.sources == self.sinks).any():
            raise UsageError("an operator sends to itself",
                             witness=str(self.sources[int((self.sources == self.sinks).argmax())]))

    def headline(self) -> str:
        """How many there are."""
        return f"{self.count} operators, {len(self.sources)} messages"


@dataclass(frozen=True, eq=False, kw_only=True)
class ManyPlacement(Shown):
    """A core for each operator.

    Parameters
    ----------
    operators, target : what was placed, and on what.
    rows, columns : of the core of each operator.
    loads : bytes on every link by XY routes, shape (4, rows, columns); None with dead cores, around which these do not
        go.
    figures : byte hops and, where there are loads, the largest one, with their bounds.
    method : what placed them.
    notes : why it is so, a sentence each.
    """

    operators: ManyOperators
    target: MeshTarget
    rows: np.ndarray
    columns: np.ndarray
    loads: np.ndarray | None
    figures: Mapping[str, Figure]
    method: str
    notes: tuple[str, ...] = ()

    def headline(self) -> str:
        """How many, where and how."""
        return f"{self.operators.headline()} on {self.target.headline()} by {self.method}"

    def __str__(self) -> str:
        return "\n".join([self.headline(), *map(str, self.figures.values()), *self.notes])


def place_many(operators: ManyOperators, target: MeshTarget, *, method: str = "partition",
               seed: int = 0) -> ManyPlacement:
    """A core for each operator, so that bytes travel few hops.

    Parameters
    ----------
    method : `partition`, hierarchical partitioning and swaps; `order`, operators by number along the rows.
    seed : of both; the same one gives the same placement.

    Raises
    ------
    PlacementError : there are more operators than cores that live.
    UsageError : no such method, or Mt-KaHyPar is not installed.
    """
    if method not in METHODS:
        raise UsageError(f"the method is one of {', '.join(METHODS)}", witness=repr(method))
    whole, target = target, target.connected
    if operators.count > target.live_cores:
        raise PlacementError(f"the operators need {operators.count} cores, and {cores_left(whole)}")
    if method == "order":
        rows, columns = (a[:operators.count] for a in np.nonzero(target.alive))
    else:
        ends = np.stack([operators.sources, operators.sinks])
        rows, columns = partitioned(operators.count, ends, operators.bytes, target, seed=seed)
        rows, columns = swapped(ends, operators.bytes, target, rows, columns, seed=seed)
    return _placement(operators, whole, rows, columns, method)


def _placement(operators: ManyOperators, target: MeshTarget, rows: np.ndarray, columns: np.ndarray,
               method: str) -> ManyPlacement:
    ends = np.stack([rows[operators.sources], columns[operators.sources], rows[operators.sinks],
                     columns[operators.sinks]])
    hops = np.abs(ends[0] - ends[2]) + np.abs(ends[1] - ends[3])
    bound = hop_bytes_bound(operators)
    figures = {"hop_bytes": Figure(name="hop_bytes", unit="B", value=int((hops * operators.bytes).sum()), bound=bound,
                                   holds="any placement",
                                   why="an operator has four cores beside it, eight at two hops, and so on")}
    loads = None
    if not target.dead:
        loads = straight_loads(ends, operators.bytes, "xy", target.rows, target.columns)
        figures["largest_load"] = Figure(
            name="largest_load", unit="B", value=int(loads.max()), bound=-(-bound // max(1, target.live_links)),
            holds="any placement", why="all byte hops over all links")
    return ManyPlacement(operators=operators, target=target, rows=rows, columns=columns, loads=loads, figures=figures,
                         method=method, notes=tuple(_notes(operators, target, hops)))


def _notes(operators: ManyOperators, target: MeshTarget, hops: np.ndarray) -> Iterator[str]:
    """What dead cores cost, how far bytes travel, and which message travels farthest."""
    if told := cut_off(target):
        yield told
    if target.dead:
        yield "byte hops are distances; messages that go around dead cores have more, and loads are not known"
    total = int(operators.bytes.sum())
    if total:
        far = int(hops.argmax())
        average = (hops * operators.bytes).sum() / total
        yield (f"a byte travels {average:.2f} hops on average; the farthest message goes {int(hops[far])}, "
               f"from operator {int(operators.sources[far])} to {int(operators.sinks[far])}")


def hop_bytes_bound(operators: ManyOperators) -> int:
    """Byte hops that no placement is below.

    Around any core there are 4 d cores at distance d.  So the n-th of an operator's partners, the one with most bytes
    first, is at least so far away.  Every message counts half at both ends.
    """
    near = np.concatenate([operators.sources, operators.sinks])
    far = np.concatenate([operators.sinks, operators.sources])
    pairs, which = np.unique(near.astype(np.int64) * operators.count + far, return_inverse=True)
    weights = np.bincount(which, weights=np.tile(operators.bytes, 2)).astype(np.int64)
    owner = pairs // operators.count
    order = np.lexsort((-weights, owner))
    owner, weights = owner[order], weights[order]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    distances = np.arange(1, 2 + int(np.sqrt(len(rank) + 1)))
    distance = 1 + np.searchsorted(2 * distances * (distances + 1), rank, side="right")
    return int(-(-(distance * weights).sum() // 2))
