"""Optuna as a strategy: its samplers answer what a space asks; needs `polysched[tune]`.

    tune("gemm.c", strategy=with_optuna())                      its tree-structured Parzen estimator
    tune("gemm.c", strategy=with_optuna(lambda seed: optuna.samplers.CmaEsSampler(seed=seed)))
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

from polysched.errors import UsageError
from polysched.search.limits import LIMITS
from polysched.search.space import Explorer, Proposal
from polysched.search.strategies import STRATEGIES, MakeStrategy
from polysched.search.trial import Trial

OPTUNA = "optuna"
"""What `--strategy` of `polysched tune` calls this one, beside `strategies.STRATEGIES`."""


def with_optuna(make_sampler: Callable[[int], Any] | None = None) -> MakeStrategy:
    """A strategy that asks a sampler of Optuna.

    Parameters
    ----------
    make_sampler : takes the seed; the tree-structured Parzen estimator unless given.

    Raises
    ------
    UsageError : the package is not installed.
    """
    if importlib.util.find_spec("optuna") is None:
        raise UsageError("this strategy needs the package optuna", hint="python -m pip install 'polysched[tune]'")
    return lambda explorer, seed: Study(explorer, seed, make_sampler)


def strategy_of(strategy: str | MakeStrategy) -> MakeStrategy:
    """What makes a strategy: one that has a name, or one that was given.

    Raises
    ------
    UsageError : there is none of this name, or its package is not installed.
    """
    if not isinstance(strategy, str):
        return strategy
    if strategy == OPTUNA:
        return with_optuna()
    if strategy not in STRATEGIES:
        raise UsageError(f"there is no strategy {strategy!r}", hint=f"one of {', '.join((*STRATEGIES, OPTUNA))}")
    return STRATEGIES[strategy]


class Study:
    """One study: each recipe is a trial of it, and its ratio to the model's pick the value that grows."""

    def __init__(self, explorer: Explorer, seed: int, make_sampler: Callable[[int], Any] | None) -> None:
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.explorer = explorer
        self.study = optuna.create_study(direction="maximize", sampler=(make_sampler or _parzen)(seed))
        self.failed = optuna.trial.TrialState.FAIL
        self.asked: dict[str, Any] = {}
        self.seen: set[str] = set()

    def ask(self, count: int) -> tuple[Proposal, ...]:
        """Recipes that were not asked for before; fewer where many in a row were.  As many as one batch at most.

        A sampler learns between batches, so that no more are drawn ahead.
        """
        found: list[Proposal] = []
        vain = 0
        while len(found) < min(count, LIMITS.batch) and vain < LIMITS.most_attempts:
            trial = self.study.ask()
            proposal = self.explorer.propose(_Suggested(trial))
            if proposal is None or proposal.recipe.text in self.seen:
                self.study.tell(trial, state=self.failed)
                vain += 1
                continue
            vain = 0
            self.seen.add(proposal.recipe.text)
            self.asked[proposal.recipe.text] = trial
            found.append(proposal)
        return tuple(found)

    def tell(self, trials: Sequence[Trial]) -> None:
        """What became of recipes; wrong and crashed ones failed."""
        for trial in trials:
            asked = self.asked.pop(trial.recipe.text, None)
            if asked is None:
                continue
            if trial.ratio is None:
                self.study.tell(asked, state=self.failed)
            else:
                self.study.tell(asked, trial.ratio)


class _Suggested:
    """Answers by a trial of a study: one categorical per question and number of options, which never changes."""

    def __init__(self, trial: Any) -> None:
        self.trial = trial

    def pick(self, name: str, options: Sequence[Any], open_: Sequence[int]) -> int:
        """The suggested one; the next open one where that was rejected before."""
        index = int(self.trial.suggest_categorical(f"{name}, of {len(options)}", list(range(len(options)))))
        return index if index in open_ else min(open_, key=lambda k: (abs(k - index), k))


def _parzen(seed: int) -> Any:
    import optuna
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=LIMITS.least_to_learn)
