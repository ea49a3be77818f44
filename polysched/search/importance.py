"""What mattered in a search: how much of the spread of times each choice explains, and how well the model ranked."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from math import log

from polysched.search.limits import LIMITS
from polysched.search.trial import Trial


def importance(trials: Sequence[Trial]) -> dict[str, float]:
    """The share of the variance of the logarithm of times that each choice explains alone, the largest first.

    Choices that few trials made, or all in the same way, explain nothing.

    Source: the correlation ratio, K. Pearson, "On the General Theory of Skew Correlation", 1905.
    """
    timed = [(log(t.ratio), {d.name: d.value for d in t.trace}) for t in trials if t.ratio]
    if len(timed) < LIMITS.least_to_explain:
        return {}
    names = dict.fromkeys(name for _, made in timed for name in made)
    found = {name: _explained([(y, made[name]) for y, made in timed if name in made]) for name in names}
    return dict(sorted(((n, s) for n, s in found.items() if s > 0), key=lambda pair: -pair[1]))


def _explained(pairs: Sequence[tuple[float, object]]) -> float:
    """The share that is left after a fair part for the number of groups, as an adjusted R squared has it."""
    groups: dict[object, list[float]] = defaultdict(list)
    for y, value in pairs:
        groups[value].append(y)
    spare = len(pairs) - len(groups)
    if len(groups) < 2 or spare < LIMITS.least_to_explain // 2:
        return 0.0
    mean = statistics.fmean(y for y, _ in pairs)
    total = sum((y - mean) ** 2 for y, _ in pairs)
    within = sum((y - statistics.fmean(own)) ** 2 for own in groups.values() for y in own)
    return max(0.0, 1 - within / total * (len(pairs) - 1) / spare) if total > 0 else 0.0


def model_agreement(trials: Sequence[Trial]) -> float | None:
    """Spearman's correlation of what the projected model said with what was measured; None where it says nothing."""
    timed = [(t.predicted_seconds, -log(t.ratio)) for t in trials if t.ratio and t.predicted_seconds is not None]
    if len(timed) < LIMITS.least_to_explain:
        return None
    said, measured = (_ranks([pair[k] for pair in timed]) for k in range(2))
    if len(set(said)) < 2 or len(set(measured)) < 2:
        return None
    return statistics.correlation(said, measured)


def _ranks(values: Sequence[float]) -> list[float]:
    places: dict[float, list[int]] = defaultdict(list)
    for place, value in enumerate(sorted(values)):
        places[value].append(place)
    return [statistics.fmean(places[value]) for value in values]
