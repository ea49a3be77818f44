"""BandPlan: what shall become of each band, decided on the untiled tree before any loop moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.parameter_sizes import largest_parameters
from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import Band, Filter, Leaf, LoopTree, Mark, Node, Sequence
from polysched.scop.scop import Scop
from polysched.target.target import CacheLevel, Target
from polysched.tiling.footprints.balance import first_share
from polysched.tiling.footprints.nest import Nest, assumed_parameters, nest_of
from polysched.tiling.footprints.traffic import traffic_bytes
from polysched.tiling.limits import LIMITS
from polysched.tiling.options import TilingOptions, in_order
from polysched.tiling.planning.band_plan import BandPlan, TileLevel, Untiled, plan_structure
from polysched.tiling.planning.block_orders import around_panels, waiting_seconds, with_blocks, without_tiles
from polysched.tiling.planning.by_hand import misfit, outer_levels, refuse_larger_inside, stretched
from polysched.tiling.planning.read_in_place import (
    edges_within_pages,
    lies_well,
    read_by_few_rows,
    reads_once,
    stays_near,
    waits_for_rows,
)
from polysched.tiling.planning.register_shape import RegisterShape, register_shapes
from polysched.tiling.planning.repacking import packing_bytes
from polysched.tiling.planning.shared_steps import in_steps, lost_by_steps
from polysched.tiling.planning.skewed_tiles import choose_skewed_tile, share_saved
from polysched.tiling.planning.temporary_rows import rows_of_temporaries
from polysched.tiling.planning.tile_problem import (
    TileProblem,
    has_columns,
    innermost_choice,
    is_skewed,
    moves_on,
    tile_problem,
)
from polysched.tiling.planning.tile_search import TileChoice, choose_tile
from polysched.tiling.shapes.diamond import faces_of
from polysched.tiling.shapes.split_tiles import Pieces, pieces_of
from polysched.tiling.tree.distribute import statement_names
from polysched.tiling.tree.loops import has_loops, loops_below
from polysched.tiling.tree.position import Position, branch, inside, is_independent, top

WAVEFRONT_EDGE = LIMITS.wavefront_edge
MOST_UNEVEN = LIMITS.most_uneven_share
LEAST_GAIN = LIMITS.least_gain_share
LARGER = LIMITS.larger_sizes
PAGES = ("pages",)
"""What binds edges with which tiles walk no more rows than there are pages at hand."""


def plan_bands(dependences: Dependences, tree: LoopTree, numbers: Mapping[int, int],
               options: TilingOptions) -> tuple[dict[int, BandPlan | Untiled], Mapping[int, str]]:
    """A plan per band, or why there is none, by the band's number; nothing where nobody asked for tiles.

    Only permutable bands are tiled; a band inside a tiled one only on request; a band of one loop only when the
    edges were given as a tuple.  Beside the plans, in which way the register block by hand exceeds tiles by hand, by
    the number of the band that lost it so.

    Raises
    ------
    UsageError : a tile by hand is larger than the one around it.
    """
    scop = dependences.scop
    planner = Planner(scop, numbers, options, assumed_parameters(scop, options.parameters),
                       frozenset({*largest_parameters(scop), *options.parameters}))
    plans: dict[int, BandPlan | Untiled] = {}
    if any(own.sizes != "off" or own.register for own in options.each()):
        planner.descend(tree.root, top(dependences, tree.domain), plans, tiled=False, threads=True)
    return plans, planner.misfits


@dataclass(frozen=True)
class Planner:
    """Goes down a tree and plans each band."""

    scop: Scop
    numbers: Mapping[int, int]
    options: TilingOptions
    parameters: Mapping[str, int]
    named: frozenset[str]
    misfits: dict[int, str] = field(default_factory=dict)

    def descend(self, node: Node, position: Position, plans: dict[int, BandPlan | Untiled], *, tiled: bool,
                threads: bool) -> None:
        match node:
            case Leaf():
                return
            case Mark():
                self.descend(node.child, position, plans, tiled=tiled, threads=threads)
            case Filter():
                self.descend(node.child, branch(position, node.keep), plans, tiled=tiled, threads=threads)
            case Sequence():
                for keep, child in node.branches:
                    self.descend(child, branch(position, keep), plans, tiled=tiled, threads=threads)
            case Band():
                plan: BandPlan | Untiled = Untiled(reason="it stands inside a tiled band")
                own = replace(self, options=self.options.for_band(self.numbers[id(node)]))
                if node.mark is not None or not node.permutable:
                    plan = Untiled(reason="its loops cannot be interchanged" if node.mark is None else
                                   "its loops were made by hand")
                elif self.options.nested or not tiled:
                    plan = own.plan(node, position, threads=threads and own.options.parallel)
                plans[self.numbers[id(node)]] = plan
                threads = threads and not own.runs_on_threads(node, position)
                for member in node.members:
                    position = inside(position, member)
                self.descend(node.child, position, plans, tiled=tiled or isinstance(plan, BandPlan), threads=threads)

    def runs_on_threads(self, band: Band, position: Position) -> bool:
        """Whether a loop of the band can run on threads as it is, and may."""
        return any(self.options.may_run_on_threads(i) and is_independent(position, member)
                   for i, member in enumerate(band.members))

    def plan(self, band: Band, position: Position, *, threads: bool) -> BandPlan | Untiled:
        options = self.options
        count = len(band.members)
        if count < 2 and not isinstance(options.sizes, tuple):
            return Untiled(reason="one loop alone has nothing to reuse between tiles")
        nest = nest_of(self.scop, position, band.members, self.parameters, self.named)
        refuse_larger_inside(self.numbers[id(band)], nest, options, count)
        shape = None
        if options.register and options.simd and not has_loops(band.child):
            shape = self.shape_or_misfit(band, nest, position)
        elif options.register and options.simd and options.sizes in ("auto", "off") and not options.outer_sizes:
            block = self.block_around(band, position)
            if block is not None:
                return block
        if options.sizes == "auto":
            return self.search(nest, shape, band, position, threads=threads)
        if options.sizes == "off":
            return without_tiles(nest, shape, options.target) or Untiled(
                reason="tiles were not asked for, and no register block pays", nest=nest)
        return self.by_hand(options.sizes, nest, shape, band, position, threads=threads)

    def by_hand(self, sizes: int | tuple[int, ...], nest: Nest, shape: RegisterShape | None, band: Band,
                position: Position, *, threads: bool) -> BandPlan:
        """Tiles of the edges that the user gives."""
        options, count = self.options, len(band.members)
        given, edges = outer_levels(options, count), stretched(sizes, count)
        splits = options.split and not given and shape is None and threads
        return with_blocks(BandPlan(nest=nest, edges=edges, order=in_order(options.order, count), outer=given,
                                     pieces=self.pieces(band, nest, position, edges[0]) if splits else None,
                                     in_steps=threads and _is_in_steps(given, free_members(band, position, options)),
                                     shape=shape), options.target)

    def shape_or_misfit(self, band: Band, nest: Nest, position: Position) -> RegisterShape | None:
        """The register block of a band; noted where the user asks for one and the band has none."""
        shape = self.shape(nest, band.members, position)
        if shape is None and isinstance(self.options.register, tuple):
            self.note_misfit(band, nest, position)
        return shape

    def block_around(self, band: Band, position: Position) -> BandPlan | None:
        """A register block of a band's loops around all loops of the bands below it, which keep their order.

        So sums over several loops that no one band can hold, as over the channels and the window of a convolution, stay
        in registers from their first to their last addend.
        """
        below = loops_below(band)
        if not below or len(statement_names(position.domain)) > 1:
            return None
        members = (*band.members, *below)
        nest = nest_of(self.scop, position, members, self.parameters, self.named)
        shape = self.shape(nest, members, position, frozenset(range(len(band.members), len(members))))
        plan = without_tiles(nest, shape, self.options.target)
        if plan is not None and shape is not None and shape.transposed:
            plan = min(around_panels(plan, self.options), key=lambda p: waiting_seconds(p, self.options))
        return None if plan is None else replace(plan, below=len(below))

    def note_misfit(self, band: Band, nest: Nest, position: Position) -> None:
        """Keep in which way the register block by hand is too large for tiles by hand, if that is why there is none."""
        shape = self.shape(nest, band.members, position, whatever_the_tiles=True)
        why = misfit(shape, nest, self.options, len(band.members)) if shape is not None else None
        if why is not None:
            self.misfits[self.numbers[id(band)]] = why

    def shape(self, nest: Nest, members: tuple[isl.UnionPwAff, ...], position: Position,
              inside_block: frozenset[int] = frozenset(), *, whatever_the_tiles: bool = False) -> RegisterShape | None:
        """The best register block of the deepest statements whose columns are independent.

        Parameters
        ----------
        inside_block : loops that must run inside the block, and without moving it.
        whatever_the_tiles : also one that is larger than tiles by hand.
        """
        legal = self.shapes_in_order(nest, members, position, inside_block, whatever_the_tiles=whatever_the_tiles)
        shape = next(legal, None)
        return shape if shape is None or self.options.packed is None else replace(
            shape, packed=frozenset(self.options.packed))

    def legal_shapes(self, nest: Nest, members: tuple[isl.UnionPwAff, ...],
                     position: Position) -> tuple[RegisterShape, ...]:
        """All register blocks of the deepest statements whose columns are independent, the model's choice first."""
        return tuple(self.shapes_in_order(nest, members, position, frozenset(), whatever_the_tiles=True))

    def shapes_in_order(self, nest: Nest, members: tuple[isl.UnionPwAff, ...], position: Position,
                        inside_block: frozenset[int], *, whatever_the_tiles: bool) -> Iterator[RegisterShape]:
        """The legal register blocks one by one; parameters as for `shape`."""
        shapes = self.shapes_of_deepest(nest, position)
        allowed = [(shape, name) for shape, name in shapes if inside_block <= set(shape.inner) and (
            whatever_the_tiles or misfit(shape, nest, self.options, len(members) - len(inside_block)) is None)]
        independent: dict[tuple[str, tuple[int, ...], int], bool] = {}
        for shape, name in sorted(allowed, key=lambda pair: (not pair[0].transposed, pair[0].cycles)):
            if shape.transposed and not (inside_block and around_panels(BandPlan(
                    nest=nest, edges=(None,) * nest.depth, order=(), shape=shape), self.options)):
                continue
            key = (name, (*shape.outer, *shape.inner, shape.rows), shape.columns)
            if key not in independent:
                independent[key] = self.are_columns_independent(name, shape, members, position)
            if independent[key]:
                yield shape

    def shapes_of_deepest(self, nest: Nest, position: Position) -> list[tuple[RegisterShape, str]]:
        """The register blocks of the deepest statements that may have one, and of which statement each is."""
        names = statement_names(position.domain)
        deepest = max(self.scop.statement(name).depth for name in names)
        return [(shape, name) for name in names
                if self.scop.statement(name).depth == deepest and name not in self.options.unblocked
                for shape in register_shapes(nest, name, self.options.target)
                if self.options.register in (True, (shape.row_count, shape.column_count))]

    def are_columns_independent(self, name: str, shape: RegisterShape, members: tuple[isl.UnionPwAff, ...],
                                position: Position) -> bool:
        """Whether the columns of a block of one statement may be lanes."""
        space = self.scop.statement(name).domain.get_space()
        below = branch(position, isl.UnionSet.from_set(isl.Set.universe(space)))
        for loop in (*shape.outer, *shape.inner, shape.rows):
            below = inside(below, members[loop])
        return is_independent(below, members[shape.columns])

    def search(self, nest: Nest, shape: RegisterShape | None, band: Band, position: Position, *,
               threads: bool) -> BandPlan | Untiled:
        """Edges by the model; none when they would save next to nothing.

        The model sees the loops of the band alone.  A band with further loops inside is tiled where only
        wavefronts of its tiles can run on threads; not inside a sequential loop, which would start them anew
        in each iteration.
        """
        free = free_members(band, position, self.options) if threads else ()
        whole = BandPlan(nest=nest, edges=(None,) * nest.depth, order=())
        if has_loops(band.child):
            if threads and not free and not position.path:
                return self.with_given_levels(replace(whole, edges=(WAVEFRONT_EDGE,) * nest.depth,
                                                      order=in_order(self.options.order, nest.depth)), free)
            if self.options.outer_sizes:
                return self.with_given_levels(whole, free)
            return Untiled(reason="further loops run inside it, and its own run on threads as they are" if free else
                           "further loops run inside it, and nothing of it runs on threads", nest=nest)
        rows = rows_of_temporaries(self.scop, position, band.members) if shape is None else frozenset()
        levels = self.options.target.private_levels
        found: BandPlan | Untiled = self.search_level(nest, shape, levels[0], free, band, position, rows,
                                                      threads=threads)
        if isinstance(found, Untiled) and has_columns(nest):
            # Lines of which a row of iterations takes one element are there for the next rows only in a nearer cache.
            nearer = (self.search_level(nest, shape, level, free, band, position, rows, threads=threads)
                      for level in levels[1:])
            found = next((plan for plan in nearer if isinstance(plan, BandPlan)), found)
        return found

    def search_level(self, nest: Nest, shape: RegisterShape | None, level: int, free: tuple[int, ...], band: Band,
                     position: Position, whole: frozenset[int], *, threads: bool) -> BandPlan | Untiled:
        """Edges for tiles that fit one cache.

        Parameters
        ----------
        free : the loops that can run on threads.
        whole : loops that tiles do not cut.
        """
        problem = self.level_problem(nest, shape, level, free, whole, threads=threads)
        skewed = shape is None and self.waits_along_all(problem, band, position, threads=threads)
        pieces = None
        if skewed:
            choice, pieces = self.skewed_tile(problem, band, position)
            whole = frozenset(range(nest.depth))
        else:
            choice, shape = _packed_or_not(problem, self.options.target)
        if choice is None:
            return self.without_choice(nest, shape, level, free)
        plan = with_blocks(_chosen_plan(choice, problem, shape, pieces, whole), self.options.target)
        needed = problem.wavefront and (skewed or (shape is None and not any(nest.row_independent)))
        if (needed and not position.path) or self.options.outer_sizes:
            return self.with_given_levels(plan, free)    # only its wavefronts run on threads
        if skewed:
            return plan if share_saved(plan, self.options.target) > LEAST_GAIN else Untiled(
                reason=f"they would save less than {LEAST_GAIN:.0%} of the projected time", nest=nest,
                candidate=plan, level=level)
        bare = without_tiles(nest, shape, self.options.target)
        if _saves_traffic(plan, bare, problem):
            return self.with_outer_level(plan, problem, free, self.grown(nest, band, position, shares=problem.shares))
        return bare or Untiled(reason=f"they would save less than {LEAST_GAIN:.0%} of the traffic into L{level}",
                               nest=nest, candidate=plan, level=level)

    def waits_along_all(self, problem: TileProblem, band: Band, position: Position, *, threads: bool) -> bool:
        """Whether a nest is skewed and each loop carries a dependence; with threads, each that they may run."""
        if not (is_skewed(problem.nest) or moves_on(problem.nest)):
            return False
        return problem.wavefront if threads else not any(is_independent(position, member) for member in band.members)

    def level_problem(self, nest: Nest, shape: RegisterShape | None, level: int, free: tuple[int, ...],
                      whole: frozenset[int], *, threads: bool) -> TileProblem:
        """What is searched: with the order that the user gives, and the cache whose sets columns would crowd."""
        target = self.options.target
        problem = tile_problem(nest, target, shape=shape, innermost=innermost_choice(nest), level=level,
                               parallel=free, wavefront=threads and not free, threads=target.cores, whole=whole)
        if self.options.order:
            problem = replace(problem, orders=(in_order(self.options.order, nest.depth),))
        if shape is None and has_columns(nest):
            problem = replace(problem, cache=target.cache(level))
        return problem

    def without_choice(self, nest: Nest, shape: RegisterShape | None, level: int,
                       free: tuple[int, ...]) -> BandPlan | Untiled:
        """What there is where no tile fits."""
        if self.options.outer_sizes:
            return self.with_given_levels(BandPlan(nest=nest, edges=(None,) * nest.depth, order=(), shape=shape), free)
        return without_tiles(nest, shape, self.options.target) or Untiled(
            reason=f"no tile fits L{level} with enough tiles for the threads", nest=nest)

    def skewed_tile(self, problem: TileProblem, band: Band,
                    position: Position) -> tuple[TileChoice | None, Pieces | None]:
        """The edges for tiles over time, which are split where that is quicker, and where space can be cut so."""
        target = self.options.target
        options = self.options
        may_split = options.split is not False and not options.outer_sizes and not options.diamond and (
            options.parallel_loop is None)
        faces = faces_of(position, band.members, last=problem.innermost) if may_split and problem.threads > 1 else None
        choice = choose_skewed_tile(problem, target, faces)
        if choice is None or faces is None or not choice.split:
            return choice, None
        pieces = pieces_of(position.domain, band.members[0], faces, steps=choice.edges[0], count=problem.threads)
        return (choose_skewed_tile(problem, target), None) if pieces is None else (choice, pieces)

    def pieces(self, band: Band, nest: Nest, position: Position, steps: int) -> Pieces | None:
        """One piece of space per thread, for tiles by hand; none around further loops."""
        faces = None if has_loops(band.child) else faces_of(position, band.members, last=innermost_choice(nest))
        return None if faces is None else pieces_of(position.domain, band.members[0], faces, steps=steps,
                                                    count=self.options.target.cores)

    def with_given_levels(self, plan: BandPlan, free: tuple[int, ...]) -> BandPlan:
        """The plan inside the levels of tiles that the user wants; its own edges count where they are smaller."""
        count = plan.nest.depth
        if not self.options.outer_sizes:
            return plan
        outer = outer_levels(self.options, count)
        if not outer:
            return plan
        edges = tuple(None if edge is None or (limit is not None and edge >= limit) else edge
                      for edge, limit in zip(plan.edges, outer[-1].edges, strict=True))
        return replace(plan, edges=edges, outer=outer, in_steps=_is_in_steps(outer, free),
                       order=tuple(k for k in plan.order if edges[k] is not None))

    def grown(self, nest: Nest, band: Band, position: Position, *, shares: bool) -> Iterator[Nest]:
        """The nest at larger sizes, where those assumed are guesses and threads share panels.

        Operands of the sizes assumed may fit a cache that those of a program's sizes do not.
        """
        if shares and nest.is_box and not all(nest.expected):
            sizes = {name: value if name in self.named else LARGER * value for name, value in self.parameters.items()}
            yield nest_of(self.scop, position, band.members, sizes, self.named)

    def with_outer_level(self, plan: BandPlan, inner: TileProblem, free: tuple[int, ...],
                         grown: Iterable[Nest]) -> BandPlan:
        """The plan with tiles of tiles for the next cache out, or in steps, where that saves traffic from memory.

        Copies count, too.

        Only for nests that are not skewed, and not around a wavefront: there the tiles of the next level would
        start one after the other.

        Parameters
        ----------
        grown : the nest at larger sizes, for which the plan shall be good as well.
        """
        target, usable = self.options.target, self.options.target.costs.usable_share
        further = [c for c in target.caches if c.size_bytes // c.shared_by * usable > 2 * inner.capacity_bytes]
        if inner.wavefront or is_skewed(plan.nest) or not further:
            return plan
        share = replace(further[0], size_bytes=further[0].size_bytes // further[0].shared_by)
        granules = tuple(extent if edge is None else min(edge, extent)
                         for edge, extent in zip(plan.edges, plan.nest.extents, strict=True))
        problem = replace(inner, capacity_bytes=int(share.size_bytes * usable), granules=granules, shape=None,
                          cache=None, row_lines=lambda edge: 0.0)
        choice = choose_tile(problem)
        if choice is None:
            return plan
        edges = tuple(None if edge >= extent else edge
                      for edge, extent in zip(choice.edges, plan.nest.extents, strict=True))
        level = TileLevel(edges, tuple(loop for loop in choice.order if edges[loop] is not None))
        larger = [replace(plan, outer=(level,))] if level.order else []

        nests = [plan.nest, *grown]

        def moved(p: BandPlan) -> float:
            """Bytes per instance, at all sizes together."""
            return sum((_moved(replace(p, nest=nest), problem, inner, target) / nest.instances for nest in nests), 0.0)

        best = min((plan, *larger, *in_steps(plan, inner, free)), key=moved)
        return best if moved(best) < (1 - LEAST_GAIN) * moved(plan) else plan


def _moved(plan: BandPlan, problem: TileProblem, inner: TileProblem, target: Target) -> int:
    """Bytes moved into a cache, those of copies and of sums in steps included.

    Parameters
    ----------
    problem, inner : of that cache, and of the plan's tiles.
    """
    return _traffic(plan, problem) + lost_by_steps(plan, inner.line_bytes) + packing_bytes(
        plan, shares=inner.shares, line_bytes=inner.line_bytes, transfers=target.costs.packing_transfers)


def _packed_or_not(problem: TileProblem, target: Target) -> tuple[TileChoice | None, RegisterShape | None]:
    """The edges, and the register block with its operands in lanes read where they lie if that serves it as well.

    Tiles that pack nothing go to threads in pieces of as many tiles.  Where those are no equal parts, they pack; and
    where an operand comes from beyond the private caches again and again, which a panel brings in one piece.  An
    operand that few rows read is not packed, but where short steps would wait for it.
    """
    shape = problem.shape
    if shape is None or shape.packed is not None or problem.wavefront:
        return choose_tile(problem), shape
    few = read_by_few_rows(problem.nest, shape, target)
    if few and waits_for_rows(problem.nest, shape, target):
        packed = replace(shape, packs_few=True)
        return choose_tile(replace(problem, shape=packed)), packed
    if not few and not (problem.streams and lies_well(problem.nest, shape, target)):
        return choose_tile(problem), shape
    in_place = replace(shape, in_place=True)
    choice = choose_tile(replace(problem, shape=in_place))
    if few and choice is not None:
        return _within_pages(choice, problem, in_place, target), in_place
    if choice is not None:
        loop = choice.order[0]
        even = first_share(problem.nest.extents[loop], choice.edges[loop], problem.threads) <= MOST_UNEVEN
        if even and stays_near(problem.nest, in_place, choice.edges, choice.order, problem.capacity_bytes,
                               problem.line_bytes):
            return choice, in_place
    return choose_tile(problem), shape


def _within_pages(choice: TileChoice, problem: TileProblem, shape: RegisterShape, target: Target) -> TileChoice:
    """The choice with rows that are read in place walked from end to end, where their pages are many."""
    edges = edges_within_pages(problem.nest, shape, choice.edges, problem.granules, problem.threads, target)
    if edges is None or choice.order[:1] not in ((shape.columns,), ()):
        return choice
    inside = tuple(loop for loop in choice.order if loop not in (shape.columns, shape.inner[-1]))
    return replace(choice, edges=edges, order=(shape.columns, shape.inner[-1], *inside), binding=PAGES)


def free_members(band: Band, position: Position, options: TilingOptions) -> tuple[int, ...]:
    """The members that can run on threads, and may."""
    return tuple(i for i, member in enumerate(band.members)
                 if options.may_run_on_threads(i) and is_independent(position, member))


def _is_in_steps(outer: tuple[TileLevel, ...], free: tuple[int, ...]) -> bool:
    """Whether no loop of the outermost level can run on threads, but loops inside can."""
    return bool(outer and free) and not set(outer[0].order) & set(free)


def _traffic(plan: BandPlan, problem: TileProblem, sets: CacheLevel | None = None) -> int:
    return sum(traffic_bytes(plan.nest, plan_structure(plan), problem.capacity_bytes, problem.line_bytes, sets))


def _chosen_plan(choice: TileChoice, problem: TileProblem, shape: RegisterShape | None, pieces: Pieces | None,
                 whole: frozenset[int]) -> BandPlan:
    """The plan of the edges found; an edge of the whole extent is none, for loops that tiles need not cut.

    whole : these loops, beside those of fixed extents.
    """
    nest = problem.nest
    edges = tuple(None if (nest.fixed[loop] or loop in whole) and edge >= nest.extents[loop] else edge
                  for loop, edge in enumerate(choice.edges))
    return BandPlan(nest=nest, edges=edges, shape=shape, problem=problem, choice=choice, pieces=pieces,
                    order=tuple(loop for loop in choice.order if edges[loop] is not None))


def _saves_traffic(plan: BandPlan, bare: BandPlan | None, problem: TileProblem) -> bool:
    """Whether tiles pay: by the traffic that they save, or as the place of panels.

    Parameters
    ----------
    bare : the plan without tiles, where there is one.
    """
    paged = plan.choice is not None and plan.choice.binding == PAGES
    if plan.shape is not None and plan.nest.is_box and (paged or not reads_once(plan.nest, plan.shape)):
        return True    # panels need a tile around the loop that reads them again
    sets = problem.cache if problem.shape is None else None
    before = _traffic(bare or BandPlan(nest=plan.nest, edges=(None,) * plan.nest.depth, order=()), problem, sets)
    return _traffic(plan, problem, sets) < (1 - LEAST_GAIN) * before
