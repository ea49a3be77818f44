"""Tiles, wavefronts, parallel and vector loops: from a legal schedule to a marked one."""

from polysched.tiling.options import BandOptions, TilingOptions
from polysched.tiling.tile_bands import tile
from polysched.tiling.tiled_schedule import BandTiling, TiledSchedule

__all__ = ["BandOptions", "BandTiling", "TiledSchedule", "TilingOptions", "tile"]

PROVIDED = {
    "TiledSchedule.__str__": "display:tiled_text",
    "TiledSchedule._repr_html_": "display:tiled_html",
}
"""What methods of values call (`scop.provided`)."""
