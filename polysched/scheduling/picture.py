"""Pictures of schedules: the tree drawn, its text, and tiles as colours on the iteration domain."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.picture import draw_dependences
from polysched.scheduling.loop_tree import Band, Filter, Mark, Node, Sequence, children, from_isl, walk
from polysched.scheduling.marks import Role
from polysched.scop.picture import Picture, Point, slice_points, small_parameters, svg_document
from polysched.scop.points import fix_parameters, pairs_of
from polysched.scop.shown import Shown

ROW = 24
INDENT = 26


def tree_text(tree: isl.Schedule) -> str:
    """The schedule tree as indented lines, one node a line."""
    return "\n".join("  " * depth + label for depth, label, _ in _rows(from_isl(tree).root, 0))


@dataclass(frozen=True, kw_only=True)
class TreePicture(Shown):
    """A schedule tree drawn as nested rows; bands are blue when permutable, parallel loops are marked."""

    rows: tuple[tuple[int, str, str], ...]

    @property
    def svg(self) -> str:
        """A self-contained SVG document."""
        width = max((depth * INDENT + 7 * len(label) + 40 for depth, label, _ in self.rows), default=80)
        height = ROW * len(self.rows) + 12
        parts = []
        last_at: dict[int, int] = {}
        for number, (depth, label, colour) in enumerate(self.rows):
            x, y = depth * INDENT + 8, number * ROW + 6
            if depth and depth - 1 in last_at:
                parent = last_at[depth - 1]
                parts.append(f'<path d="M{x - INDENT + 8},{parent + ROW - 5} V{y + 9} H{x}" '
                             'fill="none" stroke="#999"/>')
            last_at[depth] = y
            parts.append(f'<rect x="{x}" y="{y}" width="{7 * len(label) + 14}" height="{ROW - 5}" rx="4" '
                         f'fill="{colour}" fill-opacity="0.25" stroke="{colour}"/>'
                         f'<text x="{x + 7}" y="{y + 14}">{html.escape(label)}</text>')
        return svg_document("".join(parts), width=width, height=height, font="monospace", font_size=11.5,
                            shrinks=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return "".join(f"{'  ' * depth}{label}\n" for depth, label, _ in self.rows)


def draw_tree(tree: isl.Schedule) -> TreePicture:
    """The schedule tree as a picture."""
    return TreePicture(rows=tuple(_rows(from_isl(tree).root, 0)))


def _rows(node: Node, depth: int) -> list[tuple[int, str, str]]:
    rows = []
    match node:
        case Band():
            rows.append((depth, _band_label(node), "#4477aa" if node.permutable else "#777777"))
        case Sequence():
            rows.append((depth, "sequence" if node.ordered else "set", "#ccbb44"))
        case Mark():
            rows.append((depth, f"mark {node.name}", "#aa3377"))
        case Filter():
            rows.append((depth, f"filter {_statements(node.keep)}", "#ccbb44"))
        case _:
            return []
    if isinstance(node, Sequence):
        for keep, child in node.branches:
            rows.append((depth + 1, _statements(keep), "#228833"))
            rows += _rows(child, depth + 2)
    else:
        for child in children(node):
            rows += _rows(child, depth + 1)
    return rows


def _band_label(band: Band) -> str:
    members = [_functions(m) + (" parallel" if c else "") for m, c in zip(band.members, band.coincident, strict=True)]
    words = []
    if band.mark is not None:
        words += [band.mark.role.value] if band.mark.role is not Role.LOOP else []
        words += [name for name in ("parallel", "simd") if getattr(band.mark, name)]
    if band.permutable and len(band.members) > 1:
        words.append("permutable")
    return f"band [{'; '.join(members)}]" + (f"  {', '.join(words)}" if words else "")


def _functions(member: isl.UnionPwAff) -> str:
    pieces = member.get_pw_aff_list()
    texts = []
    for i in range(pieces.n_pw_aff()):
        for _, aff in pieces.get_at(i).get_pieces():
            instance, value = aff.to_str().split("->")[-2:]
            value = value.strip(" }").removeprefix("[(").removesuffix(")]")
            texts.append(f"{instance.split('{')[-1].strip()} → {value}")
    return ", ".join(dict.fromkeys(texts))


def _statements(keep: isl.UnionSet) -> str:
    sets = keep.get_set_list()
    return ", ".join(sorted({str(sets.get_at(i).get_tuple_name()) for i in range(sets.n_set())}))


def draw_tiles(dependences: Dependences, tree: isl.Schedule, *, parameters: Mapping[str, int] | None = None,
               axes: tuple[str, str] | None = None) -> Picture:
    """The iteration domains with dependence arrows; instances of one tile share a colour.

    Parameters
    ----------
    tree : a tree whose tile loops carry `LoopMark` marks with role tile.
    parameters, axes : as for `draw_dependences`.
    """
    values = dict(parameters) if parameters is not None else small_parameters(dependences.scop)
    picture = draw_dependences(dependences, parameters=values, axes=axes)
    panels = []
    for statement, panel in zip(dependences.scop.statements, picture.panels, strict=True):
        points, _, _ = slice_points(statement, values, axes)
        tiles = _tile_of(tree, statement.domain, values)
        numbers = {tile: n for n, tile in enumerate(sorted(set(tiles.values())))}
        panels.append(replace(panel, colours={points[p]: numbers[tiles[p]] for p in points if p in tiles}))
    return Picture(panels=tuple(panels))


def _tile_of(tree: isl.Schedule, domain: isl.Set, parameters: Mapping[str, int]) -> dict[Point, Point]:
    """The tile coordinates of every instance that has some."""
    found: dict[Point, Point] = {}
    for node in walk(from_isl(tree).root):
        if not isinstance(node, Band) or node.mark is None or node.mark.role not in (Role.TILE, Role.WAVEFRONT):
            continue
        values = isl.UnionMap.from_union_pw_aff(node.members[0]).intersect_domain(isl.UnionSet.from_set(domain))
        pieces = values.get_map_list()
        for i in range(pieces.n_map()):
            for point, value in pairs_of(fix_parameters(pieces.get_at(i), parameters)):
                found[point] = (*found.get(point, ()), *value)
    return found


