"""Tiles of skewed nests: every combination of edges, priced by the projected model and by how tiles fill threads.

The bounds of skewed tiles tie the loops together, so the volume that moves is no product that an integer program
takes well; there are few combinations, though, since edges are powers of two.  The innermost loop may stay whole: then
it needs no tile loop, every row of the data is walked from end to end, and its first element stays where it is in
memory from row to row.

Where the number of time steps is known, or named by the user, so are its even shares: 50 steps are 2 x 25 as well as
3 x 16 and 2 that leave a thread waiting for the others on every wavefront.  The loops beside the rows then have
multiples of what the tiles move on by, so that edges divide each other.

Wavefronts of tiles leave threads waiting at their ends; split tiles need a space of several times what a row of tiles
moves on by, and go through the gaps between pieces without the reuse of tiles where no other loop cuts these.
Whichever takes less time is taken.
The best edges of split tiles hang on how wide space is: where only the running program knows that, and nobody names a
size, the edges are those of wavefronts, and split tiles with them are taken where they are quicker at the assumed size.

Source: as for `cost_models.Projected`; for wavefronts of tiles, see `wavefront`, for the others `split_tiles`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from polysched.records import dataclass
from polysched.target.costs import Costs
from polysched.target.target import Target
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.footprints.traffic import Level, working_set_bytes
from polysched.tiling.limits import LIMITS
from polysched.tiling.planning.band_plan import BandPlan, plan_structure
from polysched.tiling.planning.cost_models import Projected
from polysched.tiling.planning.tile_problem import TileProblem, candidate_edges, unskewed_extent, waiting_cycles
from polysched.tiling.planning.tile_search import TileChoice
from polysched.tiling.shapes.diamond import Faces
from polysched.tiling.shapes.split_tiles import gap_edge

LONGEST_EDGE = LIMITS.longest_skewed_edge

MOST_SHARES = LIMITS.most_time_shares

SHORT_SHARES = (5, 6, 7, 10, 12, 14)
"""Of many time steps, where tiles of `MOST_SHARES` have no room for whole rows."""

MULTIPLES = (1, 2, 4, 8)
"""Edges of loops beside the rows, in how far a tile moves on from its first time step to its last."""

MOST_ROWS = LIMITS.most_wavefront_rows

FEW_STEPS = LIMITS.few_steps

def choose_skewed_tile(problem: TileProblem, target: Target, faces: Faces | None = None) -> TileChoice | None:
    """The edges with the least projected time on all threads; None when no tile fits the cache.

    An edge as long as the loop's extent leaves the loop without tiles; a shorter one is shorter than a row of the data.
    The first of equal choices is the one with the shorter edges.

    Parameters
    ----------
    faces : of split tiles; None where there shall be wavefronts.
    """
    model = _usable(target)
    order, last = problem.orders[0], model.target.caches[-1]
    known = NestTimes(problem.nest, model)
    is_fixed = faces is not None and problem.nest.expected[faces.space]
    best: tuple[float, TileChoice, BandPlan] | None = None
    for edges in _combinations(problem, order):
        if not _fits(problem, edges, last.size_bytes // last.shared_by):
            continue
        plan = BandPlan(nest=problem.nest, edges=tuple(
            None if edge >= extent else edge for edge, extent in zip(edges, problem.nest.extents, strict=True)),
            order=tuple(loop for loop in order if edges[loop] < problem.nest.extents[loop]))
        alone = full_tiles_seconds(plan, known, handed_over=problem.threads > 1)
        ways = [(wavefront_seconds(plan, alone, problem.threads, target.costs), False)]
        in_pieces = split_seconds(plan, faces, known, problem.threads) if faces is not None and is_fixed else None
        ways += [] if in_pieces is None else [(in_pieces, True)]
        seconds, split = min(ways)
        if best is None or seconds < best[0]:
            lines = int(seconds * target.bandwidth(0) / problem.line_bytes)
            best = seconds, TileChoice(edges=edges, order=order, cost_lines=lines, binding=(), optimal=True,
                                       split=split), plan
    if best is None:
        return None
    seconds, choice, plan = best
    if faces is not None and not is_fixed:
        in_pieces = split_seconds(plan, faces, known, problem.threads)
        return replace(choice, split=in_pieces is not None and in_pieces < seconds)
    return choice


def _fits(problem: TileProblem, edges: tuple[int, ...], common_bytes: int) -> bool:
    """Whether two steps of a tile stay in its cache; of tiles of whole rows, in a core's share of the common cache."""
    kept = working_set_bytes(problem.nest, _two_steps(problem.nest, edges), problem.line_bytes)
    rows_are_whole = edges[problem.innermost] >= problem.nest.extents[problem.innermost]
    return kept <= (max(problem.capacity_bytes, common_bytes) if rows_are_whole else problem.capacity_bytes)


def _usable(target: Target) -> Projected:
    """The model of a machine, with what tiles may fill of its caches."""
    return Projected(target=replace(target, caches=tuple(
        replace(cache, size_bytes=int(cache.size_bytes * target.costs.usable_share)) for cache in target.caches)))


def share_saved(plan: BandPlan, target: Target) -> float:
    """The share of the projected time of a nest on one thread that its tiles save."""
    known = NestTimes(plan.nest, _usable(target))
    return 1 - full_tiles_seconds(plan, known) / full_tiles_seconds(
        replace(plan, edges=(None,) * plan.nest.depth, order=()), known)


def split_seconds(plan: BandPlan, faces: Faces, known: NestTimes, threads: int) -> float | None:
    """The time of a nest on all threads in split tiles; None where pieces would be too narrow.

    The widest piece keeps its thread busy longest.  Gaps that another loop cuts have tiles as wide as they are, of data
    that other threads wrote last; where two gaps cross, one thread goes through the tile.  Other gaps are shared out
    evenly, step by step; the half of one is a tile of its own.

    Parameters
    ----------
    known : of the plan's nest.
    """
    nest, steps, model = plan.nest, plan.edges[0], known.model
    if threads < 2 or steps is None:
        return None
    side, reach, width = _measures(nest, faces, steps, threads)
    team_seconds = model.target.costs.team_seconds(threads)
    if width < 2 * reach + 1:
        return None
    gaps = (threads - 1) * reach / side
    # On average a side of a piece has moved in by half of the reach.  The first and the last piece, the only ones of
    # two, have one such side, and the border of space a whole reach inside of their width.
    widest = (width - (1.5 if threads == 2 else 1) * reach) / side
    rows = -(-nest.extents[0] // steps)
    in_pieces = full_tiles_seconds(plan, known) * widest
    in_gaps = _gap_tiles_seconds(plan, faces, known, threads, gaps)
    if in_gaps is not None:
        return in_pieces + in_gaps + 3 * rows * team_seconds
    teams = rows * (1 + steps * max(1, len(nest.deepest)))
    half = replace(plan, edges=tuple(steps if loop == 0 else reach if loop == faces.space else None
                                     for loop in range(nest.depth)), order=(0, faces.space))
    return in_pieces + full_tiles_seconds(half, known) * gaps / threads + teams * team_seconds


def _gap_tiles_seconds(plan: BandPlan, faces: Faces, known: NestTimes, threads: int, gaps: float) -> float | None:
    """The time of gaps that another loop cuts; None where no other one does.

    Parameters
    ----------
    known : of the plan's nest.
    gaps : their share of all iterations.
    """
    nest, steps, inner = plan.nest, plan.edges[0], faces.inner
    if inner is None or steps is None or not (nest.fixed[faces.space] and nest.fixed[inner.space]):
        return None
    side, reach, width = _measures(nest, inner, steps, threads)
    if width < 2 * reach + 1:
        return None
    widest = steps * faces.multiple
    edges = list(plan.edges)
    edges[inner.space] = gap_edge(plan.edges, faces.space, inner.space, widest)
    edges[faces.space] = widest
    crossing = gaps * (threads - 1) * reach / side
    return (full_tiles_seconds(replace(plan, edges=tuple(edges)), known, handed_over=True)
            * ((gaps - crossing) / threads + crossing / (threads - 1)))


def _measures(nest: Nest, faces: Faces, steps: int, threads: int) -> tuple[int, int, float]:
    """How many places space has, how far a row of tiles moves on to either side, and how wide a piece and a gap are."""
    side, reach = unskewed_extent(nest, faces.space), -(-steps * faces.multiple // 2)
    return side, reach, (side + 2 * reach) / threads


def transfer_once(nest: Nest, model: Projected) -> list[float | None]:
    """Per cache, the time in which all data of a nest come in once; None where the cache does not hold them."""
    once = model.transfer_seconds(BandPlan(nest=nest, edges=(None,) * nest.depth, order=()), ())
    return [whole if working_set_bytes(nest, nest.extents, cache.line_bytes) <= cache.size_bytes else None
            for cache, whole in zip(model.target.caches, once, strict=True)]


def full_tiles_seconds(plan: BandPlan, known: NestTimes, *, handed_over: bool = False) -> float:
    """The time of all iterations on one thread.

    At one value of the loop that skews the others a tile is a box, so one tile is projected as a nest of its own.  Its
    data come in anew from all caches that do not hold everything.

    Parameters
    ----------
    known : of the plan's nest.
    handed_over : what a tile reads was written by another thread last, so it comes from the caches of another core.
    """
    nest, target, extents = plan.nest, known.model.target, _box(plan.nest, plan.edges)
    box = known.box(extents)
    count, last = max(1, len(nest.deepest)), box.last
    tiles = nest.instances * nest.density / count / prod(extents)
    times = [tiles * one if once is None else once for one, once in zip(box.transfers, known.once, strict=True)]
    if known.once[-1] is None:
        times[-1] *= _run_slowdown(extents[last] * nest.element_bytes, target.costs)
    moved = sum(times)
    if handed_over:
        moved = _handed_over(times, [tiles * one for one in box.transfers], target)
    rows = tiles * prod(extents) / extents[last] * _pieces_of_a_row(plan, last)
    cut = 1 + rows / tiles * box.lanes_lost / prod(extents)
    core = rows * count * target.costs.row_cycles + tiles * (prod(extents) * count * box.waits)
    arithmetic, loads = box.arithmetic * cut, box.loads * cut
    return (max(tiles * arithmetic, tiles * loads + moved * target.frequency_hz) + core) / target.frequency_hz


@dataclass(frozen=True, eq=False, kw_only=True)
class _Box:
    """One step of a tile as a nest of its own, and what it takes.

    Parameters
    ----------
    last : the innermost loop.
    transfers : seconds per cache.
    arithmetic, loads : cycles of all iterations.
    waits : cycles of an iteration that waits for the one before.
    lanes_lost : as `_lanes_lost` has them.
    """

    last: int
    transfers: list[float]
    arithmetic: float
    loads: float
    waits: float
    lanes_lost: float


@dataclass(frozen=True, eq=False)
class NestTimes:
    """What the tiles of one nest have in common, computed once: many of them have the same box."""

    nest: Nest
    model: Projected
    _boxes: dict[tuple[int, ...], _Box] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def once(self) -> tuple[float | None, ...]:
        """The times of `transfer_once`."""
        return tuple(transfer_once(self.nest, self.model))

    def box(self, extents: tuple[int, ...]) -> _Box:
        """The box with these extents."""
        if extents not in self._boxes:
            self._boxes[extents] = self._made(extents)
        return self._boxes[extents]

    def _made(self, extents: tuple[int, ...]) -> _Box:
        nest, model = self.nest, self.model
        tile = BandPlan(nest=replace(nest, extents=extents, density=float(max(1, len(nest.deepest)))),
                        edges=(None,) * nest.depth, order=())
        structure = plan_structure(tile)
        last = structure[-1].loop
        return _Box(last=last, transfers=_step_transfers(nest, tile, model, structure),
                    arithmetic=model.arithmetic_cycles(tile, structure), loads=model.load_cycles(tile, structure),
                    waits=waiting_cycles(tile.nest, last, extents[last], model.target),
                    lanes_lost=_lanes_lost(tile, last, model.target))


def _step_transfers(nest: Nest, tile: BandPlan, model: Projected, structure: tuple[Level, ...]) -> list[float]:
    """Per cache, the time in which one step of a tile gets its data.

    Rows without dependences run statement by statement (`emit_c` distributes them), so what another statement of the
    step touches does not crowd a cache; where the whole step fits, its data come in once for all of them.
    """
    together = model.transfer_seconds(tile, structure)
    if len(nest.deepest) < 2 or not nest.row_independent[structure[-1].loop]:
        return together
    known: dict[frozenset[object], list[float]] = {}
    for own in nest.one_by_one:
        if own.touched_alike not in known:   # the directions of a lattice are relaxed and copied alike
            known[own.touched_alike] = model.transfer_seconds(
                replace(tile, nest=replace(own, extents=tile.nest.extents)), structure)
    alone = [known[own.touched_alike] for own in nest.one_by_one]
    return [min(fused, sum(each)) for fused, each in zip(together, zip(*alone, strict=True), strict=True)]


def _handed_over(times: list[float], single: list[float], target: Target) -> float:
    """The transfers of tiles whose data another core wrote last: they come once from its caches.

    What a tile that exceeds the private caches brings in again, it finds in the common one.

    Parameters
    ----------
    times : per cache, of all tiles.
    single : the same where data come in anew for each tile.
    """
    private = target.last_private
    place = target.caches.index(private)
    near, memory = target.bandwidth(target.beyond(private)), target.bandwidth(0)
    once = min(single[place] * near, single[-1] * memory)
    again = max(0.0, times[place] - once / near)
    return sum(times[:place]) + max(again + once / (target.costs.handed_over_share * memory), sum(times[place:]))


def _run_slowdown(run_bytes: int, costs: Costs) -> float:
    """How much longer memory takes for runs of addresses of this length than for one without end."""
    return 1 + (costs.run_start_slowdown - 1) * min(1.0, costs.run_start_bytes / run_bytes)


def _pieces_of_a_row(plan: BandPlan, last: int) -> float:
    """Into how many parts tiles cut a row of the box of one step, on average; a row that moves on starts anywhere."""
    edge, side = plan.edges[last], unskewed_extent(plan.nest, last)
    if edge is None or edge >= plan.nest.extents[last]:
        return 1.0
    return (1 + (side - 1) / edge) * min(edge, side) / side


def _lanes_lost(tile: BandPlan, last: int, target: Target) -> int:
    """Iterations that the partial vectors at both ends of a row take beside its own: one vector of them."""
    nest = tile.nest
    vector = nest.row_independent[last] and Stride.OTHER not in [r.stride(last) for r in nest.references]
    return target.lanes(8 * nest.element_bytes) if vector else 0


def _box(nest: Nest, edges: tuple[int | None, ...]) -> tuple[int, ...]:
    """The iterations of a full tile per loop, at one value of the loop that skews the others."""
    return tuple(min(edge or extent, unskewed_extent(nest, loop) if loop else extent)
                 for loop, (edge, extent) in enumerate(zip(edges, nest.extents, strict=True)))


def _two_steps(nest: Nest, edges: tuple[int, ...]) -> tuple[int, ...]:
    """The iterations whose data have to stay in the cache: a tile moves on over its data, from step to next step."""
    first, *others = _box(nest, edges)
    return (min(first, 2), *others)


def _combinations(problem: TileProblem, order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Edges of all loops: candidates with each other, then even shares of the time steps with multiples of these."""
    first, *others = (_edges(problem, loop, order) for loop in range(problem.nest.depth))
    yield from product(first, *others)
    for steps in _even_shares(problem, first):
        yield from product([steps], *(edges if loop == problem.innermost else _multiples(problem.nest, loop, steps)
                                      for loop, edges in enumerate(others, start=1)))


def _edges(problem: TileProblem, loop: int, order: tuple[int, ...]) -> list[int]:
    """The candidates for one loop in ascending order; the innermost one stays whole or has edges of any length."""
    every = [edge for edge, _ in candidate_edges(problem, loop, order)]
    if loop != problem.innermost:
        every = [edge for edge in every if edge <= LONGEST_EDGE] or every[:1]
    elif loop not in order[:2]:
        every = [edge for edge in every if edge < unskewed_extent(problem.nest, loop)] + [problem.nest.extents[loop]]
    return sorted(set(every))


def _multiples(nest: Nest, loop: int, steps: int) -> list[int]:
    """Edges of a loop beside the rows that divide each other, of tiles with so many time steps."""
    moved = steps * max(1, _skew(nest, 0, loop))
    return [edge for edge in (moved * k for k in MULTIPLES) if edge < nest.extents[loop]]


def _even_shares(problem: TileProblem, others: list[int]) -> list[int]:
    """Edges of the loop that skews the others, beside those that there are anyway, with tiles of nearly one length."""
    nest = problem.nest
    if not nest.expected[0] or problem.innermost == 0:
        return []
    steps = nest.extents[0]
    short = SHORT_SHARES if steps > MOST_SHARES * max(SHORT_SHARES) else ()   # otherwise there are some anyway
    counts = {*range(2, MOST_SHARES + 1), *(-(-steps // share) for share in short)}
    shares = {-(-steps // count) for count in counts}
    return sorted(share for share in shares if min(others) <= share <= LONGEST_EDGE and share not in others)


def wavefront_seconds(plan: BandPlan, seconds: float, threads: int, costs: Costs) -> float:
    """The time of a nest on all threads, with the tiles of one wavefront after the other shared out.

    A loop whose length only the running program knows counts as half long and half short (`FEW_STEPS`).

    Parameters
    ----------
    plan : tiles whose first two loops make the wavefronts.
    seconds : the time on one thread.
    """
    if threads < 2 or len(plan.order) < 2:
        return seconds
    widths, share = wavefront_widths(plan, *plan.order[:2])
    short = _with_few_steps(plan)
    busy = [busiest_share(p, threads) for p in (plan, short) if p is not None]
    return seconds * sum(busy) / len(busy) + len(widths) / share * costs.team_seconds(threads)


def busiest_share(plan: BandPlan, threads: int) -> float:
    """How much of all work the busiest thread has, or waits for, with the tiles of each wavefront shared out.

    The last row of tiles has what the others leave of the first loop, where its length is known.
    """
    first, second = plan.order[:2]
    widths, share = wavefront_widths(plan, first, second)
    edge, extent = plan.edges[first] or plan.nest.extents[first], plan.nest.extents[first]
    least = extent % edge / edge if plan.nest.fixed[first] and share == 1 and extent % edge else 1.0
    last = np.arange(len(widths)) >= len(widths) - _tiles_of_a_row(plan, first, second)
    others = widths - last
    rounds = others // threads + np.where(others % threads, 1.0, last * least)
    return float(rounds.sum() / (others + last * least).sum())


def _with_few_steps(plan: BandPlan) -> BandPlan | None:
    """The plan for few iterations of the loop that skews the others; None where its length is known."""
    nest, (first, second) = plan.nest, plan.order[:2]
    if nest.fixed[first] or nest.extents[first] <= FEW_STEPS:
        return None
    extents = list(nest.extents)
    side = unskewed_extent(nest, second)
    extents[second] = side + (extents[second] - side) * (FEW_STEPS - 1) // (extents[first] - 1)
    extents[first] = FEW_STEPS
    return replace(plan, nest=replace(nest, extents=tuple(extents)))


def wavefront_widths(plan: BandPlan, first: int, second: int) -> tuple[np.ndarray, float]:
    """How many tiles each wavefront has, along the two loops that make it, and the share of all wavefronts it covers.

    The second loop is skewed by the first one, so its tiles move on from one tile of the first to the next.  Of more
    than `MOST_ROWS` rows of tiles only those are counted, since a pipeline that long repeats itself.
    """
    extents, edges = plan.nest.extents, plan.edges
    first_edge, second_edge = edges[first] or extents[first], edges[second] or extents[second]
    skew = _skew(plan.nest, first, second)
    all_rows = -(-extents[first] // first_edge)
    long = _tiles_of_a_row(plan, first, second)
    row = np.arange(min(all_rows, MOST_ROWS), dtype=np.int64)
    starts = row + row * (skew * first_edge) // second_edge
    waves = np.arange(int(starts[-1]) + long)
    begun = np.searchsorted(starts, waves, side="right")
    ended = np.searchsorted(starts + long, waves, side="right")
    return begun - ended, len(row) / all_rows


def _skew(nest: Nest, first: int, second: int) -> int:
    """How far the second loop moves on per iteration of the first one."""
    return round((nest.extents[second] - unskewed_extent(nest, second)) / max(1, nest.extents[first] - 1))


def _tiles_of_a_row(plan: BandPlan, first: int, second: int) -> int:
    extents, edges = plan.nest.extents, plan.edges
    first_edge, second_edge = edges[first] or extents[first], edges[second] or extents[second]
    moved = _skew(plan.nest, first, second) * (first_edge - 1)
    return -(-(unskewed_extent(plan.nest, second) + moved) // second_edge)
