"""Invariants of the loop IR, checked between passes in tests and with `--verify-passes`.

Once loops have names: every variable that is used is given a value around its use, and none is given two on one path;
steps are positive; a statement instance has the iterators of its statement; what an instance takes from a temporary is
declared around it; the nodes inside register tiles are straight code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polysched.emit_c.loop_ir.loops import (
    Block,
    For,
    Local,
    Node,
    Packed,
    RegisterTile,
    StatementInstance,
    Temporary,
    ThreadReduction,
)
from polysched.emit_c.loop_ir.text import loop_text
from polysched.emit_c.loop_ir.traversal import child_nodes, variables_of, variables_set_by, walk_nodes


def faults(loops: Node, *, depths: Mapping[str, int], parameters: frozenset[str]) -> tuple[str, ...]:
    """What is wrong with the loops of a region, one sentence each; empty where nothing is.

    Parameters
    ----------
    depths : the number of iterators per statement.
    parameters : variables that have a value everywhere.
    """
    unfilled = sorted(unfilled_panels(loops))
    return (*_faults(loops, depths, parameters, frozenset()),
            *(f"a register tile reads panel {name}, which nothing around it fills" for name in unfilled))


def _faults(node: Node, depths: Mapping[str, int], scope: frozenset[str],
            declared: frozenset[Temporary]) -> Iterator[str]:
    own, given = _own(node), variables_set_by(node)
    for fault in (*(f"{name} has no value" for name in sorted(variables_of(node) - scope - own)),
                  *(f"{name} gets a second value" for name in given if name in scope),
                  *_own_faults(node, depths, declared)):
        yield f"{fault}: {loop_text(node).split(chr(10), 1)[0]}"
    inner_scope = scope | set(given) | own
    inner_declared = declared | set(_declares(node))
    for child in child_nodes(node):
        yield from _faults(child, depths, inner_scope, inner_declared)


def _own_faults(node: Node, depths: Mapping[str, int], declared: frozenset[Temporary]) -> Iterator[str]:
    match node:
        case For() if node.step < 1:
            yield f"the step {node.step} is not positive"
        case StatementInstance():
            if depths.get(node.statement) != len(node.iterators):
                yield f"statement {node.statement} has {depths.get(node.statement)} iterators"
            if missing := set(node.temporaries) - declared:
                yield f"{', '.join(sorted(t.name for t in missing))} is declared nowhere around"
        case RegisterTile():
            yield from _tile_faults(node)


def _own(node: Node) -> frozenset[str]:
    """The variables of loops that belong to the node itself."""
    if isinstance(node, RegisterTile):
        return frozenset({loop.variable for loop in node.loops} | {edge.variable for edge in node.edges})
    return frozenset()


def _declares(node: Node) -> tuple[Temporary, ...]:
    match node:
        case Local():
            return node.temporaries
        case RegisterTile():
            return node.private
        case ThreadReduction():
            return tuple(t for part in node.parts for t in part.temporaries)
        case _:
            return ()


def _tile_faults(tile: RegisterTile) -> Iterator[str]:
    for inner in walk_nodes(tile.body):
        if not isinstance(inner, Block | StatementInstance):
            yield f"a register tile holds {type(inner).__name__}, which is no straight code"
    if any(edge.count < 1 for edge in tile.edges):
        yield "an edge of a register tile has no point"
    if any(loop.body != Block(()) for loop in tile.loops):
        yield "a loop around the points of a register tile has a body of its own"
    if tile.within and len(tile.within) != len(tile.edges):
        yield f"a register tile has {len(tile.edges)} edges and bounds for {len(tile.within)}"


def panels_read(node: Node) -> frozenset[str]:
    """Names of the panels that register tiles below read; each is filled by a `Packed` around them."""
    return frozenset(panel.name for tile in walk_nodes(node) if isinstance(tile, RegisterTile) for panel in tile.panels)


def unfilled_panels(node: Node, filled: frozenset[str] = frozenset()) -> frozenset[str]:
    """Panels that a register tile reads and nothing around it fills."""
    if isinstance(node, RegisterTile):
        return panels_read(node) - filled
    if isinstance(node, Packed):
        filled |= {node.panel.name}
    return frozenset().union(*(unfilled_panels(child, filled) for child in child_nodes(node)))

