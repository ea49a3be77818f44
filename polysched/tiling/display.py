"""A tiled schedule as text and as HTML for notebooks."""

from __future__ import annotations

from polysched.scheduling.display import order_html
from polysched.scheduling.picture import draw_tiles, draw_tree
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop.display import picture_or_reason
from polysched.scop.html import beside, card, drawing, folded, paragraph, preformatted, table
from polysched.scop.picture import Picture
from polysched.tiling.tiled_schedule import BandTiling, TiledSchedule


def tiled_text(tiled: TiledSchedule) -> str:
    """What was done per band, and the tree."""
    lines = [f"tiled schedule of {tiled.schedule.scop.name} by {tiled.schedule.algorithm}",
             *(f"band {band.band}: {', '.join(_words(band))}" for band in tiled.bands), *tiled.fallbacks]
    return "".join(f"{line}\n" for line in lines) + tree_text(tiled.tree)


def tiled_html(tiled: TiledSchedule) -> str:
    """The bands in a table, the tree drawn, and the domains with one colour per tile."""
    found: list[Picture] = []

    def draw() -> Picture:
        found.append(draw_tiles(tiled.schedule.dependences, tiled.tree))
        return found[0]

    picture = picture_or_reason(draw)
    tiles = {colour for p in found for panel in p.panels for colour in panel.colours.values()}
    note = [paragraph("One tile covers the whole picture: tiles are larger than the sizes that it is drawn for.")
            ] if len(tiles) == 1 else []
    return card(f"Tiled schedule of {tiled.schedule.scop.name}",
                table(("band", "what was done"), ((b.band, ", ".join(_words(b))) for b in tiled.bands)),
                beside(drawing(draw_tree(tiled.tree).svg), picture, whole=True), *note,
                order_html(tiled.schedule, tiled.tree),
                folded("as text", preformatted(tiled_text(tiled))))


def _words(band: BandTiling) -> list[str]:
    words = [f"tiles {' × '.join(map(str, band.sizes))}" if band.sizes else "no tiles"]
    if band.strip:
        words.append(f"in strips of {band.strip} shared with its neighbours")
    if band.register:
        words.append(f"register block {' × '.join(map(str, band.register))}")
    if band.wavefront:
        words.append("wavefront")
    if band.pieces:
        words.append(f"split into {band.pieces} pieces and the gaps between them")
    if band.parallel_member is not None:
        words.append(f"member {band.parallel_member} parallel")
    return words
