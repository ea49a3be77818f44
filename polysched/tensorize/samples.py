"""Samples of sizes at which an instruction can match: one that sums from zero holds a whole sum in one execution."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import islpy as isl

from polysched.scop.body import IteratorRef, walk
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.proofs.ideal import sums_from_zero
from polysched.tensorize.software.polynomials import of_affine, parameters_of


def samples_of_whole_sums(scop: Scop, intrinsics: Iterable[Intrinsic], sizes: Mapping[str, int],
                          unknown: Collection[str]) -> dict[str, int]:
    """Smaller samples of the sizes that say how long sums are; empty where no instruction asks for them.

    Parameters
    ----------
    sizes : the samples so far.
    unknown : the parameters whose values only the running program knows.
    """
    longest = [_longest_sum(i) for i in intrinsics if not i.library and sums_from_zero(i)]
    if not longest:
        return {}
    names = {n for s in scop.statements for n in _lengths_of_sums(s, scop.context.params())}
    return {n: max(longest) for n in sorted(names & {*unknown}) if sizes[n] > max(longest)}


def _longest_sum(intrinsic: Intrinsic) -> int:
    """Iterations of the longest loop over what one execution adds up."""
    contraction = intrinsic.contraction
    return max(int(d.extent) for d in contraction.dimensions if d.name in contraction.reductions)


def _lengths_of_sums(statement: Statement, context: isl.Set) -> set[str]:
    """The parameters in the ends of the loops that choose no element of what the statement writes."""
    told = {x.name for a in statement.writes for s in a.subscripts for x in walk(s) if isinstance(x, IteratorRef)}
    found: set[str] = set()
    for at, name in enumerate(statement.iterators):
        if name not in told:
            end = of_affine(statement.domain.dim_max(at).gist(context).coalesce(), quotients=True)
            found |= parameters_of(end or {})
    return found
