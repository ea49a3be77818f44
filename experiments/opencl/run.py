"""Programs on a device, OpenCL or CUDA, compared with the original bit for bit.  See README.md.

    python experiments/opencl/run.py --polybench-root DIR
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polysched.emit_gpu.interface import compiler_flags as compiler_flags_of
from polysched.errors import UnsupportedScopError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.measure.measurement import Measurement
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.pipeline.files import compiler_flags, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_file

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
SAME = "same"
MODIFIER = re.compile(r'(DATA_PRINTF_MODIFIER\s+)"%0\.2l?f "')
"""How PolyBench prints a floating type; `%a` shows every bit."""


class StageError(Exception):
    """A stage ended the case: `different`, `refused`, `crashed`, `slow`, `uncompilable` or `failed`."""

    def __init__(self, status: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--polybench-root", metavar="DIR", default=os.environ.get("POLYBENCH_ROOT"),
                       type=lambda text: str(Path(text).resolve()),
                       help="folder of PolyBench/C 4.2.1 (default: $POLYBENCH_ROOT, else only this project's kernels)")
    group.add_argument("--devices", nargs="+", default=["opencl", "cuda"], choices=["opencl", "cuda"],
                       help="(default: both; CUDA runs on the CPU unless CUDA_HOME or POLYSCHED_CUDA_ON_CPU=0 is set)")
    group.add_argument("--cc", default="gcc", metavar="COMMAND", help="compiles both versions (default: gcc)")


def cases(settings: Settings) -> list[Case]:
    """Every kernel of this project, and of PolyBench where its folder is named, on every device that is asked for."""
    root = settings.options["polybench_root"]
    listed = (Path(root) / "utilities" / "benchmark_list").read_text().split() if root else []
    found = []
    for device in settings.options["devices"]:
        front = "" if device == "opencl" else f"{device}_"
        found += [Case(name=f"{front}own_{path.stem}", parameters={
            "suite": "own", "kernel": path.stem, "device": device}) for path in sorted(KERNELS.glob("*.c"))]
        found += [Case(name=f"{front}polybench_{Path(line).stem}", parameters={
            "suite": "PolyBench", "kernel": Path(line).stem, "file": line, "device": device}) for line in listed]
    return found


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Both sizes of one kernel."""
    os.environ["POLYSCHED_OPENCL_BUILD"] = settings.config["device_options"]
    os.environ["POLYSCHED_CUDA_BUILD"] = settings.config["cuda_options"]
    os.environ.setdefault("POLYSCHED_CUDA_ON_CPU", "0" if "CUDA_HOME" in os.environ else "1")
    own = case.parameters["suite"] == "own"
    sizes = settings.config["least_sizes" if own else "datasets"]
    found: list[dict[str, Any]] = []
    for size in sizes:
        report(str(size))
        with tempfile.TemporaryDirectory() as folder:
            try:
                launches = own_kernel(case, size) if own else polybench(case, settings, size, Path(folder))
                found.append({"status": SAME, "launches": launches})
            except StageError as error:
                found.append({"status": error.status, "detail": error.detail})
    return {"sizes": dict(zip(map(str, sizes), found, strict=True))}


def own_kernel(case: Case, least: int) -> int:
    """Compare all arrays behind a function of this project; how many kernels it has."""
    path = KERNELS / f"{case.parameters['kernel']}.c"
    sizes = {p.spelling: least + k for k, p in enumerate(from_c_file(str(path)).parameters)}
    try:
        made = transform_file(path, PipelineOptions(device=case.parameters["device"]))
    except UnsupportedScopError as error:
        raise StageError("refused", str(error)) from None
    subject = Subject(scops=tuple(r.scop for r in made.regions), transformed_text=made.text)
    flags = ("-O2", "-ffp-contract=off", *compiler_flags(made.regions))
    judge(compare_and_time(subject, sizes, options=MeasureOptions(flags=flags, pairs=0, warmups=0)))
    return launches(made.text)


def launches(text: str) -> int:
    """How many kernels a file has."""
    return text.count("__kernel void") + text.count("__global__ void")


def judge(measurement: Measurement) -> None:
    """No array may differ in any bit."""
    if not measurement.verified or measurement.verification is None:
        raise StageError("failed", str(measurement.failure))
    for array in measurement.verification.arrays:
        if array.largest_absolute:
            raise StageError("different", f"{array.name}: by {array.largest_absolute:.3g}")


def polybench(case: Case, settings: Settings, dataset: str, folder: Path) -> int:
    """Compare the dumps of the distributed file and of c2c's output, printed as `%a`; how many kernels it has."""
    root = Path(settings.options["polybench_root"])
    file = root / case.parameters["file"]
    exact_headers(file, folder)
    made = folder / "device.c"
    limited([sys.executable, "-m", "polysched", "c2c", str(file), "-o", str(made), "-I", str(root / "utilities"),
             "-D", f"{dataset}_DATASET", "--target", case.parameters["device"]], "c2c", "refused", settings)
    left = dump(root, folder / file.name, folder / "original", dataset, settings)
    right = dump(root, made, folder / "device", dataset, settings,
                 compiler_flags_of(case.parameters["device"]))
    if left != right:
        raise StageError("different", first_difference(left, right))
    return launches(made.read_text())


def exact_headers(file: Path, folder: Path) -> None:
    """Copies of a kernel and its headers whose dumps show every bit."""
    for part in (file, *file.parent.glob("*.h")):
        (folder / part.name).write_text(MODIFIER.sub(r'\1"%a "', part.read_text()))


def dump(root: Path, source: Path, program: Path, dataset: str, settings: Settings,
         libraries: Sequence[str] = ()) -> str:
    """What a program prints about its arrays."""
    utilities = root / "utilities"
    limited([settings.options["cc"], *settings.config["flags"], "-DPOLYBENCH_DUMP_ARRAYS", f"-D{dataset}_DATASET",
             "-I", str(utilities), str(source), str(utilities / "polybench.c"), "-o", str(program), *libraries, "-lm"],
            "compile", "uncompilable", settings)
    found = limited([str(program)], "run", "failed", settings)
    if "END   DUMP_ARRAYS" not in found:
        raise StageError("failed", f"{program.name} dumps nothing at {dataset}")
    return found


def limited(command: Sequence[str], stage: str, status: str, settings: Settings) -> str:
    """Run a command; its error stream."""
    limit = settings.config[f"{stage}_limit_seconds"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit,
                              check=False)
    except subprocess.TimeoutExpired:
        raise StageError("slow", f"{stage} ran longer than {limit} s") from None
    if "Traceback" in done.stderr:
        raise StageError("crashed", done.stderr.strip().splitlines()[-1])
    if done.returncode:
        raise StageError(status, " | ".join(done.stderr.strip().splitlines()[:4]))
    return done.stderr


def first_difference(left: str, right: str) -> str:
    """The first differing line of two dumps."""
    pairs = zip(left.splitlines(), right.splitlines(), strict=False)
    for number, (a, b) in enumerate(pairs, start=1):
        if a != b:
            x, y = next(((x, y) for x, y in zip(a.split(), b.split(), strict=False) if x != y), (a[:60], b[:60]))
            return f"dump line {number}: {x} became {y}"
    return "one dump is longer"


def table(records: Sequence[Record]) -> str:
    """Kernels by sizes."""
    rows = [[r.parameters.get("device", "opencl"), r.parameters["suite"], r.parameters["kernel"],
             str(next((s["launches"] for s in r.values["sizes"].values() if "launches" in s), "")),
             *(s["status"] for s in r.values["sizes"].values())] for r in records if r.done]
    bad = [f"- {r.case} at {size}: {s['status']}: {s['detail']}" for r in records if r.done
           for size, s in r.values["sizes"].items() if s["status"] != SAME]
    heads = ["device", "suite", "kernel", "device kernels", "small", "larger"]
    return "\n".join([markdown_table(heads, rows), "", *bad,
                      f"{len(wholly_same(records))} of {len(records)} kernels the same at both sizes"])


def wholly_same(records: Sequence[Record]) -> list[str]:
    return [r.case for r in records if r.done and all(s["status"] == SAME for s in r.values["sizes"].values())]


def verdict(records: Sequence[Record]) -> str:
    bad = sorted({r.case for r in records if r.done} - set(wholly_same(records)))
    return f"{len(bad)} kernels are not the same: {', '.join(bad)}" if bad else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, add_arguments=add_arguments, verdict=verdict,
                        local_options=("polybench_root",))

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
