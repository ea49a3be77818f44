"""Are programs made after public bug reports at least as fast as they were written?  See README.md.

    python experiments/found/run.py [--only PROGRAM ...] [--numba PYTHON]

One driver in C calls a program as written, transformed, transformed with `--safe`, and by other compilers, in turn.
The results are compared first, bit for bit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import conditional_sum
import expressions
import numpy as np
from programs import PROGRAMS, Program

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.kernel import kernel
from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.target import find_compiler

HERE = Path(__file__).parent
PYTHON = "conditional_sum"
NO_CONTRACTION = "-ffp-contract=off"
OURS = ("default", "safe")
PEERS = ("clang-19", "clang")
WANTED = 0.95
"""Of the speed of the original."""

DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
{prototypes}
{data}
static double now(void) {{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}}
static void prepare(void) {{ {prepare} }}
{callers}
static void (*const call[])(void) = {{ {names} }};
int main(int count, char **given) {{
  const int variants = sizeof call / sizeof *call, rounds = atoi(given[1]);
  const double least = atof(given[2]);
  long calls = 1;
  (void)count;
  {keeps}
  prepare();
  call[0]();
  {copies}
  for (int v = 1; v < variants; v++) {{
    prepare();
    call[v]();
    if ({differs}) {{ printf("{{\\"differs\\": %d}}", v); return 0; }}
  }}
  for (double taken = 0; taken < least; calls *= taken < least ? 2 : 1) {{
    const double start = now();
    for (long i = 0; i < calls; i++) call[0]();
    taken = now() - start;
  }}
  printf("{{\\"seconds\\": [");
  for (int round = 0; round < rounds; round++)
    for (int v = 0; v < variants; v++) {{
      prepare();
      call[v]();
      const double start = now();
      for (long i = 0; i < calls; i++) call[v]();
      const double taken = (now() - start) / calls;
      printf("%s%s%.4g%s", v || !round ? "" : ", ", v ? ", " : "[", taken, v + 1 < variants ? "" : "]");
    }}
  puts("]}}");
}}
"""


def arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--numba", metavar="PYTHON", default="", help="a Python that has Numba, as the peer of kernels")
    group.add_argument("--build", metavar="FOLDER", default="",
                       help="build the programs there and time nothing; take them from there when they are built")


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name) for name in (*PROGRAMS, PYTHON, *expressions.LAYERS)]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Seconds per call in every round, by variant."""
    if case.name == PYTHON:
        return measured_kernel(settings, report)
    if case.name in expressions.LAYERS:
        report("compiling and timing")
        return {"seconds": expressions.in_a_process(case.name, settings.config["rounds"]), "flags": "one thread"}
    program = PROGRAMS[case.name]
    with tempfile.TemporaryDirectory(prefix="polysched-found-") as name:
        folder = Path(settings.options.get("build") or name) / case.name
        record = folder / "variants.json"
        if not record.exists():
            folder.mkdir(parents=True)
            report("transforming")
            texts = variants(program)
            report("compiling")
            record.write_text(json.dumps(compiled(folder, program, texts)))
            if settings.options.get("build"):
                return {"seconds": {}, "flags": " ".join(program.flags)}
        report("timing")
        seconds = timed(folder / "program", json.loads(record.read_text()), settings)
        return {"seconds": seconds, "flags": " ".join(program.flags)}


def variants(program: Program) -> dict[str, str]:
    """The texts of a program, as written and as we write it."""
    file = HERE / f"{program.file}.c"
    made = {name: transform_file(file, PipelineOptions(
        safe=name == "safe", autodetect=program.autodetect)).text
            for name in OURS}
    return {"original": file.read_text(), **made}


def compiled(folder: Path, program: Program, texts: dict[str, str]) -> list[str]:
    """The driver with all variants, each in a file of its own; the names of the variants."""
    compiler = find_compiler(None)
    names = [*texts]
    flags = [*program.flags, NO_CONTRACTION, *compiler.openmp_compile, "-w"]
    for name, text in texts.items():
        (folder / f"{name}.c").write_text(text)
        checked(compiler.run([*flags, *renamed(texts["original"], name), "-c", f"{name}.c", "-o", f"{name}.o"],
                             folder=folder))
    peer = next(filter(None, map(shutil.which, PEERS)), None)
    if peer is not None and not program.threads:
        names.append("clang")
        checked(subprocess.run([peer, "-O3", *program.flags[1:], NO_CONTRACTION, "-w",
                                *renamed(texts["original"], "clang"), "-c", "original.c", "-o", "clang.o"],
                               cwd=folder, capture_output=True, text=True, check=False))
    (folder / "driver.c").write_text(driver(program, names))
    checked(compiler.run(["-O1", "-w", "-c", "driver.c", "-o", "driver.o"], folder=folder))
    checked(compiler.run([*(f"{name}.o" for name in (*names, "driver")), "-o", "program", *compiler.openmp_link, "-lm"],
                         folder=folder))
    return names


def renamed(text: str, variant: str) -> list[str]:
    """Flags that put the variant's name in front of every function of a file."""
    return [f"-D{name}={variant}_{name}" for name in re.findall(r"^\w[\w *]*?(\w+)\(", text, re.M)]


def driver(program: Program, names: Sequence[str]) -> str:
    callers = (f"static void call_{name}(void) {{ {program.call.replace('FUNCTION', f'{name}_{program.file}')} }}"
               for name in names)
    return DRIVER.format(
        prototypes="\n".join(f"void {name}_{program.file}();" for name in names), data=program.data,
        prepare=program.prepare, callers="\n".join(callers), names=", ".join(f"call_{name}" for name in names),
        keeps=" ".join(f"static char kept_{r}[sizeof {r}];" for r in program.results),
        copies=" ".join(f"memcpy(kept_{r}, {r}, sizeof {r});" for r in program.results),
        differs=" || ".join(f"memcmp(kept_{r}, {r}, sizeof {r})" for r in program.results))


def timed(program: Path, names: Sequence[str], settings: Settings) -> dict[str, list[float]]:
    """Seconds per call of every variant, in every round."""
    (threads,) = settings.threads
    done = subprocess.run([str(program), str(settings.config["rounds"]), str(settings.config["least_seconds"])],
                          capture_output=True, text=True, check=True,
                          env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    found = json.loads(done.stdout)
    if "differs" in found:
        raise RuntimeError(f"{names[found['differs']]} computes something else than the original")
    return {name: [taken[k] for taken in found["seconds"]] for k, name in enumerate(names)}


def checked(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise RuntimeError(done.stderr)


def measured_kernel(settings: Settings, report: Report) -> dict[str, Any]:
    """The kernel with branches beside the one with a conditional expression, and beside Numba."""
    size, rounds = settings.config["python_size"], settings.config["rounds"]
    given = conditional_sum.arguments(size)
    report("compiling")
    kernels: dict[str, Callable[..., object]] = {
        "original": kernel(conditional_sum.ternary), "default": kernel(conditional_sum.branches),
        "safe": kernel(safe=True)(conditional_sum.branches)}
    results = {}
    for name, function in kernels.items():
        function(*given)
        results[name] = float(given[-1][0])
    if len(set(results.values())) != 1:
        raise RuntimeError(f"the kernels differ: {results}")
    report("timing")
    seconds: dict[str, list[float]] = {name: [] for name in kernels}
    for _ in range(rounds):
        for name, function in kernels.items():
            start = time.perf_counter()
            function(*given)
            seconds[name].append(time.perf_counter() - start)
    if settings.options.get("numba"):
        script = str(HERE / "conditional_sum_numba.py")
        done = subprocess.run([settings.options["numba"], script, str(size), str(rounds)], capture_output=True,
                              text=True, check=True)
        found = json.loads(done.stdout)
        assert np.isclose(found["result"], results["original"])
        seconds["numba"] = found["seconds"]
    return {"seconds": seconds, "flags": "kernel"}


def ratio(seconds: dict[str, list[float]], ours: str, other: str) -> float:
    """How many times as fast as another variant: the median over the rounds."""
    return median(o / v for o, v in zip(seconds[other], seconds[ours], strict=True))


def timed_of(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.values["seconds"]]


def table(records: Sequence[Record]) -> str:
    rows = []
    for record in timed_of(records):
        seconds = record.values["seconds"]
        peers = {name: median(taken) for name, taken in seconds.items() if name not in OURS}
        best = min(peers, key=lambda name: peers[name])
        rows.append([record.case, record.values["flags"], f"{median(seconds['original']) * 1e6:.4g} us",
                     *(f"{ratio(seconds, name, 'original'):.2f}" for name in OURS),
                     f"{ratio(seconds, 'default', best):.2f} ({best})"])
    return markdown_table(["program", "built with", "original", "ours / original", "--safe / original",
                           "ours / best peer"], rows)


def verdict(records: Sequence[Record]) -> str:
    """The programs that are slower than they were written."""
    slow = [f"{record.case} ({name})" for record in timed_of(records) for name in OURS
            if ratio(record.values["seconds"], name, "original") < WANTED]
    return f"slower than {WANTED} of the original: {', '.join(slow)}" if slow else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, add_arguments=arguments, verdict=verdict,
                        local_options=("numba", "build"))

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
