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

Where only the running program knows how wide space is, a piece is as wide as a parameter says, by which no
quasi-affine function divides.  Then the nest is made, and proved legal, around a single border that lies anywhere
(`Pieces.cut`).  That proves any number of borders, as far apart as an instance and all that it leads to in a row of
tiles reach: two instances that pieces part are on different sides of one of the borders, and an instance in one gap and
one in another depend on each other in no way, since around the border of the first the second is in a piece, which
runs before, and the other way round.  The tree then gets all of its borders (`in_pieces`), and loops are generated for
one piece whose ends are parameters (`one_at_a_time`).

Source: S. Krishnamoorthy, M. Baskaran, U. Bondhugula, J. Ramanujam, A. Rountev, P. Sadayappan, "Effective Automatic
Parallelization of Stencil Computations", PLDI 2007; T. Grosser, A. Cohen, P. Kelly, J. Ramanujam, P. Sadayappan,
S. Verdoolaege, "Split Tiling for GPUs: Automatic Parallelization Using Trapezoidal Tiles", GPGPU-6, 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial, reduce
from itertools import chain, combinations, pairwise

import islpy as isl

from polysched.records import dataclass
from polysched.scheduling.marks import Gaps, LoopMark, Role
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
    Leaf,
    LoopTree,
    Mark,
    Node,
    Sequence,
    children,
    with_children,
)
from polysched.scop.points import isl_value
from polysched.tiling.limits import LIMITS
from polysched.tiling.shapes.diamond import Faces
from polysched.tiling.tree.distribute import statement_groups
from polysched.tiling.tree.loops import Loop, block_of, enter, nest
from polysched.tiling.tree.position import Position, branch, is_independent

BORDER = "polysched_border"
"""A parameter of trees: where two pieces meet."""

BEGIN, END = "polysched_piece_begin", "polysched_piece_end"
"""Parameters of trees: the first place of a piece and the one behind its last; of the half of a gap, twice these."""

MOST_PIECES = LIMITS.most_pieces

PIECE, HALF = "polysched_piece", "polysched_half"
"""First words of marks that stand where a loop goes over the pieces, or the halves of gaps; that of a `LoopMark`
follows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cut:
    """Where the instances of a row of tiles are.

    Parameters
    ----------
    piece : the number of a piece, where an instance is in one.
    half : the number of the half of a gap, where an instance is in one.
    across : zero for an instance in a piece, one for an instance in the gap in front of it.
    """

    piece: isl.UnionPwAff
    half: isl.UnionPwAff
    across: isl.UnionPwAff

    def where(self, across: int) -> isl.UnionSet:
        """The instances in pieces, or in gaps."""
        return self.across.sub(_constant(self.across.domain(), across)).zero_union_set()


@dataclass(frozen=True, eq=False, kw_only=True)
class Pieces:
    """The pieces of every row of tiles over time.

    Parameters
    ----------
    upper, lower : a place in space, from the first piece's beginning on, as far up and down as dependences can have
        led to it or from it since the row began.
    extent : how many places there are, over the parameters.
    least : a piece and a gap together are at least so wide, if there is nothing in the last ones of them.
    count : how many there are.
    space : the member of the band that they cut.
    gap : so many places are in a gap at most.
    inner : how another member cuts the gaps, which takes known widths; None where none does.
    """

    upper: isl.UnionPwAff
    lower: isl.UnionPwAff
    extent: isl.PwAff
    least: int
    count: int
    space: int
    gap: int
    inner: Pieces | None = None

    @property
    def width(self) -> isl.PwAff:
        """Of a piece and a gap together, over the parameters."""
        share = self.extent.add_constant_val(isl_value(self.count - 1)).scale_down_val(isl_value(self.count)).floor()
        least = isl.Aff.val_on_domain_space(share.get_domain_space(), isl_value(self.least))
        return share.max(isl.PwAff.from_aff(least))

    @property
    def known_width(self) -> int | None:
        """The width, where no parameter changes it."""
        extent = _number(self.extent)
        return None if extent is None else max(self.least, -(-extent // self.count))

    @cached_property
    def cut(self) -> Cut:
        """The pieces; where their width is not known, two of them, around `BORDER`."""
        width = self.known_width
        if width is None:
            return self._cut_at((_parameter(BORDER),))
        piece, both = _divided(self.upper, width), self.upper.add(self.lower)
        return Cut(piece=piece, half=_divided(both, width), across=piece.sub(_divided(self.lower, width)))

    @property
    def full_cut(self) -> Cut:
        """All pieces, for all values of the parameters."""
        width = self.width
        return self.cut if self.known_width is not None else self._cut_at(
            tuple(width.scale_val(isl_value(number)) for number in range(1, self.count)))

    def _cut_at(self, borders: tuple[isl.PwAff, ...]) -> Cut:
        piece = _passed(self.upper, borders)
        twice = tuple(border.scale_val(isl_value(2)) for border in borders)
        return Cut(piece=piece, half=piece.add(_passed(self.upper.add(self.lower), twice)),
                   across=piece.sub(_passed(self.lower, borders)))

    @property
    def one_piece(self) -> isl.UnionSet:
        """The instances in the piece from `BEGIN` to `END`."""
        return _not_before(self.lower, BEGIN).intersect(_before(self.upper, END))

    @property
    def one_half(self) -> isl.UnionSet:
        """The instances in the gap at `BORDER`, in the half from `BEGIN` to `END`."""
        both = self.upper.add(self.lower)
        gap = _not_before(self.upper, BORDER).intersect(_before(self.lower, BORDER))
        return gap.intersect(_not_before(both, BEGIN)).intersect(_before(both, END))


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
    """So many pieces; None where no quasi-affine function says how wide the space is, or it is known to be too small.

    Where its width is a parameter there are up to `MOST_PIECES`; in a space too small for them the last ones are empty.

    Parameters
    ----------
    time, steps : the time loop, and its iterations in a row of tiles.
    """
    row = _divided(time, steps).scale_val(isl_value(steps))
    drift = faces.multiple // 2
    upper = faces.right.sub(row.scale_val(isl_value(drift)))
    lower = row.scale_val(isl_value(faces.multiple - drift)).sub(faces.left)
    low, high = _end(domain, lower, "<="), _end(domain, upper, ">=")
    grown = _largest(domain, upper.sub(lower))
    if count < 2 or low is None or high is None or grown is None:
        return None
    origin = isl.UnionPwAff.pw_aff_on_domain(domain.universe(), low)
    whole = high.sub(low).add_constant_val(isl_value(1))
    pieces = Pieces(upper=upper.sub(origin), lower=lower.sub(origin), extent=whole,
                    least=2 * -(-grown // 2) + 1, count=count, space=faces.space, gap=grown + 1)
    extent = _number(pieces.extent)
    if extent is None:
        return pieces if count <= MOST_PIECES else None
    if -(-extent // count) < pieces.least:
        return None
    inner = None if faces.inner is None else pieces_of(domain, time, faces.inner, steps=steps, count=count)
    return pieces if inner is None or inner.known_width is None else replace(pieces, inner=inner)


def split(position: Position, loops: tuple[Loop, ...], tiles: tuple[Loop, ...], pieces: Pieces,
          edges: tuple[int | None, ...], points: Callable[[Position], Node],
          cost: Callable[[Position, Node], float]) -> Node | None:
    """The nest of a band in split tiles; None where the statements of a time step order each other in a circle.

    Parameters
    ----------
    loops : the band's own, the time loop first.
    tiles : its tile loops, that of the time loop first.
    edges : of a tile, per member.
    points : makes the loops inside of one tile.
    cost : compares orders of the loops inside of one time step.
    """
    row, *others = tiles
    below, number = enter(position, (row,)), pieces.cut.piece
    own, gaps = _cut(below, pieces)
    inside = (_over_pieces(loops, pieces, number), *others)
    filled = _gap_tiles(gaps, loops, others, pieces, edges, points) or _gaps(gaps, loops, pieces, cost)
    if filled is None or not is_independent(own, number):
        return None
    return nest((row,), Sequence(branches=((own.domain, nest(inside, points(enter(own, inside)))), *filled)))


_Branches = tuple[tuple[isl.UnionSet, Node], ...]


def _cut(position: Position, pieces: Pieces) -> tuple[Position, Position]:
    """What is in pieces, and what is in gaps."""
    cut = pieces.cut
    return branch(position, position.domain.intersect(cut.where(0))), branch(position, position.domain.intersect(
        cut.where(1)))


def _over_pieces(loops: tuple[Loop, ...], pieces: Pieces, number: isl.UnionPwAff, *, gaps: Gaps = Gaps.NONE) -> Loop:
    """The loop that gives every piece, every gap, or every half of one to a thread."""
    mark = replace(loops[pieces.space].mark, role=Role.TILE, pieces=pieces.count, gaps=gaps)
    return Loop(function=number, mark=mark)


def _gap_tiles(position: Position, loops: tuple[Loop, ...], tiles: list[Loop], pieces: Pieces,
               edges: tuple[int | None, ...], points: Callable[[Position], Node]) -> _Branches | None:
    """Gaps in pieces along another member, and then where gaps of both cross; None where no other member cuts them.

    A tile has the whole width of a gap.  Both widths are known numbers.
    """
    inner = pieces.inner
    if inner is None:
        return None
    between, crossing = _cut(position, inner)
    number, other = pieces.cut.piece, inner.cut.piece
    through = Loop(function=number, mark=replace(loops[pieces.space].mark, role=Role.TILE))
    along = Loop(function=other, mark=replace(loops[inner.space].mark, role=Role.TILE))
    edge = gap_edge(edges, pieces.space, inner.space, pieces.gap)
    cut = tuple(block_of(loops[inner.space], edge, Role.TILE) if tile.mark.member == inner.space and edge else tile
                for tile in tiles if tile.mark.member != pieces.space)
    first = (_over_pieces(loops, inner, other, gaps=Gaps.TILES), through, *cut)
    second = (_over_pieces(loops, pieces, number, gaps=Gaps.CROSSINGS), along)
    if not all(is_independent(between, loop.function) for loop in first[:2]) or not all(
            is_independent(crossing, loop.function) for loop in second):
        return None
    return tuple((part.domain, nest(around, points(enter(part, around))))
                 for part, around in ((between, first), (crossing, second)) if not part.domain.is_empty())


def _gaps(position: Position, loops: tuple[Loop, ...], pieces: Pieces,
          cost: Callable[[Position, Node], float]) -> _Branches | None:
    """One time step after the other, one statement after the other, each with the cheapest of its loops innermost."""
    time = replace(loops[0], mark=replace(loops[0].mark, role=Role.TILE, gaps=Gaps.STEPS))
    below = enter(position, loops[:1])
    groups = statement_groups(below)
    if groups is None:
        return None
    half = _over_pieces(loops, pieces, pieces.cut.half)
    orders = [nest((half, *(loop for loop in loops[1:] if loop is not last), last), Leaf())
              for last in reversed(loops[1:])]
    branches = tuple((keep, min(orders, key=partial(cost, branch(below, keep)))) for _, keep in groups)
    return ((position.domain, nest((time,), Sequence(branches=branches) if len(groups) > 1 else branches[0][1])),)


def in_pieces(node: Node, pieces: Mapping[int, Pieces]) -> Node:
    """The tree with all pieces of space in the place of two around a border.

    Parameters
    ----------
    pieces : by the number of a band that is split.
    """
    def full(own: Band, mark: LoopMark, gaps: Node) -> tuple[tuple[isl.UnionSet, Node], ...]:
        cut = pieces[mark.band].full_cut
        return ((cut.where(0), replace(own, members=(cut.piece,))),
                (cut.where(1), _with_loops_over_pieces(gaps, lambda loop, _: replace(loop, members=(cut.half,)))))

    return _without_border(_with_split_bands(node, full))


def _without_border(node: Node) -> Node:
    """The tree without a parameter that nothing in it depends on any more."""
    below = with_children(node, tuple(map(_without_border, children(node))))
    match below:
        case Band():
            return replace(below, members=tuple(member.drop_unused_params() for member in below.members))
        case Sequence():
            return replace(below, branches=tuple((keep.drop_unused_params(), child) for keep, child in below.branches))
        case Filter():
            return replace(below, keep=below.keep.drop_unused_params())
        case _:
            return below


def one_at_a_time(tree: LoopTree, pieces: Mapping[int, Pieces]) -> LoopTree:
    """The tree for one piece, from `BEGIN` to `END`, and for one half of the gap at `BORDER`.

    Marks stand where the loops over all of them would be.
    """
    def single(own: Band, mark: LoopMark, gaps: Node) -> tuple[tuple[isl.UnionSet, Node], ...]:
        cut = pieces[mark.band]
        everything = cut.upper.domain()
        return ((everything, _one(own, PIECE, mark, cut.one_piece)), (everything, _with_loops_over_pieces(
            gaps, lambda loop, mark: _one(loop, HALF, mark, cut.one_half))))

    ends = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)
    for name in (BEGIN, END, BORDER):   # the filters of a tree may name parameters of its domain alone
        ends = ends.add_param_id(isl.Id(name, isl.DEFAULT_CONTEXT))
    return LoopTree(domain=tree.domain.align_params(ends), root=_with_split_bands(tree.root, single))


def in_place_of_pieces(mark: str) -> tuple[str, LoopMark] | None:
    """The loop that the mark with this name stands for: over pieces, or over halves of gaps; None for other marks."""
    kind, _, text = mark.partition(" ")
    loop = LoopMark.from_text(text) if kind in (PIECE, HALF) else None
    return None if loop is None else (kind, loop)


def _one(loop: Band, kind: str, mark: LoopMark, keep: isl.UnionSet) -> Node:
    return Mark(name=f"{kind} {mark.to_text()}", child=Filter(keep=keep, child=loop.child))


def _with_split_bands(node: Node, change: Callable[[Band, LoopMark, Node], tuple[tuple[isl.UnionSet, Node], ...]]
                      ) -> Node:
    """The tree with other branches for pieces and gaps."""
    match node:
        case Sequence(branches=((_, Band(mark=LoopMark(pieces=count) as mark) as own),
                                (_, Band(mark=LoopMark(gaps=Gaps.STEPS)) as gaps))) if count:
            return replace(node, branches=change(own, mark, gaps))
        case _:
            return with_children(node, tuple(_with_split_bands(child, change) for child in children(node)))


def _with_loops_over_pieces(node: Node, change: Callable[[Band, LoopMark], Node]) -> Node:
    if isinstance(node, Band) and node.mark is not None and node.mark.pieces:
        return change(node, node.mark)
    return with_children(node, tuple(_with_loops_over_pieces(child, change) for child in children(node)))


def _divided(function: isl.UnionPwAff, by: int) -> isl.UnionPwAff:
    return function.scale_down_val(isl_value(by)).floor()


def _passed(function: isl.UnionPwAff, borders: tuple[isl.PwAff, ...]) -> isl.UnionPwAff:
    """How many of the borders, which ascend, the function has reached."""
    def count(part: isl.PwAff) -> isl.PwAff:
        ends = [_on(part, border) for border in borders]
        cells = [part.lt_set(ends[0]), *(part.ge_set(low).intersect(part.lt_set(high))
                                         for low, high in pairwise(ends)), part.ge_set(ends[-1])]
        space = part.get_domain_space()
        return reduce(isl.PwAff.union_add, (
            isl.PwAff.from_aff(isl.Aff.val_on_domain_space(space, isl_value(number))).intersect_domain(cell)
            for number, cell in enumerate(cells)))

    return _union(count(part) for part in _parts(function))


def _not_before(function: isl.UnionPwAff, parameter: str) -> isl.UnionSet:
    return _sets(part.ge_set(_on(part, _parameter(parameter))) for part in _parts(function))


def _before(function: isl.UnionPwAff, parameter: str) -> isl.UnionSet:
    return _sets(part.lt_set(_on(part, _parameter(parameter))) for part in _parts(function))


def _parts(function: isl.UnionPwAff) -> list[isl.PwAff]:
    parts = function.get_pw_aff_list()
    return [parts.get_at(index) for index in range(parts.n_pw_aff())]


def _union(parts: Iterable[isl.PwAff]) -> isl.UnionPwAff:
    return reduce(isl.UnionPwAff.union_add, map(isl.UnionPwAff.from_pw_aff, parts))


def _sets(parts: Iterable[isl.Set]) -> isl.UnionSet:
    return reduce(isl.UnionSet.union, map(isl.UnionSet.from_set, parts))


def _on(part: isl.PwAff, value: isl.PwAff) -> isl.PwAff:
    """A function of the parameters on the domain of another function."""
    everywhere = isl.UnionSet.from_set(isl.Set.universe(part.get_domain_space()))
    return isl.UnionPwAff.pw_aff_on_domain(everywhere, value).get_pw_aff_list().get_at(0)


def _parameter(name: str) -> isl.PwAff:
    return isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, f"[{name}] -> {{ [({name})] }}")


def _constant(domain: isl.UnionSet, value: int) -> isl.UnionPwAff:
    return isl.UnionPwAff.val_on_domain(domain.universe(), isl_value(value))


def _number(function: isl.PwAff) -> int | None:
    """The value of a function that is the same for all parameter values."""
    pieces = function.get_pieces()
    return int(pieces[0][1].get_constant_val().to_python()) if len(pieces) == 1 and pieces[0][1].is_cst() else None


def _end(domain: isl.UnionSet, function: isl.UnionPwAff, op: str) -> isl.PwAff | None:
    """A bound of a function's values over the parameters, one expression or the further one of two; None without.

    It is made of what is taken for some values of the parameters, and depends on as few of them as can be: what holds
    for few time steps may be nearer for these, but moves away with their number.
    """
    values = _values(domain, function)
    if values is None:
        return None
    side = isl.Set.dim_has_any_lower_bound if op == "<=" else isl.Set.dim_has_any_upper_bound
    if not side(values, isl.dim_type.set, 0):
        return None
    end, bounds, further = ((values.dim_min(0), isl.PwAff.le_set, isl.PwAff.min) if op == "<=" else
                            (values.dim_max(0), isl.PwAff.ge_set, isl.PwAff.max))
    taken = sorted((isl.PwAff.from_aff(piece) for _, piece in end.get_pieces()), key=_parameter_count)
    pairs = sorted(combinations(taken, 2), key=lambda pair: sum(map(_parameter_count, pair)))
    candidates = chain(taken, (further(one, other) for one, other in pairs))
    return next((bound for bound in candidates if end.domain().is_subset(bounds(bound, end))), None)


def _parameter_count(function: isl.PwAff) -> int:
    count = function.dim(isl.dim_type.param)
    return sum(bool(function.involves_dims(isl.dim_type.param, position, 1)) for position in range(count))


def _largest(domain: isl.UnionSet, function: isl.UnionPwAff) -> int | None:
    values = _values(domain, function)
    most = None if values is None else values.dim_max_val(0)
    return None if most is None or not most.is_int() else int(most.to_python())


def _values(domain: isl.UnionSet, function: isl.UnionPwAff) -> isl.Set | None:
    values = isl.UnionMap.from_union_pw_aff(function).intersect_domain(domain).range()
    return None if values.is_empty() else isl.Set.from_union_set(values)
