"""Every message of a distributed program at small sizes: a line per rank, time downwards, an arrow per message."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from polysched.distribute.counts import count_points
from polysched.distribute.distribution import Distributed
from polysched.distribute.sent import AtSizes, Run, Sent
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.html import drawing
from polysched.scop.picture import MARGIN, PALETTE, choose_sizes, nothing_runs, small_parameters, svg_document
from polysched.scop.points import fix_parameters
from polysched.scop.shown import Shown

RANKS = 4
"""Where the reader names no number."""
MOST_MESSAGES = 400
"""Of a picture."""
MOST_BOXES = 1000
"""Of a picture: ranks times steps."""
COLUMN, BOX, LINE = 150, 92, 18
"""Pixels between two ranks' lines, of a box's width, of a box's and a label's height."""
NAMES = 90
"""Pixels to the left of the lines, for the steps' names."""


@dataclass(frozen=True, kw_only=True)
class StepDrawn:
    """One row: what ranks run in a step, and what they send at its end.

    Parameters
    ----------
    runs : per rank.
    sent : the messages, by sender and receiver.
    """

    step: tuple[int, ...]
    runs: tuple[Run, ...]
    sent: tuple[Sent, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class MessagePicture(Shown):
    """A message sequence chart; a notebook shows it, `svg` is the text, `str` lists the messages.

    Parameters
    ----------
    title : the program, its ranks and sizes.
    step_names : what a row is: `step`, or `tile` of steps.
    overlapped : messages are sent before the rest of a step runs.
    rows : the steps, in order.
    gathered : per rank the elements by array that it sends to all others at the end.
    """

    title: str
    step_names: str
    overlapped: bool
    rows: tuple[StepDrawn, ...]
    gathered: tuple[Mapping[str, int], ...]

    @property
    def messages(self) -> tuple[Sent, ...]:
        """All, in order."""
        return tuple(message for row in self.rows for message in row.sent)

    @property
    def svg(self) -> str:
        """A self-contained SVG document; every box and arrow says under the pointer what it is."""
        top = MARGIN + LINE
        tops = [top]
        for row in self.rows:
            tops.append(tops[-1] + self._height(row))
        bottom = tops[-1]
        parts = [f'<text x="12" y="20" font-weight="bold">{html.escape(self.title)}</text>',
                 '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
                 'orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
                 *self._lines(top, bottom)]
        for row, (start, end) in zip(self.rows, pairwise(tops), strict=True):
            parts += self._row(row, start, end)
        parts += self._gathers(bottom)
        return svg_document("".join(parts), width=NAMES + COLUMN * len(self.gathered) + 12,
                            height=bottom + 3 * LINE, font_size=11)

    def _height(self, row: StepDrawn) -> int:
        """Room for the box, the arrows, and the box of what runs meanwhile."""
        lines = 2 + max(_levels(row.sent), default=-1) + bool(row.sent or self.overlapped)
        return LINE * lines + 10

    def _lines(self, top: int, bottom: int) -> Iterator[str]:
        for rank in range(len(self.gathered)):
            x = _middle(rank)
            yield (f'<text x="{x}" y="{top - 8}" text-anchor="middle" font-weight="bold">rank {rank}</text>'
                   f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" stroke="#999"/>')

    def _row(self, row: StepDrawn, top: int, bottom: int) -> Iterator[str]:
        if row.step:
            yield (f'<text x="12" y="{top + 13}" fill="#333">{self.step_names} '
                   f'{", ".join(map(str, row.step))}</text>')
        for rank, run in enumerate(row.runs):
            yield from self._boxes(rank, run, top, bottom)
        for message, level in zip(row.sent, _levels(row.sent), strict=True):
            yield _arrow(message, top + LINE + 12 + LINE * level)

    def _boxes(self, rank: int, run: Run, top: int, bottom: int) -> Iterator[str]:
        total = run.own + run.replicas
        if not total:
            return
        if self.overlapped and run.first:
            yield _box(rank, top, f"{run.first} first", f"rank {rank} runs {run.first} instances, then sends")
            rest = total - run.first
            if rest:
                yield _box(rank, bottom - LINE - 6, f"{rest} meanwhile",
                           f"rank {rank} runs {rest} instances while messages are on their way")
            return
        replicas = f" + {run.replicas} again" if run.replicas else ""
        yield _box(rank, top, f"{run.own}{replicas}", f"rank {rank} runs {run.own} instances of its own"
                   + (f" and {run.replicas} that others run, too" if run.replicas else ""))

    def _gathers(self, top: int) -> Iterator[str]:
        if not any(self.gathered):
            return
        yield f'<text x="12" y="{top + 13}" fill="#333">at the end</text>'
        for rank, arrays in enumerate(self.gathered):
            text = ", ".join(f"{array} {count}" for array, count in arrays.items())
            if text:
                yield (f'<text x="{_middle(rank)}" y="{top + 13}" text-anchor="middle">{html.escape(text)}'
                       f'<title>elements that rank {rank} sends to all others</title></text>')

    def _repr_html_(self) -> str:
        return drawing(self.svg, alt=str(self))

    def headline(self) -> str:
        """The title, and how many messages."""
        return f"{self.title}: {len(self.messages)} messages"

    def __str__(self) -> str:
        """The messages, one a line."""
        lines = [self.headline(), *(m.headline() for m in self.messages)]
        for rank, arrays in enumerate(self.gathered):
            if arrays:
                lines.append(f"at the end rank {rank} sends to all: "
                             + ", ".join(f"{count} elements of {array}" for array, count in arrays.items()))
        return "".join(f"{line}\n" for line in lines)


def draw_messages(distributed: Distributed, *, ranks: int | None = None,
                  parameters: Mapping[str, int] | None = None) -> MessagePicture:
    """A line per rank with what it runs in each step, and an arrow per message.

    Parameters
    ----------
    ranks : their number; that of the partition, or 4, unless given.
    parameters : values of the sizes; small ones are chosen otherwise.

    Raises
    ------
    UsageError : nothing runs, there are more messages than a picture can hold, or the partition is made for another
        number of ranks.
    """
    scop = distributed.scop
    values = small_parameters(scop, given=parameters)
    number = ranks if ranks is not None else distributed.partition.ranks or RANKS
    at = AtSizes(distributed=distributed, ranks=number, sizes=values)
    rows = tuple(_rows(at))
    if not rows:
        raise nothing_runs(scop, values)
    sizes = ", ".join(f"{name} = {value}" for name, value in values.items())
    return MessagePicture(
        title=f"{scop.name} along {distributed.axis} on {number} ranks" + (f", {sizes}" if sizes else ""),
        step_names="step" if distributed.tile.steps == 1 else "tile", overlapped=distributed.boundary is not None,
        rows=rows, gathered=tuple(at.gathered_from(rank) for rank in range(number)))


def _rows(at: AtSizes) -> Iterator[StepDrawn]:
    made, where, hint = at.distributed, at.distributed.scop.name, f"{choose_sizes('smaller', at.sizes)}or fewer ranks"
    steps = count_points(fix_parameters(made.step_set, at.sizes)) if made.steps else 1
    if at.ranks * max(steps, 1) > MOST_BOXES:
        raise UsageError(f"{steps} steps on {at.ranks} ranks are too many to draw", where=where,
                         witness=f"more than {MOST_BOXES} boxes", hint=hint)
    count = 0
    for step in at.steps:
        messages = tuple(at.sent_in(step))
        count += len(messages)
        if count > MOST_MESSAGES:
            raise UsageError(f"more than {MOST_MESSAGES} messages are too many to draw", where=where, hint=hint)
        yield StepDrawn(step=step, runs=tuple(at.run_in(step, rank) for rank in range(at.ranks)), sent=messages)


def _middle(rank: int) -> int:
    return NAMES + COLUMN * rank + COLUMN // 2


def _box(rank: int, top: int, text: str, said: str) -> str:
    colour, x = PALETTE[rank % len(PALETTE)], _middle(rank) - BOX // 2
    return (f'<g><title>{html.escape(said)}</title><rect x="{x}" y="{top}" width="{BOX}" height="{LINE}" rx="3" '
            f'fill="#fff"/><rect x="{x}" y="{top}" width="{BOX}" height="{LINE}" rx="3" fill="{colour}" '
            f'fill-opacity="0.35" stroke="{colour}"/><text x="{_middle(rank)}" y="{top + 13}" text-anchor="middle">'
            f'{html.escape(text)}</text></g>')


def _levels(messages: Sequence[Sent]) -> list[int]:
    """The line of each arrow in its row: the first one on which no arrow that it would touch is."""
    taken: list[list[tuple[int, int]]] = []
    found = []
    for message in messages:
        left, right = sorted((message.sender, message.receiver))
        free = (n for n, own in enumerate(taken) if all(right < a or b < left for a, b in own))
        level = next(free, len(taken))
        if level == len(taken):
            taken.append([])
        taken[level].append((left, right))
        found.append(level)
    return found


def _arrow(message: Sent, y: int) -> str:
    x1, x2 = _middle(message.sender), _middle(message.receiver)
    near = x1 + (COLUMN // 2 if x2 > x1 else -COLUMN // 2)
    return (f'<g><title>{html.escape(message.headline())}</title>'
            f'<line x1="{x1}" y1="{y}" x2="{x2}" y2="{y}" stroke="#222" marker-end="url(#head)"/>'
            f'<circle cx="{x1}" cy="{y}" r="2.5" fill="#222"/>'
            f'<text x="{near}" y="{y - 3}" text-anchor="middle">{html.escape(message.array)} {message.count}</text>'
            '</g>')
