"""The best of several schedules: each is tiled, the cost model predicts its time, the cheapest is taken.

The candidates are the named schedulers, Pluto's under several fusion policies and with split index sets.  What the
model compares are whole programs on all cores of the target: per innermost loop the projected time on one core
(`cost_models.Projected`), divided among the threads that have work, and the starts of teams of threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.errors import PolyschedError
from polysched.records import dataclass
from polysched.scheduling.algorithms import ALGORITHMS, Algorithm
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.schedule import Candidate, Schedule
from polysched.target.target import Target
from polysched.tiling.options import TilingOptions
from polysched.tiling.planning.predict import Prediction, predict
from polysched.tiling.tile_bands import tile
from polysched.tiling.tiled_schedule import TiledSchedule

NAME = "best"
"""What `--scheduler` calls it."""

POLICIES = ("smart", "max", "typed", "none")


@dataclass(frozen=True, eq=False)
class Tried:
    """A candidate with what it gave.

    Parameters
    ----------
    candidate : its name and predicted time.
    tiled : None where it was refused or gave the schedule of an earlier one.
    """

    candidate: Candidate
    tiled: TiledSchedule | None = None


def best(dependences: Dependences, *, options: SchedulerOptions | None = None,
         tiling: TilingOptions | None = None) -> TiledSchedule:
    """Tile the candidates and take the one with the least predicted time; the first of equal ones.

    The report of its schedule lists all candidates.  Where the model cannot predict the first one, nothing can be said
    to be better than it.

    Parameters
    ----------
    options : of the schedulers; the fusion policy is tried in all forms whatever it says here.
    tiling : how every candidate is tiled; its target and sizes are those of the model.

    Raises
    ------
    PolyschedError : every candidate was refused; the error is the first one's.
    """
    started = time.perf_counter()
    tried = candidates_of(dependences, options=options, tiling=tiling)
    winner = winner_of(tried)
    assert winner.tiled is not None
    candidates = tuple(replace(t.candidate, chosen=t is winner) for t in tried)
    schedule = winner.tiled.schedule
    compared = sum(t.tiled is not None for t in tried)
    rungs = (f"best of {compared} different schedules: {winner.candidate.name}", *schedule.report.rungs)
    report = replace(schedule.report, rungs=rungs, candidates=candidates, total_seconds=time.perf_counter() - started)
    return replace(winner.tiled, schedule=replace(schedule, report=report))


def candidates_of(dependences: Dependences, *, options: SchedulerOptions | None = None,
                  tiling: TilingOptions | None = None) -> tuple[Tried, ...]:
    """Every candidate of `best`; those that give the schedule of an earlier one say so and are not tiled.

    Raises
    ------
    PolyschedError : every candidate was refused; the error is the first one's.
    """
    tiling = tiling or TilingOptions()
    tried: list[Tried] = []
    seen: dict[str, str] = {}
    refusal: PolyschedError | None = None
    for name, algorithm, chosen in _candidates(options or SchedulerOptions()):
        try:
            schedule = algorithm(dependences, options=chosen)
            tree = str(schedule.tree)
            if tree in seen:
                tried.append(Tried(Candidate(name=name, note=f"the schedule of {seen[tree]}")))
                continue
            seen[tree] = name
            tried.append(_compared(name, schedule, tiling))
        except PolyschedError as error:
            refusal = refusal or error
            tried.append(Tried(Candidate(name=name, note=f"refused: {error.problem}")))
    if refusal is not None and all(t.tiled is None for t in tried):
        raise refusal
    return tuple(tried)


def winner_of(tried: Sequence[Tried]) -> Tried:
    """The candidate with the least predicted time; the first one where the model cannot predict that.

    Of those only that use what was chosen by hand, if some do.
    """
    complete = [t for t in tried if t.tiled is not None]
    complete = [t for t in complete if t.tiled is not None and not t.tiled.unused] or complete
    known = [t for t in complete if t.candidate.predicted_seconds is not None]
    if complete[0] not in known:
        return complete[0]
    return min(known, key=lambda t: t.candidate.predicted_seconds or 0.0)


def _candidates(options: SchedulerOptions) -> Iterator[tuple[str, Algorithm, SchedulerOptions]]:
    for policy in POLICIES:
        yield f"pluto, fusion {policy}", ALGORITHMS["pluto"], replace(options, fusion=policy)
    if not options.split_index_sets:
        yield "pluto, split index sets", ALGORITHMS["pluto"], replace(options, fusion="smart", split_index_sets=True)
    for name in ("feautrier", "isl", "original"):
        yield name, ALGORITHMS[name], replace(options, fusion="smart")


def _compared(name: str, schedule: Schedule, tiling: TilingOptions) -> Tried:
    tiled = tile(schedule, tiling, alone=False)
    prediction = predict(schedule.dependences, tiled.tree, target=tiling.target, parameters=tiling.parameters,
                         plans=tiled.plans)
    seconds = program_seconds(prediction, tiling.target)
    note = f"no prediction: {prediction.unknown[0]}" if seconds is None else ""
    return Tried(Candidate(name=name, predicted_seconds=seconds, note=note), tiled)


def program_seconds(prediction: Prediction, target: Target) -> float | None:
    """Predicted wall time of one execution on all cores; None where an innermost loop has no prediction."""
    if prediction.unknown:
        return None
    return sum(nest.seconds / (max(1.0, min(nest.width, target.cores)) if nest.teams else 1.0)
               + nest.teams * target.team_seconds for nest in prediction.nests)
