"""Vectors that are stored to memory past the caches, where nobody will find them there.

Rewrite:  for j from a boundary of vectors on, in vectors: y[i][j ...] = f(x[i][j ...])
      ->  the same with stores that do not bring the line of y[i][j] into the caches first

A store to a line that no cache has reads the line before it writes to it.  Where a region touches much more than the
last cache holds, what it has written is gone from there before anybody reads it, so neither that reading nor the place
in the caches is of use.  Layer norm on two threads of a Zen 4 with 32 MiB of last cache, called again and again, took
2.1 times as long with such stores where its arrays have 16 MiB, 1.0 to 1.7 times with 32 MiB, 0.95 times with 64 MiB
and 0.85 times with 128 MiB (medians; between other work that empties the cache, with 32 MiB, 0.8 times).

Stores past the caches are not ordered with others: a fence ends each iteration of the loops on threads, or of the
outermost loop.

Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, section 9.4.1 (non-temporal stores, MOVNTPS).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import ToBoundary
from polysched.emit_c.loop_ir.loops import For, Node, RegisterTile
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.traversal import child_nodes, instances, map_children
from polysched.emit_c.scalar_code.heap import constant_elements
from polysched.records import dataclass
from polysched.scop.scop import Access, Scop, Statement, Storage

LEAST_SHARE = LIMITS.least_past_share
TIMES_AS_LARGE = LIMITS.past_caches_factor
LEAST_ROW_BYTES = LIMITS.least_past_row_bytes
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
        """Large arrays that are only written, each element at most once, in a region no half of which a cache holds."""
        sizes = {array.name: elements * array.dtype.bytes for array in self.scop.arrays
                 if array.storage is not Storage.LOCAL and (elements := constant_elements(array)) is not None}
        touched = {access.array for statement in self.scop.statements for access in statement.accesses}
        if not self.cache_bytes or sum(sizes.get(name, 0) for name in touched) < TIMES_AS_LARGE * self.cache_bytes:
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
    """Mark the vectors that are stored so, and the loops whose iterations end in a fence."""
    arrays = how.arrays()
    return _fenced(node, arrays, how.scop) if arrays else node


def _fenced(node: Node, arrays: frozenset[str], scop: Scop) -> Node:
    """With such vectors below loops, the outermost of which end in fences, and the loops on threads among them."""
    if not isinstance(node, For):
        return map_children(node, partial(_fenced, arrays=arrays, scop=scop))
    body = _fenced_threads(_marked(node.body, arrays, scop))
    return replace(node, body=body, fences=_leaves_stores(body))


def _fenced_threads(node: Node) -> Node:
    """The innermost loops on threads around such vectors end in fences: each thread waits for its own stores."""
    node = map_children(node, _fenced_threads)
    return replace(node, fences=True) if isinstance(node, For) and node.mark.parallel and _leaves_stores(
        node.body) else node


def _leaves_stores(node: Node) -> bool:
    """Whether such vectors are stored outside of loops that end in fences."""
    if isinstance(node, RegisterTile):
        return bool(node.past_caches)
    return not (isinstance(node, For) and node.fences) and any(_leaves_stores(child) for child in child_nodes(node))


def _marked(node: Node, arrays: frozenset[str], scop: Scop) -> Node:
    if isinstance(node, For) and isinstance(node.body, RegisterTile):
        written = _stored(node, node.body, arrays, scop)
        return node if written is None else replace(node, body=replace(node.body, past_caches=written))
    return map_children(node, partial(_marked, arrays=arrays, scop=scop))


def _is_vector_of_row(loop: For, tile: RegisterTile) -> bool:
    """Whether a tile is one vector of the row that the loop walks along, and nothing besides."""
    if len(tile.edges) != 1 or tile.loops or tile.private or tile.partials or tile.within or tile.panels:
        return False
    (edge,) = tile.edges
    return edge.simd and edge.is_own_variable and edge.variable == loop.variable and edge.count == loop.step


def _stored(loop: For, tile: RegisterTile, arrays: frozenset[str], scop: Scop) -> str | None:
    """The array whose whole, aligned vectors a loop stores one after the other, if that is all it writes."""
    written = list(_written(tile, scop))
    if loop.mark.parallel or not _is_vector_of_row(loop, tile) or len(written) != 1 or written[0] not in arrays:
        return None
    (edge,) = tile.edges
    size = scop.array(written[0]).dtype.bytes * edge.count
    starts = any(isinstance(atom, ToBoundary) and atom.boundary_bytes == size and factor == 1
                 for atom, factor in loop.lower.terms)
    length = loop.upper - loop.lower.constant
    long = not length.is_constant or length.constant * scop.array(written[0]).dtype.bytes >= LEAST_ROW_BYTES
    return written[0] if starts and size in SIZES and long else None


def _written(tile: RegisterTile, scop: Scop) -> Iterator[str]:
    for instance in instances(tile.body):
        yield from (access.array for access in statement_at(scop, instance).writes)
