"""The child prints one line of JSON per graph."""

import json

import pytest

from polysched.fuzz import graph_worker
from polysched.fuzz.graph_campaign import GraphRecord


def test_a_line_per_graph(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(graph_worker, "check_graph", lambda seed: GraphRecord(seed, "refused", "why"))
    graph_worker.main(["3", "5"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [{"seed": s, "verdict": "refused", "reason": "why"} for s in (3, 5)]
