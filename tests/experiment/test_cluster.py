"""Measuring on the workers of a Dask cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.experiment.record import read
from tests.cli.command import RUN_FAILED, is_refusal, polysched
from tests.experiment.toy import write_toy

pytest.importorskip("distributed", reason="Dask's distributed is not installed (polysched[cluster])")


def test_a_local_cluster_measures_every_case_once(tmp_path: Path) -> None:
    write_toy(tmp_path)
    log = tmp_path / "log"
    done = polysched("bench", "toy", "--cases", "one", "crash", "two", "three", "--log", str(log),
                     "--cluster", "local:2", folder=tmp_path)
    assert is_refusal(done, code=RUN_FAILED), done.stderr
    assert sorted(line.split()[0] for line in log.read_text().splitlines()) == ["crash", "one", "three", "two"]
    records = {r.case: r for r in read(tmp_path / "toy.jsonl")}
    assert {case: r.status for case, r in records.items()} == {
        "one": "done", "two": "done", "three": "done", "crash": "crashed"}
    assert all(r.machine["cores"] >= 1 for r in records.values())
    assert "| three |     5 |" in done.stdout


def test_an_address_where_nobody_answers_is_a_refusal(tmp_path: Path) -> None:
    write_toy(tmp_path)
    done = polysched("bench", "toy", "--cluster", "tcp://127.0.0.1:9", folder=tmp_path)
    assert is_refusal(done), done.stderr
    assert "no cluster answers" in done.stderr
