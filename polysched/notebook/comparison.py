"""Two loop nests of one program side by side, the statements that moved in colour."""

from __future__ import annotations

import html
from itertools import zip_longest

from polysched.errors import UsageError
from polysched.notebook.loop_nest import NestLine, loop_nest, schedule_of
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.moved import moved_statements
from polysched.scop.html import beside, card, paragraph
from polysched.scop.picture import PALETTE
from polysched.scop.shown import Shown
from polysched.tiling.tiled_schedule import TiledSchedule

_LINE = "font-family:monospace;font-size:12px;line-height:1.4;white-space:pre"


@dataclass(frozen=True, kw_only=True)
class Comparison(Shown):
    """Two loop nests.

    Parameters
    ----------
    before, after : their lines.
    statements : every statement, in textual order.
    moved : those whose instances run in another order, in relation to each other or to other statements.
    """

    before: tuple[NestLine, ...]
    after: tuple[NestLine, ...]
    statements: tuple[str, ...]
    moved: tuple[str, ...]

    def __str__(self) -> str:
        """Both nests in columns; lines of moved statements begin with `*`."""
        left, right = self._column(self.before), self._column(self.after)
        width = max((len(line) for line in left), default=0)
        rows = (f"{a:{width}}   |   {b}".rstrip() for a, b in zip_longest(left, right, fillvalue=""))
        return "".join(f"{row}\n" for row in (f"{'before':{width}}   |   after", *rows, "", self._summary()))

    def _column(self, lines: tuple[NestLine, ...]) -> list[str]:
        return [f"{'*' if line.statement in self.moved else ' '} {line.text}" for line in lines]

    def _summary(self) -> str:
        if not self.moved:
            return "the order of the statements is the same"
        return f"moved: {', '.join(self.moved)}"

    def _repr_html_(self) -> str:
        return card("Loops before and after",
                    beside(*(f"<div><b>{name}</b></div>{self._nest(lines)}"
                             for name, lines in (("before", self.before), ("after", self.after)))),
                    paragraph(self._summary()))

    def _nest(self, lines: tuple[NestLine, ...]) -> str:
        shown = "".join(self._line(line) for line in lines)
        return f'<div style="overflow-x:auto"><div style="width:max-content;min-width:100%">{shown}</div></div>'

    def _line(self, line: NestLine) -> str:
        text = html.escape(line.text)
        if line.statement is None:
            return f'<div style="{_LINE}">{text}</div>'
        colour = PALETTE[self.statements.index(line.statement) % len(PALETTE)]
        look = (f"background:{colour}44;border-left:4px solid {colour};padding-left:4px" if line.statement in self.moved
                else "border-left:4px solid #ccc;padding-left:4px")
        return f'<div style="{_LINE};{look}" title="{line.statement}">{text}</div>'


def compare(before: object, after: object) -> Comparison:
    """Show the loops of two stages of one program side by side.

    Parameters
    ----------
    before, after : a Schedule, TiledSchedule, CSource or Optimized each.

    Raises
    ------
    UsageError : a value has no loops, or the two are of different programs.
    """
    first, second = schedule_of(before), schedule_of(after)
    scop, other = _program(first).scop, _program(second).scop
    if not scop.domain.is_equal(other.domain):
        raise UsageError("these are loops of different programs", witness=f"{scop.name} and {other.name}",
                         hint="compare two schedules of one Scop; a step that changes the program makes another")
    return Comparison(before=loop_nest(first), after=loop_nest(second),
                      statements=tuple(s.name for s in scop.statements),
                      moved=moved_statements(scop, first.tree, second.tree))


def _program(stage: Schedule | TiledSchedule) -> Schedule:
    return stage.schedule if isinstance(stage, TiledSchedule) else stage
