"""The experiment on mappings: what its table and its verdict make of counts and of matching times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "amos_mappings"
START = """
import json, sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
import matching_time, run
from polysched.tensorize import INTRINSICS
matching_time.REPEATS = 2

def timed(case, **samples):
    return SimpleNamespace(case=case, done=True, options={"times": True, "extra": False}, values={
        "analysis_samples": [3.0, 5.0], "instructions": {n: {"count": 1, "samples": s} for n, s in samples.items()}})

def counted(case, published, amos):
    values = {"published": published, "amos": amos}
    return SimpleNamespace(case=case, done=True, options={"extra": False}, values=values)
"""


def said(text: str, folder: Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", START + text, str(EXPERIMENT)], capture_output=True, text=True,
                          timeout=300, check=False, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "2"})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("\n")


def test_a_pair_whose_median_is_not_under_the_limit_is_an_objection(tmp_path: Path) -> None:
    lines = said("""
quick = timed("gmm", a=[90.0, 49.0, 48.0], b=[1.0, 2.0, 3.0])
print(run.verdict([quick]) == "")
print(run.verdict([quick, timed("c3d", a=[50.0, 20.0, 60.0])]))
print(run.verdict([counted("c1d", 6, 6)]) == "", run.verdict([counted("c1d", 6, 7)]))
""", tmp_path)
    assert lines == ["True", "not under 50 ms: c3d by a (50 ms)", "True other counts than published: c1d"]


def test_the_slowest_pairs_come_first(tmp_path: Path) -> None:
    text = said("""
matching_time.SLOWEST = 2
print(run.table([timed("gmm", a=[4.0, 9.0, 5.0], b=[1.0, 2.0, 3.0]), timed("c3d", a=[7.0, 6.0, 8.0])]))
""", tmp_path)
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text if line.startswith("|")]
    assert cells[2:4] == [["c3d", "a", "1", "7.0", "6.0", "8.0"], ["gmm", "a", "1", "5.0", "4.0", "9.0"]]
    assert cells[6] == ["gmm", "3.5", "5.0", "a", "4.0"]
    assert text[-1] == "3 of 3 pairs take less than 50 ms, the median of all 5.0 ms"


def test_every_shipped_description_is_timed_with_every_repeat(tmp_path: Path) -> None:
    lines = said("""
values = matching_time.measure("gmm", lambda name: None)
print(list(values["instructions"]) == list(INTRINSICS))
print({len(m["samples"]) for m in values["instructions"].values()} | {len(values["analysis_samples"])})
print(json.dumps(values["instructions"]["mma_16x16x16"]["count"]))
""", tmp_path)
    assert lines[:2] == ["True", "{2}"]
    assert json.loads(lines[2]) == 1
