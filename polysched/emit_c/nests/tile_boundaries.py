"""Where code can be stopped and gone on with: behind every tile.

    for (it) for (jt) { tile }   ->   for (it) for (jt) { if (tile++ < resume) continue; tile; if (*stop) goto left; }

A tile is the body of an innermost loop between tiles; an iteration of an outermost loop around others where nothing is
tiled; a strip of a loop that has none around and none inside; and whatever stands beside such loops, as one.
Nothing may stay in registers or in the region's own arrays from one tile to the next: what holds such values is one
tile as a whole.  What fills panels around tiles runs again when the code goes on: what a panel holds is written by none
of the tiles that read it.

Source: REEF (Han et al., OSDI 2022) stops between blocks of threads; here a tile is the block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Linear, extreme, variable
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Node, Packed, RegisterTile
from polysched.emit_c.loop_ir.traversal import block, map_children, walk_nodes
from polysched.scheduling.marks import Role


def with_boundaries(loops: Node, *, whole: bool, fresh: Callable[[str], str], leaves: Callable[[For], bool]) -> Node:
    """The loops, with every statement instance in one tile (`For.yields`).

    Parameters
    ----------
    whole : all of it is one tile.
    fresh : makes names of variables.
    leaves : whether a loop may be left early, by a test of data; it is in one tile.
    """
    def covered(node: Node, *, tiled: bool) -> Node:
        match node:
            case Block():
                return block(tuple(covered(child, tiled=tiled) for child in node.children))
            case If() | Let() | Packed():
                return map_children(node, lambda child: covered(child, tiled=tiled))
            case For() if not leaves(node):
                if _has_tiles(node.body):
                    return replace(node, body=covered(node.body, tiled=True))
                if node.mark.role is Role.TILE or (not tiled and _has_loops(node.body)):
                    return replace(node, yields=True, mark=replace(node.mark, simd=False, parallel=False))
                if not tiled and _can_be_cut(node):
                    return _in_strips(node, fresh)
        return _once(node, fresh)

    return _once(loops, fresh) if whole else covered(loops, tiled=False)


def _once(node: Node, fresh: Callable[[str], str]) -> For:
    """A loop of one iteration around something, which is a tile then."""
    return For(variable=fresh("polysched_once"), lower=Linear(), upper=Linear(constant=1), step=1, body=node,
               yields=True)


def _can_be_cut(node: For) -> bool:
    """Whether a loop may be left behind any iteration, and is longer than a strip."""
    length = node.upper - node.lower
    return (node.is_canonical and not node.behind and not node.fences
            and not (length.is_constant and length.constant <= LIMITS.strip_iterations * node.step))


def _in_strips(node: For, fresh: Callable[[str], str]) -> For:
    """Strips of a loop, each of which is a tile.

    Rewrite:  for (i = l; i < u; i++)   ->   for (s = l; s < u; s += S) for (i = s; i < min(s + S, u); i++)
    """
    strip, length = fresh("polysched_strip"), LIMITS.strip_iterations * node.step
    first = variable(strip)
    inside = replace(node, lower=first, upper=extreme("min", (first + length, node.upper)))
    return For(variable=strip, lower=node.lower, upper=node.upper, step=length, body=inside, depth=node.depth,
               yields=True)


def _has_tiles(node: Node) -> bool:
    return any(isinstance(n, For) and n.mark.role is Role.TILE for n in walk_nodes(node))


def _has_loops(node: Node) -> bool:
    return any(isinstance(n, For) or (isinstance(n, RegisterTile) and n.loops) for n in walk_nodes(node))
