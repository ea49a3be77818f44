"""What a search for tiles may choose and what limits it: loop orders that differ in reuse, edges, capacities.

Edges are whole multiples of the register block, vector or line, and the loop for the threads has enough tiles to
share out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import permutations

from polysched.records import dataclass
from polysched.target.costs import SHIPPED, Costs
from polysched.target.target import CacheLevel, Target
from polysched.tiling.footprints.balance import idle_share
from polysched.tiling.footprints.conflicts import most_rows
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.footprints.twin_loops import twin_classes
from polysched.tiling.limits import LIMITS
from polysched.tiling.planning.register_shape import RegisterShape
from polysched.tiling.tree.rows_in_step import ROWS

MOST_IDLE = LIMITS.most_idle_share
MOST_ROUNDS = LIMITS.most_rounds
FEWEST_BLOCKS = LIMITS.fewest_blocks
FEWEST_LINES = LIMITS.fewest_lines
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 1024)
LARGEST_NUMBER = 1 << 58


@dataclass(frozen=True, kw_only=True)
class TileProblem:
    """What may be chosen and what limits it.

    Parameters
    ----------
    nest : the band.
    capacity_bytes : what the tile's working set may take, the cache's usable share.
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
    streams_both : so do its rows of the other operand beside them.
    shares : operands that the first loop of an order leaves alone are packed once for all its tiles.
    common_bytes : what may stay in the outermost cache, which all cores share.
    costs : of the machine.
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
    streams_both: bool = False
    shares: bool = False
    common_bytes: int = 0
    costs: Costs = SHIPPED

    @cached_property
    def known_edges(self) -> dict[tuple[int, tuple[int, ...]], list[tuple[int, int]]]:
        """The edges of a loop in an order that were asked for (`candidate_edges`)."""
        return {}


def tile_problem(nest: Nest, target: Target, *, shape: RegisterShape | None, innermost: int, level: int,
                 parallel: tuple[int, ...], wavefront: bool, threads: int,
                 whole: frozenset[int] = frozenset()) -> TileProblem:
    """Set up the search for one cache level.

    Parameters
    ----------
    innermost : the innermost point loop; only its start-up counts when there is no register block.
    level : the cache that a tile shall fit.
    parallel : loops of which one may stand outermost for the threads; empty when none may.
    whole : loops that tiles do not cut.
    """
    cache = target.cache(level) or target.caches[-1]
    first = target.caches[0]
    innermost = innermost if shape is None else shape.inner[-1]
    line_cycles = cache.line_bytes * target.frequency_hz / target.bandwidth(level + 1 if target.cache(level + 1) else 0)
    costs = target.costs
    granules = tuple(extent if loop in whole else granule for loop, (extent, granule) in enumerate(
        zip(nest.extents, _granules(nest, shape, target, innermost), strict=True)))
    apart = _loops_of_their_own(nest, shape, innermost, parallel) | whole
    return TileProblem(
        nest=nest, capacity_bytes=int(cache.size_bytes * costs.usable_share),
        panel_bytes=int(first.size_bytes * costs.panel_share),
        shape=shape, granules=granules, innermost=innermost,
        row_lines=lambda edge: row_cycles(nest, shape, innermost, edge, target) / line_cycles,
        orders=(tuple(range(nest.depth)),) if is_skewed(nest) else _orders(
            nest, parallel if not wavefront else (), twin_classes(nest, granules, apart=apart)),
        threads=threads if parallel or wavefront else 1, wavefront=wavefront, line_bytes=cache.line_bytes,
        cache=None if shape is None else cache, costs=costs,
        shares=shape is not None and nest.is_box and bool(parallel),
        common_bytes=int(target.caches[-1].size_bytes * costs.usable_share),
        streams=_streams(nest, shape, target, both=False), streams_both=_streams(nest, shape, target, both=True),
        work_lines=0.0 if shape is None else
        nest.instances * shape.cycles / target.lanes(8 * nest.element_bytes) / line_cycles / _contended(target, level))


def _loops_of_their_own(nest: Nest, shape: RegisterShape | None, innermost: int, parallel: tuple[int, ...]) -> set[int]:
    """Loops that stand for no other one: those of the register block, the innermost one, those without threads."""
    block = set() if shape is None else {shape.rows, shape.columns, *shape.inner}
    return {innermost} | block | {loop for loop in range(nest.depth) if parallel and loop not in parallel}


def _contended(target: Target, level: int) -> float:
    """How much longer a transfer into a cache takes where cores share the one that it comes from."""
    outside = target.cache(level + 1)
    return target.costs.contended_slowdown if outside is not None and outside.shared_by > 1 else 1


def _streams(nest: Nest, shape: RegisterShape | None, target: Target, *, both: bool) -> bool:
    """Whether the columns of a step of a block's loop, or both operands, arrive from L2 behind its arithmetic."""
    if shape is None or not nest.is_box or target.cache(2) is None:
        return False
    elements = shape.column_count + (shape.row_count if both else 0)
    arrival = elements * nest.element_bytes * target.frequency_hz / target.bandwidth(2)
    operations = shape.row_count * shape.column_count / target.lanes(8 * nest.element_bytes)
    return arrival <= target.costs.hidden_share * operations / target.multiply_adds_per_cycle


def row_cycles(nest: Nest, shape: RegisterShape | None, innermost: int, edge: int, target: Target) -> float:
    """Cycles per instance for starting the innermost loop, and for waiting along a row that is sequential.

    A register block is loaded and stored around its row.
    """
    ports, start = target.ports, target.costs.row_cycles
    if shape is not None:
        block = shape.row_count * max(1, shape.column_count // target.lanes(64))
        return (start + 2 * block / ports.loads_per_cycle) / (shape.row_count * shape.column_count * edge)
    return start / edge + waiting_cycles(nest, innermost, edge, target)


def waiting_cycles(nest: Nest, innermost: int, edge: int, target: Target) -> float:
    """Cycles per instance in which an iteration of a sequential row waits for the one before it.

    Each operation waits for the one before it.  Rows that go in step (`rows_in_step`) share the wait, but for the
    columns at both ends of a row that not all of them have.  Elsewhere the processor works on as many rows at once as
    its window of instructions holds, so short rows wait less.
    """
    if nest.row_independent[innermost]:
        return 0.0
    ports = target.ports
    chain = ports.fma_latency_cycles * max(1.0, nest.operations / 2)
    rows_at_once = max(1.0, ports.window / (2 * max(1, nest.operations) * edge))
    lag = nest.row_lags[innermost] if nest.row_lags else None
    together = 0.0 if lag is None else max(0.0, 1 - lag * (ROWS - 1) / edge)
    return chain * (together / ROWS + (1 - together) / rows_at_once)


def _granules(nest: Nest, shape: RegisterShape | None, target: Target, innermost: int) -> tuple[int, ...]:
    granules = [1] * nest.depth
    if shape is not None:
        granules[shape.rows], granules[shape.columns] = shape.row_count, shape.column_count
        granules[shape.inner[-1]] = 8
    else:
        size = min((r.element_bytes for r in nest.references), default=8)
        granules[innermost] = max(target.lanes(8 * size), target.line_bytes // size)
        if nest.row_lags and nest.row_lags[innermost] is not None:
            granules[nest.around(innermost)] = ROWS
    return tuple(min(g, extent) for g, extent in zip(granules, nest.extents, strict=True))


def is_skewed(nest: Nest) -> bool:
    """Some loop moves several subscripts of one reference.

    The bounds of such tiles tie the loops together.  isl's code generator needs edges that divide each other
    and the loops in their own order to find short bounds in reasonable time.
    """
    return any(r.coupled for r in nest.references)


def moves_on(nest: Nest) -> bool:
    """Some subscript is moved by several loops: tiles of these move on over the data, as those of a line over time."""
    return any(len(loops) > 1 for r in nest.references for loops in r.movers)


def _orders(nest: Nest, parallel: tuple[int, ...], twins: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Orders of tile loops that differ in what they reuse; a loop for the threads stays outermost.

    Of those that differ by exchanged twins only the first.
    """
    loops = tuple(range(nest.depth))
    if nest.depth <= LIMITS.permuted_loops:
        every = tuple(permutations(loops))
    else:
        every = tuple((*(k for k in loops if k != last), last) for last in reversed(loops))
    allowed = tuple(order for order in every if not parallel or order[0] in parallel)
    kept: dict[tuple[object, ...], tuple[int, ...]] = {}
    for order in sorted(allowed, key=lambda order: order != loops):
        kept.setdefault((order[0] if parallel else -1, *(_reuse(r, order) for r in nest.references)), order)
    different: dict[tuple[int, ...], tuple[int, ...]] = {}
    for order in kept.values():
        different.setdefault(tuple(twins[k] for k in order), order)
    return tuple(different.values())


def _reuse(reference: Reference, order: tuple[int, ...]) -> tuple[frozenset[int], int]:
    """The loops that repeat a reference, and the loop along which it sweeps."""
    moving = [at for at, loop in enumerate(order) if reference.moves_with(loop)]
    return (frozenset(order[:moving[-1]]), order[moving[-1]]) if moving else (frozenset(), -1)


def candidate_edges(problem: TileProblem, loop: int, order: tuple[int, ...]) -> list[tuple[int, int]]:
    """The edges that may be chosen for a loop, each with its number of tiles; found once."""
    if (loop, order) not in problem.known_edges:
        problem.known_edges[loop, order] = _candidate_edges(problem, loop, order)
    return problem.known_edges[loop, order]


def _candidate_edges(problem: TileProblem, loop: int, order: tuple[int, ...]) -> list[tuple[int, int]]:
    extent, granule = problem.nest.extents[loop], problem.granules[loop]
    plain = problem.nest.is_box and not is_skewed(problem.nest)
    steps = [step for step in STEPS if plain or step & (step - 1) == 0]
    edges = sorted({granule * step for step in (*steps, *_even_shares(problem, loop, order))
                    if granule * step < extent})
    if not edges or plain:
        edges.append(-(-extent // granule) * granule)
    least = _least_edge(problem, loop, order)
    edges = [edge for edge in edges if edge >= least] or edges[-1:]
    pairs = [(edge, -(-extent // edge)) for edge in edges]
    shared = order[:2] if problem.wavefront else order[:1]
    if problem.threads > 1 and loop in shared:
        return _busy(problem, loop, pairs) or [max(pairs, key=lambda pair: pair[1])]
    return pairs


def _least_edge(problem: TileProblem, loop: int, order: tuple[int, ...]) -> int:
    """The shortest edge along a loop of a register block, where an operand streams past it; 0 for other loops."""
    granule, shape = problem.granules[loop], problem.shape
    if not problem.streams or shape is None or loop not in (shape.rows, shape.columns):
        return 0
    if loop == shape.rows:
        return min(FEWEST_BLOCKS * granule, _rows_side_by_side(problem) // granule * granule)
    if problem.shares and order[0] == loop:
        return granule
    return max(2 * granule, FEWEST_LINES * problem.line_bytes // problem.nest.element_bytes)


def _busy(problem: TileProblem, loop: int, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges that leave no thread idle for long; of a wavefront, those with enough tiles on its side."""
    if problem.wavefront:
        side = unskewed_extent(problem.nest, loop)
        return [(edge, n) for edge, n in pairs if -(-side // edge) >= 2 * problem.threads]
    return [(edge, n) for edge, n in pairs
            if n >= problem.threads and idle_share(n, problem.threads) <= MOST_IDLE]


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


def innermost_choice(nest: Nest) -> int:
    """The loop that most references follow with unit stride or not at all; the last one wins a tie."""
    def score(loop: int) -> tuple[int, int]:
        return (sum(r.stride(loop) is Stride.OTHER for r in nest.references), -loop)
    return min(range(nest.depth), key=score)


def has_columns(nest: Nest) -> bool:
    """Whether neighbouring iterations of the innermost loop touch different rows of an array."""
    innermost = innermost_choice(nest)
    return not is_skewed(nest) and any(r.stride(innermost) is Stride.OTHER for r in nest.references)
