"""Whether a program's update and an instruction's, with operands in their places, are the same function.

Each question is put to `equality.same_function` in the form in which the answer is cheapest: over the values of the
operands, over what two sums add, over a sum ahead of its clamp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polysched.scop.body import Binary, Cast, Expr, Literal, Load, Select, rebuild_shared, walk
from polysched.scop.dtypes import INT32, INT64, UINT64, DType, Kind
from polysched.tensorize.equality import Outcome, Verdict, same_function
from polysched.tensorize.equality.normal_form import Normaliser, widens
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.software.clamps import Clamp, of_any_sum, plain
from polysched.tensorize.software.fragment import Fragment

BODY_CONFLICTS = LIMITS.body_conflicts
RANGE_CONFLICTS = LIMITS.range_conflicts


def references(e: Expr) -> frozenset[str]:
    """Of the loads in an expression."""
    return frozenset(x.reference for x in walk(e) if isinstance(x, Load))


def same_of_values(update: Expr, mine: Expr, dtype: DType, operands: Mapping[str, Expr],
                    wanted: Mapping[str, DType]) -> Outcome:
    """Whether both are the same function, first of the operands' values, whatever these are computed from.

    An operand fits its type, so what holds for every value of that type holds for those that occur.
    """
    computed = {n: e for n, e in operands.items() if e.dtype.is_integer and not isinstance(e, Load | Literal)}
    if computed:
        values: dict[Expr, Expr] = {e: Load(f"value of {n}", e.dtype) for n, e in computed.items()}
        ranges = {f"value of {n}": wanted[n].value_range() for n in computed}
        sides = [rebuild_shared(_one_width(side, dtype), lambda e: values.get(e, e)) for side in (update, mine)]
        outcome = same_function(*sides, ranges=ranges)
        if outcome.verdict is Verdict.EQUAL:
            return outcome
    return same_function(_one_width(update, dtype), _one_width(mine, dtype), conflicts=BODY_CONFLICTS)


def same_addend(update: Expr, mine: Expr, fragment: Fragment) -> Outcome:
    """Whether both are the same function; of two sums with the old value, whether they add the same."""
    dtype = fragment.update.dtype
    parts = [_addend(_one_width(side, dtype), Load(fragment.target, dtype)) for side in (update, mine)]
    if parts[0] is not None and parts[1] is not None:
        outcome = same_function(_one_width(parts[0], dtype), _one_width(parts[1], dtype))
        if outcome.verdict is Verdict.EQUAL:
            return outcome
    return same_function(_one_width(update, dtype), _one_width(mine, dtype), conflicts=BODY_CONFLICTS)


def _addend(update: Expr, old: Load) -> Expr | None:
    """What an update adds to the old value, in its own type; None for other updates."""
    update = _low_bits(update, old.dtype)
    if not (isinstance(update, Binary) and update.op == "+" and _of_width(update.dtype, old.dtype)):
        return None
    sides = [e for e in (update.left, update.right) if below_signs(plain(e)) != old]
    return sides[0] if len(sides) == 1 and old.reference not in references(sides[0]) else None


def adds_to(update: Expr, old: Load) -> bool:
    """Whether an update is its old value plus or minus something else, in its own width; such may change places."""
    terms = list(summands(update, old.dtype))
    mine = [(op, e) for op, e in terms if old.reference in references(e)]
    return len(mine) == 1 < len(terms) and mine[0][0] == "+" and below_signs(plain(mine[0][1])) == old


def summands(e: Expr, dtype: DType, sign: str = "+") -> Iterator[tuple[str, Expr]]:
    """The summands of a sum in the width of a type, each with its sign."""
    inner = _low_bits(e, dtype)
    if isinstance(inner, Binary) and inner.op in ("+", "-") and _of_width(inner.dtype, dtype):
        yield from summands(inner.left, dtype, sign)
        yield from summands(inner.right, dtype, sign if inner.op == "+" else "-" if sign == "+" else "+")
    else:
        yield sign, e


def _of_width(dtype: DType, wanted: DType) -> bool:
    """Sums in this type are sums in the wanted one: of integers of at least as many bits the low ones are."""
    return dtype == wanted if wanted.is_float else dtype.is_integer and dtype.bits >= wanted.bits


def _low_bits(e: Expr, dtype: DType) -> Expr:
    """Below conversions that keep the low bits, as many as a type has; a float stays as it is."""
    while dtype.is_integer and isinstance(e, Cast) and e.operand.dtype.is_integer and Kind.BOOL not in (
            e.dtype.kind, e.operand.dtype.kind) and min(e.dtype.bits, e.operand.dtype.bits) >= dtype.bits \
            and e.dtype.is_integer:
        e = e.operand
    return e


def below_signs(e: Expr) -> Expr:
    """Below conversions between the signed and the unsigned type of a width, which keep every bit."""
    while isinstance(e, Cast) and e.dtype.is_integer and e.operand.dtype.is_integer \
            and e.dtype.bits == e.operand.dtype.bits:
        e = e.operand
    return e


def same_clamped(update: Expr, inner: Expr, mine: Expr, clamp: Clamp) -> Outcome:
    """Whether the program's clamped sum is the instruction's: the sums, and then what is done to any such sum."""
    mine = Cast(mine, INT64)   # ahead of its finish the instruction's sum has a type that holds it
    if same_function(Cast(inner, INT64), mine, conflicts=RANGE_CONFLICTS).verdict is Verdict.EQUAL:
        around = of_any_sum(Cast(update, INT64), inner)
        outcome = same_function(around, _clamped(Cast(of_any_sum(inner, inner), INT64), clamp))
        if outcome.verdict is Verdict.EQUAL:
            return outcome
    return same_function(Cast(update, INT64), _clamped(mine, clamp))


def _one_width(e: Expr, dtype: DType) -> Expr:
    return e if e.dtype == dtype else Cast(e, dtype)


def _clamped(e: Expr, clamp: Clamp) -> Expr:
    assert clamp.low is not None   # a bound on one side only is a fact against the match
    assert clamp.high is not None
    low, high = (Literal(f"{v}L", v, INT64) for v in (clamp.low, clamp.high))
    above = Select(Binary(">", e, high, INT32), high, e, INT64)
    return Select(Binary("<", above, low, INT32), low, above, INT64)


def substituted(update: Expr, given: Mapping[str, Expr], output: Expr, output_reference: str) -> Expr:
    """An instruction's update with expressions of the program for its elements, each in the element's type."""
    def change(e: Expr) -> Expr:
        if isinstance(e, Load) and e.reference == output_reference:
            return output
        if isinstance(e, Load) and e.reference in given:
            replacement = given[e.reference]
            return replacement if replacement.dtype == e.dtype else Cast(replacement, e.dtype)
        return e

    return rebuild_shared(update, change)


def fits(e: Expr, wanted: DType, ranges: Mapping[str, tuple[int, int]]) -> bool:
    """Whether every value of the expression is one of a type.

    Parameters
    ----------
    ranges : of iterators and parameters.
    """
    if widens(e.dtype, wanted) and not (e.dtype.is_integer and wanted.is_float):
        return True
    if not (e.dtype.is_integer and wanted.is_integer):
        return False
    form = Normaliser(ranges).form(e)
    low, high = wanted.value_range()
    if form.low is not None and form.high is not None and low <= form.low and form.high <= high:
        return True
    if isinstance(e, Load) or any(isinstance(x, Binary) and x.op == "*" for x in walk(e)):
        return False   # a load has every value of its type; products are what the solver finds hard
    return _round_trip(e, wanted, ranges)


def _round_trip(e: Expr, wanted: DType, ranges: Mapping[str, tuple[int, int]]) -> bool:
    """Whether an integer is the same behind a conversion to another type of integers."""
    if e.dtype.is_signed and wanted.is_signed:   # compared where both types have all of their values
        there, here = Cast(Cast(e, wanted), INT64), Cast(e, INT64)
        return same_function(there, here, ranges=dict(ranges),
                             conflicts=RANGE_CONFLICTS).verdict is Verdict.EQUAL
    # to an unsigned type of as many bits and back the sign is kept, so that the bits are looked at
    mask = min(wanted.value_range()[1], e.dtype.value_range()[1])
    low_bits = Binary("&", e, Cast(Literal(str(mask), mask, UINT64), e.dtype), e.dtype)
    return same_function(low_bits, e, ranges=dict(ranges), conflicts=RANGE_CONFLICTS).verdict is Verdict.EQUAL
