"""The best of several schedules (`--scheduler best`): a template over the schedulers, whose recipes the model ranks.

`schedules` is a space like any other; `tune(program, space=schedules)` races what `best` only predicts.  What the model
compares are whole programs on all cores of the target (`tiling.planning.predict.program_seconds`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from polysched.dependence.dependences import Dependences
from polysched.errors import PolyschedError
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.schedule import Candidate
from polysched.search.automatic import POLICIES
from polysched.search.chooser import Chooser
from polysched.search.space import Explorer
from polysched.tiling.options import TilingOptions
from polysched.tiling.tiled_schedule import TiledSchedule


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


def schedules(choose: Chooser, dependences: Dependences, *, base: Recipe | None = None) -> Recipe:
    """The template: one of the schedulers, Pluto's under several fusion policies and with split index sets.

    Parameters
    ----------
    base : what the recipes have in common.
    """
    return choose.scheduled("schedule", recipes(base or Recipe()))


def recipes(base: Recipe) -> dict[str, Recipe]:
    """What `schedules` chooses from, by names for a reader; the first is preferred where nothing can be predicted."""
    made = {f"pluto, fusion {policy}": replace(base, fusion=policy) for policy in POLICIES}
    if not base.split_index_sets:
        made["pluto, split index sets"] = replace(base, split_index_sets=True)
    return made | {name: replace(base, scheduler=name) for name in ("feautrier", "isl", "original")}


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
    options, tiling = options or SchedulerOptions(), tiling or TilingOptions()
    base = Recipe(split_index_sets=options.split_index_sets, concurrent_start=options.concurrent_start)
    explorer = Explorer(
        partial(schedules, base=base), dependences.scop, given=dependences, tiling=tiling, is_own=True,
        options=PipelineOptions(scheduling=options, tiling=TilingOptions(target=tiling.target)))
    offered = {proposal.recipe for proposal in explorer.enumerate()}
    tried: list[Tried] = []
    refusals: list[PolyschedError] = []
    for name, recipe in recipes(base).items():
        try:
            tried.append(_tried(name, recipe, explorer, offered, base))
        except PolyschedError as error:
            refusals.append(error)
            tried.append(Tried(Candidate(name=name, note=f"refused: {error.problem}")))
    if all(t.tiled is None for t in tried):
        raise refusals[0]
    return tuple(tried)


def _tried(name: str, recipe: Recipe, explorer: Explorer, offered: set[Recipe], base: Recipe) -> Tried:
    """One candidate: what the model says of it, or whose schedule it has."""
    row = explorer.row(recipe)
    if recipe not in offered:
        own = next(label for label, other in recipes(base).items()
                   if other in offered and explorer.row(other).tree == row.tree)
        return Tried(Candidate(name=name, note=f"the schedule of {own}"))
    unknown = row.predicted.unknown
    note = f"no prediction: {unknown[0]}" if row.seconds is None else ""
    return Tried(Candidate(name=name, predicted_seconds=row.seconds, note=note), row.tiled)


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
