"""A campaign over random graphs: records in order; what kills a child is one of them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from polysched.fuzz import graph_campaign
from polysched.fuzz.graph_campaign import GraphCampaign, GraphRecord, check_graph, run_graphs, save_faults, summary
from polysched.fuzz.operator_graphs import random_graph


def test_graphs_have_control_flow_pools_and_gathers() -> None:
    ops = {node.op for seed in range(80) for node in random_graph(seed, nodes=12).walk()}
    assert {"If", "Loop", "MaxPool", "AveragePool", "Gather", "Conv", "MatMul", "Softmax"} <= ops


def test_records_are_in_order_and_right() -> None:
    told: list[GraphRecord] = []
    records = run_graphs(GraphCampaign(count=2, seed=7, chunk=2), on_record=told.append)
    assert [r.seed for r in records] == [7, 8]
    assert all(r.verdict == "right" for r in records), records
    assert told == records
    assert summary(records) == "2 graphs, 2 right, 0 refused, 0 wrong, 0 crash, 0 timeout"


def test_a_graph_that_kills_its_child_is_a_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = ("import json, os, sys\nfor s in map(int, sys.argv[1:]):\n    os.kill(os.getpid(), 9) if s == 4 else "
              "print(json.dumps({'seed': s, 'verdict': 'right', 'reason': ''}), flush=True)\n")
    start = subprocess.Popen

    def instead(command: list[str], **how: Any) -> object:
        return start([sys.executable, "-c", script, *command[3:]], **how)
    monkeypatch.setattr(graph_campaign.subprocess, "Popen", instead)
    records = run_graphs(GraphCampaign(count=3, seed=3))
    assert [(r.seed, r.verdict) for r in records] == [(3, "right"), (4, "crash"), (5, "right")]
    assert [p.name for p in save_faults(records, tmp_path)] == ["graph_4.txt"]
    assert os.listdir(tmp_path) == ["graph_4.txt"]


def test_a_wrong_compiled_model_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        def run(self, inputs: object) -> object:
            from polysched.fuzz.operator_graphs import graph_inputs
            from polysched.graph import interpret
            graph = random_graph(7)
            values = interpret(graph, graph_inputs(graph, 7))
            return {n: a + 1 if a.dtype.kind == "f" else ~a for n, a in values.items()}
    monkeypatch.setattr(graph_campaign, "compile_graph", lambda graph: Wrong())
    assert check_graph(7).verdict == "wrong"
