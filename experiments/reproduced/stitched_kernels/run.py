"""Kernels and bytes of layer norm, softmax and an LSTM step under three fusions; see README.md.

    python experiments/reproduced/stitched_kernels/run.py

The graphs and plans are those of experiments/models, which also compares their results with the interpreter.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.graph import from_text
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import with_types
from polysched.pipeline.options import PipelineOptions

HEADINGS = ("graph", "operators", "greedy", "dominators", "stitched", "bytes / compulsory, greedy", "stitched")
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
    """Counts of one graph; operators are its primitives after the standard passes, without views."""
    run = models()
    graph = with_types(standard(from_text(run.GRAPHS[case.name])))
    report("planning")
    counts = run.plans(graph, PipelineOptions())[1]
    return {**counts, "operators": sum(not operator_of(node).view for node in graph.nodes)}


def table(records: Sequence[Record]) -> str:
    rows = [[r.case, v["operators"], v["greedy_kernels"], v["dominator_kernels"], v["cost_kernels"],
             f"{v['greedy_bytes'] / v['compulsory_bytes']:.2f}", f"{v['cost_bytes'] / v['compulsory_bytes']:.2f}"]
            for r in records if r.done for v in [r.values]]
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced"])


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
    return f"not reproduced: {'; '.join(wrong)}" if wrong else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
