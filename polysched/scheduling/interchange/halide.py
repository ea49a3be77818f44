"""Schedules as chains of calls, as Halide writes them: `S0.split(i, io, ii, 32).reorder(ii, j, io).parallel(io)`.

A chain names a statement and acts on the loops around it, in the program as written at first.  As in Halide, `reorder`
takes the innermost loop first, and `tile(x, y, xo, yo, xi, yi, fx, fy)` is two splits and a `reorder(xi, yi, xo, yo)`.
Every call becomes a step (`scheduling.steps`), which is checked exactly.  Loops that statements share change for all of
them.  A chain may begin with the name of an array instead: `C` is the first statement that writes it, `C.update()` the
second, `C.update(1)` the third.  It may stand on several lines and end in a semicolon; declarations of `Var` and the
like say nothing here.

| call | step |
|---|---|
| `split(x, xo, xi, factor)` | `StripMine` |
| `tile(x, y, xo, yo, xi, yi, fx, fy)`, `tile(x, y, xi, yi, fx, fy)` | `StripMine`, `StripMine`, `Reorder` |
| `reorder(innermost, ..., outermost)` | `Reorder` |
| `parallel(x)`, `vectorize(x)`, `unroll(x)` | `Parallel`, `Vectorize`, `Unroll` by all iterations |
| `parallel(x, n)`, `vectorize(x, n)` | `StripMine` by n, and the step on the outer loop or the inner one |
| `unroll(x, n)` | `Unroll` by n |
| `serial(x)`, `rename(x, y)` | none |

Strips begin at multiples of their factor, where Halide's begin at the first iteration of the loop: from 5 to 20 there
are three strips of 8 here, and two there.

Source: J. Ragan-Kelley et al., "Halide: a language and compiler for optimizing parallelism, locality, and
recomputation in image processing pipelines", PLDI 2013.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.errors import PolyschedError, UsageError
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
from polysched.scheduling.tree.loop_tree import Band

_CHAIN = re.compile(r"\s*(\w+)\s*((?:\.\s*\w+\s*\([^()]*\)\s*)+)")
_CALL = re.compile(r"\.\s*(\w+)\s*\(([^()]*)\)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DECLARATION = re.compile(r"\s*(?:Halide::)?(?:Var|RVar|RDom|Func)\s+\w+\s*(?:[({,].*)?", re.DOTALL)
_NEXT = re.compile(r";|(?<!,)\n(?!\s*(?:\.|;|\Z)|[^()]*\))")
"""Between two chains: a line behind a comma, between brackets or with a full stop first goes on with the one before."""
_TAIL = "TailStrategy::"
_TAILS = ("Auto", "GuardWithIf")
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
    for line, sentence in _sentences(text):
        found = _CHAIN.fullmatch(sentence)
        if found is None:
            raise UsageError("a line is no chain of calls", where=f"line {line}", witness=" ".join(sentence.split()),
                             hint="for instance S0.split(i, io, ii, 32).parallel(io)")
        calls = list(_CALL.finditer(found[2]))
        statement = named.statement(found[1], calls, where=f"line {line}")
        for call in calls:
            at = line + sentence.count("\n", 0, found.start(2) + call.start())
            named.call(statement, call[1], [word.strip() for word in call[2].split(",")], where=f"line {at}")
    return named.schedule


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """The chains of a text, each with its first line, without comments and declarations."""
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    begin = 0
    for end in (*(found.start() for found in _NEXT.finditer(text)), len(text)):
        sentence = text[begin:end].removeprefix(";")
        if sentence.strip() and not _DECLARATION.fullmatch(sentence):
            first = begin + text[begin:end].index(sentence) + len(sentence) - len(sentence.lstrip())
            yield 1 + text.count("\n", 0, first), sentence.strip()
        begin = end


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

    def statement(self, name: str, calls: list[re.Match[str]], *, where: str) -> str:
        """The statement that a chain is about; an `update` of an array, which only says so, is taken from the calls.

        Raises
        ------
        UsageError : there is none.
        """
        if name in self.names:
            return name
        writing = [s.name for s in self.schedule.scop.statements
                   if any(access.is_write and access.array == name for access in s.accesses)]
        if not writing:
            raise UsageError(f"the program has no statement {name}", where=where,
                             witness=f"and none that writes an array {name}",
                             hint=f"its statements are {', '.join(self.names)}")
        position = 0
        if calls[0][1] == "update":
            position = 1 + (_number(calls.pop(0)[2].strip() or "0", where, least=0))
        if position >= len(writing):
            raise UsageError(f"{name} has no update({position - 1})", where=where,
                             witness=f"the statements that write it are {', '.join(writing)}")
        return writing[position]

    def call(self, statement: str, call: str, words: Sequence[str], *, where: str) -> None:
        """Do one call.

        Raises
        ------
        UsageError : there is no such loop or call, or its arguments are others.
        IllegalScheduleError : its step breaks a dependence.
        """
        if call not in _CALLS:
            raise UsageError(f"no call {call}", where=where, hint=_hint(call))
        counts, does = _CALLS[call]
        if words[-1].removeprefix("Halide::").startswith(_TAIL) and call in _WITH_TAIL:
            _refuse_tail(words[-1], where)
            words = words[:-1]
        if counts and len(words) not in counts:
            raise UsageError(f"{call} takes {' or '.join(map(str, counts))} arguments", where=where,
                             witness=", ".join(words))
        try:
            does(self, statement, words, where)
        except PolyschedError as error:
            if where and not str(error.where).startswith(where):
                error.where = f"{where}, {call}({', '.join(words)})"
                error.args = (error.render(),)
            raise

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
        x, y, *outer, x_inner, y_inner, x_factor, y_factor = words
        x_outer, y_outer = outer or (x, y)
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

    def _strip(self, statement: str, words: Sequence[str], where: str) -> tuple[str, str]:
        """The loops of `f(x)` or `f(x, n)`: x twice, or what a split by n leaves: x around a loop without a name."""
        name, *factor = words
        if not factor:
            return name, name
        inner = f"{name}'"
        while inner in self.names[statement]:
            inner += "'"
        self.split(statement, (name, name, inner, factor[0]), where)
        return name, inner

    def parallel(self, statement: str, words: Sequence[str], where: str) -> None:
        name, _ = self._strip(statement, words, where)
        self._annotated(statement, name, Parallel(loop=self.position(statement, name, where)), where)

    def vectorize(self, statement: str, words: Sequence[str], where: str) -> None:
        _, name = self._strip(statement, words, where)
        self._annotated(statement, name, Vectorize(loop=self.position(statement, name, where)), where)

    def unroll(self, statement: str, words: Sequence[str], where: str) -> None:
        position = self.position(statement, words[0], where)
        factor = _number(words[1], where) if len(words) > 1 else self._iterations(statement, position, words[0], where)
        if factor > 1 or len(words) > 1:
            self._annotated(statement, words[0], Unroll(loop=position, factor=factor), where)

    def _iterations(self, statement: str, position: int, name: str, where: str) -> int:
        """How often a loop around a statement runs at most; one over strips counts in strips.

        Raises
        ------
        UsageError : that depends on sizes.
        """
        loop = find_loop(loop_tree(self.schedule.tree), position)
        domain = self.schedule.scop.statement(statement).domain
        counted, around = (_values(bands, domain) for bands in ([loop.band], loop.outer_bands))
        together = around.apply_range(around.reverse())
        apart = together.apply_domain(counted).apply_range(counted).deltas()
        distances = apart.project_out(isl.dim_type.param, 0, apart.dim(isl.dim_type.param))
        most = distances.dim_max_val(0)
        if not most.is_int():
            raise UsageError(f"loop {name} around {statement} runs as often as sizes say", where=where,
                             hint=f"unroll({name}, 4) writes four iterations out")
        step = max(1, int(distances.get_stride(0).to_python()))   # 0 of a loop that runs once
        return int(most.to_python()) // step + 1

    def serial(self, statement: str, words: Sequence[str], where: str) -> None:
        self.position(statement, words[0], where)

    def rename(self, statement: str, words: Sequence[str], where: str) -> None:
        self.position(statement, words[0], where)
        names = self.names[statement]
        if words[1] in names and words[1] != words[0]:
            raise UsageError(f"two loops around {statement} would have the name {words[1]}", where=where)
        names[names.index(words[0])] = words[1]

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


_CALLS: dict[str, tuple[tuple[int, ...], Callable[[_Named, str, Sequence[str], str], None]]] = {
    "split": ((4,), _Named.split), "tile": ((8, 6), _Named.tile), "reorder": ((), _Named.reorder),
    "parallel": ((1, 2), _Named.parallel), "vectorize": ((1, 2), _Named.vectorize), "unroll": ((1, 2), _Named.unroll),
    "serial": ((1,), _Named.serial), "rename": ((2,), _Named.rename)}
_WITH_TAIL = ("split", "tile", "parallel", "vectorize", "unroll")
_PLACES = ("compute_root", "compute_at", "compute_inline", "store_root", "store_at", "store_in", "hoist_storage")


def _hint(call: str) -> str:
    """What to do in place of a call that there is not."""
    known = f"there are {', '.join(_CALLS)}"
    if call in _PLACES:
        return f"a program computes and keeps values where it says so: leave the call out; {known}"
    if call == "fuse":
        return f"two loops stay two here: parallel(x) of the outer one, or a split; {known}"
    return known


def _refuse_tail(word: str, where: str) -> None:
    """Refuse a strategy by which instances run twice, or such as the program does not have."""
    name = word.rpartition("::")[2]
    if name not in _TAILS:
        raise UsageError(f"TailStrategy::{name} runs iterations that the loop does not have, or some of them twice",
                         where=where, hint="TailStrategy::GuardWithIf, which is what stands without one here")


def _values(bands: Sequence[Band], domain: isl.Set) -> isl.Map:
    """From the instances of a statement to what they give some loops."""
    values = isl.Map.from_domain(domain)
    for band in bands:
        values = values.flat_range_product(isl.Map.from_pw_aff(band.members[0].extract_pw_aff(
            domain.get_space().from_domain().add_dims(isl.dim_type.out, 1))))
    return values.intersect_domain(domain)


def _number(word: str, where: str, *, least: int = 1) -> int:
    if not word.isdecimal() or int(word) < least:
        raise UsageError(f"{word!r} is no factor", where=where, hint=f"a whole number of at least {least}")
    return int(word)
