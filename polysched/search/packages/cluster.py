"""A runner that compiles, verifies and times on the workers of a Dask cluster; needs the extra `cluster`.

The C is made here, and here alone something is written.  A candidate is one task of one worker, which has the
reference compiled beside it; a worker that dies costs that trial.  Only workers of the machine, the compiler and the
numerics that the records are about take part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from polysched.errors import PolyschedError, UsageError
from polysched.measure.field import Ran, Verdict
from polysched.measure.paired import MeasureOptions
from polysched.measure.processes.dask_cluster import connected, distribute, workers_of
from polysched.measure.processes.workspace import workspace
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scop import all_from_c_file
from polysched.scop.scop import Scop
from polysched.search.building import Candidate, local_runner
from polysched.search.identity import Place, place_of
from polysched.search.space import Proposal
from polysched.target import find_compiler


@dataclass(frozen=True, kw_only=True)
class Errand:
    """What a worker is asked to judge; plain values.

    Parameters
    ----------
    file, text, start : name and content of the C file, and where the region begins.
    options : how it is read.
    against : name, content and flags of the reference; None for the code as written.
    candidate : the same of what is judged.
    """

    file: str
    text: str
    start: int
    options: PipelineOptions
    sizes: Mapping[str, int]
    measure: MeasureOptions
    against: tuple[str, str, tuple[str, ...]] | None
    candidate: tuple[str, str, tuple[str, ...]]
    pairs: int
    slow_ratio: float
    reference_seconds: float | None = None


def judge(errand: Errand) -> Ran:
    """Compile, verify and time one candidate on the machine that this runs on.

    A worker that cannot do so says why in the record.
    """
    told: list[Ran] = []
    try:
        with workspace() as folder:
            path = folder / errand.file
            path.write_text(errand.text, encoding="utf-8", errors="surrogateescape", newline="")
            with local_runner(_region(path, errand), errand.sizes, errand.measure) as runner:
                runner.reference_seconds = errand.reference_seconds
                runner.race([_candidate(errand.candidate)], pairs=errand.pairs, slow_ratio=errand.slow_ratio,
                            against=None if errand.against is None else _candidate(errand.against),
                            told=lambda candidate, ran: told.append(ran))
    except PolyschedError as error:
        return Ran(name=errand.candidate[0], verdict=Verdict.FAILED, reason=f"the worker refused it: {error.problem}")
    return told[0] if told else Ran(name=errand.candidate[0], verdict=Verdict.FAILED,
                                    reason="the worker told nothing of it")


def _region(path: Path, errand: Errand) -> Scop:
    options = errand.options
    for scop in all_from_c_file(str(path), include_dirs=options.include_dirs, defines=options.defines, cc=options.cc,
                                pure=options.pure, autodetect=options.autodetect):
        if scop.source is not None and scop.source.start == errand.start:
            return scop
    raise UsageError("the worker does not find the region", where=errand.file)


def _candidate(described: tuple[str, str, tuple[str, ...]]) -> Candidate:
    name, text, flags = described
    return Candidate(name=name, proposal=Proposal(recipe=Recipe(flags=flags)), text=text, code=name)


@dataclass(eq=False, kw_only=True)
class ClusterRunner:
    """Judges candidates on the workers that are of one place, those that join later among them.

    Parameters
    ----------
    place : what the records are about, as text.
    places : of the workers that were asked, by their addresses.
    """

    client: Any
    place: str
    errand: Errand
    places: dict[str, str] = field(default_factory=dict)
    reference_seconds: float | None = None

    def takes_part(self, worker: str) -> bool:
        """Whether a worker is of the place; asked once."""
        if worker not in self.places:
            found = self.client.run(place_here, self.errand.options, self.errand.measure.threads,
                                    self.errand.measure.flags, workers=[worker], on_error="ignore")
            if worker not in found:   # it died meanwhile
                return False
            self.places[worker] = found[worker]
        return self.places[worker] == self.place

    def race(self, candidates: Sequence[Candidate], *, against: Candidate | None, pairs: int, slow_ratio: float,
             told: Callable[[Candidate, Ran], None]) -> None:
        """As `building.Runner` says; the trials come as they end."""
        reference = None if against is None else _described(against)

        def submit(candidate: Candidate, worker: str) -> Any:
            errand = replace(self.errand, candidate=_described(candidate), against=reference, pairs=pairs,
                             slow_ratio=slow_ratio, reference_seconds=self.reference_seconds)
            return self.client.submit(judge, errand, workers=[worker], allow_other_workers=False, pure=False,
                                      retries=0)

        for candidate, future, problem in distribute(self.client, candidates, submit, only=self.takes_part):
            ran = Ran(name=candidate.name, verdict=Verdict.CRASHED, reason=problem) if problem else future.result()
            if ran.pairs:
                self.reference_seconds = min(first for first, _ in ran.pairs)
            told(candidate, ran)


def _described(candidate: Candidate) -> tuple[str, str, tuple[str, ...]]:
    return candidate.name, candidate.text, candidate.proposal.recipe.flags


def errand_of(scop: Scop, sizes: Mapping[str, int], options: PipelineOptions, measure: MeasureOptions) -> Errand:
    """What workers are asked about a program, without a candidate.

    Raises
    ------
    UsageError : the program is no C file.
    """
    source = scop.source
    if source is None:
        raise UsageError("a cluster judges programs that stand in C files", where=scop.name,
                         hint="leave --cluster out")
    return Errand(file=Path(source.path).name, text=source.text, start=source.start, options=options, sizes=sizes,
                  measure=measure, against=None, candidate=("", "", ()), pairs=1, slow_ratio=1.0)


@contextmanager
def cluster_runner(address: str, scop: Scop, sizes: Mapping[str, int], options: PipelineOptions,
                   measure: MeasureOptions, place: Place) -> Iterator[ClusterRunner]:
    """A runner on the workers of a cluster.

    Parameters
    ----------
    address : of the scheduler, or `local:N`.
    place : what the records are about.

    Raises
    ------
    UsageError : Dask is not installed, nothing answers, no worker is of the place, or the program is no C file.
    """
    errand = errand_of(scop, sizes, options, measure)
    with ExitStack() as stack:
        client = connected(address, stack, pin=measure.pin)
        runner = ClusterRunner(client=client, place=place.text, errand=errand)
        taking_part = [worker for worker in sorted(workers_of(client)) if runner.takes_part(worker)]
        if not taking_part:
            raise UsageError("no worker is a machine with the compiler that the records are about", where=address,
                             witness=next(iter(runner.places.values()), "no worker answers")[:200],
                             hint="start the search on a machine of that kind")
        yield runner


def place_here(options: PipelineOptions, threads: int, flags: tuple[str, ...]) -> str:
    """The place that the machine is on which this runs, as text; why there is none, where it has no compiler."""
    try:
        return place_of(options, find_compiler(options.cc), threads=threads, flags=flags).text
    except PolyschedError as error:
        return error.problem
