"""Models that rank recipes before they are built: the projected one, and a correction that is learned from trials."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Hashable, Sequence
from math import exp, inf, log, log2
from typing import Any, Protocol

import numpy as np

from polysched.errors import PolyschedError, UsageError
from polysched.search.features import features_of, registers_of
from polysched.search.limits import LIMITS
from polysched.search.space import Explorer, Proposal
from polysched.search.trial import Trial


class Model(Protocol):
    """Ranks recipes, and learns from those that were tried."""

    def seconds(self, proposal: Proposal) -> float:
        """What a recipe is expected to take, up to a factor; infinite where nothing can be said."""

    def learn(self, trials: Sequence[Trial]) -> None:
        """What became of some that were tried."""


MakeModel = Callable[[Explorer], Model]


class NoModel:
    """Says nothing: where candidates are few, all are raced."""

    def seconds(self, proposal: Proposal) -> float:
        """Nothing."""
        return inf

    def learn(self, trials: Sequence[Trial]) -> None:
        """Learn nothing."""


class Projected:
    """The projected model alone."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.known: dict[str, float] = {}

    def seconds(self, proposal: Proposal) -> float:
        """Its prediction; a recipe that makes no schedule is counted as rejected."""
        text = proposal.recipe.text
        if text not in self.known:
            try:
                found = self.explorer.seconds(proposal.recipe)
            except PolyschedError as error:
                self.explorer.refuse(proposal, error)
                found = None
            self.known[text] = inf if found is None else found
        return self.known[text]

    def learn(self, trials: Sequence[Trial]) -> None:
        """Learn nothing."""


class Residual(Projected):
    """The projected time times a factor that is learned from the trials so far: ridge regression on its logarithm."""

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.rows: list[tuple[float, ...]] = []
        self.factors: list[float] = []
        self.fitted: Any = None
        self.features: dict[str, tuple[float, ...]] = {}
        self.corrections: dict[str, float] = {}
        self.spills: dict[str, float] = {}
        self.registers: dict[str, Hashable] = {}
        self.spilled: dict[Hashable, list[float]] = {}

    def seconds(self, proposal: Proposal) -> float:
        """The corrected prediction."""
        projected = super().seconds(proposal)
        if self.fitted is None or projected == inf:
            return projected
        text = proposal.recipe.text
        if text not in self.corrections:
            self.corrections[text] = float(self.predict(np.array([self.features_of(proposal)]))[0])
        factor = self.corrections[text]
        return projected * exp(max(-LIMITS.most_correction, min(LIMITS.most_correction, factor)))

    def features_of(self, proposal: Proposal) -> tuple[float, ...]:
        """The numbers of a recipe, its spills last; the others are kept, as recipes are ranked anew after a batch."""
        text = proposal.recipe.text
        if text not in self.features:
            self.features[text] = features_of(self.explorer, proposal.recipe)
            self.registers[text] = registers_of(self.explorer, proposal.recipe)
        return (*self.features[text], self.spills_of(text))

    def spills_of(self, text: str) -> float:
        """The logarithm of the spills of compiled code, or its mean over code with the same blocks, or over all."""
        if text in self.spills:
            return self.spills[text]
        known = self.spilled.get(self.registers[text]) or list(self.spills.values())
        return sum(known) / len(known) if known else 0.0

    def compiled(self, proposal: Proposal, spills: int | None) -> None:
        """Keep the spills of a recipe's code, for it and for what has the same register blocks."""
        self.features_of(proposal)
        text = proposal.recipe.text
        if spills is not None and text not in self.spills:
            self.spills[text] = log2(1 + spills)
            self.spilled.setdefault(self.registers[text], []).append(self.spills[text])

    def learn(self, trials: Sequence[Trial]) -> None:
        """Add what was measured, as a factor of what was projected, and fit anew."""
        for trial in trials:
            proposal = Proposal(recipe=trial.recipe, trace=trial.trace)
            projected = super().seconds(proposal)
            if trial.ratio is not None and 0 < projected < inf:
                self.compiled(proposal, trial.spills)
                self.rows.append(self.features_of(proposal))
                self.factors.append(-log(trial.ratio) - log(projected))
        if len(self.rows) >= LIMITS.least_to_learn:
            middle = float(np.mean(self.factors))   # ratios are to the model's pick, whatever that takes
            self.fit(np.array(self.rows), np.array(self.factors) - middle)
            rows = np.array([(*own, self.spills_of(text)) for text, own in self.features.items()])
            self.corrections = dict(zip(self.features, map(float, self.predict(rows)), strict=True))   # all at once

    def fit(self, rows: np.ndarray, factors: np.ndarray) -> None:
        """Ridge regression on standardised features."""
        centre, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
        scaled = (rows - centre) / spread
        weights = np.linalg.solve(scaled.T @ scaled + LIMITS.ridge * np.eye(rows.shape[1]), scaled.T @ factors)
        self.fitted = (centre, spread, weights)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """The logarithms of the factors of some rows."""
        centre, spread, weights = self.fitted
        found: np.ndarray = ((rows - centre) / spread) @ weights
        return found


class Boosted(Residual):
    """The same with gradient-boosted trees (xgboost, of `polysched[tune]`).

    Raises
    ------
    UsageError : the package is not installed.
    """

    def __init__(self, explorer: Explorer) -> None:
        if importlib.util.find_spec("xgboost") is None:
            raise UsageError("the model needs the package xgboost",
                             hint="python -m pip install 'polysched[tune]', or the model residual")
        super().__init__(explorer)

    def fit(self, rows: np.ndarray, factors: np.ndarray) -> None:
        """Small trees, one thread, a fixed seed."""
        from xgboost import DMatrix, train
        self.fitted = train({"max_depth": 3, "eta": 0.15, "nthread": 1, "seed": 0, "verbosity": 0},
                            DMatrix(rows, label=factors), num_boost_round=LIMITS.trees)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """The logarithms of the factors of some rows."""
        from xgboost import DMatrix
        found: np.ndarray = self.fitted.predict(DMatrix(rows))
        return found


def batch_of(pool: dict[str, Proposal], model: Model, count: int, draw: random.Random) -> list[Proposal]:
    """The best by the model, and some drawn from all; they leave the pool, and so do the worst of too many."""
    batch: list[Proposal] = []
    ranked = sorted(pool, key=lambda text: (model.seconds(pool[text]), text))
    for text in ranked[LIMITS.pool:]:
        del pool[text]
    del ranked[LIMITS.pool:]
    for place in range(min(count, len(ranked))):
        explored = place >= count - int(LIMITS.explored_share * count)
        text = ranked.pop(draw.randrange(len(ranked)) if explored else 0)
        batch.append(pool.pop(text))
    return batch


MODELS: dict[str, MakeModel] = {"projected": Projected, "residual": Residual, "boosted": Boosted}
"""By the name that `--model` of `polysched tune` takes."""


def model_of(model: str | MakeModel) -> MakeModel:
    """What makes a model: one that has a name here, or one that was given.

    Raises
    ------
    UsageError : there is none of this name.
    """
    if not isinstance(model, str):
        return model
    if model not in MODELS:
        raise UsageError(f"there is no model {model!r}", hint=f"one of {', '.join(MODELS)}")
    return MODELS[model]
