"""The plans of a match that are worth measuring: the models propose, whoever can run code decides.

Nothing is compiled or run here: whoever searches has the candidates verified and timed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from polysched.records import dataclass, whole
from polysched.scop.body import Load, walk
from polysched.target import Target
from polysched.tensorize.emission.plan import Plan, PlanChoice, Tiling, make_plan
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.mapping import Match

BLOCKS = LIMITS.measured_blocks


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanCandidate:
    """A plan, and what gives it again: `make_plan(match, choice=choice)` and the emission.

    Parameters
    ----------
    choice : of register block and tiling.
    """

    match: Match
    choice: PlanChoice
    plan: Plan


def candidate_plans(match: Match, *, target: Target, blocks: int = BLOCKS) -> Iterator[tuple[PlanChoice, Plan]]:
    """The plans worth measuring: every tiling with the best register blocks, without repeats."""
    seen: set[str] = set()
    for block in range(blocks):
        for tiling in Tiling:
            choice = PlanChoice(tiling=tiling, block=block)
            plan = make_plan(match, emulated=False, target=target, choice=choice)
            key = whole((plan.loops, [(p.operand, p.packed) for p in plan.places]))
            if key not in seen:
                seen.add(key)
                yield choice, plan


def plan_candidates(matches: Sequence[Match], *, target: Target) -> tuple[PlanCandidate, ...]:
    """The candidates of some matches of one statement with one instruction.

    Parameters
    ----------
    matches : the most promising one first, which gets most candidates.
    """
    return tuple(PlanCandidate(match=m, choice=choice, plan=plan) for at, m in enumerate(matches)
                 for choice, plan in candidate_plans(m, target=target, blocks=BLOCKS if at == 0 else 1))


def kept_operands(match: Match, constant: Collection[str]) -> tuple[str, ...]:
    """The input operands that hold elements of constant arrays only."""
    found = []
    for name, e in match.assignment.operands:
        arrays = {match.fragment.statement.access(x.reference).array for x in walk(e) if isinstance(x, Load)}
        if arrays and arrays <= set(constant):
            found.append(name)
    return tuple(found)
