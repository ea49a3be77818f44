"""The child process of `campaign`: check pairs, in blocks that share one parse and one compilation."""

from __future__ import annotations

import gc
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

from polysched.errors import PolyschedError, UnsupportedScopError
from polysched.fuzz.matches.attempt import emissions, load
from polysched.fuzz.matches.harness import Version, compared
from polysched.fuzz.matches.pairs import HEAD, Pair, described, pair
from polysched.fuzz.matches.records import CRASH, MATCHED, REFUSED, TIMEOUT, WRONG, PairRecord
from polysched.fuzz.matches.shrinking import shrink
from polysched.fuzz.time_limit import OutOfTime, time_limit, watchdog
from polysched.measure.processes.child_side import Reporter, start
from polysched.records import dataclass
from polysched.scop import all_from_c_file
from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.tensorize.description.intrinsic import Intrinsic

WATCHDOG_FACTOR = 6.0


@dataclass
class Outcome:
    """What came of a pair so far; the verdict is empty while its versions are still to be run."""

    pair: Pair
    verdict: str = ""
    reason: str = ""
    seconds: float = 0.0
    versions: list[Version] = field(default_factory=list)

    loaded: bool = True

    def record(self) -> PairRecord:
        own = self.pair
        return PairRecord(seed=own.seed, kind=own.unit.kind, relation=own.relation, words=own.words, miss=own.miss,
                          loaded=self.loaded, verdict=self.verdict, reason=self.reason,
                          milliseconds=round(1000 * self.seconds, 1))


def main(arguments: list[str]) -> None:
    request, reporter = start(arguments)
    if "shrink" in request:
        shrink_pair(request, reporter)
    else:
        check_pairs(request, reporter)
    reporter.report(end="finished")


def check_pairs(request: Mapping[str, Any], reporter: Reporter) -> None:
    """Report one record per pair."""
    gc.disable()   # isl objects make no cycles to speak of; blocks are collected one by one
    seeds = request["check"]
    for first in range(0, len(seeds), request["block"]):
        pairs = [pair(s) for s in seeds[first:first + request["block"]]]
        for outcome in checked(pairs, seconds=request["limit_seconds"], reporter=reporter):
            reporter.report(result=outcome.record().to_json())
        gc.collect()


def shrink_pair(request: Mapping[str, Any], reporter: Reporter) -> None:
    """Report ever smaller pairs with the same fault."""
    limit, wanted = request["limit_seconds"], request["verdict"]
    deadline = time.monotonic() + request["seconds"]

    def fault(candidate: Pair) -> str | None:
        (outcome,) = checked([candidate], seconds=limit, reporter=reporter)
        if outcome.verdict != wanted:
            return None
        reporter.report(text=described(candidate, outcome.reason))
        return outcome.reason

    shrink(pair(request["shrink"]), fault, deadline=deadline)


def checked(pairs: Sequence[Pair], *, seconds: float = 10.0, reporter: Reporter | None = None) -> list[Outcome]:
    """The outcomes of some pairs.

    Parameters
    ----------
    seconds : CPU time of each pair for reading, matching and emission.
    reporter : is told which pair is looked at.
    """
    block = _Block([Outcome(p) for p in pairs], seconds, reporter)
    with tempfile.TemporaryDirectory(prefix="polysched-fuzz-") as folder:
        return block.run(Path(folder))


class _Block:
    """Some pairs on their way."""

    def __init__(self, outcomes: list[Outcome], seconds: float, reporter: Reporter | None) -> None:
        self.outcomes, self.seconds, self.reporter = outcomes, seconds, reporter
        self.units: dict[str, Intrinsic | PolyschedError] = {}

    def run(self, folder: Path) -> list[Outcome]:
        for size in (0, 1):
            asked = [o for o in self.outcomes if not o.verdict]
            scops = self.read(asked, size, folder)
            for outcome in asked:
                if not outcome.verdict:
                    with self.guarded(outcome):
                        self.attempt(outcome, scops[outcome.pair.seed], size, folder)
        self.told("running the emitted programs")
        versions = [v for o in self.outcomes if not o.verdict for v in o.versions]
        started = _cpu_seconds()
        found = compared(versions, folder, find_compiler())
        share = (_cpu_seconds() - started) / max(1, len(versions))
        for outcome in self.outcomes:
            if not outcome.verdict:
                _judge(outcome, found)
                outcome.seconds += share * len(outcome.versions)
        return self.outcomes

    def told(self, phase: str, **values: Any) -> None:
        if self.reporter is not None:
            self.reporter.report(phase=phase, **values)

    def read(self, asked: Sequence[Outcome], size: int, folder: Path) -> dict[int, Scop]:
        """The programs of one size: all in one file, or one by one where some cannot be read."""
        self.told("reading programs")
        started = _cpu_seconds()
        found = self.all_read(asked, size, folder)
        for outcome in asked:
            outcome.seconds += (_cpu_seconds() - started) / len(asked)
        if found is not None:
            return found
        alone: dict[int, Scop] = {}
        for outcome in asked:
            with self.guarded(outcome):
                alone |= _scops([outcome], size, folder)
        return alone

    def all_read(self, asked: Sequence[Outcome], size: int, folder: Path) -> dict[int, Scop] | None:
        try:
            with time_limit(self.seconds * max(1, len(asked))):
                return _scops(asked, size, folder)
        except Exception:   # whatever it is, it is found again below, at the pair that it belongs to
            return None

    @contextmanager
    def guarded(self, outcome: Outcome) -> Iterator[None]:
        """A block whose every end is an outcome of the pair; a watchdog ends the process where nothing else does."""
        self.told(f"looking at pair {outcome.pair.seed}", seed=outcome.pair.seed)
        started = _cpu_seconds()
        try:
            with watchdog(WATCHDOG_FACTOR * self.seconds), time_limit(self.seconds):
                yield
        except OutOfTime as late:
            outcome.verdict, outcome.reason = TIMEOUT, str(late)
        except PolyschedError as refusal:
            outcome.verdict, outcome.reason = REFUSED, _in_words(refusal)
        except Exception as error:   # a fuzzer's find: whatever the program under test raises is the result
            outcome.verdict, outcome.reason = CRASH, f"{type(error).__name__}: {error} | {_places(error)}"
        outcome.seconds += _cpu_seconds() - started
        self.told("between pairs", seed=None)

    def attempt(self, outcome: Outcome, scop: Scop, size: int, folder: Path) -> None:
        unit = self.unit(outcome, folder)
        made = emissions(scop, unit, outcome.pair, size)
        outcome.versions += [Version(outcome.pair, size, n, emission) for n, emission in enumerate(made)]

    def unit(self, outcome: Outcome, folder: Path) -> Intrinsic:
        """The description of a pair, read once.

        Raises
        ------
        PolyschedError : it is refused.
        """
        own = outcome.pair
        text = own.unit.described.text(region=False)
        if text not in self.units:
            try:
                self.units[text] = load(own, folder)
            except PolyschedError as refusal:
                self.units[text] = refusal
        found = self.units[text]
        if isinstance(found, PolyschedError):
            outcome.loaded = False
            raise found
        return found


def _scops(asked: Sequence[Outcome], size: int, folder: Path) -> dict[int, Scop]:
    """The programs read from one file."""
    if not asked:
        return {}
    path = folder / f"programs_{size}.c"
    path.write_text(HEAD + "".join(o.pair.programs[size].text(f"f{o.pair.seed}") for o in asked))
    found = all_from_c_file(str(path))
    if len(found) != len(asked):
        raise UnsupportedScopError("not every region became a Scop", where=str(path))
    return {o.pair.seed: scop for o, scop in zip(asked, found, strict=True)}


def _judge(outcome: Outcome, found: dict[str, str]) -> None:
    outcome.verdict = MATCHED
    for version in outcome.versions:
        if found[version.label]:
            outcome.verdict = WRONG
            outcome.reason = f"{found[version.label]} | size {version.size}: {version.emission.mapping}"
            return
    outcome.reason = outcome.versions[0].emission.mapping


def _in_words(refusal: PolyschedError) -> str:
    return " | ".join(line.strip() for line in str(refusal).splitlines())


def _places(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[::-1][:5]
    return ", ".join(f"{f.name} ({'/'.join(Path(f.filename).parts[-2:])}:{f.lineno})" for f in frames)


def _cpu_seconds() -> float:
    """Of this process and of the compilers and programs that it waited for."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


if __name__ == "__main__":
    main(sys.argv)
