"""Bodies over numbers without rounding or width: what an update computes ideally, as a normal form."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary, rebuild, walk
from polysched.scop.dtypes import FLOAT64, INT32
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.equality import Verdict, same_function
from polysched.tensorize.equality.normal_form import Form, Normaliser
from polysched.tensorize.equality.questions import Questions
from polysched.tensorize.proofs.body_proofs import adds_to


def ideal_text(update: Expr, given: Mapping[str, Expr]) -> str | None:
    """The text of `ideal_form`."""
    form = ideal_form(update, given)
    return None if form is None else form.text()


@lru_cache(maxsize=512)
def overwrites(intrinsic: Intrinsic) -> bool:
    """Whether every element of the results is assigned once, whatever it held: a value of the inputs alone."""
    contraction = intrinsic.contraction
    if contraction.others:
        written = {str(r.output) for r in contraction.results}
        return all(map(overwrites, intrinsic.one_by_one)) and not any(
            written & {str(e) for e in r.reads} for r in contraction.results)
    own = str(contraction.output)
    return not contraction.accumulates and not contraction.reductions and not any(
        isinstance(e, Load) and e.reference == own for e in walk(contraction.update))


@lru_cache(maxsize=512)
def sums_from_zero(intrinsic: Intrinsic) -> bool:
    """Whether the result is replaced by a sum: the update is one of an old value that counts as zero."""
    return not intrinsic.contraction.accumulates and not overwrites(intrinsic) and accumulates_sum(intrinsic)


def adds_in_any_order(intrinsic: Intrinsic) -> bool:
    """Whether sums of integers may be taken in any order: nothing is done to them at the end."""
    return intrinsic.contraction.finish is None and accumulates_sum(intrinsic)


@lru_cache(maxsize=512)
def accumulates_sum(intrinsic: Intrinsic) -> bool:
    """Whether the update is the old value plus something that does not depend on it, in the width of the result.

    With a finish, ahead of it: such sums are neither reordered nor cut in parts.  Of several results none may read
    another one's old value.
    """
    contraction = intrinsic.contraction
    if contraction.others:
        return all(map(accumulates_sum, intrinsic.one_by_one)) and not any(
            {str(e) for e in r.reads} & {str(o.output) for o in contraction.results if o is not r}
            for r in contraction.results)
    form = ideal_form(contraction.update, {})
    old = str(contraction.output)
    added = form is not None and [(m, c) for m, c in form.terms if any(old in atom for atom in m)] == [
        ((old,), Fraction(1))]
    return added and (contraction.finish is not None
                      or adds_to(contraction.update, Load(old, contraction.output_dtype)))


def multiplies(intrinsic: Intrinsic) -> bool:
    """Whether the update is made of sums and products alone."""
    return not any(isinstance(e, Select | Call) or (isinstance(e, Binary | Unary) and e.op not in "+-*")
                   for r in intrinsic.contraction.results for e in walk(r.update))


@lru_cache(maxsize=4096)
def vanishes(intrinsic: Intrinsic, zeros: frozenset[str]) -> bool:
    """Whether an update adds nothing where these inputs are zero, whatever the others are: what padding relies on."""
    contraction = intrinsic.contraction
    if contraction.others:
        return all(vanishes(one, zeros) for one in intrinsic.one_by_one)
    references = {str(e) for e in contraction.inputs if e.array in zeros}
    if not references:
        return False
    dtype = contraction.output_dtype

    def change(e: Expr) -> Expr:
        return Cast(Literal("0", 0, INT32), e.dtype) if isinstance(e, Load) and e.reference in references else e

    update = rebuild(contraction.update, change)
    old = Load(str(contraction.output), dtype)
    form = ideal_form(contraction.update, {str(e): Literal("0", 0, INT32) for e in contraction.inputs
                                           if e.array in zeros}) if multiplies(intrinsic) else None
    if form is not None and dtype.is_float:   # what rounds a value of its own type keeps it
        return form.text() == ideal_text(old, {})
    return same_function(update if update.dtype == dtype else Cast(update, dtype), old, asked=Questions()
                         ).verdict is Verdict.EQUAL   # of the instruction alone, whatever a match has spent


def ideal_form(update: Expr, given: Mapping[str, Expr]) -> Form | None:
    """Normal form over the rationals: every type replaced by an unbounded one; None outside sums, products, choices."""
    return _form(update, given) if given else _own_form(update)


@lru_cache(maxsize=256)
def _own_form(update: Expr) -> Form | None:
    return _form(update, {})


def _form(update: Expr, given: Mapping[str, Expr]) -> Form | None:
    def widened(e: Expr) -> Expr:
        match e:
            case Load() if e.reference in given:
                return given[e.reference]
            case Cast():
                return e.operand
        return e

    def typed(e: Expr) -> Expr:
        match e:
            case Load():
                return Load(e.reference, FLOAT64)
            case Literal():
                return Literal(e.text, e.value, FLOAT64)
            case Unary():
                return Unary(e.op, e.operand, FLOAT64)
            case Binary():
                return Binary(e.op, e.left, e.right, FLOAT64)
            case Select():
                return Select(e.condition, e.then, e.otherwise, FLOAT64)
            case Call():
                return Call(e.function, e.arguments, FLOAT64)
            case Cast():
                return e.operand
        return e

    substituted = rebuild(update, widened)
    try:
        return Normaliser(numbers=True).form(rebuild(substituted, typed))
    except (TypeError, OverflowError):
        return None
