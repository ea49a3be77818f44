"""What SVG, TikZ and pages share: colours of groups, outlines of cells, and where numbers stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from polysched.scop.picture import PALETTE, Panel, Picture, Place, Turn

Cells = Mapping[tuple[int, int], int]
FIRST_STEP, LAST_STEP = (0x33, 0x22, 0x88), (0xEE, 0xDD, 0x55)
"""Colours between which the steps run, dark to light, so that a grey print keeps their order."""


def painted(picture: Picture) -> dict[int, str]:
    """The colour of every group of a picture."""
    beside = neighbours([panel.colours for panel in picture.panels])
    return painted_by(picture.colour_by, beside, picture.turns)


def painted_by(colouring: str, beside: Mapping[int, set[int]], turns: Mapping[int, Turn]) -> dict[int, str]:
    """A colour per group: by its thread or step, or one that no neighbour has.

    Parameters
    ----------
    colouring : `tile`, `thread` or `step`.
    beside : the groups that touch each group.
    """
    if colouring == "thread":
        return {group: thread_colour(turns[group].thread) for group in beside}
    if colouring == "step":
        last = max((turn.step for turn in turns.values()), default=0)
        return {group: step_colour(turns[group].step, last) for group in beside}
    return _apart(beside)


def thread_colour(thread: int | None) -> str:
    """The colour of a thread; grey where there is none."""
    return "#bbbbbb" if thread is None else PALETTE[thread % (len(PALETTE) - 1)]


def step_colour(step: int, last: int) -> str:
    """The colour of a step, between those of the first and of the last."""
    share = step / last if last else 0.0
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(FIRST_STEP, LAST_STEP, strict=True))


def neighbours(panels: Sequence[Cells]) -> dict[int, set[int]]:
    """The groups that touch each group in some panel, at a corner at least."""
    beside: dict[int, set[int]] = {}
    for groups in panels:
        for (x, y), group in groups.items():
            near = {groups.get((x + dx, y + dy), group) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
            beside.setdefault(group, set()).update(near - {group})
    return beside


def _apart(beside: Mapping[int, set[int]]) -> dict[int, str]:
    """A colour per group: the first that no group beside it has, while there is one."""
    chosen: dict[int, str] = {}
    for group in sorted(beside):
        taken = {chosen[other] for other in beside[group] if other in chosen}
        free = [colour for colour in PALETTE if colour not in taken]
        chosen[group] = free[0] if free else PALETTE[group % len(PALETTE)]
    return chosen


def outlines(groups: Cells) -> set[tuple[Place, Place]]:
    """The edges of cells beyond which another group, or none, lies."""
    found: set[tuple[Place, Place]] = set()
    for (x, y), group in groups.items():
        left, right, low, high = x - 0.5, x + 0.5, y - 0.5, y + 0.5
        for beside, edge in (((x - 1, y), ((left, low), (left, high))), ((x + 1, y), ((right, low), (right, high))),
                             ((x, y - 1), ((left, low), (right, low))), ((x, y + 1), ((left, high), (right, high)))):
            if groups.get(beside) != group:
                found.add(edge)
    return found


def cells_by_group(groups: Cells) -> dict[int, list[tuple[int, int]]]:
    """The cells of each group, groups in order."""
    found: dict[int, list[tuple[int, int]]] = {group: [] for group in sorted(set(groups.values()))}
    for cell, group in groups.items():
        found[group].append(cell)
    return found


def label_place(cells: Sequence[tuple[int, int]]) -> Place:
    """Where the number of a group stands: in the middle, between the dots, inside a cell of its own."""
    x, y = (sum(values) / len(cells) for values in zip(*cells, strict=True))
    nearest = min(cells, key=lambda cell: ((cell[0] - x) ** 2 + (cell[1] - y) ** 2, cell))
    return nearest[0] + (0.3 if x >= nearest[0] else -0.3), nearest[1] + (0.3 if y >= nearest[1] else -0.3)


def place_name(panel: int, place: Place) -> str:
    """What arrows and pages call a dot of a panel."""
    return f"{panel}:{place[0]:g},{place[1]:g}"


def groups_of(panels: Iterable[Panel]) -> list[int]:
    """Every group that some panel shows."""
    return sorted({group for panel in panels for group in panel.colours.values()})


def colour_legend(colouring: str, turns: Mapping[int, Turn], shown: Iterable[int]) -> list[tuple[str, str]]:
    """What the colours of groups mean: threads by number, the first and the last step; nothing for tiles."""
    if colouring == "thread":
        threads = sorted({turns[group].thread for group in shown}, key=lambda thread: (thread is None, thread))
        return [(thread_colour(t), "no thread" if t is None else f"thread {t}") for t in threads]
    if colouring == "step":
        last = max((turn.step for turn in turns.values()), default=0)
        return [(step_colour(step, last), f"step {step}") for step in sorted({0, last})]
    return []
