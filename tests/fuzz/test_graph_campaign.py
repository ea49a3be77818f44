"""A campaign over random graphs: records in order; what kills a child is one of them."""

import os
from pathlib import Path

import pytest

from polysched.errors import OutputError
from polysched.fuzz import graph_campaign
from polysched.fuzz.graph_campaign import GraphCampaign, GraphRecord, check_graph, run_graphs, save_faults, summary
from polysched.fuzz.operator_graphs import random_graph
from polysched.fuzz.twice import twice
from polysched.measure.processes.isolation import ChildEnd, End, Limits, Stop
from polysched.model.planned import planned


def test_graphs_have_control_flow_pools_and_gathers() -> None:
    ops = {node.op for seed in range(200) for node in random_graph(seed, nodes=12).walk()}
    assert {"If", "Loop", "MaxPool", "AveragePool", "Gather", "Conv", "MatMul", "Softmax"} <= ops


def test_records_are_in_order_and_right() -> None:
    told: list[GraphRecord] = []
    records = run_graphs(GraphCampaign(count=2, seed=7, chunk=2), on_record=told.append)
    assert [r.seed for r in records] == [7, 8]
    assert all(r.verdict == "right" for r in records), records
    assert told == records
    assert summary(records).splitlines()[-1] == "2 graphs, 2 right, 0 refused, 0 wrong, 0 crash, 0 timeout"


DIES_WITH_4 = """
import os, sys
from polysched.measure.processes.child_side import start
request, reporter = start(sys.argv)
for seed in request["check"]:
    if seed == 4:
        os.abort()
    reporter.report(result={"seed": seed, "verdict": "right", "reason": ""})
reporter.report(end="finished")
"""


def another_worker(text: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    folder.mkdir()
    (folder / "another_graph_worker.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(graph_campaign, "WORKER", "another_graph_worker")


def test_a_graph_that_kills_its_child_is_a_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    another_worker(DIES_WITH_4, monkeypatch, tmp_path / "worker")
    records = run_graphs(GraphCampaign(count=3, seed=3))
    assert [(r.seed, r.verdict) for r in records] == [(3, "right"), (4, "crash"), (5, "right")]
    assert "SIGABRT" in records[1].reason
    saved = tmp_path / "saved"
    assert [p.name for p in save_faults(records, saved)] == ["graph_4.txt"]
    assert os.listdir(saved) == ["graph_4.txt"]


def test_a_graph_that_takes_too_long_is_a_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    another_worker(DIES_WITH_4.replace("os.abort()", "import time; time.sleep(60)"), monkeypatch,
                   tmp_path / "worker")
    records = run_graphs(GraphCampaign(count=3, seed=3, limit_seconds=3, patience=0.1))
    assert [(r.seed, r.verdict) for r in records] == [(3, "right"), (4, "timeout"), (5, "right")]


@pytest.mark.parametrize(("again", "verdict"), [(End.FINISHED, "right"), (End.HUNG, "timeout"), (End.CRASHED, "crash")])
def test_a_graph_that_did_not_end_on_a_busy_machine_gets_more_time_alone(
        monkeypatch: pytest.MonkeyPatch, again: End, verdict: str) -> None:
    asked: list[tuple[list[int], float]] = []

    def child(module: str, request: dict[str, list[int]], *, folder: Path, limits: Limits, stop: Stop) -> ChildEnd:
        asked.append((request["check"], limits.seconds))
        alone = request["check"] == [4]
        done = request["check"][:None if alone else 1] if not alone or again is End.FINISHED else []
        return ChildEnd(end=again if alone else End.HUNG if 4 in request["check"] else End.FINISHED,
                        reports=tuple({"result": {"seed": s, "verdict": "right"}} for s in done), phase="", seconds=1,
                        signal_name=None, exit_status=None, peak_bytes=0, error_output="", limits=limits)
    monkeypatch.setattr(graph_campaign, "run_isolated", child)
    records = run_graphs(GraphCampaign(count=3, seed=3, limit_seconds=2))
    assert [(r.seed, r.verdict) for r in records] == [(3, "right"), (4, verdict), (5, "right")]
    assert asked == [([3, 4, 5], 2), ([4], 10), ([5], 2)]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        save_faults([GraphRecord(4, "crash")], tmp_path / "file")


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


def test_kernels_share_regions_on_a_machine_with_slow_memory() -> None:
    options = graph_campaign.slow_memory()
    graphs = filter(None, (twice(random_graph(seed, nodes=3)) for seed in range(6)))
    assert any(planned(graph, options.target(), options=options).shared for graph in graphs)
