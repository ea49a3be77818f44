"""`tune_expression`: which term of a tensor expression runs fastest, and by which recipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from polysched.errors import PolyschedError, RunFailedError
from polysched.measure.field import Ran, Verdict
from polysched.measure.paired import MeasureOptions
from polysched.measure.timing.race import Gain
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scop.expression.tensors import Axis, Expression, Operation, Read, Reduction, Tensor
from polysched.search.building import Candidate, Runner, Wanted, local_runner, made_candidate
from polysched.search.chooser import Decision
from polysched.search.limits import LIMITS
from polysched.search.rewriting.rewriter import Term, variants
from polysched.search.rewriting.rules import RULES, Rule
from polysched.search.rewriting.sketches import Sketch, guided
from polysched.search.rewriting.terms import constant_extent, stages
from polysched.search.space import Proposal
from polysched.search.trial import Trial, choose
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget, tune

TERM = "term"
"""The choice in a trial's trace that says which term it is of."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TunedExpression:
    """What was found for a tensor expression.

    Parameters
    ----------
    terms : those that were tried, the expression as written first.
    term, recipe : what was chosen; `term.scop()` with this recipe is the program.
    gain : over the expression as written with the model's pick, on fresh samples.
    trials : one per term, with its own model's pick.
    searched : the searches over recipes of the terms that seemed fastest, by the number of the term.
    refused : why terms could not be emitted, by the number of the term.
    seconds : wall time of all.
    """

    terms: tuple[Term, ...]
    term: Term
    recipe: Recipe
    gain: Gain
    trials: tuple[Trial, ...]
    confirmed: tuple[Trial, ...]
    searched: Mapping[int, Tuned]
    refused: Mapping[int, str]
    seconds: float

    def __str__(self) -> str:
        lines = [f"gain: {self.gain}", f"term: {self.term}", f"recipe: {self.recipe}"]
        lines += [f"{self.terms[number]}: {trial.ratio:.3f} times as fast with the models' picks" if trial.ratio else
                  f"{self.terms[number]}: {trial.verdict.value}: {trial.reason}" for number, trial in self._by_term()]
        lines += [f"{self.terms[number]}: not tried: {why}" for number, why in self.refused.items()]
        searches = ", ".join(f"{self.terms[number]} ({len(found.trials)} trials)" for number, found in
                             self.searched.items())
        return "\n".join([*lines, f"recipes were searched for: {searches or 'none'}", f"{self.seconds:.1f} s in all"])

    def _by_term(self) -> list[tuple[int, Trial]]:
        return [(term_of(trial), trial) for trial in self.trials]

    def to_json(self) -> dict[str, Any]:
        """What was found, as JSON values; `trials` and `rejected` of all searches together."""
        searches = list(self.searched.values())
        bounds = [t.bound_seconds for t in searches if t.bound_seconds]
        return {"trials": len(self.trials) + sum(len(t.trials) for t in searches), "seconds": self.seconds,
                "rejected": len(self.refused) + sum(t.rejections.total for t in searches),
                "gain": self.gain.to_json(), "term": list(self.term.history), "recipe": self.recipe.to_json(),
                "bound": {"seconds": min(bounds)} if bounds else None,
                "terms": [{"term": list(self.terms[number].history), "verdict": trial.verdict.value,
                           "ratio": trial.ratio} for number, trial in self._by_term()]}


def term_of(trial: Trial) -> int:
    """The number of the term that a trial is of."""
    return next(int(decision.value) for decision in trial.trace if decision.name == TERM)


def tune_expression(output: Tensor, *, budget: Budget | None = None, sizes: Mapping[str, int] | None = None,
                    database: str | Path | None = None, options: PipelineOptions | None = None,
                    threads: int | None = None, measure: MeasureOptions | None = None,
                    rules: Sequence[Rule] = RULES, most: int = LIMITS.most_terms, sketches: Sequence[Sketch] = (),
                    on_trial: Callable[[Trial, int], None] | None = None, **others: Any) -> TunedExpression:
    """Search terms that compute the same as a tensor expression, and recipes for the fastest of them.

    The terms of least work are verified against the expression as written, in its own order, and raced with the models'
    picks.  The few fastest and the expression itself have a search over recipes each; what these found is raced once
    more.
    A rule that changes the order of sums of floats needs `options.reassociate`.

    Parameters
    ----------
    budget : of terms and of all searches together; 64 trials unless given.
    database : keeps the searches; `term.scop()` is looked up there like any program.
    most : terms at which the rewriting ends.
    sketches : forms that the rewriting reaches one after the other (`rewriting.sketches`); what has the last one is
        tried, in place of all terms that few rules make.
    others : as for `tune`.

    Raises
    ------
    PolyschedError : the expression cannot be emitted, called, or compiled.
    UsageError : no term has the form of a sketch.
    """
    started = time.monotonic()
    options, budget = options or PipelineOptions(), budget or Budget(trials=64)
    cores = threads or options.tiling.target.cores
    options = replace(options, tiling=replace(options.tiling, target=replace(options.tiling.target, cores=cores)))
    measure = replace(measure or MeasureOptions(), threads=cores, cc=options.cc)
    every = with_sketches(output, sketches, options, rules) if sketches else variants(
        output, reassociate=options.reassociate, rules=rules, most=most)
    terms = least_work(every, LIMITS.contenders if budget.trials is None else min(
        LIMITS.contenders, max(2, budget.trials // 2)))
    searched: dict[int, Tuned] = {}
    with local_runner(terms[0].scop(), sizes or {}, measure) as runner:
        field_ = _Terms(terms=terms, options=options, runner=runner, on_trial=on_trial)
        trials = field_.raced([(number, Recipe()) for number in range(len(terms))], LIMITS.search_pairs)
        chosen = fastest(trials)
        for place, number in enumerate(chosen):
            spent = len(trials) + sum(len(t.trials) for t in searched.values())
            left = _share(budget, len(chosen) - place, spent=spent, minutes=(time.monotonic() - started) / 60)
            if left is not None:
                searched[number] = tune(terms[number].scop(), sizes=sizes, budget=left, database=database,
                                        options=options, threads=cores, measure=measure, **others,
                                        on_trial=None if on_trial is None else partial(_tell_behind, on_trial, spent))
        confirmed = field_.raced(_finalists(chosen, searched), LIMITS.confirm_pairs, confirm=True)
    choice = choose(confirmed)
    number, recipe = (0, Recipe()) if choice.winner is None else (term_of(choice.winner), choice.winner.recipe)
    return TunedExpression(terms=terms, term=terms[number], recipe=recipe, gain=choice.gain, trials=tuple(trials),
                           confirmed=tuple(confirmed), searched=searched, refused=field_.refused,
                           seconds=time.monotonic() - started)


def _tell_behind(tell: Callable[[Trial, int], None], before: int, trial: Trial, count: int) -> None:
    """Count on from the trials of earlier searches."""
    tell(trial, before + count)


def with_sketches(output: Tensor, sketches: Sequence[Sketch], options: PipelineOptions,
                  rules: Sequence[Rule]) -> tuple[Term, ...]:
    """The expression as written, and the terms that sketches lead to."""
    made = guided(output, sketches, reassociate=options.reassociate, rules=rules)
    return (Term(output), *(term for term in made if term.history))


def least_work(terms: Sequence[Term], most: int) -> tuple[Term, ...]:
    """The expression as written, and the terms of least work beside it: those of fewer rules before others."""
    first, *others = terms
    return (first, *sorted(others, key=lambda term: work_of(term.output))[:most - 1])


def work_of(output: Tensor) -> float:
    """Operations and accesses of a term; a dimension of no known extent counts as `LIMITS.usual_extent`."""
    return sum(_times(stage.definition.axes) * _work(stage.definition.value)
               for stage in stages(output) if stage.definition is not None)


def _work(value: Expression) -> float:
    if isinstance(value, Read):
        return 1.0
    inner = sum(map(_work, value.operands()))
    return _times(value.axes) * (1 + inner) if isinstance(value, Reduction) else inner + isinstance(value, Operation)


def _times(axes: Sequence[Axis]) -> float:
    return prod(constant_extent(axis) or LIMITS.usual_extent for axis in axes)


def fastest(trials: Sequence[Trial]) -> list[int]:
    """The terms that deserve a search over recipes: the expression itself, and the few that seem faster.

    Raises
    ------
    RunFailedError : the expression itself has no times.
    """
    (own,) = [trial for trial in trials if term_of(trial) == 0]
    if own.verdict is not Verdict.TIMED:
        raise RunFailedError(f"the model's pick has no times: {own.verdict.value}", witness=own.reason,
                             hint="other sizes may suit")
    faster = sorted((t for t in trials if (t.ratio or 0.0) > 1 and term_of(t)), key=lambda t: -(t.ratio or 0.0))
    return [0, *(term_of(t) for t in faster[:LIMITS.finalists - 1])]


def _finalists(chosen: Sequence[int], searched: Mapping[int, Tuned]) -> list[tuple[int, Recipe]]:
    """What is raced in the end: what the searches found, and the models' picks of the same terms."""
    every = dict.fromkeys([*((number, found.recipe) for number, found in searched.items()),
                           *((number, Recipe()) for number in chosen)])
    return [one for one in every if one != (0, Recipe())]


def _share(budget: Budget, among: int, *, spent: int, minutes: float) -> Budget | None:
    """An equal share of what is left; None where nothing is."""
    trials = None if budget.trials is None else (budget.trials - spent) // among
    left = None if budget.minutes is None else (budget.minutes - minutes) / among
    if (trials is not None and trials < 1) or (left is not None and left <= 0):
        return None
    return Budget(trials=trials, minutes=left)


@dataclass(eq=False, kw_only=True)
class _Terms:
    """Code of several terms, judged beside the code of the first."""

    terms: tuple[Term, ...]
    options: PipelineOptions
    runner: Runner
    on_trial: Callable[[Trial, int], None] | None
    refused: dict[int, str] = field(default_factory=dict)
    first: Candidate | None = None
    made: int = 0

    def raced(self, wanted: Sequence[tuple[int, Recipe]], pairs: int, *, confirm: bool = False) -> list[Trial]:
        """Judge terms with recipes in pairs with the first term's pick; without those that no stage emits."""
        owners: dict[str, tuple[int, Candidate]] = {}
        for number, recipe in wanted:
            candidate = self._candidate(number, recipe)
            if candidate is not None:
                owners[candidate.name] = (number, candidate)
        told: list[Trial] = []

        def keep(candidate: Candidate, ran: Ran) -> None:
            number = owners[candidate.name][0]
            told.append(Trial(recipe=candidate.proposal.recipe, trace=(Decision(TERM, number),), code=candidate.code,
                              verdict=ran.verdict, reason=ran.reason, pairs=ran.pairs,
                              disturbed=ran.disturbed, spills=ran.spills, phase="confirm" if confirm else "search"))
            if self.on_trial is not None and not confirm:
                self.on_trial(told[-1], len(told))
        self.runner.race([c for _, c in owners.values()], against=self.first, pairs=pairs, told=keep,
                         slow_ratio=float("inf") if confirm else LIMITS.slow_ratio)
        return told

    def _candidate(self, number: int, recipe: Recipe) -> Candidate | None:
        self.made += 1
        made = made_candidate(Wanted(number=self.made, proposal=Proposal(recipe=recipe)), self.terms[number].scop(),
                              self.options)
        if isinstance(made, PolyschedError):
            if number == 0:
                raise RunFailedError("the expression as written cannot be emitted", witness=made.problem)
            self.refused.setdefault(number, made.problem)
            return None
        self.first = self.first or made
        return made


__all__ = ["TunedExpression", "fastest", "term_of", "tune_expression"]
