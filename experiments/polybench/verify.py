"""Does `polysched c2c` keep the results of PolyBench/C, bit for bit?

For every kernel of a PolyBench/C 4.2.1 tree, every configuration (scheduler x tiling) and every data set: the file
as distributed goes through `polysched c2c`, original and output are compiled with the suite's own harness and
-DPOLYBENCH_DUMP_ARRAYS, and the dumps are compared as text for every number of threads.

    python experiments/polybench/verify.py --polybench-root DIR [--results FILE] [--kernels lu,adi] [--fresh]

Each case is one JSON line of the results file as soon as it is known; a second run goes on where the first
stopped and repeats what failed.  The table is printed at the end; the exit code is 0 when every case is the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path

import polysched

SCHEDULERS = ("pluto", "isl")
TILINGS = {"tiled": "32", "untiled": "off", "auto": "auto"}
DATASETS = ("MINI", "SMALL", "MEDIUM")
THREADS = (1, 2, 3)
COMPILER_FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fopenmp", "-w")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What does not change from case to case."""

    root: Path
    work: Path
    cc: str
    datasets: tuple[str, ...]
    threads: tuple[int, ...]
    c2c_limit_seconds: float
    compile_limit_seconds: float
    run_limit_seconds: float


@dataclass(frozen=True, kw_only=True)
class Case:
    """One kernel in one configuration."""

    kernel: str
    scheduler: str
    tiling: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kernel, self.scheduler, self.tiling


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of one case.

    Parameters
    ----------
    status : `same`, `different`, `refused` (c2c said no), `crashed` (c2c had a traceback), `slow` (a stage ran
        out of time), `uncompilable` or `failed` (the transformed program ended with an error).
    detail : the refusal, the compiler's message or the first difference.
    seconds : wall time per stage, summed over the data sets.
    stages : what c2c itself reported for the last data set.
    package : digest of the polysched sources that made it.
    """

    kernel: str
    scheduler: str
    tiling: str
    status: str
    detail: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    stages: object = None
    package: str = ""


class StageError(Exception):
    """A stage ended the case."""

    def __init__(self, status: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def kernels_of(root: Path) -> dict[str, Path]:
    """Every kernel file of the suite, by name, in the suite's own order."""
    listed = (root / "utilities" / "benchmark_list").read_text().split()
    return {Path(line).stem: root / line for line in listed}


def package_digest() -> str:
    """A digest of the program under test, so that results of two versions are not mixed unseen."""
    folder = Path(polysched.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


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


def compile_program(settings: Settings, source: Path, kernel: Path, dataset: str, program: Path) -> float:
    """Compile a kernel file with the suite's harness; the seconds it took."""
    utilities = settings.root / "utilities"
    status, message, seconds = limited(
        [settings.cc, *COMPILER_FLAGS, "-DPOLYBENCH_DUMP_ARRAYS", f"-D{dataset}_DATASET", "-I", utilities,
         "-I", kernel.parent, source, utilities / "polybench.c", "-o", program, "-lm"],
        stage="compiling", limit_seconds=settings.compile_limit_seconds)
    if status:
        raise StageError("uncompilable", f"{dataset}: {first_lines(message, 4)}")
    return seconds


def dump(settings: Settings, program: Path, threads: int, to: Path) -> float:
    """Run a program, its dump into a file; the seconds it took."""
    status, _, seconds = limited([program], stage=f"{program.name} with {threads} threads",
                                 limit_seconds=settings.run_limit_seconds, errors_to=to,
                                 environment={**os.environ, "OMP_NUM_THREADS": str(threads)})
    if status:
        raise StageError("failed", f"{program.name} with {threads} threads ended with status {status}")
    return seconds


def reference_dump(settings: Settings, name: str, kernel: Path, dataset: str) -> Path:
    """The dump of the original, made once."""
    path = settings.work / f"{name}.{dataset}.original.dump"
    if not path.exists():
        program = settings.work / f"{name}.{dataset}.original"
        compile_program(settings, kernel, kernel, dataset, program)
        part = path.with_suffix(".part")
        dump(settings, program, 1, part)
        if b"END   DUMP_ARRAYS" not in part.read_bytes():
            raise StageError("failed", f"the original {name} dumps nothing at {dataset}")
        part.rename(path)
    return path


def transform(settings: Settings, case: Case, kernel: Path, dataset: str, output: Path) -> tuple[float, object]:
    """`polysched c2c` on the file as distributed; its seconds and its own report."""
    report = output.with_suffix(".json")
    status, message, seconds = limited(
        [sys.executable, "-m", "polysched", "c2c", kernel, "-o", output, "-I", settings.root / "utilities",
         "-D", f"{dataset}_DATASET", "--scheduler", case.scheduler, "--tile", TILINGS[case.tiling], "--json", report],
        stage="c2c", limit_seconds=settings.c2c_limit_seconds)
    if status or "Traceback" in message:
        crashed = "Traceback" in message
        text = message.strip().splitlines()[-1] if crashed else first_lines(message, 4)
        raise StageError("crashed" if crashed else "refused", f"{dataset}: {text}")
    return seconds, json.loads(report.read_text()) if report.exists() else None


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


def verify(settings: Settings, case: Case, kernel: Path, package: str) -> Outcome:
    """One case from the distributed file to the compared dumps."""
    seconds = {"c2c": 0.0, "compile": 0.0, "run": 0.0}
    stages: object = None
    status, detail = "same", ""
    try:
        for dataset in settings.datasets:
            name = f"{case.kernel}.{dataset}.{case.scheduler}.{case.tiling}"
            output, program, got = (settings.work / (name + ending) for ending in (".c", "", ".dump"))
            spent, stages = transform(settings, case, kernel, dataset, output)
            seconds["c2c"] += spent
            seconds["compile"] += compile_program(settings, output, kernel, dataset, program)
            expected = reference_dump(settings, case.kernel, kernel, dataset)
            for threads in settings.threads:
                seconds["run"] += dump(settings, program, threads, got)
                if difference := first_difference(expected, got):
                    raise StageError("different", f"{dataset}, {threads} threads: {difference}")
            got.unlink()
    except StageError as error:
        status, detail = error.status, error.detail
    return Outcome(**asdict(case), status=status, detail=detail, stages=stages, package=package,
                   seconds={stage: round(value, 3) for stage, value in seconds.items()})


def earlier_outcomes(path: Path) -> dict[tuple[str, str, str], Outcome]:
    """What a results file already holds; the last line of a case counts."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {(r["kernel"], r["scheduler"], r["tiling"]): Outcome(**r) for r in rows if "kernel" in r}


def header(settings: Settings) -> dict[str, object]:
    """The line of a results file that says where it was made."""
    version = subprocess.run([settings.cc, "--version"], capture_output=True, text=True, check=True).stdout
    return {"format": 1, "machine": platform.machine(), "cores": os.cpu_count(), "compiler": version.splitlines()[0],
            "flags": COMPILER_FLAGS, "datasets": settings.datasets, "threads": settings.threads,
            "polysched": polysched.__version__}


def table(outcomes: Iterable[Outcome]) -> str:
    """Kernels by configurations: the status, and the seconds of c2c, compiling and running over all data sets."""
    by_key = {(o.kernel, o.scheduler, o.tiling): o for o in outcomes}
    columns = [(s, t) for s in SCHEDULERS for t in TILINGS if any(k[1:] == (s, t) for k in by_key)]
    lines = ["| kernel | " + " | ".join(f"{s} {t}" for s, t in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for kernel in dict.fromkeys(k[0] for k in by_key):
        cells = []
        for column in columns:
            outcome = by_key.get((kernel, *column))
            times = "/".join(f"{v:.1f}" for v in outcome.seconds.values()) if outcome else ""
            cells.append(f"{outcome.status} {times}" if outcome else "-")
        lines.append(f"| {kernel} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(outcomes: Sequence[Outcome]) -> str:
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome.status] = counts.get(outcome.status, 0) + 1
    versions = {o.package for o in outcomes}
    mixed = f" (of {len(versions)} versions of the program: use --fresh)" if len(versions) > 1 else ""
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) + mixed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polybench-root", type=Path, required=True, help="folder of PolyBench/C 4.2.1")
    parser.add_argument("--results", type=Path, default=Path("polybench-results.jsonl"))
    parser.add_argument("--work", type=Path, help="folder for what is made on the way (a temporary one)")
    parser.add_argument("--kernels", help="comma-separated names (all)")
    parser.add_argument("--schedulers", default=",".join(SCHEDULERS))
    parser.add_argument("--tilings", default=",".join(TILINGS))
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--threads", default=",".join(map(str, THREADS)))
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--c2c-limit-seconds", type=float, default=300)
    parser.add_argument("--compile-limit-seconds", type=float, default=300)
    parser.add_argument("--run-limit-seconds", type=float, default=300)
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="polybench-") as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        settings = Settings(
            root=options.polybench_root.resolve(), work=work.resolve(), cc=options.cc,
            datasets=tuple(options.datasets.split(",")), threads=tuple(map(int, options.threads.split(","))),
            c2c_limit_seconds=options.c2c_limit_seconds, compile_limit_seconds=options.compile_limit_seconds,
            run_limit_seconds=options.run_limit_seconds)
        return run_all(settings, options)


def run_all(settings: Settings, options: argparse.Namespace) -> int:
    """Run the cases that are not settled, write each as it ends, print the table."""
    kernels = kernels_of(settings.root)
    chosen = options.kernels.split(",") if options.kernels else list(kernels)
    cases = [Case(kernel=k, scheduler=s, tiling=t) for k in chosen for s in options.schedulers.split(",")
             for t in options.tilings.split(",")]
    if options.fresh or not options.results.exists():
        options.results.write_text(json.dumps(header(settings)) + "\n")
    outcomes = earlier_outcomes(options.results)
    package = package_digest()
    todo = [c for c in cases if c.key not in outcomes or outcomes[c.key].status != "same"]
    for kernel in dict.fromkeys(c.kernel for c in todo):
        for dataset in settings.datasets:
            reference_dump(settings, kernel, kernels[kernel], dataset)
    with ProcessPoolExecutor(options.jobs) as pool, options.results.open("a") as results:
        futures = [pool.submit(verify, settings, c, kernels[c.kernel], package) for c in todo]
        for done in as_completed(futures):
            outcome = done.result()
            outcomes[outcome.kernel, outcome.scheduler, outcome.tiling] = outcome
            results.write(json.dumps(asdict(outcome)) + "\n")
            results.flush()
            print(f"{outcome.kernel:16} {outcome.scheduler:6} {outcome.tiling:8} {outcome.status:12} {outcome.detail}",
                  flush=True)
    wanted = [outcomes[c.key] for c in cases]
    print(table(wanted))
    print(summary(wanted))
    return 0 if all(o.status == "same" for o in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
