"""How a report writes numbers, and the means it quotes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from polysched.records import dataclass
from polysched.report.entry import Entry


def seconds_text(seconds: float) -> str:
    """Seconds with three significant digits, never in powers of ten."""
    if seconds <= 0:
        return "0"
    return f"{seconds:.{max(0, 2 - math.floor(math.log10(seconds)))}f}"


def quantity(value: float, unit: str) -> str:
    """A number with a decimal prefix: `2.13 GFLOP/s`."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * factor:   # three digits would round to the next prefix
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def size_text(entry: Entry) -> str:
    """The sizes as `n=1000, m=20`; long values are left out."""
    shown = [f"{name}={value}" for name, value in entry.sizes.items() if isinstance(value, int | float | str)
             and len(str(value)) <= 16]
    return ", ".join(shown)


@dataclass(frozen=True, kw_only=True)
class Mean:
    """The geometric mean of a variant's speed-ups over one reference in one experiment.

    Parameters
    ----------
    count : over how many kernels.
    """

    group: str
    reference: str
    variant: str
    value: float
    count: int


def means_by_experiment(entries: Sequence[Entry]) -> list[Mean]:
    """Means of what can be compared: one per experiment, reference and variant."""
    groups = dict.fromkeys((e.group, e.reference) for e in entries)
    return [Mean(group=group, reference=reference, variant=name, value=value, count=count)
            for group, reference in groups
            for name, (value, count) in geometric_means(
                [e for e in entries if (e.group, e.reference) == (group, reference)]).items()]


def geometric_means(entries: Sequence[Entry]) -> dict[str, tuple[float, int]]:
    """Per variant the geometric mean of its speed-ups, and over how many kernels."""
    found: dict[str, list[float]] = {}
    for entry in entries:
        for variant in entry.compared():
            found.setdefault(variant.name, []).append(max(variant.speed_up or 0.0, 1e-9))
    return {name: (statistics.geometric_mean(values), len(values)) for name, values in found.items()}
