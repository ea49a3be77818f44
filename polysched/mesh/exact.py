"""Positions by CP-SAT: the fewest byte hops of given shapes, with a proof or with the bound that was reached.

Rectangles share no core (`NoOverlap2D`).  The byte hops of a message are a convex function of the distance in rows plus
one of the distance in columns, so lines below them say all.  Ways around dead cores are longer than these distances:
the bound holds for them, too.  One worker and a budget in deterministic time give the same result on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from polysched.errors import UsageError
from polysched.mesh.bounds import least_hop_bytes, own_load, passed_hop_bytes, sides, whole_pieces_bound
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import Message, OperatorGraph
from polysched.mesh.shapes import Rectangle, Shape
from polysched.mesh.shaping import affordable, least_score
from polysched.mesh.target import MeshTarget
from polysched.mesh.traffic import piece_offsets, piece_sizes
from polysched.records import dataclass
from polysched.scheduling.solving.cp_sat import cp_sat, new_model

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


@dataclass(frozen=True, kw_only=True)
class Solved:
    """What the solver found.

    Parameters
    ----------
    rectangles : the best ones; None where it found none.
    bound : byte hops that no placement of these shapes is below.
    proved : that these rectangles have the fewest byte hops by distance.
    """

    rectangles: tuple[Rectangle, ...] | None
    bound: int
    proved: bool


def fewest_hop_bytes(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget,
                     first: Sequence[Rectangle], *, budget: float | None = None) -> Solved:
    """The placement with the fewest byte hops, as far as the budget goes.

    Parameters
    ----------
    first : a placement to begin with.
    budget : in the solver's deterministic time; None for `LIMITS.exact_time`.

    Raises
    ------
    UsageError : the mesh has more than `LIMITS.exact_cores` cores: nothing would be proved.
    """
    if target.rows * target.columns > LIMITS.exact_cores:
        raise UsageError(f"exact positions are for meshes of at most {LIMITS.exact_cores} cores",
                         witness=target.headline(), hint="the method anneal")
    model = new_model()
    rows = [model.new_int_var(0, target.rows - s.rows, f"r{n}") for n, s in enumerate(shapes)]
    columns = [model.new_int_var(0, target.columns - s.columns, f"c{n}") for n, s in enumerate(shapes)]
    _keep_apart(model, rows, columns, shapes, target)
    parts: list[cp_model.IntVar] = []
    fixed = 0
    for message, (source, sink) in zip(graph.messages, graph.ends, strict=True):
        passed = passed_hop_bytes(message, shapes[sink])
        fixed += passed
        across, along, size = piece_offsets(message, shapes[source], shapes[sink])
        sums = [_convex(model, ends[sink] - ends[source], offsets, size, extent)
                for ends, offsets, extent in ((rows, across, target.rows), (columns, along, target.columns))]
        model.add(sums[0] + sums[1] >= least_hop_bytes(message, shapes[source], shapes[sink], target) - passed)
        parts += sums
    for n, rectangle in enumerate(first):
        model.add_hint(rows[n], rectangle.row)
        model.add_hint(columns[n], rectangle.column)
    model.minimize(sum(parts) + fixed)
    return _solved(model, rows, columns, shapes, LIMITS.exact_time if budget is None else budget)


def least_score_of_any(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget, *,
                       budget: float | None = None) -> int:
    """A bound of the score with any shapes that fit and make no operator slower than the slowest given one.

    All shapes are chosen at once: together they have the mesh's cores, a message travels least between the two shapes
    of its ends, and no link has less than what a shape, or a message between two of them, puts on one.  What the
    solver proves of that within its budget holds for every placement; `shaping.least_score` asks each message alone.

    Parameters
    ----------
    budget : in the solver's deterministic time; None for `LIMITS.exact_time`.
    """
    model, choices = new_model(), affordable(graph, max(s.seconds for s in shapes), target)
    taken = [[model.new_bool_var("") for _ in of_one] for of_one in choices]
    for of_one in taken:
        model.add_exactly_one(of_one)
    model.add(sum(s.cores * is_it for own, its in zip(choices, taken, strict=True)
                  for s, is_it in zip(own, its, strict=True)) <= target.live_cores)
    largest = model.new_int_var(0, LIMITS.most_bytes, "")
    for number, of_one in enumerate(choices):
        model.add(largest >= sum(own_load(graph, number, s, target) * is_it
                                 for s, is_it in zip(of_one, taken[number], strict=True)))
    hops = [_hops_of_message(model, graph.messages[m], choices[source], choices[sink],
                             (taken[source], taken[sink]), largest, target)
            for m, (source, sink) in enumerate(graph.ends)]
    model.add(target.live_links * largest >= sum(hops))
    model.minimize(LIMITS.congestion_weight * largest + sum(hops))
    solver = _solver(LIMITS.exact_time if budget is None else budget)
    solver.solve(model)
    proved = int(np.ceil(solver.best_objective_bound - LIMITS.exact_slack))
    return max(least_score(graph, shapes, target), proved)


def _hops_of_message(model: cp_model.CpModel, message: Message, sources: Sequence[Shape], sinks: Sequence[Shape],
                     taken: tuple[Sequence[cp_model.IntVar], Sequence[cp_model.IntVar]], largest: cp_model.IntVar,
                     target: MeshTarget) -> cp_model.LinearExprT:
    """The byte hops of a message by the shapes of its ends, which also say what it puts on a link at least."""
    both = [[model.new_bool_var("") for _ in sinks] for _ in sources]
    for row, is_source in zip(both, taken[0], strict=True):
        model.add(sum(row) == is_source)
    for column, is_sink in zip(zip(*both, strict=True), taken[1], strict=True):
        model.add(sum(column) == is_sink)
    pairs = [(a, b, is_it) for a, line in zip(sources, both, strict=True) for b, is_it in zip(sinks, line, strict=True)]
    model.add(largest >= sum(_load_between(message, a, b, target) * is_it for a, b, is_it in pairs))
    return sum(least_hop_bytes(message, a, b, target) * is_it for a, b, is_it in pairs)


def _load_between(message: Message, source: Shape, sink: Shape, target: MeshTarget) -> int:
    """Bytes that a message alone puts on some link at the sides of its ends, a piece on one."""
    sizes = piece_sizes(message, source, sink)
    return max(whole_pieces_bound(sizes, sides(source, target)), whole_pieces_bound(sizes, sides(sink, target)))


def _solver(budget: float) -> cp_model.CpSolver:
    solver: cp_model.CpSolver = cp_sat().CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = budget
    return solver


def _keep_apart(model: cp_model.CpModel, rows: list[cp_model.IntVar], columns: list[cp_model.IntVar],
                shapes: Sequence[Shape], target: MeshTarget) -> None:
    """No two rectangles share a core, and none has a dead one."""
    across = [model.new_fixed_size_interval_var(r, s.rows, "") for r, s in zip(rows, shapes, strict=True)]
    along = [model.new_fixed_size_interval_var(c, s.columns, "") for c, s in zip(columns, shapes, strict=True)]
    for row, column in sorted(set(target.dead)):
        across.append(model.new_fixed_size_interval_var(row, 1, ""))
        along.append(model.new_fixed_size_interval_var(column, 1, ""))
    model.add_no_overlap_2d(across, along)


def _convex(model: cp_model.CpModel, distance: cp_model.LinearExprT, offsets: np.ndarray, size: np.ndarray,
            extent: int) -> cp_model.IntVar:
    """A variable that is at least the sum of `size * |offsets + distance|`: a line for each step of the distance."""
    at = np.arange(1 - extent, extent)
    values = (np.abs(offsets[None, :] + at[:, None]) * size).sum(1) if len(size) else np.zeros(len(at), np.int64)
    result = model.new_int_var(0, int(values.max(initial=0)), "")
    lines = {(int(slope), int(value - slope * place))
             for place, value, slope in zip(at[:-1], values[:-1], np.diff(values), strict=True)}
    for slope, start in sorted(lines):
        model.add(result >= slope * distance + start)
    return result


def _solved(model: cp_model.CpModel, rows: list[cp_model.IntVar], columns: list[cp_model.IntVar],
            shapes: Sequence[Shape], budget: float) -> Solved:
    solver = _solver(budget)
    status = solver.solve(model)
    found = None
    if status in (cp_sat().OPTIMAL, cp_sat().FEASIBLE):
        found = tuple(Rectangle(solver.value(r), solver.value(c), s.rows, s.columns)
                      for r, c, s in zip(rows, columns, shapes, strict=True))
    bound = int(np.ceil(solver.best_objective_bound - LIMITS.exact_slack))
    return Solved(rectangles=found, bound=max(0, bound), proved=status == cp_sat().OPTIMAL)
