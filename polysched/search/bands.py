"""BandFacts: what a space may choose for one band, and what the projected model says of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import inf, prod
from typing import TYPE_CHECKING

from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.target.target import Target
from polysched.tiling.footprints.lower_bound import lower_bound, needed_operations
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.footprints.traffic import Level
from polysched.tiling.options import BandOptions, in_order
from polysched.tiling.planning.band_plan import BandPlan, Untiled, plan_structure
from polysched.tiling.planning.block_orders import with_blocks
from polysched.tiling.planning.choices import BandChoices
from polysched.tiling.planning.cost_models import Projected, SpeedOfLight
from polysched.tiling.planning.register_shape import RegisterShape, panel_operands
from polysched.tiling.planning.tile_problem import TileProblem, candidate_edges, innermost_choice, is_skewed
from polysched.tiling.planning.tile_search import exceeded

if TYPE_CHECKING:
    from polysched.search.chooser import Chooser


@dataclass(frozen=True)
class LoopFacts:
    """One loop of a band.

    Parameters
    ----------
    name : in explanations, with the number of its band.
    extent : iterations at the sizes that count.
    edges : tile edges that the tile search considers; the extent alone where it has none.
    """

    name: str
    extent: int
    edges: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class BandFacts:
    """One permutable band of a schedule.

    Parameters
    ----------
    choices : as tiling knows them.
    target : the machine.
    """

    choices: BandChoices
    target: Target

    @property
    def number(self) -> int:
        return self.choices.number

    @property
    def depth(self) -> int:
        return self.choices.members

    @cached_property
    def loops(self) -> tuple[LoopFacts, ...]:
        """Outermost first."""
        problems = [self.problem(level, self.choices.shape) for level in self.choices.levels]
        found = []
        for k in range(self.depth):
            extent = self.choices.nest.extents[k]
            edges = sorted({e for p in problems for order in p.orders for e, _ in candidate_edges(p, k, order)})
            found.append(LoopFacts(f"band {self.number}, loop {k}", extent, tuple(edges) or (extent,)))
        return tuple(found)

    def problem(self, level: int, shape: RegisterShape | None) -> TileProblem:
        """The search for tiles that fit a cache, around a register block or none; kept."""
        key = (level, None if shape is None else (shape.rows, shape.columns, shape.row_count, shape.column_count))
        if key not in self._problems:
            self._problems[key] = self.choices.problem(level, shape)
        return self._problems[key]

    def offered(self, problem: TileProblem, order: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """The edges that a search of this band considers for each loop; kept."""
        key = (id(problem), order)
        if key not in self._offered:
            self._offered[key] = problem, tuple(tuple(e for e, _ in candidate_edges(problem, k, order))
                                                for k in range(self.depth))
        return self._offered[key][1]

    def exceeded(self, problem: TileProblem, order: tuple[int, ...], edges: tuple[int, ...]) -> tuple[str, ...]:
        """The limits of a search that edges exceed; kept."""
        key = (id(problem), order, edges)
        if key not in self._exceeded:
            self._exceeded[key] = problem, exceeded(problem, order, edges)
        return self._exceeded[key][1]

    @cached_property
    def _exceeded(self) -> dict[tuple[int, tuple[int, ...], tuple[int, ...]], tuple[TileProblem, tuple[str, ...]]]:
        return {}

    @cached_property
    def _offered(self) -> dict[tuple[int, tuple[int, ...]], tuple[TileProblem, tuple[tuple[int, ...], ...]]]:
        return {}

    @cached_property
    def _problems(self) -> dict[object, TileProblem]:
        return {}

    @cached_property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """The legal register blocks, rows and columns, the model's first."""
        return tuple(dict.fromkeys((s.row_count, s.column_count) for s in self.choices.shapes))

    @cached_property
    def packable(self) -> tuple[str, ...]:
        """The arrays that a register block may read from copies."""
        shape = self.choices.shape
        operands = panel_operands(self.choices.nest, shape) if shape is not None else ()
        return tuple(dict.fromkeys(operand.array for operand in operands))

    @cached_property
    def can_be_tiled(self) -> bool:
        """Whether there are tiles that could move less data: something is used again in another iteration."""
        nest, loops = self.choices.nest, range(self.depth)
        innermost = innermost_choice(nest)
        return bool(self.choices.levels) and any(
            r.whole or any(r.spans) or r.stride(innermost) is Stride.OTHER or not all(map(r.moves_with, loops))
            for r in nest.references if r.coefficients)

    def shape_of(self, block: bool | tuple[int, int] | None) -> RegisterShape | None:
        """The model's shape of a block; None for none."""
        if block is False:
            return None
        if block in (None, True):
            return self.choices.shape
        return next((s for s in self.choices.shapes if (s.row_count, s.column_count) == block), None)

    def plan_of(self, chosen: BandOptions | None) -> BandPlan | None:
        """The plan of choices for the band; None for what the models cannot judge without tiling the tree."""
        nest = self.choices.nest
        if chosen is None or chosen.sizes in (None, "auto"):
            model = self.choices.plan
            plan = _bare(model) if isinstance(model, Untiled) else model
            if plan is None or chosen is None or chosen.register is None:
                return plan
            return with_blocks(replace(plan, shape=self.shape_of(chosen.register)), self.target)
        shape = self.shape_of(chosen.register)
        untiled = BandPlan(nest=nest, edges=(None,) * nest.depth, order=(), shape=shape)
        if chosen.sizes == "off":
            return with_blocks(untiled, self.target)
        edges = (chosen.sizes,) * nest.depth if isinstance(chosen.sizes, int) else _stretched(
            tuple(chosen.sizes), nest.depth) if isinstance(chosen.sizes, tuple) else (None,) * nest.depth
        return with_blocks(BandPlan(nest=nest, edges=edges, order=in_order(chosen.order or (), nest.depth),
                                    shape=shape), self.target)

    def seconds_of(self, chosen: BandOptions | None) -> float | None:
        """What the projected model says of all runs of the band on the cores of the target; kept."""
        if chosen not in self._seconds:
            self._seconds[chosen] = self._seconds_of(chosen)
        return self._seconds[chosen]

    @cached_property
    def _seconds(self) -> dict[BandOptions | None, float | None]:
        return {}

    def least_bytes(self, nest: Nest, size: int) -> float:
        """What a cache of that size moves at least for the nest of a plan; kept."""
        if (id(nest), size) not in self._least:
            self._least[id(nest), size] = nest, lower_bound(nest, size).bytes
        return self._least[id(nest), size][1]

    @cached_property
    def _least(self) -> dict[tuple[int, int], tuple[Nest, float]]:
        return {}

    def _seconds_of(self, chosen: BandOptions | None) -> float | None:
        plan = self.plan_of(chosen)
        if plan is None:
            return None
        threads = self.choices.threads and (chosen is None or chosen.parallel is not False)
        one = Projected(target=self.target).seconds(plan)
        width, teams = self.width_of(plan, chosen) if threads and self.target.cores > 1 else (1.0, 0.0)
        return self.choices.times * (one / max(1.0, min(width, self.target.cores)) + teams * self.target.team_seconds)

    @cached_property
    def usual_seconds(self) -> float | None:
        """The same of the model's own tiles."""
        return self.seconds_of(None)

    def width_of(self, plan: BandPlan, chosen: BandOptions | None = None) -> tuple[float, float]:
        """Iterations that threads share, and starts of their team in one run of the band."""
        rows = -(-plan.nest.extents[0] // (plan.edges[0] or plan.nest.extents[0]))
        own = chosen or BandOptions()
        if own.split is True or (plan.pieces is not None and own.split is not False):
            return float(self.target.cores), 2.0 * rows   # the pieces of a row start together, then the gaps
        loops = plan_structure(plan)
        counts = [_trips(loops, at, plan) for at in range(len(loops))]
        for k, level in enumerate(loops):
            if level.loop in self.choices.free:
                # a loop for threads goes outside of its level
                outside = 1 if level.loop in plan.order else prod(counts[:k])
                return float(counts[k]), float(outside)
        if len(plan.order) > 1:
            rounds = 2 * rows if own.diamond else counts[0] + counts[1] - 1
            return counts[0] * counts[1] / rounds, float(rounds)
        return 1.0, 0.0


def _trips(loops: Sequence[Level], at: int, plan: BandPlan) -> int:
    """How often one loop of a structure advances each time that it is entered."""
    extent = plan.nest.extents[loops[at].loop]
    reach = min((o.step for o in loops[:at] if o.loop == loops[at].loop), default=extent)
    return max(1, -(-min(reach, extent) // loops[at].step))


def _bare(model: Untiled) -> BandPlan | None:
    if model.nest is None:
        return None
    return BandPlan(nest=model.nest, edges=(None,) * model.nest.depth, order=())


def _stretched(edges: tuple[int, ...], count: int) -> tuple[int, ...]:
    return (*edges, *(edges[-1],) * count)[:count]


def choose_tiles(choose: Chooser, band: BandFacts) -> BandOptions:
    """Cache, order, edges and register block of a band, none of which is beyond the limits of the tile search.

    An edge is offered where the tile fits with the least edges of the loops that were not asked for yet.
    """
    number = band.number
    block = choose.block(band)
    if not band.can_be_tiled:
        return BandOptions(register=block)
    levels = band.choices.levels
    level = choose.one_of(f"band {number}, tiles fit L", levels) if len(levels) > 1 else levels[0]
    problem = band.problem(level, band.shape_of(block))
    order = choose.order(f"band {number}, order of tiles", range(band.depth), legal=problem.orders)
    edges = fitting_edges(choose, band, problem, order)
    return BandOptions(sizes=edges, order=order if order != tuple(range(band.depth)) else None,
                       register=block)


def fitting_edges(choose: Chooser, band: BandFacts, problem: TileProblem, order: tuple[int, ...]) -> tuple[int, ...]:
    """One edge per loop so that all limits hold; those of the least tile where even that exceeds one."""
    offered = band.offered(problem, order)
    edges = [min(each) for each in offered]
    allowed = set(band.exceeded(problem, order, tuple(edges)))
    for loop in range(band.depth):
        def too_large(edge: int, loop: int = loop) -> bool:
            return not allowed.issuperset(band.exceeded(problem, order, (*edges[:loop], edge, *edges[loop + 1:])))

        growing = sorted(offered[loop])
        fitting = growing[:bisect_left(growing, True, key=too_large)]   # a larger edge exceeds no fewer limits
        edges[loop] = choose.one_of(f"band {band.number}, loop {loop}, edge", tuple(
            e for e in offered[loop] if e in fitting))
    return tuple(edges)


def recipe_seconds(bands: tuple[BandFacts, ...], recipe: Recipe, *, whole: float | None) -> float | None:
    """What the projected model says of a recipe.

    Parameters
    ----------
    whole : seconds of the schedule with the model's tiles, by a prediction of the finished tree; the bands scale it.
    """
    seconds, usual = 0.0, 0.0
    for band in bands:
        if band.choices.holds_loops:
            continue
        own, plain = band.seconds_of(recipe.bands.get(band.number)), band.usual_seconds
        if own is None or plain is None:
            return whole
        seconds += own
        usual += plain
    if whole is None or not usual:
        return seconds or None
    return whole * seconds / usual


def is_over_time(band: BandFacts) -> bool:
    """Whether the tiles of a band are skewed."""
    return is_skewed(band.choices.nest)


def is_innermost(band: BandFacts, chosen: BandOptions, loop: int) -> bool:
    """Whether a loop runs inside all others of a band without tiles: threads would meet there too often to be let."""
    plan = band.choices.plan
    tiled = chosen.sizes not in (None, "auto", "off") or (
        chosen.sizes != "off" and isinstance(plan, BandPlan) and any(edge is not None for edge in plan.edges))
    return not tiled and not band.choices.holds_loops and loop == band.depth - 1 > 0


def has_threads(band: BandFacts) -> bool:
    """Whether several threads of the machine may share the iterations of a band."""
    return band.choices.threads and band.target.cores > 1


def least_seconds(scop: Scop, plan: BandPlan, target: Target) -> float:
    """Arithmetic at the peak of one core's pipes; data that the caches do not hold from call to call come, too."""
    needed = sum(needed_operations(scop, name) for name in plan.nest.deepest)
    plan = replace(plan, nest=replace(plan.nest, operations=needed))
    last = target.caches[-1]
    ideal = replace(target, costs=replace(target.costs, vector_slowdown=1.0))
    if lower_bound(plan.nest, last.size_bytes).compulsory_bytes <= last.size_bytes:
        ideal = replace(ideal, bandwidth_bytes_per_second={**target.bandwidth_bytes_per_second, 0: inf})
    return SpeedOfLight(target=ideal).seconds(plan)
