"""Tiles, orders and register blocks by hand: the levels that they make, and what about them is refused.

Two kinds of mistakes are no matter of taste.  An inner tile larger than the one around it, or a register block larger
than its tile, contradicts the outer edge: the loops would run once each, cut off at every end.  And an option that no
band of the program can use would do nothing, silently.  All else that can be meant is kept: edges larger than a loop,
inner edges that do not divide outer ones (the last inner tile is cut off), equal edges at two levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.options import BandOptions, TilingOptions, in_order
from polysched.tiling.planning.band_plan import BandPlan, TileLevel, Untiled
from polysched.tiling.planning.register_shape import RegisterShape

TOO_LONG_HINT = "a band has as many loops as `polysched tile --explain` lists for it; 0 is its outermost one"
NO_BANDS = "no loops stand in a band that can be tiled"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One choice by hand.

    Parameters
    ----------
    option : the name of its field in `TilingOptions`.
    level : the level of outer tiles, outermost first; None where the option has one value for all.
    band : the band that it is for; None where it is for every one.
    """

    option: str
    level: int | None = None
    band: int | None = None


@dataclass(frozen=True, kw_only=True)
class Unused:
    """A choice by hand that no band of one region can use.

    Parameters
    ----------
    problem, witness, hint : the refusal, if no other region uses it.
    depth : loops of the region's deepest band that was looked at.
    """

    choice: Choice
    problem: str
    witness: str
    hint: str
    depth: int = 0


def refuse_unused(regions: Iterable[Iterable[Unused]]) -> None:
    """Refuse a choice by hand that no region of a program uses.

    Raises
    ------
    UsageError : with the witness of the region whose bands are deepest.
    """
    every = [{unused.choice: unused for unused in region} for region in regions]
    for choice in every[0] if every else ():
        if all(choice in region for region in every):
            worst = max((region[choice] for region in every), key=lambda unused: unused.depth)
            raise UsageError(worst.problem, witness=worst.witness, hint=worst.hint)


def stretched(given: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    """One edge per member: a longer band repeats the last number, a shorter one drops the rest."""
    edges = given if isinstance(given, tuple) else (given,)
    return (*edges[:count], *(edges[-1:] * (count - len(edges))))


def outer_levels(options: TilingOptions, count: int) -> tuple[TileLevel, ...]:
    """The levels of tiles by hand around the innermost one, for a band of so many members."""
    orders = (*options.outer_orders, *((),) * len(options.outer_sizes))
    levels = ((tuple(edge or None for edge in stretched(sizes, count)), in_order(order, count))
              for sizes, order in zip(options.outer_sizes, orders, strict=False))
    found = (TileLevel(edges, tuple(k for k in order if edges[k])) for edges, order in levels)
    return tuple(level for level in found if level.order)


def _edges_by_hand(options: TilingOptions, loop: int, count: int) -> tuple[int, ...]:
    """The edges of one loop of a band at every level where it has one, outermost first."""
    inner = () if isinstance(options.sizes, str) else (options.sizes,)
    given = (stretched(sizes, count)[loop] for sizes in (*options.outer_sizes, *inner))
    return tuple(edge for edge in given if edge)


def _cuts(nest: Nest, loop: int, edge: int) -> bool:
    """Whether tiles of an edge cut a loop: not where it is known to be no longer."""
    return not (nest.fixed[loop] and nest.extents[loop] <= edge)


def refuse_larger_inside(band: int, nest: Nest, options: TilingOptions, count: int) -> None:
    """Refuse a tile by hand that is larger than the one around it, if that one cuts the loop at all.

    Raises
    ------
    UsageError : with the band, the loop and both numbers.
    """
    for loop in range(count):
        edges = _edges_by_hand(options, loop, count)
        for at, edge in enumerate(edges[1:], start=1):
            around = min(edges[:at])
            if edge > around and _cuts(nest, loop, around):
                raise UsageError(
                    "a tile by hand is larger than the tile around it",
                    witness=f"band {band}, loop {nest.loops[loop]}: tiles of {edge} inside tiles of {around}",
                    hint="--tile has the innermost tiles, --outer-tile those around them, outermost first; 0 is for no "
                         "loop at an outer level")


def misfit(shape: RegisterShape, nest: Nest, options: TilingOptions, count: int) -> str | None:
    """Which edge of a register block exceeds the tiles by hand around it; None where it fits.

    Parameters
    ----------
    count : the members of the band; further loops of the nest have no tiles.
    """
    for loop, block, what in ((shape.rows, shape.row_count, "rows"), (shape.columns, shape.column_count, "columns")):
        least = min(_edges_by_hand(options, loop, count), default=block) if loop < count else block
        if block > least and _cuts(nest, loop, least):
            return f"loop {nest.loops[loop]}: a block of {block} {what} in tiles of {least}"
    return None


@dataclass(frozen=True, eq=False, kw_only=True)
class Decided:
    """A band with what became of it, as far as choices by hand are concerned.

    Parameters
    ----------
    number : of the band.
    plan : how it is tiled, or why not.
    loop_count : loops of the band, also where it cannot have tiles.
    order_inside : why the loops inside its tiles have an order of their own; empty where one by hand decides.
    misfit : in which way the register block by hand exceeds its tiles by hand; empty where it does not.
    has_block : a register block is inside.
    thread_loop : the loop of the band that runs on threads; None where none does.
    """

    number: int
    plan: BandPlan | Untiled
    loop_count: int
    order_inside: str = ""
    misfit: str = ""
    has_block: bool = False
    thread_loop: int | None = None

    @property
    def depth(self) -> int:
        """Loops of the band; 0 where it cannot have tiles."""
        nest = self.plan.nest
        return 0 if nest is None else nest.depth - (self.plan.below if isinstance(self.plan, BandPlan) else 0)


def unused_choices(bands: tuple[Decided, ...], options: TilingOptions) -> tuple[Unused, ...]:
    """The choices by hand that no band of a region can use; what is given for one band counts for that one alone."""
    return (*_unused_by_all(bands, options), *(
        unused for number in options.bands for unused in _unused_by_one(number, bands, options)))


def _unused_by_all(bands: tuple[Decided, ...], options: TilingOptions) -> Iterator[Unused]:
    """Single values, each judged by the bands for which nothing else is given."""
    for name in (each.name for each in fields(BandOptions)):
        left = tuple(band for band in bands if getattr(options.bands.get(band.number), name, None) is None)
        if left or not bands:
            yield from (unused for unused in _unused(left, options) if unused.choice.option == name)


def _unused_by_one(number: int, bands: tuple[Decided, ...], options: TilingOptions) -> Iterator[Unused]:
    """What is given for one band."""
    of_band = tuple(band for band in bands if band.number == number)
    if not of_band:
        known = ", ".join(str(band.number) for band in bands)
        yield Unused(choice=Choice(option="bands", band=number), problem=f"there is no band {number}",
                     witness=f"bands are {known}" if known else NO_BANDS,
                     hint="`polysched tile` lists the bands of a file")
    for unused in _unused(of_band, options.for_band(number)) if of_band else ():
        if unused.choice.option in options.bands[number].given():
            yield replace(unused, choice=replace(unused.choice, band=number),
                          problem=f"band {number}: {unused.problem}")


def _unused(bands: tuple[Decided, ...], options: TilingOptions) -> Iterator[Unused]:
    """The single values that none of these bands can use."""
    yield from _unused_tiles(bands, options)
    yield from _unused_orders(bands, options)
    yield from _unused_block(bands, options)
    yield from _unused_thread_loop(bands, options)


def _unused_thread_loop(bands: tuple[Decided, ...], options: TilingOptions) -> Iterator[Unused]:
    loop = options.parallel_loop
    if loop is None or any(band.thread_loop == loop for band in bands):
        return
    depth = max((band.loop_count for band in bands), default=0)
    yield Unused(choice=Choice(option="parallel_loop"), problem="no band can run this loop on threads", depth=depth,
                 witness=f"loop {loop}: the deepest band has {depth} loop{'s' * (depth != 1)}" if loop >= depth else
                         f"loop {loop}: it carries a dependence, or stands inside another loop",
                 hint="`polysched schedule` says which loops are parallel; tiles make wavefronts of the others")


def _unused_tiles(bands: tuple[Decided, ...], options: TilingOptions) -> Iterator[Unused]:
    """Tiles by hand where no band can have any; one number for all loops asks for none of a lone loop."""
    if any(band.depth for band in bands):
        return
    hint = "one loop alone gets tiles where --tile has a list"
    if isinstance(options.sizes, tuple):
        yield Unused(choice=Choice(option="sizes"), problem="no band can have tiles", witness=_why_none(bands),
                     hint=hint)
    for level in range(len(options.outer_sizes)):
        yield Unused(choice=Choice(option="outer_sizes", level=level), problem="no band can have outer tiles",
                     witness=_why_none(bands), hint=hint)


def _unused_orders(bands: tuple[Decided, ...], options: TilingOptions) -> Iterator[Unused]:
    depth = max((band.depth for band in bands), default=0)
    orders = (("order", None, options.order, "of tiles"), ("point_order", None, options.point_order, "inside tiles"),
              *(("outer_orders", k, order, "of outer tiles") for k, order in enumerate(options.outer_orders)))
    for option, level, order, where in orders:
        if not order:
            continue
        choice = Choice(option=option, level=level)
        if depth and max(order) >= depth:
            yield Unused(choice=choice, problem=f"no band has a loop of this order {where}", depth=depth,
                         witness=f"{','.join(map(str, order))}: the deepest band has "
                                 f"{f'loops 0 to {depth - 1}' if depth > 1 else 'loop 0'}", hint=TOO_LONG_HINT)
        elif not depth:
            yield Unused(choice=choice, problem=f"no band can have an order {where}", witness=_why_none(bands),
                         hint="--scheduler and --fusion decide which bands there are; one loop alone gets tiles where "
                              "--tile has a list")
    if depth and options.point_order and all(band.order_inside for band in bands if band.depth):
        first = next(band for band in bands if band.depth)
        yield Unused(choice=Choice(option="point_order"), problem="no band can have an order inside tiles", depth=depth,
                     witness=f"band {first.number}: {first.order_inside}",
                     hint="--vector-bits 0 makes no register blocks, --no-split-tiles no split tiles")


def _unused_block(bands: tuple[Decided, ...], options: TilingOptions) -> Iterator[Unused]:
    if not isinstance(options.register, tuple) or any(band.has_block for band in bands):
        return
    too_large = next((f"band {band.number}, {band.misfit}" for band in bands if band.misfit), None)
    if too_large is not None:
        yield Unused(choice=Choice(option="register"), problem="the register block is larger than the tiles around it",
                     witness=too_large, hint="rows are the first number of --register-block, columns the second; make "
                                             "tiles at least as large, or 0 at an outer level")
        return
    if options.unblocked:
        yield Unused(choice=Choice(option="register"), problem="what could have this register block has no vector code",
                     witness=", ".join(sorted(options.unblocked)),
                     hint="a call without a vector form, or a type that no lane holds, keeps a body scalar; leave "
                          "--register-block out")
        return
    yield Unused(choice=Choice(option="register"), problem="no nest can have this register block",
                 witness=" x ".join(map(str, options.register)),
                 hint="a block holds sums around a loop, as that over k in C[i][j] += A[i][k] * B[k][j]; its "
                      f"columns are whole vectors of {options.target.vector_bits} bits, and all accumulators "
                      f"and a row of operands fit {options.target.vector_registers} registers")


def _why_none(bands: tuple[Decided, ...]) -> str:
    for band in bands:
        if isinstance(band.plan, Untiled):
            return f"band {band.number}: {band.plan.reason}"
    return NO_BANDS


def surplus_sizes(bands: tuple[Decided, ...], options: TilingOptions) -> tuple[str, ...]:
    """Lists of edges by hand that are longer than any band, one sentence each: the last edges are of no use."""
    found = list(_surplus(tuple(band for band in bands if band.number not in options.bands), options))
    for band in bands:
        if {"sizes", "outer_sizes"} & set(options.bands[band.number].given() if band.number in options.bands else ()):
            found += _surplus((band,), options.for_band(band.number))
    return tuple(found)


def _surplus(bands: tuple[Decided, ...], options: TilingOptions) -> Iterator[str]:
    depth = max((band.depth for band in bands), default=0)
    inner = () if isinstance(options.sizes, str) else (options.sizes,)
    for sizes in (*options.outer_sizes, *inner):
        if isinstance(sizes, tuple) and len(sizes) > depth > 0:
            yield (f"tiles of {','.join(map(str, sizes))}: the deepest band has {depth} loop{'s' * (depth > 1)}, so "
                   f"what follows {','.join(map(str, sizes[:depth]))} is of no use")


def idle_choices(bands: Mapping[int, BandPlan | Untiled], options: TilingOptions) -> tuple[str, ...]:
    """What was given by hand for tiles that the model then did not make, one sentence each."""
    found = list(_idle({number: plan for number, plan in bands.items() if number not in options.bands}, options))
    for number in options.bands:
        if number in bands:
            found += _idle({number: bands[number]}, options.for_band(number))
    return tuple(found)


def _idle(bands: Mapping[int, BandPlan | Untiled], options: TilingOptions) -> Iterator[str]:
    looked_at = [(number, plan) for number, plan in bands.items() if plan.nest is not None]
    if not looked_at or any(isinstance(plan, BandPlan) and plan.sizes for _, plan in looked_at):
        return
    number, plan = looked_at[0]
    why = f"band {number}: {plan.reason}" if isinstance(plan, Untiled) else f"band {number} has no tiles"
    given = ("loops over tiles" * bool(options.order), "loops inside tiles" * bool(options.point_order))
    yield from (f"the order of {what} by hand orders nothing, since the model chose no tiles ({why})"
                for what in given if what)
