"""Operators as kernels with every default, beside PyTorch's in blocks of calls of their own; see README.md.

    python experiments/tensorize/by_default/run.py [--peer-python PATH] [--only 'product_*'] [--sizes 512] [--blocks 3]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import blocks

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.folders import load_module
from polysched.experiment.plots import grouped_bars
from polysched.experiment.tables import markdown_table
from polysched.tensorize.operators import OPERATORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GIGA = 1e9
MATCHING = "matching_"
WORKLOADS: dict[str, dict[str, Any]] = {
    "product_u8_s8": {"kind": "product", "types": "u8 x s8", "ours": ("loop nest", "NumPy spelling"),
                      "peers": ("torch._int_mm", "oneDNN linear")},
    "product_s8_s8": {"kind": "product", "types": "s8 x s8", "ours": ("loop nest", "NumPy spelling"),
                      "peers": ("torch._int_mm",)},
    "conv_requantised_u8": {"kind": "convolution", "types": "u8 x s8", "ours": ("one nest",),
                            "peers": ("oneDNN qconv2d",)},
    "conv_requantised_7_bits": {"kind": "convolution", "types": "u7 x s8", "ours": ("one nest of 7 bits",),
                                "peers": ("oneDNN qconv2d",)}}


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--peer-python", metavar="PATH", default=sys.executable,
                       help="interpreter that has PyTorch (default: this one)")
    group.add_argument("--sizes", type=int, nargs="+", default=[], help="instead of the configured ones")
    group.add_argument("--blocks", type=int, default=0, help="of calls per variant and size, instead of the configured")


def cases(settings: Settings) -> list[Case]:
    """One per workload, and one per operator that is matched with every description."""
    return [*(Case(name=name, parameters=dict(workload)) for name, workload in WORKLOADS.items()),
            *(Case(name=MATCHING + operator) for operator in OPERATORS)]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """First calls one after the other, then blocks of calls in turn; or the milliseconds of matching."""
    if case.name.startswith(MATCHING):
        timing = load_module(settings.folder.parents[1] / "amos_mappings" / "matching_time.py")
        return dict(timing.measure(case.name.removeprefix(MATCHING), report))
    sizes = settings.options["sizes"] or settings.config[
        "product_sizes" if case.parameters["kind"] == "product" else "image_sizes"]
    peers, why = case.parameters["peers"], _no_peers(settings.options["peer_python"])
    field = blocks.Field(workload=case.parameters, sizes=sizes, calls=settings.config["calls"],
                         peer_python=settings.options["peer_python"], threads=settings.threads[0])
    with tempfile.TemporaryDirectory(prefix="polysched-by-default-") as folder, field.started(
            () if why else peers, Path(folder), report) as running:
        values = {"sizes": sizes, "left_out": why, "said": {name: one.said for name, one in running.items()}}
        rounds = settings.options["blocks"] or settings.config["blocks"]
        return values | {"seconds": blocks.in_turn(running, sizes, rounds, report)}


def _no_peers(python: str) -> str:
    """Why an interpreter has no PyTorch; empty where it has."""
    try:
        subprocess.run([python, "-c", "import torch"], check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        return f"no PyTorch: {type(error).__name__}"
    return ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the table, with what is to be reached.

    Parameters
    ----------
    ours, beside : what was measured of ours, and of what it is compared with, in words.
    value : the figure that has an aim; None where there is nothing to compare with.
    aim : of the value; at least where `least`, else at most.
    """

    what: str
    ours: str
    beside: str
    value: float | None
    aim: float
    least: bool

    @property
    def reached(self) -> str:
        """`yes` or `no`; `-` without a figure."""
        if self.value is None:
            return "-"
        return "yes" if (self.value >= self.aim if self.least else self.value <= self.aim) else "no"

    @property
    def cells(self) -> list[str]:
        """A line of the table."""
        sign, value = "at least" if self.least else "at most", "-" if self.value is None else f"{self.value:.3g}"
        return [self.what, self.ours, self.beside, value, f"{sign} {self.aim:g}", self.reached]


def operations(kind: str, size: int) -> int:
    """Multiplications and additions of one call."""
    import variants
    if kind == "product":
        return 2 * size**3
    return 2 * (size * variants.CHANNELS * variants.WINDOW) ** 2


def figures_of(record: Record, aims: Mapping[str, float]) -> Iterator[Line]:
    """The lines of one workload."""
    workload, values = WORKLOADS[record.case], record.values
    kind, (first, *_) = workload["kind"], workload["ours"]
    for size in values["sizes"]:
        yield over_peers(record, size, first, aims["product" if kind == "product" else "convolution"])
        if kind == "product":
            ours, other = (median(values, name, size) for name in workload["ours"])
            yield Line(what=f"{record.case}, {size}, NumPy spelling", ours=f"{1e3 * other:.2f} ms", least=False,
                       beside=f"loop nest {1e3 * ours:.2f} ms", value=other / ours, aim=aims["spelling"])
    for name in workload["ours"]:
        firsts, imported = values["said"][name]["firsts"], values["said"][name]["imported"]
        yield Line(what=f"{record.case}, {name}, first call", ours=f"{firsts[0]:.2f} s",
                   beside=f"imports {imported:.2f} s", value=firsts[0], aim=aims["first_call_seconds"], least=False)
        if len(firsts) > 1:
            yield Line(what=f"{record.case}, {name}, second size", ours=f"{1e3 * firsts[1]:.1f} ms", beside="-",
                       value=firsts[1], aim=aims["second_size_seconds"], least=False)


def over_peers(record: Record, size: int, first: str, aim: float) -> Line:
    """Our rate over that of the fastest peer; peers whose results are wrong take part, and the table says so."""
    values, work = record.values, operations(WORKLOADS[record.case]["kind"], size)
    mine = median(values, first, size)
    others = {name: median(values, name, size) for name in WORKLOADS[record.case]["peers"] if name in values["seconds"]}
    best = min(others, key=lambda name: others[name], default=None)
    beside = values["left_out"] or "-"
    if best is not None:
        wrong = " (wrong)" if size in values["said"][best]["wrong"] else ""
        beside = f"{best} {work / others[best] / GIGA:.3g} GOP/s{wrong}"
    return Line(what=f"{record.case}, {size}", ours=f"{work / mine / GIGA:.3g} GOP/s", beside=beside,
                value=None if best is None else others[best] / mine, aim=aim, least=True)


def median(values: Mapping[str, Any], variant: str, size: int) -> float:
    """Seconds of a call, over the blocks."""
    return statistics.median(values["seconds"][variant][str(size)])


def matching_figures(records: Sequence[Record], aim: float) -> Iterator[Line]:
    """The slowest operator and description of all."""
    timed = [(statistics.median(found["samples"]), record.case.removeprefix(MATCHING), name)
             for record in records for name, found in record.values["instructions"].items()]
    if timed:
        slowest, operator, name = max(timed)
        yield Line(what="matching, slowest pair", ours=f"{operator} by {name}, {slowest:.1f} ms", least=False,
                   beside=f"median of {len(timed)} {statistics.median(t for t, *_ in timed):.1f} ms", value=slowest,
                   aim=aim)


def figures(records: Sequence[Record]) -> list[Line]:
    """All lines, in the order of the cases."""
    aims = load_aims()
    done = [r for r in records if r.done]
    found = [f for r in done if not r.case.startswith(MATCHING) for f in figures_of(r, aims)]
    return [*found, *matching_figures([r for r in done if r.case.startswith(MATCHING)], aims["matching_milliseconds"])]


def load_aims() -> dict[str, float]:
    """The aims of `experiment.toml`."""
    import tomllib
    return dict(tomllib.loads((Path(__file__).parent / "experiment.toml").read_text())["aims"])


def table(records: Sequence[Record]) -> str:
    lines = figures(records)
    reached, judged = sum(f.reached == "yes" for f in lines), sum(f.reached != "-" for f in lines)
    return "\n".join([markdown_table(["what", "ours", "beside", "figure", "aim", "reached"], [f.cells for f in lines]),
                      "", f"{reached} of {judged} aims reached"])


def verdict(records: Sequence[Record]) -> str:
    """Ours has to be right at every size."""
    wrong = [f"{r.case} by {name} at {', '.join(map(str, r.values['said'][name]['wrong']))}"
             for r in records if r.done and r.case in WORKLOADS for name in WORKLOADS[r.case]["ours"]
             if r.values["said"][name]["wrong"]]
    return f"wrong results: {'; '.join(wrong)}" if wrong else ""


def plot(records: Sequence[Record]) -> Figure:
    """Our speed over the fastest peer's."""
    rows = [over_peers(r, size, WORKLOADS[r.case]["ours"][0], 1.0) for r in records
            if r.done and r.case in WORKLOADS for size in r.values["sizes"]]
    return grouped_bars([f.what for f in rows], {"speed over the fastest peer": [f.value for f in rows]},
                        ylabel="speed over PyTorch's", line_at=1.0)


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        verdict=verdict, local_options=("peer_python",))

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
