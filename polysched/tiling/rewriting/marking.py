"""Which loops run on threads and which in vector lanes, decided exactly on the finished tree."""

from __future__ import annotations

import math
from dataclasses import replace

from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import Band, Filter, Leaf, Mark, Node, Sequence, children, walk
from polysched.scop.body import Perform, While
from polysched.scop.scop import Scop
from polysched.tiling.footprints.balance import idle_share
from polysched.tiling.footprints.nest import assumed_parameters
from polysched.tiling.limits import LIMITS
from polysched.tiling.options import TilingOptions
from polysched.tiling.tree.distribute import statement_names
from polysched.tiling.tree.growing_work import grows
from polysched.tiling.tree.light_iterations import team_iterations, times_as_many
from polysched.tiling.tree.loops import has_loops
from polysched.tiling.tree.position import (
    Position,
    branch,
    has_one_value,
    inside,
    is_independent,
    number_of_values,
)


def mark_loops(position: Position, node: Node, options: TilingOptions, scop: Scop) -> Node:
    """Set `parallel`, `simd` and the coincident flag of every marked loop.

    At most `parallel_degrees` loops of a nest are parallel, the outermost ones whose iterations are independent, or
    of a band only its `parallel_loop`.  A point loop never is, nor a loop below one, nor an innermost loop inside a
    sequential one: the threads would meet at a barrier for too little work.  A lone outermost loop, and a loop inside
    a sequential one, is parallel from a number of iterations on, a larger one where they do little
    (`light_iterations`), an outermost nest of loops from as many on in all, an outermost loop over tiles where there
    are two of them.  Around others, a loop of one iteration counts as none, unless it was chosen; tiles below it need
    as many iterations in all as a nest.  Where the iterations of an outermost loop that is not over tiles are no
    equal parts for the cores, the loop directly inside it shares its team.  No loop around those over pieces of
    split tiles is, not even one over a single row of tiles.  An outermost loop knows whether its work grows.  A
    loop is simd when it is innermost, but for loops of one iteration, and carries no dependence.
    """
    threads = any(own.parallel for own in options.each())
    return _mark(position, node, options, scop, depth=0, parallel=options.parallel_degrees if threads else 0)


def _mark(position: Position, node: Node, options: TilingOptions, scop: Scop, *, depth: int, parallel: int) -> Node:
    match node:
        case Leaf():
            return node
        case Filter():
            child = _mark(branch(position, node.keep), node.child, options, scop, depth=depth, parallel=parallel)
            return replace(node, child=child)
        case Sequence():
            return replace(node, branches=tuple(
                (keep, _mark(branch(position, keep), child, options, scop, depth=depth, parallel=parallel))
                for keep, child in node.branches))
        case Mark():
            return replace(node, child=_mark(position, node.child, options, scop, depth=depth, parallel=parallel))
        case Band():
            if node.mark is None:
                raise ValueError("a loop without a mark")
            return _mark_loop(position, node, node.mark, options, scop, depth=depth, parallel=parallel)


def _mark_loop(position: Position, band: Band, mark: LoopMark, options: TilingOptions, scop: Scop, *,
               depth: int, parallel: int) -> Node:
    member = band.members[0]
    independent = is_independent(position, member)
    innermost = not has_loops(band.child)
    parallel = 0 if mark.role is Role.POINT else parallel
    runs_once = depth == 0 and not innermost and _counts_as_none(position, band, mark, options)
    lanes = options.simd and independent and _may_have_lanes(position, band, mark, scop)
    new = replace(mark, growing=False, simd=mark.simd or lanes)
    if parallel > 0 and independent and _may_run_on_threads(band, mark, options) and (
            depth == 0 if innermost else not runs_once):
        new = _on_threads(new, position, band, options, scop, depth=depth)
    left = parallel - new.parallel
    if new.parallel and not left and depth == 0:
        left = int(_is_uneven(position, band, options))
    child = _mark(inside(position, member), band.child, options, scop, depth=depth + (not runs_once),
                  parallel=max(left, 0))
    return replace(band, coincident=(independent,), child=child, mark=new)


def _is_uneven(position: Position, band: Band, options: TilingOptions) -> bool:
    """Whether threads idle for long, since the iterations of a loop around one are no equal parts, by their number.

    Tiles are left alone: between them and the loops inside stands what packs their operands.
    """
    if band.mark is None or band.mark.role is Role.TILE:
        return False
    count = number_of_values(position, band.members[0]) if isinstance(band.child, Band) else None
    return count is not None and count > 0 and idle_share(count, options.target.cores) > LIMITS.most_uneven_parts


def _may_have_lanes(position: Position, band: Band, mark: LoopMark, scop: Scop) -> bool:
    """Whether a loop is innermost but for loops of one iteration, and its statements have no loops of their own."""
    innermost = not has_loops(band.child) or (mark.role is Role.POINT and _runs_once(position, band))
    return innermost and not _repeats(position, scop)


def _repeats(position: Position, scop: Scop) -> bool:
    """Whether a statement has a loop of its own, or a call like one, which no vector has a form for."""
    names = statement_names(position.domain)
    return any(isinstance(item, While | Perform) for s in scop.statements if s.name in names for item in s.body)


def _counts_as_none(position: Position, band: Band, mark: LoopMark, options: TilingOptions) -> bool:
    """Whether a loop around others has one iteration, and nobody chose it for threads."""
    chosen = options.for_band(mark.band).parallel_loop == mark.member
    return not chosen and has_one_value(position, band.members[0])


def _runs_once(position: Position, band: Band) -> bool:
    """Whether every loop below one has a single iteration, since a loop around counts the same."""
    below = [n.members[0] for n in walk(band.child) if isinstance(n, Band)]
    return all(any(member.plain_is_equal(outer.intersect_domain(member.domain())) for outer in position.path)
               for member in below)


def _may_run_on_threads(band: Band, mark: LoopMark, options: TilingOptions) -> bool:
    """Whether the options leave a loop to threads; never around the pieces of split tiles."""
    own = options.for_band(mark.band)
    return own.may_run_on_threads(mark.member) and not any(
        isinstance(n, Band) and n.mark is not None and n.mark.pieces for n in walk(band.child))


def _on_threads(mark: LoopMark, position: Position, band: Band, options: TilingOptions, scop: Scop, *,
                depth: int) -> LoopMark:
    """The mark of a loop that runs on threads, with what it needs for that to pay."""
    outermost, innermost = depth == 0, not has_loops(band.child)
    light = times_as_many(scop, statement_names(position.domain)) if innermost and options.simd else 1
    lone_nest = outermost and not innermost
    many = team_iterations(options.target)
    return replace(
        mark, parallel=True, least_iterations=_least_iterations(band, mark, many, light, depth=depth),
        least_work=many if lone_nest else mark.least_work,
        growing=outermost and not (innermost or mark.pieces) and grows(
            position, band, assumed_parameters(scop, options.parameters)))


def _least_iterations(band: Band, mark: LoopMark, many: int, light: float, *, depth: int) -> int:
    """Iterations from which on a team pays.

    A loop that is entered again and again starts its team each time: then the loops inside are taken to be
    about as long as this one.

    Parameters
    ----------
    many : usual iterations that are worth a team.
    light : how many times as many iterations of a loop in vector lanes take as long as usual ones.
    """
    if mark.role is Role.TILE or (depth == 0 and has_loops(band.child)):
        return 2 if mark.role is Role.TILE else mark.least_iterations   # nobody shares one tile
    return math.ceil(light * math.pow(many, 1 / _levels(band)))


def _levels(node: Node) -> int:
    """How deep loops are nested in a subtree."""
    return isinstance(node, Band) + max((_levels(child) for child in children(node)), default=0)
