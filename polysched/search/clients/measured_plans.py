"""The fastest plan of a match, by a search: the models propose, each is compared with the original statement bit for
bit, and the search's race, decisions and records say which is taken.

A plan that computes something else, crashes or hangs becomes a record and is never chosen.  A plan is taken over the
models' own only if the interval of its gain lies above 1.
"""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from polysched.emit_c.alternatives.replacement_check import ReplacementCheck, replacement_check
from polysched.emit_c.alternatives.smaller_programs import MOST_WORK, can_be_sampled, work_of
from polysched.errors import OutputError, PolyschedError, RunFailedError
from polysched.measure.bit_for_bit.race import Raced, race
from polysched.measure.field import Ran, Verdict
from polysched.measure.processes.building import DEFAULT_FLAGS
from polysched.measure.timing.machine import available_cores
from polysched.measure.timing.race import Gain
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.search.building import Candidate, Wanted
from polysched.search.identity import Place, code_identity, place_of
from polysched.search.space import Proposal
from polysched.search.strategies import Given
from polysched.search.trial import Trial
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget, Search
from polysched.target import Compiler, Target, find_compiler
from polysched.tensorize.decision import Decision
from polysched.tensorize.emission.cost import plan_cycles
from polysched.tensorize.emission.plan import Plan, PlanChoice
from polysched.tensorize.instruction_choice import choice_of
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.plan_candidates import PlanCandidate, plan_candidates
from polysched.tensorize.program import TensorizedProgram
from polysched.tiling import TilingOptions

CLIENT = "plans of an instruction"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredPlan:
    """A plan that computes what the statement does, and its seconds per call.

    Parameters
    ----------
    seconds : one per round that nothing disturbed; the shortest one where other programs disturbed all.
    choice : with it `make_plan` and the emission give this plan again.
    """

    match: Match
    choice: PlanChoice
    plan: Plan
    seconds: tuple[float, ...]

    @property
    def median_seconds(self) -> float:
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        return f"{1e6 * self.median_seconds:.1f} us: {self.plan}"


@dataclass(frozen=True, eq=False, kw_only=True)
class RefusedPlan:
    """A plan that is wrong or does not end, and why: the element, or how its process ended."""

    match: Match
    choice: PlanChoice
    plan: Plan
    reason: str

    def __str__(self) -> str:
        return f"{self.plan}: {self.reason}"


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanRace:
    """What came of the candidates.

    Parameters
    ----------
    ranked : the right ones: what was chosen, and the others, the fastest first.
    refused : those that are not right.
    gain : of what was chosen over the first plan that is right.
    """

    ranked: tuple[MeasuredPlan, ...]
    refused: tuple[RefusedPlan, ...]
    gain: Gain = field(default_factory=Gain)


def measured_plans(program: TensorizedProgram, matches: Sequence[Match], *, target: Target, parallel: bool = True,
                   constant: Collection[str] = (), compile_flags: Iterable[str] = DEFAULT_FLAGS, cc: str | None = None,
                   options: PipelineOptions | None = None, database: str | Path | None = None) -> PlanRace:
    """The candidates of some matches of one statement with one instruction set, verified and raced by a search.

    Parameters
    ----------
    program : around the first of the matches.
    matches : the most promising one first, which gets most candidates.
    constant : arrays that are packed once, ahead of the timed calls.
    options : of the region, whose numerics are part of what a record is about.
    database : keeps every trial; plans that it has with the same C are not measured again.

    Raises
    ------
    NoCompilerError : there is nothing to compile the plans with.
    """
    options = options or PipelineOptions(tiling=TilingOptions(target=target), cc=cc)
    field_ = _Plans(program=program, compiler=find_compiler(cc), parallel=parallel, constant=tuple(constant),
                    flags=tuple(compile_flags), target=target)
    candidates: dict[Recipe, PlanCandidate] = {}
    for candidate in plan_candidates(matches, target=target):
        candidates.setdefault(_recipe(candidate), candidate)
    trials: dict[Recipe, Trial] = {}
    left = list(candidates)
    while left:   # the first one that is right is what the others are timed with
        own = replace(field_, candidates=[candidates[recipe] for recipe in left], judged=trials)
        found = _searched(own, left, options, database)
        if found is not None:
            return _race_of(found, left[0], candidates, trials)
        left = left[1:]
    return PlanRace(ranked=(), refused=_refused(candidates, trials))


def _searched(plans: _Plans, recipes: Sequence[Recipe], options: PipelineOptions,
              database: str | Path | None) -> Tuned | None:
    """A search among plans, timed with the first of them; None where that one is not right."""
    fragment = plans.program.match.fragment
    spelled = {p.spelling: fragment.sizes[p.name] for p in fragment.scop.parameters if p.name in fragment.sizes}
    others = [Proposal(recipe=recipe) for recipe in recipes[1:]]
    search = Search.of(fragment.scop, sizes=spelled, options=options, place=plans.place(options), builder=plans,
                       runner=plans, model=lambda explorer: plans, strategy=lambda explorer, seed: Given(others),
                       makes_known=True)
    try:
        return search.until(Budget(trials=max(1, len(others))), database=database, resume=True, bounded=False)
    except RunFailedError:
        if search.pick is not None:   # the database may have known it, so that it did not run
            plans.judged[recipes[0]] = replace(search.pick, recipe=recipes[0])
        return None


def _recipe(candidate: PlanCandidate) -> Recipe:
    name = candidate.match.fragment.statement.name
    return Recipe(instructions={name: choice_of(candidate.match, candidate.choice)})


@dataclass(frozen=True, eq=False, kw_only=True)
class _Plans:
    """Builder, runner and model of a search among plans.

    Parameters
    ----------
    candidates : the first one is what the search calls the model's pick.
    judged : gets every trial by the recipe of its plan.
    """

    program: TensorizedProgram
    compiler: Compiler
    parallel: bool
    constant: tuple[str, ...]
    flags: tuple[str, ...]
    target: Target
    candidates: Sequence[PlanCandidate] = ()
    judged: dict[Recipe, Trial] = field(default_factory=dict)
    checks: dict[str, ReplacementCheck] = field(default_factory=dict)

    def place(self, options: PipelineOptions) -> Place:
        """What a record of a plan is about: the code of this statement alone, in pairs with that of the first plan."""
        fragment = self.program.match.fragment
        here = place_of(options, self.compiler, threads=available_cores(), flags=self.flags)
        return here.of_client(CLIENT, statement=fragment.statement.name, packed=sorted(self.constant),
                              loops=len(self.program.outside), parallel=self.parallel,
                              against=_recipe(self.candidates[0]).text)

    def plan_of(self, recipe: Recipe) -> PlanCandidate:
        """The plan that a recipe of the search stands for."""
        if recipe == Recipe():
            return self.candidates[0]
        return next(c for c in self.candidates if _recipe(c) == recipe)

    def build(self, wanted: Sequence[Wanted]) -> Sequence[Candidate | PolyschedError]:
        """As `search.building.Builder` says."""
        return [self._built(w) for w in wanted]

    def _built(self, wanted: Wanted) -> Candidate | PolyschedError:
        name = f"plan{wanted.number}"
        program = with_plan(self.program, self.plan_of(wanted.proposal.recipe))
        sampled = work_of(self.program) > MOST_WORK and can_be_sampled(self.program)
        try:
            check = replacement_check(program, entry=name, parallel=self.parallel, emulated=False, sampled=sampled,
                                      constant=self.constant)
        except PolyschedError as error:
            return error
        self.checks[name] = check
        return Candidate(name=name, proposal=wanted.proposal, text=check.replaced_text,
                         code=code_identity(check.replaced_text, flags=check.flags),
                         predicted_seconds=wanted.predicted_seconds)

    def race(self, candidates: Sequence[Candidate], *, against: Candidate | None, pairs: int, slow_ratio: float,
             told: Callable[[Candidate, Ran], None]) -> None:
        """As `search.building.Runner` says; bit for bit, and all of a race in one process."""
        wide = ("-mprefer-vector-width=512",) if self.compiler.kind == "gcc" else ()
        every = [*([against] if against is not None else []), *candidates]
        raced = dict(zip((c.name for c in every), race(
            [self.checks[c.name] for c in every], compiler=self.compiler, flags=(*self.flags, *wide), rounds=pairs),
            strict=True))
        for candidate in candidates:
            own = raced[candidate.name]
            ran = _ran(candidate.name, own, own if against is None else raced[against.name])
            self.judged[_recipe(self.plan_of(candidate.proposal.recipe))] = Trial(
                recipe=candidate.proposal.recipe, verdict=ran.verdict, reason=ran.reason, pairs=ran.pairs,
                disturbed=ran.disturbed)
            told(candidate, ran)

    def seconds(self, proposal: Proposal) -> float:
        """As `search.models.Model` says: by the models' cycles of a plan."""
        return plan_cycles(self.plan_of(proposal.recipe).plan, self.target) / self.target.frequency_hz

    def learn(self, trials: Sequence[Trial]) -> None:
        """Learn nothing."""


def _ran(name: str, own: Raced, reference: Raced) -> Ran:
    """What came of one plan, in pairs with the reference of its rounds."""
    if own.verdict is not Verdict.TIMED:
        return Ran(name=name, verdict=own.verdict, reason=own.refusal)
    if reference.verdict is not Verdict.TIMED:
        return Ran(name=name, verdict=Verdict.FAILED, reason=f"what it is timed with is not right: {reference.refusal}")
    clean = [a and b for a, b in zip(reference.clean, own.clean, strict=True)]
    return Ran(name=name, verdict=Verdict.TIMED, pairs=tuple(zip(reference.seconds, own.seconds, strict=True)),
               disturbed=tuple(number for number, undisturbed in enumerate(clean) if not undisturbed))


def _race_of(found: Tuned, first: Recipe, candidates: Mapping[Recipe, PlanCandidate],
             judged: Mapping[Recipe, Trial]) -> PlanRace:
    """What came of a search among plans; plans that the database knew count as those that were measured."""
    trials = {**judged, **{t.recipe: t for t in (*found.trials, *found.fresh)}, first: found.first}
    chosen = first if found.recipe == Recipe() else found.recipe
    right = {recipe: t for recipe, t in trials.items() if t.pairs and recipe in candidates}
    ratios = {recipe: 1.0 if recipe == first else t.ratio or 0.0 for recipe, t in right.items()}
    order = sorted(right, key=lambda recipe: (recipe != chosen, -ratios[recipe]))
    return PlanRace(ranked=tuple(MeasuredPlan(
        match=candidates[r].match, choice=candidates[r].choice, plan=candidates[r].plan,
        seconds=_seconds(right[r])) for r in order),
        refused=_refused(candidates, trials), gain=found.gain)


def _seconds(trial: Trial) -> tuple[float, ...]:
    """Of the rounds that nothing disturbed; the shortest one where other programs disturbed all."""
    return tuple(own for _, own in trial.clean) or (min(own for _, own in trial.pairs),)


def _refused(candidates: Mapping[Recipe, PlanCandidate], trials: Mapping[Recipe, Trial]) -> tuple[RefusedPlan, ...]:
    return tuple(RefusedPlan(match=c.match, choice=c.choice, plan=c.plan, reason=trials[recipe].reason)
                 for recipe, c in candidates.items()
                 if recipe in trials and trials[recipe].verdict is not Verdict.TIMED)


def with_plan(program: TensorizedProgram, candidate: PlanCandidate | MeasuredPlan) -> TensorizedProgram:
    """The program by another plan of the same statement."""
    return replace(program, match=candidate.match, choice=candidate.choice)


def with_fastest_plan(decision: Decision, options: PipelineOptions, *,
                      database: str | Path | None = None) -> Decision:
    """The decision with the plan that a search chose among those of its rivals.

    Parameters
    ----------
    database : as for `measured_plans`; one that cannot be written is left alone.

    Raises
    ------
    RunFailedError : no plan is right; the witness is what the first one did.
    """
    program = decision.program
    assert program is not None
    raced = partial(measured_plans, program, decision.rivals, target=options.target(), parallel=options.parallel,
                    cc=options.cc, options=options)
    try:
        found = raced(database=database)
    except OutputError as error:
        _LOG.warning("plans are measured without a database: %s", error.problem)
        found = raced()
    if not found.ranked:
        raise RunFailedError(f"no plan of {decision.rivals[0].intrinsic.name} computes the statement",
                             where=f"statement {decision.rivals[0].fragment.statement.name}",
                             witness=str(found.refused[0]) if found.refused else "there are no plans")
    best, slowest = found.ranked[0], max(found.ranked, key=lambda plan: plan.median_seconds)
    told = (f", measured: {best} (slowest of {len(found.ranked)} plans {1e6 * slowest.median_seconds:.1f} us, gain "
            f"over the first {found.gain})")
    wrong = tuple(f"a plan is not used: {plan}" for plan in found.refused)
    first, *others = decision.reasons
    return replace(decision, program=with_plan(program, best), reasons=(first + told, *others, *wrong))
