"""Beside TVM: contests of `experiments/blas` between what both searches find in the same wall-clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from polysched.experiment import Case
from polysched.experiment.contest_results import contest_table, standings_of
from polysched.experiment.folders import load_module, read_folder

if TYPE_CHECKING:
    from polysched.experiment import Record, Report, Settings

FOLDER = Path(__file__).parents[1] / "blas"
PRODUCT = "f32_product"
"""How the names of its matrix products begin, which have an aim of their own."""

PRODUCT_AIM, AIM = 1.0, 1.4
"""Times as fast as what TVM finds in the same wall-clock: the product, and the geometric mean of all."""


def contest() -> ModuleType:
    """The experiment that has these workloads, TVM's programs, and ours after a search."""
    return load_module(FOLDER / "run.py")


def settings_of(settings: Settings) -> Settings:
    """How that experiment is told to race the two searches alone."""
    config = read_folder(FOLDER).config
    options: Mapping[str, Any] = {"assembly": False, "keep_c": None, "tuned": None, "peers": ["tvm"], "search": True,
                                  "trials": settings.options["trials"]}
    return replace(settings, folder=FOLDER, config=config, options=options,
                   budget_seconds=float(config["budget_seconds"]))


def cases(settings: Settings, names: Sequence[str]) -> list[Case]:
    """The workloads of these names."""
    made: list[Case] = contest().cases(settings_of(settings))
    return [case for case in made if case.parameters["workload"]["name"] in names]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """TVM searches, then polysched for as long, then what both found is raced."""
    return {"tvm": contest().measure(case, settings_of(settings), report)}


def table(records: Sequence[Record]) -> str:
    """The contests, and the speed over TVM's beside the aims; peers that are missing are named."""
    timed = [replace(record, values=record.values["tvm"]) for record in records]
    named = contest().SEARCHED
    ratios = {r.case: found[0] for r in timed if (found := standings_of(r).speed_up(named, over="tvm"))}
    products = ", ".join(f"{ratio:.2f}" for case, ratio in ratios.items() if case.startswith(PRODUCT))
    aims = f"Aims: matrix product {PRODUCT_AIM:.1f} ({products or 'not measured'}), geometric mean of all {AIM:.1f}.\n"
    return "\n\n".join(part for part in (contest_table(timed, rate=True), contest().over_tvm(timed), aims) if part)
