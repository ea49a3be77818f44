"""Many versions of one function: built, verified against the original, and timed in pairs with one of them.

Each version is judged alone and told as soon as it is done.  One that is wrong, crashes, hangs or eats memory becomes a
record, and the others go on in a new process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any

from polysched.errors import CompileError
from polysched.measure.measurement import Verification
from polysched.measure.paired import (
    MeasureOptions,
    Subject,
    described_places,
    global_test,
    original_file,
    preprocessor_of,
    read_verification,
    recipes_for,
)
from polysched.measure.processes.building import Binary, compile_shared
from polysched.measure.processes.call_interface import TIMER, Origin, Slot, wrapper
from polysched.measure.processes.isolation import ChildEnd, Conversation, End
from polysched.measure.processes.threads import pinned_processors, thread_environment, usable_processors
from polysched.measure.processes.workspace import workspace
from polysched.measure.programs.problem_size import choose_size
from polysched.measure.programs.slots import check_memory, make_slots, slot_bytes
from polysched.measure.timing.machine import available_cores, available_memory
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.target import Compiler, find_compiler

CHILD_MODULE = "polysched.measure.timing.field_run"
ORIGINAL = "original"
MOST_VERSIONS = 64
"""That one process judges: what it has loaded stays, and an earlier version may have damaged what a later one sees."""
SHARE_OF_GLOBALS = 0.25
"""Of the memory that a process may use, for file-scope arrays, which every version brings along."""


class Verdict(Enum):
    """What came of a version."""

    TIMED = "timed"        # right, and it has samples
    WRONG = "wrong"        # it computes something else, or writes outside of an array
    CRASHED = "crashed"
    HUNG = "hung"
    MEMORY = "memory"
    FAILED = "failed"      # it ended its process, or nothing could be proved with these inputs
    NO_CODE = "no code"    # the compiler refused it


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of the function.

    Parameters
    ----------
    name : unique in its field, an identifier.
    text : the whole file.
    flags : of the compiler, beside those of the field.
    """

    name: str
    text: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What came of one version.

    Parameters
    ----------
    reason : why it has no times; empty where it has some.
    pairs : wall seconds of a call of the reference and of this version, in alternation.
    disturbed : numbers of the pairs during which other programs took a core, as far as the system tells.
    spills : stores of vector registers to the stack in its file; None where it has no code.
    """

    name: str
    verdict: Verdict
    reason: str = ""
    pairs: tuple[tuple[float, float], ...] = ()
    disturbed: tuple[int, ...] = ()
    spills: int | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Field:
    """The function, compiled as it was written; made by `field`.

    Parameters
    ----------
    slots : what a call of the function reads and writes.
    folder : of sources and shared objects; private, and gone afterwards.
    threads : OMP_NUM_THREADS.
    original, timer : shared objects.
    process : the child in which versions are judged.
    """

    subject: Subject
    slots: tuple[Slot, ...]
    folder: Path
    compiler: Compiler
    options: MeasureOptions
    threads: int
    original: Binary
    timer: Binary
    process: _Process

    def build(self, versions: Sequence[Version], *, jobs: int) -> tuple[Binary | Ran, ...]:
        """Compile versions, several at a time; what the compiler refuses is a record."""
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            return tuple(pool.map(self._built, versions))

    def _built(self, version: Version) -> Binary | Ran:
        path = self.folder / f"{version.name}_text.c"
        path.write_text(version.text, encoding="utf-8", errors="surrogateescape", newline="")
        try:
            return compile_shared(
                wrapper(path, self.subject.signature.name, self.slots), name=version.name, folder=self.folder,
                compiler=self.compiler, flags=(*self.options.flags, *version.flags),
                preprocessor=preprocessor_of(self.subject), what=f"the version {version.name}", count_spills=True)
        except CompileError as error:
            return Ran(name=version.name, verdict=Verdict.NO_CODE, reason=error.witness or error.problem)

    def race(self, built: Mapping[str, Binary], *, against: tuple[str, Binary] | None = None, pairs: int,
             told: Callable[[Ran], None], limit_seconds: float | None = None,
             slow_ratio: float = float("inf")) -> tuple[Ran, ...]:
        """Judge versions one after the other, each in pairs with the reference.

        Parameters
        ----------
        against : the reference's name and code; the original where none is given.
        told : gets each version as soon as it was judged.
        limit_seconds : without progress for so long a version is hung; the field's own limit where none is given, and
            while the process starts.
        slow_ratio : a version that takes so many times as long as the reference gets one pair; with every further pair
            what is allowed comes halfway nearer to the reference.
        """
        done: dict[str, Ran] = {}

        def keep(ran: Ran) -> None:
            if ran.name not in done:
                done[ran.name] = replace(ran, spills=built[ran.name].spills)
                told(done[ran.name])

        left = dict(built)
        while left:
            some = self.process.next_of(left)
            question = {"against": (against[0], str(against[1].path)) if against else (ORIGINAL, ""), "pairs": pairs,
                        "slow_ratio": slow_ratio if slow_ratio < float("inf") else 0.0,
                        "versions": {name: str(binary.path) for name, binary in some.items()}}
            before, alone = len(done), self.process.age == 0
            ended = self.process.ask(question, keep, limit_seconds)
            further = {name: binary for name, binary in left.items() if name not in done}
            if ended is not None and ended.end is not End.FINISHED:
                left = self._without_culprit(further, ended, keep, first=alone and len(done) == before)
            elif len(done) == before:
                for name in further:
                    keep(Ran(name=name, verdict=Verdict.FAILED, reason="its process told nothing of it"))
                left = {}
            else:
                left = further
        return tuple(done[name] for name in built)

    def _without_culprit(self, left: dict[str, Binary], ended: ChildEnd, keep: Callable[[Ran], None], *,
                         first: bool) -> dict[str, Binary]:
        """What is left behind the version that ended the process, and for which that is kept.

        One that was not the first in its process is judged once more, in a new one: an earlier one may have left it
        damaged.
        """
        entered = self.process.entered
        culprit = entered if entered in left else next(iter(left))
        if not first and ended.end is not End.HUNG:
            return {culprit: left[culprit], **{name: binary for name, binary in left.items() if name != culprit}}
        keep(Ran(name=culprit, verdict=verdict_of(ended.end), reason=f"the process {ended.describe()}"))
        return {name: binary for name, binary in left.items() if name != culprit}


@dataclass(eq=False, kw_only=True)
class _Process:
    """The child that judges, which stays for many versions: a new one where there is none, or where it is full.

    Parameters
    ----------
    start : makes one, whose reports go to a function.
    most : versions that fit one.
    """

    start: Callable[[Callable[[Mapping[str, Any]], None]], Conversation]
    seed: int
    seconds: float
    most: int
    age: int = 0
    reader: _Reader | None = None
    conversation: Conversation | None = None

    @property
    def entered(self) -> str | None:
        """The version that it was last occupied with."""
        return None if self.reader is None else self.reader.entered

    def next_of(self, left: Mapping[str, Binary]) -> dict[str, Binary]:
        """Those that fit the child; all that fit a new one where it is full."""
        if self.age >= self.most:
            self.end()
        return dict(islice(left.items(), self.most - self.age))

    def ask(self, question: Mapping[str, Any], keep: Callable[[Ran], None],
            limit_seconds: float | None) -> ChildEnd | None:
        """Have the versions of a question judged; how the child ended where it did."""
        if self.conversation is None:
            self.reader = _Reader(seed=self.seed)
            self.conversation = self.start(self.reader.take)
            self.conversation.__enter__()
            ended = self.conversation.listen("conditioning", seconds=self.seconds)
            if ended is not None:
                self.end()
                return ended
        assert self.reader is not None
        self.reader.keep = keep
        self.age += len(question["versions"])
        ended = self.conversation.ask(question, seconds=limit_seconds)
        if ended is not None:
            self.end()
        return ended

    def end(self) -> None:
        """End the child; the next question gets a new one."""
        conversation, self.conversation, self.age = self.conversation, None, 0
        if conversation is not None:
            conversation.__exit__(None, None, None)


class _Reader:
    """Turns the reports of a child into records, as they come."""

    def __init__(self, *, seed: int) -> None:
        self.seed = seed
        self.keep: Callable[[Ran], None] = lambda ran: None
        self.conditioning: list[Mapping[str, Any]] = []
        self.reports: list[Mapping[str, Any]] = []
        self.entered: str | None = None

    def take(self, report: Mapping[str, Any]) -> None:
        """One report."""
        if "conditioning" in report:
            self.conditioning.append(report)
        if "entry" in report:
            self.reports, self.entered = [], str(report["entry"])
        self.reports.append(report)
        if "done" in report:
            self.keep(self._ran(str(report["done"])))

    def _ran(self, name: str) -> Ran:
        verification = read_verification([*self.conditioning, *self.reports], seed=self.seed)
        if verification is None:
            return Ran(name=name, verdict=Verdict.FAILED, reason="its process told nothing of it")
        if verification.problem or not verification.passed:
            wrong = not verification.problem or any("out_of_bounds" in r for r in self.reports)
            return Ran(name=name, verdict=Verdict.WRONG if wrong else Verdict.FAILED,
                       reason=verification.problem or _difference(verification))
        pairs = [pair for r in self.reports for pair in r.get("pairs", ())]
        return Ran(name=name, verdict=Verdict.TIMED, pairs=tuple((float(first), float(own)) for first, own, _ in pairs),
                   disturbed=tuple(number for number, (*_, clean) in enumerate(pairs) if not clean))


def _difference(verification: Verification) -> str:
    worst = max(verification.arrays, key=lambda c: c.mismatches)
    place = "".join(f"[{i}]" for i in worst.worst_index or ())
    return (f"{worst.array}{place} is {worst.got} instead of {worst.expected} "
            f"({worst.mismatches} of {worst.elements} differ)")


def verdict_of(end: End) -> Verdict:
    """What came of a version whose process ended so."""
    return {End.CRASHED: Verdict.CRASHED, End.HUNG: Verdict.HUNG, End.MEMORY: Verdict.MEMORY}.get(end, Verdict.FAILED)


@contextmanager
def field(scops: tuple[Scop, ...], sizes: Mapping[str, int], options: MeasureOptions | None = None) -> Iterator[Field]:
    """Compile the function around some regions as it was written, in a folder that is gone afterwards.

    Parameters
    ----------
    sizes : parameter values by C spelling; the others are chosen (`measure.programs.problem_size`).

    Raises
    ------
    UsageError : the sizes or the function's parameters do not allow a run.
    CompileError : the function does not compile.
    """
    options = options or MeasureOptions()
    subject = Subject(scops=scops, transformed_text="")
    signature, size = subject.signature, choose_size(scops, sizes)
    compiler = find_compiler(options.cc)
    with workspace() as folder:
        slots = make_slots(scops, signature, size, given=sizes, is_global=global_test(subject, folder, compiler))
        check_memory(slots, min(available_memory(), options.limits.memory_bytes))
        original = compile_shared(wrapper(original_file(subject, folder), signature.name, slots), name=ORIGINAL,
                                  folder=folder, compiler=compiler, flags=options.flags,
                                  preprocessor=preprocessor_of(subject), what=str(subject.path))
        timer = compile_shared(TIMER, name="timer", folder=folder, compiler=compiler, flags=("-O2",), openmp=False)
        process = _process(slots, folder, original, timer, recipes=recipes_for(subject.scops), options=options)
        try:
            yield Field(subject=subject, slots=slots, folder=folder, compiler=compiler, options=options,
                        threads=options.threads or available_cores(), original=original, timer=timer, process=process)
        finally:
            process.end()


def _process(slots: Sequence[Slot], folder: Path, original: Binary, timer: Binary, *, recipes: Sequence[str],
             options: MeasureOptions) -> _Process:
    """The child of a field; file-scope arrays stand in it once per version that it has loaded."""
    threads = options.threads or available_cores()
    request = {
        "original": str(original.path), "transformed": str(original.path), "timer": str(timer.path),
        "places": described_places(slots), "seed": options.seed, "tolerance": options.tolerance,
        "recipes": list(recipes), "flush": "", "shares_cores": threads > len(usable_processors()),
        "cpus": pinned_processors(threads) if options.pin else ()}
    limits = options.limits
    own = slot_bytes([slot for slot in slots if slot.origin is Origin.GLOBAL])
    fitting = int(SHARE_OF_GLOBALS * limits.memory_bytes) // max(1, own)
    return _Process(
        start=lambda take: Conversation(CHILD_MODULE, request, folder=folder, limits=limits, on_report=take,
                                        environment=thread_environment(threads, pin=options.pin)),
        seed=options.seed, seconds=limits.seconds, most=max(1, min(MOST_VERSIONS, fitting)))
