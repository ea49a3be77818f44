"""Sums along rows that wait for the rows before only at their ends: several rows in step up to the first one's end.

Rewrite:  for i: { for j < i: x[i] -= L[i][j] * x[j];  x[i] = x[i] / L[i][i]; }
      ->  for i by 8: { for j < i: { x[i] -= L[i][j] * x[j];  ...  x[i + 7] -= L[i + 7][j] * x[j]; }
                        for r from i to i + 7: { for j from i to r: x[r] -= L[r][j] * x[j];  x[r] = x[r] / L[r][r]; } }

Each sum keeps its order, and eight of them do not wait for each other; where vectors fit, the rows are their lanes
(`transposition`).  Nothing that a row of the block computes may be used in the part that goes in step.  Rows of one
length, or independent of each other, are those of `independent_rows`.

Source: forward substitution by blocks, G. Golub, C. Van Loan, "Matrix Computations", section 3.1.4; as loops, index set
splitting and unroll-and-jam, S. Carr, K. Kennedy, TOPLAS 16(6), 1994.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.emit_c.loop_ir.carried import CARRIED_OPERATIONS, carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, IslNames, depends_on
from polysched.emit_c.loop_ir.index import Comparison, direction, extreme, substitute, variable
from polysched.emit_c.loop_ir.loops import Block, Edge, For, Let, Node, RegisterTile, StatementInstance
from polysched.emit_c.loop_ir.named_bounds import named_bounds
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.statement_instances import Leaf
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import block, instances, loop_names, straight, variables_of, walk_nodes
from polysched.emit_c.nests.independent_rows import InLanes, last_columns
from polysched.emit_c.nests.scalar_replacement import Promotes
from polysched.emit_c.nests.unroll_and_jam import Site, in_blocks, is_plain
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark
from polysched.scop.budget import with_budget


@dataclass(frozen=True, kw_only=True)
class GrowingRows:
    """What the rewriting asks of others.

    Parameters
    ----------
    dependences : of the program.
    taken : names that must not be made up.
    promotes : whether a tile holds some written element in a register around all its loops.
    in_lanes : the loop of a row for as many rows as make whole vectors, if it has such a form.
    count : rows of a block that is not in lanes (`EmitOptions.rows_in_flight`).
    """

    dependences: Dependences
    taken: TakenNames
    promotes: Promotes
    in_lanes: InLanes
    count: int

    def jam(self, site: Site) -> Node | None:
        """Blocks of rows that grow and hold a sum in a register."""
        rows = _rows(site.loop)
        return None if rows is None else _in_step(rows, site, self)


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """A loop over rows: statements, a loop that ends later from row to row, and statements."""

    loop: For
    before: tuple[StatementInstance, ...]
    row: For
    after: tuple[StatementInstance, ...]


def _rows(loop: For) -> _Rows | None:
    parts = loop.body.children if isinstance(loop.body, Block) else (loop.body,)
    places = [k for k, part in enumerate(parts) if isinstance(part, For)]
    if len(places) != 1 or not _is_plain(loop):
        return None
    row, others = parts[places[0]], [part for k, part in enumerate(parts) if k != places[0]]
    plain = [part for part in others if isinstance(part, StatementInstance)]
    if not isinstance(row, For) or len(plain) < len(others) or not _is_plain(row) or straight(row.body) is None:
        return None
    if any(i.temporaries for i in instances(loop.body)) or depends_on(row.lower, frozenset({loop.variable})) or (
            direction(row.upper, loop.variable) != 1):
        return None
    return _Rows(loop=loop, before=tuple(plain[:places[0]]), row=row, after=tuple(plain[places[0]:]))


def _is_plain(loop: For) -> bool:
    return is_plain(loop) and not loop.mark.simd


def _in_step(rows: _Rows, site: Site, how: GrowingRows) -> Node | None:
    loop, row, facts = rows.loop, rows.row, site.facts
    bare = RegisterTile(loops=(replace(row, body=Block(())),), edges=(), body=row.body)
    if not how.promotes(bare, facts.inside(loop)):
        return None
    bounds = named_bounds(loop, how.taken)
    named = loop_names(loop) | frozenset().union(*map(variables_of, walk_nodes(loop)))
    first = how.taken.fresh(f"{loop.variable}_block", named)
    common = how.taken.fresh(f"{row.variable}_common", named)
    end = substitute(row.upper, {loop.variable: variable(first)})

    def of_rows(count: int) -> tuple[For, Facts]:
        """The loop over blocks of so many rows, and what holds inside."""
        outer = replace(loop, variable=first, lower=bounds.lower, upper=bounds.upper - (count - 1))
        return outer, facts.inside(outer).given(Comparison("==", variable(common), end))

    outer, inside = of_rows(how.count)
    tile = substitute_node(replace(bare, loops=(replace(bare.loops[0], upper=variable(common)),)),
                           {loop.variable: variable(first)})
    assert isinstance(tile, RegisterTile)
    vectors = how.in_lanes(tile, outer, inside)
    count = how.count if vectors is None else vectors.edges[0].count
    if count < how.count:   # facts of longer blocks do not hold
        outer, inside = of_rows(count)
        vectors = how.in_lanes(tile, outer, inside)
        if vectors is None or vectors.edges[0].count != count:
            return None
    scalar = replace(tile, edges=(Edge(variable=first, base=variable(first), count=count, simd=False),))
    if not how.promotes(scalar, inside) or not _may_go_first(
            rows, site.leaves(loop.body), site.depth, how.dependences):
        return None
    main: Node = scalar
    if vectors is not None:
        main = vectors if vectors.loops[0].step == 1 else block((vectors, last_columns(scalar, vectors)))
    each = replace(loop, lower=variable(first), upper=variable(first) + count, mark=LoopMark(role=loop.mark.role))
    tails = substitute_node(replace(each, body=block((
        replace(row, lower=extreme("max", (row.lower, variable(common)))), *rows.after))), {})
    starts = (substitute_node(replace(each, body=block(rows.before)), {}),) if rows.before else ()
    together = block((*starts, Let(common, end, block((main, tails)))))
    return in_blocks(loop, bounds, together, count, variable=first)


def _may_go_first(rows: _Rows, own: Sequence[Leaf], depth: int, dependences: Dependences) -> bool:
    """Whether nothing that a row computes is used by the statements before the sum of a later row, or by the terms of
    that sum in front of where the earlier row ends; and nothing that those use is overwritten by an earlier row."""
    def ask(sinks: Sequence[Leaf]) -> bool:
        for pairs in carried_pairs(own, depth, dependences, sinks=sinks, inner=1):
            if pairs is None or not _is_behind(pairs, rows, own[0], depth):
                return False
        return True

    inner = list(instances(rows.row.body))
    summed = [leaf for leaf in own if any(leaf.instance is i for i in inner)]
    started = [leaf for leaf in own if any(leaf.instance is i for i in rows.before)]
    return not any(True for _ in carried_pairs(own, depth, dependences, sinks=started)) and ask(summed)


def _is_behind(pairs: isl.Map, rows: _Rows, leaf: Leaf, depth: int) -> bool:
    """Whether the sinks of these pairs lie at or behind the end of the row of their sources."""
    names = IslNames(leaf.facts.context)
    outer = [names.loop(v) for v in leaf.around[:depth + 1]]
    end = names.form(rows.row.upper)
    if end is None or len(names.all()) > len(names.parameters) + len(outer):
        return False
    sinks = [f"y{k}" for k in range(depth + 2)]

    def ask() -> bool:
        early = isl.Map.read_from_str(
            isl.DEFAULT_CONTEXT, f"[{', '.join(names.parameters)}] -> "
            f"{{ [{', '.join(outer)}] -> [{', '.join(sinks)}] : {sinks[-1]} < {end} }}")
        sources = pairs.project_out(isl.dim_type.in_, depth + 1, pairs.dim(isl.dim_type.in_) - depth - 1)
        return bool(sources.intersect(early).is_empty())

    return with_budget(CARRIED_OPERATIONS, ask) is True
