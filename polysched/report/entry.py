"""What a report shows of one result: a measurement of one function, or a case of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from polysched.experiment.standings import Status
from polysched.measure.measurement import Listing, Work
from polysched.measure.timing.machine import Machine
from polysched.measure.timing.peak import Peaks
from polysched.measure.timing.statistics import Interval
from polysched.records import dataclass

ORIGINAL, OURS = "original", "polysched"


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One program that computes the same as the reference.

    Parameters
    ----------
    seconds : the median; None when it was not verified, and then `problem` says why.
    least, largest : of all repeats, in seconds.
    repeats : how many were timed; `disturbed` of them by other work on the machine.
    speed_up : the median of the paired ratios to the reference, with its interval; None for the reference itself.
    counters : medians of the performance counters, by event.
    """

    name: str
    seconds: float | None = None
    least: float = 0.0
    largest: float = 0.0
    repeats: int = 0
    disturbed: int = 0
    speed_up: float | None = None
    interval: Interval | None = None
    problem: str = ""
    note: str = ""
    largest_relative: float | None = None
    counters: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_missing(self) -> bool:
        """Whether its tool was not on the machine."""
        return self.problem.partition(":")[0] == Status.MISSING.value


@dataclass(frozen=True, kw_only=True)
class TileTime:
    """One tile of a kernel: its edges, and its seconds as measured (median) and as predicted."""

    edges: tuple[int, ...]
    seconds: float
    predicted_seconds: float | None = None
    is_pick: bool = False


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a result came from.

    Parameters
    ----------
    compiler, flags : empty when the result does not say.
    command : what was measured, by file or experiment.
    """

    machine: Machine
    governor: str
    load: float
    compiler: str
    flags: str
    libraries: Mapping[str, str]
    git_revision: str
    started: str
    command: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One result.

    Parameters
    ----------
    kernel : the function or the case; `label` distinguishes it from other results of the same kernel.
    group : the experiment; empty for measurements of `polysched run`.
    reference : the variant that speed-ups are relative to.
    problem : why the whole result has no times; empty when it has some.
    dtype : of the results, for the peak; empty when unknown.
    known_peak : operations per second at most, where the result keeps it without the machine's other peaks.
    tiles : of the kernel at one size, when several were measured.
    values : what an experiment keeps besides, by name.
    """

    kernel: str
    label: str
    sizes: Mapping[str, Any]
    provenance: Provenance
    threads: int
    group: str = ""
    reference: str = ORIGINAL
    variants: tuple[Variant, ...] = ()
    problem: str = ""
    dtype: str = ""
    known_peak: float | None = None
    work: Work | None = None
    peaks: Peaks | None = None
    listings: tuple[Listing, ...] = ()
    steps: tuple[str, ...] = ()
    tiles: tuple[TileTime, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The kernel with its label."""
        return f"{self.kernel} ({self.label})" if self.label else self.kernel

    @property
    def intensity(self) -> float | None:
        """Operations per byte that has to move at least; None when either is unknown."""
        return None if self.work is None or not self.work.bytes_moved else self.work.flop_count / self.work.bytes_moved

    @property
    def peak(self) -> float | None:
        """Operations per second that the machine can do with this many threads at most."""
        found = None if self.peaks is None else self.peaks.operations_per_second(self.dtype, self.threads)
        return found or self.known_peak

    @property
    def memory_bandwidth(self) -> float | None:
        """Bytes per second that this many threads read out of memory at most."""
        if self.peaks is None:
            return None
        return self.peaks.bandwidth.get(0) if self.threads == 1 else self.peaks.memory_all_cores

    def rate(self, variant: Variant) -> float | None:
        """Operations per second that a variant reached."""
        if variant.seconds is None or self.work is None or not self.work.flop_count:
            return None
        return self.work.flop_count / max(variant.seconds, 1e-12)

    def roof(self) -> float | None:
        """Operations per second below which both the peak and the memory's bandwidth allow no more."""
        if self.peak is None or self.memory_bandwidth is None or self.intensity is None:
            return None
        return min(self.peak, self.intensity * self.memory_bandwidth)

    def compared(self) -> tuple[Variant, ...]:
        """The variants that are compared with the reference and have a time."""
        return tuple(v for v in self.variants if v.speed_up is not None)
