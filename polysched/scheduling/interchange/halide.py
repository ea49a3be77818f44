"""Schedules as chains of calls, as Halide writes them: `S0.split(i, io, ii, 32).reorder(ii, j, io).parallel(io)`.

A chain names a statement and acts on the loops around it, in the program as written at first.  As in Halide, `reorder`
takes the innermost loop first, and `tile(x, y, xo, yo, xi, yi, fx, fy)` is two splits and a `reorder(xi, yi, xo, yo)`.
Every call becomes a step (`scheduling.steps`), which is checked exactly.  Loops that statements share change for all of
them.

| call | step |
|---|---|
| `split(x, xo, xi, factor)` | `StripMine` |
| `tile(x, y, xo, yo, xi, yi, fx, fy)` | `StripMine`, `StripMine`, `Reorder` |
| `reorder(innermost, ..., outermost)` | `Reorder` |
| `parallel(x)`, `vectorize(x)`, `unroll(x, factor)` | `Parallel`, `Vectorize`, `Unroll` |

Source: J. Ragan-Kelley et al., "Halide: a language and compiler for optimizing parallelism, locality, and
recomputation in image processing pipelines", PLDI 2013.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.scheduling.original import original
from polysched.scheduling.primitives import (
    Interchange,
    Parallel,
    Reorder,
    Step,
    StripMine,
    Tile,
    Unroll,
    Vectorize,
    loops,
)
from polysched.scheduling.primitives.loops import Loop, LoopRef, find_loop
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.steps import apply, loop_tree

_CHAIN = re.compile(r"\s*(\w+)\s*((?:\.\s*\w+\s*\([^()]*\)\s*)+);?\s*")
_CALL = re.compile(r"\.\s*(\w+)\s*\(([^()]*)\)")
_BEGIN = re.compile(r"^\s*(//|\w+\s*\.\s*\w+\s*\()", re.MULTILINE)
MOST_LOOPS = 64
"""Around a statement; more is no program, and takes isl minutes."""
AS_WRITTEN = "// the order as written\n"
"""The chains of a schedule without steps."""


def has_chains(text: str) -> bool:
    """Whether a text has a line of this form."""
    return _BEGIN.search(text) is not None


def read_chains(text: str, dependences: Dependences) -> Schedule:
    """The order as written with the steps that the chains say.

    Raises
    ------
    UsageError : a line is no chain, or names a statement, a loop or a call that there is not.
    IllegalScheduleError : a step breaks a dependence.
    """
    named = _Named(original(dependences))
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.partition("//")[0]
        if not line.strip():
            continue
        found = _CHAIN.fullmatch(line)
        if found is None:
            raise UsageError("a line is no chain of calls", where=f"line {number}", witness=line.strip(),
                             hint="for instance S0.split(i, io, ii, 32).parallel(io)")
        for call, arguments in _CALL.findall(found[2]):
            words = [word.strip() for word in arguments.split(",")]
            named.call(found[1], call, words, where=f"line {number}")
    return named.schedule


def write_chains(schedule: Schedule) -> str:
    """The chains that make a schedule of the order as written.

    Raises
    ------
    UsageError : the schedule does not come from the order as written, or by a step that has no call.
    """
    if schedule.algorithm != original(schedule.dependences).algorithm:
        raise UsageError("chains of calls begin from the order as written", where=schedule.scop.name,
                         witness=f"this schedule is by {schedule.algorithm}", hint="write the tree or the map instead")
    named = _Named(original(schedule.dependences))
    lines = [line for step in schedule.steps for line in named.written(step)]
    if not named.schedule.tree.get_map().is_equal(schedule.tree.get_map()):
        raise UsageError("the steps of the schedule do not make its tree", where=schedule.scop.name,
                         hint="write the tree or the map instead")
    return "".join(f"{line}\n" for line in lines) or AS_WRITTEN


class _Named:
    """A schedule whose loops have names per statement, outermost first."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.names = {s.name: [loop.names[s.name] for loop in self._around(s.name)] for s in schedule.scop.statements}

    def call(self, statement: str, call: str, words: Sequence[str], *, where: str) -> None:
        """Do one call.

        Raises
        ------
        UsageError : there is no such statement, loop or call, or its arguments are others.
        """
        if statement not in self.names:
            raise UsageError(f"the program has no statement {statement}", where=where,
                             hint=f"its statements are {', '.join(self.names)}")
        if call not in _CALLS:
            raise UsageError(f"no call {call}", where=where, hint=f"there are {', '.join(_CALLS)}")
        count, does = _CALLS[call]
        if count is not None and len(words) != count:
            raise UsageError(f"{call} takes {count} arguments", where=where, witness=", ".join(words))
        does(self, statement, words, where)

    def position(self, statement: str, name: str, where: str) -> int:
        """Where the loop is in the tree."""
        names = self.names[statement]
        if name not in names:
            raise UsageError(f"no loop {name} is around {statement}", where=where,
                             hint=f"there are, outermost first, {', '.join(names) or 'none'}")
        return self._around(statement)[names.index(name)].position

    def split(self, statement: str, words: Sequence[str], where: str) -> None:
        name, outer, inner, factor = words
        if twice := {outer, inner} & {*self.names[statement]} - {name} or {outer} & {inner}:
            raise UsageError(f"two loops around {statement} would have the name {min(twice)}", where=where)
        loop = find_loop(loop_tree(self.schedule.tree), self.position(statement, name, where))
        if len(self.names[statement]) >= MOST_LOOPS:
            raise UsageError(f"more than {MOST_LOOPS} loops would be around {statement}", where=where)
        self._apply(StripMine(loop=loop.position, size=_number(factor, where)))
        for other in loop.statements:
            names, at = self.names[other], [r.position for r in self._around(other)].index(loop.position)
            new = (outer, inner) if other == statement else (f"{names[at]}_o", f"{names[at]}_i")
            self.names[other] = [*names[:at], *new, *names[at + 1:]]

    def tile(self, statement: str, words: Sequence[str], where: str) -> None:
        x, y, x_outer, y_outer, x_inner, y_inner, x_factor, y_factor = words
        self.split(statement, (x, x_outer, x_inner, x_factor), where)
        self.split(statement, (y, y_outer, y_inner, y_factor), where)
        self.reorder(statement, (x_inner, y_inner, x_outer, y_outer), where)

    def reorder(self, statement: str, words: Sequence[str], where: str) -> None:
        if len(set(words)) != len(words):
            raise UsageError("reorder takes each loop once", where=where, witness=", ".join(words))
        places = sorted(self.position(statement, name, where) for name in words)
        new = dict(zip(places, (self.position(statement, name, where) for name in reversed(words)), strict=True))
        self.put(tuple(new.get(place, place) for place in range(places[0], places[-1] + 1)))

    def put(self, order: tuple[int, ...]) -> None:
        """Put loops that stand inside each other, by position, into an order."""
        first = min(order)
        before = {name: [loop.position for loop in self._around(name)] for name in self.names}
        self._apply(Reorder(order=order))
        for name, positions in before.items():
            if first in positions:
                moved = {first + k: position for k, position in enumerate(order)}
                self.names[name] = [self.names[name][positions.index(moved.get(p, p))] for p in positions]

    def _annotated(self, statement: str, name: str, step: Step, where: str) -> None:
        """Do a step on one loop, which may leave a loop inside that has no name of Halide's: `x'`."""
        position = self.position(statement, name, where)
        before = {other: [loop.position for loop in self._around(other)] for other in self.names}
        self._apply(step)
        for other, positions in before.items():
            if len(self._around(other)) > len(positions):
                at = positions.index(position) + 1
                self.names[other].insert(at, f"{self.names[other][at - 1]}'")

    def parallel(self, statement: str, words: Sequence[str], where: str) -> None:
        self._annotated(statement, words[0], Parallel(loop=self.position(statement, words[0], where)), where)

    def vectorize(self, statement: str, words: Sequence[str], where: str) -> None:
        self._annotated(statement, words[0], Vectorize(loop=self.position(statement, words[0], where)), where)

    def unroll(self, statement: str, words: Sequence[str], where: str) -> None:
        step = Unroll(loop=self.position(statement, words[0], where), factor=_number(words[1], where))
        self._annotated(statement, words[0], step, where)

    def written(self, step: Step) -> Iterator[str]:
        """The lines of a step, which is done as well."""
        match step:
            case StripMine():
                yield self._split(step.loop, step.size)
            case Tile():
                yield from self._tiled(step)
            case Reorder():
                yield self._ordered(tuple(self._loop(ref).position for ref in step.order))
            case Interchange():
                outer, inner = sorted((self._loop(step.outer).position, self._loop(step.inner).position))
                yield self._ordered((inner, *range(outer + 1, inner), outer))
            case Parallel() | Vectorize() | Unroll():
                statement, name = self._name(self._loop(step.loop))
                factor = f", {step.factor}" if isinstance(step, Unroll) else ""
                self._annotated(statement, name, step, where="")
                yield f"{statement}.{step.NAME}({name}{factor})"
            case _:
                raise UsageError(f"no call does what the step {step.NAME} does", where=self.schedule.scop.name,
                                 hint="write the tree or the map instead")

    def _tiled(self, step: Tile) -> Iterator[str]:
        """Splits, and an order: all loops over tiles around all others."""
        positions = sorted(self._loop(ref).position for ref in step.loops)
        sizes = {self._loop(ref).position: size for ref, size in zip(step.loops, step.sizes, strict=True)}
        for done, position in enumerate(positions):
            yield self._split(position + done, sizes[position])
        first, count = positions[0], len(positions)
        yield self._ordered((*range(first, first + 2 * count, 2), *range(first + 1, first + 2 * count, 2)))

    def _split(self, ref: LoopRef, size: int) -> str:
        statement, name = self._name(self._loop(ref))
        words = (name, f"{name}_o", f"{name}_i", str(size))
        self.split(statement, words, where="")
        return f"{statement}.split({', '.join(words)})"

    def _ordered(self, order: tuple[int, ...]) -> str:
        statement, _ = self._name(self._loop(order[0]))
        positions = [loop.position for loop in self._around(statement)]
        words = [self.names[statement][positions.index(position)] for position in reversed(order)]
        self.put(order)
        return f"{statement}.reorder({', '.join(words)})"

    def _name(self, loop: Loop) -> tuple[str, str]:
        """A statement inside a loop, and what it calls the loop."""
        statement = loop.statements[0]
        return statement, self.names[statement][[r.position for r in self._around(statement)].index(loop.position)]

    def _loop(self, ref: LoopRef) -> Loop:
        return find_loop(loop_tree(self.schedule.tree), ref)

    def _around(self, statement: str) -> list[Loop]:
        return [loop for loop in loops(loop_tree(self.schedule.tree)) if statement in loop.statements]

    def _apply(self, step: Step) -> None:
        self.schedule = apply(self.schedule, step)


_CALLS: dict[str, tuple[int | None, Callable[[_Named, str, Sequence[str], str], None]]] = {
    "split": (4, _Named.split), "tile": (8, _Named.tile), "reorder": (None, _Named.reorder),
    "parallel": (1, _Named.parallel), "vectorize": (1, _Named.vectorize), "unroll": (2, _Named.unroll)}


def _number(word: str, where: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise UsageError(f"{word!r} is no factor", where=where, hint="a whole number of at least 1")
    return int(word)
