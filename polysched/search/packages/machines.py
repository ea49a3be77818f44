"""`tune_machines`: one search for each kind of machine among the workers of a cluster, all at once.

Recipes are proposed, emitted and recorded here, by one process; each kind judges those that are made for it.  While the
workers of one kind judge, the searches of the others go on: a search holds the turn but for the time that it waits.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from polysched.errors import PolyschedError, UsageError
from polysched.measure.field import Ran
from polysched.measure.paired import MeasureOptions
from polysched.measure.processes.dask_cluster import connected, workers_of
from polysched.pipeline.options import PipelineOptions
from polysched.records import dataclass
from polysched.scop import from_c_file
from polysched.search.building import Candidate, Runner
from polysched.search.identity import Place, place_of
from polysched.search.packages.cluster import ClusterRunner, errand_of
from polysched.search.trial import Trial
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget, tune
from polysched.target import Target, find_compiler, host


@dataclass(frozen=True, eq=False, kw_only=True)
class Kind:
    """One kind of machine of a cluster.

    Parameters
    ----------
    place : what records of it are about.
    target : what code for it is made for.
    workers : addresses of those that were seen at the start; others of the kind may join.
    """

    place: Place
    target: Target
    workers: tuple[str, ...]

    def __str__(self) -> str:
        cpu, cores = json.loads(self.place.machine)[0], json.loads(self.place.machine)[2]
        return f"{cpu}, {cores} cores, {self.place.threads} threads, {self.place.compiler}"


@dataclass(frozen=True, eq=False, kw_only=True)
class TunedMachines:
    """What was found for each kind of machine.

    Parameters
    ----------
    kinds : those that were searched.
    found : by the number of the kind.
    refused : why there is nothing, by the number of the kind.
    seconds : wall time of all.
    """

    kinds: tuple[Kind, ...]
    found: Mapping[int, Tuned]
    refused: Mapping[int, str]
    seconds: float

    def __str__(self) -> str:
        lines = []
        for number, kind in enumerate(self.kinds):
            lines.append(f"{kind} ({len(kind.workers)} worker{'s' * (len(kind.workers) != 1)}):")
            text = str(self.found[number]) if number in self.found else f"not tuned: {self.refused[number]}"
            lines += [f"  {line}" for line in text.splitlines()]
        return "\n".join([*lines, f"{self.seconds:.1f} s in all"])

    def to_json(self) -> dict[str, Any]:
        """What was found, as JSON values; `trials` and `rejected` of all kinds together."""
        made = list(self.found.values())
        return {"trials": sum(len(t.trials) for t in made), "rejected": sum(t.rejections.total for t in made),
                "seconds": self.seconds, "machines": [
                    {"place": json.loads(kind.place.text), "workers": len(kind.workers),
                     "refused": self.refused.get(number),
                     "found": self.found[number].to_json() if number in self.found else None}
                    for number, kind in enumerate(self.kinds)]}


def tune_machines(program: str | Path, *, cluster: str, sizes: Mapping[str, int] | None = None,
                  budget: Budget | None = None, database: str | Path | None = None,
                  options: PipelineOptions | None = None, threads: int | None = None,
                  measure: MeasureOptions | None = None, on_trial: Callable[[Trial, int], None] | None = None,
                  clock: Callable[[], float] = time.monotonic, **others: Any) -> TunedMachines:
    """Search the recipe with which a region runs fastest on each kind of machine among the workers of a cluster.

    A kind is a processor with its cores and caches, and the compiler that a worker finds.  A kind that cannot be
    searched is named, and the others go on.

    Parameters
    ----------
    program : a C file with one region in a function.
    cluster : as for `tune`.
    budget : of each kind; its minutes pass for all at once.
    threads : on each machine; all of its cores unless given.
    on_trial : told each trial, and how many there were of all kinds.
    others : as for `tune`.

    Raises
    ------
    UsageError : Dask is not installed, nothing answers, or no worker has a compiler.
    PolyschedError : the program cannot be read, or every kind was refused: what the first one was refused for.
    """
    started = clock()
    options, measure = options or PipelineOptions(), measure or MeasureOptions()
    scop = from_c_file(str(program), include_dirs=options.include_dirs, defines=options.defines, cc=options.cc,
                       pure=options.pure, autodetect=options.autodetect)
    with ExitStack() as stack:
        client = connected(cluster, stack, pin=measure.pin)
        kinds = kinds_of(client, options, threads, measure.flags, where=cluster)
        searches = _Searches(on_trial)

        def search(kind: Kind) -> Tuned:
            own = replace(options, tiling=replace(options.tiling, target=kind.target),
                          emission=replace(options.emission, vector_bits=kind.target.vector_bits))
            measured = replace(measure, threads=kind.place.threads, cc=options.cc)
            runner = ClusterRunner(client=client, place=kind.place.text,
                                   errand=errand_of(scop, sizes or {}, options, measured))
            return tune(scop, sizes=sizes, budget=budget, database=database, options=own, clock=clock,
                        threads=kind.place.threads, measure=measured, place=kind.place,
                        runner=Waiting(runner, searches.turn), on_trial=searches.tell, **others)

        found, refused = searches.run([partial(search, kind) for kind in kinds])
    if not found:
        raise refused[0]
    return TunedMachines(kinds=kinds, found=found, seconds=clock() - started,
                         refused={number: error.problem for number, error in refused.items()})


def kinds_of(client: Any, options: PipelineOptions, threads: int | None, flags: tuple[str, ...], *,
             where: str) -> tuple[Kind, ...]:
    """The kinds of machine among the workers, those with most workers first.

    Raises
    ------
    UsageError : no worker has a compiler.
    """
    asked: Mapping[str, tuple[Place, Target] | str] = client.run(
        kind_here, options, threads, flags, workers=sorted(workers_of(client)), on_error="ignore")
    grouped: dict[str, list[str]] = {}
    for worker, answer in sorted(asked.items()):
        if not isinstance(answer, str):
            grouped.setdefault(answer[0].text, []).append(worker)
    if not grouped:
        raise UsageError("no worker can compile", where=where, hint="install a C compiler on the workers",
                         witness=next((a for a in asked.values() if isinstance(a, str)), "no worker answers")[:200])
    made = []
    for workers in sorted(grouped.values(), key=lambda workers: (-len(workers), workers)):
        answer = asked[workers[0]]
        assert not isinstance(answer, str)
        made.append(Kind(place=answer[0], target=answer[1], workers=tuple(workers)))
    return tuple(made)


def kind_here(options: PipelineOptions, threads: int | None, flags: tuple[str, ...]) -> tuple[Place, Target] | str:
    """The place and the target of the machine on which this runs; why there is none, where it has no compiler."""
    target = host()
    target = replace(target, cores=threads or target.cores)
    try:
        return place_of(options, find_compiler(options.cc), threads=target.cores, flags=flags), target
    except PolyschedError as error:
        return error.problem


@dataclass(frozen=True, eq=False)
class Waiting:
    """A runner that gives up the turn while its workers judge; what they tell is heard with it."""

    runner: Runner
    turn: threading.Lock

    def race(self, candidates: Sequence[Candidate], *, against: Candidate | None, pairs: int, slow_ratio: float,
             told: Callable[[Candidate, Ran], None]) -> None:
        """As `building.Runner` says."""
        def heard(candidate: Candidate, ran: Ran) -> None:
            with self.turn:
                told(candidate, ran)

        self.turn.release()
        try:
            self.runner.race(candidates, against=against, pairs=pairs, slow_ratio=slow_ratio, told=heard)
        finally:
            self.turn.acquire()


class _Searches:
    """Several searches in threads of this process, one of which has the turn."""

    def __init__(self, on_trial: Callable[[Trial, int], None] | None) -> None:
        self.turn, self._on_trial, self._trials = threading.Lock(), on_trial, 0
        self._found: dict[int, Tuned] = {}
        self._refused: dict[int, PolyschedError] = {}
        self._failed: list[BaseException] = []

    def tell(self, trial: Trial, count: int) -> None:
        """Count on over all searches; called with the turn."""
        self._trials += 1
        if self._on_trial is not None:
            self._on_trial(trial, self._trials)

    def run(self, searches: Sequence[Callable[[], Tuned]]) -> tuple[dict[int, Tuned], dict[int, PolyschedError]]:
        """What each found, and why others did not, by their numbers."""
        threads = [threading.Thread(target=self._one, args=(number, search), daemon=True)
                   for number, search in enumerate(searches)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._failed:
            raise self._failed[0]
        return self._found, self._refused

    def _one(self, number: int, search: Callable[[], Tuned]) -> None:
        with self.turn:
            try:
                self._found[number] = search()
            except PolyschedError as error:
                self._refused[number] = error
            except BaseException as error:   # a fault of this program, raised again where it was called
                self._failed.append(error)


__all__ = ["Kind", "TunedMachines", "tune_machines"]
