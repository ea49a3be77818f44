"""The rows of the next tile over time, fetched into the cache while this one is computed.

Rewrite:  for j_tile: for t: for i: for j = 14 j_tile - 2 t ...: for k: b[i][j][k] = f(a[i][j][k], ...)
      ->  for j_tile: for t: for i: for j = ...: for k: { fetch a[i][j + 14][k];  b[i][j][k] = f(a[i][j][k], ...) }

A tile over time goes over its data again and again, and moves on a little with every step; what is new to it are short
rows, each far from the one before it, which no hardware follows.  While a tile is in the cache memory is idle, so every
vector has time to fetch its counterpart in the next tile.  Only where tiles follow each other along the rows of planes,
not along the columns that a vector lies in, and in whole lines.  heat-3d, 120 x 120 x 120 doubles, on a Zen
4 with AVX-512: 1.09 times as fast on one thread, 1.15 on two.

Source: T. C. Mowry, M. S. Lam, A. Gupta, "Design and Evaluation of a Compiler Algorithm for Prefetching", ASPLOS 1992,
section 2.2; there the distance is one of iterations, here of tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from polysched.emit_c.expressions import linear_form
from polysched.emit_c.facts import arms_of, depends_on
from polysched.emit_c.fetched_rows import LEAST_ARRAY_BYTES
from polysched.emit_c.heap import constant_elements
from polysched.emit_c.index import Linear, Variable, substitute, variable, variables
from polysched.emit_c.loops import FetchedRow, For, Let, Node, RegisterTile, StatementInstance, instances, map_children
from polysched.scheduling.marks import Role
from polysched.scop.scop import Scop
from polysched.tiling.streams import LINE_BYTES

MOST_ROWS = 8   # that one iteration fetches


@dataclass(frozen=True)
class _Above:
    """The loops around a node, outermost first, with bounds in terms of each other alone, and the values of names."""

    loops: tuple[For, ...] = ()
    values: Mapping[str, Linear] | None = None

    def inside(self, loop: For) -> _Above:
        return replace(self, loops=(*self.loops, replace(loop, lower=substitute(loop.lower, self.values or {}))))

    def where(self, node: Let) -> _Above:
        values = dict(self.values or {})
        return replace(self, values=values | {node.variable: substitute(node.value, values)})


def fetch_tiles(node: Node, scop: Scop, vector_bits: int) -> Node:
    """Let rows of vectors inside of tiles over time fetch the rows of the next tile.

    Parameters
    ----------
    vector_bits : width of a vector register; nothing is fetched where it is less than a line.
    """
    return _fetching(node, scop, _Above()) if vector_bits >= 8 * LINE_BYTES else node


def _fetching(node: Node, scop: Scop, above: _Above) -> Node:
    match node:
        case RegisterTile() if not node.fetched:
            return replace(node, fetched=_rows(node, scop, above))
        case For():
            above = above.inside(node)
        case Let():
            above = above.where(node)
    return map_children(node, lambda child: _fetching(child, scop, above))


def _rows(tile: RegisterTile, scop: Scop, above: _Above) -> tuple[FetchedRow, ...]:
    """What the vectors of a row fetch; nothing where they are in no tile that moves on over its data."""
    if len(tile.edges) != 1 or not tile.edges[0].simd or not tile.edges[0].is_own_variable or tile.panels:
        return ()
    column = tile.edges[0].variable
    loops = (*above.loops, *tile.loops)
    if not loops or loops[-1].variable != column or loops[-1].step != tile.edges[0].count:
        return ()
    last = max((k for k, loop in enumerate(loops) if loop.mark.role is Role.TILE), default=None)
    if last is None or loops[last].mark.parallel or loops[last].mark.gaps or depends_on(
            loops[-1].lower, frozenset({loops[last].variable})):
        return ()
    points = loops[last + 1:-1]
    rows = dict.fromkeys(row for instance in instances(tile) for row in _read(instance, scop, column))
    moved = [moved for row in rows if (moved := _moved(row, points, loops[last])) is not None]
    return tuple(moved) if len(moved) <= MOST_ROWS else ()


def _read(instance: StatementInstance, scop: Scop, column: str) -> Iterator[FetchedRow]:
    """Of every large array that a statement reads, the vector that lies where it writes its own."""
    statement = scop.statement(instance.statement)
    iterators = dict(zip(statement.iterators, instance.iterators, strict=True))
    forms = [(access, [linear_form(subscript, iterators) for subscript in access.subscripts])
             for access in statement.accesses]
    written = [subscripts for access, subscripts in forms if access.is_write]
    for access, subscripts in forms:
        known = tuple(form for form in subscripts if form is not None)
        elements = constant_elements(scop.array(access.array))
        large = elements is None or elements * scop.array(access.array).dtype.bytes >= LEAST_ARRAY_BYTES
        if not access.is_write and large and subscripts in written and len(known) == len(subscripts) and known and (
                known[-1].coefficient(Variable(column)) == 1):
            yield FetchedRow(array=access.array, subscripts=known, bytes_ahead=0)


def _moved(row: FetchedRow, points: tuple[For, ...], tile: For) -> FetchedRow | None:
    """The row in the next tile; None where tiles do not move on over their data, or not along this row's array.

    Nor where they follow each other along the outermost loop: then the rows of a tile lie one behind the other, and the
    hardware follows them.
    """
    used = frozenset[str]().union(*map(variables, row.subscripts))
    steps = frozenset(loop.variable for loop in points) - used
    ahead: dict[str, Linear] = {}
    skewed = False
    along = [loop for loop in points if loop.variable in used]
    for loop in along:
        arms = arms_of(loop.lower, "max")
        factors = {arm.coefficient(Variable(tile.variable)) for arm in arms} - {0}
        if not factors:
            continue
        if len(factors) > 1 or loop is along[0]:
            return None
        ahead[loop.variable] = variable(loop.variable) + factors.pop() * tile.step
        skewed = skewed or any(depends_on(arm, steps) for arm in arms)
    if not skewed:
        return None
    return replace(row, subscripts=tuple(substitute(form, ahead) for form in row.subscripts))
