"""The loop nest of a schedule as lines, each with the statement that it belongs to."""

from __future__ import annotations

import re

from polysched.emit_c import CSource, EmitOptions, printed
from polysched.emit_c.scalar_code.tracing import LANES, PARTS, THREADS
from polysched.errors import UsageError
from polysched.pipeline import Optimized
from polysched.pipeline.way import lowered_with_fallbacks
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.tiling.tiled_schedule import TiledSchedule

TRACE = "polysched_here"
_HERE = re.compile(rf"\s*{TRACE}_(\d+)\(.*\);")
_BEGIN = re.compile(rf"\s*{TRACE}_begin\((\d)\);")
_OTHER = re.compile(rf"\s*({TRACE}_(end|iteration)\(.*\);|#define .*|#undef .*|\}})\s*")
_HELPER = re.compile(r"\bpolysched_(min|max|floordiv)\(")
_KINDS = {str(THREADS): "parallel", str(LANES): "simd", str(PARTS): "parallel, partial results"}


@dataclass(frozen=True)
class NestLine:
    """One line of a loop nest.

    Parameters
    ----------
    text : with its indentation and without braces.
    statement : the statement that it is part of; None for loops, conditions and declarations.
    """

    text: str
    statement: str | None = None


def loop_nest(stage: Schedule | TiledSchedule) -> tuple[NestLine, ...]:
    """The loops in the order of a schedule, around the statements' bodies.

    Vectors, panels and pragmas are left out; loops that would be parallel or simd say so at the end of the line.  For a
    schedule for which isl's generator finds no loops, those of what is left of it are shown, and a warning says so.
    """
    tiled = TiledSchedule(schedule=stage, tree=stage.tree) if isinstance(stage, Schedule) else stage
    options = EmitOptions(trace=TRACE, vector_bits=0, packing=False, comments=False)
    text = printed(lowered_with_fallbacks(tiled, options)).text
    return tuple(_lines(text, [s.name for s in tiled.schedule.scop.statements]))


def _lines(text: str, statements: list[str]) -> list[NestLine]:
    lines: list[NestLine] = []
    statement: str | None = None
    indent = 0
    words: list[str] = []
    for line in text.splitlines():
        column = len(line) - len(line.lstrip())
        if begins := _BEGIN.fullmatch(line):
            words.append(_KINDS[begins[1]])
            continue
        if here := _HERE.fullmatch(line):
            statement, indent = statements[int(here[1])], column
            continue
        if statement is not None and (column < indent or line.lstrip().startswith("for ")):
            statement = None
        if _OTHER.fullmatch(line) or line.strip() == "{":
            continue
        shown = _HELPER.sub(r"\1(", line.rstrip().removesuffix(" {"))
        if words and shown.lstrip().startswith("for "):
            shown, words = f"{shown}  // {', '.join(words)}", []
        lines.append(NestLine(shown, statement))
    return lines


def schedule_of(stage: object) -> Schedule | TiledSchedule:
    """The schedule inside a stage's value.

    Raises
    ------
    UsageError : the value has none.
    """
    if isinstance(stage, CSource | Optimized):
        return stage.tiled
    if isinstance(stage, Schedule | TiledSchedule):
        return stage
    raise UsageError(f"a {type(stage).__name__} has no loops to show",
                     hint="give a Schedule, a TiledSchedule, a CSource or what optimize returned")
