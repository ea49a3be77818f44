"""Does `--safe` keep the original code where the transformed code does not pay, and only there?  See README.md.

    python experiments/safe/run.py [--only KERNEL ...]

Every kernel of the tests, and the programs of `experiments/found` whose arrays follow from their sizes, are called with
all sizes equal, from 4 to 128: as written, transformed, and transformed
with `--safe`.  One driver in C calls all three in turn, each so often that a round takes a millisecond.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Any

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import new_figure, plain_ticks
from polysched.experiment.tables import markdown_table
from polysched.measure.processes.building import DEFAULT_FLAGS
from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop.signature import FunctionParameter, ParameterKind
from polysched.target import find_compiler

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
FOUND = Path(__file__).parents[1] / "found"
ANY_SIZE = ("last_and_any", "plain_product", "plain_stencil", "plain_update")
"""The programs there whose arrays follow from their sizes."""
VARIANTS = ("original", "transformed", "safe")
SLOWER = 0.9
"""Of the speed of the original: what is below is called slower; the same code elsewhere in a file differs by this."""
REST_NS = 10_000_000
"""Between two timed variants: threads of the team before spin for some milliseconds and slow down what runs beside."""
SAME_ADDRESSES = ("-falign-functions=64",)
"""So that equal functions in different files begin alike."""

DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
{prototypes}
static double now(void) {{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}}
static void rest(void) {{
  const struct timespec t = {{0, {rest_ns}}};
  nanosleep(&t, 0);
}}
int main(int count_, char **sizes_) {{
  printf("{{");
  for (int s_ = 3; s_ < count_; s_++) {{
    const int size_ = atoi(sizes_[s_]), rounds_ = atoi(sizes_[1]);
    const double least_ = atof(sizes_[2]);
    {declarations}
    long calls_ = 1;
    for (double taken_ = 0; taken_ < least_ && calls_ < (1L << 40); calls_ *= taken_ < least_ ? 2 : 1) {{
      const double start_ = now();
      for (long i_ = 0; i_ < calls_; i_++) original({arguments});
      taken_ = now() - start_;
    }}
    printf("%s\\"%d\\": [", s_ > 3 ? ", " : "", size_);
    for (int round_ = 0; round_ < rounds_; round_++) {{
      double taken_[3];
      for (int turn_ = 0; turn_ < 3; turn_++) {{
        const int which_ = (turn_ + round_) % 3;
        rest();
        const double start_ = now();
        if (which_ == 0) for (long i_ = 0; i_ < calls_; i_++) original({arguments});
        if (which_ == 1) for (long i_ = 0; i_ < calls_; i_++) transformed({arguments});
        if (which_ == 2) for (long i_ = 0; i_ < calls_; i_++) safe({arguments});
        taken_[which_] = now() - start_;
      }}
      printf("%s[%.4g, %.4g, %.4g]", round_ ? ", " : "", taken_[0] / calls_, taken_[1] / calls_, taken_[2] / calls_);
    }}
    printf("]");
    {frees}
  }}
  puts("}}");
}}
"""


def cases(settings: Settings) -> list[Case]:
    return [*(Case(name=file.stem) for file in sorted(KERNELS.glob("*.c"))), *(Case(name=name) for name in ANY_SIZE)]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Seconds per call in every round, by size and variant, and the condition under which transformed code runs."""
    file = (FOUND if case.name in ANY_SIZE else KERNELS) / f"{case.name}.c"
    report("transforming")
    plain, safe = (transform_file(file, PipelineOptions(safe=safe)) for safe in (False, True))
    region = plain.regions[0].scop.source
    assert region is not None
    assert region.signature is not None
    texts = {"original": file.read_text(), "transformed": plain.text, "safe": safe.text}
    (threads,) = settings.threads
    with tempfile.TemporaryDirectory(prefix="polysched-safe-") as name:
        report("compiling")
        program = compiled(Path(name), region.signature.name, region.signature.parameters, texts)
        report("timing")
        sizes = [str(size) for size in settings.config["sizes"]]
        done = subprocess.run([program, str(settings.config["rounds"]), str(settings.config["least_seconds"]), *sizes],
                              capture_output=True, text=True, check=True,
                              env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    rounds = json.loads(done.stdout)
    return {"pays": [str(r.pays) if r.pays is not None else "" for r in safe.regions], "threads": threads,
            "seconds": {size: {variant: [taken[k] for taken in rounds[size]] for k, variant in enumerate(VARIANTS)}
                        for size in sizes}}


def compiled(folder: Path, function: str, parameters: Sequence[FunctionParameter], texts: dict[str, str]) -> str:
    """The driver with the three codes, each in a file of its own."""
    compiler = find_compiler(None)
    flags = [*DEFAULT_FLAGS, *SAME_ADDRESSES, *compiler.openmp_compile, "-w"]
    heads = ", ".join(p.c_declaration for p in parameters)
    sources = {name: f"#define {function} {name}\n#line 1\n{text}" for name, text in texts.items()}
    sources["driver"] = DRIVER.format(
        rest_ns=REST_NS,
        prototypes="\n".join(f"void {name}({heads});" for name in texts),
        arguments=", ".join(map(argument, parameters)),
        declarations="\n    ".join(filter(None, map(declaration, parameters))),
        frees=" ".join(f"free({p.name});" for p in parameters if p.kind is ParameterKind.ARRAY))
    objects = []
    for name, text in sources.items():
        (folder / f"{name}.c").write_text(text)
        objects.append(f"{name}.o")
        checked(compiler.run([*flags, "-c", f"{name}.c", "-o", objects[-1]], folder=folder))
    program = folder / "program"
    checked(compiler.run([*objects, "-o", str(program), *compiler.openmp_link, "-lm"], folder=folder))
    return str(program)


def checked(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise RuntimeError(done.stderr)


def declaration(parameter: FunctionParameter) -> str:
    """A variable of the driver: sizes are equal, arrays filled with numbers between 0 and 1."""
    name = parameter.name
    if parameter.kind is ParameterKind.INTEGER:
        return f"const int {name} = size_;"
    if parameter.kind is ParameterKind.FLOATING:
        return f"const double {name} = 0.5;"
    assert parameter.dtype is not None
    count = " * ".join(f"(long)({extent})" for extent in parameter.c_extents)
    c_type = parameter.dtype.c_name
    return (f"{c_type} *{name} = malloc(sizeof({c_type}) * ({count}) + 64);\n"
            f"    for (long i_ = 0; i_ < {count}; i_++) {name}[i_] = ({c_type})(1.0 / (1 + i_ % 7));")


def argument(parameter: FunctionParameter) -> str:
    return f"(void *){parameter.name}" if parameter.kind is ParameterKind.ARRAY else parameter.name


def ratios(record: Record, variant: str) -> dict[str, float]:
    """How many times as fast as the original, by size: the median over the rounds."""
    return {size: median(o / v for o, v in zip(taken["original"], taken[variant], strict=True))
            for size, taken in record.values["seconds"].items()}


def table(records: Sequence[Record]) -> str:
    sizes = list(records[0].values["seconds"]) if records else []
    rows = [[record.case, *(f"{r['transformed'][size]:.2f} → {r['safe'][size]:.2f}" for size in sizes)]
            for record in records for r in ({v: ratios(record, v) for v in VARIANTS},)]
    lines = [markdown_table(["kernel", *(f"n = {size}" for size in sizes)], rows), ""]
    for variant in VARIANTS[1:]:
        found = [(ratio, record.case, size) for record in records for size, ratio in ratios(record, variant).items()]
        if found:
            slow, (least, case, size) = [f for f in found if f[0] < SLOWER], min(found)
            lines.append(f"- {variant}: slower in {len(slow)} of {len(found)}, at worst {least:.2f} ({case}, {size}); "
                         f"{geometric_mean(f[0] for f in found):.2f} times as fast in geometric mean")
    return "\n".join(lines)


def plot(records: Sequence[Record]) -> Figure:
    """Transformed code against the original, without and with `--safe`, by size; a line per kernel."""
    figure, axes = new_figure(width=7, height=4.5)
    for variant, colour in (("transformed", "C1"), ("safe", "C0")):
        for number, record in enumerate(records):
            found = ratios(record, variant)
            axes.plot(list(map(int, found)), list(found.values()), color=colour, alpha=0.5, linewidth=1,
                      label=None if number else {"transformed": "without --safe", "safe": "--safe"}[variant])
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain_ticks(axes.xaxis)
    plain_ticks(axes.yaxis)
    axes.set_xlabel("all sizes of the kernel")
    axes.set_ylabel("times as fast as the original")
    axes.legend(fontsize="small")
    return figure


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
