"""What the program makes of a workload: instructions by the models, plans by measurement, and their C."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from workloads import Workload

from polysched.errors import WrongResultError
from polysched.search.clients.measured_plans import MeasuredPlan, measured_plans
from polysched.target import host
from polysched.tensorize import Match, find_intrinsic, match
from polysched.tensorize.choice import best_few, choose
from polysched.tensorize.conformance.conformance import Verdict, conformance
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.plan_candidates import kept_operands
from polysched.tensorize.program import tensorize

RIVALS = 2         # further matches whose best plan is measured too
PROBE_TRIALS = 50


def not_here(intrinsic: Intrinsic) -> str:
    """Why this CPU does not execute an instruction as described; empty when it does: tried, not read from flags."""
    found = conformance(intrinsic, trials=PROBE_TRIALS)
    return "" if found.verdict is Verdict.CONFORMS and found.how == "native" else str(found)


def candidates(workload: Workload, asked: Iterable[str]) -> tuple[Match | None, list[Match], dict[str, str]]:
    """The program's own choice, a match of every other instruction that was asked for, and why others are skipped."""
    chosen = choose(workload.scop, sizes=workload.sizes)
    found: list[Match] = []
    skipped = {}
    for name in asked:
        intrinsic = find_intrinsic(name)
        if chosen is not None and chosen.intrinsic.name == name:
            continue
        reason = not_here(intrinsic)
        also = None if reason else choose(workload.scop, sizes=workload.sizes, intrinsics=[intrinsic])
        if also is not None:
            found.append(also)
        else:
            why = match(workload.scop, intrinsic, sizes=workload.sizes).explanations
            skipped[name] = reason or "; ".join(str(e) for e in reversed(why))   # what clears the result comes last
    return chosen, found, skipped


@dataclass(frozen=True, kw_only=True)
class Made:
    """The C of a match by the plan that ran fastest.

    Parameters
    ----------
    plans : all that were raced and found right, fastest first.
    text : two functions of pointers to `arrays`: `ours` packs every operand, `once` finds the constant one packed.
    prepare : the function of a pointer to the constant array that packs it; empty where it lies right as it is.
    """

    match: Match
    plans: tuple[MeasuredPlan, ...]
    text: str
    flags: tuple[str, ...]
    arrays: tuple[str, ...]
    prepare: str

    def to_json(self) -> dict[str, Any]:
        """What a record keeps; seconds are those of every round."""
        return {"intrinsic": self.match.intrinsic.name, "plans": [
            {"match": str(p.match), "plan": str(p.plan), "seconds": p.seconds} for p in self.plans]}


def make(workload: Workload, candidate: Match) -> Made:
    """Race the plans of a match and of its rivals, the constant operand packed once, and emit the fastest.

    Raises
    ------
    WrongResultError : no plan computes the workload.
    """
    program = tensorize(candidate)
    assert program.before is None
    assert program.after is None
    rivals = [m for m in match(workload.scop, candidate.intrinsic, sizes=workload.sizes).with_mirrors
              if m.signature != candidate.signature]
    found = measured_plans(program, [candidate, *best_few(rivals, host(), count=RIVALS)], target=host(),
                           constant=(workload.constant,))
    if not found.ranked:
        raise WrongResultError("no plan computes the workload", witness=str(found.refused[0]))
    plans, best = found.ranked, found.ranked[0]
    ours = emit_match(best.match, "ours", EmissionOptions(zero=program.zero, choice=best.choice))
    keep = kept_operands(best.match, (workload.constant,))
    once = emit_match(best.match, "once", EmissionOptions(keep=keep, zero=program.zero, choice=best.choice))
    (prepare,) = [call.partition("(")[0] for call in once.preparations] or [""]
    assert ours.arrays == once.arrays
    return Made(match=best.match, plans=plans, text=ours.unit + once.text, flags=ours.flags,
                arrays=ours.arrays, prepare=prepare)
