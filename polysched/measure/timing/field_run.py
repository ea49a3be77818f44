"""The child process that verifies versions of a function against it and times each in pairs with a reference.

Started by `measure.processes.isolation.Conversation` as `python -m polysched.measure.timing.field_run REQUEST REPORTS`;
the request is made by `measure.field`.  Every question has some versions and what they are timed with.  A version is
judged as a whole before the next one is looked at.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from functools import partial
from math import ceil, inf
from typing import Any

from polysched.measure.timing.disturbance import watch
from polysched.measure.timing.paired_run import Program, Session, run_session
from polysched.measure.timing.race import pairs as alternating

MOST_CALLS = 3
"""Of one sample, which is the least of them: a call that something else interrupted is not the time of a version."""
SAMPLE_SECONDS = 0.02
"""Calls of one sample end here: long calls average out by themselves what interrupts them."""
SILENT_SECONDS = 0.5
"""Samples are told together, no later than this: each report takes a core from what is timed."""
HOPELESS = 2.0
"""Times the ratio at which a version counts as slow: so slow in its verified runs, it is timed no further."""
RETRY_SECONDS = 0.25
"""For one version, to call it again where other programs disturbed the calls."""


def answer_questions(session: Session) -> None:
    """Judge the versions of every question, until one wrote where the guards are: they cannot be trusted again."""
    judging = _Judging(session)
    with os.fdopen(session.request["questions"]) as questions:
        for line in questions:
            question = json.loads(line)
            for version, path in question["versions"].items():
                session.reporter.report(entry=version)
                judging.judge(session.added(version, path), question)
                session.reporter.report(done=version)
                if session.overwritten() is not None:
                    return
            session.reporter.report(answered=len(question["versions"]))


class _Judging:
    """What versions are timed with, and how fast that was so far."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[str, Program] = {session.original.name: session.original}
        self._usual: dict[str, float] = {}
        self._watch = watch(shares_cores=session.request["shares_cores"])
        self._retries = 0.0

    def judge(self, version: Program, question: Mapping[str, Any]) -> None:
        """Run a version twice, time it if both runs are right, and run it once more.

        One that is hopelessly slow in a long first run is not run again.
        """
        reference, slow = self._reference(*question["against"]), question["slow_ratio"]
        if reference.name not in self._usual:
            self._sampled(reference, MOST_CALLS)
        worst = HOPELESS * slow * self._usual[reference.name] if slow else inf
        first = self._verified(version)
        if first is None:
            return
        seconds, clean = first
        self._retries = RETRY_SECONDS
        if clean and seconds > max(worst, SAMPLE_SECONDS):
            usual, also = self._sampled(reference, 1)
            self._told([(usual, seconds, also)])
            return
        second = self._verified(version)
        if second is None:
            return
        self._session.reporter.phase(f"timing the version {version.name}")
        if min(seconds, second[0]) > worst:
            least, clean = self._sampled(version, MOST_CALLS)
            if least > worst:
                usual, also = self._sampled(reference, 1)
                self._told([(usual, least, clean and also)])
                return
        self._time(version, reference, pairs=question["pairs"], slow=slow)
        self._verified(version)

    def _told(self, pairs: list[tuple[float, float, bool]]) -> None:
        """Report pairs of samples: seconds of the reference and of the version, and whether nothing disturbed them."""
        self._session.reporter.report(pairs=pairs)

    def _reference(self, name: str, path: str) -> Program:
        if name not in self._known:
            self._known[name] = self._session.added(name, path)
        return self._known[name]

    def _called(self, program: Program) -> tuple[float, bool]:
        """The seconds of one call, and whether no other program disturbed it."""
        self._watch.begin()
        call = self._session.run(program)
        return call["wall_seconds"], self._watch.undisturbed(call)

    def _verified(self, version: Program) -> tuple[float, bool] | None:
        """Run a version and report what it left; as `_called`, None where something is wrong."""
        session = self._session
        session.reporter.phase(f"running the version {version.name}")
        called = self._called(version)
        overwritten = session.overwritten()
        if overwritten is not None:
            session.reporter.report(out_of_bounds={"array": overwritten, "program": version.name})
            return None
        return called if session.is_right(version) else None

    def _time(self, version: Program, reference: Program, *, pairs: int, slow: float) -> None:
        """Alternate with the reference.

        A version that is slower than allowed ends there; what is allowed comes halfway nearer to the reference with
        every pair.

        Parameters
        ----------
        slow : how many times as long as the reference a version may take in the first pair; 0 for no limit.
        """
        calls = calls_for(self._usual[reference.name])
        taken: list[tuple[float, float, bool]] = []
        told, allowed = time.monotonic(), slow - 1
        for pair in alternating(partial(self._sampled, reference, calls), partial(self._sampled, version, calls),
                                most=pairs):
            (first, first_clean), (own, own_clean) = pair.first, pair.own
            clean = first_clean and own_clean
            taken.append((first, own, clean))
            if time.monotonic() - told > SILENT_SECONDS:
                self._told(taken)
                taken, told = [], time.monotonic()
            if slow and own > (1 + allowed if clean else HOPELESS * slow) * first:
                break
            allowed /= 2
        if taken:
            self._told(taken)

    def _sampled(self, program: Program, calls: int) -> tuple[float, bool]:
        """The seconds of the fastest of some calls that nothing disturbed; of all where each was disturbed."""
        clean: list[float] = []
        every: list[float] = []
        while len(every) < calls or (not clean and self._retries > 0):
            seconds, undisturbed = self._called(program)
            every.append(seconds)
            if undisturbed:
                clean.append(seconds)
            elif len(every) >= calls:
                self._retries -= seconds
        least = min(clean or every)
        self._usual[program.name] = min(least, self._usual.get(program.name, least))
        return least, bool(clean)


def calls_for(seconds: float) -> int:
    """How many calls make a sample."""
    return max(1, min(MOST_CALLS, ceil(SAMPLE_SECONDS / max(seconds, 1e-9))))


if __name__ == "__main__":
    run_session(answer_questions)
