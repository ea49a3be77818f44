"""The child of a race of plans: it calls libraries, and reports what differs and how long each takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polysched.graph import from_text
from polysched.model import compile_graph
from polysched.model.plan_race_worker import Racer, race


class Told:
    """Keeps reports."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []

    def report(self, **values: Any) -> None:
        self.reports.append(values)


@pytest.fixture
def request_of(tmp_path: Path) -> dict[str, Any]:
    graph = from_text("""graph f(x: float32[3], z: float32[3]) {
      const c: float32[3] = [1.0, 2.0, 3.0]
      let a = Sub(x, z)
      let y = Mul(a, c)
      return y
    }""")
    model = compile_graph(graph, fusion="greedy")
    x, z = np.array([4, 5, 6], np.float32), np.array([1, 1, 1], np.float32)
    np.savez(tmp_path / "inputs.npz", x, z)
    np.savez(tmp_path / "constants.npz", *model.plan.graph.constants.values())
    np.savez(tmp_path / "wanted.npz", np.array([3, 8, 15], np.float32))
    np.savez(tmp_path / "other.npz", np.array([3, 8, 16], np.float32))
    item = {"library": str(model.library), "constants": str(tmp_path / "constants.npz"), "outputs": ["y"],
            "wanted": str(tmp_path / "wanted.npz"), "arena": model.plan.arena.bytes}
    return {"inputs": str(tmp_path / "inputs.npz"), "rounds": 3, "least_seconds": 1e-5,
            "models": {"right": item, "wrong": item | {"wanted": str(tmp_path / "other.npz")}, "twin": item}}


def test_what_differs_is_told_and_the_rest_is_timed_in_turn(request_of: dict[str, Any]) -> None:
    told = Told()
    race(request_of, told)  # type: ignore[arg-type]
    (refused,) = [r for r in told.reports if "refused" in r]
    assert refused == {"refused": "wrong", "reason": "output 'y': element [2]: 15, wanted 16"}
    rounds = [r["round"] for r in told.reports if "round" in r]
    assert [list(each) for each in rounds] == [["right", "twin"], ["twin", "right"], ["right", "twin"]]
    assert all(seconds > 0 and clean in (True, False) for each in rounds for seconds, clean in each.values())


def test_elements_that_are_not_written_are_found(request_of: dict[str, Any]) -> None:
    racer = Racer(request_of["models"]["right"], [np.zeros(3, np.float32)] * 2)
    assert racer.refusal() == "output 'y': element [2]: 0, wanted 15"
    racer.function = lambda *_: 0
    assert "output 'y': element [" in racer.refusal()
