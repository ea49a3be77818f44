"""The loops around a register block of a finished tree, as its copies of operands ask about them.

What the marks call loops over tiles, points and edges is told apart; lengths come from the functions of the loops, so
that trees made by hand are read like those of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from math import gcd

import islpy as isl

from polysched.records import dataclass
from polysched.scheduling.marks import Role
from polysched.scheduling.tree.loop_tree import Band, Filter, Leaf, Mark, Node, Sequence, multi_union_pw_aff
from polysched.scop.points import fix_parameters
from polysched.tiling.footprints.nest import extent_along, free_loops, sizes_of
from polysched.tiling.footprints.point_count import point_count
from polysched.tiling.tree.distribute import sets_of

Key = tuple[int, int]     # of a loop before tiling: its band, and its place there


@dataclass(frozen=True, eq=False)
class BlockLoop:
    """A loop on the way to a block.

    Parameters
    ----------
    band : the loop.
    domain : the instances that arrive at it.
    shared : other code stands beside what it has inside.
    """

    band: Band
    domain: isl.UnionSet
    shared: bool = False

    @property
    def key(self) -> Key:
        assert self.band.mark is not None
        return self.band.mark.band, self.band.mark.member

    @property
    def role(self) -> Role:
        assert self.band.mark is not None
        return self.band.mark.role

    @property
    def is_edge(self) -> bool:
        return self.band.mark is not None and self.band.mark.register

    @property
    def parallel(self) -> bool:
        return self.band.mark is not None and self.band.mark.parallel


@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """A register block, the loops around it, and how long they are.

    Parameters
    ----------
    path : all loops, outermost first; the last are the edges of the block, and the last of these has the lanes.
    domain : the instances that arrive.
    parameters : their assumed values.
    """

    path: tuple[BlockLoop, ...]
    domain: isl.UnionSet
    parameters: Mapping[str, int]

    @cached_property
    def first_edge(self) -> int:
        return next(at for at, loop in enumerate(self.path) if loop.is_edge)

    @cached_property
    def nest(self) -> int:
        """The first of the loops that run inside one block: nothing inside of it moves the block."""
        edges = {loop.key for loop in self.path[self.first_edge:]}
        at = self.first_edge
        while at > 0 and self.path[at - 1].key not in edges and not self.path[at - 1].shared:
            at -= 1
        return at

    @cached_property
    def points(self) -> tuple[int, ...]:
        """The loops whose values are those of a loop before tiling, by their places."""
        plain = {loop.key for loop in self.path if loop.role in (Role.LOOP, Role.POINT)}
        return tuple(at for at, loop in enumerate(self.path)
                     if loop.role in (Role.LOOP, Role.POINT) or (loop.role is Role.TILE and loop.key not in plain))

    @property
    def functions(self) -> tuple[isl.UnionPwAff, ...]:
        """Those of the points."""
        return tuple(self.path[at].band.members[0] for at in self.points)

    @cached_property
    def free(self) -> tuple[bool, ...]:
        """Per point, whether it has the same iterations wherever the others are."""
        return free_loops(self.domain, self.functions, len(self.points))

    def register_edge(self, at: int) -> int:
        """Iterations of an edge of the block."""
        mark = self.path[at].band.mark
        assert mark is not None
        return mark.unroll

    def tile_loops(self, key: Key, first: int) -> list[int]:
        """The loops over tiles of a loop, from a place inwards."""
        return [at for at in range(first, len(self.path)) if at not in self.points and self.path[at].key == key]

    def moving_tiles(self, at: int, first: int) -> list[int]:
        """The loops over tiles of a loop at some place, from a place inwards, that have several iterations."""
        return [tile for tile in self.tile_loops(self.path[at].key, first) if self.extent(tile) != 1]

    def carrier(self, at: int) -> int:
        """The place of the loop that has the values of another one: tiles of one iteration are what they run over."""
        tiles = self.tile_loops(self.path[at].key, 0)
        return tiles[-1] if tiles and self.extent(at) == 1 else at

    def extent(self, at: int) -> int | None:
        """Iterations of a loop wherever the others are, at most; None where that is no known number."""
        point = next((k for k, place in enumerate(self.points) if self.path[place].key == self.path[at].key), None)
        if point is None:
            return None
        length = self.lengths[point]
        around, level = length if self.free[point] else None, 0
        for tile in self.tile_loops(self.path[at].key, 0):
            edge, trips = self._tile_edge(tile), None
            if edge is not None and length is not None and edge >= length:
                trips = 1
            elif edge is not None:
                # tiles begin at other places of those around them from one to the next where one edge is no multiple
                spread = edge - gcd(around or edge, edge) if level else 0
                trips = None if around is None else -(-(around + spread) // edge)
                around, level = edge, level + 1
            else:
                around = None
            if tile == at:
                return trips
        return around

    @cached_property
    def lengths(self) -> tuple[int | None, ...]:
        """Per point, how far apart its values are at most, and one; None where parameters decide."""
        functions = ((f, sizes_of(self.domain, f, where_it_runs=True)) for f in self.functions)
        return tuple(None if sizes else extent_along(self.domain, f, self.parameters) for f, sizes in functions)

    def is_even(self, at: int) -> bool:
        """Whether every loop around one over tiles gives it as many iterations."""
        tiles = self.tile_loops(self.path[at].key, 0)
        level = tiles.index(at) if at in tiles else 0
        edges = [self._tile_edge(tile) for tile in tiles[level - 1:level + 1]] if level else []
        return len(edges) < 2 or (None not in edges and (edges[0] or 0) % (edges[1] or 1) == 0)

    def _tile_edge(self, at: int) -> int | None:
        """The edge of the tiles of a loop; those of a wavefront are what is left beside the tile loops inside."""
        function, inside = self.path[at].band.members[0], at
        while (edge := _divisor_of(function, self.domain)) is None and self.path[at].role is Role.WAVEFRONT:
            inside += 1
            if self.path[inside].role is not Role.TILE or self.path[inside].key[0] != self.path[at].key[0]:
                return None
            function = function.sub(self.path[inside].band.members[0])
        return edge

    def count_coupled(self, loops: list[int]) -> int | None:
        """Iterations of loops that have the same wherever all others are, though not wherever each of them is.

        None where there are no such, or parameters decide.
        """
        inside = [k for k, at in enumerate(self.points) if at in loops]
        if any(self.lengths[k] is None for k in inside) or any(
                not free and k not in inside for k, free in enumerate(self.free)):
            return None
        functions = multi_union_pw_aff(tuple(self.functions[k] for k in inside))
        values = isl.UnionMap.from_multi_union_pw_aff(functions).intersect_domain(self.domain).range()
        return round(point_count(fix_parameters(isl.Set.from_union_set(values), self.parameters)))


def _divisor_of(function: isl.UnionPwAff, domain: isl.UnionSet) -> int | None:
    """By what the function of a loop over tiles divides, for the statements of a domain; None where it does not say."""
    found: set[int] = set()
    for part in sets_of(domain):
        parts = function.intersect_domain_space(part.get_space()).get_pw_aff_list()
        for index in range(parts.n_pw_aff()):
            for _, piece in parts.get_at(index).get_pieces():
                found.add(_divisor(piece))
    return found.pop() if len(found) == 1 and 0 not in found else None


def _divisor(function: isl.Aff) -> int:
    """By what the only quotient that an expression is, or holds, divides; 1 for none, 0 for several."""
    used = [k for k in range(function.dim(isl.dim_type.div))
            if not function.get_coefficient_val(isl.dim_type.div, k).is_zero()]
    if len(used) > 1:
        return 0
    return int(function.get_div(used[0]).get_denominator_val().to_python()) if used else 1


def register_blocks(node: Node, domain: isl.UnionSet, path: tuple[BlockLoop, ...],
                    parameters: Mapping[str, int]) -> Iterator[Block]:
    """The register blocks below a node.

    Parameters
    ----------
    domain : the instances that arrive at the node.
    path : the loops around it.
    parameters : assumed values.
    """
    match node:
        case Leaf():
            return
        case Sequence():
            path = (*path[:-1], *(replace(loop, shared=True) for loop in path[-1:]))
            for keep, child in node.branches:
                yield from register_blocks(child, domain.intersect(keep), path, parameters)
        case Filter():
            yield from register_blocks(node.child, domain.intersect(node.keep), path, parameters)
        case Mark():
            yield from register_blocks(node.child, domain, path, parameters)
        case Band():
            path = (*path, BlockLoop(node, domain))
            if node.mark is not None and node.mark.register and node.mark.simd:
                yield Block(path=path, domain=domain, parameters=parameters)
            else:
                yield from register_blocks(node.child, domain, path, parameters)
