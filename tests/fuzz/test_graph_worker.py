"""The child reports one record per graph, and that it is done."""

from types import SimpleNamespace
from typing import Any

import pytest

from polysched.fuzz import graph_worker
from polysched.fuzz.graph_campaign import GraphRecord


def test_a_report_per_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setitem(graph_worker.CHECKS, "graphs", lambda seed: GraphRecord(seed, "refused", "why"))
    monkeypatch.setattr(graph_worker, "start", lambda _: ({"check": [3, 5], "drawn": "graphs"}, SimpleNamespace(
        report=lambda **values: told.append(values))))
    graph_worker.main(["worker", "request", "3"])
    assert [t["result"] for t in told[:-1]] == [
        {"seed": s, "verdict": "refused", "reason": "why", "drawn": "graphs"} for s in (3, 5)]
    assert told[-1] == {"end": "finished"}
