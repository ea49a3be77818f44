"""The kernels of PolyBench against gcc, clang, Polly, Pluto, PPCG and Numba; see README.md.

    python experiments/polybench/run.py --polybench-root DIR
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import own
import suite
from tools import REPORT, tool_versions
from tuned import Tuning, tuned

from polysched.errors import PolyschedError, UsageError
from polysched.experiment import Case, Contender, Experiment, Record, Report, Rules, Settings, Standings, run_contest
from polysched.experiment.contest_results import (
    first_line,
    over_best_peer,
    peers_of,
    standings_of,
)
from polysched.experiment.listings import peak_values, report_values
from polysched.experiment.standings import geometric_mean
from polysched.experiment.tables import markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
DATASETS = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--polybench-root", metavar="DIR", default=os.environ.get("POLYBENCH_ROOT"),
                       type=lambda text: str(Path(text).resolve()),
                       help="PolyBench/C 4.2.1 (default: $POLYBENCH_ROOT); without it, kernels of this project")
    group.add_argument("--dataset", choices=DATASETS, default="LARGE", help="of the original suite (default: LARGE)")
    group.add_argument("--c2c", metavar="'OPTIONS'", default="", help="options of polysched c2c (default: none)")
    group.add_argument("--variants", nargs="+", metavar="NAME", help="gcc and these only: clang, polly, polysched, ...")
    group.add_argument("--keep", metavar="DIR", type=lambda text: str(Path(text).resolve()),
                       help="keep what the tools wrote in DIR/KERNEL, and use what is there from an earlier run with "
                            "the same tools and sources")
    group.add_argument("--tuned", metavar="MINUTES", type=float,
                       help="search so long for the recipe of each kernel before it is translated, with all cores")
    group.add_argument("--prepare", action="store_true",
                       help="translate and compile into --keep DIR, and time nothing but that")


def cases(settings: Settings) -> list[Case]:
    """The kernels of the suite, or our own.

    Raises
    ------
    UsageError : nothing would come of `--prepare`.
    """
    if settings.options["prepare"] and not settings.options["keep"]:
        raise UsageError("--prepare has nowhere to keep what it makes", hint="add --keep DIR")
    root = settings.options["polybench_root"]
    names = suite.kernels_of(Path(root)) if root else own.kernels()
    return [Case(name=name, parameters={"suite": bool(root)}) for name in names]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """One contest per kernel: all variants, with all numbers of threads."""
    if settings.options["keep"]:
        folder = Path(settings.options["keep"]).resolve() / case.name
        folder.mkdir(parents=True, exist_ok=True)
        return measure_in(folder, case, settings, report)
    with tempfile.TemporaryDirectory(prefix="polysched-polybench-") as name:
        return measure_in(Path(name), case, settings, report)


def measure_in(folder: Path, case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    config, options = settings.config, shlex.split(settings.options["c2c"])
    threads, root = settings.threads, settings.options["polybench_root"]
    if root:
        kernel = suite.Kernel(name=case.name, root=Path(root), file=suite.kernels_of(Path(root))[case.name],
                              dataset=settings.options["dataset"], folder=folder,
                              settings=config["kernel"].get(case.name, {}), config=config)
        found = tuned(suite.tuning(kernel), settings, folder, report)
        options += found.options
        made, about = suite.contenders(kernel, threads, options), {"dataset": kernel.dataset, **found.values}
        view, tolerance = suite.determined(kernel), kernel.settings.get("tolerance")
        report("initialising")
        suite.initialise(kernel)
    else:
        mine = own.read(case.name, folder, config)
        found = tuned(Tuning(file=mine.file, sizes=mine.sizes), settings, folder, report)
        options += found.options
        made, about = own.contenders(mine, threads, options), {"sizes": mine.sizes, **found.values}
        view, tolerance = (lambda arrays: arrays), config.get("own", {}).get(case.name, {}).get("tolerance")
    wanted = settings.options["variants"]
    if wanted:
        made = [c for c in made if c.name == "gcc" or c.name.partition("@")[0] in wanted]
    if settings.options["prepare"]:
        return {"seconds_to_make": seconds_to_make(made, report), **about}
    rules = Rules(reference="gcc", ours=tuple(ours_at([count]) for count in threads),
                  budget_seconds=settings.budget_seconds, view=view,
                  tolerance=tolerance, limit_factor=config["limit_factor"], limit_seconds=config["limit_seconds"],
                  pin=settings.pin, cold_cache=settings.cold_cache)
    contest = run_contest(made, rules, folder, report).to_json()
    tools = tool_versions({c.name.partition("@")[0] for c in made}, folder)
    return {"contest": contest, "threads": list(threads), "tools": tools, **about,
            **transformation(folder, max(threads))}


def seconds_to_make(made: Sequence[Contender], report: Report) -> dict[str, float | str]:
    """Translate and compile every variant: the seconds that it took, or why there is none."""
    taken: dict[str, float | str] = {}
    for contender in made:
        report(f"making {contender.name}")
        started = time.monotonic()
        try:
            contender.make()
            taken[contender.name] = round(time.monotonic() - started, 2)
        except PolyschedError as failure:
            taken[contender.name] = str(failure)
    return taken


def transformation(folder: Path, threads: int) -> dict[str, Any]:
    """Schedule, C and work of our variant, and the machine's peaks; nothing where it has none."""
    found = folder / REPORT
    if not found.exists():
        return {}
    return report_values(found) | peak_values("float64", threads)


def ours_at(threads: Sequence[int]) -> str:
    return f"polysched@{max(threads)}"


def table(records: Sequence[Record]) -> str:
    """What was timed, and what was only prepared."""
    timed = [r for r in records if "contest" in r.values]
    prepared = [r for r in records if "contest" not in r.values]
    return "\n\n".join([*([speed_table(timed)] if timed else []), *([making_table(prepared)] if prepared else [])])


def making_table(records: Sequence[Record]) -> str:
    """The seconds that tool and compiler took for each variant; below, why some do not exist."""
    names = list(dict.fromkeys(name for r in records for name in r.values["seconds_to_make"]))
    made = [r.values["seconds_to_make"] for r in records]
    rows = [[r.case, *("-" if isinstance(m.get(n, ""), str) else f"{m[n]:.2f}" for n in names)]
            for r, m in zip(records, made, strict=True)]
    reasons = [f"- {r.case}, {name}: {first_line(value)}" for r, m in zip(records, made, strict=True)
               for name, value in m.items() if isinstance(value, str)]
    return "\n".join([markdown_table(["seconds to make", *names], rows), "", *reasons])


def speed_table(records: Sequence[Record]) -> str:
    """Seconds of gcc and speed-ups over it, a row per kernel, and the geometric means."""
    names = variants(records)
    rows = []
    for record in records:
        standings = standings_of(record)
        gcc, best = standings.variant("gcc"), over_best_peer(standings, main_variant(record))
        rows.append([record.case, f"{gcc.seconds:.4g}" if gcc is not None and gcc.timed else "-",
                     *(speed_cell(standings, name) for name in names), "-" if best is None else f"{best:.2f}"])
    parts = [markdown_table(["kernel", "gcc s", *names, "ours / best peer"], rows), "", *means(records)]
    untimed = [f"- {r.case}, {v.name}: {v.status.value}: {first_line(v.problem)}" for r in records
               for v in standings_of(r).variants if not v.timed and v.status.value != "missing"]
    parts += ["", "Without a time:", "", *untimed] if untimed else []
    missing = sorted({f"{v.name.partition('@')[0]} ({v.problem})" for r in records for v in standings_of(r).variants
                      if v.status.value == "missing"})
    versions = sorted({f"{name}: {found['version']} (file {found['sha256'][:12]})" for r in records
                       for name, found in r.values.get("tools", {}).items()})
    return "\n".join([*parts, *(f"- not measured: {m}" for m in missing), *(f"- {v}" for v in versions)])


def variants(records: Sequence[Record]) -> list[str]:
    found = dict.fromkeys(v.name for r in records for v in standings_of(r).variants if v.name != "gcc")
    return [n for n in found if any((v := standings_of(r).variant(n)) is not None and v.status.value != "missing"
                                    for r in records)]


def main_variant(record: Record) -> str:
    return ours_at(record.threads)


def speed_cell(standings: Standings, name: str) -> str:
    variant = standings.variant(name)
    if variant is None:
        return ""
    found = standings.speed_up(name, over="gcc")
    return {"wrong": "wrong", "slow": "slow", "failed": "failed", "missing": ""}.get(
        variant.status.value, "-") if found is None else f"{found[0]:.2f}"


def means(records: Sequence[Record]) -> list[str]:
    """Geometric means over gcc and over the best peer of each kernel, and the kernels where we lose."""
    lines = []
    for name in variants(records):
        ups = [found[0] for r in records if (found := standings_of(r).speed_up(name, over="gcc")) is not None]
        if ups:
            lines.append(f"- {name} over gcc: geometric mean {geometric_mean(ups):.2f} ({len(ups)} kernels)")
    best = {r.case: over_best_peer(standings_of(r), main_variant(r)) for r in records}
    timed = {k: v for k, v in best.items() if v is not None}
    over_gcc = {r.case: found[0] for r in records
                if (found := standings_of(r).speed_up(main_variant(r), over="gcc")) is not None}
    peers = [standings_of(r).speed_up(b.name, over="gcc") for r in records
             if (b := standings_of(r).fastest(peers_of(standings_of(r)))) is not None]
    if timed:
        lines += [f"- the best peer of each kernel over gcc: {geometric_mean([p[0] for p in peers if p]):.2f}",
                  f"- ours over the best peer of each kernel: {geometric_mean(list(timed.values())):.2f} "
                  f"({len(timed)} kernels)",
                  "- slower than gcc: " + (", ".join(f"{k} {v:.2f}" for k, v in over_gcc.items() if v < 1) or "none")]
    return lines


def plot(records: Sequence[Record]) -> Figure:
    """Speed over gcc of every variant with the most threads; below, ours over the best peer; geometric means last."""
    from polysched.experiment.plots import BarPanel, bar_panels
    most = str(max(records[0].threads))
    over_gcc: dict[str, list[float | None]] = {}
    for name in variants(records):
        kind, _, threads = name.partition("@")
        if threads in ("", most):
            found = [standings_of(r).speed_up(name, over="gcc") for r in records]
            over_gcc[kind if not threads else f"{kind}, {threads} threads"] = with_mean(
                [None if f is None else f[0] for f in found])
    best = with_mean([over_best_peer(standings_of(r), main_variant(r)) for r in records])
    return bar_panels([*(r.case for r in records), "geometric mean"], [
        BarPanel(series=over_gcc, ylabel="speed over gcc", logarithmic=True, line_at=1.0),
        BarPanel(series={f"polysched, {most} threads": best}, ylabel="speed over the best peer", logarithmic=True,
                 line_at=1.0)])


def with_mean(values: Sequence[float | None]) -> list[float | None]:
    """The values, and behind them their geometric mean."""
    known = [v for v in values if v is not None]
    return [*values, geometric_mean(known) if known else None]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        times_calls=True, local_options=("polybench_root", "keep"))

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(HERE), *sys.argv[1:]]))
