"""Panels: operands of register tiles copied into contiguous, aligned buffers before the loop that reuses them.

Rewrite:  for i_block: { tile of (r, v) reading B(r, v) }
      ->  copy B(r, v) to panel[r][v];  for i_block: { tile reading panel[r][v] }

Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 34(3), 2008, section 4; here
the panel follows from the access and the tile, whatever the program computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from polysched.emit_c.expressions import linear_form
from polysched.emit_c.facts import arms_of, depends_on
from polysched.emit_c.index import Linear, variable, variables
from polysched.emit_c.loops import Edge, For, Node, Panel, StatementInstance, instances
from polysched.emit_c.names import TakenNames, identifier_of
from polysched.emit_c.tile_accesses import Lanes, Point, iterators_at, reach
from polysched.scop.scop import Access, Scop

LARGEST_PANEL_BYTES = 1 << 18
FEWEST_REUSES = 4


def panels_for(scop: Scop, loops: Sequence[For], edges: Sequence[Edge], body: Node, reuse: For,
               taken: TakenNames) -> tuple[Panel, ...]:
    """The operands of a tile that are worth a panel around the loop `reuse`.

    Parameters
    ----------
    loops, edges, body : the tile inside `reuse`; its points are a rectangle.
    reuse : the loop directly around the tile's nest.
    """
    vector = next((edge for edge in edges if edge.simd), None)
    if vector is None or not loops or _is_short(reuse):
        return ()
    written = {a.array for i in instances(body) for a in scop.statement(i.statement).writes}
    panels: list[Panel] = []
    for instance in instances(body):
        for access in scop.statement(instance.statement).reads:
            if access.array not in written:
                name = taken.fresh(f"{identifier_of(access.array)}_panel", frozenset(p.name for p in panels))
                panel = _panel(scop, instance, access, loops, edges, vector, reuse, name)
                if panel is not None and not any(p.reference == panel.reference for p in panels):
                    panels.append(panel)
    return tuple(panels)


def _is_short(loop: For) -> bool:
    length = _longest(loop)
    return length is not None and length < FEWEST_REUSES


def _longest(loop: For) -> int | None:
    """A constant that the number of iterations never exceeds."""
    found = _constant_extent(loop)
    return None if found is None else -(-found[1] // loop.step)


def _constant_extent(loop: For) -> tuple[Linear, int] | None:
    """A lower bound of the loop and a constant distance from it to the end."""
    best: tuple[Linear, int] | None = None
    for low in arms_of(loop.lower, "max"):
        for high in arms_of(loop.upper, "min"):
            distance = high - low
            if distance.is_constant and (best is None or distance.constant < best[1]):
                best = low, distance.constant
    return best


def _panel(scop: Scop, instance: StatementInstance, access: Access, loops: Sequence[For], edges: Sequence[Edge],
           vector: Edge, reuse: For, name: str) -> Panel | None:
    array = scop.array(access.array)
    iterators = iterators_at(scop, instance, Point(()))
    forms = [linear_form(subscript, iterators) for subscript in access.subscripts]
    known = [form for form in forms if form is not None]
    if len(known) < len(forms) or not known:
        return None
    used = frozenset().union(*(variables(form) for form in known))
    moving = [loop for loop in loops if loop.variable in used]
    rows = {edge.variable for edge in edges if edge is not vector}
    how = reach(array, access, iterators, vector.variable, 2).lanes
    if vector.variable not in used or not moving or used & rows or how not in (Lanes.UNIT, Lanes.SPREAD):
        return None
    fixed = frozenset({reuse.variable}) | rows
    ranges = [_constant_extent(loop) for loop in moving]
    origins = [found for found in ranges if found is not None]
    if len(origins) < len(ranges) or reuse.variable in used or depends_on(vector.base, fixed):
        return None
    inner = frozenset(loop.variable for loop in loops)
    if any(depends_on(bound, fixed | inner) for loop in moving for bound in (loop.lower, loop.upper)):
        return None
    extents = (*(count for _, count in origins), vector.count)
    size = array.dtype.bytes
    for extent in extents:
        size *= extent
    if size > LARGEST_PANEL_BYTES:
        return None
    subscripts = (*(variable(loop.variable) - low for loop, (low, _) in zip(moving, origins, strict=True)),
                  variable(vector.variable) - vector.base)
    return Panel(name=name, array=array.name, statement=instance.statement, reference=access.reference,
                 subscripts=subscripts, extents=extents, loops=tuple(moving), by_columns=how is Lanes.SPREAD)
