"""Choosing an instruction: of everything that this machine executes, the cheapest match by the cost model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from polysched.dependence import analyse
from polysched.scop.scop import Scop
from polysched.tensorize.conformance import Verdict, conformance
from polysched.tensorize.intrinsic import Intrinsic
from polysched.tensorize.match import Match, MatchOptions, match
from polysched.tensorize.registry import INTRINSICS

PROBE_TRIALS = 50


@lru_cache(maxsize=256)
def executes_here(name: str) -> bool:
    """Whether this machine runs an instruction natively and as described; tried, never read from processor flags."""
    result = conformance(INTRINSICS[name], trials=PROBE_TRIALS)
    return result.verdict is Verdict.CONFORMS and result.how == "native"


def choose(scop: Scop, *, sizes: Mapping[str, int] | None = None, options: MatchOptions | None = None,
           intrinsics: Iterable[Intrinsic] | None = None) -> Match | None:
    """The cheapest match over several instructions; None when none matches.

    Parameters
    ----------
    intrinsics : those to consider; by default every shipped one that this machine executes.
    """
    considered = intrinsics if intrinsics is not None else [i for n, i in INTRINSICS.items() if executes_here(n)]
    dependences = analyse(scop)
    best: list[Match] = []
    for intrinsic in considered:
        best += match(scop, intrinsic, options, sizes=sizes, dependences=dependences).matches[:1]
    return min(best, key=lambda m: m.cost_cycles, default=None)
