"""What `polysched draw --json` writes: points, arrows and tiles of a picture, without colours and places on a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from polysched.distribute.picture import MessagePicture
    from polysched.scheduling.picture import TreePicture
    from polysched.scop.picture import Panel, Picture, Turn
    from polysched.scop.pictures.memory import MemoryPicture
    from polysched.scop.pictures.solid import Solid

    AnyPicture: TypeAlias = Picture | Solid | MemoryPicture | TreePicture | MessagePicture


def picture_to_json(picture: AnyPicture) -> dict[str, Any]:
    """A picture as JSON values; tiles have the numbers that the drawing shows."""
    from polysched.distribute.picture import MessagePicture
    from polysched.scheduling.picture import TreePicture
    from polysched.scop.pictures.memory import MemoryPicture
    from polysched.scop.pictures.solid import Solid
    match picture:
        case TreePicture():
            return {"rows": [{"depth": depth, "label": label} for depth, label, _ in picture.rows]}
        case MemoryPicture():
            return _of_memory(picture)
        case MessagePicture():
            return _of_messages(picture)
        case Solid():
            found = {"title": picture.title, "axes": list(picture.axes), "points": _lists(picture.points),
                     "arrows": [_lists(arrow) for arrow in picture.arrows],
                     "tiles": [{"point": list(point), "tile": tile} for point, tile in picture.tiles.items()]}
        case _:
            found = {"panels": [_of_panel(panel) for panel in picture.panels],
                     "links": [{"source": {"panel": link.source_panel, "point": list(link.source)},
                                "sink": {"panel": link.sink_panel, "point": list(link.sink)}}
                               for link in picture.links]}
    return {**found, **_order(picture.turns, picture.order), "note": picture.note}


def _of_panel(panel: Panel) -> dict[str, Any]:
    return {"title": panel.title, "axes": list(panel.axes), "points": _lists(panel.points),
            "arrows": [_lists(arrow) for arrow in panel.arrows],
            "tiles": [{"point": list(place), "tile": tile} for place, tile in panel.colours.items()]}


def _of_messages(picture: MessagePicture) -> dict[str, Any]:
    rows = [{"step": list(row.step), "runs": [asdict(run) for run in row.runs],
             "messages": [asdict(message) | {"step": list(message.step)} for message in row.sent]}
            for row in picture.rows]
    return {"title": picture.title, "overlapped": picture.overlapped, "steps": rows,
            "gathered": [dict(own) for own in picture.gathered]}


def _of_memory(picture: MemoryPicture) -> dict[str, Any]:
    arrays = [{"name": m.name, "elements": m.elements, "element_bytes": m.element_bytes, "line_bytes": m.line_bytes}
              for m in picture.arrays]
    tiles = [{"tile": number, **{side: {name: sorted(elements) for name, elements in touched.items()}
                                 for side, touched in (("reads", own.reads), ("writes", own.writes))}}
             for number, own in sorted(picture.tiles.items())]
    return {"arrays": arrays, "tiles": tiles, **_order(picture.turns, picture.order), "note": picture.note}


def _order(turns: Mapping[int, Turn], order: str) -> dict[str, Any]:
    return {"order": order, "turns": [{"tile": tile, "step": turn.step, "thread": turn.thread}
                                      for tile, turn in sorted(turns.items())]}


def _lists(points: tuple[tuple[float, ...], ...]) -> list[list[float]]:
    return [list(point) for point in points]
