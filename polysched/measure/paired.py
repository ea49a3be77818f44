"""Verify a transformed function against the untransformed one, then time both in alternation."""

from __future__ import annotations

import datetime
import hashlib
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from polysched.errors import UsageError
from polysched.measure.measurement import FORMAT_VERSION, Build, Listing, Measurement, Verification
from polysched.measure.processes.building import DEFAULT_FLAGS, Binary, compile_shared, compiles
from polysched.measure.processes.call_interface import TIMER, Origin, Slot, probe, wrapper
from polysched.measure.processes.isolation import ChildEnd, End, Limits, run_isolated
from polysched.measure.processes.threads import pinned_processors, thread_environment, usable_processors
from polysched.measure.processes.workspace import workspace
from polysched.measure.programs.comparison import ArrayComparison
from polysched.measure.programs.inputs import FLOATS, RECIPES
from polysched.measure.programs.problem_size import ProblemSize, choose_size
from polysched.measure.programs.slots import check_memory, location, make_slots
from polysched.measure.programs.work import count_work
from polysched.measure.timing.cold_cache import flush_for
from polysched.measure.timing.machine import (
    available_cores,
    available_memory,
    describe_conditions,
    describe_machine,
    git_revision,
    versions,
)
from polysched.measure.timing.peak import cached_peaks
from polysched.measure.timing.statistics import Sample, Timing
from polysched.records import dataclass
from polysched.scop.body import Load, branch_conditions, walk
from polysched.scop.dtypes import part_of
from polysched.scop.scop import Scop
from polysched.scop.signature import FunctionSignature
from polysched.target import Compiler, find_compiler

logger = logging.getLogger(__name__)

CHILD_MODULE = "polysched.measure.timing.paired_run"


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """How to compile, verify and time.

    Parameters
    ----------
    cc : the compiler's command; None finds one.
    flags : compiler options for both programs.
    threads : OMP_NUM_THREADS; None takes every core that the process may use.
    pin : bind the process to `threads` cores, one thread each.
    pairs : timed pairs; 0 verifies only.
    least_pairs, budget_seconds : after this many seconds no pair is started unless fewer than `least_pairs` ran.
    warmups : pairs before the timed ones.
    cold_cache : flush the caches before every call.
    seed : of the input values.
    tolerance : allowed relative difference of floats; None takes the one of the element type.
    limits : of the child process.
    """

    cc: str | None = None
    flags: tuple[str, ...] = DEFAULT_FLAGS
    threads: int | None = None
    pin: bool = False
    pairs: int = 20
    least_pairs: int = 3
    budget_seconds: float = 20.0
    warmups: int = 1
    cold_cache: bool = False
    seed: int = 1
    tolerance: float | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 1:
            raise UsageError("at least one thread is needed", witness=f"threads={self.threads}")
        if self.pairs < 0 or self.warmups < 0:
            raise UsageError("the number of pairs cannot be negative", witness=f"pairs={self.pairs}")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The function that is measured: what stood in the file, and what it became.

    Parameters
    ----------
    scops : the regions of the function, in textual order.
    transformed_text : the whole file with the regions replaced.
    options, steps : how the transformed text came about, for the record.
    listings : the regions with their schedules and C, for reports (`pipeline.Optimized.listing`).
    """

    scops: tuple[Scop, ...]
    transformed_text: str
    options: Mapping[str, object] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    listings: tuple[Listing, ...] = ()

    @property
    def signature(self) -> FunctionSignature:
        region = self.scops[0].source
        if region is None or region.signature is None:
            raise UsageError("the region stands in no function, so there is nothing to call",
                             where=location(self.scops[0]),
                             hint="put it into a function that takes the sizes and the arrays")
        return region.signature

    @property
    def original_text(self) -> str:
        """The file as it was read."""
        region = self.scops[0].source
        assert region is not None
        return region.text

    @property
    def path(self) -> Path:
        region = self.scops[0].source
        assert region is not None
        return Path(region.path)


def compare_and_time(subject: Subject, given_sizes: Mapping[str, int], *, options: MeasureOptions | None = None,
                     on_report: Callable[[Mapping[str, Any]], None] | None = None,
                     known: Mapping[str, Measurement] | None = None) -> Measurement:
    """Compile both versions, verify in an isolated child, and time them there in alternating pairs.

    A child that crashes, hangs or runs out of memory gives a Measurement whose `failure` says so.

    Parameters
    ----------
    given_sizes : parameter values by C spelling; the others are chosen (`measure.programs.problem_size`).
    on_report : called with every report of the child, for progress bars.
    known : earlier results by `Measurement.experiment`; one of the same experiment is returned instead of a new one.

    Raises
    ------
    UsageError : the sizes or the function's parameters do not allow a run, or the transformed text is a region alone.
    CompileError : one of the versions does not compile.
    """
    options = options or MeasureOptions()
    signature = subject.signature
    if subject.transformed_text.lstrip().startswith("{"):
        raise UsageError("the transformed text is a region, and no C file", where=location(subject.scops[0]),
                         witness="it begins with `{`", hint="polysched.optimize(scop).subject() has the whole file")
    size = choose_size(subject.scops, given_sizes)
    compiler = find_compiler(options.cc)
    threads = options.threads or available_cores()
    experiment = _experiment(subject, size, compiler, options, threads)
    if known and experiment in known:
        return known[experiment]
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    with workspace() as folder:
        slots = make_slots(subject.scops, signature, size, given=given_sizes,
                           is_global=global_test(subject, folder, compiler))
        check_memory(slots, min(available_memory(), options.limits.memory_bytes))
        binaries = build_both(subject, slots, folder=folder, compiler=compiler, flags=options.flags)
        timer = compile_shared(TIMER, name="timer", folder=folder, compiler=compiler, flags=("-O2",), openmp=False)
        request = _request(slots, binaries, timer, options=options, threads=threads,
                           recipes=recipes_for(subject.scops))
        ended = run_isolated(CHILD_MODULE, request, folder=folder, limits=options.limits,
                             environment=thread_environment(threads, pin=options.pin), on_report=on_report)
    return _measurement(subject, size, options, binaries, ended, threads=threads, started=started,
                        cpus=tuple(request["cpus"]), experiment=experiment)


def build_both(subject: Subject, slots: Sequence[Slot], *, folder: Path, compiler: Compiler,
               flags: Sequence[str]) -> tuple[Binary, Binary]:
    """Compile the original file and the transformed one, each inside the wrapper that calls the function."""
    path = original_file(subject, folder)
    transformed = folder / f"transformed_{path.name}"
    transformed.write_text(subject.transformed_text, encoding="utf-8", errors="surrogateescape", newline="")
    include = preprocessor_of(subject)
    function = subject.signature.name
    return (compile_shared(wrapper(path, function, slots), name="original", folder=folder, compiler=compiler,
                           flags=flags, preprocessor=include, what=f"{subject.path}"),
            compile_shared(wrapper(transformed, function, slots), name="transformed", folder=folder,
                           compiler=compiler, flags=flags, preprocessor=include,
                           what=f"the code emitted for {subject.path}"))


def original_file(subject: Subject, folder: Path) -> Path:
    """The file that is compiled as the original: where it was read, or, of a Scop from text, its text in the folder."""
    path = subject.path.resolve()
    if path.is_file():
        return path
    written = folder / f"source_{re.sub(r'[^A-Za-z0-9_-]', '_', path.stem)}.c"
    written.write_text(subject.original_text, encoding="utf-8", errors="surrogateescape", newline="")
    return written


def preprocessor_of(subject: Subject) -> list[str]:
    """The preprocessor's options for the file of a subject."""
    region = subject.scops[0].source
    assert region is not None
    return [*region.preprocessor, "-iquote", str(subject.path.resolve().parent)]


def global_test(subject: Subject, folder: Path, compiler: Compiler) -> Callable[[str], bool]:
    """A test whether a name is a variable at the end of the file, asked of the compiler."""
    source, include = original_file(subject, folder), preprocessor_of(subject)

    def is_global(name: str) -> bool:
        return compiles(probe(source, f"(void)&{name};"), folder=folder, compiler=compiler, preprocessor=include)

    return is_global


def described_places(slots: Sequence[Slot]) -> list[dict[str, Any]]:
    """The slots as JSON values for the child; a complex number is its two parts, as in memory (C11 6.2.5)."""
    global_index = {s.name: i for i, s in enumerate(s for s in slots if s.origin is Origin.GLOBAL)}
    return [{"name": s.name, "dtype": part_of(s.dtype).name, "origin": s.origin.value,
             "shape": [*s.shape, *((2,) if s.dtype.is_complex else ())],
             "value": s.value, "index_extent": s.index_extent, "constant": s.constant,
             "elements": s.elements, "global_index": global_index.get(s.name)} for s in slots]


def _request(slots: Sequence[Slot], binaries: tuple[Binary, Binary], timer: Binary, *, options: MeasureOptions,
             threads: int, recipes: Sequence[str] = RECIPES) -> dict[str, Any]:
    """What the child needs to know, as JSON values."""
    places = described_places(slots)
    cpus = pinned_processors(threads) if options.pin else ()
    flush = flush_for(cpus or usable_processors()) if options.cold_cache else None
    return {"original": str(binaries[0].path), "transformed": str(binaries[1].path), "timer": str(timer.path),
            "places": places, "seed": options.seed, "tolerance": options.tolerance, "pairs": options.pairs,
            "recipes": list(recipes), "least_pairs": options.least_pairs, "budget_seconds": options.budget_seconds,
            "warmups": options.warmups, "flush": str(flush or ""), "cpus": cpus}


def recipes_for(scops: Sequence[Scop]) -> tuple[str, ...]:
    """The recipes in the order in which they are tried: both signs first where conditions look at floats.

    Of positive numbers alone, `x[i] < 0` is the same for all of them, and a wrong blend would go unseen.
    """
    first = ("mixed",) if any(map(_compares_floats, scops)) else ()
    return (*first, *(recipe for recipe in RECIPES if recipe not in first))


def _compares_floats(scop: Scop) -> bool:
    conditions = [c for statement in scop.statements for c in branch_conditions(statement.body)]
    return any(isinstance(e, Load) and part_of(e.dtype).name in FLOATS for c in conditions for e in walk(c))


def _measurement(subject: Subject, size: ProblemSize, options: MeasureOptions, binaries: tuple[Binary, Binary],
                 ended: ChildEnd, *, threads: int, started: str, cpus: tuple[int, ...],
                 experiment: str) -> Measurement:
    failure = "" if ended.end is End.FINISHED else _failure(ended)
    verification = read_verification(ended.reports, seed=options.seed)
    timing = None
    if verification is not None and verification.passed and not failure:
        timing = read_timing(ended.reports, threads=threads, cpus=cpus, cold_cache=options.cold_cache)
    peaks = cached_peaks(binaries[0].compiler)
    return Measurement(
        experiment=experiment, source=str(subject.path), function=subject.signature.name, sizes=dict(size.spelled),
        threads=threads, cold_cache=options.cold_cache, options=subject.options, steps=subject.steps,
        original=build_of(binaries[0], subject.original_text),
        transformed=build_of(binaries[1], subject.transformed_text),
        verification=verification, timing=timing, failure=failure, work=count_work(subject.scops, size.values),
        peak_flop_per_second=None if peaks is None else peaks.operations_per_second(
            result_type(verification), threads),
        machine=describe_machine(), conditions=describe_conditions(), libraries=versions(),
        git_revision=git_revision(Path(__file__).parent), started=started,
        peaks=peaks, listings=subject.listings)


def result_type(verification: Verification | None) -> str:
    """The floating-point type of what the original code changes; empty when it changes none."""
    arrays = verification.arrays if verification is not None else ()
    return next((c.dtype for c in sorted(arrays, key=lambda c: -c.elements) if c.changed and c.dtype in FLOATS), "")


def _experiment(subject: Subject, size: ProblemSize, compiler: Compiler, options: MeasureOptions, threads: int) -> str:
    """The hash that names this experiment (`Measurement.experiment`)."""
    parts = (subject.signature.name, sorted(size.spelled.items()), text_sha256(subject.original_text),
             text_sha256(subject.transformed_text), str(compiler), compiler.version, options.flags, threads,
             options.pin, options.cold_cache, options.seed, options.tolerance, describe_machine().identity,
             FORMAT_VERSION)
    return text_sha256(repr(parts))


def _failure(ended: ChildEnd) -> str:
    last_words = ended.error_output.splitlines()[-1:] if ended.error_output else []
    return " - ".join([f"the measured process {ended.describe()}", *last_words])


def build_of(binary: Binary, text: str) -> Build:
    """How a text was compiled, for the record."""
    return Build(compiler=str(binary.compiler), version=binary.compiler.version, flags=binary.flags,
                 source_sha256=text_sha256(text), compile_seconds=round(binary.compile_seconds, 4))


def text_sha256(text: str) -> str:
    """The hash by which results name a source text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def read_verification(reports: Sequence[Mapping[str, Any]], *, seed: int) -> Verification | None:
    """The verification that a child reported; None when it did not come so far.

    The results are compared several times, and the comparison with most mismatches counts.
    """
    compared = [r for r in reports if "compared" in r]
    conditioning = next((r["conditioning"] for r in reports if "conditioning" in r), None)
    stray = next((r["out_of_bounds"] for r in reports if "out_of_bounds" in r), None)
    if stray is not None:
        problem = f"the {stray['program']} code writes outside the array {stray['array']}"
        return Verification(arrays=(), recipe="", seed=seed, amplification=0.0, well_conditioned=False, problem=problem)
    if not compared or conditioning is None:
        return None
    worst = max(compared, key=lambda r: sum(c["mismatches"] for c in r["compared"]))
    arrays = tuple(ArrayComparison(**(c | {"worst_index": None if c["worst_index"] is None else
                                           tuple(c["worst_index"])})) for c in worst["compared"])
    return Verification(arrays=arrays, recipe=conditioning["recipe"], seed=seed,
                        amplification=conditioning["amplified"], well_conditioned=conditioning["suits"],
                        problem=_verification_problem(arrays))


def _verification_problem(arrays: Sequence[ArrayComparison]) -> str:
    """Why equal results would prove nothing; empty when they do prove something."""
    not_finite = [c for c in arrays if c.not_finite]
    if not_finite:
        worst = max(not_finite, key=lambda c: c.not_finite / c.elements)
        return (f"the original code leaves {worst.not_finite} of {worst.elements} elements of {worst.array} "
                "not finite, whatever the inputs")
    if not any(c.changed for c in arrays):
        return "the original code changes nothing that can be seen from outside"
    return ""


def read_timing(reports: Sequence[Mapping[str, Any]], *, threads: int, cpus: tuple[int, ...],
                cold_cache: bool) -> Timing | None:
    """The samples that a child reported; None when there are none."""
    pairs = [(r["warmup"], *(_sample(r["samples"][name]) for name in ("original", "transformed")))
             for r in reports if "samples" in r]
    timed = [(a, b) for warmup, a, b in pairs if not warmup]
    if not timed:
        return None
    return Timing(original=tuple(a for a, _ in timed), transformed=tuple(b for _, b in timed),
                  warmups=tuple((a, b) for warmup, a, b in pairs if warmup), threads=threads, cpus=cpus,
                  cold_cache=cold_cache)


def _sample(values: Mapping[str, Any]) -> Sample:
    return Sample(**values)
