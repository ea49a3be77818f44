"""Marked schedule trees of one statement, written loop by loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.legality import check_legal
from polysched.scheduling import original
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import from_isl, to_isl
from polysched.scop.scop import Scop
from polysched.tiling import TilingOptions
from polysched.tiling.rewriting.copies import with_copies
from polysched.tiling.tiled_schedule import TiledSchedule


def marked(scop: Scop, loops: Sequence[tuple[str, LoopMark]]) -> TiledSchedule:
    """The only statement of a Scop in loops over these expressions of its iterators, outermost first.

    With the copies of operands that these loops have places for.
    """
    (statement,) = scop.statements
    head = f"[{', '.join(p.name for p in scop.parameters)}] -> "
    node = isl.Schedule.from_domain(scop.domain).get_root().child(0)
    for expression, mark in reversed(loops):
        text = f"{head}[{{ {statement.name}[{', '.join(statement.iterators)}] -> [({expression})] }}]"
        node = node.insert_partial_schedule(isl.MultiUnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, text))
        node = node.insert_mark(isl.Id(mark.to_text(), isl.DEFAULT_CONTEXT))
    dependences = analyse(scop)
    check_legal(dependences, node.get_schedule())
    tree = from_isl(node.get_schedule())
    packed = replace(tree, root=with_copies(tree.root, tree.domain, scop, TilingOptions()))
    return TiledSchedule(schedule=original(dependences), tree=to_isl(packed))


def tile(member: int, *, parallel: bool = False) -> LoopMark:
    return LoopMark(role=Role.TILE, member=member, parallel=parallel)


def point(member: int) -> LoopMark:
    return LoopMark(role=Role.POINT, member=member)


def edge(member: int, length: int, *, simd: bool = False) -> LoopMark:
    return LoopMark(role=Role.POINT, member=member, register=True, unroll=length, simd=simd)
