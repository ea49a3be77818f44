"""`tile`: from a legal schedule to tiles, wavefronts, parallel and vector loops.

The tree passes through: loops that wait beside those of the iteration before (`retiming`), what shall become of each
band (`plan`), the new order of loops (here), marks for threads and lanes (`marking`), and copies of operands
(`copies`).  Every question about dependences is asked exactly at the place where it matters (`position`), and the whole
result passes the exact checks again before it leaves: of the order, and of every loop that is marked parallel or simd.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import field, replace
from functools import partial
from itertools import chain

import islpy as isl

from polysched.dependence.legality import check_legal
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
    Leaf,
    LoopTree,
    Mark,
    Node,
    Sequence,
    from_isl,
    to_isl,
    walk,
)
from polysched.scheduling.tree.promises import check_promises
from polysched.scop.body import Assign
from polysched.scop.budget import ANY_NUMBER, in_words, with_budget
from polysched.scop.scop import Scop
from polysched.tiling.footprints.cost import order_cost
from polysched.tiling.footprints.nest import assumed_parameters
from polysched.tiling.limits import LIMITS
from polysched.tiling.options import BandOptions, TilingOptions, in_order
from polysched.tiling.outcome import what_was_done, with_choices
from polysched.tiling.planning.asked import as_asked
from polysched.tiling.planning.band_plan import BandPlan, TileLevel
from polysched.tiling.planning.by_hand import idle_choices, refuse_unused, surplus_sizes, unused_choices
from polysched.tiling.planning.plan import plan_bands
from polysched.tiling.rewriting.copies import with_copies
from polysched.tiling.rewriting.joined_nests import join_neighbours
from polysched.tiling.rewriting.marking import mark_loops
from polysched.tiling.rewriting.register_tiles import register_nest
from polysched.tiling.rewriting.retiming import retime
from polysched.tiling.rewriting.shared_strips import Strips, share_strips
from polysched.tiling.shapes.diamond import diamond_faces
from polysched.tiling.shapes.split_tiles import MOST_PIECES, in_pieces, one_at_a_time, split
from polysched.tiling.shapes.wavefront import expose_parallelism, rows_at_one_time, skew
from polysched.tiling.tiled_schedule import OneAtATime, TiledSchedule
from polysched.tiling.tree.distribute import distribute
from polysched.tiling.tree.loops import Loop, block_of, enter, has_loops, loops_below, nest
from polysched.tiling.tree.position import Position, branch, is_independent, is_legal, meets_in_pivot, top

_LOG = logging.getLogger(__name__)

NO_PIECES = ("tiles were not split: that takes two threads, and dependences that reach no further aside than steps of "
             "time allow; a space of known size has to be several times as wide as what a row of tiles moves on by, "
             f"and one whose size is a parameter is cut for up to {MOST_PIECES} threads")

NO_DIAMONDS = ("tiles are no diamonds: that takes threads, tiles of several steps, and a band over time whose "
               "dependences let a row of tiles start at once; --concurrent-start 1 looks for such a schedule")

WITHOUT_TILES = "the loops were left without tiles"

PIECES_TOOK_LONG = "tiles were not split: that took more than {:g} s of tiling"

THREAD_STRIP = LIMITS.thread_strip

TILING_SECONDS = LIMITS.tiling_seconds


def tile(schedule: Schedule, options: TilingOptions | None = None, *, alone: bool = True) -> TiledSchedule:
    """Tile the permutable bands of a schedule and mark its loops.

    Several degrees of parallelism that take longer than `TILING_SECONDS` to prove are given up one by one, then split
    tiles for wavefronts, then the tiles, and at last all marks; `TiledSchedule.fallbacks` says so.

    Rewrite:  [i, j, k]  ->  [i//Ti, j//Tj, k//Tk, i, k, j]      (the unit-stride loop innermost)

    Unless even the marks were given up, every loop is a one-member band below a `LoopMark` afterwards.  Loops that
    already stood below such a mark keep their place and their marks.

    Parameters
    ----------
    alone : the schedule is that of a whole program, so that a choice by hand that none of its bands can use is
        refused; else `TiledSchedule.unused` has it, for `by_hand.refuse_unused` to judge all regions by.

    Raises
    ------
    UsageError : a choice by hand contradicts another one, or no band can use it.
    IllegalScheduleError : the given schedule breaks a dependence, or a loop that it marks parallel or simd carries one.

    Source: U. Bondhugula, A. Hartono, J. Ramanujam, P. Sadayappan, "A Practical Automatic Polyhedral
    Parallelizer and Locality Optimizer", PLDI 2008, sections 3 and 5.
    """
    tiled = _with_fallbacks(*as_asked(schedule, options or TilingOptions()))
    if alone:
        refuse_unused([tiled.unused])
    return tiled


def _with_fallbacks(schedule: Schedule, options: TilingOptions) -> TiledSchedule:
    """As `tile`, without judging what is not used."""
    fallbacks = [f"{name}: no register block, as its body has no vector code" for name in sorted(options.unblocked)]
    retimed = with_budget(ANY_NUMBER, partial(retime, schedule, options.target.ports), seconds=TILING_SECONDS)
    if retimed is None:
        fallbacks.append("no statement is shifted against the others of its loop: whether that helps took more than "
                         f"{TILING_SECONDS:g} s")
    schedule = retimed or schedule
    planned: set[int] = set()
    for degrees in range(options.parallel_degrees, 0, -1):
        found = with_budget(ANY_NUMBER, partial(_tiled, schedule, replace(options, parallel_degrees=degrees), planned),
                            seconds=TILING_SECONDS)
        if found is not None:
            unsplit = tuple(_unsplit(found, options))
            for why in unsplit:
                _LOG.warning("function %s: %s", schedule.scop.name, why)
            return replace(found, fallbacks=(*fallbacks, *unsplit, *found.fallbacks))
        fallbacks.append(f"{degrees} parallel loops per nest took more than {TILING_SECONDS:g} s of tiling")
    if planned:   # two trees more, and questions about all pieces and gaps
        found = with_budget(ANY_NUMBER, partial(_tiled, schedule, replace(
            options, parallel_degrees=1).without_split_tiles()), seconds=TILING_SECONDS)
        if found is not None:
            fallbacks[-1] = PIECES_TOOK_LONG.format(TILING_SECONDS)
            return replace(found, fallbacks=(*fallbacks, *found.fallbacks))
    untiled = with_budget(ANY_NUMBER, partial(_tiled, schedule, replace(
        options, parallel_degrees=1, sizes="off", outer_sizes=(), order=(), point_order=(), outer_orders=(),
        register=False, bands=_threads_of(options.bands))), seconds=TILING_SECONDS)
    if untiled is not None:   # a choice that it cannot use, the tiles may have used
        return replace(untiled, unused=(), fallbacks=(*fallbacks, WITHOUT_TILES, *untiled.fallbacks))
    _check(schedule, schedule.tree)
    fallbacks.append(f"loops without tiles took more than {TILING_SECONDS:g} s to judge: they run as scheduled, on one "
                     "thread unless the schedule says otherwise")
    return TiledSchedule(schedule=schedule, tree=schedule.tree, options=options, fallbacks=tuple(fallbacks))


def _unsplit(found: TiledSchedule, options: TilingOptions) -> Iterator[str]:
    """What was asked for split tiles and has none: all bands together, and each that was named."""
    named = [number for number, own in options.bands.items() if own.split is True]
    return _refused(NO_PIECES, bool(options.split), named, {band.band for band in found.bands if band.pieces})


def _no_diamonds(place: _Place, options: TilingOptions) -> Iterator[str]:
    """What was asked for diamonds and has none: all bands together, and each that was named."""
    named = [number for number, own in options.bands.items() if own.diamond]
    return _refused(NO_DIAMONDS, bool(options.diamond), named, place.diamonds)


def _refused(why: str, everywhere: bool, named: Iterable[int], made: Set[int]) -> Iterator[str]:
    """Once, where all bands were asked for a form and none got it; else for each that was named and did not.

    Parameters
    ----------
    made : the bands that got it.
    """
    if everywhere and not made:
        yield why
    else:
        yield from (f"band {number}: {why}" for number in named if number not in made)


def _threads_of(bands: Mapping[int, BandOptions]) -> dict[int, BandOptions]:
    """What single bands decide about threads, which holds without tiles, too."""
    return {number: BandOptions(parallel=own.parallel, parallel_loop=own.parallel_loop)
            for number, own in bands.items()}


def _check(schedule: Schedule, tree: isl.Schedule) -> None:
    """Refuse a tree that breaks a dependence, or marks a loop as parallel or simd that carries one."""
    check_legal(schedule.dependences, tree, what="tiled schedule")
    check_promises(schedule.dependences, tree, what="tiled schedule",
                   hint="unless the schedule was given so, this is a fault of polysched: please report it")


def _for_elements(options: TilingOptions, scop: Scop) -> TilingOptions:
    """The options for programs all of whose statements compute with complex numbers: no vectors have their products.

    Sums keep their loops: one that stays in registers beats any tile (on a Sapphire Rapids, gcc 12 -O3 -march=native
    calls a function for each product that it stores).
    """
    if not all(any(scop.array(a.array).dtype.is_complex for a in s.accesses) for s in scop.statements):
        return options
    sums = any(isinstance(item, Assign) and item.op is not None for s in scop.statements for item in s.body)
    return replace(options, simd=False, sizes="off" if sums and options.sizes == "auto" else options.sizes)


def _tiled(schedule: Schedule, options: TilingOptions, planned: set[int] | None = None) -> TiledSchedule:
    """As `tile`, within one budget; `planned` takes the bands that get split tiles, as soon as that is known."""
    options = _for_elements(options, schedule.scop)
    tree = from_isl(schedule.tree)
    numbers = {id(band): number for number, band in enumerate(n for n in walk(tree.root) if isinstance(n, Band))}
    decided, misfits = plan_bands(schedule.dependences, tree, numbers, options)
    plans = {number: plan for number, plan in decided.items() if isinstance(plan, BandPlan)}
    _note_pieces(plans, planned)
    start = top(schedule.dependences, tree.domain)
    place = _Place(scop=schedule.scop, given=options, options=options, numbers=numbers, plans=plans)
    root = mark_loops(start, _rewrite(tree.root, start, place), options, schedule.scop)
    packed = with_budget(COPY_OPERATIONS, partial(with_copies, root, tree.domain, schedule.scop, options))
    root = packed or root
    tiled = to_isl(LoopTree(domain=tree.domain, root=root))
    _check(schedule, tiled)
    bands = what_was_done(root, numbers, decided)
    pieces = {band.band: band.plan.pieces for band in bands
              if band.pieces and band.plan and band.plan.pieces and band.plan.pieces.known_width is None}
    choices = with_choices(tree.root, numbers, decided, bands, misfits)
    result = TiledSchedule(schedule=schedule, tree=tiled, bands=bands, options=options,
                           unused=unused_choices(choices, options),
                           fallbacks=(*surplus_sizes(choices, options), *idle_choices(decided, options),
                                      *_no_diamonds(place, options),
                                      *(() if packed else (NO_COPIES,))))
    return result if not pieces else replace(
        result,
        tree=to_isl(LoopTree(domain=tree.domain, root=in_pieces(root, pieces))), one_at_a_time=OneAtATime(
            tree=to_isl(one_at_a_time(LoopTree(domain=tree.domain, root=root), pieces)), pieces=pieces))


def _note_pieces(plans: Mapping[int, BandPlan], planned: set[int] | None) -> None:
    """Add the bands that get split tiles, for who wants to know."""
    if planned is not None:
        planned.update(number for number, plan in plans.items() if plan.pieces is not None)


COPY_OPERATIONS = LIMITS.copy_operations

NO_COPIES = f"operands are not copied: finding the places for it took more than {in_words(COPY_OPERATIONS)}"


MOST_ORDERS = LIMITS.most_orders


@dataclass(kw_only=True)
class _Effort:
    """How many orders have been tried: every loop multiplies them for all loops inside."""

    orders: int = 0

    @property
    def is_spent(self) -> bool:
        return self.orders >= MOST_ORDERS


@dataclass(frozen=True, kw_only=True)
class _Place:
    """What the rewriting of a subtree knows about its surroundings.

    Parameters
    ----------
    numbers, plans : pre-order number by identity of a band, and what becomes of it by number.
    given, options : how to tile, and what of it holds for the band that is rewritten.
    parallel : a loop outside already runs on threads, or none may.
    sunk : loops from outside that go around each leaf.
    points_given : the order of this band's point loops was given.
    effort : shared by the whole tree; when it is spent, loops keep their order.
    diamonds : the bands that got diamonds, of the whole tree.
    """

    scop: Scop
    given: TilingOptions
    options: TilingOptions
    numbers: dict[int, int]
    plans: dict[int, BandPlan]
    parallel: bool = False
    sunk: tuple[Loop, ...] = ()
    points_given: bool = False
    effort: _Effort = field(default_factory=_Effort)
    diamonds: set[int] = field(default_factory=set)

    @property
    def strips(self) -> Strips:
        """What sharing strips among neighbours asks for."""
        given = self.given
        return Strips(scop=self.scop, target=given.target, numbers=self.numbers,
                      apart=frozenset((*self.plans, *given.bands)), may_run_on_threads=given.may_run_on_threads,
                      parameters=assumed_parameters(self.scop, given.parameters),
                      registers=given.register is True and given.simd and given.target.vector_bits > 0)


def _rewrite(node: Node, position: Position, place: _Place) -> Node:
    match node:
        case Leaf():
            return nest(place.sunk, node)
        case Filter():
            return replace(node, child=_rewrite(node.child, branch(position, node.keep), place))
        case Sequence():
            if place.given.parallel and place.given.sizes == "auto" and not place.parallel and not place.sunk:
                node = share_strips(node, position, place.strips)
            tiled = replace(node, branches=tuple(
                (keep, _rewrite(child, branch(position, keep), place)) for keep, child in node.branches))
            return tiled if place.sunk else _joined(node, tiled, position, place)
        case Mark():
            return replace(node, child=_rewrite(node.child, position, place))
        case Band():
            if node.mark is not None:
                loop = Loop(function=node.members[0], mark=node.mark)
                place = replace(place, parallel=place.parallel or node.mark.parallel)
                return replace(node, child=_rewrite(node.child, enter(position, (loop,)), place))
            return _rewrite_band(node, position, place)


def _joined(given: Sequence, tiled: Sequence, position: Position, place: _Place) -> Node:
    """A sequence with start values and last steps of tiled sums in their tile loops."""
    bare = replace(place, plans={}, parallel=True)
    return join_neighbours(given, tiled, position, place.scop,
                           lambda band: place.plans.get(place.numbers[id(band)]),
                           lambda band, below: _rewrite_band(band, below, bare))


def _rewrite_band(band: Band, position: Position, place: _Place) -> Node:
    number = place.numbers[id(band)]
    place = replace(place, options=place.given.for_band(number))
    plan = place.plans.get(number)
    role = Role.POINT if plan is not None else Role.LOOP
    loops = tuple(Loop(function=member, mark=LoopMark(role=role, band=number, member=i))
                  for i, member in enumerate(band.members))
    if plan is None:
        return _order(loops, band, position, place)
    tiles, *inner = [tuple(block_of(loops[k], edge, Role.TILE) for k in level.order
                           if (edge := level.edges[k]) is not None)
                     for level in (*plan.outer, TileLevel(plan.edges, plan.order))]
    steps: tuple[Loop, ...] = ()
    if plan.in_steps:
        steps, tiles, *inner = tiles, *inner
    if place.options.parallel and not place.parallel:
        in_pieces = _in_pieces(band, position, place, plan, loops, tiles)
        if in_pieces is not None:
            return in_pieces
        if tiles:
            tiles = _diamonds(position, loops, plan, place) or expose_parallelism(
                enter(position, steps), tiles, degrees=place.options.parallel_degrees,
                member=place.options.parallel_loop)
            place = replace(place, parallel=True)
    tiles = tuple(chain(steps, tiles, *inner))
    below = enter(position, tiles)
    if plan.shape is not None and not place.sunk:
        block = register_nest((*loops, *_loops_below(band, place)), plan, below, band.child)
        if block is not None:
            return nest(tiles, block)
    return nest(tiles, _points(band, below, place, plan, loops, tiled=bool(tiles)))


def _in_pieces(band: Band, position: Position, place: _Place, plan: BandPlan, loops: tuple[Loop, ...],
               tiles: tuple[Loop, ...]) -> Node | None:
    """The band in pieces of space that start together; None where the plan has none, or they cannot be made."""
    if plan.pieces is None or place.sunk:
        return None
    time_first = tuple(sorted(tiles, key=lambda tile: tile.mark.member != 0))
    return split(position, loops, time_first, plan.pieces, plan.edges,
                 lambda below: _order(loops, band, below, replace(place, parallel=True)),
                 partial(order_cost, place.scop, target=place.options.target))


def _points(band: Band, below: Position, place: _Place, plan: BandPlan, loops: tuple[Loop, ...], *,
            tiled: bool) -> Node:
    """The loops inside tiles, in the order that the user gives or that suits them."""
    points = tuple(loop for loop, edge in zip(loops, plan.edges, strict=False) if edge != 1)
    if place.options.point_order and band.permutable and not has_loops(band.child):
        members = in_order(place.options.point_order, len(loops))
        points = tuple(sorted(points, key=lambda loop: members.index(loop.mark.member)))
        place = replace(place, points_given=True)
    elif tiled and place.options.simd:
        points = rows_at_one_time(below, points)
    if not tiled:
        points = tuple(replace(loop, mark=replace(loop.mark, role=Role.LOOP)) for loop in points)
    return _order(points, band, below, place)


def _loops_below(band: Band, place: _Place) -> tuple[Loop, ...]:
    """The loops of the bands below, which a register block has inside."""
    loops: list[Loop] = []
    node = band.child
    while isinstance(node, Band):
        number = place.numbers[id(node)]
        loops += [Loop(function=member, mark=LoopMark(role=Role.POINT, band=number, member=i))
                  for i, member in enumerate(node.members)]
        node = node.child
    return tuple(loops)


def _diamonds(position: Position, loops: tuple[Loop, ...], plan: BandPlan,
              place: _Place) -> tuple[Loop, ...] | None:
    """Tile loops between the faces of diamonds, as wavefronts, which is noted; None where they do not apply.

    Rewrite:  [t, s t + i, s t + j]  ->  [a + b, b, (s t + j)//Tj]  with a = (s t + i)//T and b = (s t - i)//T
    """
    edges, options = plan.edges, place.options
    in_time = edges[0] != 1   # else no loop over time is inside the tiles (`_points`), and diamonds hold several steps
    if not options.diamond or plan.outer or len(loops) < 2 or None in edges or not in_time or any(
            is_independent(position, loop.function) for loop in loops):
        return None
    faces = diamond_faces(position, loops)
    if faces is None:
        return None
    place.diamonds.add(loops[0].mark.band)
    space = faces[0].mark.member
    edge = edges[space] or 1
    others = (block_of(loop, size, Role.TILE) for loop, size in zip(loops, edges, strict=True)
              if loop.mark.member not in (0, space) and size is not None)
    tiles = (*(block_of(face, edge, Role.TILE) for face in faces), *others)
    return skew(tiles, degrees=min(options.parallel_degrees, len(tiles) - 1))


def _order(loops: tuple[Loop, ...], band: Band, position: Position, place: _Place) -> Node:
    """The loops of one band in the cheapest order, above the rewritten subtree of the band.

    Tried are each loop of a permutable band as the innermost one of its band, and each sunk below
    everything that follows (which distributes it over a sequence).  The order as given comes first, so it
    wins a tie, and stays when the effort is spent.  Nothing sinks below a loop that was made parallel or simd by
    hand: it may be so only inside of what is around it.
    """
    if not loops:
        return _rewrite(band.child, position, place)
    choices = list(range(len(loops)))[::-1] if band.permutable and not place.points_given else [len(loops) - 1]
    may_sink = (False,) if place.points_given or _has_given_marks(band.child) else (False, True)
    candidates: list[tuple[float, Node]] = []
    for choice in choices:
        for sunk in may_sink:
            if choice != choices[0] and not sunk and has_loops(band.child):
                continue
            if candidates and place.effort.is_spent:
                continue
            place.effort.orders += 1
            node = _with_innermost(loops, choice, band, position, place, sunk=sunk)
            if node is None or ((sunk or choice != choices[0]) and not is_legal(position, node)):
                continue
            if not place.options.simd or place.sunk:
                return node
            candidates.append((order_cost(place.scop, position, node, place.options.target), node))
    return min(candidates, key=lambda candidate: candidate[0])[1]


def _has_given_marks(node: Node) -> bool:
    """Whether loops below were made parallel or simd before tiling."""
    return any(isinstance(n, Band) and n.mark is not None and (n.mark.parallel or n.mark.simd) for n in walk(node))


def _with_innermost(loops: tuple[Loop, ...], choice: int, band: Band, position: Position, place: _Place, *,
                    sunk: bool) -> Node | None:
    outer, last = loops[:choice] + loops[choice + 1:], loops[choice]
    if not sunk:
        outer = (*outer, last)
    if band.permutable and place.options.parallel and not place.parallel:
        outer = _parallel_first(position, outer, place.options, keep_last=not sunk)
        if sunk:   # around a pivot, iterations run on threads as they are
            inside = (*(loop.function for loop in outer), *loops_below(band))
            if not any(meets_in_pivot(position, inside[:count]) for count in range(2, len(inside) + 1)):
                in_strips = _strips_for_threads(position, (*outer, last), place.options)
                outer, last = in_strips[:-1], in_strips[-1]
        else:
            outer = _strips_for_threads(position, outer, place.options)
    below = enter(position, outer)
    place = replace(place, parallel=place.parallel or _leaves_none_to_threads(outer, position, place.options))
    if not sunk:
        return nest(outer, _rewrite(band.child, below, place))
    if has_loops(band.child):
        return nest(outer, _rewrite(band.child, below, replace(place, sunk=(*place.sunk, last))))
    rows = [] if place.sunk else [nest(outer, row) for row in distribute(below, last)]
    return rows[0] if len(rows) == 1 else min(
        rows, default=None, key=lambda node: order_cost(place.scop, position, node, place.options.target))


def _leaves_none_to_threads(loops: tuple[Loop, ...], position: Position, options: TilingOptions) -> bool:
    """Whether no loop inside of these may run on threads: one of these does, or is over the points of a tile."""
    return any(loop.mark.role is Role.POINT or (options.may_run_on_threads(loop.mark.member)
                                                and is_independent(enter(position, loops[:i]), loop.function))
               for i, loop in enumerate(loops))


def _strips_for_threads(position: Position, loops: tuple[Loop, ...], options: TilingOptions) -> tuple[Loop, ...]:
    """The innermost loop in strips, one strip per thread at a time, where it alone can run on threads, and may.

    Rewrite:  for i: for j (independent)  ->  for j // 256: for i: for j in the strip

    So the sums over i of a column each need no other thread, and rows are still walked by their elements.  The same
    where j goes below further loops and statements: right-hand sides beside each other, of one system of equations.
    """
    *outer, last = loops
    if position.path or not outer or not options.may_run_on_threads(last.mark.member) or any(
            options.may_run_on_threads(loop.mark.member) and is_independent(position, loop.function)
            for loop in outer) or not is_independent(position, last.function):
        return loops
    return (block_of(last, THREAD_STRIP, Role.TILE), *outer, replace(last, mark=replace(last.mark, role=Role.POINT)))


def _parallel_first(position: Position, loops: tuple[Loop, ...], options: TilingOptions, *,
                    keep_last: bool) -> tuple[Loop, ...]:
    movable = loops[:-1] if keep_last else loops
    for i, loop in enumerate(movable):
        if options.may_run_on_threads(loop.mark.member) and is_independent(position, loop.function):
            return (loop, *loops[:i], *loops[i + 1:])
    return loops
