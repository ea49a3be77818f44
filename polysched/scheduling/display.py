"""A schedule as text and as HTML for notebooks."""

from __future__ import annotations

import json

import islpy as isl

from polysched.dependence.picture import draw_dependences
from polysched.errors import UsageError
from polysched.scheduling.picture import draw_schedule, draw_tiles, draw_tree, share_a_band
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop.display import picture_or_reason
from polysched.scop.html import beside, card, drawing, folded, paragraph, preformatted


def step_text(step: Step) -> str:
    """A step as one writes it: `tile loops=["i", "j"] sizes=[8, 8]`."""
    fields = {key: value for key, value in step.to_json().items() if key != "step"}
    return " ".join([step.NAME, *(f"{key}={json.dumps(value)}" for key, value in fields.items())])


def schedule_text(schedule: Schedule) -> str:
    """The algorithm, the rungs and the steps, and the tree."""
    lines = [f"schedule of {schedule.scop.name} by {schedule.algorithm}",
             *(f"rung: {rung}" for rung in schedule.report.rungs), *(f"step: {step_text(s)}" for s in schedule.steps)]
    return "".join(f"{line}\n" for line in lines) + tree_text(schedule.tree)


def schedule_html(schedule: Schedule) -> str:
    """The tree drawn, the iteration domains with the tiles that steps by hand have made, and the new order."""
    tiled = "role=tile" in str(schedule.tree)
    picture = picture_or_reason(
        lambda: draw_tiles(schedule.dependences, schedule.tree) if tiled else draw_dependences(schedule.dependences))
    history = [*schedule.report.rungs, *(step_text(s) for s in schedule.steps)]
    return card(f"Schedule of {schedule.scop.name} by {schedule.algorithm}", *map(paragraph, history),
                beside(drawing(draw_tree(schedule.tree).svg), picture, whole=True), order_html(schedule, schedule.tree),
                folded("as text", preformatted(schedule_text(schedule))))


def order_html(schedule: Schedule, tiles: isl.Schedule) -> str:
    """Where the schedule puts the statements that share a band; empty when none do, or when it cannot be drawn.

    Parameters
    ----------
    tiles : the tree whose tiles are the colours.
    """
    try:
        found = draw_schedule(schedule.dependences, schedule.tree, tiles=tiles)
    except UsageError:   # too many instances; the picture of the domains says so
        return ""
    return drawing(found.svg) if share_a_band(found) else ""
