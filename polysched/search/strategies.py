"""Strategies: which recipes of a space come next, by ask and tell; each is deterministic given what it is told."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Protocol

from polysched.search.chooser import Trace
from polysched.search.limits import LIMITS
from polysched.search.space import Explorer, Proposal
from polysched.search.trial import Trial


class SearchStrategy(Protocol):
    """Proposes recipes, and learns what came of those that were tried."""

    def ask(self, count: int) -> tuple[Proposal, ...]:
        """At most so many further recipes; none when the space is exhausted."""

    def tell(self, trials: Sequence[Trial]) -> None:
        """What came of some that were tried; wrong and crashed ones have no ratio."""


MakeStrategy = Callable[[Explorer, int], SearchStrategy]
"""Takes the space over a program, and a seed."""


class Given:
    """A few recipes in their order, whatever the space; each is raced."""

    def __init__(self, proposals: Sequence[Proposal]) -> None:
        self._left = tuple(proposals)

    def ask(self, count: int) -> tuple[Proposal, ...]:
        """The next ones."""
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def tell(self, trials: Sequence[Trial]) -> None:
        """Learn nothing."""


class Grid:
    """Every recipe in lexical order of the choices."""

    def __init__(self, explorer: Explorer, seed: int) -> None:
        self._left: Iterator[Proposal] = explorer.enumerate()

    def ask(self, count: int) -> tuple[Proposal, ...]:
        """The next ones."""
        return tuple(islice(self._left, count))

    def tell(self, trials: Sequence[Trial]) -> None:
        """Learn nothing."""


class Random:
    """Every choice is drawn; a recipe that was proposed before is not proposed again."""

    def __init__(self, explorer: Explorer, seed: int) -> None:
        self.explorer, self.draw = explorer, random.Random(seed)
        self.seen: set[str] = set()

    def ask(self, count: int) -> tuple[Proposal, ...]:
        """New ones; fewer where many draws in a row give none."""
        return _new(count, self.seen, lambda: self.explorer.sample(self.draw))

    def tell(self, trials: Sequence[Trial]) -> None:
        """Learn nothing."""


class Evolution:
    """Recipes near the fastest ones, with a few other choices; the first ones, and a share of all, are drawn anew."""

    def __init__(self, explorer: Explorer, seed: int) -> None:
        self.explorer, self.draw = explorer, random.Random(seed)
        self.seen: set[str] = set()
        self.best: list[tuple[float, Trace]] = []

    def ask(self, count: int) -> tuple[Proposal, ...]:
        """Mutants of the best, and new ones."""
        return _new(count, self.seen, self._one)

    def _one(self) -> Proposal | None:
        if not self.best or self.draw.random() < LIMITS.fresh_share:
            return self.explorer.sample(self.draw)
        _, trace = self.best[min(int(self.draw.expovariate(1.0)), len(self.best) - 1)]
        changes = 1 + int(self.draw.expovariate(1.0))
        return self.explorer.mutate(trace, self.draw, changes=changes)

    def tell(self, trials: Sequence[Trial]) -> None:
        """Keep the fastest."""
        self.best += [(t.ratio, t.trace) for t in trials if t.ratio is not None and t.trace]
        self.best = sorted(self.best, key=lambda pair: -pair[0])[:LIMITS.parents]


class Halving:
    """Brackets of successive halving over neighbourhoods: many regions of the space with few trials each, the better
    half of them with twice as many, until one is left; then new regions.

    Source: K. Jamieson, A. Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", AISTATS
    2016, with a region (a recipe and what differs in few choices) as the arm and a trial as the resource.
    """

    def __init__(self, explorer: Explorer, seed: int) -> None:
        self.explorer, self.draw = explorer, random.Random(seed)
        self.seen: set[str] = set()
        self.arms: list[Trace] = []
        self.best: dict[Trace, float] = {}
        self.of_recipe: dict[str, Trace] = {}
        self.each, self.told, self.turn = 1, 0, 0

    def ask(self, count: int) -> tuple[Proposal, ...]:
        """New regions, or recipes of those that are left in turn, until so many trials of the rung were told."""
        return _new(count, self.seen, self._one)

    def _one(self) -> Proposal | None:
        if self.told >= self.each * (len(self.arms) or LIMITS.arms):
            self._next_rung()
        if not self.arms:
            proposal = self.explorer.sample(self.draw)
            if proposal is not None:
                self.of_recipe[proposal.recipe.text] = proposal.trace
            return proposal
        arm = self.arms[self.turn % len(self.arms)]
        self.turn += 1
        proposal = self.explorer.mutate(arm, self.draw, changes=1 + int(self.draw.expovariate(1.0)))
        if proposal is not None:
            self.of_recipe.setdefault(proposal.recipe.text, arm)
        return proposal

    def _next_rung(self) -> None:
        """The better half with twice as many trials each, or new regions."""
        kept = sorted((a for a in self.arms or self.best if a in self.best), key=lambda arm: -self.best[arm])
        self.told = 0
        if len(kept) < 2:
            self.arms, self.best, self.each = [], {}, 1
            return
        self.arms = kept[:(len(kept) + 1) // 2]
        self.each *= 2

    def tell(self, trials: Sequence[Trial]) -> None:
        """The fastest of each region."""
        for trial in trials:
            arm = self.of_recipe.get(trial.recipe.text)
            if arm is None:
                continue
            self.told += 1
            if trial.ratio is not None:
                self.best[arm] = max(self.best.get(arm, 0.0), trial.ratio)


def _new(count: int, seen: set[str], draw: Callable[[], Proposal | None]) -> tuple[Proposal, ...]:
    """Recipes that were not seen, until too many in a row were."""
    found: list[Proposal] = []
    vain = 0
    while len(found) < count and vain < LIMITS.most_attempts:
        proposal = draw()
        if proposal is None or proposal.recipe.text in seen:
            vain += 1
            continue
        vain = 0
        seen.add(proposal.recipe.text)
        found.append(proposal)
    return tuple(found)


STRATEGIES: dict[str, MakeStrategy] = {"grid": Grid, "random": Random, "evolution": Evolution, "halving": Halving}
"""By the name that `--strategy` of `polysched tune` takes."""
