"""Recurrences along independent rows: several rows share the loop inside, so that none waits for its own last element.

Rewrite:  for i (independent): for j: p[i][j] = a / (b * p[i][j - 1] + c)
      ->  for i by 8: for j: { p[i][j] = a / (b * p[i][j - 1] + c);  ...  p[i + 7][j] = a / (b * p[i + 7][j - 1] + c); }

A row alone takes the time from one result to the next, a dozen cycles and more for a division; eight rows give the
pipes something to do meanwhile, and what moves across the rows is read line by line.  Every number is computed as
before.  Rows that sum into one element each are those of `independent_rows`.

Source: unroll-and-jam; S. Carr, K. Kennedy, "Improving the ratio of memory operations to
floating-point operations in loops", TOPLAS 16(6), 1994.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, depends_on
from polysched.emit_c.loop_ir.index import variable
from polysched.emit_c.loop_ir.loops import Block, Edge, For, Node, RegisterTile, StatementInstance
from polysched.emit_c.loop_ir.named_bounds import named_bounds
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.traversal import block, instances, straight
from polysched.emit_c.nests.unroll_and_jam import Site, in_blocks, waits
from polysched.records import dataclass
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

    def jam(self, site: Site) -> Node | None:
        """The loop over blocks of rows and the one over the last rows, around plain loops with recurrences."""
        loop, parts = site.loop, _parts(site.loop)
        if not parts or not all(self._waits(row, site) for row in parts if isinstance(row, For)):
            return None
        if not loop.mark.parallel and any(True for _ in carried_pairs(
                site.leaves(loop.body), site.depth, self.dependences)):
            return None
        edge = Edge(variable=loop.variable, base=variable(loop.variable), count=ROWS, simd=False)
        tiles = tuple(_tile(part, edge) for part in parts)
        if not all(self.has_form(tile, site.inside) for tile in tiles):
            return None
        return in_blocks(loop, named_bounds(loop, self.taken), block(tiles), ROWS)

    def _waits(self, row: For, site: Site) -> bool:
        """Whether iterations of a row use what earlier ones computed, other than in an element that stays the same."""
        return (waits(site.leaves(row.body), site.depth + 1, self.dependences)
                and not self.promotes(_tile(row, None), site.inside))


def _parts(loop: For) -> tuple[Node, ...]:
    """The plain loops over rows, and the statements beside them, that a loop has inside; none where it has others."""
    parts = loop.body.children if isinstance(loop.body, Block) else (loop.body,)
    if loop.step != 1 or not loop.is_canonical or loop.mark.simd or any(i.temporaries for i in instances(loop.body)):
        return ()
    known = all(isinstance(part, StatementInstance) or _is_row(part, loop) for part in parts)
    return parts if known and any(isinstance(part, For) for part in parts) else ()


def _is_row(part: Node, loop: For) -> bool:
    """Whether a part is a plain loop over statements, of the same length for all rows."""
    if not isinstance(part, For) or part.step != 1 or not part.is_canonical:
        return False
    plain = straight(part.body)
    marked = part.mark.simd or part.mark.parallel or part.mark.register
    return not marked and plain is not None and not plain[1] and not any(
        depends_on(bound, frozenset({loop.variable})) for bound in (part.lower, part.upper))


def _tile(part: Node, edge: Edge | None) -> RegisterTile:
    """A part of a row for the rows of an edge, or for one row."""
    edges = () if edge is None else (edge,)
    if not isinstance(part, For):
        return RegisterTile(loops=(), edges=edges, body=part)
    return RegisterTile(loops=(replace(part, body=Block(())),), edges=edges, body=part.body)
