"""Kernels, bytes and times of layer norm, softmax and an LSTM step under three fusions; see README.md.

    python experiments/reproduced/stitched_kernels/run.py

The graphs, plans and times are those of experiments/models, which compares their results with the interpreter.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from polysched.errors import WrongResultError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.claims import Claim, at_least
from polysched.experiment.tables import markdown_table
from polysched.graph import from_text
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import with_types

HEADINGS = ("graph", "operators", "greedy", "dominators", "stitched", "bytes / compulsory, greedy", "stitched",
            "us, stitched", "times as fast as greedy")
# the mean of FusionStitching's abstract
PUBLISHED = 1.45
# the mean speed-up of the abstract of AStitch
ASTITCH = 1.84
# these have no product, so that one kernel can hold them
ONE_KERNEL = ("layer norm", "softmax")


def models() -> ModuleType:
    """experiments/models/run.py."""
    spec = importlib.util.spec_from_file_location("models_run", Path(__file__).parents[2] / "models" / "run.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError("experiments/models/run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={}) for name in settings.config["graphs"]]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Counts and times of one graph; operators are its primitives after the standard passes, without views.

    Raises
    ------
    WrongResultError : an output of the stitched kernels differs from the interpreter's.
    """
    run = models()
    graph = with_types(standard(from_text(run.GRAPHS[case.name])))
    values = dict(run.measure(case, settings, report))
    if values.get("wrong"):
        raise WrongResultError(f"an output differs from the interpreter's: {', '.join(values['wrong'])}",
                               where=case.name)
    return {**values, "operators": sum(not operator_of(node).view for node in graph.nodes)}


def table(records: Sequence[Record]) -> str:
    rows = [[r.case, v["operators"], v["greedy_kernels"], v["dominator_kernels"], v["cost_kernels"],
             f"{v['greedy_bytes'] / v['compulsory_bytes']:.2f}", f"{v['cost_bytes'] / v['compulsory_bytes']:.2f}",
             *([f"{1e6 * v['seconds']:.0f}", f"{v['ratio']:.2f}"] if "ratio" in v else ["-", "-"])]
            for r in records if r.done for v in [r.values]]
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced"])


def gain(records: Sequence[Record]) -> float | None:
    """The geometric mean of (greedy / stitched), over the graphs that were timed; None without."""
    ratios = [r.values["ratio"] for r in records if r.done and "ratio" in r.values]
    return statistics.geometric_mean(ratios) if ratios else None


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    wrong = []
    for record in (r for r in records if r.done):
        value = record.values
        least = value["cost_kernels"] == 1 and value["cost_bytes"] == value["compulsory_bytes"]
        if record.case in ONE_KERNEL and not least:
            wrong.append(f"{record.case} takes {value['cost_kernels']} kernels")
        elif value["cost_kernels"] >= value["dominator_kernels"]:
            wrong.append(f"{record.case} gains nothing over fusion by rules")
        if "ratio" not in value:
            wrong.append(f"{record.case} has no time{': ' + value['refused'] if 'refused' in value else ''}")
    if (found := gain(records)) is not None and found < PUBLISHED:
        wrong.append(f"stitched kernels are {found:.2f} times as fast as greedy ones, and {PUBLISHED:.2f} is published")
    return f"not reproduced: {'; '.join(wrong)}" if wrong else ""


def claims(records: Sequence[Record]) -> list[Claim]:
    """What the abstracts state, beside ours."""
    found = gain(records)
    asked, holds = at_least(PUBLISHED, found)
    return [Claim(what="stitched, times as fast as fused by rules, mean", ours=found, published=PUBLISHED,
                  asked=asked, holds=holds,
                  source="1.45 over the state of the art, on GPUs: abstract of FusionStitching (2020)"),
            Claim(what="the same, of AStitch", ours=found, published=ASTITCH,
                  source="1.84 in the mean over XLA, on GPUs: abstract of AStitch (ASPLOS 2022)")]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims, times_calls=False)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
