"""Instructions that write several operands at once: which expressions are their inputs, for all results alike.

    L[i] = A[i] < B[i] ? A[i] : B[i];  H[i] = A[i] < B[i] ? B[i] : A[i];

One assignment of expressions to inputs has to make every result; each is then proved on its own, with types and wraps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polysched.scop.body import Expr, Load
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.assignment import Assignment, Candidate
from polysched.tensorize.matching.candidates import candidate_operands
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.matching.functions import functions
from polysched.tensorize.proofs.body_proofs import references
from polysched.tensorize.proofs.contents import by_operand, by_result, places_of
from polysched.tensorize.proofs.ideal import overwrites
from polysched.tensorize.software.fragment import Assigned, Fragment
from polysched.tensorize.software.fused_calls import Fusion

MOST_HINDERED = LIMITS.most_hindered
MOST_ALIKE = LIMITS.most_alike
NO_OLD_VALUE = ""    # the reference of the old value, for an instruction that does not read it


def several_results(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics) -> tuple[Assignment, ...]:
    """Every way to put expressions into the inputs so that all updates agree, the results in the given order."""
    contraction = intrinsic.contraction
    results = fragment.results
    if len(results) != len(contraction.results) or any(
            mine.update.dtype.is_float != theirs.output_dtype.is_float
            for mine, theirs in zip(results, contraction.results, strict=True)):
        return ()
    replaced = overwrites(intrinsic)
    olds = [Assigned(f"{NO_OLD_VALUE}{n}" if replaced else r.target, r.update) for n, r in enumerate(results)]
    hindered: list[Assignment] = []
    for pool in _pools(olds):
        found: list[Assignment] = []
        for chosen in functions(intrinsic, olds, pool):
            if len(hindered) >= MOST_HINDERED or len(found) >= MOST_ALIKE:
                break
            given = dict(zip(map(str, contraction.inputs), chosen, strict=True))
            made = _assignment(fragment, intrinsic, numerics, given)
            (hindered if made.facts else found).append(made)
        if found:
            return tuple(found)
    return tuple(hindered)


def _pools(results: Sequence[Assigned]) -> Iterator[list[Expr]]:
    """The elements that the updates read, then whatever they compute of one element each."""
    old = {r.target for r in results}
    every = dict.fromkeys(e for r in results for e in candidate_operands(r.update, NO_OLD_VALUE)
                          if not references(e) & old and len(references(e)) <= 1)
    loads: list[Expr] = [e for e in every if isinstance(e, Load)]
    yield loads
    if len(every) > len(loads):
        yield list(every)


def _assignment(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics, given: Mapping[str, Expr]) -> Assignment:
    """The assignment with all that hinders any of the results."""
    contraction = intrinsic.contraction
    written: dict[str, Expr] = {str(r.output): Load(mine.target, mine.update.dtype)
               for r, mine in zip(contraction.results, fragment.results, strict=True)}
    known, held, made = {**given, **written}, dict(given), []
    for one, mine in zip(intrinsic.one_by_one, fragment.results, strict=True):
        candidate = Candidate(
            fragment=fragment.of_results([mine]), intrinsic=one, numerics=numerics, clamp=None, update=mine.update,
            chosen={str(e): known[str(e)] for e in one.contraction.inputs}, fusion=Fusion.NONE)
        held |= {name: e for name, e in candidate.held.items() if name in given}
        made.append(candidate.assignment())
    results = by_result(contraction, written)
    if len(places_of(contraction, contraction.output.array)) == 1:   # the fragment's own result
        del results[contraction.output.array]
    return Assignment(operands=(*by_operand(contraction, held).items(), *results.items()),
                      facts=tuple(dict.fromkeys(f for a in made for f in a.facts)),
                      assumptions=tuple(dict.fromkeys(x for a in made for x in a.assumptions)))
