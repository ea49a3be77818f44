"""`tune`: propose, rank, build, verify, race, confirm; every trial is a record as soon as it was judged."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from polysched.errors import PolyschedError, RunFailedError, UsageError
from polysched.measure.field import Ran, Verdict
from polysched.measure.paired import MeasureOptions
from polysched.measure.processes.threads import usable_processors
from polysched.measure.programs.problem_size import choose_size
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scop import from_c_file
from polysched.scop.scop import Scop
from polysched.search.automatic import automatic
from polysched.search.bands import least_seconds
from polysched.search.building import (
    Builder,
    Candidate,
    LocalBuilder,
    LocalRunner,
    Runner,
    Wanted,
    local_runner,
)
from polysched.search.database import Records, Winner, opened
from polysched.search.identity import CanonicalScop, Key, Place, canonical_scop, key_of, place_of
from polysched.search.limits import LIMITS
from polysched.search.models import MakeModel, Model, batch_of, model_of
from polysched.search.packages.cluster import cluster_runner
from polysched.search.packages.with_optuna import strategy_of
from polysched.search.pool import PoolBuilder, is_readable
from polysched.search.space import Explorer, Proposal, Space
from polysched.search.strategies import MakeStrategy, SearchStrategy
from polysched.search.trial import Phase, Trial, choose, contenders, finalists
from polysched.search.tuned import RANKING, Tuned
from polysched.target import find_compiler

_LOG = logging.getLogger(__name__)
AUTOMATIC = "automatic"
"""The strategy of the package, by the sampler that it takes itself."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """When a search ends; None is no limit.

    Parameters
    ----------
    trials : recipes that are built and judged, the model's pick not counted.
    minutes : wall time; what is under way is finished, and the finalists are confirmed.

    Raises
    ------
    UsageError : neither is given, or one is not positive.
    """

    trials: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        if self.trials is None and self.minutes is None:
            raise UsageError("a search needs a budget", hint="Budget(trials=64) or Budget(minutes=5)")
        if (self.trials is not None and self.trials < 1) or (self.minutes is not None and not self.minutes > 0):
            raise UsageError("a budget is positive", witness=f"trials={self.trials}, minutes={self.minutes}")


def tune(program: str | Path | Scop, *, space: Space | Recipe | str = AUTOMATIC, sizes: Mapping[str, int] | None = None,
         budget: Budget | None = None, database: str | Path | Records | None = None, resume: bool = False,
         options: PipelineOptions | None = None, strategy: str | MakeStrategy = "evolution",
         model: str | MakeModel = "residual", seed: int = 0,
         threads: int | None = None, measure: MeasureOptions | None = None, builder: Builder | None = None,
         runner: Runner | None = None, cluster: str | None = None, place: Place | None = None,
         clock: Callable[[], float] = time.monotonic,
         on_trial: Callable[[Trial, int], None] | None = None) -> Tuned:
    """Search the recipe with which a region runs fastest.

    The model's pick is candidate 0, and the others are timed in pairs with it.  What seems fastest is timed anew, and
    taken if the interval of its gain lies above 1.  A candidate that is wrong, crashes or hangs is a record.

    Parameters
    ----------
    program : a C file with one region in a function, or its Scop.
    space : a template; a recipe by hand, which is compared with the model's pick; or `automatic`.
    sizes : values of parameters by C spelling; the others are chosen.  One of them may be a range, `64..2048`: then it
        is as `search.tune_range`, whose budget is that of each sampled size.
    budget : 64 trials unless given.
    database : file that keeps every trial and what was chosen, made where there is none; or what does so.
    resume : trials that the database has are not repeated, unless other programs disturbed all of their samples.
    options : what recipes do not say: numerics, the machine, how the file is read.
    strategy : a name of `strategies.STRATEGIES`, `optuna`, or what makes one.
    model : a name of `models.MODELS`, or what makes one; it ranks recipes before they are built.
    seed : of all draws; the same seed and times propose the same sequence.
    threads : OMP_NUM_THREADS, and the cores that code is made for; all cores unless given.
    measure : compiler flags, limits and input values of the runs.
    builder : makes the C of recipes.
    runner : compiles and judges; this machine unless given.
    cluster : address of a Dask cluster whose workers compile and judge; `local:N` starts N processes here.
    place : where the runner judges, if not on this machine: what the records are about.
    on_trial : told each trial, and how many there were.

    Raises
    ------
    PolyschedError : the program cannot be read, called, or compiled, or the database is none.
    """
    made = Search.of(program, space=space, sizes=sizes, options=options, strategy=strategy, model=model, seed=seed,
                     threads=threads, measure=measure, clock=clock, on_trial=on_trial, place=place, builder=builder,
                     runner=runner, cluster=cluster)
    return made.until(budget or Budget(trials=64), database=database, resume=resume)


@contextmanager
def _builder(search: Search, trials: int | None) -> Iterator[Builder]:
    """Warm processes on all cores where there is enough to build, else this one."""
    jobs = len(usable_processors())
    if jobs < 2 or not is_readable(search.scop) or (trials is not None and trials < LIMITS.least_for_pool):
        yield search.own_builder
        return
    with PoolBuilder(search.scop, search.options, jobs) as pool:
        yield pool


def _runner(search: Search, stack: ExitStack) -> Runner:
    """This machine, or the workers of a cluster."""
    if search.cluster is None:
        return stack.enter_context(local_runner(search.scop, search.spelled, search.measure))
    return stack.enter_context(cluster_runner(
        search.cluster, search.scop, search.spelled, search.options, search.measure, search.key.place))


def _space_of(space: Space | Recipe | str) -> Space:
    if isinstance(space, Recipe):
        return lambda choose, dependences: space
    if space == AUTOMATIC:
        return automatic
    if isinstance(space, str):
        raise UsageError(f"there is no space {space!r}", hint="automatic, a recipe, or a function of a chooser")
    return space


@dataclass(eq=False, kw_only=True)
class Search:
    """One search under way, which goes on where it stopped; made by `of`.

    Parameters
    ----------
    makes_known : recipes that the database has are made, too, and its times used only where it has the same C.
    known : records of the database, and those that were made here.
    given_builder, given_runner, cluster : who makes and judges candidates; this machine where none are given.
    ranked : the recipes that the model ranked.
    ahead : codes that are compiled, or were.
    pick, first : what came of the model's pick; the same once it is right.
    """

    scop: Scop
    options: PipelineOptions
    measure: MeasureOptions
    sizes: Mapping[str, int]
    spelled: Mapping[str, int]
    canonical: CanonicalScop
    key: Key
    clock: Callable[[], float]
    on_trial: Callable[[Trial, int], None] | None
    explorer: Explorer
    model: Model
    strategy: SearchStrategy
    draw: random.Random
    own_builder: LocalBuilder
    makes_known: bool = False
    given_builder: Builder | None = None
    given_runner: Runner | None = None
    cluster: str | None = None
    builder: Builder = field(init=False)
    runner: Runner = field(init=False)
    database: Records | None = None
    known: dict[tuple[str, str], Trial] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    codes: dict[str, Trial] = field(default_factory=dict)
    pool: dict[str, Proposal] = field(default_factory=dict)
    tried: set[str] = field(default_factory=lambda: {Recipe().text})
    vain: int = 0
    ranked: set[str] = field(default_factory=set)
    duplicates: int = 0
    emitted: int = 0
    repeated: int = 0
    first: Trial | None = None
    pick: Trial | None = None
    reference: Candidate | None = None
    made: dict[str, Candidate] = field(default_factory=dict)
    ahead: set[str] = field(default_factory=set)
    stages: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @classmethod
    def of(cls, program: str | Path | Scop, *, space: Space | Recipe | str = AUTOMATIC,
           sizes: Mapping[str, int] | None = None, options: PipelineOptions | None = None,
           strategy: str | MakeStrategy = "evolution", model: str | MakeModel = "residual", seed: int = 0,
           threads: int | None = None, measure: MeasureOptions | None = None, builder: Builder | None = None,
           runner: Runner | None = None, cluster: str | None = None, place: Place | None = None,
           clock: Callable[[], float] = time.monotonic, on_trial: Callable[[Trial, int], None] | None = None,
           makes_known: bool = False) -> Search:
        """Read the program, and find out what a record of it is about; parameters as for `tune`, and of the class.

        Raises
        ------
        PolyschedError : the program cannot be read, or there is no such space, strategy or model.
        """
        options, measure, sizes = options or PipelineOptions(), measure or MeasureOptions(), sizes or {}
        scop = program if isinstance(program, Scop) else from_c_file(
            str(program), include_dirs=options.include_dirs, defines=options.defines, cc=options.cc,
            pure=options.pure, autodetect=options.autodetect)
        threads = threads or measure.threads or options.tiling.target.cores
        target = replace(options.tiling.target, cores=threads)
        tensorize = None if options.tensorize is None else replace(options.tensorize, measure=False)
        options = replace(options, tiling=replace(options.tiling, target=target), database=None,
                          tensorize=tensorize)   # recipes choose plans
        measure = replace(measure, threads=threads, cc=options.cc)
        size = choose_size((scop,), sizes)
        values = {p.name: size.values[p.name] for p in scop.parameters if p.name in size.values}
        canonical = canonical_scop(scop)
        place = place or place_of(options, find_compiler(options.cc), threads=threads, flags=measure.flags)
        explorer = Explorer(_space_of(space), scop, options, dict(values), is_own=not callable(space))
        return cls(scop=scop, options=options, measure=measure, sizes=values, spelled=sizes, canonical=canonical,
                   key=key_of(canonical, values, place), clock=clock, on_trial=on_trial, explorer=explorer,
                   model=model_of(model)(explorer), strategy=strategy_of(strategy)(explorer, seed),
                   draw=random.Random(seed), own_builder=LocalBuilder(scop, options), given_builder=builder,
                   given_runner=runner, cluster=cluster, makes_known=makes_known)

    def until(self, budget: Budget, *, database: str | Path | Records | None = None, resume: bool = False,
              bounded: bool = True) -> Tuned:
        """Search on until so many trials in all, or for so many further minutes; confirm, and keep what was chosen.

        Parameters
        ----------
        resume : as for `tune`; trials that were made here are never repeated.
        bounded : ask for the time that no program can go below.

        Raises
        ------
        PolyschedError : the program cannot be called or compiled, or the database is none.
        """
        with ExitStack() as stack:
            self.database = stack.enter_context(opened(database))
            self.builder = self.given_builder or stack.enter_context(_builder(
                self, None if budget.trials is None else budget.trials - len(self.trials)))
            self.runner = self.given_runner or _runner(self, stack)
            if isinstance(self.builder, PoolBuilder) and isinstance(self.runner, LocalRunner):
                self.builder.ready = partial(self._compile_ahead, self.runner)
            return self._run(budget, resume=resume, bounded=bounded)

    def _run(self, budget: Budget, *, resume: bool, bounded: bool) -> Tuned:
        started = self.clock()
        if not resume and self.first is None:
            self._forget()
        if self.database is not None:
            self.database.begin(self.key, self.scop.name)
            self.known = {(t.recipe.text, t.phase): t for t in self.database.trials(self.key, self.canonical)}
        first = self.first = self.first or self._model_pick()
        stopped = self._search(budget, started)
        again = self._raced_again(contenders(self.trials))
        confirmed = self._fresh(finalists(again), phase="confirm", pairs=LIMITS.confirm_pairs)
        choice = choose(confirmed)
        best = choice.winner or first
        if self.database is not None:
            self.database.set_winner(Winner(
                key=self.key, name=self.scop.name, recipe=best.recipe.renamed(self.canonical.to_canonical()),
                code=best.code, gain=choice.gain))
        self.seconds += self.clock() - started
        return Tuned(name=self.scop.name, scop=self.scop, key=self.key, sizes=dict(self.spelled) or dict(self.sizes),
                     threads=self.key.place.threads, recipe=best.recipe, gain=choice.gain, ties=choice.ties,
                     first=first, best=best, trials=tuple(self.trials), again=again, confirmed=confirmed,
                     ranked=len(self.ranked), duplicates=self.duplicates, repeated=self.repeated,
                     rejections=self.explorer.rejections, bound_seconds=self._bound() if bounded else None,
                     stopped=stopped, search_seconds=self.seconds, stages=dict(self.stages))

    def _model_pick(self) -> Trial:
        """Candidate 0, judged against the code as written; the others are timed against it if it is right."""
        proposal = Proposal(recipe=Recipe())
        (candidate,) = self._candidates([proposal])
        if isinstance(candidate, PolyschedError):
            raise candidate
        self.reference = candidate
        told: list[Trial] = []
        known = self.known.get((proposal.recipe.text, "search"))
        if known is None or known.code != candidate.code:
            self._forget()   # the others were timed with other C
        elif known.is_settled:
            self.repeated += 1
            told.append(known)
        if not told:
            self._race([candidate], against=None, phase="search", pairs=LIMITS.search_pairs, told=told.append)
        first = told[0]
        self.codes[candidate.code] = replace(first, disturbed=(), pairs=tuple((own, own) for _, own in first.pairs))
        self.pick = first
        if first.verdict is not Verdict.TIMED:
            raise RunFailedError(f"the model's pick has no times: {first.verdict.value}", where=self.scop.name,
                                 witness=first.reason, hint="`polysched run` says more; other sizes or inputs may suit")
        return first

    def _settled(self, proposal: Proposal, phase: Phase) -> Trial | None:
        """The record of a recipe; none where other programs disturbed all of its samples: it is measured again."""
        known = self.known.get((proposal.recipe.text, phase))
        return known if known is not None and known.is_settled else None

    def _forget(self) -> None:
        """Drop the records of earlier searches."""
        self.known = {}
        if self.database is not None:
            self.database.forget(self.key)

    def _search(self, budget: Budget, started: float) -> str:
        """Batches until the budget is spent, the space is exhausted, or nothing new comes of it; which it was."""
        before = len(self.trials)
        while self.vain < LIMITS.most_vain:
            left = LIMITS.batch if budget.trials is None else budget.trials - len(self.trials)
            if left <= 0:
                return f"after {budget.trials} trials"
            if budget.minutes is not None:
                gone = self.clock() - started
                if gone >= 60 * budget.minutes:
                    return f"after {budget.minutes:g} minutes" + (
                        "" if self.trials else ", which the model's pick alone took: give more, or smaller sizes")
                left = min(left, _room(60 * budget.minutes - gone, gone, 1 + len(self.trials) - before))
            with self._timed(RANKING):
                batch = self._next_batch(min(LIMITS.batch, left))
            if not batch:
                return "the space is exhausted"
            codes = len(self.codes)
            judged = self._judge(batch)
            self.vain = 0 if len(self.codes) > codes else self.vain + len(batch)
            with self._timed(RANKING):
                self.strategy.tell(judged)
                self.model.learn(judged)
        return f"after {self.vain} recipes without new code"

    def _next_batch(self, count: int) -> list[Proposal]:
        """The best of thousands of plans by the model, and some of the others.

        How many are ranked depends on no budget: with a larger one a search goes on with the same sequence.
        """
        for proposal in self.strategy.ask(LIMITS.generation if self.tried_any else LIMITS.first_generation):
            if proposal.recipe.text not in self.tried:
                self.pool[proposal.recipe.text] = proposal
                self.ranked.add(proposal.recipe.text)
        batch = batch_of(self.pool, self.model, count, self.draw)
        self.tried |= {p.recipe.text for p in batch}
        return batch

    @property
    def tried_any(self) -> bool:
        """Whether a batch was proposed before."""
        return len(self.tried) > 1

    def _judge(self, batch: Sequence[Proposal]) -> list[Trial]:
        """Build and race what is new; what is known, or has the C of an earlier one, is told again."""
        told: list[Trial] = []
        new: list[Candidate] = []
        unknown: list[Proposal] = []
        for proposal in batch:
            known = self._settled(proposal, "search")
            if known is None or self.makes_known:
                unknown.append(proposal)
            else:
                self.repeated += 1
                self._count(replace(known, trace=proposal.trace), told)
        for proposal, candidate in zip(unknown, self._candidates(unknown), strict=True):
            known = self._settled(proposal, "search")
            if isinstance(candidate, PolyschedError):
                self.explorer.refuse(proposal, candidate)
            elif known is not None and known.code == candidate.code:
                self.repeated += 1
                self._count(replace(known, trace=proposal.trace), told)
            elif candidate.code in self.codes or candidate.code in [c.code for c in new]:
                self.duplicates += 1
                twin = self.codes.get(candidate.code)
                if twin is not None:
                    told.append(replace(twin, recipe=proposal.recipe, trace=proposal.trace))
            else:
                new.append(candidate)
        self._race(new, against=self.reference, phase="search", pairs=LIMITS.search_pairs,
                   told=lambda trial: self._count(trial, told))
        return told

    def _count(self, trial: Trial, told: list[Trial]) -> None:
        told.append(trial)
        self.trials.append(trial)
        self.codes.setdefault(trial.code, trial)
        if self.on_trial is not None:
            self.on_trial(trial, len(self.trials))

    def _candidates(self, proposals: Sequence[Proposal]) -> Sequence[Candidate | PolyschedError]:
        """The C of proposals, all of a batch before any of it is timed."""
        wanted = []
        for proposal in proposals:
            self.emitted += 1
            seconds = self.model.seconds(proposal)
            wanted.append(Wanted(number=self.emitted, proposal=proposal,
                                 predicted_seconds=None if seconds == float("inf") else seconds))
        with self._timed("emitting"):
            return self.builder.build(wanted)

    def _compile_ahead(self, runner: LocalRunner, candidate: Candidate) -> None:
        """Have a candidate compiled while others of its batch are made, unless an earlier one has its C."""
        if candidate.code not in self.codes and candidate.code not in self.ahead:
            self.ahead.add(candidate.code)
            runner.begin(candidate)

    def _race(self, candidates: Sequence[Candidate], *, against: Candidate | None, phase: Phase, pairs: int,
              told: Callable[[Trial], None]) -> None:
        """Judge candidates; each is kept in the database as soon as it was."""
        def keep(candidate: Candidate, ran: Ran) -> None:
            trial = Trial(recipe=candidate.proposal.recipe, trace=candidate.proposal.trace, code=candidate.code,
                          predicted_seconds=candidate.predicted_seconds, verdict=ran.verdict, reason=ran.reason,
                          pairs=ran.pairs, disturbed=ran.disturbed, spills=ran.spills, phase=phase)
            self.known[trial.recipe.text, phase] = trial
            if self.database is not None:
                self.database.add(self.key, trial, self.canonical)
            if (trial.ratio or 0.0) > 1:
                self.made[trial.recipe.text] = candidate
            told(trial)
        if candidates:
            with self._timed("compiling, verifying and timing"):
                self.runner.race(candidates, against=against, pairs=pairs, told=keep,
                                 slow_ratio=LIMITS.slow_ratio if phase == "search" else float("inf"))

    def _raced_again(self, chosen: tuple[Trial, ...]) -> tuple[Trial, ...]:
        """The second race; where all reach the last one anyway, there is none."""
        return chosen if len(chosen) <= LIMITS.finalists else self._fresh(
            chosen, phase="again", pairs=LIMITS.again_pairs)

    def _fresh(self, chosen: Sequence[Trial], *, phase: Phase, pairs: int) -> tuple[Trial, ...]:
        """Fresh samples of trials, or those that the database has of the same C."""
        told: list[Trial] = []
        new: list[Candidate] = []
        proposals = [Proposal(recipe=trial.recipe, trace=trial.trace) for trial in chosen]
        unmade = [proposal for proposal in proposals if proposal.recipe.text not in self.made]
        made = dict(zip((p.recipe.text for p in unmade), self._candidates(unmade), strict=True))
        for proposal in proposals:
            known = self._settled(proposal, phase)
            candidate = made.get(proposal.recipe.text) or self.made[proposal.recipe.text]
            if isinstance(candidate, PolyschedError):
                self.explorer.refuse(proposal, candidate)
            elif known is not None and known.code == candidate.code:
                self.repeated += 1
                told.append(known)
            else:
                new.append(candidate)
        self._race(new, against=self.reference, phase=phase, pairs=pairs, told=told.append)
        return tuple(told)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        """Add the time that this lasts to a stage's."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.stages[stage] = self.stages.get(stage, 0.0) + time.monotonic() - started

    def _bound(self) -> float | None:
        """Seconds that no order of these operations and data can go below, on all threads at the rated clock."""
        with self._timed(RANKING):
            return self._least_seconds()

    def _least_seconds(self) -> float | None:
        bands = [b for b in self.explorer.bands(Recipe()) if not b.choices.holds_loops]
        plans = [(b, plan) for b in bands if (plan := b.plan_of(None)) is not None]
        if not plans:
            return None
        scop = self.explorer.dependences(Recipe()).scop
        return sum(b.choices.times * least_seconds(scop, plan, self.options.target())
                   for b, plan in plans) / self.key.place.threads


def _room(left: float, gone: float, made: int) -> int:
    """How many further candidates fit into the seconds that are left, one at least, by what those so far took."""
    return LIMITS.batch if gone <= 0 else max(1, min(LIMITS.batch, round(left * made / gone)))


__all__ = ["AUTOMATIC", "Budget", "Search", "tune"]
