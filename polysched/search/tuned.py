"""Tuned: what a search found, and how it came about."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import field
from math import inf
from typing import Any

from polysched.measure.field import Verdict
from polysched.measure.timing.race import Gain
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scop.html import card, paragraph
from polysched.scop.scop import Scop
from polysched.scop.shown import Shown
from polysched.search.chooser import Rejections
from polysched.search.identity import Key
from polysched.search.importance import importance, model_agreement
from polysched.search.limits import LIMITS
from polysched.search.trial import Trial

MOST_MATTERED = 5
RANKING = "proposing and ranking"
"""The stage of a search in which plans are drawn and ranked."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Tuned(Shown):
    """What a search found.

    Parameters
    ----------
    name : of the program.
    scop, key : the program, and what its records are about.
    sizes, threads : for which it was searched.
    recipe : what was chosen.
    gain : over the model's pick, on fresh samples.
    ties : confirmed recipes that are as fast as what was chosen, as far as the samples tell.
    first, best : trials of the model's pick and of what was chosen.
    trials : all others, in the order in which they were judged.
    again : those that seemed fastest, with the fresh samples of a second race where there was one.
    confirmed : the finalists with their fresh samples.
    ranked : different recipes that the model ranked.
    duplicates : recipes whose C another one had.
    repeated : records of the database that were not measured again.
    rejections : what was no legal recipe.
    bound_seconds : what no program with these operations and data can go below; None where nothing is known.
    stopped : when and why the search ended.
    search_seconds : wall time.
    stages : where it went, by what was done.
    """

    name: str
    scop: Scop
    key: Key
    sizes: Mapping[str, int]
    threads: int
    recipe: Recipe
    gain: Gain
    ties: tuple[Trial, ...]
    first: Trial
    best: Trial
    trials: tuple[Trial, ...]
    again: tuple[Trial, ...] = ()
    confirmed: tuple[Trial, ...] = ()
    ranked: int = 0
    duplicates: int = 0
    repeated: int = 0
    rejections: Rejections = field(default_factory=Rejections)
    bound_seconds: float | None = None
    stopped: str = ""
    search_seconds: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)

    @property
    def curve(self) -> tuple[float, ...]:
        """The best ratio so far, trial by trial; 1 is the model's pick.

        A trial counts by its fresh samples where it has some, and for no more than the best of those otherwise: the
        largest of many ratios by few samples is one of luck.
        """
        fresh = {t.recipe: t.ratio or 0.0 for t in self.fresh}
        most = max(1.0, *fresh.values()) if fresh else inf
        best, found = 1.0, []
        for trial in self.trials:
            best = max(best, fresh.get(trial.recipe, min(most, trial.ratio or 0.0)))
            found.append(best)
        return tuple(found)

    @property
    def fresh(self) -> tuple[Trial, ...]:
        """The samples of the second race and of the last one."""
        return tuple(t for t in (*self.again, *self.confirmed) if t.phase != "search")

    @property
    def disturbed_share(self) -> float:
        """Of all pairs, those during which other programs took a core."""
        every = (*self.trials, *self.fresh)
        pairs = sum(len(t.pairs) for t in every)
        return sum(len(t.disturbed) for t in every) / pairs if pairs else 0.0

    @property
    def seconds(self) -> float | None:
        """The median time of a call of what was chosen, by samples that nothing disturbed; None where there are none.

        What was chosen over the model's pick has some.
        """
        confirmed = [t for t in self.confirmed if t.recipe == self.recipe]
        if self.recipe == self.first.recipe:
            return self.first_seconds
        return (confirmed[0] if confirmed else self.best).seconds

    @property
    def first_seconds(self) -> float | None:
        """The median time of a call of the model's pick, by all its clean samples, those beside others included."""
        own = [own for _, own in self.first.clean]
        own += [first for t in (*self.trials, *self.fresh) for first, _ in t.clean]
        return statistics.median(own) if own else None

    @property
    def least_seconds(self) -> float:
        """The shortest sample of the model's pick, disturbed or not: where nothing is clean, the nearest to a time."""
        own = [own for _, own in self.first.pairs]
        own += [first for t in (*self.trials, *self.fresh) for first, _ in t.pairs]
        return min(own, default=0.0)

    def to_json(self) -> dict[str, Any]:
        """What was found, as JSON values."""
        return {"name": self.name, "sizes": dict(self.sizes), "threads": self.threads, "trials": len(self.trials),
                "ranked": self.ranked, "rejected": self.rejections.total, "duplicates": self.duplicates,
                "repeated": self.repeated,
                "seconds": self.search_seconds, "gain": self.gain.to_json(), "recipe": self.recipe.to_json(),
                "best_seconds": self.seconds,
                "bound": None if self.bound_seconds is None else {"seconds": self.bound_seconds},
                "ties": [t.recipe.to_json() for t in self.ties], "stopped": self.stopped,
                "importance": importance(self.trials), "model": model_agreement(self.trials), "curve": list(self.curve),
                "verdicts": self.verdicts(), "disturbed": self.disturbed_share, "stages": dict(self.stages)}

    def verdicts(self) -> dict[str, int]:
        """How many trials came to which end."""
        return {v.value: n for v in Verdict if (n := sum(t.verdict is v for t in self.trials))}

    def headline(self) -> str:
        """For instance `of gemm: gain 1.12 [1.08, 1.15] after 64 trials`."""
        return f"of {self.name}: gain {self.gain} after {len(self.trials)} trials"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """What was found, line by line."""
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        lines = [f"{self.name}({sizes}), {self.threads} thread{'s' * (self.threads > 1)}",
                 f"gain: {self.gain}", f"recipe: {self.recipe}"]
        lines += [f"as fast, as far as the samples tell: {t.recipe}" for t in self.ties]
        if self.ranked:
            each = self.stages.get(RANKING, 0.0) / self.ranked
            lines.append(f"plans: {self.ranked} ranked by the model, {each * 1e3:.2g} ms each")
        ends = ", ".join(f"{n} {name}" for name, n in self.verdicts().items())
        lines.append(f"trials: {len(self.trials)} ({ends or 'none'}), {self.duplicates} with the C of another, "
                     f"{self.rejections.total} rejected, {self.repeated} known before")
        for rejected in self.rejections.first.values():
            count = self.rejections.counts[rejected.reason]
            lines.append(f"  rejected {count}: {rejected.reason}{f' ({rejected.witness})' * bool(rejected.witness)}")
        if self.disturbed_share > LIMITS.told_disturbance:
            lines.append(f"other programs took cores during {self.disturbed_share:.0%} of the samples, which claim "
                         "nothing: search on an idle machine")
        if self.seconds is not None:
            bound = f", {self.seconds / self.bound_seconds:.2f} times the bound" if self.bound_seconds else ""
            lines.append(f"time of a call: {self.seconds * 1e3:.4g} ms{bound}")
        else:
            lines.append("time of a call: not known, other programs disturbed every sample (the shortest of the "
                         f"model's pick took {self.least_seconds * 1e3:.4g} ms)")
        mattered = [f"{name} ({share:.0%})" for name, share in importance(self.trials).items()][:MOST_MATTERED]
        if mattered:
            lines.append(f"what mattered: {', '.join(mattered)}")
        if (agreement := model_agreement(self.trials)) is not None:
            lines.append(f"the projected model's order of the trials agrees by {agreement:.2f} with the measured one")
        parts = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in self.stages.items())
        lines.append(f"stopped: {self.stopped}, {self.search_seconds:.1f} s in all{f': {parts}' * bool(parts)}")
        return lines

    def _repr_html_(self) -> str:
        return card(self.headline(), *map(paragraph, self.lines()))
