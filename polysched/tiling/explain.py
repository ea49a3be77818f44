"""Why a nest is tiled as it is: predicted traffic per level, the binding limit, the lower bound, and formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.target.target import CacheLevel, Target
from polysched.tiling.footprints.lower_bound import LowerBound, lower_bound, touched_elements
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference
from polysched.tiling.footprints.traffic import traffic_bytes, transfers
from polysched.tiling.planning.band_plan import BandPlan, TileLevel, Untiled, in_order_made, plan_structure
from polysched.tiling.planning.tile_problem import has_columns
from polysched.tiling.tiled_schedule import BandTiling, TiledSchedule

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True, kw_only=True)
class LevelExplanation:
    """What one cache sees of a nest.

    Parameters
    ----------
    level : the cache.
    capacity_bytes : its size.
    untiled_bytes, tiled_bytes : predicted traffic into it, for the loops in their best untiled order and as tiled.
    bound : what any order must move.
    """

    level: int
    capacity_bytes: int
    untiled_bytes: int
    tiled_bytes: int
    bound: LowerBound


@dataclass(frozen=True, eq=False, kw_only=True)
class BandExplanation:
    """Everything that was decided about a band, with its reasons.

    Parameters
    ----------
    band : pre-order number of the band in the untiled tree.
    plan : how it is tiled; for a band without tiles those that were compared with none, or loops as they are; None
        where the models did not look at it.
    levels : the traffic of the plan into each cache.
    untiled : why there are no tiles of its own; None where there are.
    strip : iterations in each of the strips that the band shares with its neighbours; 0 where it shares none.
    pieces : of split tiles; 0 where tiles are not split.
    """

    band: int
    plan: BandPlan | None
    levels: tuple[LevelExplanation, ...] = ()
    untiled: Untiled | None = None
    strip: int = 0
    pieces: int = 0

    def to_json(self) -> dict[str, object]:
        """Plain values, for scripts; tiles that were only compared with none are `candidate`."""
        reason: dict[str, object] = {"untiled": self.untiled.reason} if self.untiled else {}
        reason |= {"strip": self.strip} if self.strip else {}
        if self.plan is None:
            return {"band": self.band, **reason}
        plan, choice = self.plan, self.plan.choice
        tiles: dict[str, object] = {
            "edges": list(plan.edges), "order": list(plan.order),
            "outer": [{"edges": list(level.edges), "order": list(level.order)} for level in plan.outer]}
        if self.untiled:
            tiles = {"edges": [None] * plan.nest.depth, "order": [], "outer": [], **reason,
                     "candidate": tiles if plan.order else None}
        return {
            "band": self.band, "loops": list(plan.nest.loops), "extents": list(plan.nest.extents),
            "parameters": dict(plan.nest.parameters), **tiles,
            "register": [plan.shape.row_count, plan.shape.column_count] if plan.shape else None,
            **({"pieces": self.pieces} if self.pieces else {}),
            "binding": list(choice.binding) if choice else [], "optimal": choice.optimal if choice else None,
            "levels": [{"level": e.level, "capacity_bytes": e.capacity_bytes, "untiled_bytes": e.untiled_bytes,
                        "tiled_bytes": e.tiled_bytes, "lower_bound_bytes": e.bound.bytes} for e in self.levels],
            "volume": {f"{r.array}#{i}": str(volume)
                       for i, (r, volume) in enumerate(zip(plan.nest.references, _volumes(plan), strict=True))}}


def explanations(tiled: TiledSchedule, target: Target) -> tuple[BandExplanation, ...]:
    """One explanation per band that somebody wanted tiles of."""
    scop = tiled.schedule.scop
    return tuple(_explanation(b, target, scop) for b in tiled.bands if b.plan is not None or b.untiled is not None)


def _explanation(band: BandTiling, target: Target, scop: Scop) -> BandExplanation:
    untiled = band.untiled
    plan = band.plan if untiled is None else untiled.candidate
    if plan is not None and untiled is None:
        plan = in_order_made(plan, band.tile_members)
    if plan is None and untiled is not None and untiled.nest is not None:
        plan = BandPlan(nest=untiled.nest, edges=(None,) * untiled.nest.depth, order=())
    return BandExplanation(band=band.band, plan=plan, untiled=untiled, strip=band.strip, pieces=band.pieces,
                           levels=() if plan is None else _levels(plan, target, scop))


def _levels(plan: BandPlan, target: Target, scop: Scop) -> tuple[LevelExplanation, ...]:
    nest = plan.nest
    touched = touched_elements(scop, nest)
    untiled = BandPlan(nest=nest, edges=(None,) * nest.depth, order=())
    sets = plan.shape is None and has_columns(nest)

    def moved(plan: BandPlan, c: CacheLevel) -> int:
        return sum(traffic_bytes(nest, plan_structure(plan), c.size_bytes, c.line_bytes, c if sets else None,
                                 in_box=False))

    return tuple(LevelExplanation(level=c.level, capacity_bytes=c.size_bytes, untiled_bytes=moved(untiled, c),
                                  tiled_bytes=moved(plan, c), bound=lower_bound(nest, c.size_bytes, touched))
                 for c in target.caches)


def volume_formula(nest: Nest, reference: Reference, order: tuple[int, ...] | range,
                   outer: tuple[tuple[int, ...], ...] = ()) -> sympy.Expr:
    """Bytes that a reference moves, as a function of tile edges `T_...` and extents `N_...` of the loops.

    A loop with tiles at several levels has edges `T_...` inside, `T2_...` around these, and so on; one without tiles
    has its extent.  Cache lines and the ends of arrays are left out; both only matter at the edges.

    Parameters
    ----------
    order : the loops over the innermost tiles, outermost first.
    outer : the orders of the levels around them, outermost first.
    """
    import sympy  # half a second, for formulas alone

    loops = [loop for level in (*outer, order) for loop in level]
    inside = {loop: sympy.Symbol(f"N_{_word(nest.loops[loop])}", positive=True) for loop in range(nest.depth)}
    moving = max((at for at, loop in enumerate(loops) if reference.moves_with(loop)), default=-1)
    volume: sympy.Expr = sympy.Integer(transfers(reference) * reference.element_bytes)
    for at, loop in enumerate(loops):
        level = 1 + loops[at + 1:].count(loop)
        edge = sympy.Symbol(f"T{level if level > 1 else ''}_{_word(nest.loops[loop])}", positive=True)
        if at < moving:
            volume *= inside[loop] / edge
        if at != moving:
            inside[loop] = edge
    lengths = [1 + span + sum((abs(c) * (inside[loop] - 1) for loop, c in enumerate(row)), sympy.Integer(0))
               for row, span in zip(reference.coefficients, reference.spans, strict=True)]
    elements = sympy.prod(lengths)
    if reference.coupled:
        elements = sympy.Min(elements, sympy.prod([inside[loop] for loop in inside if reference.moves_with(loop)]))
    return volume * elements


def _volumes(plan: BandPlan) -> list[sympy.Expr]:
    """The formula of every reference; of loops without tiles as if all had some."""
    orders = [level.order for level in (*plan.outer, TileLevel(plan.edges, plan.order)) if level.order]
    *outer, order = orders or [tuple(range(plan.nest.depth))]
    return [volume_formula(plan.nest, r, order, tuple(outer)) for r in plan.nest.references]


def _word(name: str) -> str:
    """The name of a loop as part of a symbol's; a loop along a sum of iterators is not one along their difference."""
    signs = {"+": "p", "-": "m", " ": ""}
    return "".join(c if c.isalnum() else signs.get(c, "_") for c in name).strip("_") or "c"


def explain_text(explanation: BandExplanation) -> str:
    """The explanation for people."""
    plan, untiled = explanation.plan, explanation.untiled
    if plan is None:
        return f"band {explanation.band}: no tiles: {untiled.reason if untiled else 'nobody asked for any'}"
    nest = plan.nest
    assumed = ", ".join(f"{name} = {value}" for name, value in nest.parameters.items())
    lines = [f"band {explanation.band}: loops {', '.join(nest.loops)}; extents "
             f"{' x '.join(map(str, nest.extents))}{' with ' + assumed if assumed else ''}"]
    if explanation.strip:
        lines.append(f"  in strips of {explanation.strip} iterations that it shares with its neighbours: threads keep "
                     "them from one nest to the next, and from step to step of the loop around")
    lines += _tile_lines(plan, untiled)
    if explanation.pieces:
        lines.append(f"  split: {explanation.pieces} pieces of space, one per thread, which start together in every "
                     f"row of tiles over time; then the gaps between them{_along(plan)}; data stay with their thread")
    lines += [*_block_and_limits(plan), *_level_lines(explanation.levels, untiled)]
    lines.append("  moved into the tile's cache, by reference"
                 f"{'' if nest.is_box else ', if the loops filled the box around them'}:")
    lines += [f"    {r.array}: {volume}" for r, volume in zip(nest.references, _volumes(plan), strict=True)]
    return "\n".join(lines)


def _block_and_limits(plan: BandPlan) -> Iterator[str]:
    """The register block, and what kept the tiles from being larger."""
    loops = plan.nest.loops
    if plan.shape is not None:
        yield (f"  register block: {plan.shape.row_count} rows of {loops[plan.shape.rows]} by "
               f"{plan.shape.column_count} columns of {loops[plan.shape.columns]}, around "
               f"{', '.join(loops[loop] for loop in plan.shape.inner)}"
               f"{'; the sums are transposed on their way' if plan.shape.transposed else ''}")
    if plan.choice is not None:
        state = "optimal for the model" if plan.choice.optimal else "the best found in the time given"
        yield f"  limits that bind: {'; '.join(plan.choice.binding) or 'none'} ({state})"


def _level_lines(levels: tuple[LevelExplanation, ...], untiled: Untiled | None) -> list[str]:
    """The table of traffic; without a column for tiles where none were looked at."""
    compared = untiled is None or untiled.candidate is not None
    with_tiles = "tiled" if untiled is None else "if tiled"

    def line(level: str, capacity: str, before: str, after: str, bound: str) -> str:
        return f"  {level:6}{capacity:>12}{before:>14}" + (f"{after:>14}" if compared else "") + f"{bound:>14}"

    return [line("level", "capacity", "untiled", with_tiles, "lower bound") + "   bytes",
            *(line(f"L{e.level}", *map(byte_text, (e.capacity_bytes, e.untiled_bytes, e.tiled_bytes,
                                                   int(e.bound.bytes)))) for e in levels)]


def _along(plan: BandPlan) -> str:
    """What cuts the gaps of split tiles."""
    inner = plan.pieces.inner if plan.pieces is not None else None
    return "" if inner is None else f", which {plan.nest.loops[inner.space]} cuts in turn"


def _tile_lines(plan: BandPlan, untiled: Untiled | None) -> list[str]:
    """The tiles, or why there are none."""
    def edges(level: TileLevel) -> str:
        return ", ".join(f"{plan.nest.loops[loop]}: {level.edges[loop]}" for loop in level.order)

    own = edges(TileLevel(plan.edges, plan.order))
    if untiled is not None:
        return [f"  no tiles: {untiled.reason}", *([f"  compared with, outermost first: {own}"] if own else [])]
    lines = [f"  {'steps that all threads take together' if plan.in_steps else 'tiles of tiles, outermost first'}: "
             f"{edges(level)}" for level in plan.outer]
    if own or not lines:
        lines.append(f"  tiles, outermost first: {own}" if own else "  no cache tiles: they would not move less")
    return lines


def byte_text(count: int) -> str:
    """A number of bytes for people."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 10240 or unit == "GiB":
            return f"{value:.0f} {unit}" if value >= 100 or unit == "B" else f"{value:.3g} {unit}"
        value /= 1024
    raise AssertionError("unreachable")
