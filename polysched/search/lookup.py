"""`optimize`, `transform_file` and `source_to_source` that look a region up in a database first.

The order is: a range of sizes none of which was stated, a record of these sizes, one of the nearest sizes, the model.
What is found is applied, checked by every stage as any choice, and used only if its C is the one that was measured.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import log2
from pathlib import Path
from time import thread_time

from polysched.dependence.dependences import Dependences
from polysched.emit_c.alternatives.variants import with_variants
from polysched.errors import PolyschedError, UsageError
from polysched.measure.processes.building import DEFAULT_FLAGS
from polysched.pipeline import files
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.pipeline.search_choices import choosing_plans, choosing_schedules
from polysched.pipeline.way import optimized_region
from polysched.records import dataclass
from polysched.scheduling.options import SchedulerOptions
from polysched.scop.budget import ANY_NUMBER, with_budget
from polysched.scop.scop import Scop
from polysched.search.building import code_of
from polysched.search.database import Database, Range, Winner
from polysched.search.identity import canonical_scop, digest_of, key_of, place_of
from polysched.search.limits import LIMITS
from polysched.target import find_compiler
from polysched.tiling.footprints.nest import assumed_parameters
from polysched.tiling.options import TilingOptions
from polysched.tiling.tiled_schedule import TiledSchedule

_LOG = logging.getLogger(__name__)


def optimize(path_or_scop: str | Path | Scop, options: PipelineOptions | None = None, *,
             alone: bool = True) -> Optimized:
    """As `pipeline.optimize`, with what `options.database` has for the region.

    Raises
    ------
    DatabaseError : the file is no database, or damaged.
    PolyschedError : any stage refuses.
    """
    options = options or PipelineOptions()
    with searching(options):
        return files.optimize(path_or_scop, options, alone=alone,
                              region=None if options.database is None else looked_up_region)


def transform_file(path: str | Path, options: PipelineOptions | None = None, *,
                   checked: files.Check | None = None) -> files.TransformedFile:
    """As `pipeline.transform_file`, with what `options.database` has for each region.

    Parameters
    ----------
    checked : as there.

    Raises
    ------
    DatabaseError : the file is no database, or damaged.
    PolyschedError : as there.
    """
    options = options or PipelineOptions()
    with searching(options):
        return files.transform_file(path, options, checked=checked,
                                    region=None if options.database is None else looked_up_region)


@contextmanager
def searching(options: PipelineOptions) -> Iterator[None]:
    """While this lasts, the stages of a region have what they leave to a search answered.

    The cheapest of all schedules is found; plans that are to be measured are raced, and kept in the database of the
    options.  What searches is loaded where it is asked for.
    """
    with choosing_schedules(_cheapest):
        if options.tensorize is None or not options.tensorize.measure:
            yield
            return
        from polysched.search.clients.measured_plans import with_fastest_plan
        with choosing_plans(partial(with_fastest_plan, database=options.database)):
            yield


def _cheapest(dependences: Dependences, options: SchedulerOptions, tiling: TilingOptions) -> TiledSchedule:
    from polysched.search.clients.best_schedule import best
    return best(dependences, options=options, tiling=tiling)


def source_to_source(path: str | Path, options: PipelineOptions | None = None) -> str:
    """The text of a C file with every region optimized, with what `options.database` has for each."""
    return transform_file(path, options).text


def looked_up_region(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> Optimized:
    """All stages of one region, by the recipe that a database has for it, or by the models; `looked_up` says which.

    Raises
    ------
    DatabaseError : the file is no database, or damaged.
    PolyschedError : any stage refuses what the models choose.
    """
    plain = replace(options, database=None)
    if not plain.is_by_model:
        return replace(optimized_region(scop, plain, seconds), looked_up="not asked, since choices are made by hand")
    made, told = _by_record(scop, options, seconds)
    return made or replace(optimized_region(scop, plain, seconds), looked_up=told)


def replayed_region(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> Optimized:
    """All stages of one region by the recipe that a database has for it, and by nothing else.

    Raises
    ------
    UsageError : the database has none that gives the C that was measured.
    DatabaseError : the file is no database, or damaged.
    """
    made, told = _by_record(scop, options, seconds)
    if made is None:
        raise UsageError("the database has no record that can be replayed", where=scop.name, witness=told,
                         hint="`polysched tune` makes one")
    return made


def _by_record(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> tuple[Optimized | None, str]:
    """The region by the nearest record that gives the C that was measured, and what was found in the database."""
    assert options.database is not None
    plain = replace(options, database=None)
    with Database(options.database, read_only=True) as database:
        hits = found(scop, plain, database)
        ranges = fitting_ranges(scop, plain, database)
    told: list[str] = []
    started = thread_time()
    records: tuple[Range | Hit, ...] = (*ranges, *hits)
    for record in records:
        left = LIMITS.replay_seconds - (thread_time() - started)
        if left <= 0:
            told.append(f"others are not looked at: those before took {LIMITS.replay_seconds:g} s of processor time")
            break
        made = _in_time(partial(_of_record, scop, plain, record, seconds), left,
                        "" if not told else ", with that of those before")
        if isinstance(made, Optimized):
            used = made.looked_up if isinstance(record, Range) else "; ".join([str(record), *told])
            return replace(made, looked_up=used), used
        told.append(f"{f'the range {record.name}' if isinstance(record, Range) else record} is not used: {made}")
        _LOG.warning("%s: %s", scop.name, told[-1])
    return None, "; ".join(told) or "has nothing for the region here"


def _of_record(scop: Scop, options: PipelineOptions, record: Range | Hit, seconds: dict[str, float]) -> Optimized | str:
    """The region by what a record says, or why it is not to be used."""
    if isinstance(record, Range):
        return in_variants(scop, options, record, seconds)
    return replayed(scop, options, record.recipe, record.winner.code, seconds)


def _in_time(make: Callable[[], Optimized | str], seconds: float, beside: str = "") -> Optimized | str:
    """What is made, or why it is not to be used: a record that takes long leaves time for the models.

    Parameters
    ----------
    seconds : of processor time, at most.
    beside : what else has taken the time of records.
    """
    started = thread_time()
    try:
        made = with_budget(ANY_NUMBER, make, seconds=seconds)
    except PolyschedError as error:
        made = error.problem
    if made is None or thread_time() - started > seconds:   # stages say of theirs that it is spent
        return f"its C takes more than {LIMITS.replay_seconds:g} s of processor time{beside}"
    return made


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A record that fits.

    Parameters
    ----------
    recipe : under the program's own names.
    distance : factors of two between its sizes and those that were asked for, added up.
    """

    winner: Winner
    recipe: Recipe
    distance: float

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.winner.key.sizes)
        near = "" if not self.distance else f" of the nearest size {sizes}"
        flags = f", to be compiled with {' '.join(self.recipe.flags)}" if self.recipe.flags else ""
        return f"the record{near}, gain {self.winner.gain}{flags}"


def found(scop: Scop, options: PipelineOptions, database: Database) -> tuple[Hit, ...]:
    """The records of a program for this machine, compiler, threads and numerics, the nearest sizes first."""
    canonical = canonical_scop(scop)
    place = place_of(options, find_compiler(options.cc), threads=threads_of(options), flags=DEFAULT_FLAGS)
    here = [w for w in database.winners(canonical.digest) if w.key.place == place]
    sizes = sizes_of(scop, options)
    key = key_of(canonical, sizes, place)
    hits = [Hit(winner=w, distance=distance(dict(w.key.sizes), dict(key.sizes)), recipe=w.recipe.renamed(
        dict(canonical.names))) for w in here]
    return tuple(sorted(hits, key=lambda hit: hit.distance))


def fitting_ranges(scop: Scop, options: PipelineOptions, database: Database) -> tuple[Range, ...]:
    """What was chosen for all values of a parameter that nobody states; the others are those that were asked for.

    Only of programs in C files, whose code is a region.
    """
    canonical = canonical_scop(scop)
    if scop.source is None:
        return ()
    place = place_of(options, find_compiler(options.cc), threads=threads_of(options), flags=DEFAULT_FLAGS)
    stated = stated_sizes(scop, options)
    names = {canonical.to_canonical()[name]: value for name, value in stated.items()}
    return tuple(r for r in database.ranges(canonical.digest) if r.key.place == place and r.parameter not in names
                 and all(names.get(name, value) == value for name, value in r.key.sizes))


def in_variants(scop: Scop, options: PipelineOptions, chosen: Range, seconds: dict[str, float]) -> Optimized | str:
    """The region with the codes of a range behind tests of its parameter, or why it is not to be used."""
    names = dict(canonical_scop(scop).names)
    made: list[Optimized] = []
    for case in chosen.cases:
        one = replayed(scop, options, case.recipe.renamed(names), case.code, seconds)
        if isinstance(one, str):
            return one
        made.append(one)
    if len({one.options.flags for one in made}) > 1:
        return "its codes have different compiler flags"
    spelling = next(p.spelling for p in scop.parameters if p.name == names[chosen.parameter])
    try:
        source = with_variants([one.source for one in made], spelling, [case.least for case in chosen.cases[1:]])
    except UsageError as error:
        return error.problem
    borders = ", ".join(str(case.least) for case in chosen.cases[1:])
    told = f"{len(made)} variants by {spelling}{f', from {borders} on' if borders else ''}"
    return replace(made[-1], source=source, looked_up=told)


def checked(scop: Scop, options: PipelineOptions, database: Database) -> tuple[tuple[Winner, str], ...]:
    """Every record of a program for this machine and compiler, for any number of threads, replayed.

    With why it does not give the C that was measured; nothing where it does.
    """
    canonical = canonical_scop(scop)
    compiler, checked_ = find_compiler(options.cc), []
    for winner in database.winners(canonical.digest):
        target = replace(options.tiling.target, cores=winner.key.place.threads)
        own = replace(options, tiling=replace(options.tiling, target=target), database=None)
        if winner.key.place == place_of(own, compiler, threads=target.cores, flags=DEFAULT_FLAGS):
            made = replayed(scop, own, winner.recipe.renamed(dict(canonical.names)), winner.code, {})
            checked_.append((winner, made if isinstance(made, str) else ""))
    return tuple(checked_)


def replayed(scop: Scop, options: PipelineOptions, recipe: Recipe, code: str,
             seconds: dict[str, float]) -> Optimized | str:
    """The region by a recipe, or why it is not to be used."""
    made = _in_time(lambda: optimized_region(scop, apply_recipe(options, recipe), seconds), LIMITS.replay_seconds)
    if isinstance(made, str):
        return made
    if made.tiled.unused:
        return made.tiled.unused[0].problem
    if code_of(made) != code:
        return "its C is no longer the one that was measured; `polysched tune` searches anew"
    return made


def state_of(options: PipelineOptions) -> str:
    """What names everything that was chosen in the database of the options; empty without one.

    Raises
    ------
    DatabaseError : the file is no database, or damaged.
    """
    if options.database is None:
        return ""
    with Database(options.database, read_only=True) as database:
        winners = [f"{w.key.digest} {w.recipe.text} {w.code}" for w in database.winners()
                   if not w.key.place.is_of_client]
        cases = [f"{r.digest} {c.least} {c.recipe.text} {c.code}" for r in database.ranges() for c in r.cases]
        return digest_of("\n".join([*winners, *cases]))


def threads_of(options: PipelineOptions) -> int:
    """OMP_NUM_THREADS for which records are looked up: the cores that code is made for."""
    return options.tiling.target.cores


def sizes_of(scop: Scop, options: PipelineOptions) -> dict[str, int]:
    """The sizes that are asked for: what the user states, else what the models assume."""
    return {name: value for name, value in assumed_parameters(scop, stated_sizes(scop, options)).items() if value > 0}


def stated_sizes(scop: Scop, options: PipelineOptions) -> dict[str, int]:
    """The sizes that the user states, by the names of parameters."""
    stated = dict(options.assumed) | dict(options.tensorize.sizes if options.tensorize is not None else {})
    return {p.name: stated[name] for p in scop.parameters for name in (p.spelling, p.name) if name in stated}


def distance(have: Mapping[str, int], want: Mapping[str, int]) -> float:
    """Factors of two between sizes, added up; those that only one side has do not count."""
    return sum(abs(log2(max(1, have[name])) - log2(max(1, value))) for name, value in want.items() if name in have)
