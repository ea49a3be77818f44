"""A plan as a picture: a box per kernel in its colour, below those whose results it reads; then bytes and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from polysched.graph.evaluation.inference import infer
from polysched.graph.limits import LIMITS
from polysched.graph.planning.plan import Plan
from polysched.graph.planning.steps import Copies, Either, Kernel, Part, Sizes, Step, Together, walked
from polysched.records import dataclass

WIDTH, LINE, GAP, LETTERS = 170, 15, 28, 24
"""Pixels: of a box, of a line of text, between boxes; and the letters that a line of a box has room for."""
SHIFT, MOST_BEHIND = 3, 4
"""Pixels between the boxes of kernels that run side by side, and how many of them are drawn behind the first."""
TURN = 137.5
"""Degrees on the circle of colours between one kernel and the next: neighbours differ, no colour comes back soon."""


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """What the kernels and copies of a plan move.

    Parameters
    ----------
    moved : bytes of the operands and results of all steps.
    saved : bytes of values inside kernels, each written and read, that one kernel per operator would move besides.
    """

    moved: int
    saved: int


def traffic_of(plan: Plan) -> Traffic | None:
    """What a plan moves; None where a size is open.  What a region moves counts once."""
    if plan.graph.symbols:
        return None
    moved = saved = 0
    for step in walked(plan.steps):
        if not isinstance(step, Kernel | Copies):
            continue
        names = dict.fromkeys(n for n in (*step.inputs, *step.outputs) if n)
        moved += sum(plan.type_of(name).bytes for name in names)
        if isinstance(step, Kernel):
            types = infer(step.fragment).types
            inner = [o for n in step.fragment.nodes for o in n.outputs if o and o not in step.fragment.outputs]
            saved += sum(2 * types[o].bytes for o in inner)
    return Traffic(moved=moved, saved=saved)


def svg_of_plan(plan: Plan) -> str:
    """The first steps of a plan as SVG, and why it has no fewer kernels; a line says how many steps are left out."""
    shown = plan.steps[:LIMITS.most_drawn_nodes]
    rows = _layers(plan, shown)
    boxes, place, y = [], {}, GAP // 2
    for row in rows:
        for column, number in enumerate(row):
            place[number] = (column * (WIDTH + GAP) + 1, y)
            boxes.append(_box(plan, shown[number], number, place[number]))
        y += max(_height(shown[number]) for number in row) + GAP
    left = len(plan.steps) - len(shown)
    lines = [*_said(plan), *([f"and {left} more steps"] if left else [])]
    text = "".join(f'<text x="1" y="{y + k * LINE}" fill="currentColor">{escape(line)}</text>'
                   for k, line in enumerate(lines))
    width = max([len(row) * (WIDTH + GAP) for row in rows] + [8 * len(line) for line in lines]) + 1
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + len(lines) * LINE}" '
            f'font-family="monospace" font-size="11">{_edges(plan, shown, place)}{"".join(boxes)}{text}</svg>')


def _said(plan: Plan) -> list[str]:
    """The lines below the boxes."""
    traffic = traffic_of(plan)
    lines = [str(plan).splitlines()[0]]
    if traffic is not None:
        lines.append(f"{traffic.moved} bytes moved, {traffic.saved} saved by fusion")
    lines += [f"not {nodes}: {why}" for nodes, why in plan.refused[:LIMITS.most_reasons]]
    left = len(plan.refused) - LIMITS.most_reasons
    return [*lines, *([f"and {left} more reasons"] if left > 0 else [])]


def _makers(steps: Sequence[Step], plan: Plan) -> dict[str, int]:
    return {plan.roots[o]: number for number, step in enumerate(steps) for o in step.outputs if o}


def _layers(plan: Plan, steps: Sequence[Step]) -> list[list[int]]:
    """The steps that stand side by side."""
    makers, depth = _makers(steps, plan), [0] * len(steps)
    rows: list[list[int]] = []
    for number, step in enumerate(steps):
        sources = [makers.get(plan.roots[n]) for n in step.inputs if n]
        depth[number] = 1 + max((depth[s] for s in sources if s is not None and s < number), default=-1)
        while len(rows) <= depth[number]:
            rows.append([])
        rows[depth[number]].append(number)
    return rows


def _edges(plan: Plan, steps: Sequence[Step], place: dict[int, tuple[int, int]]) -> str:
    """A line from every step to those that read its results."""
    makers, found = _makers(steps, plan), []
    for number, step in enumerate(steps):
        sources = {makers.get(plan.roots[n]) for n in step.inputs if n} - {None, number}
        for source in sorted(s for s in sources if s is not None and s < number):
            (x0, y0), (x1, y1) = place[source], place[number]
            found.append(f'<line x1="{x0 + WIDTH // 2}" y1="{y0 + _height(steps[source])}" x2="{x1 + WIDTH // 2}" '
                         f'y2="{y1}" stroke="currentColor" stroke-opacity="0.5"/>')
    return "".join(found)


def _texts(step: Step) -> list[str]:
    """The lines of a box."""
    if isinstance(step, Kernel):
        return [n.op for n in step.fragment.nodes]
    if isinstance(step, Together):
        return [f"{len(step.kernels)} side by side", *_texts(step.kernels[0])]
    if isinstance(step, Copies | Sizes):
        return ["copy" if isinstance(step, Copies) else "sizes"]
    if isinstance(step, Either):
        return [f"if {step.condition}", *_inside(step.yes), "else", *_inside(step.no)]
    return [f"loop {step.limit}".rstrip(), *_inside(step.body)]


def _inside(part: Part) -> list[str]:
    return [f"  {line}" for step in part.steps for line in _texts(step)]


def _height(step: Step) -> int:
    return LINE * (1 + len(_texts(step))) + 6


def _box(plan: Plan, step: Step, number: int, place: tuple[int, int]) -> str:
    """A step: its results, and its operators."""
    x, y = place
    title = ", ".join(f"{o}: {plan.type_of(o)}" for o in step.outputs if o)
    fill = f"hsl({number * TURN % 360:.0f} 70% 60% / 0.35)" if not isinstance(step, Copies | Sizes) else "none"
    weight = 2 if {plan.roots[o] for o in step.outputs if o} & {plan.roots[o] for o in plan.graph.outputs} else 1
    texts = "".join(f'<text x="{x + 6}" y="{y + LINE * (k + 1)}" fill="currentColor" xml:space="preserve">'
                    f'{escape(line if len(line) <= LETTERS else line[:LETTERS - 1] + "…")}</text>'
                    for k, line in enumerate([f"{next(filter(None, step.outputs), '')} =", *_texts(step)]))
    behind = range(1, len(step.kernels)) if isinstance(step, Together) else range(0)
    rects = "".join(f'<rect x="{x + SHIFT * k}" y="{y + SHIFT * k}" width="{WIDTH}" height="{_height(step)}" '
                    f'fill="{fill if not k else "none"}" stroke="currentColor" stroke-width="{weight}"/>'
                    for k in (*reversed(behind[:MOST_BEHIND]), 0))
    return f'<g><title>{escape(title)}</title>{rects}{texts}</g>'
