"""One comment per band: what its loops are for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from polysched.emit_c.loops import For
from polysched.scheduling.marks import Role
from polysched.tiling.tiled_schedule import BandTiling, TiledSchedule


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
        if mark.role is Role.LOOP or any((o.mark.band, o.mark.role) == (mark.band, mark.role) for o in above):
            return []
        if mark.role is Role.WAVEFRONT:
            return [f"/* band {mark.band}: wavefronts of tiles, one after the other */"]
        if mark.role is Role.TILE and any((o.mark.band, o.mark.role) == (mark.band, Role.WAVEFRONT) for o in above):
            return ["/* tiles of one wavefront */"]
        if mark.role is Role.POINT:
            return ["/* points of one tile */"]
        sizes = self.bands[mark.band].sizes if mark.band in self.bands else ()
        shape = f" of {' x '.join(map(str, sizes))}" if sizes else ""
        return [f"/* band {mark.band}: tiles{shape} */"]


def band_comments(tiled: TiledSchedule) -> BandComments:
    """The comments for a tiled schedule."""
    return BandComments(bands={band.band: band for band in tiled.bands})
