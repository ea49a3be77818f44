"""What got faster or slower between two results files, beyond what noise explains.

Two results of one function and size are compared by their ratios to the original code, which ran in alternation
with them and cancels most of what differs between two days; when the original code or its build changed, by their
times.  A change counts when the confidence intervals of the two medians do not overlap and the medians differ by more
than a threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from polysched.errors import UsageError
from polysched.measure.measurement import Build, Measurement
from polysched.measure.timing.statistics import Interval, Timing, median_interval
from polysched.records import dataclass

THRESHOLD = 0.05

Key: TypeAlias = tuple[str, str, tuple[tuple[str, int], ...], int, bool]
Named: TypeAlias = tuple[Key, str]
"""A key, and the options where one file has results with several."""


class Verdict(Enum):
    """What became of one result."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    BROKEN = "broken"    # it was verified before, and is not now
    REPAIRED = "repaired"
    FAILED = "failed"    # in both
    NEW = "new"
    GONE = "gone"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One result in two files.

    Parameters
    ----------
    name : function, sizes and threads.
    change : speed after over speed before: above 1 it got faster; None when there is nothing to compare.
    by_time : compared by times, because the original code or its build changed.
    """

    name: str
    verdict: Verdict
    before: Measurement | None
    after: Measurement | None
    change: float | None = None
    by_time: bool = False

    @property
    def is_worse(self) -> bool:
        """Whether a continuous-integration run should fail for it."""
        return self.verdict in (Verdict.SLOWER, Verdict.BROKEN)


def compare_results(before: Sequence[Measurement], after: Sequence[Measurement], *, threshold: float = THRESHOLD,
                    any_machine: bool = False) -> tuple[Change, ...]:
    """Compare the last result of each experiment in both files, in the order of the first file.

    Results of other options are compared with each other (what did an option change?), unless one of the files has
    several for the same function, sizes and threads: then each is compared with that of the same options.

    Parameters
    ----------
    threshold : relative change of the median that is too small to matter.
    any_machine : compare results of different machines.

    Raises
    ------
    UsageError : the files come from different machines, or nothing is in both.
    """
    machines = {m.machine.identity for m in (*before, *after)}
    if len(machines) > 1 and not any_machine:
        raise UsageError("the results come from different machines, and their times cannot be compared",
                         witness="; ".join(sorted({f"{cpu}, {cores} cores" for cpu, _, cores in machines})),
                         hint="compare them with --any-machine if that is meant")
    told, also_told = _differing(before), _differing(after)
    names = {key: tuple(dict.fromkeys(told.get(key, ()) + also_told.get(key, ()))) for key in told | also_told}
    old, new = _by_key(before, names), _by_key(after, names)
    if not old.keys() & new.keys():
        raise UsageError("the two files have no function with the same sizes and threads in common")
    return tuple(_change(key, old.get(key), new.get(key), threshold) for key in dict.fromkeys([*old, *new]))


def _key(m: Measurement) -> Key:
    return m.source.rsplit("/", 1)[-1], m.function, tuple(sorted(m.sizes.items())), m.threads, m.cold_cache


def _differing(results: Sequence[Measurement]) -> dict[Key, tuple[str, ...]]:
    """The names of the options that tell results of one key apart, for the keys with several results."""
    together: dict[Key, list[Measurement]] = {}
    for m in results:
        together.setdefault(_key(m), []).append(m)
    return {key: tuple(name for name in sorted({n for m in group for n in m.options})
                       if len({str(m.options.get(name)) for m in group}) > 1) for key, group in together.items()}


def _by_key(results: Sequence[Measurement], differing: Mapping[Key, tuple[str, ...]]) -> dict[Named, Measurement]:
    return {(_key(m), ", ".join(f"{name} {m.options.get(name)}" for name in differing.get(_key(m), ()))): m
            for m in results}


def _change(named: Named, before: Measurement | None, after: Measurement | None, threshold: float) -> Change:
    (source, function, sizes, threads, cold), options = named
    name = (f"{source}: {function}({', '.join(f'{n}={v}' for n, v in sizes)}), {threads} thread"
            f"{'s' if threads != 1 else ''}{', cold cache' if cold else ''}{f', {options}' if options else ''}")

    def made(verdict: Verdict, change: float | None = None, *, by_time: bool = False) -> Change:
        return Change(name=name, verdict=verdict, before=before, after=after, change=change, by_time=by_time)

    if before is None or after is None:
        return made(Verdict.NEW if before is None else Verdict.GONE)
    if before.timing is None or after.timing is None:
        if before.timing is None and after.timing is None:
            return made(Verdict.FAILED)
        return made(Verdict.REPAIRED if before.timing is None else Verdict.BROKEN)
    by_time = before.original != _same_build(after, before)
    old, old_interval = _speed(before.timing, by_time=by_time)
    new, new_interval = _speed(after.timing, by_time=by_time)
    change = new / old
    apart = new_interval.low > old_interval.high or new_interval.high < old_interval.low
    if not apart or abs(change - 1) <= threshold:
        return made(Verdict.SAME, change, by_time=by_time)
    return made(Verdict.FASTER if change > 1 else Verdict.SLOWER, change, by_time=by_time)


def _same_build(after: Measurement, before: Measurement) -> Build:
    """The build of the original after, with the time it took to compile left out of the comparison."""
    return replace(after.original, compile_seconds=before.original.compile_seconds)


def _speed(timing: Timing, *, by_time: bool) -> tuple[float, Interval]:
    """The median speed and its interval: the ratio to the original, or calls per second."""
    if not by_time:
        return timing.ratio, timing.ratio_interval
    speeds = [1 / max(s.wall_seconds, 1e-9) for s in timing.transformed]
    return 1 / max(timing.transformed_seconds, 1e-9), median_interval(speeds)
