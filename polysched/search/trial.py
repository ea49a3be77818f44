"""Trial: one recipe that was built and judged, as a record; and what is decided from recorded times alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from polysched.measure.field import Verdict
from polysched.measure.timing.statistics import Interval, median_interval
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.search.chooser import Trace
from polysched.search.limits import LIMITS
from polysched.target.one_line import OneLine

Phase = Literal["search", "again", "confirm"]
PHASES: tuple[Phase, ...] = ("search", "again", "confirm")


@dataclass(frozen=True, kw_only=True)
class Trial(OneLine):
    """One recipe that was built and judged.

    Parameters
    ----------
    recipe : with the program's own names.
    trace : the choices that made it; empty for the model's pick.
    code : identity of its C (`identity.code_identity`); empty where none was emitted.
    predicted_seconds : by the projected model; None where it cannot say.
    verdict, reason : what came of it.
    pairs : wall seconds of the model's pick and of this one, in alternation; the model's pick has those of the code as
        written beside its own.
    disturbed : numbers of the pairs during which other programs took a core.
    spills : stores of vector registers to the stack in the compiled file; None where it was not compiled.
    phase : `again` for fresh samples of those that seemed fastest, `confirm` for those of the finalists.
    """

    recipe: Recipe
    trace: Trace = ()
    code: str = ""
    predicted_seconds: float | None = None
    verdict: Verdict = Verdict.TIMED
    reason: str = ""
    pairs: tuple[tuple[float, float], ...] = ()
    phase: Phase = "search"
    disturbed: tuple[int, ...] = ()
    spills: int | None = None

    @property
    def clean(self) -> tuple[tuple[float, float], ...]:
        """The pairs that no other program disturbed."""
        return tuple(pair for number, pair in enumerate(self.pairs) if number not in self.disturbed)

    @property
    def is_settled(self) -> bool:
        """Whether it needs no other measurement: it is not right, or some sample was not disturbed."""
        return self.verdict is not Verdict.TIMED or bool(self.clean)

    @property
    def ratios(self) -> tuple[float, ...]:
        """How many times as fast as what it was timed with, by clean pairs; by all where there are none."""
        return ratios_of(self.clean or self.pairs)

    @property
    def ratio(self) -> float | None:
        """The median of the ratios; None where there are no times."""
        return statistics.median(self.ratios) if self.pairs else None

    @property
    def seconds(self) -> float | None:
        """The median time of a call, by clean pairs; None where there are none: a disturbed call takes any time."""
        return statistics.median(own for _, own in self.clean) if self.clean else None

    def __str__(self) -> str:
        if self.ratio is None:
            return f"{self.verdict.value}: {self.reason} ({self.recipe})"
        beside = "the code as written" if self.recipe == Recipe() else "the model's pick"
        return f"{self.ratio:.3f} times as fast as {beside}: {self.recipe}"


@dataclass(frozen=True, kw_only=True)
class Gain(OneLine):
    """How many times as fast as the model's pick.

    Parameters
    ----------
    median, low, high : of the paired ratios of fresh samples, with the interval of the median.
    pairs : how many there were; 0 where the model's pick was kept, whose gain is 1 by definition.
    """

    median: float = 1.0
    low: float = 1.0
    high: float = 1.0
    pairs: int = 0

    def to_json(self) -> dict[str, Any]:
        """Median and interval."""
        return {"median": self.median, "interval": [self.low, self.high], "pairs": self.pairs}

    def __str__(self) -> str:
        if not self.pairs:
            return "1, the model's pick is kept"
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}] in {self.pairs} pairs"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a search chooses.

    Parameters
    ----------
    winner : None where the model's pick is kept.
    gain : of the winner over the model's pick.
    ties : confirmed trials whose intervals overlap with the winner's, or, where none won, with 1.
    """

    winner: Trial | None
    gain: Gain
    ties: tuple[Trial, ...] = ()


def contenders(trials: Sequence[Trial], count: int = LIMITS.contenders) -> tuple[Trial, ...]:
    """The trials that deserve fresh samples: the fastest few of those that seem faster than the model's pick.

    The fastest of many by few samples are those that had luck, too; what is chosen among them needs samples of its own.
    """
    faster = [t for t in trials if t.ratio is not None and t.ratio > 1 and t.recipe != Recipe()]
    return tuple(sorted(faster, key=lambda t: -(t.ratio or 0.0))[:count])


def finalists(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Those of the contenders that are still the fastest by the samples of their second race."""
    return contenders(trials, LIMITS.finalists)


def choose(confirmed: Sequence[Trial]) -> Choice:
    """Decide from the fresh samples of the finalists.

    The model's pick is kept unless an interval lies above 1; each interval covers so much that all together hold with
    `LIMITS.confidence` (Bonferroni).  Samples that other programs disturbed claim nothing: code for several threads
    waits for each that has no core, so that other codes seem faster than they are.
    """
    timed = [t for t in confirmed if t.clean]
    share = 1 - (1 - LIMITS.confidence) / max(1, len(timed))
    gains = [(t, gain_of(ratios_of(t.clean), share)) for t in timed]
    better = [(t, g) for t, g in gains if g.low > 1]
    if not better:
        return Choice(winner=None, gain=Gain(), ties=tuple(t for t, g in gains if g.high >= 1))
    winner, gain = max(better, key=lambda pair: pair[1].median)
    return Choice(winner=winner, gain=gain, ties=tuple(
        t for t, g in gains if t is not winner and g.high >= gain.low))


def ratios_of(pairs: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """How many times as fast the second of each pair is."""
    return tuple(first / max(own, 1e-9) for first, own in pairs)


def gain_of(ratios: Sequence[float], confidence: float) -> Gain:
    """The median of ratios with its interval; an interval that covers less than was asked for starts at no gain."""
    interval: Interval = median_interval(ratios, confidence)
    low = interval.low if interval.coverage >= confidence else min(1.0, *ratios)
    return Gain(median=statistics.median(ratios), low=low, high=interval.high, pairs=len(ratios))


def renamed(trial: Trial, names: dict[str, str]) -> Trial:
    """The trial of the same program under other names; its choices count loops and bands, and stay."""
    return replace(trial, recipe=trial.recipe.renamed(names))
