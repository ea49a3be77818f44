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
from polysched.mesh.bounds import least_hop_bytes, passed_hop_bytes
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.shapes import Rectangle, Shape
from polysched.mesh.target import MeshTarget
from polysched.mesh.traffic import piece_offsets
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
    solver = cp_sat().CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = budget
    status = solver.solve(model)
    found = None
    if status in (cp_sat().OPTIMAL, cp_sat().FEASIBLE):
        found = tuple(Rectangle(solver.value(r), solver.value(c), s.rows, s.columns)
                      for r, c, s in zip(rows, columns, shapes, strict=True))
    bound = int(np.ceil(solver.best_objective_bound - LIMITS.exact_slack))
    return Solved(rectangles=found, bound=max(0, bound), proved=status == cp_sat().OPTIMAL)
