"""Choosing an instruction: of everything that this machine executes, the cheapest match by the cost model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polysched.dependence import analyse
from polysched.scop.scop import Scop
from polysched.target import Target, host
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.emission.cost import plan_cycles
from polysched.tensorize.emission.plan import make_plan
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.match import MatchOptions, match
from polysched.tensorize.probes import executes_here, may_execute_here
from polysched.tensorize.registry import INTRINSICS


def choose(scop: Scop, *, sizes: Mapping[str, int] | None = None, options: MatchOptions | None = None,
           intrinsics: Iterable[Intrinsic] | None = None, target: Target | None = None) -> Match | None:
    """The match with the cheapest plan over several instructions; None when none matches.

    Of the statements that an instruction computes it is the one with most iterations: costs of others say nothing about
    it. Matches are looked at in the order of the least that they can cost, until that exceeds the best plan found.

    Parameters
    ----------
    intrinsics : those to consider; by default every shipped one that this machine executes.
    target : the machine that the plans are made for; this one when None.
    """
    considered = intrinsics if intrinsics is not None else filter(may_execute_here, INTRINSICS.values())
    dependences, machine = analyse(scop), target or host()
    found: list[Match] = []
    for intrinsic in considered:
        matches = match(scop, intrinsic, options, sizes=sizes, dependences=dependences).with_mirrors
        found += [m.on(machine) for m in matches]
    for count in sorted({m.fragment.work for m in found}, reverse=True):
        best = cheapest((m for m in found if m.fragment.work == count), machine, probe=intrinsics is None)
        if best is not None:
            return best
    return None


def best_few(matches: Iterable[Match], target: Target, *, count: int) -> list[Match]:
    """The matches of one instruction with the cheapest plans, cheapest first; what can only cost more is left out."""
    found: list[tuple[float, Match]] = []
    for candidate in sorted(matches, key=lambda m: m.cost_cycles):
        if len(found) >= count and candidate.cost_cycles >= found[count - 1][0]:
            break
        found.append((plan_cycles(make_plan(candidate, emulated=False, target=target), target), candidate))
        found.sort(key=lambda f: f[0])
    return [m for _, m in found[:count]]


def cheapest(matches: Iterable[Match], target: Target, *, probe: bool) -> Match | None:
    """The match whose plan costs least; with `probe` only of instructions that are found to execute here."""
    best: tuple[float, Match] | None = None
    for candidate in sorted(matches, key=lambda m: m.cost_cycles):
        if best is not None and candidate.cost_cycles >= best[0]:
            break
        cycles = candidate.cost_cycles
        if not candidate.intrinsic.library:
            cycles = plan_cycles(make_plan(candidate, emulated=False, target=target), target)
        if (best is None or cycles < best[0]) and (not probe or executes_here(candidate.intrinsic)):
            best = (cycles, candidate)
    return None if best is None else best[1]
