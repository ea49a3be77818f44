"""Pictures of iteration domains as TikZ, for papers: tiles with outlines and numbers, dots, arrows, axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from polysched.scop.picture import PALETTE, Panel, Picture, Place
from polysched.scop.pictures.paint import (
    cells_by_group,
    colour_legend,
    groups_of,
    label_place,
    outlines,
    painted,
    painted_by,
)
from polysched.scop.pictures.polytopes import Corner
from polysched.scop.pictures.solid import Solid, View

STEP_CM = 0.5
SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
           "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def tikz_of(picture: Picture) -> str:
    """A `tikzpicture` with every panel beside the one before; it needs the package tikz and nothing else.

    A tile is filled, outlined, and has its number in its middle; numbers count the tiles in the order of their names.
    """
    paint = painted(picture)
    inks = {ink for panel in picture.panels for ink in (*panel.inks.values(), *(c for c, _ in panel.legend))}
    meanings = colour_legend(picture.colour_by, picture.turns, groups_of(picture.panels))
    names, lines = _begin({*inks, *paint.values(), *(colour for colour, _ in meanings)})
    left, corners = 0.0, []
    for panel in picture.panels:
        xs = [round(x) for x, _ in panel.points] or [0]
        corners.append(left - min(xs))
        lines += [rf"\begin{{scope}}[shift={{({left - min(xs):g},0)}}]", *_panel(panel, paint, names), r"\end{scope}"]
        left += max(max(xs) - min(xs) + 4, len(panel.title) / 2)
    for link in picture.links:
        source = (corners[link.source_panel] + link.source[0], link.source[1])
        sink = (corners[link.sink_panel] + link.sink[0], link.sink[1])
        lines.append(rf"\draw[->, {names[PALETTE[5]]}, shorten >=2pt] {_at(source)} to[bend left=20] {_at(sink)};")
    lowest = min((round(y) for panel in picture.panels for _, y in panel.points), default=0) - 1.8 - max(
        (len(panel.legend) for panel in picture.panels), default=0)
    for at, (colour, text) in enumerate(meanings):
        lines.append(rf"\filldraw[fill={names[colour]}, fill opacity=0.5] (0,{lowest - at:g}) rectangle +(0.5,0.5) "
                     rf"node[below right, opacity=1, font=\scriptsize] {{{_text(text)}}};")
    return "\n".join([*lines, r"\end{tikzpicture}", ""])


def _begin(used: Set[str]) -> tuple[dict[str, str], list[str]]:
    """The names of colours, and the lines ahead of what is drawn."""
    names = {colour: f"polysched{at}" for at, colour in enumerate(dict.fromkeys([*PALETTE, *sorted(used)]))}
    return names, [r"% made by polysched; needs \usepackage{tikz}",
                   *(rf"\definecolor{{{name}}}{{HTML}}{{{_hexadecimal(colour)}}}" for colour, name in names.items()),
                   rf"\begin{{tikzpicture}}[x={STEP_CM}cm, y={STEP_CM}cm, >=stealth]"]


def _hexadecimal(colour: str) -> str:
    """`#4477aa` or `#47a` as six digits."""
    digits = colour.lstrip("#").upper()
    return digits if len(digits) == 6 else "".join(2 * digit for digit in digits)


def _panel(panel: Panel, paint: Mapping[int, str], names: Mapping[str, str]) -> Iterator[str]:
    ys = [round(y) for _, y in panel.points] or [0]
    xs = [round(x) for x, _ in panel.points] or [0]
    above = (min(xs) - 0.5, max(ys) + 0.6)
    yield rf"\node[anchor=south west, font=\bfseries] at {_at(above)} {{{_text(panel.title)}}};"
    yield from _tiles(panel, paint, names)
    for source, sink in panel.arrows:
        yield rf"\draw[->, gray, shorten <=2pt, shorten >=2pt] {_at(source)} -- {_at(sink)};"
    for point in panel.points:
        ink = rf"[{names[panel.inks[point]]}]" if point in panel.inks else ""
        yield rf"\fill{ink} {_at(point)} circle (1.6pt);"
    tiles = cells_by_group(panel.colours)
    for group, cells in tiles.items() if len(tiles) > 1 else ():
        yield rf"\node[font=\tiny, fill=white, inner sep=0.5pt] at {_at(label_place(cells))} {{{group}}};"
    for x in range(min(xs), max(xs) + 1):
        yield rf"\node[gray, font=\tiny] at ({x},{min(ys) - 0.9:g}) {{{x}}};"
    for y in range(min(ys), max(ys) + 1):
        yield rf"\node[gray, font=\tiny] at ({min(xs) - 0.9:g},{y}) {{{y}}};"
    yield rf"\node[anchor=west, inner sep=0pt] at ({max(xs) + 0.6:g},{min(ys) - 0.9:g}) {{{_text(panel.axes[0])}}};"
    yield (rf"\node[anchor=south east, inner sep=0pt] at ({min(xs) - 0.7:g},{max(ys) + 0.8:g}) "   # beside the title
           rf"{{{_text(panel.axes[1])}}};")
    for at, (colour, text) in enumerate(panel.legend):
        yield (rf"\node[anchor=west, font=\scriptsize, {names[colour]}] at ({min(xs) - 0.5:g},{min(ys) - 1.8 - at:g}) "
               rf"{{$\bullet$ {_text(text)}}};")


def _tiles(panel: Panel, paint: Mapping[int, str], names: Mapping[str, str]) -> Iterator[str]:
    """Areas first, outlines above them: polygons where a tile has them, else cells."""
    tiles = cells_by_group(panel.colours)
    for group, cells in tiles.items():
        style = f"[{names[paint[group]]}, opacity=0.35]"
        for polygon in panel.shapes.get(group, ()):
            yield rf"\fill{style} {' -- '.join(map(_at, polygon))} -- cycle;"
        for x, y in () if panel.shapes.get(group) else cells:
            yield rf"\fill{style} ({x - 0.5:g},{y - 0.5:g}) rectangle +(1,1);"
    for group, cells in tiles.items():
        for polygon in panel.shapes.get(group, ()):
            yield rf"\draw[thick] {' -- '.join(map(_at, polygon))} -- cycle;"
        for start, end in () if panel.shapes.get(group) else sorted(outlines(dict.fromkeys(cells, group))):
            yield rf"\draw[thick] {_at(start)} -- {_at(end)};"


def _at(place: Place) -> str:
    return f"({place[0]:g},{place[1]:g})"


def _text(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in text)


def tikz_of_solid(solid: Solid) -> str:
    """A `tikzpicture` of a solid as it is seen; it needs the package tikz and nothing else."""
    view = View(solid)
    paint = painted_by(solid.colour_by, solid.beside(), solid.turns)
    meanings = colour_legend(solid.colour_by, solid.turns, sorted(set(solid.tiles.values())))
    names, lines = _begin({*paint.values(), *(colour for colour, _ in meanings)})

    def at(corner: Corner) -> str:
        x, y = view.at(corner)
        return f"({x:.2f},{-y:.2f})"

    lines.append(rf"\node[anchor=south west, font=\bfseries] at (0,0.5) {{{_text(solid.title)}}};")
    for name, (start, end) in zip(solid.axes, view.axes, strict=False):
        lines.append(rf"\draw[->, gray] {at(start)} -- {at(end)} node[above right] {{{_text(name)}}};")
    lines += [rf"\filldraw[fill={names[paint[group]]}, draw=darkgray, fill opacity=0.22, draw opacity=0.6] "
              rf"{' -- '.join(map(at, face))} -- cycle;" for group, face in view.faces()]
    lines += [rf"\draw[->, gray, shorten <=2pt, shorten >=2pt] {at(a)} -- {at(b)};" for a, b in solid.drawn_arrows]
    lines += [rf"\fill {at(point)} circle (1.2pt);" for point in sorted(solid.points, key=view.near)]
    for number, (colour, text) in enumerate(meanings):
        lines.append(rf"\filldraw[fill={names[colour]}, fill opacity=0.5] (0,{-view.height - 1.5 - number:.2f}) "
                     rf"rectangle +(0.5,0.5) node[below right, opacity=1, font=\scriptsize] {{{_text(text)}}};")
    return "\n".join([*lines, r"\end{tikzpicture}", ""])
