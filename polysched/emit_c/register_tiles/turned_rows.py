"""Register tiles along a row of memory share one transposed copy of what they sum up.

Rewrite:  for t: tile of MR rows on a transposed copy of its own
      ->  copy of all rows in, transposed;  for t: tile of MR rows on that copy;  copy back

Blocks of the transposition are square, so a copy of all rows has fewer of them than copies of MR rows each, where MR is
no multiple of the lanes, and whole vectors of memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import depends_on
from polysched.emit_c.loop_ir.index import Comparison, Linear, Variable, constant, substitute
from polysched.emit_c.loop_ir.loops import For, If, Node, OnCopy, RegisterTile
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances, map_children
from polysched.emit_c.register_tiles.tile_accesses import Point, is_whole, iterators_at
from polysched.records import dataclass
from polysched.scop.scop import Scop

TURNED_WAYS = LIMITS.turned_ways


@dataclass(frozen=True, kw_only=True)
class TurnedRows:
    """What the pass asks of others.

    Parameters
    ----------
    scop : holds the bodies.
    lanes_of : lanes of a tile's vectors.
    most_bytes : of the copy, which stays in the first cache.
    """

    scop: Scop
    lanes_of: Callable[[RegisterTile], int]
    most_bytes: int


def turn_rows(node: Node, how: TurnedRows, *, on_threads: bool = False) -> Node:
    """Give the tiles of every loop along a row one copy, where that has fewer blocks to transpose.

    Parameters
    ----------
    on_threads : a loop around the node runs on threads, so that no loop inside does.
    """
    if isinstance(node, For):
        if on_threads or not node.mark.parallel:
            turned = _on_copy(node, how)
            if turned is not None:
                return turned
        on_threads = on_threads or node.mark.parallel
    return map_children(node, lambda child: turn_rows(child, how, on_threads=on_threads))


def _on_copy(loop: For, how: TurnedRows) -> OnCopy | None:
    tiles = _tiles_along(loop)
    if not tiles or any(not _is_turned_row(tile, how.scop) for tile in tiles):
        return None
    whole, last = tiles[0], tiles[-1]
    base, step = whole.edges[0].base, whole.edges[0].count
    first, last_base = (substitute(base, {loop.variable: constant(at.constant)})
                        for at in (loop.lower, loop.upper - 1))
    alike = all(t.edges[0].base == base and t.edges[1] == whole.edges[1] and t.loops == whole.loops for t in tiles)
    if not alike or base.coefficient(Variable(loop.variable)) != step or depends_on(
            whole.edges[1].base, frozenset({loop.variable})) or not (last_base - first).is_constant:
        return None
    count = (last_base - first).constant + last.edges[0].count
    lanes, columns = how.lanes_of(whole), whole.edges[1].count
    many = loop.upper.constant - loop.lower.constant
    apart = (many - 1) * -(-step // lanes) + -(-last.edges[0].count // lanes)
    fits = count * columns * _sums_bytes(whole, how.scop) <= how.most_bytes
    if not fits or many < 2 or -(-count // lanes) >= apart:
        return None
    edges = (replace(whole.edges[0], base=first), whole.edges[1])
    copied = replace(whole, edges=edges, within=tuple((e.base, e.base + e.count) for e in edges))
    return OnCopy(copied, count, map_children(loop, lambda body: _on_outer_copy(body, first)))


def _tiles_along(loop: For) -> tuple[RegisterTile, ...]:
    """The tile of all iterations but the last, and that of the last one; empty where the body is anything else."""
    if not loop.lower.is_constant or not loop.upper.is_constant or loop.step != 1 or loop.guard is not None:
        return ()
    match loop.body:
        case RegisterTile() as tile:
            return (tile,)
        case If(condition=Comparison(op=">=" | "<=") as fits, then=RegisterTile() as whole,
                otherwise=RegisterTile() as rest):
            room = fits.left - fits.right if fits.op == ">=" else fits.right - fits.left
            return (whole, rest) if _only_at_the_end(room, loop) else ()
        case _:
            return ()


def _only_at_the_end(room: Linear, loop: For) -> bool:
    """Whether a form of the loop's variable is negative in the last iteration, and in no other."""
    values = [substitute(room, {loop.variable: constant(loop.upper.constant - n)}) for n in (1, 2)]
    first = substitute(room, {loop.variable: loop.lower})
    return all(v.is_constant for v in (*values, first)) and (
        values[0].constant < 0 <= min(values[1].constant, first.constant))


def _only_place(tile: RegisterTile, scop: Scop) -> tuple[Linear, ...] | None:
    """Where the array that a tile writes is read and written, if that is one place of one array."""
    reached: set[tuple[str, tuple[Linear | None, ...]]] = set()
    written = set()
    for instance in instances(tile.body):
        iterators = iterators_at(scop, instance, Point(()))
        accesses = statement_at(scop, instance).accesses
        written |= {a.array for a in accesses if a.is_write}
        reached |= {(a.array, tuple(linear_form(s, iterators) for s in a.subscripts)) for a in accesses}
        if instance.temporaries:
            return None
    own = [forms for array, forms in reached if array in written]
    if len(written) != 1 or len(own) != 1:
        return None
    known = tuple(form for form in own[0] if form is not None)
    return known if len(known) == len(own[0]) else None


def _is_turned_row(tile: RegisterTile, scop: Scop) -> bool:
    """Whether a tile is on a copy, and all it reads and writes of that array are the elements that it sums up.

    They are a row of memory along the first edge, and one subscript of their own along the other.
    """
    if not tile.within or not is_whole(tile) or len(tile.edges) != 2 or tile.edges[0].simd:
        return False
    rows, columns = (edge.variable for edge in tile.edges)
    place = _only_place(tile, scop)
    if place is None:
        return False
    *outer, last = place
    turned = [form for form in outer if depends_on(form, frozenset({columns}))]
    return (last.coefficient(Variable(rows)) == 1 and not depends_on(last, frozenset({columns})) and len(turned) == 1
            and turned[0].coefficient(Variable(columns)) == 1
            and not any(depends_on(form, frozenset({rows})) for form in outer))


def _sums_bytes(tile: RegisterTile, scop: Scop) -> int:
    """Bytes of one element of what a tile sums up."""
    return max(scop.array(a.array).dtype.bytes for i in instances(tile.body)
               for a in statement_at(scop, i).accesses if a.is_write)


def _on_outer_copy(node: Node, first: Linear) -> Node:
    if isinstance(node, RegisterTile):
        return replace(node, copied_from=first)
    return map_children(node, lambda child: _on_outer_copy(child, first))
