"""Vectors that are stored to memory past the caches, where nobody will find them there.

Rewrite:  for j from a boundary of vectors on, in vectors: y[i][j ...] = f(x[i][j ...])
      ->  the same with stores that do not bring the line of y[i][j] into the caches first

A store to a line that no cache has reads the line before it writes to it.  Where a region touches more than the last
cache holds, what it has written is gone from there before anybody reads it, so neither that reading nor the place in
the caches is of use.  Stores past the caches are not ordered with others: a fence ends each iteration of the outermost
loop.

Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, section 9.4.1 (non-temporal stores, MOVNTPS).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from polysched.emit_c.heap import constant_elements
from polysched.emit_c.index import ToBoundary
from polysched.emit_c.loops import For, Node, RegisterTile, instances, map_children, walk_nodes
from polysched.scop.scop import Access, Scop, Statement, Storage

LEAST_SHARE = 0.25        # of the last cache that the array takes by itself
USABLE = 0.7              # share of the last cache that one region has to itself
LEAST_ROW_BYTES = 1 << 11  # that are stored between two fences
SIZES = (32, 64)          # bytes of the vectors that have such stores


@dataclass(frozen=True)
class PastCaches:
    """What the rewrite asks of others.

    Parameters
    ----------
    scop : holds the bodies.
    cache_bytes : size of the last cache; 0 where it is not known.
    """

    scop: Scop
    cache_bytes: int

    def arrays(self) -> frozenset[str]:
        """The large arrays that are only written, every element at most once, in a region that no cache holds."""
        sizes = {array.name: elements * array.dtype.bytes for array in self.scop.arrays
                 if array.storage is not Storage.LOCAL and (elements := constant_elements(array)) is not None}
        touched = {access.array for statement in self.scop.statements for access in statement.accesses}
        if not self.cache_bytes or sum(sizes.get(name, 0) for name in touched) <= USABLE * self.cache_bytes:
            return frozenset()
        found: dict[str, list[tuple[Statement, Access]]] = {}
        for statement in self.scop.statements:
            for access in statement.accesses:
                found.setdefault(access.array, []).append((statement, access))
        return frozenset(
            name for name, places in found.items()
            if sizes.get(name, 0) >= LEAST_SHARE * self.cache_bytes and len(places) == 1 and places[0][1].is_write
            and places[0][1].relation.intersect_domain(places[0][0].domain).is_injective())


def store_past_caches(node: Node, how: PastCaches) -> Node:
    """Mark the vectors that are stored so, and the loops that end in a fence."""
    arrays = how.arrays()
    return _fenced(node, arrays, how.scop) if arrays else node


def _fenced(node: Node, arrays: frozenset[str], scop: Scop) -> Node:
    """The outermost loops around such vectors end in fences."""
    if not isinstance(node, For):
        return map_children(node, partial(_fenced, arrays=arrays, scop=scop))
    body = _marked(node.body, arrays, scop)
    fences = any(isinstance(n, RegisterTile) and n.past_caches for n in walk_nodes(body))
    return replace(node, body=body, fences=True) if fences else node


def _marked(node: Node, arrays: frozenset[str], scop: Scop) -> Node:
    if isinstance(node, For) and isinstance(node.body, RegisterTile):
        written = _stored(node, node.body, arrays, scop)
        return node if written is None else replace(node, body=replace(node.body, past_caches=written))
    return map_children(node, partial(_marked, arrays=arrays, scop=scop))


def _stored(loop: For, tile: RegisterTile, arrays: frozenset[str], scop: Scop) -> str | None:
    """The array whose whole, aligned vectors a loop stores one after the other, if that is all it writes."""
    if len(tile.edges) != 1 or tile.loops or tile.private or tile.partials or tile.within or tile.panels:
        return None
    (edge,) = tile.edges
    written = list(_written(tile, scop))
    if not edge.simd or not edge.is_own_variable or edge.variable != loop.variable or edge.count != loop.step \
            or len(written) != 1 or written[0] not in arrays:
        return None
    size = scop.array(written[0]).dtype.bytes * edge.count
    starts = any(isinstance(atom, ToBoundary) and atom.boundary_bytes == size and factor == 1
                 for atom, factor in loop.lower.terms)
    length = loop.upper - loop.lower.constant
    long = not length.is_constant or length.constant * scop.array(written[0]).dtype.bytes >= LEAST_ROW_BYTES
    return written[0] if starts and size in SIZES and long else None


def _written(tile: RegisterTile, scop: Scop) -> Iterator[str]:
    for instance in instances(tile.body):
        yield from (access.array for access in scop.statement(instance.statement).writes)
