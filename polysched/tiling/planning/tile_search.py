"""Tile edges and loop order as an integer program: least data moved, under the limits of the machine.

For every order of the tile loops that reuses different references, CP-SAT chooses the edges.  The objective
is the number of cache lines moved into the level that the tile is made for, plus the start-up of the
innermost loops in the same unit; the tile's working set must fit, a register block's panels must fit the
first level, edges are whole multiples of the register block, vector or line, and the loop for the threads
has enough tiles to share out.

Source: as for `traffic`; the integer search replaces their non-linear continuous one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from polysched.records import dataclass
from polysched.scheduling.solving.cp_sat import cp_sat, new_model
from polysched.target.newest import Newest
from polysched.tiling.footprints.balance import first_share, uneven_share
from polysched.tiling.footprints.conflicts import most_rows
from polysched.tiling.footprints.references import Reference
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.footprints.traffic import transfers
from polysched.tiling.limits import LIMITS
from polysched.tiling.planning.register_shape import panel_operands
from polysched.tiling.planning.tile_problem import LARGEST_NUMBER, TileProblem, candidate_edges

SEARCH_SECONDS = LIMITS.search_seconds


@dataclass(frozen=True, kw_only=True)
class TileChoice:
    """What the search found.

    Parameters
    ----------
    edges : tile edge per loop of the nest.
    order : tile loops, outermost first.
    cost_lines : the objective.
    binding : the limits that the choice fills to nine tenths or more.
    optimal : the search was finished within its time.
    split : tiles over time are split, instead of wavefronts of them.
    """

    edges: tuple[int, ...]
    order: tuple[int, ...]
    cost_lines: int
    binding: tuple[str, ...]
    optimal: bool
    split: bool = False


def choose_tile(problem: TileProblem) -> TileChoice | None:
    """The best edges over all orders; None when no tile satisfies the limits, or the solver has no such numbers.

    No further order is tried once nothing is left to save.
    """
    if max(problem.nest.extents, default=0) > LIMITS.most_extent:   # dates may be any multiple of iterators
        return None
    best: TileChoice | None = None
    enough = (1 + LIMITS.search_slack) * least_cost(problem)
    for order in problem.orders:
        found = _solve(problem, order, best.cost_lines if best else None)
        if found is not None and (best is None or found.cost_lines < best.cost_lines):
            best = found
        if best is not None and best.cost_lines <= enough:
            break
    return best


def least_cost(problem: TileProblem) -> int:
    """Lines that no order and no edges save: every reference once, and the least start-up; 0 with a register block."""
    if problem.shape is not None:
        return 0
    nest = problem.nest
    numbers = _Calculator(problem, problem.orders[0], nest.extents)
    once = sum(transfers(r) * numbers.footprint(r, numbers.edges).most for r in nest.references)
    edges = {edge for order in problem.orders for edge, _ in candidate_edges(problem, problem.innermost, order)}
    return once + min((int(nest.instances * problem.row_lines(edge)) for edge in edges), default=0)


def exceeded(problem: TileProblem, order: tuple[int, ...], edges: tuple[int, ...]) -> tuple[str, ...]:
    """The limits of the search that given edges exceed; growing an edge exceeds no fewer."""
    limits = _Calculator(problem, order, edges).limits()
    return tuple(name for name, used, available in limits if used > available)


def _solve(problem: TileProblem, order: tuple[int, ...], bound: int | None) -> TileChoice | None:
    builder = _Builder(new_model(), problem, order)
    limits = builder.limits()
    cost = builder.cost()
    if bound is not None:
        builder.model.add(cost < bound)
    builder.model.minimize(cost)
    names = tuple(name for name, _, _ in limits)
    return _FOUND.find_or_make(f"{order} {names} {builder.model.Proto()}", lambda: _solved(builder, limits, order))


_FOUND: Newest[str, TileChoice | None] = Newest(LIMITS.kept_searches)
"""What earlier searches found, by all that they were asked: many codes of one program are compared, which differ in
few of their bands."""


def _solved(builder: _Builder, limits: list[tuple[str, Any, int]], order: tuple[int, ...]) -> TileChoice | None:
    cp_model = cp_sat()
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False  # else Ctrl-C ends the process without KeyboardInterrupt from then on
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = SEARCH_SECONDS
    status = solver.solve(builder.model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    binding = tuple(name for name, used, limit in limits if solver.value(used) * 10 >= limit * 9)
    return TileChoice(edges=tuple(solver.value(edge.value) for edge in builder.edges), order=order,
                      cost_lines=int(solver.objective_value), binding=binding, optimal=status == cp_model.OPTIMAL)


@dataclass(frozen=True)
class _Quantity:
    """A linear expression over the model's variables (or a number) and an upper bound of it."""

    value: Any
    most: int


class _Builder:
    """One CP-SAT model: an edge and a number of tiles per loop, products of them as further variables."""

    def __init__(self, model: Any, problem: TileProblem, order: tuple[int, ...]) -> None:
        self.model, self.problem, self.order = model, problem, order
        self.panels = panel_operands(problem.nest, problem.shape) if problem.shape and problem.nest.is_box else ()
        self.edges: list[_Quantity] = []
        self.tiles: list[_Quantity] = []
        for loop in range(problem.nest.depth):
            pairs = candidate_edges(problem, loop, order)
            edge = model.new_int_var_from_domain(_domain([e for e, _ in pairs]), f"edge{loop}")
            count = model.new_int_var_from_domain(_domain([n for _, n in pairs]), f"tiles{loop}")
            model.add_allowed_assignments([edge, count], pairs)
            self.edges.append(_Quantity(edge, max(e for e, _ in pairs)))
            self.tiles.append(_Quantity(count, max(n for _, n in pairs)))

    def limits(self) -> list[tuple[str, Any, int]]:
        """Post the capacity limits: name, lines used, lines available."""
        line = self.problem.line_bytes
        limits = [("capacity of the tile's cache", self.working_set(self.edges),
                   self.problem.capacity_bytes // line)]
        if self.problem.shape is not None:
            shape = self.problem.shape
            inside = [_Quantity(1, 1)] * self.problem.nest.depth
            for loop in shape.inner:
                inside[loop] = self.edges[loop]
            inside[shape.rows] = _Quantity(shape.row_count, shape.row_count)
            inside[shape.columns] = _Quantity(shape.column_count, shape.column_count)
            limits.append(("capacity of the first cache for the panels of a register block",
                           sum(self.packed(r, inside).value for r in self.problem.nest.references
                               if not self.is_streamed(r)),
                           self.problem.panel_bytes // line))
        limits += self.rows_in_sets()
        for _, lines, available in limits:
            self.model.add(lines <= available)
        return limits

    def is_streamed(self, reference: Reference) -> bool:
        """Whether an operand comes from its panel as fast as it is used, and need not stay in the first cache."""
        shape, problem = self.problem.shape, self.problem
        if shape is None or reference.writes or reference.whole:
            return False
        columns, rows = reference.moves_with(shape.columns), reference.moves_with(shape.rows)
        return (problem.streams and columns and not rows) or (problem.streams_both and rows and not columns)

    def is_shared(self, reference: Reference) -> bool:
        """Whether an operand whose vectors are streamed is packed once for all tiles of the first loop."""
        shape = self.problem.shape
        return (self.problem.shares and shape is not None and reference in self.panels
                and reference.moves_with(shape.columns) and self.is_streamed(reference)
                and not reference.moves_with(self.order[0]))

    def comes_in_rows(self, reference: Reference) -> bool:
        """Whether threads with columns to themselves read the other operand along its rows, from their common cache.

        Then it arrives behind the arithmetic, as a shared panel does.
        """
        shape, problem = self.problem.shape, self.problem
        return (problem.shares and problem.streams and shape is not None and self.order[0] == shape.columns
                and reference in self.panels and reference.moves_with(shape.rows)
                and reference.stride(shape.inner[-1]) is Stride.UNIT
                and problem.capacity_bytes < reference.bytes_reached <= problem.common_bytes)

    def rows_in_sets(self) -> list[tuple[str, Any, int]]:
        """The rows of what is written, which no panel holds, against the sets that they share."""
        cache, nest = self.problem.cache, self.problem.nest
        smallest = (min(e for e, _ in candidate_edges(self.problem, k, self.order)) for k in range(nest.depth))
        least = [_Quantity(edge, edge) for edge in smallest]
        limits = []
        for reference in nest.references:
            most = most_rows(reference, cache) if cache and reference.writes and not reference.whole else None
            if most is not None:
                rows, fewest = (self.product(self.lengths(reference, e)[:reference.row_dim])
                                for e in (self.edges, least))
                limits.append((f"sets of the tile's cache for rows of {reference.array}", self.unless_kept(
                    reference, rows).value, max(most, fewest.most)))
        return limits

    def lengths(self, reference: Reference, edges: list[_Quantity]) -> list[_Quantity]:
        return [self.capped(_length(row, span, edges), most)
                for row, span, most in zip(reference.coefficients, reference.spans, reference.reach, strict=True)]

    def working_set(self, edges: list[_Quantity]) -> Any:
        """Lines that a tile keeps; a panel that it fills itself and what it fills it from."""
        return (sum((1 if self.is_shared(r) else 2) * self.packed(r, edges).value for r in self.panels)
                + sum(self.footprint(r, edges).value for r in self.problem.nest.references if r not in self.panels))

    def packed(self, reference: Reference, edges: list[_Quantity]) -> _Quantity:
        """Lines of a contiguous copy of what a tile of these edges touches; what is written is not copied."""
        if not reference.coefficients or reference.whole or reference.writes or reference.coupled:
            return self.footprint(reference, edges)
        lengths = self.lengths(reference, edges)
        elements = self.product(lengths)
        per_line = max(1, self.problem.line_bytes // reference.element_bytes)
        return self.equal_to(elements.most // per_line + 1, lambda value: self.model.add_division_equality(
            value, elements.value + (per_line - 1), per_line))

    def cost(self) -> Any:
        """Lines moved by all references, the start-up of the innermost loops, and the wait for the last tile."""
        pairs = [(edge, int(self.problem.nest.instances * self.problem.row_lines(edge)))
                 for edge, _ in candidate_edges(self.problem, self.problem.innermost, self.order)]
        overhead = self.model.new_int_var(0, max(lines for _, lines in pairs), "overhead")
        self.model.add_allowed_assignments([self.edges[self.problem.innermost].value, overhead], pairs)
        moved = sum(transfers(r) * self.fetched(r).value for r in self.problem.nest.references)
        return moved + overhead + self.waiting()

    def unless_kept(self, reference: Reference, lines: _Quantity) -> _Quantity:
        """Nothing for sums of a temporary array that a tile finishes: it holds them in a piece of its own size.

        A tile finishes its sums where no loop of theirs is cut, or the cut ones run inside all that move them.
        """
        shape = self.problem.shape
        if shape is None or not self.problem.nest.is_box or not (reference.temporary and reference.writes):
            return lines
        last = max((at for at, loop in enumerate(self.order) if reference.moves_with(loop)), default=-1)
        cut = [self.tiles[loop] for at, loop in enumerate(self.order) if loop in shape.inner and at < last]
        if not cut:
            return _Quantity(0, 0)
        further = self.product(cut)
        return self.product([lines, self.least(_Quantity(further.value - 1, further.most - 1), _Quantity(1, 1))])

    def fetched(self, reference: Reference) -> _Quantity:
        """Lines of one reference for which a thread waits."""
        moved = self.unless_kept(reference, self.moved(reference))
        shared = self.is_shared(reference)
        if not shared and not self.comes_in_rows(reference):
            return moved
        whole = [_Quantity(extent, extent) for extent in self.problem.nest.extents]
        once = (self.problem.costs.packing_transfers if shared else 1) * self.footprint(reference, whole).most
        parts = round(1 / self.problem.costs.unhidden_share)
        rest = self.equal_to(moved.most // parts, lambda value: self.model.add_division_equality(
            value, moved.value, parts))
        return _Quantity(once + rest.value, once + rest.most)

    def waiting(self) -> Any:
        """What the other threads could move while the last one is busy.

        With half a tile, cores being unequal, and with what is left when the tiles are shared out, one by one or, where
        nothing is packed for them, in one piece for each thread.
        """
        problem = self.problem
        if problem.threads < 2 or problem.wavefront or not problem.work_lines:
            return 0
        first, box = self.order[0], problem.nest.is_box
        in_one_piece = problem.shape is not None and problem.shape.in_place
        share = first_share if in_one_piece else uneven_share
        pairs = [(edge, int(problem.work_lines * problem.threads * (
                    0.5 / n + (share(problem.nest.extents[first], edge, problem.threads) if box else 0))))
                 for edge, n in candidate_edges(problem, first, self.order)]
        waiting = self.model.new_int_var(0, max(lines for _, lines in pairs), "waiting")
        self.model.add_allowed_assignments([self.edges[first].value, waiting], pairs)
        return waiting

    def moved(self, reference: Reference) -> _Quantity:
        """Lines of one reference: the union along the loop it sweeps, times the tiles of the loops outside."""
        moving = [at for at, loop in enumerate(self.order) if reference.moves_with(loop)]
        if not moving:
            return self.footprint(reference, self.edges)
        edges = list(self.edges)
        extent = self.problem.nest.extents[self.order[moving[-1]]]
        edges[self.order[moving[-1]]] = _Quantity(extent, extent)
        return self.product([self.footprint(reference, edges), *(self.tiles[k] for k in self.order[:moving[-1]])])

    def footprint(self, reference: Reference, edges: list[_Quantity]) -> _Quantity:
        """Lines that a tile of these edges touches."""
        if not reference.coefficients:
            return _Quantity(1, 1)
        if reference.whole:
            most = -(-reference.bytes_reached // self.problem.line_bytes)
            return _Quantity(most, most)
        lengths = self.lengths(reference, edges)
        rows = self.product(lengths[:reference.row_dim])
        if reference.coupled:
            # no more rows than iterations that start one
            touched = [edge for loop, edge in enumerate(edges) if any(
                row[loop] for row in reference.coefficients[:reference.row_dim])]
            most = prod(span + 1 for span in reference.spans[:reference.row_dim])
            rows = self.least(rows, self.product([_Quantity(most, most), *touched]))
        return self.product([rows, self.lines(lengths[reference.row_dim], reference.element_bytes)])

    def capped(self, length: _Quantity, most: int) -> _Quantity:
        return self.least(length, _Quantity(most, most)) if length.most > most else length

    def lines(self, run: _Quantity, size: int) -> _Quantity:
        """Lines under a contiguous run of elements, on average over its alignment, rounded up."""
        line = self.problem.line_bytes
        most = (run.most * size + 2 * line - size - 1) // line
        return self.equal_to(most, lambda value: self.model.add_division_equality(
            value, run.value * size + (2 * line - size - 1), line))

    def product(self, factors: list[_Quantity]) -> _Quantity:
        result = _Quantity(1, 1)
        for factor in factors:
            most = min(result.most * factor.most, LARGEST_NUMBER)
            if isinstance(result.value, int) or isinstance(factor.value, int):
                result = _Quantity(result.value * factor.value, most)
            else:
                result = self.equal_to(most, partial(self.post_product, result.value, factor.value))
        return result

    def post_product(self, left: Any, right: Any, value: Any) -> None:
        self.model.add_multiplication_equality(value, [left, right])

    def least(self, left: _Quantity, right: _Quantity) -> _Quantity:
        return self.equal_to(min(left.most, right.most),
                             lambda value: self.model.add_min_equality(value, [left.value, right.value]))

    def equal_to(self, most: int, post: Callable[[Any], Any]) -> _Quantity:
        """A new variable, bound by the constraint that `post` adds."""
        value = self.model.new_int_var(0, most, "")
        post(value)
        return _Quantity(value, most)


class _Calculator(_Builder):
    """The same quantities as numbers, for given edges."""

    def __init__(self, problem: TileProblem, order: tuple[int, ...], edges: tuple[int, ...]) -> None:
        self.model, self.problem, self.order = _NoModel(), problem, order
        self.panels = panel_operands(problem.nest, problem.shape) if problem.shape and problem.nest.is_box else ()
        self.edges = [_Quantity(edge, edge) for edge in edges]
        self.tiles = [_Quantity(n, n) for n in (
            -(-extent // edge) for extent, edge in zip(problem.nest.extents, edges, strict=True))]

    def least(self, left: _Quantity, right: _Quantity) -> _Quantity:
        return min(left, right, key=lambda quantity: quantity.most)

    def lines(self, run: _Quantity, size: int) -> _Quantity:
        line = self.problem.line_bytes
        lines = (run.most * size + 2 * line - size - 1) // line
        return _Quantity(lines, lines)

    def packed(self, reference: Reference, edges: list[_Quantity]) -> _Quantity:
        if not reference.coefficients or reference.whole or reference.writes or reference.coupled:
            return self.footprint(reference, edges)
        per_line = max(1, self.problem.line_bytes // reference.element_bytes)
        lines = -(-self.product(self.lengths(reference, edges)).most // per_line)
        return _Quantity(lines, lines)


class _NoModel:
    """Takes the constraints of numbers, which `exceeded` compares itself."""

    def add(self, constraint: object) -> None:
        """Keep nothing."""


def _length(row: tuple[int, ...], span: int, edges: list[_Quantity]) -> _Quantity:
    """Elements along one array dimension: one, the span, and what each loop adds."""
    value: Any = 1 + span - sum(map(abs, row))
    most = value
    for coefficient, edge in zip(row, edges, strict=True):
        if coefficient:
            value = value + abs(coefficient) * edge.value
            most += abs(coefficient) * edge.most
    return _Quantity(value, most)


def _domain(values: list[int]) -> Any:
    return cp_sat().Domain.from_values(sorted(set(values)))
