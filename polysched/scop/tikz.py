"""Pictures of iteration domains as TikZ, for papers: tiles with outlines and numbers, dots, arrows, axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polysched.scop.picture import PALETTE, Panel, Picture, Place, painted

STEP_CM = 0.5
SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
           "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def tikz_of(picture: Picture) -> str:
    """A `tikzpicture` with every panel beside the one before; it needs the package tikz and nothing else.

    A tile is filled, outlined, and has its number in its middle; numbers count the tiles in the order of their names.
    """
    paint = painted(picture)
    inks = {ink for panel in picture.panels for ink in (*panel.inks.values(), *(c for c, _ in panel.legend))}
    names = {colour: f"polysched{at}" for at, colour in enumerate(dict.fromkeys([*PALETTE, *sorted(inks)]))}
    lines = [r"% made by polysched; needs \usepackage{tikz}",
             *(rf"\definecolor{{{name}}}{{HTML}}{{{_hexadecimal(colour)}}}" for colour, name in names.items()),
             rf"\begin{{tikzpicture}}[x={STEP_CM}cm, y={STEP_CM}cm, >=stealth]"]
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
    return "\n".join([*lines, r"\end{tikzpicture}", ""])


def _hexadecimal(colour: str) -> str:
    """`#4477aa` or `#47a` as six digits."""
    digits = colour.lstrip("#").upper()
    return digits if len(digits) == 6 else "".join(2 * digit for digit in digits)


def _panel(panel: Panel, paint: Mapping[int, str], names: Mapping[str, str]) -> Iterator[str]:
    ys = [round(y) for _, y in panel.points] or [0]
    xs = [round(x) for x, _ in panel.points] or [0]
    above = (min(xs) - 0.5, max(ys) + 0.6)
    yield rf"\node[anchor=south west, font=\bfseries] at {_at(above)} {{{_text(panel.title)}}};"
    for (x, y), group in panel.colours.items():
        yield rf"\fill[{names[paint[group]]}, opacity=0.35] ({x - 0.5:g},{y - 0.5:g}) rectangle +(1,1);"
    for start, end in sorted(outlines(panel.colours)):
        yield rf"\draw[thick] {_at(start)} -- {_at(end)};"
    for number, place in _numbers(panel.colours):
        yield rf"\node[font=\scriptsize, fill=white, inner sep=1pt] at {_at(place)} {{{number}}};"
    for source, sink in panel.arrows:
        yield rf"\draw[->, gray, shorten <=2pt, shorten >=2pt] {_at(source)} -- {_at(sink)};"
    for point in panel.points:
        ink = rf"[{names[panel.inks[point]]}]" if point in panel.inks else ""
        yield rf"\fill{ink} {_at(point)} circle (1.6pt);"
    for x in range(min(xs), max(xs) + 1):
        yield rf"\node[gray, font=\tiny] at ({x},{min(ys) - 0.9:g}) {{{x}}};"
    for y in range(min(ys), max(ys) + 1):
        yield rf"\node[gray, font=\tiny] at ({min(xs) - 0.9:g},{y}) {{{y}}};"
    yield rf"\node at ({max(xs) + 1},{min(ys) - 0.9:g}) {{{_text(panel.axes[0])}}};"
    yield rf"\node at ({min(xs) - 0.9:g},{max(ys) + 1}) {{{_text(panel.axes[1])}}};"
    for at, (colour, text) in enumerate(panel.legend):
        yield (rf"\node[anchor=west, font=\scriptsize, {names[colour]}] at ({min(xs) - 0.5:g},{min(ys) - 1.8 - at:g}) "
               rf"{{$\bullet$ {_text(text)}}};")


def outlines(groups: Mapping[tuple[int, int], int]) -> set[tuple[Place, Place]]:
    """The edges of cells beyond which another group, or none, lies."""
    found: set[tuple[Place, Place]] = set()
    for (x, y), group in groups.items():
        left, right, low, high = x - 0.5, x + 0.5, y - 0.5, y + 0.5
        for beside, edge in (((x - 1, y), ((left, low), (left, high))), ((x + 1, y), ((right, low), (right, high))),
                             ((x, y - 1), ((left, low), (right, low))), ((x, y + 1), ((left, high), (right, high)))):
            if groups.get(beside) != group:
                found.add(edge)
    return found


def _numbers(groups: Mapping[tuple[int, int], int]) -> Iterator[tuple[int, Place]]:
    """Each group's number with the middle of its cells."""
    for number, group in enumerate(sorted(set(groups.values()))):
        cells = [cell for cell, own in groups.items() if own == group]
        yield number, (sum(x for x, _ in cells) / len(cells), sum(y for _, y in cells) / len(cells))


def _at(place: Place) -> str:
    return f"({place[0]:g},{place[1]:g})"


def _text(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in text)
