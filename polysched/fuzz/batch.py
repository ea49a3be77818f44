"""Compile many versions of functions in one go, run them in a child process, and get their arrays back.

One translation unit holds every version under a name of its own, so that hundreds of small functions cost one call
of the compiler and one child.  A call that kills the child is a result like any other; the calls behind it go on in the
next child.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from polysched.errors import CompileError, NoCompilerError, UsageError
from polysched.fuzz.batch_child import Keep
from polysched.fuzz.configuration import Build
from polysched.measure.processes.building import Binary, compile_shared
from polysched.measure.processes.isolation import End, Limits, run_isolated
from polysched.measure.programs.c_integers import evaluate
from polysched.measure.programs.inputs import STORAGE_TYPES, fill
from polysched.measure.programs.instance_trace import recorder
from polysched.records import dataclass
from polysched.scop.signature import FunctionParameter, FunctionSignature, ParameterKind
from polysched.target import CLANG_NAMES, Compiler, find_compiler

FLAGS = ("-std=gnu11", "-O1", "-ffp-contract=off")
BUILD_FLAGS = {
    Build.PLAIN: ("-std=gnu11", "-O0", "-ffp-contract=off", "-Wl,-z,defs", "-pipe"),
    Build.O2: ("-std=gnu11", "-O2", "-ffp-contract=off", "-Wl,-z,defs", "-pipe"),
    Build.O3: ("-std=gnu11", "-O3", "-march=native", "-ffp-contract=off", "-Wl,-z,defs", "-pipe"),
    Build.CLANG: ("-std=gnu11", "-O2", "-march=native", "-ffp-contract=off", "-Wl,-z,defs"),
}
"""The text means the same without optimisation, and most of a campaign's time would be the compiler's."""
RECIPE = "dominant"
SCALAR_VALUE = 1.25


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of a function.

    Parameters
    ----------
    label : a C identifier, unique in the batch; the function gets this name.
    text : a whole C file that defines the function.
    function : its name there.
    traced : number of statements that report through the trace macros; 0 when it is not instrumented.
    build : how it is compiled.
    tolerance : by how much its results may differ, relative to the largest element of an array.
    """

    label: str
    text: str
    function: str
    traced: int = 0
    build: Build = Build.PLAIN
    tolerance: float = 0.0


_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)\s*")


def batch_text(versions: Sequence[Version]) -> str:
    """One C file with every version; what a version defines for itself gets a name of its own."""
    parts = ["#pragma GCC visibility push(default)", recorder(max((v.traced for v in versions), default=0))]
    for version in versions:
        macros = dict.fromkeys(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", version.text, re.MULTILINE))
        plain = _ATTRIBUTE.sub("", version.text)
        own = dict.fromkeys(re.findall(r"^static\b[^;{=(]*?\b(\w+)(?:\(|;| =)", plain, re.MULTILINE))
        renamed = {version.function: version.label} | {name: f"{version.label}__{name}" for name in own}
        parts += [*(f"#define {name} {label}" for name, label in renamed.items()), version.text.rstrip("\n"),
                  *(f"#undef {name}" for name in (*renamed, *macros))]
    return "\n".join([*parts, "#pragma GCC visibility pop", ""])


def compile_batch(versions: Sequence[Version], *, name: str, folder: Path, compiler: Compiler,
                  flags: Sequence[str] = FLAGS) -> Binary:
    """Compile every version into one shared object; CompileError when one of them does not compile."""
    return compile_shared(batch_text(versions), name=name, folder=folder, compiler=compiler, flags=flags)


def compile_builds(versions: Sequence[Version], *, name: str, folder: Path, compiler: Compiler) -> list[Binary]:
    """Compile the versions into one shared object per build."""
    builds = {build: [v for v in versions if v.build is build] for build in Build}
    return [compile_batch(chosen, name=f"{name}_{build.name.lower()}", folder=folder, flags=BUILD_FLAGS[build],
                          compiler=_clang() or compiler if build is Build.CLANG else compiler)
            for build, chosen in builds.items() if chosen]


PARALLEL_LOOP = """int sum(int n) {
  int s = 0;
  #pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += i;
  return s;
}
"""


@cache
def _clang() -> Compiler | None:
    """The first clang of this machine that links OpenMP, whose library comes apart from it."""
    for command in CLANG_NAMES:
        try:
            compiler = find_compiler(command)
            with TemporaryDirectory(prefix="polysched-fuzz-") as folder:
                compile_shared(PARALLEL_LOOP, name="openmp", folder=Path(folder), compiler=compiler,
                               flags=BUILD_FLAGS[Build.CLANG])
        except (NoCompilerError, CompileError):
            continue
        return compiler
    return None


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument of a call.

    Parameters
    ----------
    value : of a scalar; None for an array.
    shape : of an array.
    """

    name: str
    dtype: str
    value: int | float | None = None
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Job:
    """One call of one version.

    Parameters
    ----------
    label : of the version.
    trace_size : longs to keep of the instrumentation's reports; 0 for a version without.
    keep : what becomes of the arrays.
    tolerance : of a difference, relative to the largest element of the array.
    recipe : of the inputs, as in `measure.programs.inputs`.
    """

    label: str
    arguments: tuple[Argument, ...]
    seed: int
    trace_size: int = 0
    keep: Keep = Keep.ARRAYS
    tolerance: float = 0.0
    recipe: str = RECIPE


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """What is left of a call.

    Parameters
    ----------
    failure : how it ended when it did not return, or wrote outside its arrays; empty when all is well.
    arrays : by name, after the call, when they were to be kept.
    difference : from the reference, in words; empty when there is none.
    records : the reports of the instrumentation.
    """

    failure: str = ""
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    difference: str = ""
    records: tuple[int, ...] = ()


def arguments_for(signature: FunctionSignature, sizes: Mapping[str, int]) -> tuple[Argument, ...]:
    """The arguments of a call at these sizes, in the order of the function's parameters."""
    return tuple(_argument(p, sizes) for p in signature.parameters)


def _argument(parameter: FunctionParameter, sizes: Mapping[str, int]) -> Argument:
    if parameter.dtype is None:
        raise UsageError(f"no value can be made up for {parameter.c_declaration}")
    dtype = parameter.dtype.name
    if parameter.kind is ParameterKind.INTEGER:
        return Argument(name=parameter.name, dtype=dtype, value=sizes.get(parameter.name, 1))
    if parameter.kind is ParameterKind.FLOATING:
        return Argument(name=parameter.name, dtype=dtype, value=SCALAR_VALUE)
    values = tuple(sorted(sizes.items()))
    shape = tuple(None if e is None else _extent(e, values) for e in parameter.c_extents)
    if None in shape:
        raise UsageError(f"the extents of {parameter.c_declaration} are not known at {dict(sizes)}")
    return Argument(name=parameter.name, dtype=dtype, shape=tuple(e for e in shape if e is not None))


@cache
def _extent(text: str, sizes: tuple[tuple[str, int], ...]) -> int | None:
    return evaluate(text, dict(sizes))


def inputs_of(arguments: Sequence[Argument], seed: int, recipe: str = RECIPE) -> dict[str, np.ndarray]:
    """The arrays that a call of these arguments starts with."""
    arrays = {}
    for argument in arguments:
        if argument.value is None:
            array = np.zeros(argument.shape, STORAGE_TYPES[argument.dtype])
            fill(array, argument.dtype, name=argument.name, recipe=recipe, seed=seed)
            arrays[argument.name] = array
    return arrays


def run_batch(binaries: Binary | Sequence[Binary], jobs: Sequence[Job], *, folder: Path, threads: int = 1,
              limits: Limits | None = None) -> list[JobResult]:
    """Run the calls in order, in as few children as they need, and give one result per call.

    Parameters
    ----------
    binaries : the functions of the jobs are in one of these.
    """
    libraries = [binaries] if isinstance(binaries, Binary) else list(binaries)
    results: list[JobResult] = []
    outputs = folder / f"{libraries[0].path.stem}.results"
    outputs.mkdir(exist_ok=True)
    while len(results) < len(jobs):
        first = len(results)
        again = _reference_before(jobs, results)
        request: dict[str, Any] = {"libraries": [str(b.path) for b in libraries], "outputs": str(outputs),
                                   "jobs": [_as_json(job) for job in (*again, *jobs[first:])]}
        end = run_isolated("polysched.fuzz.batch_child", request, folder=folder, limits=limits or Limits(seconds=60),
                           environment={"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"})
        done = [report for report in end.reports if "job" in report]
        results += [_result(outputs / f"{number}.npz", report) for number, report in enumerate(done)][len(again):]
        if len(results) == first + max(0, len(done) - len(again)) and end.end is not End.FINISHED:
            results.append(JobResult(failure=end.describe() + (f": {end.error_output[-300:]}" if end.error_output
                                                              else "")))
    return results[:len(jobs)]


def _reference_before(jobs: Sequence[Job], results: Sequence[JobResult]) -> list[Job]:
    """The reference of the next job, when it ran well in a child that is gone."""
    if jobs[len(results)].keep is Keep.DIFFERENCE:
        for job, result in zip(reversed(jobs[:len(results)]), reversed(results), strict=True):
            if job.keep is Keep.REFERENCE:
                return [] if result.failure else [job]
    return []


def _as_json(job: Job) -> dict[str, Any]:
    return asdict(job) | {"keep": job.keep.value}


def _result(path: Path, report: Mapping[str, Any]) -> JobResult:
    arrays: dict[str, np.ndarray] = {}
    records: tuple[int, ...] = ()
    if report["stored"]:
        with np.load(path) as stored:
            arrays = {name.removeprefix("array_"): stored[name] for name in stored.files if name != "records"}
            records = tuple(stored["records"].tolist())
        path.unlink()
    return JobResult(failure=report["job"], arrays=arrays, difference=report["difference"], records=records)
