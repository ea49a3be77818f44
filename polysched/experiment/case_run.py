"""Measure one case in an isolated process, on this machine; what becomes of it is a record, never an exception."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from polysched.errors import UsageError
from polysched.experiment.definition import Case, Settings
from polysched.experiment.folders import RUN, read_folder
from polysched.experiment.record import DONE, Record, make_record, now
from polysched.measure.processes.isolation import ChildEnd, End, Limits, run_isolated
from polysched.measure.processes.threads import thread_environment
from polysched.measure.processes.workspace import workspace
from polysched.records import dataclass

CHILD_MODULE = "polysched.experiment.case_child"
UNWANTED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME",
            "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PROC_BIND", "OMP_PLACES")
LARGEST_FILE_BYTES = 4 << 30


@dataclass(frozen=True, kw_only=True)
class CaseRequest:
    """Everything that a process on this or another machine needs to measure a case; all of it can be pickled.

    Parameters
    ----------
    experiment : its name.
    run_digest : of its `run.py`, so that no other machine measures something else.
    limits : of the process: seconds without progress, bytes of memory.
    """

    experiment: str
    case: Case
    settings: Settings
    run_digest: str
    limits: Limits


def digest_of(folder: Path) -> str:
    """A digest of an experiment's Python files."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def run_case(request: CaseRequest, on_phase: Callable[[str], None] | None = None) -> Record:
    """Measure one case; the record says how it ended.

    Raises
    ------
    UsageError : this machine has no such experiment, or another version of it, or the files have been changed.
    """
    folder = request.settings.folder
    if not (folder / RUN).is_file() or digest_of(folder) != request.run_digest:
        raise UsageError("the experiment's files are not those with which the run began", where=str(folder),
                         hint="start again with --resume; on a cluster, every worker needs the same checkout in the "
                              "same folder")
    started, begun = now(), time.monotonic()

    def heard(report: Mapping[str, Any]) -> None:
        if on_phase is not None and "phase" in report:
            on_phase(str(report["phase"]))

    threads = max(request.settings.threads)
    asked = {"folder": str(folder), "case": request.case.name, "parameters": dict(request.case.parameters),
             "threads": list(request.settings.threads), "options": dict(request.settings.options),
             "budget_seconds": request.settings.budget_seconds, "pin": request.settings.pin,
             "cold_cache": request.settings.cold_cache}
    with workspace() as private:
        ended = run_isolated(
            CHILD_MODULE, asked, folder=private, limits=request.limits, on_report=heard,
            environment=dict.fromkeys(UNWANTED) | thread_variables(threads, pin=request.settings.pin))
    status, problem, values = _outcome(ended)
    return make_record(request.experiment, request.case, request.settings, status=status, problem=problem,
                       values=values, seconds=time.monotonic() - begun, started=started)


def thread_variables(threads: int, *, pin: bool) -> dict[str, str | None]:
    """The variables that give every library this number of threads."""
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "HL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {**thread_environment(threads, pin=pin), **dict.fromkeys(names, str(threads))}


def _outcome(ended: ChildEnd) -> tuple[str, str, Mapping[str, Any]]:
    """Status, problem and values from the end of the case's process."""
    refusal = next((r["refused"] for r in ended.reports if "refused" in r), None)
    if refusal is not None:
        return "refused", str(refusal), {}
    values = next((r["values"] for r in ended.reports if "values" in r), None)
    if ended.end is End.FINISHED and values is not None:
        return DONE, "", values
    last_words = ended.error_output.splitlines()[-1:] if ended.error_output else []
    return ended.end.value, " - ".join([f"the case's process {ended.describe()}", *last_words]), {}


def settings_from(request: Mapping[str, Any]) -> tuple[Case, Settings]:
    """Case and settings as the child got them."""
    folder = Path(request["folder"])
    settings = Settings(folder=folder, config=read_folder(folder).config, threads=tuple(request["threads"]),
                        budget_seconds=request["budget_seconds"], pin=request["pin"],
                        cold_cache=request["cold_cache"], options=request["options"])
    return Case(name=request["case"], parameters=request["parameters"]), settings
