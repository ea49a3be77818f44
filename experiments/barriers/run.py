"""Each barrier of the kernels of this project removed in turn, under Oclgrind.  See README.md.

    python experiments/barriers/run.py
"""

from __future__ import annotations

import argparse
import importlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polysched.errors import PolyschedError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.gpu import GpuOptions
from polysched.pipeline.files import transform_file
from polysched.pipeline.options import PipelineOptions

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]
grinding = importlib.import_module("tests.emit_gpu.grinding")

KERNELS = ROOT / "tests" / "kernels"
BARRIER = re.compile(r"barrier\(CLK_LOCAL_MEM_FENCE[^)]*\);")


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--size", type=int, metavar="N", help="of every parameter (default: 40, 9 without barriers)")


def cases(settings: Settings) -> list[Case]:
    return [Case(name=path.stem, parameters={}) for path in sorted(KERNELS.glob("*.c"))]


def without(text: str, number: int) -> str:
    """The text without one of its barriers."""
    first, end = [found.span() for found in BARRIER.finditer(text)][number]
    return text[:first] + text[end:]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """What Oclgrind says of a kernel, and of it without each of its barriers."""
    if not grinding.is_here():
        return {"not_run": "no Oclgrind: install the package oclgrind"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.c"
        shutil.copy(KERNELS / f"{case.name}.c", path)
        try:
            gpu = GpuOptions(devices=("sm_80", "sm_90"))   # Oclgrind stands for a GPU
            text = transform_file(path, PipelineOptions(device="opencl", gpu=gpu)).text
        except PolyschedError as error:
            return {"not_run": error.problem}
        count = len(BARRIER.findall(text))
        size = settings.options.get("size") or settings.config["size" if count else "least_size"]
        try:
            return judged(path, text, count, size, settings, report)
        except subprocess.TimeoutExpired:
            return {"not_run": f"Oclgrind took longer than {settings.config['limit_seconds']} s", "barriers": count}


def judged(path: Path, text: str, count: int, size: int, settings: Settings, report: Report) -> dict[str, Any]:
    """Complaints about the whole text, and per barrier whether one about a race follows from leaving it out."""
    def said(own: str) -> str:
        return grinding.said_of(path, own, size, seconds=settings.config["limit_seconds"])
    report("whole")
    whole = said(text)
    needed = []
    for number in range(count):
        report(f"without barrier {number + 1} of {count}")
        needed.append("data race" in said(without(text, number)))
    return {"size": size, "barriers": count, "complaints": whole.strip()[:500], "needed": needed}


def table(records: Sequence[Record]) -> str:
    """A row per kernel with barriers, and counts."""
    done = [r for r in records if r.done]
    rows = [[r.case, str(r.values["size"]), str(r.values["barriers"]), str(sum(r.values["needed"])),
             "none" if not r.values["complaints"] else "some"] for r in done if r.values.get("needed")]
    clean = sum(not r.values["complaints"] for r in done if "complaints" in r.values)
    heads = ["kernel", "size", "barriers", "a race without it", "complaints about the whole"]
    lines = [markdown_table(heads, rows), "", f"{clean} of {len(done)} kernels without any complaint"]
    return "\n".join([*lines, *(f"- {r.case}: {r.values['not_run']}" for r in done if "not_run" in r.values)])


def verdict(records: Sequence[Record]) -> str:
    """Why the run is a failure."""
    found = {r.case: r.values for r in records if r.done and "needed" in r.values}
    bad = [f"{name}: Oclgrind complains" for name, v in found.items() if v["complaints"]]
    bad += [f"{name}: barrier {k + 1} is not needed" for name, v in found.items() for k, own in enumerate(v["needed"])
            if not own]
    return "; ".join(bad)


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, add_arguments=add_arguments, verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
