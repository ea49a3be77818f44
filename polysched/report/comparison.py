"""What got faster or slower between two results files of experiments: our variants, relative to their references.

The same rule as for measurements (`measure.compare_results`): the confidence intervals of the two speed-ups do not
overlap, and the medians differ by more than a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from polysched.errors import UsageError
from polysched.measure.compare_results import THRESHOLD, Verdict
from polysched.measure.timing.statistics import Interval
from polysched.records import dataclass
from polysched.report.entry import OURS, Entry, Variant
from polysched.report.reading import Results, refuse_mixed_machines

LEAST_COVERAGE = 0.5

Key: TypeAlias = tuple[str, str, int, str]


@dataclass(frozen=True, kw_only=True)
class VariantChange:
    """One of our variants in two files.

    Parameters
    ----------
    name : experiment, case, threads, variant.
    change : speed-up after over speed-up before; None when there is nothing to compare.
    """

    name: str
    verdict: Verdict
    before: Variant | None
    after: Variant | None
    change: float | None = None

    @property
    def is_worse(self) -> bool:
        """Whether a continuous-integration run should fail for it."""
        return self.verdict in (Verdict.SLOWER, Verdict.BROKEN)


def compare_variants(before: Results, after: Results, *, threshold: float = THRESHOLD,
                     any_machine: bool = False) -> tuple[VariantChange, ...]:
    """Compare every variant of ours, in the order of the first file.

    Raises
    ------
    UsageError : the files come from different machines, or no variant is in both.
    """
    refuse_mixed_machines((*before.entries, *after.entries), any_machine=any_machine)
    old, new = _ours(before.entries), _ours(after.entries)
    if not old.keys() & new.keys():
        raise UsageError(f"the two files have no case with a variant {OURS} in common")
    return tuple(_change(key, old.get(key), new.get(key), threshold) for key in dict.fromkeys([*old, *new]))


def _ours(entries: Sequence[Entry]) -> dict[Key, Variant]:
    return {(e.group, e.title, e.threads, v.name): v for e in entries for v in e.variants
            if v.name.partition("@")[0] == OURS and v.name != e.reference}


def _change(key: Key, before: Variant | None, after: Variant | None, threshold: float) -> VariantChange:
    group, title, threads, variant = key
    name = (f"{group} {title}, {threads} thread{'s' if threads != 1 else ''}"
            f"{'' if variant == OURS else f', {variant}'}").strip()

    def made(verdict: Verdict, change: float | None = None) -> VariantChange:
        return VariantChange(name=name, verdict=verdict, before=before, after=after, change=change)

    if before is None or after is None:
        return made(Verdict.NEW if before is None else Verdict.GONE)
    if before.speed_up is None or after.speed_up is None:
        if before.speed_up is None and after.speed_up is None:
            return made(Verdict.FAILED)
        return made(Verdict.REPAIRED if before.speed_up is None else Verdict.BROKEN)
    change = after.speed_up / before.speed_up
    old, new = _known(before.interval), _known(after.interval)
    if not (new.low > old.high or new.high < old.low) or abs(change - 1) <= threshold:
        return made(Verdict.SAME, change)
    return made(Verdict.FASTER if change > 1 else Verdict.SLOWER, change)


def _known(interval: Interval | None) -> Interval:
    """The interval, or everything when there were too few repeats to say anything."""
    if interval is None or interval.coverage < LEAST_COVERAGE:
        return Interval(low=0.0, high=math.inf, coverage=1.0)
    return interval
