"""A compute-shift order: operators one after the other, each on the whole mesh, operands passed around rings of cores.

An operator is cut over a grid of cores.  What all cores of a row (column) of the grid need is cut again into `turns`
parts, one for each core of a ring in that row (column): a core computes with the part that it has, passes it on to the
next core, and so sees all of them.  More turns need less memory (T10: Liu et al., SOSP 2024, sections 3 and 4).  What
an operator gets begins cut over all its cores; cores whose ring has fewer parts gather theirs before.  Weights stay on
the mesh, those of all operators at once; which operators may hold more of them is decided as there, by the most time
saved per byte.  This order is a baseline beside pipelines (`place`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polysched.errors import PlacementError
from polysched.mesh.operators import Message, Operator, OperatorGraph
from polysched.mesh.placement import Figure
from polysched.mesh.shapes import Rectangle
from polysched.mesh.target import MeshTarget
from polysched.mesh.traffic import Traffic
from polysched.records import dataclass
from polysched.scop.shown import Shown


@dataclass(frozen=True, kw_only=True)
class Rings:
    """How one operator is spread over the mesh.

    Parameters
    ----------
    rows, columns : of its grid of cores.
    row_turns, column_turns : cores in a ring along a row, and along a column; they divide `columns` and `rows`.
    seconds : of gathering, computing and shifting.
    gathered : bytes that the busiest core passes on before, along its row, and along its column.
    shifted : the same while it computes.
    kept : bytes of weights on a core, also while other operators run.
    held : bytes of operands and of the result on a core while it runs, beside its weights.
    """

    rows: int
    columns: int
    row_turns: int
    column_turns: int
    seconds: float
    gathered: tuple[int, int]
    shifted: tuple[int, int]
    kept: int
    held: int


@dataclass(frozen=True, eq=False, kw_only=True)
class ComputeShift(Shown):
    """The operators of a graph, one after the other.

    Parameters
    ----------
    rings : of the operators, in their order.
    moved : seconds of each message from the layout in which it is made to that in which it is needed.
    latency : seconds of one item, which is the time between two items as well; the bound is that of any order that
        runs one operator at a time.
    """

    graph: OperatorGraph
    target: MeshTarget
    rings: tuple[Rings, ...]
    moved: tuple[float, ...]
    latency: Figure

    def headline(self) -> str:
        """Graph, mesh and time."""
        return f"{self.graph.name[:60]} on {self.target.headline()} in compute-shift order, {self.latency.value:.4g} s"

    def __str__(self) -> str:
        lines = [self.headline(), *(
            f"  {o.name}: {r.rows}x{r.columns} cores, rings of {r.row_turns} along rows and {r.column_turns} along "
            f"columns, {r.seconds:.4g} s, {sum(r.gathered)} B gathered, {sum(r.shifted)} B shifted, {r.kept} B kept"
            for o, r in zip(self.graph.operators, self.rings, strict=True))]
        return "\n".join([*lines, f"  messages between layouts: {sum(self.moved):.4g} s", str(self.latency)])

    def to_json(self) -> dict[str, Any]:
        """What is predicted, as JSON values."""
        return {"latency": {"value": self.latency.value, "bound": self.latency.bound, "unit": self.latency.unit},
                "moved_seconds": sum(self.moved),
                "operators": [{"name": o.name, "rows": r.rows, "columns": r.columns, "row_turns": r.row_turns,
                               "column_turns": r.column_turns, "seconds": r.seconds, "gathered": list(r.gathered),
                               "shifted": list(r.shifted), "kept": r.kept, "held": r.held}
                              for o, r in zip(self.graph.operators, self.rings, strict=True)]}


def compute_shift(graph: OperatorGraph, target: MeshTarget) -> ComputeShift:
    """The order, each operator with the rings that make it fastest in the memory that there is.

    Raises
    ------
    PlacementError : cores are dead, so that rows and columns are no rings; or the weights or an operator do not fit.
    """
    if target.dead:
        raise PlacementError("a compute-shift order needs every core of the mesh", where=f"graph {graph.name}",
                             witness=f"{len(target.dead)} dead cores", hint="a placement goes around them")
    fronts = [_front(every_rings(o, i, target)) for o, i in zip(graph.operators, graph.inputs, strict=True)]
    rings = _within_memory(graph, fronts, target.memory)
    traffic, moved = Traffic(target), []
    for message, (source, sink) in zip(graph.messages, graph.ends, strict=True):
        begin, end = (Rectangle(0, 0, rings[n].rows, rings[n].columns) for n in (source, sink))
        flow = traffic.flow(replace(message, cut="cells"), begin, end, "xy")
        moved.append(flow.hops * target.hop + int(np.max(flow.loads, initial=0)) / target.link)
    work = sum(o.work for o in graph.operators)
    latency = Figure(name="latency", unit="s", value=sum(r.seconds for r in rings) + sum(moved),
                     bound=work / target.compute / (target.rows * target.columns), holds="one operator at a time",
                     why="all cores compute, and nothing is moved")
    return ComputeShift(graph=graph, target=target, rings=rings, moved=tuple(moved), latency=latency)


def every_rings(operator: Operator, inputs: Sequence[Message], target: MeshTarget) -> list[Rings]:
    """Every grid and every ring that an operator may have."""
    m, n = operator.extents
    return [rings_of(operator, inputs, target, grid=(h, w), turns=(along, across))
            for h in range(1, min(target.rows, m) + 1) for w in range(1, min(target.columns, n) + 1)
            for along in _divisors(w) for across in _divisors(h)]


def rings_of(operator: Operator, inputs: Sequence[Message], target: MeshTarget, *, grid: tuple[int, int],
             turns: tuple[int, int]) -> Rings:
    """What an operator takes in one spread.

    A ring is a line of cores: each passes its part to the next one, and the last one to the first, against them.
    So a link carries one part in a turn, and the last one's goes over all other cores.  Where both operands of a
    product go around, rows and columns begin at different places of the common axis, so that a core has the two parts
    that belong together at any time (as Cannon, 1969, for equal turns), and each part passes once.

    Parameters
    ----------
    grid : rows and columns of cores.
    turns : cores in a ring along a row, which divide the columns, and along a column, which divide the rows.
    """
    (h, w), (m, n), (along, across) = grid, operator.extents, turns
    own_rows, own_columns = -(-m // h), -(-n // w)
    cells = own_rows * own_columns
    row_part, row_piece = (_shared(inputs, "rows", own_rows, m * parts) for parts in (along, w))
    column_part, column_piece = (_shared(inputs, "columns", own_columns, n * parts) for parts in (across, h))
    weights = _part(operator.weights * own_columns, n * across)
    plain = _shared(inputs, "cells", cells, m * n)
    gathers = ((w // along - 1, row_piece), (h // across - 1, column_piece))
    shifts = ((along - 1, row_part), (across - 1, column_part + weights))
    seconds = operator.work * cells / (m * n) / target.compute
    seconds += sum(count * (size / target.link + target.hop) for count, size in gathers if size)
    seconds += sum(count * (size / target.link + count * target.hop) for count, size in shifts if size)
    return Rings(rows=h, columns=w, row_turns=along, column_turns=across, seconds=seconds,
                 gathered=(gathers[0][0] * gathers[0][1], gathers[1][0] * gathers[1][1]),
                 shifted=(shifts[0][0] * shifts[0][1], shifts[1][0] * shifts[1][1]), kept=weights,
                 held=_part(operator.result * cells, m * n) + plain + row_part + column_part
                 + sum(size for count, size in shifts if count))


def _shared(inputs: Sequence[Message], cut: str, own: int, whole: int) -> int:
    """Bytes of so many of the parts of all inputs that are cut so."""
    return sum(_part(i.bytes * own, whole) for i in inputs if i.cut == cut)


def _within_memory(graph: OperatorGraph, fronts: Sequence[Sequence[Rings]], memory: int) -> tuple[Rings, ...]:
    """Of each front a member: from the least memory on, what saves most seconds per byte, as long as all of it fits."""
    chosen = [min(front, key=lambda r: (r.kept + r.held, r.kept)) for front in fronts]
    least = [min(front, key=lambda r: (r.kept, r.held)) for front in fronts]
    if not _fits(chosen, memory):
        chosen = least
    if not _fits(chosen, memory):
        number = max(range(len(chosen)), key=lambda n: chosen[n].held)
        raise PlacementError(
            "the operators do not fit in compute-shift order", where=f"operator {graph.operators[number].name}",
            witness=f"{sum(r.kept for r in chosen)} B of weights and {chosen[number].held} B of operands on a core of "
                    f"{memory}", hint="more cores, or cores with more memory")
    while True:
        better = [(gain / max(1, r.kept - chosen[n].kept + r.held - chosen[n].held), n, r)
                  for n, front in enumerate(fronts) for r in front
                  if (gain := chosen[n].seconds - r.seconds) > 0 and _fits([*chosen[:n], r, *chosen[n + 1:]], memory)]
        if not better:
            return tuple(chosen)
        _, number, best = max(better, key=lambda b: (b[0], -b[1]))
        chosen[number] = best


def _fits(chosen: Sequence[Rings], memory: int) -> bool:
    return sum(r.kept for r in chosen) + max(r.held for r in chosen) <= memory


def _front(every: Sequence[Rings]) -> list[Rings]:
    """Those that no other one beats in weights kept, bytes held and seconds."""
    kept: list[Rings] = []
    for rings in sorted(every, key=lambda r: (r.seconds, r.kept, r.held, r.row_turns + r.column_turns)):
        if not any(k.kept <= rings.kept and k.held <= rings.held for k in kept):
            kept.append(rings)
    return kept


def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def _part(size: int, whole: int) -> int:
    return -(-size // whole)
