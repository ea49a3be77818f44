"""Strategies: which recipes of a space come next, by ask and tell; each is deterministic given what it is told."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
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


class Grid:
    """Every recipe in lexical order of the choices."""

    def __init__(self, explorer: Explorer, seed: int) -> None:
        self._left: Iterator[Proposal] = explorer.enumerate()

    def ask(self, count: int) -> tuple[Proposal, ...]:
        """The next ones."""
        return tuple(p for p, _ in zip(self._left, range(count), strict=False))

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


STRATEGIES: dict[str, MakeStrategy] = {"grid": Grid, "random": Random, "evolution": Evolution}
"""By the name that `--strategy` of `polysched tune` takes."""
