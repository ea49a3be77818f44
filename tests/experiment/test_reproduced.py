"""Verdicts of repeated tables: what each criterion accepts, what it refuses, and that samples come out the same."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from polysched.errors import PolyschedError
from polysched.experiment.folders import load_module
from polysched.scop import from_c_text

REPRODUCED = Path(__file__).parents[2] / "experiments" / "reproduced"


def room(name: str) -> ModuleType:
    return load_module(REPRODUCED / name / "run.py")


def record(case: str, values: dict[str, Any], **parameters: Any) -> SimpleNamespace:
    return SimpleNamespace(case=case, done=True, values=values, parameters=parameters)


def layer(case: str, *, predicted: list[int], simulated: list[int], data_bytes: int = 10**6) -> SimpleNamespace:
    """The first tile is the model's pick; the same counts at both levels."""
    tiles = [{"edges": "auto" if not at else [at], "predicted": [p, p], "simulated": [s, s]}
             for at, (p, s) in enumerate(zip(predicted, simulated, strict=True))]
    return record(case, {"sizes": {"k": 1}, "capacities": [1000, 10**5], "data_bytes": data_bytes, "tiles": tiles})


def test_tiles_of_convolutions_are_ranked_among_samples_and_the_pick_among_all() -> None:
    run = room("convolution_tiles")
    good = layer("good", predicted=[9, 1, 2, 3], simulated=[10, 10, 20, 30])
    assert run.verdict([good]) == ""
    far = layer("far", predicted=[9, 1, 2, 3], simulated=[12, 10, 20, 30])
    assert "the pick moves 1.20 times" in run.verdict([far])
    mixed = layer("mixed", predicted=[9, 3, 2, 1], simulated=[10, 10, 20, 30])
    assert "-1.00 at L1, -1.00 at L2" in run.verdict([mixed])
    assert run.verdict([good, good, mixed]) == ""
    assert run.verdict([])


def test_a_level_that_holds_a_layer_does_not_count() -> None:
    run = room("convolution_tiles")
    small = layer("small", predicted=[9, 1, 2, 3], simulated=[10, 10, 20, 30], data_bytes=2000)
    assert list(run.medians([small])) == [1]
    assert run.table([small]).count("small") == 1


def test_layers_are_cut_at_their_largest_extent() -> None:
    run = room("convolution_tiles")
    whole = run.Layer(out=28272, edge=17, into=1024, kernel=1, stride=1)
    own = whole.cut(1 << 24)
    assert own.products <= 1 << 24 < 2 * own.products * max(own.out, own.edge)
    assert own.edge == 17
    assert whole.cut(whole.products) == whole
    scop = from_c_text(run.Layer(out=2, edge=3, into=2, kernel=3, stride=2).text)
    assert len(scop.statements[0].iterators) == 6


def test_samples_of_tiles_stay_within_the_loops_and_come_out_the_same() -> None:
    run = room("convolution_tiles")
    first = run.sampled([1, 7, 64], 20, "0 a")
    assert first == run.sampled([1, 7, 64], 20, "0 a")
    assert first != run.sampled([1, 7, 64], 20, "0 b")
    for edges, order in first:
        assert edges[0] == 1
        assert edges[1] in (1, 2, 4, 7)
        assert edges[2] in (1, 2, 4, 8, 16, 32, 64)
        assert sorted(order) == [0, 1, 2]


def contest(case: str, *seconds: float, problem: str = "") -> SimpleNamespace:
    """Seconds of the C file, tiled, and on threads; with a problem, the last one has no time."""
    run = room("pluto_speedups")
    ways = (run.WRITTEN, run.TILED, run.PARALLEL)
    return record(case, {"threads": 2, "seconds": dict(zip(ways, seconds, strict=False)),
                         "problems": {run.PARALLEL: problem} if problem else {}})


@pytest.mark.parametrize(("seconds", "objection"), [
    ((3.0, 1.5, 0.8), ""), ((3.0, 2.5, 1.0), "tiles give 1.20"), ((3.0, 1.5, 1.0), "2 threads give 1.50"),
    ((1.0, 1.1, 0.5), "lu is slower tiled")])
def test_speed_ups_have_three_conditions(seconds: tuple[float, float, float], objection: str) -> None:
    said = room("pluto_speedups").verdict([contest("lu", *seconds)])
    assert objection in said
    assert bool(objection) == bool(said)


def test_a_kernel_without_a_verified_time_is_an_objection_and_has_no_row() -> None:
    run = room("pluto_speedups")
    records = [contest("lu", 3.0, 1.0, 0.5), contest("mvt", 3.0, 1.0, problem="its result differs")]
    assert "mvt has no verified time" in run.verdict(records)
    assert "| mvt" not in run.table(records)
    assert "- mvt, tiled, threads: its result differs" in run.table(records)


def test_programs_of_pluto_are_read_with_the_sizes_of_the_configuration() -> None:
    run = room("pluto_speedups")
    settings = SimpleNamespace(config={"kernels": {"jacobi_1d_imper": {"steps": 2, "n": 9}, "mvt": {"n": 4}}})
    for case in run.cases(settings):
        assert {p.spelling for p in run.program(case.name).parameters} == set(case.parameters["sizes"])


@pytest.mark.parametrize(("seconds", "objection"), [
    ({"pipelined, 128": 2.0, "diamond, auto": 1.5, "diamond tiles, 128": 1.0}, ""),
    ({"pipelined, 128": 1.2, "pipelined, 512": 1.3, "diamond, 128": 1.0}, "diamonds are 1.20 times as fast"),
    ({"pipelined, 128": 2.0}, "jacobi_2d, diamond has no verified time")])
def test_diamonds_are_faster_by_their_best_tiles_where_there_is_a_face(
        seconds: dict[str, float], objection: str) -> None:
    run = room("diamonds")
    face = record("jacobi_2d", {"pipelined": [1, 2, 1], "diamond": [4, 4, 4], "problems": {},
                                "seconds": {run.WRITTEN: 3.0, **seconds}})
    none = record("seidel_2d", {"pipelined": [1, 2, 1], "diamond": [1, 2, 1],
                                "problems": {"diamond, auto": "it differs"},
                                "seconds": {run.WRITTEN: 3.0, "pipelined, 128": 1.0, "diamond, 128": 2.0}})
    said = run.verdict([face, none])
    assert objection in said
    assert bool(objection) == bool(said)
    lines = [[cell.strip() for cell in line.split("|")] for line in run.table([face, none]).splitlines()]
    assert next(cells[-3:-1] for cells in lines if cells[1:2] == ["seidel_2d, diamond"]) == ["2000.0", "1.50"]
    assert ["- seidel_2d, diamond, auto: it differs"] in lines


@pytest.mark.parametrize(("taken", "objection"), [
    ((4.3, 1.0, 1.0), ""), ((4.0, 1.0, 1.0), "tiles over time give 4.00"),
    ((4.3,), "heat_1d has no verified times"), ((4.3, 1.0), "heat_1d has no verified times")])
def test_what_is_tiled_over_time_is_faster_by_the_lesser_speed_up(taken: tuple[float, ...], objection: str) -> None:
    run = room("periodic_stencils")
    band = {"depth": 2, "without": 1, "with": 2, "wrong": "", "negative": True, "seconds": 0.1, "problems": {}}
    stencil = record("heat_1d", {**band, "taken": dict(zip((run.WRITTEN, run.TILED, run.UNCUT), taken, strict=False))})
    other = record("reversal", {**band, "taken": {run.WRITTEN: 1.0, run.TILED: 1.0, run.UNCUT: 1.0}})
    said = run.verdict([stencil, other])
    assert objection in said
    assert bool(objection) == bool(said)


@pytest.mark.parametrize(("uncut", "objection"), [(1.4, ""), (1.2, "cuts give the lattices 1.20, and 1.33")])
def test_lattices_are_faster_with_cuts_by_the_published_mean(uncut: float, objection: str) -> None:
    run = room("periodic_stencils")
    band = {"depth": 2, "without": 1, "with": 2, "wrong": "", "negative": True, "seconds": 0.1, "problems": {}}
    lattice = record("lbm_d1q3", {**band, "taken": {run.WRITTEN: 9.0, run.TILED: 1.0, run.UNCUT: uncut}})
    stencil = record("heat_1d", {**band, "taken": {run.WRITTEN: 9.0, run.TILED: 1.0, run.UNCUT: 1.0}})
    said = run.verdict([lattice, stencil])
    assert objection in said
    assert bool(objection) == bool(said)
    assert [cell.strip() for cell in run.table([lattice, stencil]).splitlines()[2].split("|")][-4:-1] == [
        "1000.0", "9.00", f"{uncut:.2f}"]


@pytest.mark.parametrize(("more", "objection"), [
    ({"ratio": 1.5}, ""), ({"ratio": 1.3}, "stitched kernels are 1.30 times as fast"),
    ({"refused": "no shape"}, "softmax has no time: no shape")])
def test_stitched_kernels_are_faster_than_greedy_ones(more: dict[str, Any], objection: str) -> None:
    said = room("stitched_kernels").verdict([record("softmax", {
        "cost_kernels": 1, "dominator_kernels": 4, "cost_bytes": 8, "compulsory_bytes": 8, **more})])
    assert objection in said
    assert bool(objection) == bool(said)


def waits(way: str, kernel: float, wait: float, *, latency: float = 1.0, runs: int = 10) -> SimpleNamespace:
    values = {"kernel_seconds": kernel, "waits": [wait] * 3, "latencies": [latency], "alone": [1.0], "runs": runs,
              "left_seconds": 10 * kernel}
    return record(f"{way} {kernel}", values, way=way)


def test_waits_may_grow_with_the_kernel_only_without_preemption() -> None:
    run = room("preemption_latency")
    whole, behind_tiles, reset = run.WAYS
    good = [waits(whole, 1.0, 0.5), waits(whole, 10.0, 5.1), waits(behind_tiles, 1.0, 0.1),
            waits(behind_tiles, 10.0, 0.1), waits(reset, 1.0, 0.1, runs=0), waits(reset, 10.0, 0.2, runs=0)]
    assert run.verdict(good) == ""
    assert "less than 2" in run.table(good)
    for bad, objection in (
            ([waits(whole, 1.0, 0.5), waits(whole, 10.0, 0.5)], "kernels grow 10.0 times, the wait 1.0 times"),
            ([waits(reset, 1.0, 0.1), waits(reset, 10.0, 0.3)], "the median wait grows 3.0 times"),
            ([waits(reset, 1.0, 0.1), waits(reset, 10.0, 0.1, latency=1.03)], "latencies rise by 3.0%"),
            ([waits(behind_tiles, 1.0, 0.1), waits(behind_tiles, 9.0, 0.1, runs=7)], "70% of the best-effort runs")):
        assert objection in run.verdict(bad)
    assert "no kernels beside requests that yield behind tiles of 32" in run.verdict(good[:2])


def searches(ours: list[float | None], theirs: list[float | None]) -> SimpleNamespace:
    run = room("search_curves")
    return record("product", {"curves": {run.THEIRS: theirs, run.OURS: ours}})


@pytest.mark.parametrize(("ours", "objection"), [
    ([9.0, None, 4.0], ""), ([9.0, None, 5.2], "0.96 times"), ([5.0, None, None], ""),
    ([9.0, None, 6.0], "product does not come to 90%"), ([9.0, None, 6.0, 1.0], "0.83 times")])
def test_searches_are_compared_after_as_many_trials(ours: list[float | None], objection: str) -> None:
    said = room("search_curves").verdict([searches(ours, [None, 7.0, 5.0])])
    assert objection in said
    assert bool(objection) == bool(said)


def test_a_curve_begins_with_the_first_candidate_that_has_a_time() -> None:
    run = room("search_curves")
    assert run.best_so_far([None, 3.0, 4.0, None, 2.0]) == [float("inf"), 3.0, 3.0, 3.0, 2.0]
    assert run.trials_to([None, 3.0, 2.0], 2.5) == 3
    assert run.trials_to([None, 3.0], 2.5) is None
    rows = run.table([searches([9.0, 8.0], [None, 1.0])]).splitlines()
    assert [row.strip("| ").split("|")[-1].strip() for row in rows if row.startswith("| product")] == ["2", "none"]
    assert run.plot([searches([9.0, None], [None, 1.0])]).axes[0].get_legend() is not None


def test_a_search_without_any_time_is_an_objection() -> None:
    run = room("search_curves")
    assert "our best is 0.00 times" in run.verdict([searches([None, None], [1.0, 2.0])])
    assert "no candidate of MetaSchedule's has a time" in run.verdict([searches([1.0, None], [None, None])])
    with pytest.raises(PolyschedError, match="2 trials or more"):
        run.cases(SimpleNamespace(options={"trials": 1}, config={"workload": []}))


def test_records_of_tvm_have_a_time_or_none() -> None:
    lines = ["[0, [[[], []], [2e-3, 4e-3], {}, []]]", "[0, [[[], []], [1e10], {}, []]]", "[0, [[[], []], [], {}, []]]"]
    assert room("search_curves").times_of("\n".join(lines)) == [pytest.approx(3e-3), None, None]


def test_without_tvm_a_search_is_skipped_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    run = room("search_curves")
    monkeypatch.setattr(run, "NEEDS", ("no_such_package",))
    settings = SimpleNamespace(threads=(1,), config={"seed": 0})
    case = SimpleNamespace(parameters={"workload": {}, "trials": 1})
    with pytest.raises(PolyschedError, match="the package no_such_package is not installed"):
        run.measure(case, settings, print)


def test_workloads_of_searches_are_programs_of_one_statement() -> None:
    run = room("search_curves")
    row = {"kind": "convolution", "dtype": "float32", "sizes": {"N": 2, "K": 3, "H": 4, "R": 3}}
    assert len(run.program(row).statements) == 1
