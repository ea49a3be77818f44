"""Scalar replacement: which array elements live in registers across which loops of a register tile.

Source: D. Callahan, S. Carr, K. Kennedy, "Improving Register Allocation for Subscripted Variables", PLDI 1990; here
the proof that no other access touches the element is an exact emptiness test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, starmap

from polysched.emit_c.loop_ir.facts import Facts, depends_on, distance
from polysched.emit_c.loop_ir.index import Comparison, Variable, substitute, variable
from polysched.emit_c.loop_ir.loops import Edge, RegisterTile
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach
from polysched.records import dataclass


@dataclass(frozen=True)
class TileAccess:
    """One access of the tile's body.

    Parameters
    ----------
    generic : its element with the edge variables free.
    keys : its element at each point.
    writes : whether it is written.
    """

    generic: Reach
    keys: tuple[Reach, ...]
    writes: bool


def promotion_levels(tile: RegisterTile, accesses: Sequence[TileAccess], facts: Facts) -> dict[str, int]:
    """Per written array that can live in registers: the loop (index into `tile.loops`) around which it does."""
    levels: dict[str, int] = {}
    for array in dict.fromkeys(a.generic.array for a in accesses if a.writes):
        own = [a for a in accesses if a.generic.array == array]
        level = next((n for n in range(len(tile.loops)) if _promotable(tile, own, n, facts)), None)
        if level is not None:
            levels[array] = level
    return levels


def can_run_twice(tile: RegisterTile, accesses: Sequence[TileAccess], levels: Mapping[str, int]) -> bool:
    """Whether points of a tile may be computed twice, one after the other or at once, with the same results.

    Registers are read before any of them is written back; in memory, the tile may not read what it writes.

    Parameters
    ----------
    levels : per array, the loop around which its elements live in registers.
    """
    in_memory = [a for a in accesses if not _is_held(tile, a, levels)]
    written = {a.generic.array for a in in_memory if a.writes}
    return not any(a.generic.array in written for a in in_memory if not a.writes)


def _is_held(tile: RegisterTile, access: TileAccess, levels: Mapping[str, int]) -> bool:
    """Whether all elements of an access live in registers while the inner loops run."""
    level, forms = levels.get(access.generic.array), access.generic.subscripts
    if level is None or forms is None:
        return False
    moving = frozenset(loop.variable for loop in tile.loops[level:])
    return not any(depends_on(form, moving) for form in forms)


def _promotable(tile: RegisterTile, own: Sequence[TileAccess], level: int, facts: Facts) -> bool:
    moving = frozenset(loop.variable for loop in tile.loops[level:])
    if any(a.generic.subscripts is None for a in own):
        return False
    fixed = [a for a in own if not any(depends_on(f, moving) for f in a.generic.subscripts or ())]
    others = [a for a in own if a not in fixed]
    if not any(a.writes for a in fixed) or not all(_has_registers(a, fixed, tile) for a in fixed):
        return False
    inside = _inside(tile, level, facts)
    if inside is None:
        return False
    return _are_apart(fixed) and all(
        _never_meet(a.generic, b.generic, tile.edges, inside) for a in fixed for b in others)


def _are_apart(fixed: Sequence[TileAccess]) -> bool:
    """Whether no two pieces that accesses hold in registers share an element."""
    return all(starmap(_apart, combinations(dict.fromkeys(key for a in fixed for key in a.keys), 2)))


def _inside(tile: RegisterTile, level: int, facts: Facts) -> Facts | None:
    """What holds in the innermost loop of a tile; None where a loop below a level may not run."""
    for number, loop in enumerate(tile.loops):
        if number > level and not facts.runs(loop):
            return None
        facts = facts.inside(loop)
    return facts


def _has_registers(access: TileAccess, fixed: Sequence[TileAccess], tile: RegisterTile) -> bool:
    """Whether the elements of an access are vectors, single values, or columns of another one's vectors."""
    return access.generic.lanes in (Lanes.UNIT, Lanes.UNIFORM) or _is_column(access, fixed, tile)


def _is_column(access: TileAccess, others: Sequence[TileAccess], tile: RegisterTile) -> bool:
    """Whether a tile on a copy can hold an element in lanes: each lane has its own value of one subscript."""
    edge = next((edge.variable for edge in tile.edges if edge.simd), "")
    forms = [form for form in access.generic.subscripts or () if depends_on(form, frozenset({edge}))]
    if not tile.within or access.generic.lanes is not Lanes.SPREAD or len(forms) != 1:
        return False
    rows = frozenset(e.variable for e in tile.edges if e.variable != edge)
    return (forms[0].coefficient(Variable(edge)) == 1 and not depends_on(forms[0], rows)
            and all(other.generic == access.generic for other in others))


def _apart(first: Reach, second: Reach) -> bool:
    """Whether two register-held pieces certainly share no element (equal ones were merged before)."""
    gaps = [distance(a, b) for a, b in zip(first.subscripts or (), second.subscripts or (), strict=True)]
    if any(gap is not None and gap != 0 for gap in gaps[:-1]):
        return True
    last = gaps[-1] if gaps else None
    return last is not None and abs(last) >= max(first.span, second.span)


def _never_meet(first: Reach, second: Reach, edges: Sequence[Edge], facts: Facts) -> bool:
    """Whether two accesses touch different elements at all pairs of points of the tile."""
    sides = []
    for name, reached in (("first", first), ("second", second)):
        free = {edge.variable: variable(f"{name} {edge.variable}") for edge in edges}
        for edge in edges:
            here = free[edge.variable]
            facts = facts.given(Comparison(">=", here, edge.base), Comparison("<", here, edge.base + edge.count))
        sides.append([substitute(form, free) for form in reached.subscripts or ()])
    return facts.exclude(*(Comparison("==", a, b) for a, b in zip(*sides, strict=True)))


def offset_name(array: str, key: Reach, origin: Reach, number: int) -> str:
    """A readable name of a register: the array and the offsets from the tile's first element."""
    gaps = [distance(a, b) for a, b in zip(key.subscripts or (), origin.subscripts or (), strict=True)]
    if any(gap is None or gap < 0 for gap in gaps):
        return f"{array}_{number}"
    return "_".join([array, *map(str, gaps)])

