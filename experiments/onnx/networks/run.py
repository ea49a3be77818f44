"""Compile times of networks of known size, cold and warm; see README.md.

    polysched bench onnx/networks [--only resnet50]
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from networks import NETWORKS, save

from polysched.errors import RunFailedError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.target import build_cache

COLD_SECONDS, WARM_SECONDS, MOST_ARENA = 60.0, 1.0, 1.05
"""The aims: from an empty cache, from a full one, and the arena over the peak of live bytes."""
MOST_SECONDS = 900.0
"""For one compilation: fifteen times its aim, since the cores may be busy."""
MOST_ERROR = 1e-4
"""Of the largest element, against float64: a hundred times what a sum of 2048 numbers of float32 rounds."""


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"network": name}) for name in NETWORKS]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """A network compiled from an empty cache, and again in another process, which also checks and times it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        save(case.parameters["network"], path)
        environment = {**os.environ, "XDG_CACHE_HOME": folder, build_cache.ENVIRONMENT: str(Path(folder) / "kernels"),
                       "OMP_NUM_THREADS": str(settings.threads[0])}
        report("compiling from an empty cache")
        cold = _child(path, environment)
        report("compiling again")
        warm = _child(path, environment, "--verify")
        return {"cold": cold, "warm": warm}


def _child(path: Path, environment: dict[str, str], *options: str) -> dict[str, Any]:
    """What `compiling.py` prints.

    Raises
    ------
    RunFailedError : it failed, or took longer than it may; then it and all that it started are killed.
    """
    command = [sys.executable, str(Path(__file__).parent / "compiling.py"), str(path), "--batch", "1", *options]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as child:
        try:
            printed, told = child.communicate(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            raise RunFailedError("the compilation did not end", where=path.name,
                                 witness=f"killed after {MOST_SECONDS:g} s") from None
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
    if child.returncode != 0:
        raise RunFailedError("the compilation failed", where=path.name, witness=told[-300:])
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


def table(records: Sequence[Record]) -> str:
    """A row per network."""
    rows = []
    for record in records:
        cold, warm = record.values["cold"], record.values["warm"]
        rows.append([record.case, f"{cold['kernels']} ({cold['different']})", f"{cold['seconds']:.1f}",
                     f"{cold['processor_seconds']:.1f}", f"{warm['seconds']:.2f}",
                     f"{cold['arena_bytes'] / max(cold['peak_bytes'], 1):.3f}", f"{warm['error']:.1e}",
                     f"{warm['their_error']:.1e}", f"{warm['ratio']:.2f}"])
    head = ["network", "kernels (different)", "cold s", "processor s", "warm s", "arena / peak", "our error",
            "ONNX Runtime's", "times as fast as ONNX Runtime"]
    return markdown_table(head, rows) + "\n"


def verdict(records: Sequence[Record]) -> str:
    """What misses an aim."""
    return "; ".join(f"{record.case}: {what}" for record in records for what in _missed(record.values))


def _missed(values: dict[str, Any]) -> list[str]:
    cold, warm = values["cold"], values["warm"]
    tests = {f"cold in {cold['seconds']} s": cold["seconds"] > COLD_SECONDS,
             f"warm in {warm['seconds']} s": warm["seconds"] > WARM_SECONDS,
             f"an arena of {cold['arena_bytes']} bytes": cold["arena_bytes"] > MOST_ARENA * cold["peak_bytes"],
             f"wrong by {warm['error']}": not warm["error"] <= MOST_ERROR * warm["largest"]}
    return [what for what, is_missed in tests.items() if is_missed]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, times_calls=False)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
