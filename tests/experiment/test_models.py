"""The experiment on fusion plans: wrong outputs are named and make the run a failure; its table has a row per graph."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.experiment.folders import load_module
from polysched.graph import from_text
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import with_types
from polysched.model.planned import planned_by_cost
from polysched.pipeline.options import PipelineOptions
from polysched.target.target import Target
from polysched.tiling.options import TilingOptions

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "models"
START = """
import sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
import run
from polysched.experiment import Case

class Planted:
    def __init__(self, model, by):
        self.model, self.by = model, by

    def run(self, arrays):
        return {name: value + self.by for name, value in self.model.run(arrays).items()}

original = run.compile_graph
run.compile_graph = lambda *a, **k: Planted(original(*a, **k), by=float(sys.argv[2]))
run.timed = lambda *a: SimpleNamespace(seconds=1.0, ratio=2.0, interval=(1.5, 2.5))
run.GRAPHS["softmax"] = run.GRAPHS["softmax"].replace("512, 1024", "6, 10")
values = run.measure(Case(name="softmax", parameters={}), SimpleNamespace(threads=(1,)), print)
record = SimpleNamespace(case="softmax", values=values)
print(run.verdict([record]))
print(run.table([record]))
"""


def said(folder: Path, by: float) -> str:
    done = subprocess.run([sys.executable, "-c", START, str(EXPERIMENT), str(by)], capture_output=True, text=True,
                          timeout=300, check=False, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "2"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_right_outputs_have_no_objection(tmp_path: Path) -> None:
    text = said(tmp_path, 0.0)
    assert "wrong" not in text
    assert "| right " in text


def test_wrong_outputs_are_named(tmp_path: Path) -> None:
    text = said(tmp_path, 1.0)
    assert "wrong outputs: softmax" in text
    assert "| wrong " in text


@pytest.mark.parametrize(("name", "most"), [
    ("layer norm", 1), ("softmax", 1), ("lstm step", 2), ("attention", 1), ("bert layer", 6)])
def test_plans_have_as_few_kernels_as_is_aimed_at(name: str, most: int) -> None:
    graphs: dict[str, str] = load_module(EXPERIMENT / "run.py").GRAPHS
    machine = Target(cores=2, vector_bits=512, vector_registers=32, frequency_hz=2.3e9)
    found = planned_by_cost(with_types(standard(from_text(graphs[name]))), PipelineOptions(
        tiling=TilingOptions(target=machine)))
    assert len(found.kernels) <= most, found
