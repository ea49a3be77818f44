"""Three witnesses for every version of a program: the interpreter, the compiled C, and the order of its instances."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

import islpy as isl
import numpy as np

from polysched.errors import BudgetExceededError, CompileError, PolyschedError
from polysched.fuzz.batch import (
    RECIPE,
    Argument,
    Job,
    JobResult,
    Version,
    arguments_for,
    compile_builds,
    inputs_of,
    run_batch,
)
from polysched.fuzz.batch_child import Keep, differences
from polysched.fuzz.configuration import MOST_ISL_OPERATIONS, Analyses, Configuration
from polysched.fuzz.program import Program
from polysched.fuzz.python_check import python_differences
from polysched.fuzz.time_limit import OutOfTime, time_limit
from polysched.measure.processes.building import Binary
from polysched.measure.programs.execution_order import ExpectedOrder, check_expected, execution_of, expected_order
from polysched.measure.programs.inputs import WHOLE
from polysched.measure.programs.slots import element_of
from polysched.records import dataclass
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop, Storage
from polysched.scop.signature import FunctionSignature
from polysched.target import Compiler
from polysched.tiling.tiled_schedule import TiledSchedule

ORIGINAL = "original"
PYTHON = "python"
TRACE_NUMBERS = 1 << 18


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that is not as it should be.

    Parameters
    ----------
    subject : name of the program.
    configuration : label of the configuration; `original` for the program as written, `python` for its Python text.
    kind : `result`, `order`, `interpreter`, `run`, `compile`, `error` (all wrong), `refused`, or `slow`.
    detail : one line.
    """

    subject: str
    configuration: str
    kind: str
    detail: str

    @property
    def is_wrong(self) -> bool:
        return self.kind not in ("refused", "slow")


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """A program with all its versions.

    Parameters
    ----------
    tiled : the schedules, by configuration label.
    versions : the original and, per configuration, the emitted C with and without instrumentation.
    findings : what went wrong on the way.
    kinds : what the checked configurations consist of, and how often.
    orders : what `expected` has computed.
    python : the program, when its text in Python is to be checked too.
    recipe : of its inputs, as in `measure.programs.inputs`.
    """

    name: str
    scop: Scop
    signature: FunctionSignature
    tiled: Mapping[str, TiledSchedule]
    versions: tuple[Version, ...]
    findings: tuple[Finding, ...] = ()
    kinds: Mapping[str, int] = field(default_factory=dict)
    orders: dict[tuple[object, ...], ExpectedOrder] = field(default_factory=dict)
    python: Program | None = None
    recipe: str = RECIPE

    def parameters(self, sizes: Mapping[str, int], seed: int = 0) -> dict[str, int]:
        """The Scop's parameters in a call at these sizes.

        A parameter that is not a size is an element of an array that the program does not change, or a variable of the
        function that starts from `NAME_out[0]`.
        """
        arrays = inputs_of(arguments_for(self.signature, sizes), seed, self.recipe)

        def value(spelling: str) -> int:
            name, index = element_of(spelling) or (f"{spelling}_out", (0,))
            return int(arrays[name][index])

        return {p.name: sizes[p.spelling] if p.spelling in sizes else value(p.spelling) for p in self.scop.parameters}

    def expected(self, configuration: str, sizes: Mapping[str, int], seed: int) -> ExpectedOrder:
        """What the order of the instances at these sizes has to keep; computed once per changed program."""
        dependences = self.tiled[configuration].schedule.dependences
        key = (id(dependences.scop), dependences.relaxed, tuple(sizes.items()), seed)
        if key not in self.orders:
            self.orders[key] = expected_order(dependences.scop, self.parameters(sizes, seed),
                                              relaxed=dependences.relaxed)
        return self.orders[key]


def prepare(name: str, text: str, configurations: Iterable[Configuration], *,
            on_progress: Callable[[str], None] = lambda _: None,
            seconds: float = math.inf, operations: int = MOST_ISL_OPERATIONS,
            recipe: str = RECIPE, schedules: bool = True) -> Subject | Finding:
    """Extract a program and transform it in every configuration; a finding when it cannot even be extracted.

    Parameters
    ----------
    seconds : CPU time of each configuration, and of the extraction; what needs more is given up.
    operations : of isl, for each configuration; likewise.
    recipe : of the inputs, as in `measure.programs.inputs`; with WHOLE, sums are exact in any order and have to be
        equal.
    schedules : make an instrumented version of every configuration, too.
    """
    try:
        with time_limit(seconds):
            scop = from_c_text(text, path=f"{name}.c")
            analyses = Analyses(scop)
            analyses.of()
    except Exception as error:  # a fuzzer's find: whatever the program under test raises is the result
        return _failed(name, ORIGINAL, error)
    assert scop.source is not None
    signature = scop.source.signature
    assert signature is not None
    versions = [Version(label=f"{name}__{ORIGINAL}", text=text, function=signature.name)]
    tiled: dict[str, TiledSchedule] = {}
    findings: list[Finding] = []
    kinds: Counter[str] = Counter()
    for configuration in configurations:
        label = configuration.label
        on_progress(label)
        try:
            with time_limit(seconds):
                made = configuration.make(scop, text, analyses, operations=operations)
        except Exception as error:  # as above
            findings.append(_failed(name, label, error))
            continue
        tiled[label] = made.tiled
        kinds.update((*configuration.kinds(), *made.kinds()))
        versions.append(Version(label=f"{name}__{label}", text=made.text, function=signature.name,
                             build=configuration.build, tolerance=0.0 if recipe == WHOLE else configuration.tolerance))
        if schedules:
            versions.append(Version(label=f"{name}__{label}__traced", text=made.traced, function="traced",
                                    traced=len(made.tiled.schedule.scop.statements)))
    return Subject(name=name, scop=scop, signature=signature, tiled=tiled, versions=tuple(versions), kinds=kinds,
                   findings=tuple(findings), recipe=recipe)


def _failed(name: str, configuration: str, error: Exception) -> Finding:
    """What an exception on the way to the code means."""
    kind = "error"
    if isinstance(error, OutOfTime | BudgetExceededError):
        kind = "slow"
    elif isinstance(error, PolyschedError):
        kind = "refused"
    return Finding(subject=name, configuration=configuration, kind=kind, detail=_one_line(error))


def _one_line(error: Exception) -> str:
    kind = "" if isinstance(error, PolyschedError | OutOfTime) else f"{type(error).__name__}: "
    return kind + " | ".join(line.strip() for line in str(error).splitlines())[:600]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """At which sizes the witnesses are heard.

    Parameters
    ----------
    run : compiled code against compiled original.
    small : interpreter and order of the instances; the original program also against the interpreter.
    threads : values of OMP_NUM_THREADS.
    interpret_schedules : let the interpreter follow every schedule tree too.
    """

    run: tuple[Mapping[str, int], ...]
    small: tuple[Mapping[str, int], ...]
    threads: tuple[int, ...] = (3,)
    interpret_schedules: bool = True


@dataclass
class _Collector:
    findings: list[Finding] = field(default_factory=list)

    def add(self, subject: Subject, configuration: str, kind: str, detail: str) -> None:
        self.findings.append(Finding(subject=subject.name, configuration=configuration, kind=kind, detail=detail))


def check(subjects: Sequence[Subject], plans: Mapping[str, Plan], *, compiler: Compiler,
          folder: Path | None = None, on_progress: Callable[[str], None] = lambda _: None) -> list[Finding]:
    """Every finding about these programs.

    Parameters
    ----------
    plans : by name of the subject.
    folder : for what is made on the way; a temporary one when there is none.
    on_progress : told in words, that follow "while it was", what is done next.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="polysched-check-") as temporary:
            return check(subjects, plans, compiler=compiler, folder=Path(temporary), on_progress=on_progress)
    on_progress("compiling")
    collector = _Collector([finding for s in subjects for finding in s.findings])
    for number, (binaries, group) in enumerate(_compiled(subjects, compiler, folder, collector)):
        work = folder / f"run{number}"
        work.mkdir()
        _check_group(binaries, group, plans, work, collector, on_progress)
    return collector.findings


def _compiled(subjects: Sequence[Subject], compiler: Compiler, folder: Path,
              collector: _Collector) -> list[tuple[list[Binary], list[Subject]]]:
    """Two shared objects for all; when one does not compile, some per program, and per version to name the bad."""
    try:
        versions = [v for s in subjects for v in s.versions]
        return [(compile_builds(versions, name="batch", folder=folder, compiler=compiler), list(subjects))]
    except CompileError:
        if len(subjects) > 1:
            groups = []
            for subject in subjects:
                (folder / subject.name).mkdir(exist_ok=True)
                groups += _compiled([subject], compiler, folder / subject.name, collector)
            return groups
    label, message = _first_uncompilable(subjects[0], compiler, folder)
    collector.add(subjects[0], label, "compile", message)
    return []


def _first_uncompilable(subject: Subject, compiler: Compiler, folder: Path) -> tuple[str, str]:
    for version in subject.versions:
        try:
            compile_builds([version], name="single", folder=folder, compiler=compiler)
        except CompileError as error:
            return version.label.removeprefix(f"{subject.name}__"), _one_line(error)
    return ORIGINAL, "the versions compile alone but not together"


def _check_group(binaries: Sequence[Binary], subjects: Sequence[Subject], plans: Mapping[str, Plan], folder: Path,
                 collector: _Collector, on_progress: Callable[[str], None]) -> None:
    """Run everything in one child per number of threads, then judge."""
    for number, threads in enumerate(sorted({t for s in subjects for t in plans[s.name].threads})):
        calls = [call for subject in subjects if threads in plans[subject.name].threads
                 for call in _result_calls(subject, plans[subject.name])]
        if number == 0:
            calls += [call for subject in subjects for call in _small_calls(subject, plans[subject.name])]
        on_progress("running the compiled code")
        results = run_batch(binaries, [call.job for call in calls], folder=folder, threads=threads)
        for call, result in zip(calls, results, strict=True):
            if call.job.keep is Keep.ARRAYS:
                on_progress(f"checking {call.version.label}")
            _judge(call, result, threads, plans[call.subject.name], collector)


def _result_calls(subject: Subject, plan: Plan) -> list[_Call]:
    """The original, then every version, at each size."""
    return [_Call(subject, version, sizes, replace(
        _job(subject, version, sizes, seed), keep=Keep.DIFFERENCE if position else Keep.REFERENCE,
        tolerance=version.tolerance))
        for seed, sizes in enumerate(plan.run)
        for position, version in enumerate(v for v in subject.versions if not v.traced)]


def _small_calls(subject: Subject, plan: Plan) -> list[_Call]:
    """The original for the interpreter, and the instrumented versions."""
    calls = [_Call(subject, subject.versions[0], sizes, _job(subject, subject.versions[0], sizes, seed))
             for seed, sizes in enumerate(plan.small)]
    return calls + [_Call(subject, version, sizes, _job(subject, version, sizes, 0)) for sizes in plan.small[-1:]
                    for version in subject.versions if version.traced]


def _judge(call: _Call, result: JobResult, threads: int, plan: Plan, collector: _Collector) -> None:
    if call.version.traced:
        _check_order(call, result, collector)
    elif call.job.keep is Keep.ARRAYS:
        _interpret(call, result, plan.interpret_schedules, collector)
    elif result.failure:
        collector.add(call.subject, call.configuration, "run", f"{result.failure} {call.at()}")
    elif result.difference:
        collector.add(call.subject, call.configuration, "result", f"{result.difference} {call.at()}, {threads} threads")


@dataclass(frozen=True)
class _Call:
    subject: Subject
    version: Version
    sizes: Mapping[str, int]
    job: Job

    @property
    def configuration(self) -> str:
        return self.version.label.removeprefix(f"{self.subject.name}__").removesuffix("__traced")

    def at(self) -> str:
        return "at " + ", ".join(f"{name}={value}" for name, value in self.sizes.items())


def _job(subject: Subject, version: Version, sizes: Mapping[str, int], seed: int) -> Job:
    if version.traced:
        values = subject.parameters(sizes, seed)
        arguments = tuple(Argument(name=p.name, dtype=p.dtype.name, value=values[p.name])
                          for p in subject.scop.parameters)
        return Job(label=version.label, arguments=arguments, seed=seed, trace_size=TRACE_NUMBERS)
    return Job(label=version.label, arguments=arguments_for(subject.signature, sizes), seed=seed, recipe=subject.recipe)


def _interpret(call: _Call, compiled: JobResult, schedules: bool, collector: _Collector) -> None:
    """The interpreter in the original order against the compiled original, and in every other order."""
    subject = call.subject
    if compiled.failure:
        collector.add(subject, ORIGINAL, "run", f"{compiled.failure} {call.at()}")
        return
    if subject.python is not None:
        _check_python(call, subject.python, compiled, collector)
    followed: dict[str, tuple[Scop, isl.Schedule | None]] = {ORIGINAL: (subject.scop, None)}
    if schedules:
        followed |= {label: (tiled.schedule.scop, tiled.tree) for label, tiled in subject.tiled.items()}
    for label, (scop, tree) in followed.items():
        arrays = interpreter_arrays(subject, call.sizes, call.job.seed)
        try:
            execute(scop, subject.parameters(call.sizes, call.job.seed), arrays, tree=tree)
        except PolyschedError as error:
            collector.add(subject, label, "interpreter", _one_line(error))
            continue
        if difference := differences(compiled.arrays, _function_arrays(compiled.arrays, arrays)):
            collector.add(subject, label, "interpreter", f"{difference} {call.at()}")


def _check_python(call: _Call, program: Program, compiled: JobResult, collector: _Collector) -> None:
    inputs = inputs_of(call.job.arguments, call.job.seed, call.job.recipe)
    try:
        difference = python_differences(program, call.sizes, inputs, compiled.arrays)
    except PolyschedError as error:
        collector.add(call.subject, PYTHON, "refused", _one_line(error))
        return
    if difference:
        collector.add(call.subject, PYTHON, "interpreter", f"{difference} {call.at()}")


def interpreter_arrays(subject: Subject, sizes: Mapping[str, int], seed: int) -> dict[str, np.ndarray]:
    """The same inputs as a call gets, for the interpreter.

    Scalars that are not parameters of the function start from 0, or from the element `NAME_out[0]` when the function
    has such an array.
    """
    arguments = arguments_for(subject.signature, sizes)
    arrays = inputs_of(arguments, seed, subject.recipe)
    by_value = {a.name: a.value for a in arguments if a.value is not None}
    for array in subject.scop.arrays:
        if array.is_scalar and array.storage is not Storage.LOCAL and array.name not in arrays:
            given = by_value.get(array.name, 0)
            value = arrays[f"{array.name}_out"][0] if f"{array.name}_out" in arrays else given
            arrays[array.name] = np.array(value, array.dtype.name)
    return arrays


def _function_arrays(names: Iterable[str], arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the function's array parameters hold after the region, as the interpreter leaves it."""
    return {name: arrays[name.removesuffix("_out")].reshape(1) if name.removesuffix("_out") != name
            and name.removesuffix("_out") in arrays else arrays[name] for name in names}


def _check_order(call: _Call, result: JobResult, collector: _Collector) -> None:
    subject = call.subject
    if result.failure:
        collector.add(subject, call.configuration, "run", f"instrumented: {result.failure} {call.at()}")
        return
    statements = subject.tiled[call.configuration].schedule.scop.statements
    execution = execution_of(result.records, [s.name for s in statements])
    try:
        check_expected(subject.expected(call.configuration, call.sizes, call.job.seed), execution)
    except PolyschedError as error:
        collector.add(subject, call.configuration, "order", _one_line(error))
