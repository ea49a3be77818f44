"""Many versions of one function: built, verified against the original, and timed in pairs with one of them.

Each version is judged alone and told as soon as it is done.  One that is wrong, crashes, hangs or eats memory becomes a
record, and the others go on in a new process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
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
from polysched.measure.processes.call_interface import TIMER, Slot, wrapper
from polysched.measure.processes.isolation import ChildEnd, End, run_isolated
from polysched.measure.processes.threads import pinned_processors, thread_environment
from polysched.measure.processes.workspace import workspace
from polysched.measure.programs.problem_size import choose_size
from polysched.measure.programs.slots import check_memory, make_slots
from polysched.measure.timing.machine import available_cores, available_memory
from polysched.scop.scop import Scop
from polysched.target import Compiler, find_compiler

CHILD_MODULE = "polysched.measure.timing.field_run"
ORIGINAL = "original"


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
    """

    name: str
    verdict: Verdict
    reason: str = ""
    pairs: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Field:
    """The function, compiled as it was written; made by `field`.

    Parameters
    ----------
    slots : what a call of the function reads and writes.
    folder : of sources and shared objects; private, and gone afterwards.
    threads : OMP_NUM_THREADS.
    original, timer : shared objects.
    """

    subject: Subject
    slots: tuple[Slot, ...]
    folder: Path
    compiler: Compiler
    options: MeasureOptions
    threads: int
    original: Binary
    timer: Binary

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
                preprocessor=preprocessor_of(self.subject), what=f"the version {version.name}")
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
        slow_ratio : a version that takes so many times as long as the reference gets one pair.
        """
        done: dict[str, Ran] = {}

        def keep(ran: Ran) -> None:
            if ran.name not in done:
                done[ran.name] = ran
                told(ran)

        left = dict(built)
        while left:
            ended = self._run(left, against, pairs, limit_seconds, slow_ratio, keep)
            further = {name: binary for name, binary in left.items() if name not in done}
            if ended.end is not End.FINISHED and further:
                entered = [str(r["entry"]) for r in ended.reports if "entry" in r]
                culprit = entered[-1] if entered and entered[-1] in further else next(iter(further))
                keep(Ran(name=culprit, verdict=_verdict(ended.end), reason=f"the process {ended.describe()}"))
                del further[culprit]
            elif len(further) == len(left):
                for name in further:
                    keep(Ran(name=name, verdict=Verdict.FAILED, reason="its process told nothing of it"))
                further = {}
            left = further
        return tuple(done[name] for name in built)

    def _run(self, built: Mapping[str, Binary], against: tuple[str, Binary] | None, pairs: int,
             limit_seconds: float | None, slow_ratio: float, keep: Callable[[Ran], None]) -> ChildEnd:
        options = self.options
        request = {
            "original": str(self.original.path), "transformed": str((against or ("", self.original))[1].path),
            "timer": str(self.timer.path), "places": described_places(self.slots), "seed": options.seed,
            "tolerance": options.tolerance, "pairs": pairs, "recipes": list(recipes_for(self.subject.scops)),
            "flush": "", "cpus": pinned_processors(self.threads) if options.pin else (),
            "versions": {name: str(binary.path) for name, binary in built.items()}, "slow_ratio": slow_ratio
            if slow_ratio < float("inf") else 0.0}
        limits = options.limits if limit_seconds is None else replace(options.limits, seconds=limit_seconds)
        reader = _Reader(seed=options.seed, keep=keep)
        return run_isolated(CHILD_MODULE, request, folder=self.folder, limits=limits,
                            environment=thread_environment(self.threads, pin=options.pin),
                            start_seconds=options.limits.seconds, on_report=reader.take)


class _Reader:
    """Turns the reports of a child into records, as they come."""

    def __init__(self, *, seed: int, keep: Callable[[Ran], None]) -> None:
        self.seed, self.keep = seed, keep
        self.conditioning: list[Mapping[str, Any]] = []
        self.reports: list[Mapping[str, Any]] = []

    def take(self, report: Mapping[str, Any]) -> None:
        """One report."""
        if "conditioning" in report:
            self.conditioning.append(report)
        if "entry" in report:
            self.reports = []
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
        return Ran(name=name, verdict=Verdict.TIMED, pairs=tuple(
            (float(r["pair"][0]), float(r["pair"][1])) for r in self.reports if "pair" in r))


def _difference(verification: Verification) -> str:
    worst = max(verification.arrays, key=lambda c: c.mismatches)
    place = "".join(f"[{i}]" for i in worst.worst_index or ())
    return (f"{worst.array}{place} is {worst.got} instead of {worst.expected} "
            f"({worst.mismatches} of {worst.elements} differ)")


def _verdict(end: End) -> Verdict:
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
        yield Field(subject=subject, slots=slots, folder=folder, compiler=compiler, options=options,
                    threads=options.threads or available_cores(), original=original, timer=timer)
