"""TilingOptions: what a user may decide about tiling; everything else is derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any, Literal

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.target.target import Target, host

Edges = int | tuple[int, ...] | Literal["auto", "off"]
"""Of tiles: one for all loops of a band, one per loop, chosen by the model, or no tiles."""
LARGEST_EDGE = 2**31 - 1   # of `int`, in which most programs count; longer loops have no use for a longer tile


@dataclass(frozen=True, kw_only=True)
class BandOptions:
    """What a user decides for one band alone; None is what `TilingOptions` says for all bands.

    Parameters
    ----------
    sizes, outer_sizes, order, point_order, outer_orders, register, parallel, parallel_loop : as `TilingOptions` has
        them.
    packed, split : as `TilingOptions` has them; `auto` lets the model choose.
    diamond : as `TilingOptions` has it.
    """

    sizes: Edges | None = None
    outer_sizes: tuple[int | tuple[int, ...], ...] | None = None
    order: tuple[int, ...] | None = None
    point_order: tuple[int, ...] | None = None
    outer_orders: tuple[tuple[int, ...], ...] | None = None
    register: bool | tuple[int, int] | None = None
    packed: tuple[str, ...] | Literal["auto"] | None = None
    parallel: bool | None = None
    parallel_loop: int | None = None
    split: bool | Literal["auto"] | None = None
    diamond: bool | None = None

    def given(self) -> dict[str, object]:
        """The decisions by name, without those that are left to `TilingOptions`."""
        return {own.name: getattr(self, own.name) for own in fields(self) if getattr(self, own.name) is not None}


@dataclass(frozen=True, kw_only=True)
class TilingOptions:
    """How to tile.  Single values hold for every band that `bands` does not name.

    Parameters
    ----------
    sizes : `auto` lets the model choose; `off` leaves every band untiled; one number is the edge of every
        member of every permutable band with two or more members; a tuple gives the edge per member, for
        bands of any length (a longer band repeats the last number, a shorter one drops the rest).
    outer_sizes : edges of further levels of tiles around those of `sizes`, outermost level first, each as for
        `sizes`, 0 for no loop; none lets the model choose them where it chooses `sizes`.  An outermost level without a
        loop that can run on threads is steps that all threads take together.
    order, point_order : the loops over tiles of `sizes`, and those inside one tile, outermost first, as positions of a
        band's members; those that are not named follow as they stand; nothing named leaves the order to the model.  A
        loop that threads can run still goes outside of the others, and the loops inside a register block are its own.
    outer_orders : as `order`, for the levels of `outer_sizes`.
    parallel : mark one loop per nest for threads, skewing tiles into wavefronts where that is needed.
    parallel_degrees : how many loops of a nest to mark, the tiles of a band skewed by as many of them as need it: a
        band of d loops that all carry dependences gives up to d - 1.  Diamonds, too: with a schedule for concurrent
        start in k dimensions (`SchedulerOptions.concurrent_start`), k degrees make all tiles of a wavefront start
        together.  Loops that form a box share a team of threads; of others, the outermost runs on threads.
    parallel_loop : the only loop of a band that may run on threads, as the position of its member; tiles are skewed
        along it where it is not free of dependences.  A band without such a loop runs on one thread.  Split tiles and
        diamonds have loops of their own on threads.
    simd : mark innermost loops whose iterations are independent, and order point loops for unit stride.
    diamond : tile stencils over time in diamonds, all tiles of a row starting at once; else in skewed boxes.
    split : tiles of stencils over time as trapezoids, one for each core of `target`, with the gaps between them
        (`split_tiles`); None lets the model choose between them and wavefronts where it chooses `sizes`.
    nested : tile bands inside tiled bands too.
    register : keep blocks of accumulators in vector registers where a nest has such reuse; rows and columns, in
        elements, of the only block that may be used; False for none.
    unblocked : statements that get no register block all the same, because they have no vector code.
    packed : arrays whose elements register blocks read from contiguous copies, where the loops have a place for one;
        none for no copies, None lets the model choose.
    parameters : values that the models assume for symbolic sizes; where none is given, what arrays of constant extents
        admit, else a typical size.
    target : the machine whose caches and registers count; this one unless given.
    bands : what is decided otherwise for single bands, by their number: in pre-order, as `polysched tile` prints it.
    """

    sizes: Edges = "auto"
    outer_sizes: tuple[int | tuple[int, ...], ...] = ()
    order: tuple[int, ...] = ()
    point_order: tuple[int, ...] = ()
    outer_orders: tuple[tuple[int, ...], ...] = ()
    parallel: bool = True
    parallel_degrees: int = 1
    parallel_loop: int | None = None
    simd: bool = True
    diamond: bool = False
    split: bool | None = None
    nested: bool = False
    register: bool | tuple[int, int] = True
    unblocked: frozenset[str] = frozenset()
    packed: tuple[str, ...] | None = None
    parameters: Mapping[str, int] = field(default_factory=dict)
    target: Target = field(default_factory=host)
    bands: Mapping[int, BandOptions] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_parallel()
        self._check_sizes()
        self._check_orders()
        for number in self.bands:
            try:
                self.for_band(number)
            except UsageError as refusal:
                raise UsageError(refusal.problem, where=f"band {number}", witness=refusal.witness,
                                 hint=refusal.hint) from None

    def for_band(self, number: int) -> TilingOptions:
        """What holds for one band, by its number: single values, and no `bands`."""
        if number not in self.bands:
            return self
        given: dict[str, Any] = self.bands[number].given()
        given |= {name: None for name in ("packed", "split") if given.get(name) == "auto"}
        if given.get("diamond"):
            given.setdefault("split", False)   # what all others are is not for this one
        return replace(self, bands={}, **given)

    def with_band(self, number: int, **choices: Any) -> TilingOptions:
        """These options with choices for one band, beside those that it has."""
        return replace(self, bands={**self.bands, number: replace(self.bands.get(number, BandOptions()), **choices)})

    def without_split_tiles(self) -> TilingOptions:
        """The same with wavefronts where tiles were split, or may have been."""
        return replace(self, split=False, bands={
            number: own if own.split is None else replace(own, split=None) for number, own in self.bands.items()})

    def on_one_thread(self) -> TilingOptions:
        """The same without threads, and without what was chosen about them."""
        bands = {number: replace(own, parallel=None, parallel_loop=None) for number, own in self.bands.items()}
        return replace(self, parallel=False, parallel_loop=None, parallel_degrees=1, bands=bands)

    def each(self) -> tuple[TilingOptions, ...]:
        """What holds for the bands without decisions of their own, and then for every band that has some."""
        return (self, *(self.for_band(number) for number in self.bands))

    def may_run_on_threads(self, member: int) -> bool:
        """Whether a loop of a band, by the position of its member, is left to threads."""
        return self.parallel and self.parallel_loop in (None, member)

    def _check_parallel(self) -> None:
        if self.parallel_degrees < 1:
            raise UsageError("parallel loops need at least one degree", witness=str(self.parallel_degrees),
                             hint="parallel=False makes none")
        if self.parallel_loop is None:
            return
        if self.parallel_loop < 0:
            raise UsageError("a loop for threads is a loop of a band", witness=str(self.parallel_loop),
                             hint="0 is the outermost loop of a band as the schedule has it")
        if not self.parallel or self.parallel_degrees > 1:
            raise UsageError("one loop by hand on threads needs threads, and one degree of them",
                             witness=f"loop {self.parallel_loop}",
                             hint="leave --no-parallel and --parallel-degrees out")
        if self.split or self.diamond:
            raise UsageError("split tiles and diamonds have loops of their own on threads",
                             witness=f"loop {self.parallel_loop}",
                             hint="leave --parallel-loop out, or split tiles and diamonds")

    def _check_sizes(self) -> None:
        if isinstance(self.sizes, str):
            if self.sizes not in ("auto", "off"):
                raise UsageError(f"tile sizes cannot be {self.sizes!r}", hint="give numbers, or auto, or off")
            if self.outer_sizes and self.sizes == "off":
                raise UsageError("outer tile sizes need inner ones", hint="give sizes as numbers, or auto")
        else:
            self._check(self.sizes)
        for sizes in self.outer_sizes:
            self._check(sizes, least=0)
        if isinstance(self.register, tuple):
            self._check(self.register)
            if len(self.register) != 2:
                raise UsageError("a register block has rows and columns", witness=str(self.register),
                                 hint="give two numbers")

    def _check_orders(self) -> None:
        for order in (self.order, self.point_order, *self.outer_orders):
            if len(set(order)) < len(order) or any(member < 0 for member in order):
                raise UsageError("an order names each loop of a band at most once", witness=",".join(map(str, order)),
                                 hint="0 is the outermost loop of a band as the schedule has it: 2,0,1, say")
        if self.sizes == "off" and (self.order or self.point_order):
            given = ",".join(map(str, self.order or self.point_order))
            raise UsageError("an order of loops needs tiles", witness=given, hint="give sizes as numbers, or auto")
        if len(self.outer_orders) > len(self.outer_sizes):
            raise UsageError("there are more orders than outer levels of tiles", hint="give that level its sizes, too")

    def _check(self, sizes: int | tuple[int, ...], *, least: int = 1) -> None:
        edges = (sizes,) if isinstance(sizes, int) else sizes
        if not edges:
            raise UsageError("no tile size was given", hint="give at least one number, or off")
        for edge in edges:
            if edge < least:
                raise UsageError(f"a tile size must be at least {least}", witness=str(edge),
                                 hint="1 leaves the loop untiled inside its tile")
            if edge > LARGEST_EDGE:
                raise UsageError(f"a tile size is at most {LARGEST_EDGE}", witness=str(edge),
                                 hint="off leaves loops untiled")
        if not any(edges):
            raise UsageError("no tile size was given", hint="0 is for single loops of an outer level")


def in_order(given: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The members of a band of so many: those that were named, then the others as they stand."""
    return (*(k for k in given if k < count), *(k for k in range(count) if k not in given))
