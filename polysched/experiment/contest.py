"""Time several variants of one workload in alternation, each in a process of its own, after verifying each.

Only one process runs at a time: the others are stopped (SIGSTOP), so that neither the threads that a runtime leaves
spinning nor a library's own thread pool disturb the next one.  In every round each variant runs once, in an
order that changes from round to round (`measure.timing.race`); a ratio compares two variants within one round.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import PolyschedError
from polysched.experiment.case_run import UNWANTED, thread_variables
from polysched.experiment.conversation import Conversation, EndedError, SilentError
from polysched.experiment.standings import Standings, Status, VariantTimes
from polysched.measure.measurement import Build
from polysched.measure.processes.threads import bound_to, pinned_processors, usable_processors
from polysched.measure.programs.comparison import compare
from polysched.measure.timing.cold_cache import flush_for
from polysched.measure.timing.race import in_turn
from polysched.measure.timing.statistics import Sample
from polysched.records import dataclass

TURN_SECONDS = 0.02
MOST_CALLS = 40
WARM_PART = 2
"""One of so many of a turn's calls comes before them and is not timed: the caches hold another variant's data."""
WARM_SECONDS = 0.1
LONG_SECONDS = 1.0
NEAR_THE_BEST = 1.4
CONTRACTION_FACTOR = 100.0
"""How much more than the reference a variant may change when products and sums are contracted (its own are others)."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """How to start a contestant.

    Parameters
    ----------
    command : it speaks the protocol of `conversation.py` on its standard input and output.
    environment : variables to set; None removes one.
    build : how it was compiled; None for what brings its own code, or says so itself.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str | None] = field(default_factory=dict)
    build: Build | None = None


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A variant before the contest.

    Parameters
    ----------
    make : build it, as late as possible; raises PolyschedError when that fails, `MissingToolError` when its tool is
        not there.
    threads : of its runtime.
    note : for the reader of the table.
    expected : what its results ought to be, from the reference's: rounded to a narrower type, for instance.
    exact : the same program compiled so that products and sums are not contracted, which decides where a result differs
        (`_Judge`); None where there is none.
    """

    name: str
    make: Callable[[], Program]
    threads: int = 1
    note: str = ""
    expected: Callable[[Mapping[str, np.ndarray]], Mapping[str, np.ndarray]] = lambda results: results
    exact: Callable[[], Program] | None = None


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How a contest is run.

    Parameters
    ----------
    reference : the variant whose results count as right; it is run first.
    ours : variants that stay until the last round, as the reference does.
    budget_seconds : no round is started that would end later than this after the first timed call.
    most_rounds : stop after that many.
    pin, cold_cache : bind every variant to as many cores as it has threads; flush the caches before every call.
    tolerance : allowed relative difference of floats; None takes the one of the element type.
    view : applied to every variant's results before they are compared.
    limit_factor, limit_seconds : a call may take this many times the reference's time, and at least so many seconds.
    start_seconds : time to load, compile and initialise.
    """

    reference: str
    ours: tuple[str, ...] = ("polysched",)
    budget_seconds: float = 20.0
    most_rounds: int = 20
    pin: bool = False
    cold_cache: bool = False
    tolerance: float | None = None
    view: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]] = lambda arrays: arrays
    limit_factor: float = 4.0
    limit_seconds: float = 10.0
    start_seconds: float = 240.0


class MissingToolError(PolyschedError):
    """A variant needs a tool or package that is not on this machine."""


class _Running:
    """One contestant that is loaded, verified or about to be, and stopped while it is not its turn.

    `seconds` is the least that a call took, from which follows how many make a turn: the first one finds nothing in
    the caches and may take several times as long.
    """

    def __init__(self, contender: Contender, talk: Conversation, *, cold: bool) -> None:
        self.contender = contender
        self.talk = talk
        self.cold = cold
        self.rounds: dict[int, tuple[Sample, ...]] = {}
        self.largest_relative = 0.0
        self.seconds = 0.0
        self.note = contender.note
        self.build: Build | None = None

    def turn(self, number: int, limit_seconds: float) -> float:
        """Take the samples of one round; the seconds that the turn took."""
        started = time.monotonic()
        calls = 1 if self.cold else max(1, min(MOST_CALLS, round(TURN_SECONDS / max(self.seconds, 1e-6))))
        warm = calls // WARM_PART or (1 if self.seconds < WARM_SECONDS else 0)
        samples = self.talk.run(warm=warm, calls=calls, limit_seconds=limit_seconds * (calls + warm))
        self.rounds[number] = samples
        self.seconds = min(self.seconds, *(sample.wall_seconds for sample in samples))
        return time.monotonic() - started


def run_contest(contenders: Sequence[Contender], rules: Rules, folder: Path,
                report: Callable[[str], None]) -> Standings:
    """Make, verify and time every variant.

    Parameters
    ----------
    folder : private, for the contestants' outputs.
    report : takes what is being done.

    Raises
    ------
    PolyschedError : the reference itself cannot be made or run.
    """
    ordered = sorted(contenders, key=lambda c: c.name != rules.reference)
    if not ordered or ordered[0].name != rules.reference:
        raise ValueError(f"the reference {rules.reference} does not take part")
    out: dict[str, VariantTimes] = {}
    with ExitStack() as stack:
        running: list[_Running] = []
        judge = _Judge(rules=rules, folder=folder)
        for contender in ordered:
            report(f"verifying {contender.name}")
            entered = _enter(contender, judge, stack, reference=running[0] if running else None)
            if isinstance(entered, _Running):
                running.append(entered)
            else:
                out[contender.name] = entered
            if not running:
                raise PolyschedError(f"the reference {contender.name} has no result: {out[contender.name].problem}")
        _race(running, rules, out, report)
    return Standings(variants=tuple(out[c.name] for c in contenders))


class _Judge:
    """Compares results with the reference's.

    Compilers contract products and sums as they like, and an ill-conditioned kernel makes that visible.  Where results
    differ, programs without contraction decide, the contestant's and the reference's: these have to agree, and the
    results as they were may then differ by a multiple of what contraction does to the reference alone.
    """

    def __init__(self, *, rules: Rules, folder: Path) -> None:
        self.rules, self.folder = rules, folder
        self.reference: Contender | None = None
        self.expected: dict[str, np.ndarray] = {}
        self.exact: dict[str, np.ndarray] = {}

    def results(self, contender: Contender, talk: Conversation) -> dict[str, np.ndarray]:
        dump = self.folder / f"{contender.name.replace('/', '_').replace(' ', '_')}.results"
        got = self.rules.view(talk.results(dump, limit_seconds=self.rules.start_seconds))
        dump.unlink()
        if self.reference is None:
            self.reference, self.expected = contender, got
        return got

    def verdict(self, contender: Contender, got: Mapping[str, np.ndarray], limit: float) -> tuple[str, float, str]:
        """What is wrong in words (empty: nothing), the largest relative difference, and a note on how it was found."""
        problem, largest = difference_of(contender.expected(self.expected), got, self.rules.tolerance)
        if not problem or contender.exact is None or self.reference is None or self.reference.exact is None:
            return problem, largest, ""
        self.exact = self.exact or self._exact(self.reference, limit)
        _, largest = difference_of(contender.expected(self.expected), got, inf)
        _, spread = difference_of(self.exact, self.expected, inf)
        if largest > CONTRACTION_FACTOR * spread:
            return problem, largest, ""
        differs, _ = difference_of(contender.expected(self.exact), self._exact(contender, limit), self.rules.tolerance)
        return (f"{problem}; without contraction, too: {differs}" if differs else "", largest,
                f"compared without contraction, which changes the reference by {spread:.1g} and this by {largest:.1g}")

    def _exact(self, contender: Contender, limit: float) -> dict[str, np.ndarray]:
        assert contender.exact is not None
        with _started(contender.exact(), contender.threads, self.rules) as talk:
            talk.ready(limit_seconds=self.rules.start_seconds)
            talk.run(warm=0, calls=1, limit_seconds=limit)
            return self.results(contender, talk)


def _enter(contender: Contender, judge: _Judge, stack: ExitStack, *,
           reference: _Running | None) -> _Running | VariantTimes:
    """Build and start a contestant, let it run once, and compare its results; the first one is the reference."""
    rules = judge.rules

    def out(status: Status, problem: str, difference: float = 0.0) -> VariantTimes:
        return VariantTimes(name=contender.name, status=status, problem=problem, note=contender.note,
                            largest_relative=difference)
    try:
        program = contender.make()
        talk = stack.enter_context(_started(program, contender.threads, rules))
        entry = _Running(contender, talk, cold=rules.cold_cache)
        note = talk.ready(limit_seconds=rules.start_seconds)
        entry.build = program.build or talk.build
        entry.note = "; ".join(part for part in (contender.note, note) if part)
        limit = rules.start_seconds if reference is None else _limit(rules, reference)
        samples = talk.run(warm=0, calls=1, limit_seconds=limit)
        got = judge.results(contender, talk)
        problem, entry.largest_relative, how = ("", 0.0, "") if reference is None else judge.verdict(
            contender, got, limit)
    except MissingToolError as missing:
        return out(Status.MISSING, missing.problem)
    except SilentError as silent:
        return out(Status.SLOW, str(silent))
    except (PolyschedError, EndedError) as failure:
        return out(Status.FAILED, str(failure))
    if problem:
        return out(Status.WRONG, problem, entry.largest_relative)
    entry.seconds = samples[0].wall_seconds
    entry.note = "; ".join(part for part in (entry.note, how) if part)
    return _with_first_round(entry, samples, reference or entry, limit)


def _with_first_round(entry: _Running, samples: tuple[Sample, ...], reference: _Running,
                      limit: float) -> _Running | VariantTimes:
    """Where the reference takes long, round 0 is what verified the variant, or one more turn of a faster variant."""
    try:
        if entry.seconds >= LONG_SECONDS:
            entry.rounds[0] = samples
            return entry
        entry.talk.warmups += samples
        if reference.seconds >= LONG_SECONDS:
            entry.turn(0, limit)
    except (SilentError, EndedError) as failure:
        return VariantTimes(name=entry.contender.name, status=Status.FAILED, problem=str(failure), note=entry.note)
    return entry


def _limit(rules: Rules, reference: _Running) -> float:
    return max(rules.limit_seconds, rules.limit_factor * reference.seconds)


def difference_of(expected: Mapping[str, np.ndarray], got: Mapping[str, np.ndarray],
                  tolerance: float | None) -> tuple[str, float]:
    """The first array that differs beyond the tolerance, in words (empty: none), and the largest difference."""
    largest, changed = 0.0, False
    if expected.keys() != got.keys():
        return f"it has the results {sorted(got)} instead of {sorted(expected)}", largest
    for name, reference in expected.items():
        result = got[name]
        if reference.shape != result.shape or reference.dtype != result.dtype:
            return f"{name} is {result.dtype}{result.shape}, not {reference.dtype}{reference.shape}", largest
        found = compare(name, reference.dtype.name, reference=reference, result=result,
                        pristine=np.zeros_like(reference), tolerance=tolerance)
        largest = max(largest, min(found.largest_relative, 1e300))
        if found.not_finite:
            return f"the reference's {name} has {found.not_finite} elements that are not finite", largest
        changed |= found.changed
        if found.mismatches:
            return (f"{name}{list(found.worst_index or ())} is {found.got:g} instead of {found.expected:g} "
                    f"({found.mismatches} of {found.elements} differ)"), largest
    return "" if changed else "the reference's results are all zero, which proves nothing", largest


def _race(running: list[_Running], rules: Rules, out: dict[str, VariantTimes], report: Callable[[str], None]) -> None:
    """Rounds until the budget is spent; when it is short, only those near the best go on."""
    limit, started = _limit(rules, running[0]), time.monotonic()
    active, number = list(running), 0

    def turn(runner: _Running) -> None:
        try:
            runner.turn(number, limit)
        except (SilentError, EndedError) as failure:
            status = Status.SLOW if isinstance(failure, SilentError) else Status.FAILED
            out[runner.contender.name] = VariantTimes(name=runner.contender.name, status=status, problem=str(failure),
                                                      note=runner.note)
            active.remove(runner)

    while active and number < rules.most_rounds:
        number += 1
        if number > 1 or all(r.rounds for r in active):
            left = rules.budget_seconds - (time.monotonic() - started)
            if 3 * _cost(active) > left:
                active = _near_the_best(active, rules)
            if _cost(active) > left:
                break
        report(f"timing, round {number}")
        in_turn({runner.contender.name: partial(turn, runner) for runner in active}, number)
    for runner in running:
        out.setdefault(runner.contender.name, VariantTimes(
            name=runner.contender.name, status=Status.VERIFIED, note=runner.note,
            largest_relative=runner.largest_relative, rounds=runner.rounds, build=runner.build,
            warmups=tuple(runner.talk.warmups)))


def _cost(active: Sequence[_Running]) -> float:
    return sum(max(r.seconds, TURN_SECONDS + TURN_SECONDS / WARM_PART) + r.talk.overhead_seconds for r in active)


def _near_the_best(active: Sequence[_Running], rules: Rules) -> list[_Running]:
    """The reference, ours, and the peers that could still be the best one."""
    kept = {rules.reference, *rules.ours}
    peers = [r for r in active if r.contender.name not in kept]
    best = min((r.seconds for r in peers), default=0.0)
    return [r for r in active if r.contender.name in kept or r.seconds <= NEAR_THE_BEST * best]


@contextmanager
def _started(program: Program, threads: int, rules: Rules) -> Iterator[Conversation]:
    """Start a contestant; it is killed at the end, whatever state it is in."""
    values: dict[str, Any] = dict(os.environ) | dict.fromkeys(UNWANTED) | thread_variables(threads, pin=rules.pin)
    values |= {"PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)} | dict(program.environment)
    processors = pinned_processors(threads) if rules.pin else ()
    try:
        with bound_to(processors):
            process = subprocess.Popen(program.command, env={k: v for k, v in values.items() if v is not None},
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise MissingToolError(f"{program.command[0]} does not start: {error.strerror}") from None
    try:
        yield Conversation(process, flush_for(processors or usable_processors()) if rules.cold_cache else None)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
