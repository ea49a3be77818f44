"""Cache tiles around the instruction by the tiling room's model: least lines moved, as an integer program (CP-SAT).

The nest around the instruction is described to `tiling.planning.tile_search` in elements: one loop per loop of the
plan, whose edges are multiples of what one block of registers covers, so that the instruction's dimensions are
constraints of alignment; and one reference per operand with the strides at which it lies, packed operands dense.  The
program chooses the edges and the order of the tiles for a cache; the panels of a register block have to fit the first
one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from polysched.scop.body import Load
from polysched.target import Target
from polysched.tensorize.emission.nest import NestLoop, content_of, group_step, uses
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.mapping import Match
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference
from polysched.tiling.planning.register_shape import RegisterShape
from polysched.tiling.planning.tile_problem import TileProblem
from polysched.tiling.planning.tile_search import TileChoice, choose_tile

MOST_LOOPS = LIMITS.most_order_loops


def searched_tiles(match: Match, loops: Sequence[NestLoop], target: Target, *,
                   threads: int = 1) -> tuple[list[NestLoop], TileChoice] | None:
    """The loops in the order and with the tiles that move least into the second cache; None without an answer.

    Parameters
    ----------
    loops : with their register blocks already chosen.
    threads : cores that share the iterations of the outermost loop.
    """
    if not loops or len(loops) > MOST_LOOPS or (match.ordered and sum(loop.reduction for loop in loops) > 1):
        return None
    choice = choose_tile(_problem(match, loops, target, threads))
    if choice is None:
        return None
    tiled = []
    for at in choice.order:
        blocks = -(-choice.edges[at] // _granule(match, loops[at]))
        tiled.append(replace(loops[at], tile=blocks if blocks < loops[at].blocks else 0))
    return [loop for loop in tiled if not loop.reduction] + [loop for loop in tiled if loop.reduction], choice


def _problem(match: Match, loops: Sequence[NestLoop], target: Target, threads: int) -> TileProblem:
    first = target.caches[0]
    cache = next((c for c in target.caches if c.level == first.level + 1), first)
    granules = tuple(_granule(match, loop) for loop in loops)
    extents = tuple(g * loop.blocks for g, loop in zip(granules, loops, strict=True))
    nest = Nest(loops=tuple(loop.name for loop in loops), extents=extents, parameters={},
                references=tuple(_reference(match, v.name, loops, extents) for v in match.intrinsic.parsed.operands),
                row_independent=(True,) * len(loops))
    spatial = [at for at, loop in enumerate(loops) if not loop.reduction]
    innermost = next((at for at in reversed(range(len(loops))) if loops[at].reduction), len(loops) - 1)
    further = cache.level + 1 if target.cache(cache.level + 1) else 0
    line_cycles = cache.line_bytes * target.frequency_hz / target.bandwidth(further)
    return TileProblem(
        nest=nest, capacity_bytes=int(cache.size_bytes * target.costs.usable_share),
        panel_bytes=int(first.size_bytes * target.costs.panel_share),
        shape=_shape(match, loops, granules), granules=granules, innermost=innermost,
        row_lines=lambda edge: _accumulator_cycles(match, loops, edge, target) / line_cycles,
        orders=_orders(loops, spatial), threads=threads, wavefront=False, line_bytes=cache.line_bytes)


def _shape(match: Match, loops: Sequence[NestLoop], granules: Sequence[int]) -> RegisterShape | None:
    """The block of registers, whose panels have to fit the first cache; None without rows, columns and a sum."""
    output = match.intrinsic.output.name
    sides = [at for at, loop in enumerate(loops) if uses(match, output, loop)]
    inner = tuple(at for at, loop in enumerate(loops) if loop.reduction)
    if len(sides) < 2 or not inner:
        return None
    rows, columns = sorted(sides, key=lambda at: -granules[at])[:2]
    outer = tuple(at for at in sides if at not in (rows, columns))
    return RegisterShape(statement=match.fragment.statement.name, rows=rows, columns=columns, row_count=granules[rows],
                         column_count=granules[columns], inner=inner, outer=outer,
                         cycles=match.intrinsic.cost.cycles)


def _orders(loops: Sequence[NestLoop], spatial: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Every spatial loop may stand outermost, and every loop innermost of the tiles."""
    every = range(len(loops))
    found = []
    for first in spatial or every:
        for last in every:
            if last != first or len(loops) == 1:
                rest = [at for at in every if at not in (first, last)]
                found.append(tuple(dict.fromkeys((first, *rest, last))))
    return tuple(dict.fromkeys(found))


def _granule(match: Match, loop: NestLoop) -> int:
    """Elements along a loop that one block of registers covers."""
    return loop.unroll * (match.extent(loop.group) if loop.group >= 0 else 1)


def _accumulator_cycles(match: Match, loops: Sequence[NestLoop], edge: int, target: Target) -> float:
    """Cycles per instance to load and store the accumulators, once per edge of the innermost reduction."""
    output = match.intrinsic.output
    lanes = math.prod(match.extent(g) for g, part in enumerate(match.groups) if output.name in part.indexes)
    lines = 2 * sum(v.elements * v.dtype.bytes for v in match.intrinsic.outputs) / target.line_bytes
    return lines / (lanes * max(1, edge))


def _reference(match: Match, operand: str, loops: Sequence[NestLoop], extents: Sequence[int]) -> Reference:
    """An operand with one subscript per loop that moves it, the one with the shortest steps in memory last."""
    mine = sorted((at for at, loop in enumerate(loops) if uses(match, operand, loop)),
                  key=lambda at: -_step(match, operand, loops[at]))
    variable = match.intrinsic.parsed.operand(operand)
    inner = variable.elements // math.prod(   # of dimensions that one tile holds whole
        match.extent(loops[at].group) for at in mine if loops[at].group >= 0)
    held = ((0,) * len(loops), inner - 1, inner)
    moved = [(tuple(int(at == other) for other in range(len(loops))), 0, extents[at]) for at in mine]
    rows = [*moved[:-1], held, *moved[-1:]] if inner > 1 or not moved else moved
    return Reference(array=operand, element_bytes=variable.dtype.bytes, coefficients=tuple(r for r, _, _ in rows),
                     spans=tuple(span for _, span, _ in rows), reach=tuple(reach for _, _, reach in rows),
                     reads=not variable.written, writes=variable.written, statements=(match.fragment.statement.name,))


def _step(match: Match, operand: str, loop: NestLoop) -> int:
    """Elements between neighbours along a loop in the program's array; packed operands follow the array's order."""
    held = content_of(match, operand)
    if not isinstance(held, Load):
        return 1
    if loop.group >= 0:
        return abs(group_step(match, held, loop.group) or 1)
    return abs((match.fragment.memory_steps[held.reference] or {}).get(loop.source, 1))
