"""One comment per band: what its loops are for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from polysched.emit_c.loop_ir.loops import For
from polysched.records import dataclass
from polysched.scheduling.marks import Gaps, Role
from polysched.tiling.tiled_schedule import BandTiling, TiledSchedule

GAPS = {
    Gaps.STEPS: "the gaps between the pieces, which have grown meanwhile: step by step",
    Gaps.TILES: "the gaps between the pieces, which have grown meanwhile, in pieces along another loop",
    Gaps.CROSSINGS: "where gaps along both loops cross",
}


@dataclass(frozen=True, kw_only=True)
class BandComments:
    """Says which loops open a band.

    Parameters
    ----------
    bands : what tiling did, per band number.
    """

    bands: Mapping[int, BandTiling] = field(default_factory=dict)

    def before(self, loop: For, *, above: tuple[For, ...]) -> list[str]:
        """The comment lines in front of a loop; empty unless it is the first of its band and role."""
        mark = loop.mark
        if mark.gaps is not Gaps.NONE:
            return [f"/* {GAPS[mark.gaps]} */"]
        if mark.role is Role.LOOP or any((o.mark.band, o.mark.role) == (mark.band, mark.role) for o in above):
            return []
        if mark.role is Role.WAVEFRONT:
            return [f"/* band {mark.band}: wavefronts of tiles, one after the other */"]
        if mark.role is Role.TILE and any((o.mark.band, o.mark.role) == (mark.band, Role.WAVEFRONT) for o in above):
            return ["/* tiles of one wavefront */"]
        if mark.role is Role.POINT:
            return ["/* points of one tile */"]
        done = self.bands.get(mark.band)
        shape = f" of {' x '.join(map(str, done.sizes))}" if done and done.sizes else ""
        split = f" in {done.pieces} pieces of space, which shrink from step to step" if done and done.pieces else ""
        return [f"/* band {mark.band}: tiles{shape}{split} */"]


def band_comments(tiled: TiledSchedule) -> BandComments:
    """The comments for a tiled schedule."""
    return BandComments(bands={band.band: band for band in tiled.bands})
