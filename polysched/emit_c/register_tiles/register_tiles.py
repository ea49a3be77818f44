"""Register tiles: index sets are split so that the edges of a tile have constant lengths.

Rewrite:  for r: for i in [max(a, L), min(a + MR, U)): S
      ->  if (a >= L and a + MR <= U):  for r in [where all of that holds]: tile of MR points: S,  other r: as it was
          else:  smaller tiles that together have the points of this one

`a` and `a + MR` come from the schedule; `L` and `U` are what the domain adds.  Where they depend on the loops `r`
between the tile and its block (a triangular domain), those loops are split, which keeps the order of instances.
Smaller tiles are legal because the loops that `register` marks speak of may be blocked with any length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import Facts, arms_of, depends_on, map_inside
from polysched.emit_c.loop_ir.index import (
    Comparison,
    Condition,
    Linear,
    Remainder,
    Variable,
    constant,
    extreme,
    junction,
    of_atom,
    variable,
    variables,
)
from polysched.emit_c.loop_ir.loops import (
    Block,
    Edge,
    For,
    If,
    Let,
    Local,
    Node,
    Packed,
    Panel,
    RegisterTile,
    StatementInstance,
)
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.split_loops import around, limits_of, split_loop, split_where
from polysched.emit_c.loop_ir.traversal import (
    block,
    child_nodes,
    holds,
    instances,
    map_children,
    variables_of,
    walk_nodes,
)
from polysched.emit_c.register_tiles.packing import TileBlock
from polysched.emit_c.register_tiles.register_nests import EdgeRange, RegisterNest, points_left, register_nest, widened
from polysched.records import dataclass
from polysched.scheduling.marks import Copy, LoopMark, Role

_NARROWEST = LIMITS.narrowest_columns
_POINT = LoopMark(role=Role.POINT)


HasForm = Callable[[RegisterTile, Facts], bool]
LanesOf = Callable[[RegisterTile], int]
Scatters = Callable[[RegisterTile], bool]
PanelsFor = Callable[[TileBlock, Facts, tuple[Copy, ...]], tuple[Panel, ...]]


@dataclass(frozen=True, kw_only=True)
class Separation:
    """What the separation asks of others.

    Parameters
    ----------
    taken : names that must not be made up.
    has_form : whether a tile can be printed as straight code.
    panels_for : which operands of a nest, of those that the schedule tree copies, are packed around a loop.
    lanes_of : lanes of a tile's vectors.
    scatters : whether a tile writes lanes that lie apart in memory.
    registers : of vectors, how many there are.
    panels : what was packed further out.
    ahead : the edge along which the loop around the tiles runs.
    copies : what the schedule tree copies around one of the loops outside.
    """

    taken: TakenNames
    has_form: HasForm
    panels_for: PanelsFor
    lanes_of: LanesOf
    scatters: Scatters
    registers: int
    panels: tuple[Panel, ...] = ()
    ahead: str | None = None
    copies: tuple[Copy, ...] = ()


def separate_register_tiles(node: Node, facts: Facts, how: Separation) -> Node:
    """Replace each nest of register loops by full `RegisterTile`s, smaller ones, and the remaining loops."""
    below = how
    if isinstance(node, For):
        nest = register_nest(node)
        tiles = None if nest is None else _tiles(replace(nest, panels=how.panels, ahead=how.ahead), facts, how)
        if tiles is None:
            tiles = _packed(node, facts, how)
        if tiles is not None:
            return tiles
        below = replace(how, ahead=_next_edge(node), copies=(*how.copies, *node.mark.copies))
    return map_inside(node, facts, lambda child, inside: separate_register_tiles(child, inside, below))


def _tiles(nest: RegisterNest, facts: Facts, how: Separation) -> Node | None:
    """Full tiles where all edges are full, smaller ones elsewhere; None when the points are no rectangle."""
    wide = widened(nest)
    cut = None if wide is None else _padded(wide, tuple(r.edge for r in wide.ranges), [
        (extreme("max", r.starts), extreme("min", r.ends)) for r in wide.ranges], facts, how)
    if cut is not None:
        return cut
    wholes = [tuple(c for c in r.is_full() if not facts.imply(c)) for r in nest.ranges]
    if any(facts.exclude(c) for whole in wholes for c in whole):
        return None
    spans, lets = _spans(nest, wholes, how)
    tiles = _cover(nest, wholes, spans, facts, how)
    if tiles is None or not all(how.has_form(n, facts) for n in _first_tile(tiles)):
        return None
    for name, value in reversed(lets):
        if any(name in variables_of(n) for n in walk_nodes(tiles)):
            tiles = Let(name, value, tiles)
    return tiles


def _first_tile(node: Node) -> tuple[RegisterTile, ...]:
    """The tile with all its points, which comes first; the smaller ones have a form when it has one."""
    return next(((n,) for n in walk_nodes(node) if isinstance(n, RegisterTile)), ())


def _spans(nest: RegisterNest, wholes: Sequence[tuple[Comparison, ...]], how: Separation
           ) -> tuple[list[tuple[Linear, Linear]], list[tuple[str, Linear]]]:
    """The first point of every edge and one past its last, and the names that ends of several bounds get."""
    names = frozenset(loop.variable for loop in nest.loops) | frozenset().union(
        *(variables_of(n) for n in (*nest.loops, *walk_nodes(nest.body))),
        *(variables(bound) for r in nest.ranges for bound in (*r.starts, *r.ends)))
    lets: list[tuple[str, Linear]] = []
    spans: list[tuple[Linear, Linear]] = []
    for part, whole in zip(nest.ranges, wholes, strict=True):
        lower = extreme("max", [part.edge.base, *part.lowers]) if whole else part.edge.base
        upper = extreme("min", [part.end, *part.uppers]) if whole else part.end
        if whole and len(arms_of(upper, "min")) > 1:
            name = how.taken.fresh(f"{part.edge.variable}_end", names)
            lets.append((name, upper))
            upper = variable(name)
        spans.append((lower, upper))
    return spans, lets


def _packed(reuse: For, facts: Facts, how: Separation) -> Node | None:
    """The tiles below a loop with operands packed around the loop; None when there is nothing to pack."""
    found = _tiles_below(reuse)
    if found is None:
        return None
    between, nest, condition = found
    parts = None if condition is None else split_where(reuse, condition)
    packed = None if parts is None else _packed(parts[1], facts, how)
    if parts is not None and packed is not None:
        before, after = (separate_register_tiles(part, facts, how) for part in (parts[0], parts[2]))
        return block((before, packed, after))
    nest = widened(nest) or nest
    within = facts
    for loop in (reuse, *between):
        within = within.inside(loop)
    tiles_of = TileBlock(reuse=reuse, between=between, loops=nest.loops, ranges=nest.ranges, body=nest.body,
                         rectangular=condition is None and _is_rectangular(nest, within), packed=how.panels,
                         in_place=nest.in_place, packs_few=nest.packs_few)
    copies = (*how.copies, *reuse.mark.copies)
    panels = how.panels_for(tiles_of, facts, copies)
    if not panels:
        return None
    inner = replace(how, panels=(*how.panels, *panels), ahead=_next_edge(reuse), copies=copies)
    body = separate_register_tiles(reuse.body, facts.inside(reuse), inner)
    if not any(tile.panels for tile in walk_nodes(body) if isinstance(tile, RegisterTile)):
        return None
    node: Node = replace(reuse, body=body)
    for panel in reversed(panels):
        node = Packed(panel, next(i for i in instances(nest.body) if i.statement == panel.statement), node)
    return _where_it_runs(node, reuse, facts)


def _where_it_runs(node: Node, loop: For, facts: Facts) -> Node:
    """The node under the condition that a loop runs, where that is not known."""
    runs = [Comparison("<", low, high) for low in arms_of(loop.lower, "max") for high in arms_of(loop.upper, "min")]
    unsure = [c for c in runs if not facts.imply(c)]
    return If(junction("&&", unsure), node) if unsure else node


def _tiles_below(reuse: For) -> tuple[tuple[For, ...], RegisterNest, If | None] | None:
    """The loops between a loop and the only nest of tiles below it, the nest, and the first condition in between.

    Other code may stand beside the nest.
    """
    lanes = [n for n in walk_nodes(reuse.body) if isinstance(n, For) and n.mark.register and n.mark.simd]
    between: list[For] = []
    condition: If | None = None
    node = reuse.body
    while len(lanes) == 1:
        match node:
            case For(guard=None):
                nest = register_nest(node)
                if nest is not None:
                    return (tuple(between), nest, condition) if nest.ranges[-1].edge.simd else None
                if node is lanes[0]:   # the marks of a nest whose other loops have conditions between them
                    return None
                between.append(node)
                node = node.body
            case If() | Block() | Local():
                if condition is None and isinstance(node, If):
                    condition = node
                node = next(child for child in child_nodes(node) if holds(child, lanes[0]))
            case _:
                break
    return None


def _next_edge(loop: For) -> str | None:
    """The edge of the tiles right below a loop that the loop moves."""
    nest = register_nest(loop.body) if isinstance(loop.body, For) else None
    return None if nest is None else next(
        (r.edge.variable for r in nest.ranges if depends_on(r.edge.base, frozenset({loop.variable}))), None)


def _is_rectangular(nest: RegisterNest, facts: Facts) -> bool:
    """Whether every point of the loops and edges is an instance."""
    return all(r.is_fixed for r in nest.ranges) and all(
        facts.imply(Comparison("<", low, high)) for r in nest.ranges for low in r.starts for high in r.ends)


def _cover(nest: RegisterNest, wholes: Sequence[tuple[Comparison, ...]], spans: Sequence[tuple[Linear, Linear]],
           facts: Facts, how: Separation) -> Node | None:
    """All points: rows in full or one by one, columns (the last edge) in full or in halves, quarters, ..."""
    full = tuple(r.edge for r in nest.ranges)
    conditions = _of_full_rows(nest, wholes, facts)
    main = None if conditions is None else _on_copy(_build(nest, full, facts), facts, how)
    if conditions is None or main is None:
        return None
    if isinstance(main, RegisterTile) and main.within and not conditions and not wholes[-1]:
        return main
    short = _short(nest, wholes, conditions, facts, how)
    if short is not None and not wholes[-1]:
        return If(junction("&&", conditions), main, short)
    padded = _padded(nest, full, spans, facts, how) if conditions or wholes[-1] else None
    if padded is None:
        return _cut_off(nest, wholes, conditions, spans, facts, how)
    rest = padded if short is None else If(junction("&&", wholes[-1]), short, padded)
    return If(junction("&&", (*conditions, *wholes[-1])), main, rest)


def _of_full_rows(nest: RegisterNest, wholes: Sequence[tuple[Comparison, ...]],
                  facts: Facts) -> tuple[Comparison, ...] | None:
    """What holds where all rows are full and no bound crosses the columns; None where one crosses the rows."""
    *rows, last = nest.ranges
    everywhere = _spread(_crossing(last), tuple(r.edge for r in rows))
    if everywhere is None or any(r.cross_lowers or r.cross_uppers for r in rows):
        return None
    return (*(c for whole in wholes[:-1] for c in whole), *(c for c in everywhere if not facts.imply(c)))


def _cut_off(nest: RegisterNest, wholes: Sequence[tuple[Comparison, ...]], conditions: Sequence[Comparison],
             spans: Sequence[tuple[Linear, Linear]], facts: Facts, how: Separation) -> Node | None:
    """All points without padded tiles: full rows where the conditions hold, and a few or one at a time elsewhere."""
    many = _columns(nest, tuple(r.edge for r in nest.ranges), wholes[-1], spans[-1], facts, how)
    if many is None or not conditions:
        return many
    one = _row_by_row(nest, (*wholes[-1], *_crossing(nest.ranges[-1])), spans, facts, how)
    if one is None:
        return None
    few = _few_rows(nest, wholes[-1], spans, facts, how)
    if few is not None and isinstance(one, For):
        one = block((few, replace(one, lower=one.upper - of_atom(Remainder(one.upper - one.lower, few.step)))))
    return If(junction("&&", conditions), many, one)


def _few_rows(nest: RegisterNest, whole: tuple[Comparison, ...], spans: Sequence[tuple[Linear, Linear]], facts: Facts,
              how: Separation) -> For | None:
    """A few rows at a time, as often as there are so many: a vector is read once for all of them.

    None where a block has hardly more rows, or a bound cuts across it.
    """
    *rows, last = nest.ranges
    count = LIMITS.rows_together
    if len(rows) != 1 or rows[0].edge.count <= count or _crossing(last):
        return None
    edge, (first, past) = rows[0].edge, spans[0]
    name = how.taken.fresh(f"{edge.variable}_few")
    own = replace(nest, body=_anew(nest.body))
    tile = _columns(own, (replace(edge, base=variable(name), count=count), last.edge), whole, spans[-1], facts, how)
    return None if tile is None else For(name, first, past - (count - 1), count, tile)


def _anew(node: Node) -> Node:
    """A body whose instances are told apart from those of other blocks, around which fewer loops run."""
    return replace(node) if isinstance(node, StatementInstance) else map_children(node, _anew)


def _crossing(part: EdgeRange) -> list[Comparison]:
    """What holds where no bound cuts across an edge."""
    return [*(Comparison(">=", part.edge.base, low) for low in part.cross_lowers),
            *(Comparison(">=", high, part.end) for high in part.cross_uppers)]


def _row_by_row(nest: RegisterNest, whole: tuple[Comparison, ...], spans: Sequence[tuple[Linear, Linear]],
                facts: Facts, how: Separation) -> Node | None:
    """All points, one row after the other, each cut off where the bounds that cross the tile say."""
    *rows, last = nest.ranges
    single = [replace(r.edge, base=variable(r.edge.variable), count=1) for r in rows]
    lower = extreme("max", [spans[-1][0], *last.cross_lowers])
    upper = extreme("min", [spans[-1][1], *last.cross_uppers])
    crosses = bool(last.cross_lowers or last.cross_uppers)
    end = how.taken.fresh(f"{last.edge.variable}_row_end")
    one = _columns(nest, (*single, last.edge), whole, (lower, variable(end) if crosses else upper), facts, how)
    if one is None:
        return None
    if crosses:
        one = Let(end, upper, one)
    for part, (first, past) in reversed(list(zip(rows, spans, strict=False))):
        one = For(part.edge.variable, first, past, 1, one)
    return one


def _short(nest: RegisterNest, wholes: Sequence[tuple[Comparison, ...]], conditions: Sequence[Comparison],
           facts: Facts, how: Separation) -> Node | None:
    """A tile of the rows that the end of their loop leaves, all columns of it being instances.

    None where their number is not known, or where something else cuts the tile off, too.
    """
    cut = [row for row, whole in enumerate(wholes[:-1]) if whole]
    if len(cut) != 1 or tuple(wholes[cut[0]]) != tuple(conditions):
        return None
    part = nest.ranges[cut[0]]
    count = points_left(part, facts.given(conditions[0].negation())) if len(conditions) == 1 else 0
    if not count:
        return None
    edges = [r.edge for r in nest.ranges]
    edges[cut[0]] = replace(part.edge, count=count)
    return _on_copy(_build(replace(nest, ahead=None), tuple(edges), facts), facts, how)


def _padded(nest: RegisterNest, full: tuple[Edge, ...], spans: Sequence[tuple[Linear, Linear]], facts: Facts,
            how: Separation) -> Node | None:
    """The tile where it is cut off, computed in full or in fewer whole vectors; None where that has no form."""
    if not all(part.is_fixed for part in nest.ranges) or not nest.ranges[-1].edge.simd:
        return None
    built = _build(nest, full, facts)
    if not isinstance(built, RegisterTile):
        return None
    tile = replace(built, within=tuple(spans), ahead=None)
    if not how.has_form(tile, facts):
        return None
    *rows, columns = full
    width, (_, upper) = how.lanes_of(tile), spans[-1]
    node: Node = tile
    narrower = [width << n for n in range(columns.count.bit_length()) if width << n < columns.count]
    for count in reversed(narrower if nest.ranges[-1].uppers else []):
        part = replace(tile, edges=(*rows, replace(columns, count=count)))
        node = If(Comparison("<=", upper, columns.base + count), part, node)
    return node


def _on_copy(tile: Node | None, facts: Facts, how: Separation) -> Node | None:
    """A tile that writes lanes that are no neighbours in memory, on a copy; None where it cannot be computed there."""
    if not isinstance(tile, RegisterTile) or not how.scatters(tile):
        return tile
    copied = replace(tile, within=tuple((edge.base, edge.base + edge.count) for edge in tile.edges), ahead=None)
    return copied if how.has_form(copied, facts) else None


def _columns(nest: RegisterNest, edges: tuple[Edge, ...], whole: tuple[Comparison, ...], span: tuple[Linear, Linear],
             facts: Facts, how: Separation) -> Node | None:
    main = _build(nest, edges, facts)
    if main is None or not whole:
        return main
    short = _short_row(nest, edges, whole, facts, how)
    if short is not None:
        return If(junction("&&", whole), main, short)
    lower, upper = span
    smaller: list[Node] = []
    width = 1 << ((edges[-1].count - 1).bit_length() - 1) if edges[-1].count > 1 else 1
    while width >= _NARROWEST:
        rest = of_atom(Remainder(upper - lower, 2 * width))
        part = _build(nest, (*edges[:-1], replace(edges[-1], base=upper - rest, count=width)), facts)
        if part is None:
            return None
        smaller.append(If(Comparison(">=", rest, constant(width)), part))
        width //= 2
    name = edges[-1].variable
    single = _build(nest, (*edges[:-1], Edge(variable=name, base=variable(name), count=1, simd=False)), facts)
    if single is None:
        return None
    start = upper - of_atom(Remainder(upper - lower, 2 * width)) if smaller else lower
    smaller.append(For(name, start, upper, 1, single))
    return If(junction("&&", whole), main, block(tuple(smaller)))


def _short_row(nest: RegisterNest, edges: tuple[Edge, ...], whole: tuple[Comparison, ...], facts: Facts,
               how: Separation) -> RegisterTile | None:
    """A tile of the columns that the end of their loop leaves, in vectors that overlap.

    None where their number is not known, or where halves, quarters, ... of whole vectors are no more: they need fewer
    registers at a time.
    """
    count = points_left(nest.ranges[-1], facts.given(whole[0].negation())) if len(whole) == 1 else 0
    if count.bit_count() < 2 or not edges[-1].simd:
        return None
    tile = _build(replace(nest, ahead=None), (*edges[:-1], replace(edges[-1], count=count)), facts)
    if not isinstance(tile, RegisterTile) or not how.has_form(tile, facts):
        return None
    vectors = -(-count // how.lanes_of(tile))
    fit = (prod(edge.count for edge in edges[:-1]) + 1) * vectors < how.registers
    return tile if fit and vectors < count.bit_count() else None


def _build(nest: RegisterNest, edges: tuple[Edge, ...], facts: Facts) -> Node | None:
    """The loops around one tile, split where a moving bound cuts into it."""
    conditions = [c for part, edge in zip(nest.ranges, edges, strict=True) for c in (
        *(Comparison(">=", edge.base, low) for low in part.moving_lowers),
        *(Comparison(">=", high, edge.base + edge.count) for high in part.moving_uppers))]
    spread = _spread(conditions, edges)
    if spread is None:
        return None
    whole = facts
    for loop in nest.loops:
        whole = whole.inside(loop)
    between = frozenset(loop.variable for loop in nest.loops)
    wanted = [c for c in spread if not whole.imply(c)]
    invariant = [c for c in wanted if not variables(c) & between]
    split = _loops(nest, edges, 0, tuple(c for c in wanted if c not in invariant))
    if split is None or not invariant:
        return split
    return If(junction("&&", invariant), split, _points(nest, edges, 0))


def _points(nest: RegisterNest, edges: tuple[Edge, ...], level: int) -> Node:
    """The loops from `level` inwards over the points of the edges, one by one."""
    node = nest.body
    for part, edge in reversed(tuple(zip(nest.ranges, edges, strict=True))):
        if edge.is_own_variable:
            here = variable(edge.variable)
            conditions = [*(Comparison(">=", here, low) for low in part.moving_lowers),
                          *(Comparison("<", here, high) for high in part.moving_uppers)]
            node = If(junction("&&", conditions), node) if conditions else node
            continue
        lower = extreme("max", [edge.base, *part.moving_lowers])
        upper = extreme("min", [edge.base + edge.count, *part.moving_uppers])
        node = For(edge.variable, lower, upper, 1, node, replace(_POINT, simd=edge.simd))
    for loop in reversed(nest.loops[level:]):
        node = replace(loop, body=node)
    return node


def _spread(conditions: Sequence[Comparison], edges: tuple[Edge, ...]) -> tuple[Comparison, ...] | None:
    """The conditions for every point of the tile: edge variables at the end that is hardest to meet."""
    for edge in edges:
        stronger = []
        for condition in conditions:
            difference = condition.left - condition.right
            factor = difference.coefficient(Variable(edge.variable))
            rest = difference - variable(edge.variable) * factor
            if depends_on(rest, frozenset({edge.variable})):
                return None
            worst = edge.base if factor > 0 else edge.base + (edge.count - 1)
            stronger.append(_nonnegative(rest + worst * factor) if factor else condition)
        conditions = stronger
    return tuple(conditions)


def _nonnegative(form: Linear) -> Comparison:
    """`form >= 0` with the negative terms on the right."""
    right = Linear(tuple((a, -c) for a, c in form.terms if c < 0), max(-form.constant, 0))
    return Comparison(">=", Linear(tuple((a, c) for a, c in form.terms if c > 0), max(form.constant, 0)), right)


def _loops(nest: RegisterNest, edges: tuple[Edge, ...], level: int, conditions: tuple[Condition, ...]) -> Node | None:
    """The loops from `level` inwards, split where a condition depends on their variables."""
    if level == len(nest.loops):
        return RegisterTile(loops=(), edges=edges, body=nest.body, panels=nest.panels, ahead=nest.ahead)
    loop = nest.loops[level]
    deeper = frozenset(inner.variable for inner in nest.loops[level + 1:])
    here = [c for c in conditions if isinstance(c, Comparison) and not variables(c) & deeper]
    inner = _loops(nest, edges, level + 1, tuple(c for c in conditions if c not in here))
    if inner is None or not here:
        return None if inner is None else around(loop, inner)
    limits = limits_of(loop.variable, here)
    if limits is None or loop.step != 1:
        return None
    points = _points(nest, edges, level)
    assert isinstance(points, For)
    return split_loop(points, inner, *limits)
