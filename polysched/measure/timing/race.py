"""The race: codes sampled in turn, and what may be claimed of their samples.

Whatever is timed against something else is timed here: candidates of a search, plans of an instruction or of a graph,
the codes of a kernel, a program and what became of it, the contestants of an experiment.  What differs is what a sample
is, and in which process it is taken.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from polysched.measure.timing.statistics import CONFIDENCE, median_interval
from polysched.records import dataclass

S = TypeVar("S")
K = TypeVar("K", bound=Hashable)


def order(count: int, number: int) -> tuple[int, ...]:
    """Who comes when in a round of some codes.

    In `count` rounds, twice as many where that is odd, each comes at every place, and behind each other one, equally
    often: what a code leaves in caches and clocks disturbs all others alike.

    Source: Williams, Experimental Designs Balanced for the Estimation of Residual Effects of Treatments, Australian
    Journal of Scientific Research A 2 (1949).
    """
    if count < 2:
        return tuple(range(count))
    steps = [(place + 1) // 2 if place % 2 else -(place // 2) for place in range(count)]
    row = [(step + number) % count for step in steps]
    mirrored = count % 2 == 1 and number // count % 2 == 1
    return tuple(reversed(row) if mirrored else row)


def in_turn(codes: Mapping[K, Callable[[], S]], number: int) -> dict[K, S]:
    """One sample of each code, in the order of this round; a code that is taken out meanwhile gives none."""
    names = list(codes)
    found: dict[K, S] = {}
    for place in order(len(names), number):
        if names[place] in codes:
            found[names[place]] = codes[names[place]]()
    return found


@dataclass(frozen=True)
class Pair(Generic[S]):
    """The samples of a reference and of another code, of one round."""

    first: S
    own: S


def pairs(first: Callable[[], S], own: Callable[[], S], *, most: int, begin: int = 0) -> Iterator[Pair[S]]:
    """A reference and another code in alternation, as long as more is asked for; each begins every other pair.

    Parameters
    ----------
    begin : number of the first round; those below 0 may warm up.
    """
    for number in range(begin, most):
        found = in_turn({0: first, 1: own}, number)
        yield Pair(found[0], found[1])


@dataclass(frozen=True, kw_only=True)
class Gain:
    """How many times as fast as the reference, which a search calls the model's pick.

    Parameters
    ----------
    median, low, high : of the paired ratios of fresh samples, with the interval of the median.
    pairs : how many there were; 0 where the reference was kept, whose gain is 1 by definition.
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


def ratios_of(seconds: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """How many times as fast the second of each pair is."""
    return tuple(first / max(own, 1e-9) for first, own in seconds)


def clean_of(seconds: Sequence[tuple[float, float]], disturbed: Sequence[int]) -> tuple[tuple[float, float], ...]:
    """The pairs that no other program disturbed."""
    return tuple(pair for number, pair in enumerate(seconds) if number not in disturbed)


def gain_of(ratios: Sequence[float], confidence: float = CONFIDENCE) -> Gain:
    """The median of ratios with its interval; an interval that covers less than was asked for starts at no gain."""
    interval = median_interval(ratios, confidence)
    low = interval.low if interval.coverage >= confidence else min(1.0, *ratios)
    return Gain(median=statistics.median(ratios), low=low, high=interval.high, pairs=len(ratios))


@dataclass(frozen=True, kw_only=True)
class Decision(Generic[K]):
    """What the samples of some codes claim.

    Parameters
    ----------
    winner : None where the reference is kept.
    gain : of the winner over the reference.
    ties : codes whose intervals overlap with the winner's, or, where none won, with 1.
    """

    winner: K | None
    gain: Gain
    ties: tuple[K, ...] = ()


def decided(ratios: Mapping[K, Sequence[float]], confidence: float = CONFIDENCE) -> Decision[K]:
    """Which code is taken over the reference, by the ratios of pairs with it; codes without any claim nothing.

    The reference is kept unless an interval lies above 1; each interval covers so much that all together hold with the
    confidence asked for (Bonferroni).
    """
    timed = {key: own for key, own in ratios.items() if own}
    share = 1 - (1 - confidence) / max(1, len(timed))
    gains = {key: gain_of(own, share) for key, own in timed.items()}
    better = {key: gain for key, gain in gains.items() if gain.low > 1}
    if not better:
        return Decision(winner=None, gain=Gain(), ties=tuple(key for key, gain in gains.items() if gain.high >= 1))
    winner = max(better, key=lambda key: better[key].median)
    return Decision(winner=winner, gain=gains[winner], ties=tuple(
        key for key, gain in gains.items() if key != winner and gain.high >= gains[winner].low))
