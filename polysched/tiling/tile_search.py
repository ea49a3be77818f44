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
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from math import prod
from typing import Any

from polysched.target.target import CacheLevel, Target
from polysched.tiling.balance import idle_share, uneven_share
from polysched.tiling.conflicts import most_rows
from polysched.tiling.nest import Nest
from polysched.tiling.references import Reference
from polysched.tiling.register_shape import RegisterShape
from polysched.tiling.strides import Stride
from polysched.tiling.traffic import coupled, transfers

USABLE = 0.7            # share of a cache that a tile may fill; the rest is for the neighbours and for conflicts
ROW_CYCLES = 20         # what it costs to start an innermost loop, its bounds and its remainder
USABLE_BY_PANELS = 0.9  # the same for the first cache and panels, which are contiguous
CONTENDED = 4           # how much slower than alone a core is served by a cache that it shares
HIDDEN = 0.6            # share of a step's arithmetic behind which rows of a panel come from the second cache
MOST_ROUNDS = 8          # tiles per thread for which even shares are tried
UNHIDDEN = 0.25         # share of the time to fetch a shared panel, which lies in one piece, that threads wait for
FEWEST_BLOCKS = 8       # of rows in a tile, so that the panel of its columns is read that often
FEWEST_COLUMNS = 4      # blocks of columns in a tile; start values and last steps keep the panel of its rows inside
PACKING_TRANSFERS = 3   # lines that move for a line that is packed: it is read, its place is fetched and written
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 1024)
LARGEST_NUMBER = 1 << 58
SEARCH_SECONDS = 2.0    # of CP-SAT's own count of work, so a busy machine finds the same tiles


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
    """

    edges: tuple[int, ...]
    order: tuple[int, ...]
    cost_lines: int
    binding: tuple[str, ...]
    optimal: bool


@dataclass(frozen=True, kw_only=True)
class TileProblem:
    """What may be chosen and what limits it.

    Parameters
    ----------
    nest : the band.
    capacity_bytes : what the tile's working set may take, USABLE included.
    panel_bytes : what a register block with its inner loops may take in the first level.
    shape : the register block, if there is one.
    granules : per loop, the number that its edge is a multiple of.
    innermost : the loop that runs innermost among the points (with a register block, its inner loop).
    row_lines : what an instance costs beside the data, in lines, by the edge of the innermost loop (`row_cycles`).
    orders : the orders of tile loops to try.
    threads : cores that share the tiles of the first loop of an order; 1 without threads.
    work_lines : what all the work takes, in lines; threads wait for the last tile of it.
    wavefront : the first two loops are skewed, so both need enough tiles.
    cache : what a tile shall fit; None where its sets are of no matter.
    streams : rows of operands in lanes come from the second cache as fast as a register block uses them up.
    shares : operands that the first loop of an order leaves alone are packed once for all its tiles.
    """

    nest: Nest
    capacity_bytes: int
    panel_bytes: int
    shape: RegisterShape | None
    granules: tuple[int, ...]
    innermost: int
    row_lines: Callable[[int], float]
    orders: tuple[tuple[int, ...], ...]
    threads: int
    wavefront: bool
    line_bytes: int
    work_lines: float = 0.0
    cache: CacheLevel | None = None
    streams: bool = False
    shares: bool = False


def tile_problem(nest: Nest, target: Target, *, shape: RegisterShape | None, innermost: int, level: int,
                 parallel: tuple[int, ...], wavefront: bool, threads: int) -> TileProblem:
    """Set up the search for one cache level.

    Parameters
    ----------
    innermost : the innermost point loop; only its start-up counts when there is no register block.
    level : the cache that a tile shall fit.
    parallel : loops of which one may stand outermost for the threads; empty when none may.
    """
    cache = target.cache(level) or target.caches[-1]
    first = target.caches[0]
    innermost = innermost if shape is None else shape.inner[-1]
    line_cycles = cache.line_bytes * target.frequency_hz / target.bandwidth(level + 1 if target.cache(level + 1) else 0)
    outside = target.cache(level + 1)
    contended = CONTENDED if outside is not None and outside.shared_by > 1 else 1
    return TileProblem(
        nest=nest, capacity_bytes=int(cache.size_bytes * USABLE), panel_bytes=int(first.size_bytes * USABLE_BY_PANELS),
        shape=shape, granules=_granules(nest, shape, target, innermost), innermost=innermost,
        row_lines=lambda edge: row_cycles(nest, shape, innermost, edge, target) / line_cycles,
        orders=(tuple(range(nest.depth)),) if is_skewed(nest) else _orders(nest, parallel if not wavefront else ()),
        threads=threads if parallel or wavefront else 1, wavefront=wavefront, line_bytes=cache.line_bytes,
        cache=None if shape is None else cache, shares=shape is not None and nest.is_box and bool(parallel),
        streams=shape is not None and nest.is_box and _streams(nest, shape, target),
        work_lines=0.0 if shape is None else
        nest.instances * shape.cycles / target.lanes(8 * nest.element_bytes) / line_cycles / contended)


def _streams(nest: Nest, shape: RegisterShape, target: Target) -> bool:
    """Whether the vectors of a step of a register block's loop arrive from the second cache behind its arithmetic."""
    if target.cache(2) is None:
        return False
    arrival = shape.column_count * nest.element_bytes * target.frequency_hz / target.bandwidth(2)
    operations = shape.row_count * shape.column_count / target.lanes(8 * nest.element_bytes)
    return arrival <= HIDDEN * operations / target.ports.fma_pipes


def row_cycles(nest: Nest, shape: RegisterShape | None, innermost: int, edge: int, target: Target) -> float:
    """Cycles per instance for starting the innermost loop, and for waiting along a row that is sequential.

    A register block is loaded and stored around its row.  Each operation of a sequential row waits for the one
    before it; the processor works on as many rows at once as its window of instructions holds, so short rows
    wait less.
    """
    ports = target.ports
    if shape is not None:
        block = shape.row_count * max(1, shape.column_count // target.lanes(64))
        return (ROW_CYCLES + 2 * block / ports.loads_per_cycle) / (shape.row_count * shape.column_count * edge)
    if nest.row_independent[innermost]:
        return ROW_CYCLES / edge
    chain = ports.fma_latency_cycles * max(1.0, nest.operations / 2)
    rows_at_once = max(1.0, ports.window / (2 * max(1, nest.operations) * edge))
    return ROW_CYCLES / edge + chain / rows_at_once


def _granules(nest: Nest, shape: RegisterShape | None, target: Target, innermost: int) -> tuple[int, ...]:
    granules = [1] * nest.depth
    if shape is not None:
        granules[shape.rows], granules[shape.columns] = shape.row_count, shape.column_count
        granules[shape.inner[-1]] = 8
    else:
        size = min((r.element_bytes for r in nest.references), default=8)
        granules[innermost] = max(target.lanes(8 * size), target.line_bytes // size)
    return tuple(min(g, extent) for g, extent in zip(granules, nest.extents, strict=True))


def is_skewed(nest: Nest) -> bool:
    """Some loop moves several subscripts of one reference.

    The bounds of such tiles tie the loops together.  isl's code generator needs edges that divide each other
    and the loops in their own order to find short bounds in reasonable time.
    """
    return any(coupled(r) for r in nest.references)


def _orders(nest: Nest, parallel: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Orders of tile loops that differ in what they reuse; a loop for the threads stays outermost."""
    loops = tuple(range(nest.depth))
    if nest.depth <= 4:
        every = tuple(permutations(loops))
    else:
        every = tuple((*(k for k in loops if k != last), last) for last in reversed(loops))
    allowed = tuple(order for order in every if not parallel or order[0] in parallel)
    kept: dict[tuple[object, ...], tuple[int, ...]] = {}
    for order in sorted(allowed, key=lambda order: order != loops):
        kept.setdefault((order[0] if parallel else -1, *(_reuse(r, order) for r in nest.references)), order)
    return tuple(kept.values())


def _reuse(reference: Reference, order: tuple[int, ...]) -> tuple[frozenset[int], int]:
    """The loops that repeat a reference, and the loop along which it sweeps."""
    moving = [at for at, loop in enumerate(order) if reference.moves_with(loop)]
    return (frozenset(order[:moving[-1]]), order[moving[-1]]) if moving else (frozenset(), -1)


def choose_tile(problem: TileProblem) -> TileChoice | None:
    """The best edges over all orders; None when no tile satisfies the limits."""
    best: TileChoice | None = None
    for order in problem.orders:
        found = _solve(problem, order, best.cost_lines if best else None)
        if found is not None and (best is None or found.cost_lines < best.cost_lines):
            best = found
    return best


def candidate_edges(problem: TileProblem, loop: int, order: tuple[int, ...]) -> list[tuple[int, int]]:
    """The edges that may be chosen for a loop, each with its number of tiles."""
    extent, granule = problem.nest.extents[loop], problem.granules[loop]
    plain = problem.nest.is_box and not is_skewed(problem.nest)
    steps = [step for step in STEPS if plain or step & (step - 1) == 0]
    edges = sorted({granule * step for step in (*steps, *_even_shares(problem, loop, order))
                    if granule * step < extent})
    if not edges or plain:
        edges.append(-(-extent // granule) * granule)
    if problem.streams and problem.shape is not None and loop == problem.shape.rows:
        least = min(FEWEST_BLOCKS * granule, _rows_side_by_side(problem) // granule * granule)
        edges = [edge for edge in edges if edge >= least] or edges[-1:]
    if problem.streams and problem.shape is not None and loop == problem.shape.columns:
        edges = [edge for edge in edges if edge >= FEWEST_COLUMNS * granule] or edges[-1:]
    pairs = [(edge, -(-extent // edge)) for edge in edges]
    shared = order[:2] if problem.wavefront else order[:1]
    if problem.threads > 1 and loop in shared:
        least = 2 * problem.threads if problem.wavefront else problem.threads
        side = unskewed_extent(problem.nest, loop) if problem.wavefront else extent
        balanced = [(edge, n) for edge, n in pairs
                    if -(-side // edge) >= least and (problem.wavefront or idle_share(n, problem.threads) <= 0.13)]
        pairs = balanced or [max(pairs, key=lambda pair: pair[1])]
    return pairs


def _even_shares(problem: TileProblem, loop: int, order: tuple[int, ...]) -> set[int]:
    """Granules per tile of the loop for the threads that give each as many tiles, and leave no short one."""
    if problem.threads < 2 or problem.wavefront or loop != order[0]:
        return set()
    granules = -(-problem.nest.extents[loop] // problem.granules[loop])
    return {-(-granules // (problem.threads * rounds)) for rounds in range(1, MOST_ROUNDS + 1)}


def _rows_side_by_side(problem: TileProblem) -> int:
    """The rows of what is written that find room in the sets that they share."""
    most = [most_rows(r, problem.cache) for r in problem.nest.references
            if problem.cache is not None and r.writes and not r.whole]
    return min((m for m in most if m is not None), default=LARGEST_NUMBER)


def unskewed_extent(nest: Nest, loop: int) -> int:
    """Iterations of a loop at one value of the loops that skew it: as many as subscripts that it moves."""
    sides = [-(-most // abs(row[loop])) for r in nest.references
             for row, most in zip(r.coefficients, r.reach, strict=True) if row[loop]]
    return min(nest.extents[loop], max(sides, default=nest.extents[loop]))


def _solve(problem: TileProblem, order: tuple[int, ...], bound: int | None) -> TileChoice | None:
    from ortools.sat.python import cp_model  # takes half a second to import

    builder = _Builder(cp_model.CpModel(), problem, order)
    limits = builder.limits()
    cost = builder.cost()
    if bound is not None:
        builder.model.add(cost < bound)
    builder.model.minimize(cost)
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
        limits = [("capacity of the tile's cache", self.all_footprints(self.edges),
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
        """Whether an operand comes from its panel in vectors that need not stay in the first cache."""
        shape = self.problem.shape
        return (self.problem.streams and shape is not None and not reference.writes and not reference.whole
                and reference.moves_with(shape.columns) and not reference.moves_with(shape.rows))

    def is_shared(self, reference: Reference) -> bool:
        """Whether an operand whose vectors are streamed is packed once for all tiles of the first loop."""
        written = {r.array for r in self.problem.nest.references if r.writes}
        return (self.problem.shares and self.is_streamed(reference) and reference.array not in written
                and not reference.moves_with(self.order[0]))

    def rows_in_sets(self) -> list[tuple[str, Any, int]]:
        """The rows of what is written, which no panel holds, against the sets that they share."""
        cache, nest = self.problem.cache, self.problem.nest
        smallest = (min(e for e, _ in candidate_edges(self.problem, k, self.order)) for k in range(nest.depth))
        least = [_Quantity(edge, edge) for edge in smallest]
        limits = []
        for reference in nest.references:
            most = most_rows(reference, cache) if cache and reference.writes and not reference.whole else None
            if most is not None:
                rows, fewest = (self.product(self.lengths(reference, e)[:-1]) for e in (self.edges, least))
                limits.append((f"sets of the tile's cache for rows of {reference.array}", rows.value,
                               max(most, fewest.most)))
        return limits

    def lengths(self, reference: Reference, edges: list[_Quantity]) -> list[_Quantity]:
        return [self.capped(_length(row, span, edges), most)
                for row, span, most in zip(reference.coefficients, reference.spans, reference.reach, strict=True)]

    def all_footprints(self, edges: list[_Quantity]) -> Any:
        return sum(self.footprint(r, edges).value for r in self.problem.nest.references)

    def packed(self, reference: Reference, edges: list[_Quantity]) -> _Quantity:
        """Lines of a contiguous copy of what a tile of these edges touches; what is written is not copied."""
        if not reference.coefficients or reference.whole or reference.writes or coupled(reference):
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

    def fetched(self, reference: Reference) -> _Quantity:
        """Lines of one reference for which a thread waits."""
        moved = self.moved(reference)
        if not self.is_shared(reference):
            return moved
        whole = [_Quantity(extent, extent) for extent in self.problem.nest.extents]
        packing = PACKING_TRANSFERS * self.footprint(reference, whole).most
        parts = round(1 / UNHIDDEN)
        rest = self.equal_to(moved.most // parts, lambda value: self.model.add_division_equality(
            value, moved.value, parts))
        return _Quantity(packing + rest.value, packing + rest.most)

    def waiting(self) -> Any:
        """What the other threads could move while the last one is busy.

        With half a tile, cores being unequal, and with what is left when the tiles are shared out.
        """
        problem = self.problem
        if problem.threads < 2 or problem.wavefront or not problem.work_lines:
            return 0
        first, box = self.order[0], problem.nest.is_box
        pairs = [(edge, int(problem.work_lines * problem.threads * (
                    0.5 / n + (uneven_share(problem.nest.extents[first], edge, problem.threads) if box else 0))))
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
            most = -(-prod(reference.reach) * reference.element_bytes // self.problem.line_bytes)
            return _Quantity(most, most)
        lengths = self.lengths(reference, edges)
        rows = self.product(lengths[:-1])
        if coupled(reference):
            # no more rows than iterations that start one
            touched = [edge for loop, edge in enumerate(edges) if any(row[loop] for row in reference.coefficients[:-1])]
            most = prod(span + 1 for span in reference.spans[:-1])
            rows = self.least(rows, self.product([_Quantity(most, most), *touched]))
        return self.product([rows, self.lines(lengths[-1], reference.element_bytes)])

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
    from ortools.sat.python import cp_model

    return cp_model.Domain.from_values(sorted(set(values)))


def innermost_choice(nest: Nest) -> int:
    """The loop that most references follow with unit stride or not at all; the last one wins a tie."""
    def score(loop: int) -> tuple[int, int]:
        return (sum(r.stride(loop) is Stride.OTHER for r in nest.references), -loop)
    return min(range(nest.depth), key=score)


def has_columns(nest: Nest) -> bool:
    """Whether neighbouring iterations of the innermost loop touch different rows of an array."""
    innermost = innermost_choice(nest)
    return not is_skewed(nest) and any(r.stride(innermost) is Stride.OTHER for r in nest.references)
