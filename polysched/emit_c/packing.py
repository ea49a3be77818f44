"""Panels: operands of register tiles copied into contiguous, aligned buffers before the loop that reuses them.

Rewrite:  for i_block: { tile of (r, v) reading B(r, v) }
      ->  copy B(r, v) to panel[r][v];  for i_block: { tile reading panel[r][v] }

Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 34(3), 2008, section 4; here
the panel follows from the access and the tile, whatever the program computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from polysched.emit_c.ast_reader import read_index
from polysched.emit_c.expressions import linear_form
from polysched.emit_c.facts import Facts, arms_of, depends_on
from polysched.emit_c.index import Comparison, Linear, Variable, constant, extreme, variable, variables
from polysched.emit_c.loops import Edge, For, Node, Panel, StatementInstance, instances
from polysched.emit_c.names import TakenNames, identifier_of
from polysched.emit_c.tile_accesses import Lanes, Point, iterators_at, reach
from polysched.scop.scop import Access, Array, Scop

LARGEST_PANEL_BYTES = 1 << 18
FEWEST_REUSES = 4


@dataclass(frozen=True, kw_only=True)
class TileBlock:
    """The register tiles that one loop runs over.

    Parameters
    ----------
    reuse : the loop.
    loops, edges, body : the tile inside.
    columns : first value and end of the vector edge's variable, as far as they are fixed around the tile.
    rectangular : every point of the tile's loops and edges is an instance.
    """

    reuse: For
    loops: tuple[For, ...]
    edges: tuple[Edge, ...]
    body: Node
    columns: tuple[Linear, Linear]
    rectangular: bool


def panels_for(scop: Scop, tiles: TileBlock, facts: Facts, taken: TakenNames) -> tuple[Panel, ...]:
    """The operands of register tiles that are worth a panel around the loop over the tiles.

    Parameters
    ----------
    facts : what holds around the tile's loops, inside `tiles.reuse`.
    """
    loops, edges, reuse = tiles.loops, tiles.edges, tiles.reuse
    vector = next((edge for edge in edges if edge.simd), None)
    if vector is None or not loops or _is_short(reuse):
        return ()
    written = {a.array for i in instances(tiles.body) for a in scop.statement(i.statement).writes}
    for loop in loops:
        facts = facts.inside(loop)
    panels: list[Panel] = []
    for instance in instances(tiles.body):
        for access in scop.statement(instance.statement).reads:
            if access.array not in written:
                name = taken.fresh(f"{identifier_of(access.array)}_panel", frozenset(p.name for p in panels))
                panel = _panel(scop, instance, access, tiles, vector, facts, name)
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


def _panel(scop: Scop, instance: StatementInstance, access: Access, tiles: TileBlock, vector: Edge, facts: Facts,
           name: str) -> Panel | None:
    loops, edges, reuse = tiles.loops, tiles.edges, tiles.reuse
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
    columns = tiles.columns if tiles.rectangular else _clipped(array, known, vector, tiles, facts)
    if columns is None or depends_on(columns[0], fixed) or depends_on(columns[1], fixed):
        return None
    subscripts = (*(variable(loop.variable) - low for loop, (low, _) in zip(moving, origins, strict=True)),
                  variable(vector.variable) - vector.base)
    return Panel(name=name, array=array.name, statement=instance.statement, reference=access.reference,
                 subscripts=subscripts, extents=extents, loops=tuple(moving), columns=columns,
                 by_columns=how is Lanes.SPREAD)


def _clipped(array: Array, subscripts: Sequence[Linear], vector: Edge, tiles: TileBlock,
             facts: Facts) -> tuple[Linear, Linear] | None:
    """The columns of a block that is no rectangle, cut off where the array ends.

    Some elements of the panel may then be read that no instance reads; they have to exist.
    """
    lower, upper = tiles.columns
    if len(array.extents) != len(subscripts):
        return None
    for form, extent in zip(subscripts, array.extents, strict=True):
        end = None if extent is None else _extent_form(extent)
        if end is None:
            return None
        step = form.coefficient(Variable(vector.variable))
        rest = form - variable(vector.variable) * step
        if step == 0:
            if not (facts.imply(Comparison(">=", form, constant(0))) and facts.imply(Comparison("<", form, end))):
                return None
        elif step == 1 and not variables(rest) & {loop.variable for loop in tiles.loops}:
            if not facts.imply(Comparison(">=", vector.base + rest, constant(0))):
                lower = extreme("max", [lower, rest * -1])
            upper = extreme("min", [upper, end - rest])
        else:
            return None
    return lower, upper


def _extent_form(extent: isl.PwAff) -> Linear:
    context = extent.domain().params()
    return read_index(isl.AstBuild.from_context(context).expr_from_pw_aff(extent.project_domain_on_params()))
