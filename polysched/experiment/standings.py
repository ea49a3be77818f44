"""The result of a contest: which variants were right, and how long each of their calls took."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from enum import Enum
from typing import Any

from polysched.measure.measurement import Build
from polysched.measure.timing.statistics import Interval, Sample, median_interval
from polysched.records import dataclass


class Status(Enum):
    """What became of a variant."""

    VERIFIED = "verified"
    WRONG = "wrong"        # it computes something else than the reference; it has no time
    MISSING = "missing"    # its tool is not on this machine
    FAILED = "failed"      # it could not be made, or crashed
    SLOW = "slow"          # it did not end within its limit; it has no time


@dataclass(frozen=True, kw_only=True)
class VariantTimes:
    """One variant of a workload.

    Parameters
    ----------
    name : for the tables.
    problem : why it has no time; empty when it has one.
    note : what a reader should know about it: version, core type, chosen tiles.
    largest_relative : the largest difference to the reference, relative as `measure.programs.comparison` defines it.
    rounds : by number of the round, the calls of this variant in it.
    build : how it was compiled; None for libraries and compilers that keep that to themselves.
    warmups : calls that do not count, in order; the first one is the one that was verified.
    """

    name: str
    status: Status
    problem: str = ""
    note: str = ""
    largest_relative: float = 0.0
    rounds: Mapping[int, tuple[Sample, ...]] = field(default_factory=dict)
    build: Build | None = None
    warmups: tuple[Sample, ...] = ()

    @property
    def events(self) -> tuple[str, ...]:
        """The performance counters that were read, in order."""
        samples = [*self.warmups, *(s for calls in self.rounds.values() for s in calls)]
        return tuple(dict.fromkeys(event for s in samples for event in s.counters))

    def __post_init__(self) -> None:
        if self.rounds and self.status is not Status.VERIFIED:
            raise ValueError("an unverified result has no time")

    @property
    def timed(self) -> bool:
        return bool(self.rounds)

    @property
    def seconds(self) -> float:
        """The median over the rounds of each round's median."""
        return statistics.median(self.round_seconds.values())

    @property
    def round_seconds(self) -> dict[int, float]:
        """The median of the calls of each round."""
        return {number: statistics.median(s.wall_seconds for s in samples) for number, samples in self.rounds.items()}

    @property
    def disturbed_share(self) -> float:
        """The share of the calls during which something else ran on a core that they needed."""
        samples = [s for calls in self.rounds.values() for s in calls]
        return sum(s.is_disturbed for s in samples) / len(samples) if samples else 0.0


@dataclass(frozen=True, kw_only=True)
class Standings:
    """All variants of one workload, timed in alternation."""

    variants: tuple[VariantTimes, ...]

    def variant(self, name: str) -> VariantTimes | None:
        """The variant of that name; None when it did not take part."""
        return next((v for v in self.variants if v.name == name), None)

    def speed_up(self, name: str, over: str) -> tuple[float, Interval] | None:
        """The median of the ratios of the rounds in which both ran, and its interval; None without such rounds."""
        fast, slow = self.variant(name), self.variant(over)
        if fast is None or slow is None:
            return None
        ours, theirs = fast.round_seconds, slow.round_seconds
        ratios = [theirs[n] / max(ours[n], 1e-9) for n in ours.keys() & theirs.keys()]
        return (statistics.median(ratios), median_interval(ratios)) if ratios else None

    def fastest(self, names: Iterable[str]) -> VariantTimes | None:
        """The one with the least median among those that have times."""
        wanted = set(names)
        timed = [v for v in self.variants if v.name in wanted and v.timed]
        return min(timed, key=lambda v: v.seconds, default=None)

    def to_json(self) -> dict[str, Any]:
        """JSON values, every repeat included, each as a row: wall, thread's and process's CPU seconds, switches, and
        the counts of the `events` (null where a counter did not run all the time).
        """
        return {"variants": [
            {"name": v.name, "status": v.status.value, "problem": v.problem, "note": v.note,
             "largest_relative": v.largest_relative, "seconds": v.seconds if v.timed else None,
             "build": None if v.build is None else asdict(v.build), "events": list(v.events),
             "warmups": [_row(s, v.events) for s in v.warmups],
             "rounds": {str(n): [_row(s, v.events) for s in calls] for n, calls in v.rounds.items()}}
            for v in self.variants]}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Standings:
        """The inverse of `to_json`."""
        return Standings(variants=tuple(
            VariantTimes(name=v["name"], status=Status(v["status"]), problem=v["problem"], note=v["note"],
                         largest_relative=v["largest_relative"],
                         build=None if v.get("build") is None else Build(
                             **v["build"] | {"flags": tuple(v["build"]["flags"])}),
                         warmups=tuple(_sample_of(s, v["events"]) for s in v.get("warmups", ())),
                         rounds={int(n): tuple(_sample_of(s, v.get("events", ())) for s in calls)
                                 for n, calls in v["rounds"].items()})
            for v in value["variants"]))


def _row(sample: Sample, events: Sequence[str]) -> list[float | None]:
    return [sample.wall_seconds, sample.thread_cpu_seconds, sample.process_cpu_seconds, sample.involuntary_switches,
            *(sample.counters.get(event) for event in events)]


def _sample_of(value: Mapping[str, Any] | Sequence[Any], events: Sequence[str]) -> Sample:
    """A repeat from its row, or from the fields by name that older files have."""
    if isinstance(value, Mapping):
        return Sample(**value)
    wall, thread, process, switches, *counts = value
    return Sample(wall_seconds=wall, thread_cpu_seconds=thread, process_cpu_seconds=process,
                  involuntary_switches=int(switches),
                  counters={e: int(c) for e, c in zip(events, counts, strict=True) if c is not None})


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive numbers.

    Raises
    ------
    ValueError : there are none.
    """
    return statistics.geometric_mean(values)
