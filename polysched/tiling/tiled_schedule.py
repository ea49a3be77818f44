"""The TiledSchedule value: a schedule tree whose loops are marked tile, point, parallel, simd."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scop.provided import provided
from polysched.scop.shown import Shown
from polysched.tiling.options import TilingOptions
from polysched.tiling.planning.band_plan import BandPlan, Untiled
from polysched.tiling.planning.by_hand import Unused
from polysched.tiling.shapes.split_tiles import Pieces


@dataclass(frozen=True, eq=False, kw_only=True)
class BandTiling:
    """What was done to one band.

    Parameters
    ----------
    band : pre-order number of the band in the untiled tree.
    sizes : tile edge per member, in iterations; empty when the band was left untiled.
    wavefront : the tile band was skewed so that its second member is parallel.
    pieces : pieces of space that start together in every row of tiles over time; 0 where tiles are not split.
    tile_members : the members of the loops over tiles and blocks as the tree has them, outermost first.
    parallel_member : member of the outermost loops that got `parallel`; None when none did.
    register : rows and columns of the register block; empty when there is none.
    plan : how the edges came about, for explanations; None for an untiled band.
    untiled : why a band was left untiled; None for others, and where nobody asked for tiles.
    strip : iterations in each of the strips that the band shares with its neighbours; 0 where it shares none.
    """

    band: int
    sizes: tuple[int, ...] = ()
    wavefront: bool = False
    pieces: int = 0
    tile_members: tuple[int, ...] = ()
    parallel_member: int | None = None
    register: tuple[int, ...] = ()
    plan: BandPlan | None = None
    untiled: Untiled | None = None
    strip: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class OneAtATime:
    """A tree with pieces of unknown width as loops are generated for it: one piece, and half a gap, at a time.

    Parameters
    ----------
    tree : where a piece begins and ends are parameters, and marks stand for the loops over pieces
        (`split_tiles.one_at_a_time`).
    pieces : by the number of their band.
    """

    tree: isl.Schedule
    pieces: Mapping[int, Pieces]


@dataclass(frozen=True, eq=False, kw_only=True)
class TiledSchedule(Shown):
    """A schedule after tiling and marking; still legal, still exactly checked.

    Parameters
    ----------
    schedule : the schedule before tiling.
    tree : the tiled tree; loops carry `scheduling.marks.LoopMark` marks.
    bands : what was done, per band of the untiled tree.
    options : that it was tiled with; None where it was not made by `tile`.
    fallbacks : what had to be given up, for lack of time or of code for it, and what was given by hand and is of no
        use, one sentence each.
    unused : choices by hand that no band can use, where other regions of the program may (`by_hand.refuse_unused`).
    one_at_a_time : what loops are generated for; None where that is the tree itself.
    """

    schedule: Schedule
    tree: isl.Schedule
    bands: tuple[BandTiling, ...] = ()
    options: TilingOptions | None = None
    fallbacks: tuple[str, ...] = ()
    unused: tuple[Unused, ...] = ()
    one_at_a_time: OneAtATime | None = None

    @property
    def plans(self) -> dict[int, BandPlan]:
        """How the edges came about, by band: what `predict` asks for."""
        return {band.band: band.plan for band in self.bands if band.plan is not None}

    def headline(self) -> str:
        """For instance `of gemm: tiles 32x32x32 in band 0`."""
        tiles = ", ".join(f"{'x'.join(map(str, b.sizes))} in band {b.band}" for b in self.bands if b.sizes)
        return f"of {self.schedule.scop.name}: {f'tiles {tiles}' if tiles else 'no tiles'}"

    def __str__(self) -> str:
        text: str = provided("tiling", "TiledSchedule.__str__")(self)
        return text

    def _repr_html_(self) -> str:
        html: str = provided("tiling", "TiledSchedule._repr_html_")(self)
        return html
