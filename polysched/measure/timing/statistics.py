"""Paired timing: the median of the ratios, its confidence interval, and which samples were disturbed.

The interval is the one between order statistics (the sign test turned around; Conover, Practical Nonparametric
Statistics, section 3.2): it assumes nothing about the distribution and needs no resampling.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import comb

from polysched.records import dataclass

CONFIDENCE = 0.95
LEAST_CPU_SHARE = 0.95
LEAST_CPU_SECONDS = 1e-4


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One timed call.

    Parameters
    ----------
    wall_seconds : what a clock on the wall says.
    thread_cpu_seconds : CPU time of the thread that made the call.
    process_cpu_seconds : CPU time of all threads.
    involuntary_switches : how often the system took a thread from its core.
    counters : performance counters of all threads, by event; empty where they cannot be read.
    """

    wall_seconds: float
    thread_cpu_seconds: float
    process_cpu_seconds: float
    involuntary_switches: int
    counters: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_disturbed(self) -> bool:
        """Whether something else ran on a core that the call needed.

        A call that keeps one thread busy has as much CPU time as wall time.  One with several threads may
        wait for its slowest, so there a thread must also have been taken from its core.
        """
        if self.wall_seconds < LEAST_CPU_SECONDS:
            return self.involuntary_switches > 0
        short = self.thread_cpu_seconds < LEAST_CPU_SHARE * self.wall_seconds
        alone = self.process_cpu_seconds < 1.1 * self.thread_cpu_seconds
        return short and (alone or self.involuntary_switches > 0)


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A confidence interval for a median.

    Parameters
    ----------
    coverage : the probability with which it holds the median; below the one asked for when there are few pairs.
    """

    low: float
    high: float
    coverage: float


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The narrowest interval between symmetric order statistics that covers the median with this confidence."""
    ordered = sorted(values)
    count = len(ordered)
    if not count:
        raise ValueError("no values")
    best = 0
    for rank in range(1, count // 2):
        if _coverage(count, rank) < confidence:
            break
        best = rank
    return Interval(low=ordered[best], high=ordered[count - 1 - best], coverage=_coverage(count, best))


def _coverage(count: int, rank: int) -> float:
    """The probability that the median lies between the order statistics number rank and count - 1 - rank (from 0)."""
    return float(1.0 - 2.0 * sum(comb(count, k) for k in range(rank + 1)) / 2.0**count) if count > 1 else 0.0


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Interleaved times of two programs; every repeat is kept.

    Parameters
    ----------
    original, transformed : one sample per pair, in order.
    warmups : pairs that ran before and do not count.
    threads : OMP_NUM_THREADS.
    cpus : the cores that the process was pinned to; empty when it was not.
    cold_cache : the caches were flushed before every call.
    """

    original: tuple[Sample, ...]
    transformed: tuple[Sample, ...]
    warmups: tuple[tuple[Sample, Sample], ...]
    threads: int
    cpus: tuple[int, ...] = ()
    cold_cache: bool = False

    def __post_init__(self) -> None:
        if len(self.original) != len(self.transformed) or not self.original:
            raise ValueError("samples come in pairs, at least one")

    @property
    def ratios(self) -> tuple[float, ...]:
        """Original over transformed, pair by pair: above 1 the transformed code is faster."""
        return tuple(a.wall_seconds / max(b.wall_seconds, 1e-9)
                     for a, b in zip(self.original, self.transformed, strict=True))

    @property
    def ratio(self) -> float:
        """The median of the paired ratios."""
        return statistics.median(self.ratios)

    @property
    def ratio_interval(self) -> Interval:
        """The confidence interval of the median ratio."""
        return median_interval(self.ratios)

    @property
    def original_seconds(self) -> float:
        """The median of the original's times."""
        return statistics.median(s.wall_seconds for s in self.original)

    @property
    def transformed_seconds(self) -> float:
        """The median of the transformed code's times."""
        return statistics.median(s.wall_seconds for s in self.transformed)

    @property
    def disturbed(self) -> tuple[int, ...]:
        """The pairs of which at least one sample was disturbed."""
        return tuple(i for i, (a, b) in enumerate(zip(self.original, self.transformed, strict=True))
                     if a.is_disturbed or b.is_disturbed)


def median_counters(samples: Sequence[Sample]) -> dict[str, float]:
    """The median of each performance counter over the samples that have it, in the order of the samples' own."""
    events = dict.fromkeys(event for s in samples for event in s.counters)
    return {e: statistics.median(s.counters[e] for s in samples if e in s.counters) for e in events}


SMALL_RATIO = 0.1
"""Below it two digits behind the point say little."""


def ratio_text(ratio: float) -> str:
    """A ratio with two digits behind the point, and more where these would be zeros: `1.25`, `0.0021`."""
    small = 0 < ratio < SMALL_RATIO
    return f"{ratio:.{1 - math.floor(math.log10(ratio)) if small else 2}f}"
