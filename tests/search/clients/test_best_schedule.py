"""`--scheduler best`: every candidate is named with its predicted time, the cheapest is taken, the result is legal."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from polysched import PipelineOptions, optimize
from polysched.dependence import Dependences, analyse, violation
from polysched.errors import BudgetExceededError, PolyschedError
from polysched.measure.programs.instance_trace import verify_order
from polysched.scheduling import ALGORITHMS, SchedulerOptions
from polysched.scop import from_c_file
from polysched.search import space
from polysched.search.automatic import POLICIES
from polysched.search.clients.best_schedule import best, candidates_of, schedules
from polysched.search.space import Explorer
from polysched.target import Target
from polysched.tiling import BandOptions, TilingOptions, tile
from polysched.tiling.planning.predict import NestPrediction, Prediction, predict, program_seconds
from polysched.tiling.tiled_schedule import TiledSchedule

KERNELS = Path(__file__).parents[2] / "kernels"
MACHINE = TilingOptions(target=Target(vector_bits=256, vector_registers=16))


@cache
def kernel(name: str) -> Dependences:
    return analyse(from_c_file(KERNELS / f"{name}.c"))


@cache
def best_of(name: str) -> TiledSchedule:
    return best(kernel(name), tiling=MACHINE)


@pytest.mark.parametrize("name", ["mm2", "jacobi_1d", "symm", "gramschmidt"])
def test_the_cheapest_candidate_is_taken(name: str) -> None:
    dependences = kernel(name)
    tiled = best_of(name)
    candidates = tiled.schedule.report.candidates
    assert [c.name for c in candidates] == [
        *(f"pluto, fusion {p}" for p in POLICIES), "pluto, split index sets", "feautrier", "isl", "original"]
    (chosen,) = (c for c in candidates if c.chosen)
    costs = [c.predicted_seconds for c in candidates if c.predicted_seconds is not None]
    assert len(costs) > 1
    assert chosen.predicted_seconds == min(costs)
    assert all(c.note for c in candidates if c.predicted_seconds is None)
    assert tiled.schedule.report.rungs[0].endswith(f": {chosen.name}")
    assert violation(dependences, tiled.tree) is None
    verify_order(tiled)


def test_a_tiled_product_beats_the_loops_as_written() -> None:
    """What the whole field knows: the order (i, j, k) as written walks memory badly."""
    costs = {c.name: c.predicted_seconds for c in best_of("mm2").schedule.report.candidates}
    assert costs["pluto, fusion smart"] < 0.5 * costs["original"]


def test_the_predicted_time_is_that_of_the_tiled_tree() -> None:
    dependences = kernel("jacobi_1d")
    tiled = tile(ALGORITHMS["original"](dependences), MACHINE)
    predicted = predict(dependences, tiled.tree, target=MACHINE.target, plans=tiled.plans)
    expected = program_seconds(predicted, MACHINE.target)
    found = {c.name: c.predicted_seconds for c in best_of("jacobi_1d").schedule.report.candidates}
    assert found["original"] == expected


def test_threads_share_the_work_that_there_is_and_cost_their_start() -> None:
    nest = predict(kernel("jacobi_1d"), kernel("jacobi_1d").scop.schedule, target=MACHINE.target).nests[0]
    four = replace(MACHINE.target, cores=4)

    def seconds(**given: float) -> float | None:
        changed: NestPrediction = replace(nest, seconds=1.0, **given)
        return program_seconds(Prediction(nests=(changed,), unknown=(), parameters={}), four)

    assert seconds() == 1.0
    assert seconds(teams=1, width=100.0) == pytest.approx(0.25, rel=1e-3)
    assert seconds(teams=1, width=2.0) == pytest.approx(0.5, rel=1e-3)
    assert seconds(teams=1_000_000, width=100.0) > 1.0
    assert program_seconds(Prediction(nests=(), unknown=("S0: why",), parameters={}), four) is None


def test_without_a_prediction_of_the_first_nothing_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    real = space.predict

    def blind(dependences, tree, **given):  # type: ignore[no-untyped-def]
        found = real(dependences, tree, **given)
        return replace(found, unknown=("S0: not known",)) if len(seen) < 1 and not seen.append(1) else found

    seen: list[int] = []
    monkeypatch.setattr(space, "predict", blind)
    candidates = best(kernel("mm2"), tiling=MACHINE).schedule.report.candidates
    assert candidates[0].chosen
    assert candidates[0].note == "no prediction: S0: not known"


def test_refused_candidates_are_named_and_the_first_refusal_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(dependences: Dependences, *, options: SchedulerOptions | None = None) -> None:
        raise BudgetExceededError("too hard")

    monkeypatch.setitem(ALGORITHMS, "isl", refuse)
    candidates = best(kernel("jacobi_1d"), tiling=MACHINE).schedule.report.candidates
    assert next(c for c in candidates if c.name == "isl").note == "refused: too hard"
    for name in ALGORITHMS:
        monkeypatch.setitem(ALGORITHMS, name, refuse)
    with pytest.raises(PolyschedError, match="too hard"):
        best(kernel("jacobi_1d"), tiling=MACHINE)


def test_the_pipeline_takes_it() -> None:
    optimized = optimize(KERNELS / "mm2.c", PipelineOptions(scheduler="best", tile=16))
    assert any(line.startswith("candidate: pluto, fusion smart: ") for line in optimized.steps())
    assert sum(line.endswith(", chosen") for line in optimized.steps()) == 1


def test_its_candidates_are_a_space_as_any_other() -> None:
    dependences = kernel("jacobi_1d")
    offered = list(Explorer(schedules, dependences.scop, PipelineOptions(tile="off"), given=dependences).enumerate())
    compared = [t.candidate.name for t in candidates_of(dependences, tiling=TilingOptions(sizes="off")) if t.tiled]
    assert [own.trace[0].value for own in offered] == compared


def test_what_was_chosen_for_a_band_holds_for_every_candidate() -> None:
    by_hand = replace(MACHINE, sizes="off", bands={0: BandOptions(sizes=(4, 8))})
    tiled = [t.tiled for t in candidates_of(kernel("jacobi_1d"), tiling=by_hand) if t.tiled is not None]
    assert all(t.options == by_hand for t in tiled)
    assert tiled[0].bands[0].sizes == (4, 8)
