"""Marked loops: one-member bands below a mark, built outermost first."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import Band, Leaf, Node, walk
from polysched.scop.points import isl_value
from polysched.tiling.tree.position import Position, inside


@dataclass(frozen=True, eq=False, kw_only=True)
class Loop:
    """One loop to be: its function and what its mark says."""

    function: isl.UnionPwAff
    mark: LoopMark

    @property
    def between_tiles(self) -> bool:
        return self.mark.role in (Role.TILE, Role.WAVEFRONT)


def block_of(loop: Loop, size: int, role: Role) -> Loop:
    """The loop over blocks of `size` iterations of a loop."""
    edge = isl_value(size)
    return Loop(function=loop.function.scale_down_val(edge).floor(), mark=replace(loop.mark, role=role))


def nest(loops: tuple[Loop, ...], child: Node) -> Node:
    """The loops around `child`, the first one outermost."""
    for loop in reversed(loops):
        child = Band(members=(loop.function,), coincident=(False,), permutable=True, child=child, mark=loop.mark)
    return child


def enter(position: Position, loops: tuple[Loop, ...]) -> Position:
    """The position below all of these loops."""
    for loop in loops:
        position = inside(position, loop.function, on_path=not loop.between_tiles)
    return position


def has_loops(node: Node) -> bool:
    """Some loop is in this subtree."""
    return any(isinstance(n, Band) for n in walk(node))


def loops_below(band: Band) -> tuple[isl.UnionPwAff, ...]:
    """The members of the bands below a band, where there is nothing else but unmarked bands; else none."""
    members: tuple[isl.UnionPwAff, ...] = ()
    node = band.child
    while isinstance(node, Band) and node.mark is None:
        members, node = (*members, *node.members), node.child
    return members if isinstance(node, Leaf) else ()
