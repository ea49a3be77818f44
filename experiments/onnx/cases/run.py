"""ONNX's own tests, ours and ONNX Runtime's counts side by side; see README.md of the folder above.

    polysched bench onnx/cases [--only 'node/*'] [--lines FOLDER]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cases import KINDS, read

from polysched.errors import RunFailedError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.graph.inventory import INVENTORY

BACKENDS = ("polysched", "onnxruntime")
INVENTORY_OPERATORS = frozenset(operator for entry in INVENTORY.values() for operator in entry.operators)
STATUSES = ("passed", "refused", "wrong", "fault", "crashed")
LOOK_SECONDS = 1.0
"""Between two looks at the file that a child writes."""


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--lines", metavar="FOLDER", default="", type=lambda path: str(Path(path).resolve()),
                       help="keep a line per test here, and go on from those that there are")


def cases(settings: Settings) -> list[Case]:
    return [Case(name=f"{kind}/{backend}", parameters={"kind": kind, "backend": backend})
            for kind in KINDS for backend in BACKENDS]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """All tests of a kind, in children that may crash: counts by operator, and the reasons of refusals."""
    kind, backend = case.parameters["kind"], case.parameters["backend"]
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(settings.options["lines"] or folder) / f"{kind}_{backend}.jsonl"
        lines.parent.mkdir(parents=True, exist_ok=True)
        _run_all(kind, backend, lines, report)
        return counted(read(lines))


def _run_all(kind: str, backend: str, lines: Path, report: Report) -> None:
    """Children one after the other: one that crashes is followed by one that takes the rest."""
    command = [sys.executable, str(Path(__file__).parent / "cases.py"), str(lines), "--kind", kind,
               "--backend", backend, "--child"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    while True:
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(command, env=environment, stderr=errors)
            while child.poll() is None:
                time.sleep(LOOK_SECONDS)
                report(f"{len(read(lines))} tests")
            errors.seek(0)
            if child.returncode > 0:
                raise RunFailedError("the tests stopped", where=kind, witness=errors.read().decode()[-300:])
        if child.returncode == 0:
            return


def counted(records: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Counts in all, by operator (`several` for graphs), by reason, and the names of what is no pass and no refusal."""
    by_operator: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records.values():
        by_operator[record.get("op") or "several"][record["status"]] += 1
    return {"counts": Counter(r["status"] for r in records.values()), "operators": by_operator,
            "inventory": Counter(_outcome(r) for r in records.values() if _operator(r, records) in INVENTORY_OPERATORS),
            "reasons": Counter(r["reason"] for r in records.values() if r["status"] == "refused"),
            "faults": {r["name"]: f"{r['status']}: {r.get('reason', '')}" for r in records.values()
                       if r["status"] not in ("passed", "refused")}}


def _operator(record: dict[str, Any], records: dict[str, dict[str, Any]]) -> str:
    """The operator of a test, or that whose function body it is."""
    whole = records.get(record["name"].split("_expanded")[0], {})
    return str(record.get("op") or whole.get("op") or "")


def _outcome(record: dict[str, Any]) -> str:
    """The status of a test; a refusal for an element type is told apart."""
    of_type = any(words in record.get("reason", "") for words in ("elements of type", "a conversion to"))
    return "refused for an element type" if record["status"] == "refused" and of_type else str(record["status"])


def table(records: Sequence[Record]) -> str:
    """Counts by kind; node tests by operator, with ONNX Runtime's passes; reasons; faults of ours."""
    done = {r.case: r.values for r in records if r.done}
    rows = [[name, sum(v["counts"].values()), *(v["counts"].get(s, 0) for s in STATUSES)] for name, v in done.items()]
    parts = [markdown_table(["tests", "all", *STATUSES], rows)]
    if ours := done.get("node/polysched"):
        theirs = done.get("node/onnxruntime", {"operators": {}})["operators"]
        rows = [[op, sum(c.values()), *(c.get(s, 0) for s in STATUSES[:3]), theirs.get(op, {}).get("passed", "")]
                for op, c in sorted(ours["operators"].items())]
        parts.append(markdown_table(["operator", "all", *STATUSES[:3], "ONNX Runtime passes"], rows))
        parts.append(markdown_table(["operators of TVM's inventory", "node tests"], sorted(ours["inventory"].items())))
        parts.append(markdown_table(["reason", "node tests"], [
            [reason, n] for reason, n in sorted(ours["reasons"].items(), key=lambda item: -item[1])]))
    parts += [f"{name}: {test}: {what}" for name, v in done.items() if name.endswith("/polysched")
              for test, what in v["faults"].items()]
    return "\n\n".join(parts) + "\n"


def verdict(records: Sequence[Record]) -> str:
    """Whether any result of ours is wrong."""
    faults = [f"{r.case}: {test}" for r in records if r.done and r.case.endswith("/polysched")
              for test in r.values["faults"]]
    return f"wrong or crashed: {', '.join(faults)}" if faults else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, times_calls=False,
                        add_arguments=add_arguments, local_options=("lines",))

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
