"""Waits of real-time requests beside best-effort kernels of growing length, by way of preemption; see README.md.

    python experiments/reproduced/preemption_latency/run.py
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.claims import Claim, at_most
from polysched.experiment.tables import markdown_table
from polysched.runtime import Job, PreemptibleKernel, ServeOptions, preemptible, serve
from polysched.scop.expression import build, placeholder, symbols
from polysched.scop.expression.operators import matmul

HEADINGS = ("way", "kernel ms", "wait, median us", "wait, p99 us", "latency, % more than alone", "best effort kept")
GROWTH, KEPT = 2.0, 0.8
REEF_RISE = 0.02
"""Han et al., "Microsecond-scale preemption for concurrent GPU-accelerated DNN inferences", OSDI 2022, abstract."""
UNDISTURBED_RUNS = 5
PAUSE_SECONDS = 0.001


@dataclass(frozen=True, kw_only=True)
class Way:
    """How a request gets its thread, and the edge of the kernel's tiles."""

    options: ServeOptions
    tiles: int
    preempts: bool = True


WAYS = {"wait for the kernel": Way(options=ServeOptions(preempt=False), tiles=32, preempts=False),
        "yield behind tiles of 32": Way(options=ServeOptions(), tiles=32),
        "reset in tiles of 256": Way(options=ServeOptions(reset=True), tiles=256)}


def cases(settings: Settings) -> list[Case]:
    return [Case(name=f"{way.replace(' ', '_')}_{size}", parameters={"way": way, "size": size})
            for way in WAYS for size in settings.config["kernels"]]


def product(tiles: int) -> PreemptibleKernel:
    """A matrix product of floats that stops behind tiles."""
    m, n, k = symbols("m n k")
    return preemptible(build(matmul(placeholder("a", (m, k), "float32"), placeholder("b", (k, n), "float32")),
                             name="product"), tiles=tiles)


def operands(kernel: PreemptibleKernel, size: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(size)
    return {a.name: draw.random((size, size), dtype=np.float32) for a in kernel.scop.arrays}


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Waits and latencies of all requests, alone and beside the kernel; how long the kernel takes undisturbed."""
    config, way = settings.config, WAYS[case.parameters["way"]]
    draw = random.Random(f"{config['seed']} {case.parameters['size']}")
    small, large = product(32), product(way.tiles)
    given = operands(small, config["urgent"])
    patient = Job(name="patient", kernel=large, arguments=operands(large, case.parameters["size"]))
    few = Job(name="patient", kernel=large, arguments=patient.arguments, requests=UNDISTURBED_RUNS)
    serve([few], way.options)
    kernel_seconds = serve([few], way.options).seconds / UNDISTURBED_RUNS
    found: dict[str, Any] = {"kernel_seconds": kernel_seconds, "alone": [], "latencies": [], "waits": [], "runs": 0,
                             "resets": 0, "left_seconds": 0.0}
    for number in range(config["serves"]):
        report(f"serve {number + 1} of {config['serves']}")
        # requests come once per run or less often, at any place of it
        first, period = (PAUSE_SECONDS + kernel_seconds * (least + draw.random()) for least in (0, 1))
        urgent = Job(name="urgent", kernel=small, arguments=given, first=first, period=period,
                     requests=config["requests"])
        alone, together = serve([urgent], way.options), serve([urgent, patient], way.options)
        found["alone"] += alone["urgent"].latencies.tolist()
        found["latencies"] += together["urgent"].latencies.tolist()
        found["waits"] += together["urgent"].waits.tolist()
        found["runs"] += together["patient"].runs
        found["resets"] += together["patient"].resets
        found["left_seconds"] += together.seconds - together["urgent"].seconds
    return found


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a case says; seconds, and ratios."""

    kernel: float
    median: float
    late: float
    rise: float
    kept: float


def figures(values: dict[str, Any]) -> Figures:
    """`kept` counts runs to the end, over those that fit undisturbed into the time that the requests leave."""
    median, late = (float(q) for q in np.quantile(values["waits"], (0.5, 0.99)))
    return Figures(kernel=values["kernel_seconds"], median=median, late=late,
                   rise=float(np.mean(values["latencies"]) / np.mean(values["alone"])) - 1,
                   kept=values["runs"] * values["kernel_seconds"] / values["left_seconds"])


def by_way(records: Sequence[Record]) -> dict[str, list[Figures]]:
    """From the shortest kernel to the longest."""
    found: dict[str, list[Figures]] = {}
    for record in (r for r in records if r.done):
        found.setdefault(record.parameters["way"], []).append(figures(record.values))
    return {way: sorted(own, key=lambda f: f.kernel) for way, own in found.items()}


def table(records: Sequence[Record]) -> str:
    rows = [[way, f"{1e3 * f.kernel:.1f}", f"{1e6 * f.median:.0f}", f"{1e6 * f.late:.0f}", f"{100 * f.rise:+.1f}",
             f"{f.kept:.2f}"] for way, own in by_way(records).items() for f in own]
    rows.append(["REEF, of a GPU (abstract)", "", "", "", f"less than {100 * REEF_RISE:.0f}", ""])
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced"])


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    found = by_way(records)
    wrong = [f"no kernels beside requests that {way}" for way in WAYS if way not in found]
    for way, own in found.items():
        length, growth = own[-1].kernel / own[0].kernel, own[-1].median / own[0].median
        if not WAYS[way].preempts:
            if growth < length / 2:
                wrong.append(f"{way}: kernels grow {length:.1f} times, the wait {growth:.1f} times")
            continue
        if growth > GROWTH:
            wrong.append(f"{way}: the median wait grows {growth:.1f} times")
        if (rise := max(f.rise for f in own)) > REEF_RISE:
            wrong.append(f"{way}: latencies rise by {100 * rise:.1f}%")
        if not WAYS[way].options.reset and (kept := min(f.kept for f in own)) < KEPT:
            wrong.append(f"{way}: {kept:.0%} of the best-effort runs are kept")
    return f"not reproduced: {'; '.join(wrong)}" if wrong else ""


def claims(records: Sequence[Record]) -> list[Claim]:
    """What the abstract states, beside the ways that preempt."""
    rows = []
    for way, own in by_way(records).items():
        if WAYS[way].preempts:
            rise = max(f.rise for f in own)
            asked, holds = at_most(REEF_RISE, rise)
            rows.append(Claim(what=f"{way}: rise of the mean latency, most", ours=rise, published=REEF_RISE,
                              asked=asked, holds=holds,
                              source="less than 2% on the latency of real-time tasks: abstract of OSDI 2022"))
    return rows


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
