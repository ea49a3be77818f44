"""A distributed program on several ranks, verified bit for bit against the sequential one.

Every rank calls the function with the same inputs; each has to have the sequential program's results in all its arrays.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polysched.errors import NoCompilerError, RunFailedError
from polysched.measure.paired import (
    MeasureOptions,
    Subject,
    described_places,
    global_test,
    original_file,
    preprocessor_of,
    recipes_for,
)
from polysched.measure.processes.building import compile_shared, first_lines
from polysched.measure.processes.call_interface import TIMER, Slot, wrapper
from polysched.measure.processes.workspace import workspace
from polysched.measure.programs.problem_size import choose_size
from polysched.measure.programs.slots import check_memory, make_slots
from polysched.measure.timing.machine import available_memory
from polysched.records import dataclass
from polysched.target import Compiler, find_compiler

CHILD_MODULE = "polysched.measure.timing.rank_run"
NO_CONTRACTION = "-ffp-contract=off"


@dataclass(frozen=True, kw_only=True)
class RanksRun:
    """One program on some ranks.

    Parameters
    ----------
    ranks : their number.
    sizes : parameter values by C spelling.
    wrong : per wrong array and rank one line; empty where every rank has the sequential results, bit for bit.
    cpu_seconds : of all ranks together, the least of the calls; waiting for messages included.
    wall_seconds : of the slowest rank, the least of the calls.
    sequential_cpu_seconds : of the original code, one call.
    step_bytes, step_messages : sent between steps, all ranks together, a call.
    gathered_bytes, gathered_messages : sent at the ends of regions.
    """

    ranks: int
    sizes: Mapping[str, int]
    wrong: tuple[str, ...]
    cpu_seconds: float
    wall_seconds: float
    sequential_cpu_seconds: float
    step_bytes: float
    step_messages: float
    gathered_bytes: float
    gathered_messages: float

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {**vars(self), "sizes": dict(self.sizes), "wrong": list(self.wrong)}


def mpi_command(name: str) -> str:
    """Where `mpicc` or `mpiexec` stands: on the PATH, or beside this Python (wheel `mpich`, extra `mpi`).

    Raises
    ------
    NoCompilerError : nowhere.
    """
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise NoCompilerError(f"there is no {name}", hint="python -m pip install 'polysched[mpi]', or a system's MPI")
    return found


def run_on_ranks(subject: Subject, ranks: int, given_sizes: Mapping[str, int], *, options: MeasureOptions | None = None,
                 repeats: int = 3, defines: Sequence[str] = ()) -> RanksRun:
    """Compile, run on ranks of this machine, and compare every rank's arrays with those of the original.

    Parameters
    ----------
    subject : the transformed text is C with MPI.
    repeats : calls on every rank.
    defines : further options of the compiler for the transformed text: `-DPOLYSCHED_POISON` spoils what a rank must not
        read.

    Raises
    ------
    NoCompilerError : there is no MPI.
    CompileError : one of the versions does not compile.
    RunFailedError : a rank crashed, hung or wrote outside of an array; the original changes nothing that can be seen.
    """
    options = options or MeasureOptions(threads=1)
    compiler, mpi = find_compiler(options.cc), find_compiler(mpi_command("mpicc"))
    size = choose_size(subject.scops, given_sizes)
    flags = (*options.flags, NO_CONTRACTION)
    with workspace() as folder:
        slots = make_slots(subject.scops, subject.signature, size, given=given_sizes,
                           is_global=global_test(subject, folder, compiler))
        check_memory(slots, available_memory() // ranks)
        _build(subject, slots, folder, (compiler, mpi), flags, defines)
        request = {"timer": str(folder / "timer.so"), "places": described_places(slots), "seed": options.seed,
                   "recipes": recipes_for(subject.scops), "repeats": repeats}
        (reference,) = _run(folder, request | {"reference": True, "library": str(folder / "original.so")}, 0, options)
        if not reference["changed"]:
            raise RunFailedError("the original code changes nothing that can be seen", where=str(subject.path))
        found = _run(folder, request | {"reference": False, "library": str(folder / "distributed.so"),
                                        "recipe": reference["recipe"]}, ranks, options)
    return _told(found, ranks, size.spelled, reference, subject)


def _build(subject: Subject, slots: Sequence[Slot], folder: Path, compilers: tuple[Compiler, Compiler],
           flags: Sequence[str], defines: Sequence[str]) -> None:
    path, function = original_file(subject, folder), subject.signature.name
    transformed = folder / f"distributed_{path.name}"
    transformed.write_text(subject.transformed_text, encoding="utf-8", errors="surrogateescape", newline="")
    include = preprocessor_of(subject)
    compiler, mpi = compilers
    compile_shared(TIMER, name="timer", folder=folder, compiler=compiler, flags=("-O2",), openmp=False)
    compile_shared(wrapper(path, function, slots), name="original", folder=folder, compiler=compiler, flags=flags,
                   preprocessor=include, what=f"{subject.path}")
    compile_shared(wrapper(transformed, function, slots), name="distributed", folder=folder, compiler=mpi,
                   flags=(*flags, *defines), preprocessor=include, what=f"the code emitted for {subject.path}")


def _run(folder: Path, request: Mapping[str, Any], ranks: int, options: MeasureOptions) -> list[dict[str, Any]]:
    """What each rank found; without ranks, one process alone."""
    file = folder / "request.json"
    file.write_text(json.dumps(request))
    command = [sys.executable, "-m", CHILD_MODULE, str(file)]
    if ranks:
        command = [mpi_command("mpiexec"), "-n", str(ranks), *command]
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads or 1), "POLYSCHED_ALL_PRINT": "1",
                   "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        output, _ = process.communicate(timeout=options.limits.seconds)
    except subprocess.TimeoutExpired:
        raise RunFailedError(f"{ranks or 1} ranks did not end within {options.limits.seconds:g} seconds",
                             hint="--timeout sets the limit") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    kind = "rank" if ranks else "reference"
    found = [json.loads(path.read_text()) for path in sorted(folder.glob(f"{kind}_*.json"))]
    if process.returncode != 0 or len(found) != (ranks or 1):
        raise RunFailedError(f"{len(found)} of {ranks or 1} ranks ended well", witness=first_lines(output, str(folder)))
    return found


def _told(found: Sequence[Mapping[str, Any]], ranks: int, sizes: Mapping[str, int], reference: Mapping[str, Any],
          subject: Subject) -> RanksRun:
    outside = [name for rank in found for name in rank["overwritten"]]
    if outside:
        raise RunFailedError(f"a rank wrote outside of {outside[0]}", where=str(subject.path))
    wrong = tuple(f"{w['array']} has {w['elements']} wrong elements on a rank, the first at {w['first']}"
                  for rank in found for w in rank["wrong"])
    sent = [sum(rank["sent"][at] for rank in found) for at in range(4)]
    calls = range(len(found[0]["cpu_seconds"]))
    return RanksRun(
        ranks=ranks, sizes=dict(sizes), wrong=wrong,
        cpu_seconds=min(sum(rank["cpu_seconds"][at] for rank in found) for at in calls),
        wall_seconds=min(max(rank["wall_seconds"][at] for rank in found) for at in calls),
        sequential_cpu_seconds=reference["cpu_seconds"], step_bytes=sent[0], step_messages=sent[1],
        gathered_bytes=sent[2], gathered_messages=sent[3])
