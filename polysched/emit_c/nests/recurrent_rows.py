"""Recurrences along independent rows: several rows share the loop inside, so that none waits for its own last element.

Rewrite:  for i (independent): for j: p[i][j] = a / (b * p[i][j - 1] + c)
      ->  for i by 8: for j: { p[i][j] = a / (b * p[i][j - 1] + c);  ...  p[i + 7][j] = a / (b * p[i + 7][j - 1] + c); }

A row alone takes the time from one result to the next, a dozen cycles and more for a division; eight rows give the
pipes something to do meanwhile, and what moves across the rows is read line by line.  Every number is computed as
before.  Rows that sum into one element each are those of `row_jam`.

Source: unroll-and-jam; S. Carr, K. Kennedy, "Improving the ratio of memory operations to
floating-point operations in loops", TOPLAS 16(6), 1994.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, depends_on, map_inside
from polysched.emit_c.loop_ir.index import Remainder, of_atom, variable
from polysched.emit_c.loop_ir.leaves import Leaf, leaves_of
from polysched.emit_c.loop_ir.loops import (
    Block,
    Edge,
    For,
    Node,
    RegisterTile,
    StatementInstance,
    block,
    instances,
    straight,
    variables_set_by,
)
from polysched.emit_c.loop_ir.named_bounds import named_bounds
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.tiling.tree.rows_in_step import ROWS


@dataclass(frozen=True, kw_only=True)
class RecurrentRows:
    """What the rewriting asks of others.

    Parameters
    ----------
    dependences : of the program.
    taken : names that must not be made up.
    has_form : whether a tile can be printed as straight code.
    promotes : whether a tile holds some written element in a register around all its loops.
    """

    dependences: Dependences
    taken: TakenNames
    has_form: Callable[[RegisterTile, Facts], bool]
    promotes: Callable[[RegisterTile, Facts], bool]


def recurrences_in_step(node: Node, facts: Facts, how: RecurrentRows) -> Node:
    """Rewrite every loop with independent iterations around plain loops with recurrences, and single statements."""
    return _rewritten(node, facts, how, tuple(leaves_of(node, (), facts)), 0)


def _rewritten(node: Node, facts: Facts, how: RecurrentRows, leaves: tuple[Leaf, ...], depth: int) -> Node:
    changed = _in_step(node, facts, how, leaves, depth) if isinstance(node, For) else None
    below = depth + len(variables_set_by(node))
    return changed or map_inside(node, facts, lambda child, inside: _rewritten(child, inside, how, leaves, below))


def _in_step(loop: For, facts: Facts, how: RecurrentRows, leaves: tuple[Leaf, ...], depth: int) -> Node | None:
    """The loop over blocks of rows and the one over the last rows; None where rows are no such thing."""
    parts = loop.body.children if isinstance(loop.body, Block) else (loop.body,)
    rows = [part for part in parts if isinstance(part, For)]
    if loop.step != 1 or not loop.is_canonical or loop.mark.simd or not rows or not all(
            isinstance(part, StatementInstance) or _is_row(part, loop) for part in parts):
        return None
    own = [x for x in leaves if any(x.instance is i for i in instances(loop.body))]
    inside = facts.inside(loop)
    if any(i.temporaries for i in instances(loop.body)) or not all(
            _waits(row, inside, how, own, depth + 1) for row in rows):
        return None
    if not loop.mark.parallel and any(True for _ in carried_pairs(own, depth, how.dependences)):
        return None
    edge = Edge(variable=loop.variable, base=variable(loop.variable), count=ROWS, simd=False)
    tiles = tuple(_tile(part, edge) for part in parts)
    if not all(how.has_form(tile, inside) for tile in tiles):
        return None
    return _blocks(loop, tiles, how)


def _is_row(part: Node, loop: For) -> bool:
    """Whether a part is a plain loop over statements, of the same length for all rows."""
    if not isinstance(part, For) or part.step != 1 or not part.is_canonical:
        return False
    plain = straight(part.body)
    marked = part.mark.simd or part.mark.parallel or part.mark.register
    return not marked and plain is not None and not plain[1] and not any(
        depends_on(bound, frozenset({loop.variable})) for bound in (part.lower, part.upper))


def _waits(row: For, facts: Facts, how: RecurrentRows, leaves: list[Leaf], depth: int) -> bool:
    """Whether iterations of a row use what earlier ones computed, other than in an element that stays the same."""
    own = [x for x in leaves if any(x.instance is i for i in instances(row.body))]
    flow = replace(how.dependences, pairs=tuple(
        pair for pair in how.dependences.pairs if pair.kind is DependenceKind.FLOW))
    return (any(pairs is not None for pairs in carried_pairs(own, depth, flow))
            and not how.promotes(_tile(row, None), facts))


def _tile(part: Node, edge: Edge | None) -> RegisterTile:
    """A part of a row for the rows of an edge, or for one row."""
    edges = () if edge is None else (edge,)
    if not isinstance(part, For):
        return RegisterTile(loops=(), edges=edges, body=part)
    return RegisterTile(loops=(replace(part, body=Block(())),), edges=edges, body=part.body)


def _blocks(loop: For, tiles: tuple[RegisterTile, ...], how: RecurrentRows) -> Node:
    bounds = named_bounds(loop, how.taken)
    lower, upper = bounds.lower, bounds.upper
    length = upper - lower
    mark = replace(loop.mark, least_iterations=-(-loop.mark.least_iterations // ROWS))
    node: Node = replace(loop, lower=lower, upper=upper - (ROWS - 1), step=ROWS, body=block(tiles), mark=mark)
    if not (length.is_constant and length.constant % ROWS == 0):
        rest = replace(loop, lower=upper - of_atom(Remainder(length, ROWS)), upper=upper,
                       mark=replace(loop.mark, parallel=False))
        node = block((node, rest))   # a negative length leaves nothing: C's remainder is negative too
    return bounds.around(node)
