"""The experiment on barriers: which one is removed, and what its verdict says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "experiments" / "barriers"


@pytest.fixture(name="run")
def _run(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("barriers_run", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_barrier_is_removed(run: Any) -> None:
    first, second = "barrier(CLK_LOCAL_MEM_FENCE);", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
    text = f"a{first}b{second}c"
    assert [run.without(text, k) for k in range(2)] == [f"ab{second}c", f"a{first}bc"]


def test_a_barrier_that_is_not_needed_and_a_complaint_are_failures(run: Any) -> None:
    def verdict(**values: Any) -> str:
        return run.verdict([SimpleNamespace(case="atax", done=True, values={"size": 40, "barriers": 2, **values})])
    assert verdict(complaints="", needed=[True, True]) == ""
    assert verdict(complaints="", needed=[True, False]) == "atax: barrier 2 is not needed"
    assert verdict(complaints="Invalid read", needed=[]) == "atax: Oclgrind complains"
    assert run.verdict([SimpleNamespace(case="adi", done=True, values={"not_run": "no Oclgrind"})]) == ""
