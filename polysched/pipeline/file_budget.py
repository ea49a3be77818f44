"""How long one file may take: a line where it takes long, and an end where it takes longer.

Source: budgets are processor time, so that what else the machine does ends none: that of the process, since a solver
has threads of its own, or of this thread where the program has others that may compile, too (`scop.budget`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeVar

from polysched.errors import BudgetExceededError, SourceLocation
from polysched.pipeline.limits import LIMITS
from polysched.pipeline.timing import processor_seconds, timed
from polysched.records import dataclass
from polysched.scop.budget import ANY_NUMBER, with_budget
from polysched.scop.scop import Scop

Result = TypeVar("Result")

TESTS = "tests"
"""The stage that looks for what can be tested at run time."""

FILE_SECONDS = LIMITS.file_seconds
FOUND_SHARE = LIMITS.found_region_share
FOUND_SECONDS = LIMITS.found_region_seconds
LONG_SECONDS = LIMITS.long_seconds
WORTH_TELLING = LIMITS.worth_telling_share


def processor_clock() -> Callable[[], float]:
    """What counts the processor seconds of a compilation."""
    return time.process_time if threading.active_count() == 1 else time.thread_time


@dataclass
class FileBudget:
    """The time of one file, which begins when this is made.

    Parameters
    ----------
    limit : in processor seconds.
    clock : in processor seconds.
    regions : line and processor seconds, in all and per stage, of every region that was looked at.
    """

    limit: float = FILE_SECONDS
    clock: Callable[[], float] = field(default_factory=processor_clock)
    started: float = field(init=False)
    regions: list[tuple[int, float, Mapping[str, float]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def spent(self) -> float:
        """Processor seconds so far."""
        return self.clock() - self.started

    def left(self) -> float:
        """Processor seconds until the end."""
        return max(0.0, self.limit - self.spent())

    def run(self, scop: Scop, optimized: Callable[[dict[str, float]], Result], *, found: bool = False) -> Result:
        """All stages of one region, with its time noted.

        Parameters
        ----------
        found : nobody marked the region: it leaves most of the time to others.

        Raises
        ------
        BudgetExceededError : the file takes too long, or the region does.
        """
        before, left = self.spent(), self.left()
        seconds = min(left, max(left * FOUND_SHARE, FOUND_SECONDS)) if found else left
        line = min((s.line for s in scop.statements), default=0)
        with processor_seconds(self.clock) as own:
            try:
                made = with_budget(ANY_NUMBER, lambda: optimized({}), seconds=seconds) if seconds else None
            finally:
                self.regions.append((line, self.spent() - before, own))
        if made is None:
            raise BudgetExceededError(
                f"the region takes more than its part of the file's time, {seconds:.2g} s" if seconds < left else
                f"the file takes more than {self.limit:g} s of processor time, which were spent up to here",
                where=SourceLocation(scop.source.path if scop.source is not None else scop.name, line),
                witness=_stages(own) or None, hint="split the file, or simplify the region that takes long")
        return made

    def told(self, path: str) -> str | None:
        """The line for a file that takes long; None for others."""
        spent = self.spent()
        if spent < LONG_SECONDS:
            return None
        long = [f"the region of line {line} takes {seconds:.1f} s{_in_brackets(_stages(stages))}"
                for line, seconds, stages in self._by_line() if seconds >= WORTH_TELLING * spent]
        reading = spent - sum(seconds for _, seconds, _ in self.regions)
        if reading >= WORTH_TELLING * spent:
            long.append(f"reading takes {reading:.1f} s")
        return f"{path}: the file takes {spent:.1f} s of processor time: {', '.join(long[:3])}"

    def tests(self, scop: Scop, check: Callable[[], Scop]) -> Scop:
        """The search for tests of a region that nobody marked, with its time noted."""
        return self.run(scop, lambda seconds: timed(seconds, TESTS, check), found=True)

    def _by_line(self) -> list[tuple[int, float, Mapping[str, float]]]:
        """Seconds, in all and per stage, of the regions that begin in one line; the longest first."""
        found: dict[int, dict[str, float]] = {}
        whole: dict[int, float] = {}
        for line, seconds, stages in self.regions:
            whole[line] = whole.get(line, 0.0) + seconds
            own = found.setdefault(line, {})
            for stage, taken in stages.items():
                own[stage] = own.get(stage, 0.0) + taken
        return sorted(((line, whole[line], own) for line, own in found.items()), key=lambda region: -region[1])


def _stages(seconds: Mapping[str, float]) -> str:
    """The stages that take most of the time, in words."""
    whole = sum(seconds.values())
    ranked = sorted(seconds.items(), key=lambda stage: -stage[1])
    return ", ".join(f"{name} {taken:.1f} s" for name, taken in ranked if taken >= max(WORTH_TELLING * whole, 0.05))


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""
