"""The array accesses of a register tile: where each goes at each point of the tile, and how in vector lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import product

from polysched.emit_c.loop_ir.index import Linear, growth, substitute, variable, variables
from polysched.emit_c.loop_ir.loops import Edge, PackedOperand, Partial, RegisterTile, StatementInstance, Temporary
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.register_tiles.strided_reads import MOST_APART
from polysched.records import dataclass
from polysched.scop.body import Expr
from polysched.scop.scop import Access, Array, Scop


class Lanes(Enum):
    """How an access moves from lane to lane."""

    UNIFORM = "uniform"    # the same element
    UNIT = "unit"          # the next element in memory
    REVERSED = "reversed"  # the element before
    STRIDED = "strided"    # every second or third element of memory, either way
    SPREAD = "spread"      # anything else that is linear
    UNKNOWN = "unknown"    # not linear in the loop variables


@dataclass(frozen=True)
class Reach:
    """The element of one access at one point.

    Parameters
    ----------
    array : the array's name.
    subscripts : linear forms, one per source subscript; None when one is not linear.
    lanes : how it moves along the vector edge.
    span : elements along the last subscript that one vector access covers.
    step : elements of memory from lane to lane, where lanes are strided.
    """

    array: str
    subscripts: tuple[Linear, ...] | None
    lanes: Lanes
    span: int
    step: int = 0


@dataclass(frozen=True)
class Point:
    """One point of a tile, or `lanes` points along the vector edge.

    Parameters
    ----------
    offsets : an offset per edge variable.
    renamed : edge variables that have their value in a variable of this point's own.
    """

    offsets: tuple[tuple[str, int], ...]
    renamed: tuple[tuple[str, str], ...] = ()

    def substitution(self) -> dict[str, Linear]:
        """Edge variables, which stay at the tile's first point, to their values here."""
        return {name: variable(name) + offset for name, offset in self.offsets} | {
            name: variable(other) for name, other in self.renamed}


def points(edges: Sequence[Edge], lanes: int) -> tuple[Point, ...]:
    """The points of a tile in the order of its loops; the simd edge advances by whole vectors.

    Where these do not divide it, the last vector ends at the end of the edge and overlaps the one before.
    """
    ranges = [_starts(edge, lanes if edge.simd else 1) for edge in edges]
    names = [edge.variable for edge in edges]
    return tuple(Point(tuple(zip(names, offsets, strict=True))) for offsets in product(*ranges))


def _starts(edge: Edge, step: int) -> list[int]:
    """The first points of the vectors along an edge."""
    last = max(0, edge.count - step)
    return [min(start, last) for start in range(0, edge.count, step)]


def iterators_at(scop: Scop, instance: StatementInstance, point: Point) -> dict[str, Linear]:
    """The values of a statement's iterators at a point."""
    statement = statement_at(scop, instance)
    values = point.substitution()
    return {name: substitute(form, values)
            for name, form in zip(statement.iterators, instance.iterators, strict=True)}


def reach(array: Array, access: Access, iterators: Mapping[str, Linear], vector: str | None, lanes: int, *,
          temporary: Temporary | None = None) -> Reach:
    """Where an access goes, and how it moves when the variable `vector` advances.

    Parameters
    ----------
    temporary : the buffer that is declared in the place of the array; the subscripts are those in the buffer.
    """
    forms = [linear_form(subscript, iterators) for subscript in access.subscripts]
    if any(form is None for form in forms):
        return Reach(array.name, None, Lanes.UNKNOWN, 1)
    known = tuple(form for form in forms if form is not None)
    if temporary is not None:
        known = temporary.subscripts(known)
    kind = _lanes(array, known, vector)
    if kind is Lanes.SPREAD and vector is not None:
        step = _memory_step(known, vector, (None,) * len(known) if temporary else array.c_extents)
        if is_contiguous(array) and step is not None and 1 < abs(step) <= MOST_APART:
            return Reach(array.name, known, Lanes.STRIDED, 1, step)
    return Reach(array.name, known, kind, lanes if kind in (Lanes.UNIT, Lanes.REVERSED) else 1)


def private_reach(array: Array, vector: str | None, lanes: int) -> Reach:
    """A variable of which each point has one of its own, and each lane."""
    return Reach(array.name, (), Lanes.UNIFORM if vector is None else Lanes.UNIT, lanes)


def partial_reach(partial: Partial, array: Array, vector: str | None, lanes: int) -> Reach:
    """What a loop reduces into: a variable of each lane, or of all where the order is kept."""
    return private_reach(array, None if partial.in_order else vector, lanes)


def packed_at(tile: RegisterTile, statement: str, point: Point) -> dict[Expr, PackedOperand]:
    """Where the packed operands of a statement find their elements at a point."""
    offsets = dict(point.offsets)
    bases = {edge.variable: edge.base + offsets.get(edge.variable, 0) for edge in tile.edges}
    moved = point.substitution()
    return {panel.value: PackedOperand(panel.name, tuple(
        min(substitute(form, bases), substitute(form, moved), key=lambda f: len(variables(f)))
        for form in panel.subscripts), panel.in_lanes) for panel in tile.panels if panel.statement == statement}


def packed_reach(operand: PackedOperand, lanes: int) -> Reach:
    """The element of a panel that an operand is, and how it moves from lane to lane."""
    if lanes > 1 and operand.in_lanes:
        return Reach(operand.name, operand.subscripts, Lanes.UNIT, lanes)
    return Reach(operand.name, operand.subscripts, Lanes.UNIFORM, 1)


def _lanes(array: Array, subscripts: tuple[Linear, ...], vector: str | None) -> Lanes:
    if vector is None:
        return Lanes.UNIFORM
    steps = [growth(form, vector) for form in subscripts]
    if None in steps:
        return Lanes.UNKNOWN
    if not any(steps):
        return Lanes.UNIFORM
    if is_contiguous(array) and not any(steps[:-1]) and steps[-1] in (1, -1):
        return Lanes.UNIT if steps[-1] == 1 else Lanes.REVERSED
    return Lanes.SPREAD


def is_contiguous(array: Array) -> bool:
    """Whether elements with neighbouring last subscripts lie side by side, as far as C's spelling tells."""
    return not array.c_element or array.c_element.endswith(("[{}]", " + {}]"))


def memory_step(array: Array, access: Access, iterators: Mapping[str, Linear], vector: str) -> int | None:
    """Elements of a contiguous array by which an access moves with a variable; None where that is not known."""
    forms = [linear_form(subscript, iterators) for subscript in access.subscripts]
    known = tuple(form for form in forms if form is not None)
    if len(known) < len(forms) or not is_contiguous(array) or any(growth(form, vector) is None for form in known):
        return None
    return _memory_step(known, vector, array.c_extents)


def _memory_step(subscripts: tuple[Linear, ...], vector: str, extents: tuple[str | None, ...]) -> int | None:
    """Elements of memory by which an access moves; None where that depends on an extent that is no number."""
    steps = [growth(form, vector) or 0 for form in subscripts]
    if len(extents) != len(steps):
        extents = (None,) * len(steps)
    size, total = 1, 0
    for step, extent in zip(reversed(steps), reversed(extents), strict=True):
        if step and not size:
            return None
        total += step * size
        size *= int(extent) if extent is not None and extent.isdigit() else 0
    return total


def is_whole(tile: RegisterTile) -> bool:
    """Whether all points of a tile on a copy are instances."""
    return all(lower == edge.base and upper == edge.base + edge.count
               for edge, (lower, upper) in zip(tile.edges, tile.within, strict=True))
