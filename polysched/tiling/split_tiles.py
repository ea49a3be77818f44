"""Split tiles: every thread keeps its own piece of space over several time steps, then the gaps between are filled.

Rewrite:  [t, s t + i, s t + j]
      ->  [t//T] { piece of i (threads), (s t + i)//Ti, (s t + j)//Tj, t, s t + i, s t + j;     the trapezoids
                   piece of j (threads), gap of i, (s t + j)//Tg, t, s t + i, s t + j;          the gaps
                   gap of i (threads), gap of j, t, s t + i, s t + j }                          where these cross

In a row of tiles over time the pieces shrink from both sides as the dependences reach in, so all of them start
together; the gaps between two pieces grow the other way and wait for both.  Another dimension of space cuts the gaps
in the same way, so that they have tiles over time, too, and what is left are the few points where gaps of both cross.
Where there is none but the rows of the innermost loop, a gap goes step by step, its halves on threads:

                   t { each statement: half of a gap (threads), s t + i, s t + j }

Data stay with the thread whose piece they are from row to row, where wavefronts of tiles hand all of them on.

Source: S. Krishnamoorthy, M. Baskaran, U. Bondhugula, J. Ramanujam, A. Rountev, P. Sadayappan, "Effective Automatic
Parallelization of Stencil Computations", PLDI 2007; T. Grosser, A. Cohen, P. Kelly, J. Ramanujam, P. Sadayappan,
S. Verdoolaege, "Split Tiling for GPUs: Automatic Parallelization Using Trapezoidal Tiles", GPGPU-6, 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import islpy as isl

from polysched.scheduling.loop_tree import Leaf, Node, Sequence
from polysched.scheduling.marks import Gaps, Role
from polysched.tiling.diamond import Faces
from polysched.tiling.distribute import statement_groups
from polysched.tiling.loops import Loop, block_of, enter, nest
from polysched.tiling.position import Position, branch, is_independent


@dataclass(frozen=True, eq=False, kw_only=True)
class Pieces:
    """The pieces of every row of tiles over time.

    Parameters
    ----------
    upper, lower : a place in space, from the first piece's beginning on, as far up and down as dependences can have
        led to it or from it since the row began.
    width : of a piece and a gap together.
    count : how many there are.
    space : the member of the band that they cut.
    gap : so many places are in a gap at most.
    inner : how another member cuts the gaps; None where none does.
    """

    upper: isl.UnionPwAff
    lower: isl.UnionPwAff
    width: int
    count: int
    space: int
    gap: int
    inner: Pieces | None = None

    @property
    def piece(self) -> isl.UnionPwAff:
        """The number of a piece, where an instance is in one."""
        return _divided(self.upper, self.width)

    @property
    def half(self) -> isl.UnionPwAff:
        """The number of the half of a gap, where an instance is in one."""
        return _divided(self.upper.add(self.lower), self.width)

    @property
    def across(self) -> isl.UnionPwAff:
        """Zero for an instance in a piece, one for an instance in the gap in front of it."""
        return self.piece.sub(_divided(self.lower, self.width))


def gap_edge(edges: tuple[int | None, ...], through: int, along: int, gap: int) -> int | None:
    """The edge of tiles in gaps along the member that cuts these: with as many points as other tiles have.

    Parameters
    ----------
    edges : of tiles in pieces.
    through, along : the members that cut space and the gaps.
    gap : the edge of a tile in a gap through it.
    """
    other, own = edges[through], edges[along]
    return own if own is None or other is None else max(1, own * other // max(1, gap))


def pieces_of(domain: isl.UnionSet, time: isl.UnionPwAff, faces: Faces, *, steps: int, count: int) -> Pieces | None:
    """So many pieces; None where the space has no known size, or is too small.

    Parameters
    ----------
    time, steps : the time loop, and its iterations in a row of tiles.
    """
    row = _divided(time, steps).scale_val(_value(steps))
    drift = faces.multiple // 2
    upper = faces.right.sub(row.scale_val(_value(drift)))
    lower = row.scale_val(_value(faces.multiple - drift)).sub(faces.left)
    low, high, grown = _range(domain, lower), _range(domain, upper), _range(domain, upper.sub(lower))
    if count < 2 or low is None or high is None or grown is None:
        return None
    reach = -(-grown[1] // 2)
    width = -(-(high[1] - low[0] + 1) // count)
    if width < 2 * reach + 1:
        return None
    origin = _constant(domain, low[0])
    inner = None if faces.inner is None else pieces_of(domain, time, faces.inner, steps=steps, count=count)
    return Pieces(upper=upper.sub(origin), lower=lower.sub(origin), width=width, count=count, space=faces.space,
                  gap=grown[1] + 1, inner=inner)


def split(position: Position, loops: tuple[Loop, ...], tiles: tuple[Loop, ...], pieces: Pieces,
          edges: tuple[int | None, ...], points: Callable[[Position], Node]) -> Node | None:
    """The nest of a band in split tiles; None where the statements of a time step order each other in a circle.

    Parameters
    ----------
    loops : the band's own, the time loop first.
    tiles : its tile loops, that of the time loop first.
    edges : of a tile, per member.
    points : makes the loops inside of one tile.
    """
    row, *others = tiles
    below = enter(position, (row,))
    own, gaps = _cut(below, pieces)
    inside = (_over_pieces(loops, pieces, pieces.piece), *others)
    filled = _gap_tiles(gaps, loops, others, pieces, edges, points) or _gaps(gaps, loops, pieces)
    if filled is None or not is_independent(own, pieces.piece):
        return None
    return nest((row,), Sequence(branches=((own.domain, nest(inside, points(enter(own, inside)))), *filled)))


_Branches = tuple[tuple[isl.UnionSet, Node], ...]


def _cut(position: Position, pieces: Pieces) -> tuple[Position, Position]:
    """What is in pieces, and what is in gaps."""
    own, gaps = (branch(position, position.domain.intersect(
        pieces.across.sub(_constant(position.domain, across)).zero_union_set())) for across in (0, 1))
    return own, gaps


def _over_pieces(loops: tuple[Loop, ...], pieces: Pieces, number: isl.UnionPwAff, *, gaps: Gaps = Gaps.NONE) -> Loop:
    """The loop that gives every piece, every gap, or every half of one to a thread."""
    mark = replace(loops[pieces.space].mark, role=Role.TILE, pieces=pieces.count, gaps=gaps)
    return Loop(function=number, mark=mark)


def _gap_tiles(position: Position, loops: tuple[Loop, ...], tiles: list[Loop], pieces: Pieces,
               edges: tuple[int | None, ...], points: Callable[[Position], Node]) -> _Branches | None:
    """Gaps in pieces along another member, and then where gaps of both cross; None where no other member cuts them.

    A tile has the whole width of a gap.
    """
    inner = pieces.inner
    if inner is None:
        return None
    between, crossing = _cut(position, inner)
    through = Loop(function=pieces.piece, mark=replace(loops[pieces.space].mark, role=Role.TILE))
    along = Loop(function=inner.piece, mark=replace(loops[inner.space].mark, role=Role.TILE))
    edge = gap_edge(edges, pieces.space, inner.space, pieces.gap)
    cut = tuple(block_of(loops[inner.space], edge, Role.TILE) if tile.mark.member == inner.space and edge else tile
                for tile in tiles if tile.mark.member != pieces.space)
    first = (_over_pieces(loops, inner, inner.piece, gaps=Gaps.TILES), through, *cut)
    second = (_over_pieces(loops, pieces, pieces.piece, gaps=Gaps.CROSSINGS), along)
    if not all(is_independent(between, loop.function) for loop in first[:2]) or not all(
            is_independent(crossing, loop.function) for loop in second):
        return None
    return tuple((part.domain, nest(around, points(enter(part, around))))
                 for part, around in ((between, first), (crossing, second)) if not part.domain.is_empty())


def _gaps(position: Position, loops: tuple[Loop, ...], pieces: Pieces) -> _Branches | None:
    """One time step after the other, one statement after the other."""
    time = replace(loops[0], mark=replace(loops[0].mark, role=Role.TILE, gaps=Gaps.STEPS))
    groups = statement_groups(enter(position, (time,)))
    if groups is None:
        return None
    rows = nest((_over_pieces(loops, pieces, pieces.half), *loops[1:]), Leaf())
    whole = Sequence(branches=tuple((keep, rows) for _, keep in groups)) if len(groups) > 1 else rows
    return ((position.domain, nest((time,), whole)),)


def _divided(function: isl.UnionPwAff, by: int) -> isl.UnionPwAff:
    return function.scale_down_val(_value(by)).floor()


def _constant(domain: isl.UnionSet, value: int) -> isl.UnionPwAff:
    return isl.UnionPwAff.val_on_domain(domain.universe(), _value(value))


def _value(number: int) -> isl.Val:
    return isl.Val.int_from_si(isl.DEFAULT_CONTEXT, number)


def _range(domain: isl.UnionSet, function: isl.UnionPwAff) -> tuple[int, int] | None:
    """The least and the largest value of a function; None where they are not known."""
    values = isl.UnionMap.from_union_pw_aff(function).intersect_domain(domain).range()
    if values.is_empty():
        return None
    least, most = (end(isl.Set.from_union_set(values), 0) for end in (isl.Set.dim_min_val, isl.Set.dim_max_val))
    return (int(least.to_python()), int(most.to_python())) if least.is_int() and most.is_int() else None
