"""The fastest plan of a match: the models propose, each is compared with the original statement, and the clock decides.

A plan that computes something else, crashes or hangs becomes a record and is never chosen.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from polysched.emit_c.alternatives.replacement_check import replacement_check
from polysched.emit_c.alternatives.smaller_programs import MOST_WORK, can_be_sampled, work_of
from polysched.errors import RunFailedError
from polysched.measure.bit_for_bit.race import race
from polysched.measure.processes.building import DEFAULT_FLAGS
from polysched.target import Target, find_compiler
from polysched.tensorize.decision import Decision
from polysched.tensorize.emission.plan import Plan, PlanChoice
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.plan_candidates import PlanCandidate, plan_candidates
from polysched.tensorize.program import TensorizedProgram


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredPlan:
    """A plan that computes what the statement does, and its seconds per call, one per round.

    Parameters
    ----------
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
    ranked : the right ones, fastest first.
    refused : the others.
    """

    ranked: tuple[MeasuredPlan, ...]
    refused: tuple[RefusedPlan, ...]


def measured_plans(program: TensorizedProgram, matches: Sequence[Match], *, target: Target, parallel: bool = True,
                   constant: Collection[str] = (), compile_flags: Iterable[str] = DEFAULT_FLAGS,
                   cc: str | None = None) -> PlanRace:
    """The candidates of some matches of one statement with one instruction set, verified and timed.

    Parameters
    ----------
    program : around the first of the matches.
    matches : the most promising one first, which gets most candidates.
    constant : arrays that are packed once, ahead of the timed calls.

    Raises
    ------
    NoCompilerError : there is nothing to compile the plans with.
    """
    compiler = find_compiler(cc)
    wide = ("-mprefer-vector-width=512",) if compiler.kind == "gcc" else ()
    candidates = plan_candidates(matches, target=target)
    sampled = work_of(program) > MOST_WORK and can_be_sampled(program)
    checks = [replacement_check(with_plan(program, c), entry=f"plan{i}", parallel=parallel, emulated=False,
                                sampled=sampled, constant=constant) for i, c in enumerate(candidates)]
    raced = race(checks, compiler=compiler, flags=(*compile_flags, *wide))
    ranked = [MeasuredPlan(match=c.match, choice=c.choice, plan=c.plan, seconds=r.seconds)
              for c, r in zip(candidates, raced, strict=True) if r.seconds]
    refused = [RefusedPlan(match=c.match, choice=c.choice, plan=c.plan, reason=r.refusal)
               for c, r in zip(candidates, raced, strict=True) if not r.seconds]
    return PlanRace(ranked=tuple(sorted(ranked, key=lambda m: m.median_seconds)), refused=tuple(refused))


def with_plan(program: TensorizedProgram, candidate: PlanCandidate | MeasuredPlan) -> TensorizedProgram:
    """The program by another plan of the same statement."""
    return replace(program, match=candidate.match, choice=candidate.choice)


def with_fastest_plan(decision: Decision, *, target: Target, parallel: bool, cc: str | None = None) -> Decision:
    """The decision with the plan that ran fastest among those of its rivals; as it is where it has none.

    Raises
    ------
    RunFailedError : no plan is right; the witness is what the first one did.
    """
    if decision.program is None or not decision.rivals:
        return decision
    found = measured_plans(decision.program, decision.rivals, target=target, parallel=parallel, cc=cc)
    if not found.ranked:
        raise RunFailedError(f"no plan of {decision.rivals[0].intrinsic.name} computes the statement",
                             where=f"statement {decision.rivals[0].fragment.statement.name}",
                             witness=str(found.refused[0]) if found.refused else "there are no plans")
    best, slowest = found.ranked[0], found.ranked[-1]
    told = (f", measured: {best} (slowest of {len(found.ranked)} plans {1e6 * slowest.median_seconds:.1f} us)",)
    wrong = tuple(f"a plan is not used: {plan}" for plan in found.refused)
    first, *others = decision.reasons
    return replace(decision, program=with_plan(decision.program, best), reasons=(first + told[0], *others, *wrong))
