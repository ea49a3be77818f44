"""The fastest of several codes of one call, by a search in the caller's own process: what `safe` kernels run.

Each code runs on copies of one call's arguments, in pairs with the first one.  Another code is taken only if the
interval of its gain lies above 1; what was measured is a record like that of any search.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from polysched.measure.field import Ran, Verdict
from polysched.measure.processes.building import DEFAULT_FLAGS
from polysched.measure.processes.threads import usable_processors
from polysched.measure.timing.disturbance import Watch, watch
from polysched.measure.timing.race import pairs as alternating
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.search.building import Candidate, Wanted
from polysched.search.identity import Place, digest_of, place_of
from polysched.search.limits import LIMITS
from polysched.search.models import NoModel
from polysched.search.space import Proposal
from polysched.search.strategies import Given
from polysched.search.trial import Trial, choose
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget, Search
from polysched.target import find_compiler

CLIENT = "calls of a kernel"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One code of a call.

    Parameters
    ----------
    name : for people.
    run : one call; wall and processor seconds.
    recipe : of the first code that of the models; of another one what makes its loops.
    code : identity of what runs.
    compiler : what makes it, where that is not the C compiler.
    refused : why it is not to be timed; empty where it is.
    """

    name: str
    run: Callable[[], tuple[float, float]]
    recipe: Recipe
    code: str
    compiler: str = ""
    refused: Callable[[], str] = lambda: ""


def raced_calls(scop: Scop, sizes: Mapping[str, int], options: PipelineOptions, first: Call, others: Sequence[Call], *,
                database: str | Path | None = None) -> tuple[tuple[Call, Tuned], ...]:
    """Each of some codes raced with the first one, by a search of its own.

    Parameters
    ----------
    sizes : of the call, by C spelling.
    database : keeps what was measured; what it has of the same codes is not measured again.
    """
    compiler, threads = find_compiler(options.cc), options.tiling.target.cores
    here = place_of(options, compiler, threads=threads, flags=DEFAULT_FLAGS)
    looking = watch(shares_cores=threads > len(usable_processors()))
    found = []
    for other in others:
        calls = _Calls(first=first, other=other, looking=looking)
        place = replace(here, compiler=other.compiler or here.compiler).of_client(CLIENT, beside=here.compiler)
        found.append((other, _searched(scop, sizes, options, calls, place, database)))
    return tuple(found)


def _searched(scop: Scop, sizes: Mapping[str, int], options: PipelineOptions, calls: _Calls, place: Place,
              database: str | Path | None) -> Tuned:
    """The search among two codes of a call."""
    given = [Proposal(recipe=calls.other.recipe)]
    search = Search.of(scop, sizes=sizes, options=options, strategy=lambda explorer, seed: Given(given),
                       model=lambda explorer: NoModel(), builder=calls, runner=calls, place=place,
                       makes_known=True)
    return search.until(Budget(trials=1), database=database, resume=True, bounded=False)


def fastest(raced: Sequence[tuple[Call, Tuned]]) -> Call | None:
    """The code with the largest gain over the first one; None where that one is kept.

    Where other programs disturbed every sample, all of them count: whichever code runs, it is right.
    """
    gains = []
    for other, found in raced:
        gain = found.gain
        if not gain.pairs:
            gain = choose([_believed(t) for t in found.confirmed if not t.clean]).gain
        if gain.low > 1:
            gains.append((gain.median, other))
    return max(gains, key=lambda pair: pair[0])[1] if gains else None


def _believed(trial: Trial) -> Trial:
    return replace(trial, disturbed=())


@dataclass(frozen=True, eq=False, kw_only=True)
class _Calls:
    """Builder and runner of a search among two codes of a call."""

    first: Call
    other: Call
    looking: Watch

    def build(self, wanted: Sequence[Wanted]) -> Sequence[Candidate]:
        """As `search.building.Builder` says; nothing is emitted."""
        return [Candidate(name=self._call(w.proposal.recipe).name, proposal=w.proposal, text="",
                          code=digest_of(self._call(w.proposal.recipe).code)) for w in wanted]

    def _call(self, recipe: Recipe) -> Call:
        return self.first if recipe == Recipe() else self.other

    def race(self, candidates: Sequence[Candidate], *, against: Candidate | None, pairs: int, slow_ratio: float,
             told: Callable[[Candidate, Ran], None]) -> None:
        """As `search.building.Runner` says; long calls get fewer pairs, as few as an interval needs."""
        for candidate in candidates:
            call = self._call(candidate.proposal.recipe)
            if against is None:
                seconds, clean = self._sample(call)
                told(candidate, Ran(name=call.name, verdict=Verdict.TIMED, pairs=((seconds, seconds),),
                                    disturbed=() if clean else (0,)))
            elif reason := call.refused():
                told(candidate, Ran(name=call.name, verdict=Verdict.HUNG, reason=reason))
            else:
                told(candidate, self._paired(call, pairs, slow_ratio))

    def _paired(self, call: Call, pairs: int, slow_ratio: float) -> Ran:
        """Pairs with the first code; a code that is too slow gets one."""
        taken: list[tuple[float, float]] = []
        disturbed: list[int] = []
        started = time.monotonic()
        for pair in alternating(partial(self._sample, self.first), partial(self._sample, call), most=pairs):
            (first, first_clean), (own, own_clean) = pair.first, pair.own
            if not (first_clean and own_clean):
                disturbed.append(len(taken))
            taken.append((first, own))
            enough = len(taken) >= LIMITS.least_pairs and time.monotonic() - started > LIMITS.call_seconds
            if enough or own > slow_ratio * first:
                break
        return Ran(name=call.name, verdict=Verdict.TIMED, pairs=tuple(taken), disturbed=tuple(disturbed))

    def _sample(self, call: Call) -> tuple[float, bool]:
        """The seconds of one call, and whether no other program disturbed it."""
        self.looking.begin()
        seconds, processor = call.run()
        return seconds, self.looking.undisturbed({"wall_seconds": seconds, "process_cpu_seconds": processor})
