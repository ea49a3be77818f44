"""Does `polysched c2c` keep the results of PolyBench/C, bit for bit?  See README.md.

    python experiments/polybench_exact/run.py --polybench-root DIR [--only 'lu-*']

For every kernel of a PolyBench/C 4.2.1 tree, every configuration (scheduler x tiling) and every data set: the file
as distributed goes through `polysched c2c`, original and output are compiled with the suite's own harness and
-DPOLYBENCH_DUMP_ARRAYS, and the dumps are compared as text for every number of threads.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.errors import UsageError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import counted_bars
from polysched.experiment.tables import markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAME = "same"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a case finds and puts things.

    Parameters
    ----------
    root : the suite.
    work : a folder for what is made on the way; the originals' dumps are shared by all cases of a kernel.
    """

    root: Path
    work: Path
    cc: str
    config: dict[str, Any]


class StageError(Exception):
    """A stage ended the case: `different`, `refused`, `crashed`, `slow`, `uncompilable` or `failed`."""

    def __init__(self, status: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--polybench-root", metavar="DIR", default=os.environ.get("POLYBENCH_ROOT"),
                       type=lambda text: str(Path(text).resolve()),
                       help="folder of PolyBench/C 4.2.1 (default: $POLYBENCH_ROOT)")
    group.add_argument("--datasets", nargs="+", metavar="SIZE", help="MINI, SMALL, ... (default: MINI SMALL MEDIUM)")
    group.add_argument("--cc", default="gcc", metavar="COMMAND", help="compiles both versions (default: gcc)")
    group.add_argument("--work", metavar="DIR", type=lambda text: str(Path(text).resolve()),
                       help="keep the emitted C and the dumps there")


def kernels_of(root: Path) -> dict[str, Path]:
    """Every kernel file of the suite, by name, in the suite's own order."""
    listed = (root / "utilities" / "benchmark_list").read_text().split()
    return {Path(line).stem: root / line for line in listed}


def cases(settings: Settings) -> list[Case]:
    root = settings.options["polybench_root"]
    if root is None:
        raise UsageError("this experiment needs the original suite", hint="name its folder with --polybench-root")
    return [Case(name=f"{kernel}-{scheduler}-{tiling}",
                 parameters={"kernel": kernel, "scheduler": scheduler, "tiling": tiling})
            for kernel in kernels_of(Path(root)) for scheduler in settings.config["schedulers"]
            for tiling in settings.config["tilings"]]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """One case from the distributed file to the compared dumps, in the order of the data sets."""
    kept, given = settings.options["work"], case.parameters
    work = Path(kept) if kept else Path(tempfile.gettempdir()) / f"polysched-polybench-exact-{os.getuid()}"
    work.mkdir(parents=True, exist_ok=True)
    place = Place(root=Path(settings.options["polybench_root"]), work=work, cc=settings.options["cc"],
                  config=dict(settings.config))
    folder = work / case.name
    folder.mkdir(exist_ok=True)
    seconds, status, detail = {"c2c": 0.0, "compile": 0.0, "run": 0.0}, SAME, ""
    try:
        for dataset in settings.options["datasets"] or settings.config["datasets"]:
            report(f"{dataset}")
            check(place, given, dataset, folder, settings.threads, seconds)
    except StageError as error:
        status, detail = error.status, error.detail
    if not kept:
        shutil.rmtree(folder)
    return {"status": status, "detail": detail, "seconds": {k: round(v, 3) for k, v in seconds.items()}}


def check(place: Place, given: Any, dataset: str, folder: Path, threads: Sequence[int],
          seconds: dict[str, float]) -> None:
    """One data set: transform, compile, run with every number of threads, compare."""
    kernel = kernels_of(place.root)[given["kernel"]]
    output, program, got = folder / f"{dataset}.c", folder / dataset, folder / f"{dataset}.dump"
    seconds["c2c"] += transform(place, given, kernel, dataset, output)
    seconds["compile"] += compile_program(place, output, kernel, dataset, program)
    expected = reference_dump(place, given["kernel"], kernel, dataset)
    for count in threads:
        seconds["run"] += dump(place, program, count, got)
        if difference := first_difference(expected, got):
            raise StageError("different", f"{dataset}, {count} threads: {difference}")
    got.unlink()


def limited(command: Sequence[str | Path], *, stage: str, limit_seconds: float,
            environment: dict[str, str] | None = None, errors_to: Path | None = None) -> tuple[int, str, float]:
    """Run a command; its exit status, its error stream (unless that goes to a file) and its seconds."""
    start = time.perf_counter()
    target = errors_to.open("wb") if errors_to else subprocess.PIPE
    try:
        done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=target, timeout=limit_seconds, env=environment, check=False)
    except subprocess.TimeoutExpired:
        raise StageError("slow", f"{stage} ran longer than {limit_seconds:.0f} s") from None
    finally:
        if errors_to:
            target.close()
    message = "" if errors_to else done.stderr.decode(errors="replace")
    return done.returncode, message, time.perf_counter() - start


def compile_program(place: Place, source: Path, kernel: Path, dataset: str, program: Path) -> float:
    """Compile a kernel file with the suite's harness; the seconds it took."""
    utilities = place.root / "utilities"
    status, message, seconds = limited(
        [place.cc, *place.config["flags"], "-DPOLYBENCH_DUMP_ARRAYS", f"-D{dataset}_DATASET", "-I", utilities,
         "-I", kernel.parent, source, utilities / "polybench.c", "-o", program, "-lm"],
        stage="compiling", limit_seconds=place.config["compile_limit_seconds"])
    if status:
        raise StageError("uncompilable", f"{dataset}: {first_lines(message, 4)}")
    return seconds


def dump(place: Place, program: Path, threads: int, to: Path) -> float:
    """Run a program, its dump into a file; the seconds it took."""
    status, _, seconds = limited([program], stage=f"{program.name} with {threads} threads",
                                 limit_seconds=place.config["run_limit_seconds"], errors_to=to,
                                 environment={**os.environ, "OMP_NUM_THREADS": str(threads)})
    if status:
        raise StageError("failed", f"{program.name} with {threads} threads ended with status {status}")
    return seconds


def reference_dump(place: Place, name: str, kernel: Path, dataset: str) -> Path:
    """The dump of the original, made once; several processes may make it at the same time."""
    path = place.work / f"{name}.{dataset}.{place.cc.replace('/', '_')}.original.dump"
    if not path.exists():
        program, part = (path.with_suffix(f".{os.getpid()}{ending}") for ending in ("", ".part"))
        compile_program(place, kernel, kernel, dataset, program)
        dump(place, program, 1, part)
        program.unlink()
        if b"END   DUMP_ARRAYS" not in part.read_bytes():
            raise StageError("failed", f"the original {name} dumps nothing at {dataset}")
        part.rename(path)
    return path


def transform(place: Place, given: Any, kernel: Path, dataset: str, output: Path) -> float:
    """`polysched c2c` on the file as distributed; its seconds."""
    status, message, seconds = limited(
        [sys.executable, "-m", "polysched", "c2c", kernel, "-o", output, "-I", place.root / "utilities",
         "-D", f"{dataset}_DATASET", "--scheduler", given["scheduler"],
         "--tile", place.config["tilings"][given["tiling"]]],
        stage="c2c", limit_seconds=place.config["c2c_limit_seconds"])
    if status or "Traceback" in message:
        crashed = "Traceback" in message
        text = message.strip().splitlines()[-1] if crashed else first_lines(message, 4)
        raise StageError("crashed" if crashed else "refused", f"{dataset}: {text}")
    return seconds


def first_difference(expected: Path, got: Path) -> str:
    """The first differing line of two dumps; empty when they are equal."""
    left, right = expected.read_bytes(), got.read_bytes()
    if left == right:
        return ""
    lines = zip(left.split(b"\n"), right.split(b"\n"), strict=False)
    for number, (a, b) in enumerate(lines, start=1):
        if a != b:
            words = zip(a.split(), b.split(), strict=False)
            pair = next(((x, y) for x, y in words if x != y), (a[:60], b[:60]))
            return f"dump line {number}: {pair[0].decode()} became {pair[1].decode()}"
    return f"the dump has {len(right)} bytes instead of {len(left)}"


def first_lines(message: str, count: int) -> str:
    return " | ".join(line.strip() for line in message.strip().splitlines()[:count])


def table(records: Sequence[Record]) -> str:
    """Kernels by configurations: the status, and the seconds of c2c, compiling and running over all data sets."""
    cells = {(r.parameters["kernel"], f"{r.parameters['scheduler']} {r.parameters['tiling']}"):
             f"{r.values['status']} {'/'.join(f'{v:.1f}' for v in r.values['seconds'].values())}" for r in records}
    columns = list(dict.fromkeys(column for _, column in cells))
    rows = [[kernel, *(cells.get((kernel, column)) for column in columns)]
            for kernel in dict.fromkeys(kernel for kernel, _ in cells)]
    bad = [f"- {r.case}: {r.values['status']}: {r.values['detail']}" for r in records if r.values["status"] != SAME]
    same = sum(r.values["status"] == SAME for r in records)
    return "\n".join([markdown_table(["kernel", *columns], rows), "", *bad, f"{same} of {len(records)} cases the same"])


def plot(records: Sequence[Record]) -> Figure:
    """Per configuration, of how many kernels every dump is the same."""
    rows: dict[str, Counter[str]] = {}
    for record in records:
        configuration = f"{record.parameters['scheduler']}, tiles {record.parameters['tiling']}"
        rows.setdefault(configuration, Counter())[record.values["status"]] += 1
    return counted_bars(rows, xlabel="kernels of PolyBench/C")


def verdict(records: Sequence[Record]) -> str:
    bad = [r.case for r in records if r.done and r.values["status"] != SAME]
    return f"{len(bad)} cases are not the same: {', '.join(bad)}" if bad else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        verdict=verdict, local_options=("polybench_root", "work"))

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
