"""Strips of columns that neighbouring nests inside a sequential loop share.

Rewrite:  for k: { for i: for j: r[j] += q[i] * A[i][j];          (only columns are independent)
                   for i: for j: A[i][j] -= q[i] * r[j]; }
      ->  for k: for j // 64 (independent): { for i: for j in the strip: r[j] += ...;
                                              for i: for j in the strip: A[i][j] -= ...; }

A sum down the columns alone runs on one thread where its columns are the loop inside, and its neighbour then finds the
array in no cache.  A strip of columns stays in the cache from the first nest to the last, and with one core from step
to step; its sums stay in registers.

Source: the fusion at a tile level is that of `joined_nests`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

import islpy as isl

from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import Band, Leaf, Node, Sequence
from polysched.scop.scop import Scop
from polysched.target.target import Target
from polysched.tiling.footprints.nest import nest_of
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.limits import LIMITS
from polysched.tiling.tree.loops import Loop, block_of, nest
from polysched.tiling.tree.position import Position, branch, have_equal_values, is_independent, is_legal

WIDEST, NARROWEST = 256, 32
CACHE_SHARE = LIMITS.strip_cache_divisor
FEWEST_STRIPS = LIMITS.fewest_strips


@dataclass(frozen=True, kw_only=True)
class Strips:
    """What the rewriting knows.

    Parameters
    ----------
    numbers : the number of a band by its identity.
    apart : the numbers of the bands that share nothing: those with tiles of their own, or decisions of their own.
    may_run_on_threads : whether a loop may, by its member.
    parameters : sizes that the models assume.
    registers : whether sums may stay in vector registers.
    """

    scop: Scop
    target: Target
    numbers: Mapping[int, int]
    apart: frozenset[int]
    may_run_on_threads: Callable[[int], bool]
    parameters: Mapping[str, int]
    registers: bool

    def plain(self, node: Node) -> Band | None:
        """The node if it is a nest of several loops that may be interchanged, without tiles."""
        fits = (isinstance(node, Band) and node.mark is None and node.permutable and len(node.members) > 1
                and isinstance(node.child, Leaf) and self.numbers[id(node)] not in self.apart)
        return node if fits and isinstance(node, Band) else None

    def shareable(self, band: Band | None) -> list[tuple[int, isl.UnionPwAff]]:
        """The members of a band that strips may be of, with their positions."""
        members = () if band is None else band.members
        return [(k, function) for k, function in enumerate(members) if self.may_run_on_threads(k)]


@dataclass(frozen=True, eq=False)
class _Run:
    """Neighbours, the loop that they share, and how many iterations of it make a strip."""

    branches: tuple[tuple[isl.UnionSet, Band], ...]
    function: isl.UnionPwAff
    mark: LoopMark

    @property
    def keep(self) -> isl.UnionSet:
        keep = self.branches[0][0]
        for further, _ in self.branches[1:]:
            keep = keep.union(further)
        return keep


def share_strips(node: Sequence, position: Position, how: Strips) -> Sequence:
    """The sequence with neighbouring nests, one of which would run on one thread, in strips that threads share."""
    if not node.ordered or not position.path:
        return node
    branches: list[tuple[isl.UnionSet, Node]] = []
    rest = list(node.branches)
    while rest:
        run = _run(rest, position, how)
        if run is None:
            branches.append(rest.pop(0))
            continue
        branches.append((run.keep, _in_strips(run, position, how)))
        rest = rest[len(run.branches):]
    return Sequence(branches=tuple(branches), ordered=True) if len(branches) < len(node.branches) else node


def _run(rest: list[tuple[isl.UnionSet, Node]], position: Position, how: Strips) -> _Run | None:
    """The longest run of neighbours from the first one on that share a loop; None where that is not worth it."""
    band = how.plain(rest[0][1])
    for member, function in how.shareable(band):
        assert band is not None
        run = _Run(((rest[0][0], band),), function,
                   LoopMark(role=Role.TILE, band=how.numbers[id(band)], member=member, parallel=True,
                            least_iterations=2))
        for keep, node in rest[1:]:
            longer = _extended(run, keep, how.plain(node), position, how)
            if longer is None:
                break
            run = longer
        if len(run.branches) > 1 and any(_is_serial(position, keep, own, run) for keep, own in run.branches) and (
                _width(run, position, how) and is_legal(position_of(run, position), _in_strips(run, position, how))):
            return run
    return None


def position_of(run: _Run, position: Position) -> Position:
    """The place of the neighbours."""
    return branch(position, run.keep)


def _extended(run: _Run, keep: isl.UnionSet, band: Band | None, position: Position, how: Strips) -> _Run | None:
    for _, member in how.shareable(band):
        assert band is not None
        longer = _Run((*run.branches, (keep, band)), run.function.union_add(member), run.mark)
        here = position_of(longer, position)
        pairs = here.dependences
        between = pairs.intersect_domain(run.keep).intersect_range(keep)
        if not between.is_empty() and have_equal_values(between, longer.function) and (
                is_independent(here, longer.function)):
            return longer
    return None


def _is_serial(position: Position, keep: isl.UnionSet, band: Band, run: _Run) -> bool:
    """Whether a nest has no other loop for threads than the shared one."""
    here = branch(position, keep)
    return all(not is_independent(here, member) or _is_shared(member, keep, run) for member in band.members)


def _is_shared(member: isl.UnionPwAff, keep: isl.UnionSet, run: _Run) -> bool:
    own, shared = (isl.UnionMap.from_union_pw_aff(f).intersect_domain(keep) for f in (member, run.function))
    return bool(own.is_subset(shared))


def _width(run: _Run, position: Position, how: Strips) -> int:
    """Columns of a strip: as many as stay in the private cache and leave several strips; 0 where those are too few."""
    private = how.target.last_private
    width = WIDEST
    for keep, band in run.branches:
        here = nest_of(how.scop, branch(position, keep), band.members, how.parameters)
        shared = next(k for k, member in enumerate(band.members) if _is_shared(member, keep, run))
        column = prod(n for k, n in enumerate(here.extents) if k != shared) * here.element_bytes
        while width >= NARROWEST and (width * column * CACHE_SHARE > private.size_bytes
                                      or width * FEWEST_STRIPS > here.extents[shared]):
            width //= 2
    return width if width >= NARROWEST else 0


def _in_strips(run: _Run, position: Position, how: Strips) -> Node:
    width = _width(run, position, how)
    loop = Loop(function=run.function, mark=replace(run.mark, strip=width))
    return nest((block_of(loop, width, Role.TILE),), Sequence(branches=tuple(
        (keep, _columns(band, keep, run, branch(position, keep), width, how)) for keep, band in run.branches)))


def _columns(band: Band, keep: isl.UnionSet, run: _Run, position: Position, width: int, how: Strips) -> Node:
    """The points of a nest: a sum of every column in registers, or the band as it is."""
    here = nest_of(how.scop, position, band.members, how.parameters)
    shared = next(k for k, member in enumerate(band.members) if _is_shared(member, keep, run))
    others = [k for k in range(len(band.members)) if k != shared]
    writes = [r for r in here.references if r.writes]
    sums = all(r.stride(shared) is Stride.UNIT and not any(r.moves_with(k) for k in others) for r in writes)
    if not how.registers or len(here.deepest) != 1 or not sums or any(
            r.stride(shared) is Stride.OTHER for r in here.references):
        return band
    vectors = how.target.vector_registers // 4
    count = min(width, vectors * how.target.lanes(8 * here.element_bytes))
    loops = [Loop(function=member, mark=LoopMark(role=Role.POINT, band=how.numbers[id(band)], member=k))
             for k, member in enumerate(band.members)]
    block = block_of(loops[shared], count, Role.TILE)
    last = replace(loops[shared], mark=replace(loops[shared].mark, register=True, unroll=count))
    return nest((block, *(loops[k] for k in others), last), Leaf())
