"""Panels: operands of register tiles copied into contiguous, aligned buffers before the loop that reuses them.

Rewrite:  for j_block: for i_block: { tile of (r, i, j) reading a * A(i, r) and B(r, j) }
      ->  copy a * A(i, r) to A_panel[i][r];
          for j_block: { copy B(r, j) to B_panel[r][j];  for i_block: { tile reading A_panel[i][r], B_panel[r][j] } }

Which accesses read copies, and around which loop these are filled, stands in the schedule tree
(`tiling.rewriting.copies`); where what they read is no box there, or a loop changes some of it, a loop inside takes its
place.  What is copied is the largest part of an expression that the loop does not change: an access, or arithmetic on
accesses, which is then computed once for all iterations of the loop.

Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 34(3), 2008, section 4; here
the panel follows from the access and the tile, whatever the program computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polysched.emit_c.loop_ir.facts import Facts, arms_of, depends_on
from polysched.emit_c.loop_ir.index import Linear, Variable, direction, substitute, variable, variables
from polysched.emit_c.loop_ir.loops import Block, Edge, For, Node, Panel, StatementInstance
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.register_tiles.kept_values import keeps_value, within_edges
from polysched.emit_c.register_tiles.panel_range import PanelRange, clipped
from polysched.emit_c.register_tiles.register_nests import EdgeRange
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Point, iterators_at, memory_step, reach
from polysched.records import dataclass
from polysched.scheduling.marks import Copy, LoopMark, Role
from polysched.scop.body import Assign, Binary, Cast, Expr, Load, Select, Unary, children, walk
from polysched.scop.scop import Access, Scop
from polysched.target.target import Target
from polysched.tiling.planning.block_orders import LARGEST_PANEL_BYTES
from polysched.tiling.planning.read_in_place import FEWEST_PANEL_READS

_POINT = LoopMark(role=Role.POINT)
_EMPTY = Block(())


@dataclass(frozen=True, kw_only=True)
class TileBlock:
    """The register tiles that one loop runs over.

    Parameters
    ----------
    reuse : the loop.
    between : the loops inside it around the tiles, outermost first.
    loops, ranges, body : the tile inside.
    rectangular : every point of the tile's loops and edges is an instance.
    packed : what is in a panel already.
    in_place : operands in lanes, whose elements lie side by side, are read where they are.
    packs_few : they are copied, however few tiles read the copy.
    """

    reuse: For
    between: tuple[For, ...]
    loops: tuple[For, ...]
    ranges: tuple[EdgeRange, ...]
    body: Node
    rectangular: bool
    packed: tuple[Panel, ...] = ()
    in_place: bool = False
    packs_few: bool = False

    @property
    def vector(self) -> Edge | None:
        return next((part.edge for part in self.ranges if part.edge.simd), None)

    @property
    def inside(self) -> frozenset[str]:
        """The variables of all loops inside `reuse`, and its own."""
        loops = (self.reuse, *self.between, *self.loops)
        return frozenset(loop.variable for loop in loops) | {part.edge.variable for part in self.ranges}


def panels_for(scop: Scop, tiles: TileBlock, outside: Facts, taken: TakenNames, copies: Sequence[Copy], *,
               target: Target, most_bytes: int = LARGEST_PANEL_BYTES) -> tuple[Panel, ...]:
    """The panels of operands of register tiles around the loop over the tiles.

    Parameters
    ----------
    outside : what holds around the loop.
    copies : what the schedule tree copies around this loop or one outside of it, where what is read is no box.
    target : the machine, for its first cache.
    most_bytes : of one panel.
    """
    on_threads = any(loop.mark.parallel for loop in (tiles.reuse, *tiles.between))
    if tiles.vector is None or not tiles.loops or _is_short(tiles) or on_threads:
        return ()
    facts = outside
    for loop in (tiles.reuse, *tiles.between, *tiles.loops):
        facts = facts.inside(loop)
    panels: list[Panel] = []
    for instance in instances(tiles.body):
        for value in _operands(scop, instance, tiles, _changing(scop, instance, tiles, facts, outside)):
            packed = (*tiles.packed, *panels)
            if any(p.statement == instance.statement and p.value == value for p in packed):
                continue
            wanted = _wanted_layouts(value, copies)
            panel = _panel(scop, instance, value, tiles, facts, target) if wanted else None
            if panel is not None and panel.in_lanes in wanted and panel.bytes <= most_bytes:
                name = taken.fresh(panel.name, frozenset(p.name for p in packed))
                panels.append(replace(panel, name=name))
    return tuple(panels)


def arrays_of(scop: Scop, statement: str, value: Expr) -> frozenset[str]:
    """The arrays of which a value reads elements."""
    accesses = (scop.statement(statement).access(e.reference) for e in walk(value) if isinstance(e, Load))
    return frozenset(access.array for access in accesses if access.subscripts)


def _is_short(tiles: TileBlock) -> bool:
    found, fewest = constant_extent(tiles.reuse), 2 if tiles.packs_few else FEWEST_PANEL_READS
    return found is not None and -(-found[1] // tiles.reuse.step) < fewest


def constant_extent(loop: For) -> tuple[Linear, int] | None:
    """A lower bound of the loop and a constant distance from it to the end."""
    best: tuple[Linear, int] | None = None
    for low in arms_of(loop.lower, "max"):
        for high in arms_of(loop.upper, "min"):
            distance = high - low
            if distance.is_constant and (best is None or distance.constant < best[1]):
                best = low, distance.constant
    return best


def _changing(scop: Scop, instance: StatementInstance, tiles: TileBlock, facts: Facts,
              outside: Facts) -> frozenset[str]:
    """The references of a statement whose elements may be written while the loop `reuse` runs."""
    written = {a.array for i in instances(tiles.reuse.body) for a in statement_at(scop, i).writes}
    private = {temporary.array for temporary in instance.temporaries}
    iterators = iterators_at(scop, instance, Point(()))
    reading = within_edges(facts, tiles.ranges)
    return frozenset(a.reference for a in statement_at(scop, instance).accesses if a.array in private or (
        a.array in written and not keeps_value(scop, a, iterators, tiles.reuse, reading=reading, outside=outside)))


def _operands(scop: Scop, instance: StatementInstance, tiles: TileBlock, changing: frozenset[str]) -> Iterator[Expr]:
    """The largest parts of a statement's values that the loop `reuse` leaves alone and that are always computed.

    Parameters
    ----------
    changing : references that may read another value in a later iteration.
    """
    statement = statement_at(scop, instance)
    assert tiles.vector is not None
    rows = frozenset(part.edge.variable for part in tiles.ranges if part.edge is not tiles.vector)
    columns = frozenset({tiles.vector.variable})

    def largest(expr: Expr) -> Iterator[Expr]:
        used = _used(scop, instance, expr, changing)
        if used is not None and tiles.reuse.variable not in used and not (used & rows and used & columns):
            if used & {loop.variable for loop in tiles.loops} and used & (rows | columns):
                yield expr
        elif isinstance(expr, Select):
            yield from largest(expr.condition)
        elif isinstance(expr, Binary) and expr.op in ("&&", "||"):
            yield from largest(expr.left)
        else:
            for child in children(expr):
                yield from largest(child)

    for item in statement.body:
        if isinstance(item, Assign):
            yield from largest(item.value)


def _used(scop: Scop, instance: StatementInstance, expr: Expr, changing: frozenset[str]) -> frozenset[str] | None:
    """The loop variables that a value depends on; None when it cannot be computed ahead of its place."""
    statement = statement_at(scop, instance)
    iterators = iterators_at(scop, instance, Point(()))
    names: set[str] = set()
    if not isinstance(expr, Load) and (not expr.dtype.is_float or not all(
            isinstance(e, Load) or (isinstance(e, Binary) and e.op in "+-*") or (isinstance(e, Cast))
            or (isinstance(e, Unary) and e.op == "-") for e in walk(expr))):
        return None
    for part in walk(expr):
        if isinstance(part, Load):
            access = statement.access(part.reference)
            forms = [linear_form(s, iterators) for s in access.subscripts]
            if access.reference in changing or any(form is None for form in forms):
                return None
            names.update(*(variables(form) for form in forms if form is not None))
    return frozenset(names)


def _wanted_layouts(value: Expr, copies: Sequence[Copy]) -> set[bool]:
    """Whether copies that the schedule asks for of an operand are in lanes."""
    read = {e.reference for e in walk(value) if isinstance(e, Load)}
    return {copy.in_lanes for copy in copies if not read.isdisjoint(copy.references)}


def _panel(scop: Scop, instance: StatementInstance, value: Expr, tiles: TileBlock, facts: Facts,
           target: Target) -> Panel | None:
    iterators = iterators_at(scop, instance, Point(()))
    accesses = [statement_at(scop, instance).access(e.reference) for e in walk(value) if isinstance(e, Load)]
    used = _used(scop, instance, value, frozenset()) or frozenset()
    vector = tiles.vector
    assert vector is not None
    in_lanes = vector.variable in used
    ranges = _ranges(tiles, used, _movers(tiles) if in_lanes else [])
    if ranges is not None and not tiles.rectangular:
        ranges = clipped(scop, accesses, iterators, ranges, tiles.inside, facts)
    if ranges is None or (not in_lanes and _repeats(accesses, iterators, [r.variable for r in ranges])):
        return None
    main = max(accesses, key=lambda access: len(_variables(access, iterators) & used))
    order = nested = _memory_order(main, iterators, ranges)
    if in_lanes:
        how = reach(scop.array(main.array), main, iterators, vector.variable, 2).lanes
        order, nested = _orders_in_lanes(order, vector.variable, apart=how is not Lanes.UNIT)
        if not _gains_by_copy(how, tiles, _lies_as_copied(scop, value, main, iterators, order)):
            return None
    loops = [For(r.variable, r.lower, r.upper, 1, _EMPTY, _POINT) for r in nested]
    extents = [r.count for r in order]
    if not in_lanes and len(extents) > 1:
        extents[-1] = off_the_grid(extents[-1], value.dtype.bytes, target)
    return Panel(name=f"{identifier_of(main.array)}_panel", statement=instance.statement, value=value,
                 subscripts=tuple(variable(r.variable) - r.origin for r in order),
                 extents=tuple(extents), loops=tuple(loops), in_lanes=in_lanes)


def _gains_by_copy(lanes: Lanes, tiles: TileBlock, is_a_panel: bool) -> bool:
    """Whether an operand in lanes is copied: its elements lie along them, and it is not to be read where it is.

    Parameters
    ----------
    is_a_panel : it lies as its copy would.
    """
    in_place = is_a_panel or (tiles.in_place and lanes is Lanes.UNIT)
    return lanes in (Lanes.UNIT, Lanes.SPREAD, Lanes.STRIDED) and not in_place


def _lies_as_copied(scop: Scop, value: Expr, access: Access, iterators: Mapping[str, Linear],
                    order: Sequence[PanelRange]) -> bool:
    """Whether elements lie in the array as they would in a panel, so that a copy changes nothing."""
    array, step = scop.array(access.array), 1
    if not isinstance(value, Load):
        return False
    for part in reversed(order):
        if part.is_block or memory_step(array, access, iterators, part.variable) != step:
            return False
        step *= part.count
    return True


def _orders_in_lanes(order: Sequence[PanelRange], lane: str, *, apart: bool
                     ) -> tuple[list[PanelRange], list[PanelRange]]:
    """The dimensions of a panel whose last one is in lanes, and the loops that fill it.

    apart : elements of neighbouring lanes lie apart in the array.
    """
    blocks = [r for r in order if r.is_block]
    points = [r for r in order if not r.is_block and r.variable != lane]
    lanes = [r for r in order if r.variable == lane]
    # elements of the last loops lie side by side, and their rows of the panel stay in the first cache
    far = points[:1] if len(points) > 1 else []
    nested = [*blocks, *far, *lanes, *points[len(far):]] if apart else [*points, *blocks, *lanes]
    return [*blocks, *points, *lanes], nested


def _repeats(accesses: Sequence[Access], iterators: Mapping[str, Linear], names: Sequence[str]) -> bool:
    """Whether a panel over these variables would hold elements several times: two of them move one subscript."""
    forms = [linear_form(s, iterators) for access in accesses for s in access.subscripts]
    return any(len(variables(form) & set(names)) > 1 for form in forms if form is not None)


def off_the_grid(count: int, element_bytes: int, target: Target) -> int:
    """Elements from one row to the next; rows that tiles read side by side shall not share the sets of a cache."""
    return count if count * element_bytes % target.row_grid_bytes else count + target.line_bytes // element_bytes


def _variables(access: Access, iterators: Mapping[str, Linear]) -> frozenset[str]:
    forms = [linear_form(s, iterators) for s in access.subscripts]
    return frozenset().union(*(variables(form) for form in forms if form is not None))


def _movers(tiles: TileBlock) -> list[For]:
    """The loops over tiles that move the vector edge; each becomes a dimension of the panel, outside the lanes."""
    assert tiles.vector is not None
    moving = variables(tiles.vector.base)
    return [loop for loop in (tiles.reuse, *tiles.between) if loop.variable in moving]


def _ranges(tiles: TileBlock, used: frozenset[str], movers: list[For]) -> list[PanelRange] | None:
    """The values of the variables that move an operand, as boxes that nothing inside `reuse` moves.

    Only the lanes move with the block that they belong to.
    """
    if len(movers) > len(tiles.between):
        return None  # nothing reuses the operand
    found = [_range_of(loop, is_block=True) if loop.step == 1 else None for loop in movers]
    found += [_range_of(loop, is_block=False) for loop in tiles.loops if loop.variable in used]
    found += [_hull(part, () if part.edge is tiles.vector else tiles.between) for part in tiles.ranges
              if part.edge.variable in used]
    ranges = [r for r in found if r is not None]
    if len(ranges) < len(found):
        return None
    if any(_is_moved(r, tiles, frozenset(loop.variable for loop in movers)) for r in ranges):
        return None
    if used & tiles.inside - {r.variable for r in ranges}:
        return None  # a loop between moves the operand, and is no dimension of the panel
    return ranges


def _is_moved(found: PanelRange, tiles: TileBlock, blocks: frozenset[str]) -> bool:
    """Whether something inside the loop around moves a range, other than blocks its lanes."""
    fixed = tiles.inside - blocks if tiles.vector and found.variable == tiles.vector.variable else tiles.inside
    return any(depends_on(bound, fixed) for bound in (found.origin, found.lower, found.upper))


def _range_of(loop: For, *, is_block: bool) -> PanelRange | None:
    """The values of a loop's variable; None where their number is not constant."""
    extent = constant_extent(loop)
    return None if extent is None else PanelRange(
        variable=loop.variable, origin=extent[0], count=extent[1], lower=loop.lower, upper=loop.upper, is_edge=False,
        is_block=is_block)


def _hull(part: EdgeRange, between: tuple[For, ...]) -> PanelRange | None:
    """All values of an edge's variable while the loops between run."""
    origin, count = part.edge.base, part.edge.count
    starts, ends = [origin], [part.end]
    for loop in reversed(between):
        factor = origin.coefficient(Variable(loop.variable))
        if not depends_on(origin, frozenset({loop.variable})):
            continue
        extent = constant_extent(loop)
        if extent is None or factor <= 0 or loop.step != 1:
            return None
        rest = origin - variable(loop.variable) * factor
        if depends_on(rest, frozenset({loop.variable})):
            return None
        if any(direction(form, loop.variable) not in (0, 1) for form in (*starts, *ends)):
            return None  # its first value need not be the least start, nor its last the largest end
        origin, count = substitute(origin, {loop.variable: extent[0]}), count + factor * (extent[1] - 1)
        starts = [substitute(s, {loop.variable: low}) for s in starts for low in arms_of(loop.lower, "max")]
        ends = [substitute(e, {loop.variable: high - 1}) for e in ends for high in arms_of(loop.upper, "min")]
    return PanelRange.of_edge(part, origin, count, starts, ends)


def _memory_order(access: Access, iterators: Mapping[str, Linear], ranges: list[PanelRange]) -> list[PanelRange]:
    """The ranges as the access finds its elements in memory: what moves the last subscript comes last."""
    forms = [linear_form(s, iterators) for s in access.subscripts]

    def last_moved(r: PanelRange) -> int:
        return max((at for at, form in enumerate(forms) if form is not None and r.variable in variables(form)),
                   default=-1)
    return sorted(ranges, key=last_moved)
