"""What stands in loops behind all passes, for tests that ask what a pass made of a program."""

from __future__ import annotations

from collections.abc import Iterator

from polysched.emit_c.loop_ir.index import Linear, ToBoundary
from polysched.emit_c.loop_ir.loops import (
    For,
    If,
    Let,
    Local,
    Node,
    OnCopy,
    Packed,
    Panel,
    Partial,
    RegisterTile,
    Temporary,
    ThreadReduction,
)
from polysched.emit_c.loop_ir.traversal import child_nodes, is_innermost, walk_nodes


def for_loops(loops: Node) -> list[For]:
    """Those around tiles, and those that are left as they are."""
    return [n for n in walk_nodes(loops) if isinstance(n, For)]


def innermost(loops: Node) -> list[For]:
    return list(filter(is_innermost, for_loops(loops)))


def tiles(loops: Node) -> list[RegisterTile]:
    return [n for n in walk_nodes(loops) if isinstance(n, RegisterTile)]


def blocks(loops: Node) -> list[RegisterTile]:
    """Tiles of accumulators, with more than one edge."""
    return [tile for tile in tiles(loops) if len(tile.edges) > 1]


def vectors(loops: Node) -> list[RegisterTile]:
    """Tiles of one edge, whose points are lanes: what became of an innermost loop."""
    return [tile for tile in tiles(loops) if len(tile.edges) == 1 and tile.edges[0].simd]


def lengths(loops: Node) -> list[int]:
    """How many iterations each of the vectors has."""
    return [tile.edges[0].count for tile in vectors(loops)]


def left_to_the_compiler(loops: Node) -> list[For]:
    """Loops that are marked for vectors, and are loops still."""
    return [loop for loop in for_loops(loops) if loop.mark.simd]


def on_threads(loops: Node) -> list[For]:
    return [loop for loop in for_loops(loops) if loop.mark.parallel]


def conditions(loops: Node) -> list[If]:
    return [n for n in walk_nodes(loops) if isinstance(n, If)]


def on_a_copy(loops: Node) -> list[RegisterTile]:
    """Blocks that are computed in full on a copy of what they sum up, and of which only instances are kept."""
    return [tile for tile in blocks(loops) if tile.within]


def shape(tile: RegisterTile) -> tuple[int, ...]:
    return tuple(edge.count for edge in tile.edges)


def panels(loops: Node) -> dict[str, Panel]:
    """The copies of operands, by their C names."""
    return {n.panel.name: n.panel for n in walk_nodes(loops) if isinstance(n, Packed)}


def shared_copies(loops: Node) -> list[OnCopy]:
    return [n for n in walk_nodes(loops) if isinstance(n, OnCopy)]


def temporaries(loops: Node) -> dict[str, Temporary]:
    """What stands in the place of temporary arrays, by the array; of all places where it is declared, the last."""
    return {temporary.array: temporary for n in walk_nodes(loops) if isinstance(n, Local)
            for temporary in n.temporaries} | {temporary.array: temporary for tile in tiles(loops)
                                               for temporary in tile.private}


def around(loops: Node, inner: Node) -> list[Node]:
    """The nodes on the way to one of them, outermost first."""
    def way(node: Node) -> list[Node] | None:
        if node is inner:
            return []
        found = (way(child) for child in child_nodes(node))
        return next(([node, *below] for below in found if below is not None), None)

    found = way(loops)
    assert found is not None, "no such node"
    return found


def reductions(loops: Node) -> list[ThreadReduction]:
    return [n for n in walk_nodes(loops) if isinstance(n, ThreadReduction)]


def lane_parts(loops: Node) -> list[Partial]:
    """The elements of which every lane has a part."""
    return [partial for tile in tiles(loops) for partial in tile.partials]


def boundaries(loops: Node) -> Iterator[ToBoundary]:
    """Where vectors begin at a boundary in memory, so that iterations run twice in front of it."""
    forms: list[Linear] = [loop.lower for loop in for_loops(loops)]
    forms += [node.value for node in walk_nodes(loops) if isinstance(node, Let)]
    for tile in tiles(loops):
        forms += [loop.lower for loop in tile.loops]
    return (atom for form in forms for atom, _ in form.terms if isinstance(atom, ToBoundary))
