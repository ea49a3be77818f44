"""Start values and last steps of a tiled sum, in the tile loops of the sum.

Rewrite:  for i, j: C[i][j] = 0;   for it, jt, kt: for i, j, k in the tile: C[i][j] += ...;   for i, j: E(C[i][j])
      ->  for it, jt: { for i, j in the tile: C[i][j] = 0;
                        for kt: for i, j, k in the tile: C[i][j] += ...;
                        for i, j in the tile: E(C[i][j]) }

A nest joins where its statements have fewer loops than the sum, where it stands right before or behind it, and where
every dependence between the two stays inside one tile because some of its loops counts what the tile loop counts.
The tile of sums then stays in a cache from its start values to its last use, and a temporary array for the sums need
not be larger than a tile (`emit_c.nests.array_contraction`).  The exact legality of the joined tree decides.

Source: the fusion of a consumer at a tile level is that of S. Verdoolaege et al., "Polyhedral Parallel Code
Generation for CUDA", ACM TACO 9(4), 2013, and of J. Zhao and P. Di, "Optimizing the Memory Hierarchy by Compositing
Automatic Transformations on Computations and Data", MICRO 2020 (post-tiling fusion).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from polysched.scheduling.marks import Role
from polysched.scheduling.tree.loop_tree import Band, Node, Sequence, children, with_children
from polysched.scop.scop import Scop
from polysched.tiling.planning.band_plan import BandPlan
from polysched.tiling.tree.distribute import statement_names
from polysched.tiling.tree.loops import Loop, block_of, enter, nest
from polysched.tiling.tree.position import Position, branch, have_equal_values, is_independent, is_legal

Rewrite = Callable[[Band, Position], Node]


def join_neighbours(given: Sequence, tiled: Sequence, position: Position, scop: Scop,
                    plan_of: Callable[[Band], BandPlan | None], points_of: Rewrite) -> Node:
    """The branches of a sequence with start values and last steps inside the tile loops of the sum that they belong to.

    Parameters
    ----------
    given, tiled : the sequence before and after its branches were tiled each by itself.
    plan_of : what becomes of a band.
    points_of : the loops of a band below tile loops, as they are without tiles of their own.
    """
    branches = list(zip(given.branches, tiled.branches, strict=True))
    if not given.ordered:
        return tiled
    number = 0
    while number < len(branches):
        (_, band), (keep, node) = branches[number]
        plan = plan_of(band) if isinstance(band, Band) and band.mark is None else None
        if isinstance(band, Band) and plan is not None and plan.shape is not None:
            joint = _Joint(position=position, scop=scop, band=band, plan=plan, points_of=points_of)
            for step in (-1, 1):
                while 0 <= number + step < len(branches):
                    further = joint.with_neighbour((keep, node), branches[number + step][0], first=step < 0)
                    if further is None:
                        break
                    keep, node = further
                    branches[number] = branches[number][0], further
                    del branches[number + step]
                    number += min(step, 0)
        number += 1
    after = tuple(done for _, done in branches)
    return after[0][1] if len(after) == 1 else replace(tiled, branches=after)


class _Joint:
    """A sum in tiles, and what can be put into its tile loops."""

    def __init__(self, *, position: Position, scop: Scop, band: Band, plan: BandPlan, points_of: Rewrite) -> None:
        self.position, self.scop, self.band, self.plan, self.points_of = position, scop, band, plan, points_of

    def with_neighbour(self, own: tuple[isl.UnionSet, Node], other: tuple[isl.UnionSet, Node], *,
                       first: bool) -> tuple[isl.UnionSet, Node] | None:
        """The sum with one more nest in its tile loops; None where that is not legal or not wanted."""
        (keep, node), (added, band) = own, other
        if not isinstance(band, Band) or band.mark is not None or not self._is_smaller(added):
            return None
        loops, rest = self._tile_loops(node)
        both = branch(self.position, keep.union(added))
        below = branch(self.position, added)
        shared: list[Loop] = []
        for loop in loops:
            member = self._counterpart(loop, band, both)
            if member is None:
                return None
            here = Loop(function=member, mark=loop.mark)
            together = Loop(function=loop.function.union_add(member), mark=loop.mark)
            if is_independent(branch(enter(both, tuple(shared)), keep), loop.function) and not is_independent(
                    enter(both, tuple(shared)), together.function):
                return None
            shared.append(together)
            below = enter(below, (here,))
        points = _as_points(self.points_of(band, below))
        parts = [(keep, rest), (added, points)]
        inside = rest if isinstance(rest, Sequence) else None
        if inside is not None and inside.ordered:
            parts = [*inside.branches, (added, points)]
        if first:
            parts = [parts[-1], *parts[:-1]]
        joined = nest(tuple(shared), Sequence(branches=tuple(parts)))
        if not shared or not is_legal(both, joined):
            return None
        return keep.union(added), joined

    def _is_smaller(self, added: isl.UnionSet) -> bool:
        """All statements have fewer loops than the sum."""
        assert self.plan.shape is not None
        depth = self.scop.statement(self.plan.shape.statement).depth
        return all(self.scop.statement(name).depth < depth
                   for name in statement_names(branch(self.position, added).domain))

    def _tile_loops(self, node: Node) -> tuple[tuple[Loop, ...], Node]:
        """The loops around all of a tile of sums, and what they have inside; without tiles, those around a block."""
        assert self.plan.shape is not None
        levels = (*(level.order for level in self.plan.outer), self.plan.order)
        most = sum(map(len, levels)) or len(self.band.members)
        loops: list[Loop] = []
        while isinstance(node, Band) and node.mark is not None and len(loops) < most and (
                node.mark.role in (Role.TILE, Role.LOOP)) and node.mark.member not in self.plan.shape.inner:
            loops.append(Loop(function=node.members[0], mark=node.mark))
            node = node.child
        return tuple(loops), node

    def _counterpart(self, loop: Loop, other: Band, both: Position) -> isl.UnionPwAff | None:
        """What a tile loop of the sum counts, by the loop of another band that no dependence between them crosses."""
        row = self.band.members[loop.mark.member]
        size = self._size(loop)
        if size is None:
            return None
        domains = [isl.UnionMap.from_union_pw_aff(member).domain() for member in (row, other.members[0])]
        pairs = both.dependences
        between = pairs.intersect_domain(domains[0]).intersect_range(domains[1]).union(
            pairs.intersect_domain(domains[1]).intersect_range(domains[0]))
        if between.is_empty():
            return None
        for member in other.members:
            if have_equal_values(between, row.union_add(member)):
                here = Loop(function=member, mark=loop.mark)
                return member if size == 1 else block_of(here, size, Role.TILE).function
        return None

    def _size(self, loop: Loop) -> int | None:
        """How many iterations of its member one iteration of a tile loop has."""
        shape, member = self.plan.shape, loop.mark.member
        assert shape is not None
        levels = (*(level.edges for level in self.plan.outer), self.plan.edges)
        edges = {1, *(own[member] for own in levels if member < len(own))}
        edges |= {count for loop_number, count in ((shape.rows, shape.row_count), (shape.columns, shape.column_count))
                  if loop_number == member}
        plain = Loop(function=self.band.members[member], mark=loop.mark)
        domain = isl.UnionMap.from_union_pw_aff(plain.function).domain()
        function = isl.UnionMap.from_union_pw_aff(loop.function).intersect_domain(domain)
        for edge in edges:
            counted = plain if edge == 1 else None if edge is None else block_of(plain, edge, Role.TILE)
            if counted is not None and function.is_equal(isl.UnionMap.from_union_pw_aff(counted.function)):
                return edge
        return None


def _as_points(node: Node) -> Node:
    """The subtree with its loops as points of a tile."""
    below = with_children(node, tuple(_as_points(child) for child in children(node)))
    if isinstance(below, Band) and below.mark is not None and below.mark.role is Role.LOOP:
        return replace(below, mark=replace(below.mark, role=Role.POINT))
    return below
