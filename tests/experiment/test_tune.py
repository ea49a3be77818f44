"""The experiment of searches: how false claims are counted, and its tables."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from dataclasses import replace
from math import comb
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from polysched.experiment import Settings
from polysched.experiment.standings import Status
from polysched.measure.timing.race import Gain
from polysched.pipeline.options import PipelineOptions
from tests.experiment.test_contest_results import record as contest_record

FILE = Path(__file__).parents[2] / "experiments" / "tune" / "run.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tune_experiment", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


ROOM = loaded()


@pytest.mark.parametrize(("claimed", "refuted"), [(0, False), (5, False), (9, False), (10, True), (100, True)])
def test_more_false_claims_than_five_in_a_hundred_are_told(claimed: int, refuted: bool) -> None:
    assert (ROOM.chance(claimed, 100) < 0.05) == refuted


def test_the_chance_is_the_tail_of_a_binomial() -> None:
    assert ROOM.chance(0, 20) == pytest.approx(1)
    assert ROOM.chance(2, 2) == pytest.approx(0.05**2)
    assert ROOM.chance(1, 20) == pytest.approx(1 - 0.95**20)
    assert ROOM.chance(3, 4, 0.5) == pytest.approx((comb(4, 3) + 1) / 16)


def test_a_claimed_gain_counts_and_a_kept_pick_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    gains = iter([Gain(), Gain(median=1.1, low=1.01, high=1.2, pairs=25), Gain()])
    seeds: list[int] = []

    def tune(*_: object, seed: int, **__: object) -> SimpleNamespace:
        seeds.append(seed)
        return SimpleNamespace(gain=next(gains))
    monkeypatch.setattr(ROOM, "tune", tune)
    value = ROOM.raced_with_itself(ROOM.KERNELS / "mvt.c", {"n": 40}, PipelineOptions(), 3, 7, lambda text: None)
    assert (value["null"]["runs"], value["null"]["claimed"], seeds) == (3, 1, [7, 8, 9])
    assert value["null"]["chance"] == pytest.approx(1 - 0.95**3)


def record(case: str, **values: Any) -> SimpleNamespace:
    return SimpleNamespace(case=case, values=values)


def test_false_claims_and_searches_have_tables_of_their_own() -> None:
    null = record("lu", null={"runs": 100, "claimed": 4, "chance": 0.742})
    search = record("gemm", gain={"median": 1.2, "interval": [1.1, 1.3], "pairs": 25}, trials=30,
                    seconds=60.0, sizes={"n": 512}, curve=[1.0, 1.18, 1.2], rejected=2, duplicates=3)
    text = ROOM.table([null, search])
    rows = {cells[0]: cells[1:] for line in text.splitlines() if line.startswith("|")
            for cells in [[cell.strip() for cell in line.strip("|").split("|")]]}
    assert rows["lu"] == ["100", "4", "0.742"]
    assert rows["gemm"] == ["1.20", "1.10 to 1.30", "30", "2", "0.50", "2", "3"]
    assert "1 of 1 cases do not keep" in text
    assert "gemm" not in ROOM.table([null])


def test_trials_to_the_best_of_many_and_their_table() -> None:
    rows = ROOM.further_rows
    assert rows.trials_to([1.0, 1.1, 1.5], 1.4) == 3
    assert rows.trials_to([1.0, 1.1], 1.4) is None
    assert rows.trials_to([1.2], 0.95) == 0, "the model's pick is near enough"
    text = ROOM.table([record("lu", best={"of": 1000, "ratio": 1.5, "trials": {
        "random": 40, "projected": None, "residual": 8}})])
    assert "projected: median 65, worst more than 64; residual: median 8, worst 8" in text


def test_plans_and_sizes_have_tables_of_their_own() -> None:
    text = ROOM.table([record("bytes", plans={"gain": {"median": 1.21, "interval": [1.1, 1.3]}, "trials": 9}),
                       record("kept", plans={"gain": {"median": 1.0, "interval": [1.0, 1.0]}, "trials": 4}),
                       record("lu", sizes={"parameter": "n", "variants": 2, "ratios": {"100": [0.8, 0.9, 1.0]}})])
    assert "in geometric mean of 2 workloads: 1.10" in text
    assert "100: 0.90" in text


def test_a_plan_is_an_instruction_per_statement() -> None:
    from polysched.search.space import Explorer
    from polysched.tensorize.options import TensorizeOptions
    rows = ROOM.further_rows
    scop = rows.operator({"operator": "gmm", "m": 16, "n": 16, "k": 16, "accumulator": "int32"})
    made = list(Explorer(rows.plans, scop, PipelineOptions(tensorize=TensorizeOptions()), {}).enumerate())
    assert all(proposal.recipe.instructions for proposal in made)


def test_busy_processes_end(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def kept(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(real(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", kept)
    with ROOM.further_rows.load(2):
        assert [process.poll() for process in started] == [None, None]
    assert all(process.poll() is not None for process in started)


def test_six_workloads_are_searched_beside_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"tvm": True, "trials": 3}
    settings = Settings(folder=FILE.parent, config=tomllib.loads((FILE.parent / "experiment.toml").read_text()),
                        threads=(2,), budget_seconds=300.0, options=asked)
    cases = ROOM.cases(settings)
    assert [case.name for case in cases] == settings.config["tvm"]["workloads"]
    assert len(cases) == 6
    told: list[Settings] = []
    monkeypatch.setattr(ROOM.tvm_row, "contest", lambda: SimpleNamespace(
        SEARCHED="polysched searched", over_tvm=lambda records: f"of {len(records)}",
        measure=lambda case, settings, report: told.append(settings) or contest_of({"tvm": 0.2, "numpy": 0.1})))
    kept = [replace(contest_record(case.name, {}), values=ROOM.measure(case, settings, print)) for case in cases[:2]]
    assert told[0].options["trials"] == 3
    assert told[0].options["peers"] == ["tvm"]
    assert told[0].options["search"]
    text = ROOM.table(kept)
    assert "of 2\n\nAims: matrix product 1.0 (4.00), geometric mean of all 1.4." in text


def contest_of(seconds: dict[str, float | Status]) -> dict[str, Any]:
    return dict(contest_record("", {"polysched": 0.1, "polysched searched": 0.05, **seconds}).values)
