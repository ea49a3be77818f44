"""Which software expressions may be which operands: the table of operand assignments with their facts.

An assignment is kept when the bodies agree over numbers without rounding or width; whatever then still separates
program and instruction (a type, a width, saturation) is a `Fact`.  No facts: the assignment computes the same function,
which `equality.same_function` has proved.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from polysched.scop.body import Cast, Expr, Literal, Load, walk
from polysched.scop.dtypes import INT32, DType
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.description.semantics import reads_table
from polysched.tensorize.matching.assignment import Assignment, Candidate, is_of
from polysched.tensorize.matching.candidates import candidate_operands, pools
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.matching.functions import functions
from polysched.tensorize.matching.products import products
from polysched.tensorize.matching.several_results import MOST_ALIKE, MOST_HINDERED, NO_OLD_VALUE, several_results
from polysched.tensorize.matching.tables import with_tables
from polysched.tensorize.proofs.body_proofs import references
from polysched.tensorize.proofs.contents import is_one
from polysched.tensorize.proofs.ideal import ideal_form, ideal_text, multiplies, overwrites
from polysched.tensorize.software.clamps import without_clamp
from polysched.tensorize.software.fragment import Assigned, Fragment
from polysched.tensorize.software.fused_calls import Fusion, without_fusion
from polysched.tensorize.software.zero_points import factored, without_zero_points


def assignments(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics) -> tuple[Assignment, ...]:
    """Every way to put expressions of the update into the inputs so that the ideal bodies agree."""
    if intrinsic.contraction.tables:
        return _of_tables(fragment, intrinsic, numerics)
    if intrinsic.contraction.others:
        return several_results(fragment, intrinsic, numerics)
    if overwrites(intrinsic):
        return _assigned(fragment, intrinsic, numerics)
    found = _unfolded(fragment, intrinsic, numerics)
    if not multiplies(intrinsic):
        return found
    folded = _folded(fragment, intrinsic, numerics, found)
    several = any(is_one(e) for a in found for n, e in a.operands
                  if intrinsic.operand(n).mode is not LoadMode.VALUE)
    update, _ = without_clamp(without_fusion(fragment.update, fragment.target).update)
    several = several and _products_added(update, fragment.target) > 1
    return () if several and all(a.facts for a in folded) else folded   # the whole sum is no operand worth naming


def _of_tables(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics) -> tuple[Assignment, ...]:
    """Assignments of an instruction that reads tables, of a statement that reads as many."""
    found: list[Assignment] = []
    for tabled in with_tables(fragment, intrinsic):
        ways = _assigned if overwrites(intrinsic) else _unfolded
        found += [replace(a, operands=(*a.operands, *tabled.held), facts=(*a.facts, *tabled.facts))
                  for a in ways(tabled.fragment, intrinsic, numerics)]
    return tuple(found)


def _assigned(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics) -> tuple[Assignment, ...]:
    """Assignments of an instruction that assigns.

    An operand is one element, or computed from one: what is computed from several ahead is the work of the instruction.
    The element that the statement overwrites may be one as well: every execution reads before it writes.
    """
    several = len(intrinsic.contraction.inputs) > 1 or bool(intrinsic.contraction.tables)
    candidates = [e for e in candidate_operands(fragment.update, NO_OLD_VALUE) if isinstance(e, Load) or (
        several and len(references(e)) == 1)]
    return _by_function(fragment, intrinsic, numerics, candidates)


def _unfolded(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics) -> tuple[Assignment, ...]:
    """The assignments with the product as it stands."""
    contraction = intrinsic.contraction
    unfused = without_fusion(fragment.update, fragment.target)
    update, clamp = without_clamp(unfused.update)
    names = [str(e) for e in contraction.inputs]
    candidates = candidate_operands(update, fragment.target)
    if not multiplies(intrinsic) and contraction.tables:
        return _by_function(fragment, intrinsic, numerics, candidates)
    if ideal_text(contraction.update, {}) is None:
        return ()
    if not multiplies(intrinsic) or not contraction.inputs:
        return _by_function(fragment, intrinsic, numerics, candidates)
    found: list[tuple[Expr, ...]] = []
    for pool in pools(intrinsic, update, fragment.target, candidates):
        found = list(products(intrinsic, update, fragment.target, pool))
        if found:
            break
    found = _least_varying(fragment, intrinsic, found)
    plainly = replace(fragment, update=unfused.update)
    return _without_repeats(Candidate(
        fragment=plainly, intrinsic=intrinsic, numerics=numerics, clamp=clamp, update=update,
        chosen=dict(zip(names, chosen, strict=True)), fusion=unfused.fusion).assignment() for chosen in found)


def _by_function(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics,
                 candidates: list[Expr]) -> tuple[Assignment, ...]:
    """Assignments for an instruction that chooses or shifts: the proof itself says which expressions fit.

    Where none fits exactly, those that agree over small numbers, with what hinders them.
    """
    if fragment.update.dtype.is_float != intrinsic.contraction.output_dtype.is_float:
        return ()
    names = [str(e) for e in intrinsic.contraction.inputs]
    hindered: list[Assignment] = []
    candidates = [e for e in candidates if not reads_table(e)]
    for chosen_ones in _combinations(fragment, intrinsic, candidates):
        found: list[Assignment] = []
        for chosen in chosen_ones:
            if len(hindered) >= MOST_HINDERED or len(found) >= MOST_ALIKE:
                break
            made = Candidate(fragment=fragment, intrinsic=intrinsic, numerics=numerics, clamp=None,
                             update=fragment.update, chosen=dict(zip(names, chosen, strict=True)),
                             fusion=Fusion.NONE).assignment()
            (hindered if made.facts else found).append(made)
        if found:
            return _without_repeats(found)
    return _without_repeats(hindered)


def _combinations(fragment: Fragment, intrinsic: Intrinsic,
                  candidates: Sequence[Expr]) -> Iterator[Iterator[tuple[Expr, ...]]]:
    """Elements of the program first; where these do not do, whatever it computes of them, and its numbers.

    The bits of an element are those of a number with the other sign, too: `clz` of an `int` counts those of an
    `unsigned`.
    """
    loads = [e for e in candidates if isinstance(e, Load)]
    candidates = [*candidates, *(e for e in _of_other_sign(loads, intrinsic.contraction.input_dtypes)
                                 if e not in candidates)]
    numbers: list[Expr] = [e for e in walk(fragment.update) if isinstance(e, Literal) and e.dtype.is_integer]
    numbers.append(Literal("0", 0, INT32))   # a byte is its distance from zero
    update = [Assigned(NO_OLD_VALUE if overwrites(intrinsic) else fragment.target, fragment.update)]
    yield functions(intrinsic, update, loads)
    fitting = _once(fragment)
    yield (chosen for chosen in functions(intrinsic, update, [*candidates, *dict.fromkeys(numbers)])
           if all(map(fitting, chosen, intrinsic.contraction.input_dtypes)))


def _of_other_sign(loads: Sequence[Load], wanted: Sequence[DType]) -> Iterator[Expr]:
    """Elements as numbers of an operand's type, where that differs in the sign alone."""
    for e, dtype in itertools.product(loads, dict.fromkeys(wanted)):
        if e.dtype.is_integer and dtype.is_integer and e.dtype.bits == dtype.bits and e.dtype != dtype:
            yield Cast(e, dtype)


def _once(fragment: Fragment) -> Callable[[Expr, DType], bool]:
    """Whether an expression has values of a type only; each pair is proved once."""
    known: dict[tuple[Expr, DType], bool] = {}

    def fits_once(e: Expr, dtype: DType) -> bool:
        if (e, dtype) not in known:
            known[e, dtype] = is_of(fragment, e, dtype)
        return known[e, dtype]

    return fits_once


def _least_varying(fragment: Fragment, intrinsic: Intrinsic, found: list[tuple[Expr, ...]]) -> list[tuple[Expr, ...]]:
    """The assignments whose numbers change with the fewest loops: each of these has to run around the calls."""
    by_value = [k for k, e in enumerate(intrinsic.contraction.inputs)
                if intrinsic.operand(e.array).mode is LoadMode.VALUE]
    loops = [len(frozenset().union(*(fragment.loops_of(chosen[k]) for k in by_value))) for chosen in found]
    return [chosen for chosen, count in zip(found, loops, strict=True) if count == min(loops)]


def _products_added(update: Expr, target: str) -> int:
    """Terms of the update besides the old value, multiplied out."""
    form = ideal_form(update, {})
    return sum(target not in m for m, _ in form.terms) if form is not None else 0


def _folded(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics,
            hindered: tuple[Assignment, ...]) -> tuple[Assignment, ...]:
    """Where nothing fits as it is: assignments of the product without its zero points, which are added behind it."""
    if intrinsic.library or intrinsic.contraction.finish is not None or any(not a.facts for a in hindered):
        return hindered
    if (together := factored(fragment)) is not None:
        again = assignments(replace(fragment, update=together), intrinsic, numerics)
        return again if any(not a.facts for a in again) else hindered
    for ways in without_zero_points(fragment):
        fitting = [replace(a, correction=correction) for core, correction in ways
                   for a in _unfolded(replace(fragment, update=core), intrinsic, numerics) if not a.facts]
        if fitting:
            return tuple(fitting)
    return hindered


def _without_repeats(made: Iterable[Assignment]) -> tuple[Assignment, ...]:
    """Of assignments that only differ by conversions around an operand, the least hindered, then the smallest."""
    best: dict[tuple[str | None, ...], Assignment] = {}
    for assignment in sorted(made, key=lambda a: (len(a.facts), sum(sum(1 for _ in walk(e)) for _, e in a.operands))):
        best.setdefault(tuple(ideal_text(e, {}) for _, e in assignment.operands), assignment)
    return tuple(best.values())
