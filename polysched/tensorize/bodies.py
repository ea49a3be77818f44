"""Which software expressions may be which operands: the table of operand assignments with their facts.

An assignment is kept when the bodies agree over numbers without rounding or width; whatever then still separates
program and instruction (a type, a width, saturation) is a `Fact`.  No facts: the assignment computes the same function,
which `equality.same_function` has proved.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary, rebuild, walk
from polysched.scop.dtypes import FLOAT64, INT32, INT64, DType, Kind
from polysched.tensorize.equality import Verdict, same_function
from polysched.tensorize.equality.normal_form import Form, Normaliser, widens
from polysched.tensorize.fragment import Fragment
from polysched.tensorize.intrinsic import Intrinsic
from polysched.tensorize.zero_points import Correction, without_zero_points

MAX_CANDIDATES = 12


@dataclass(frozen=True)
class Numerics:
    """What a match may change in floating-point results; integers are always exact.

    Parameters
    ----------
    reassociate : float additions in another order.
    contract : a product and an addition with one rounding.
    flush : denormals count as zero; intermediate roundings that the instruction does differently.
    narrow : operands cut to fewer bits than the program has (tf32).
    """

    reassociate: bool = True
    contract: bool = True
    flush: bool = True
    narrow: bool = False


@dataclass(frozen=True)
class Fact:
    """One thing that separates program and instruction, and the rewrite of the program that would remove it."""

    kind: str
    text: str
    rewrite: str = ""


@dataclass(frozen=True)
class Assignment:
    """Operand of the instruction -> expression of the program (loads, or the literal one), and what hinders it.

    Parameters
    ----------
    correction : zero points that were taken out of the product and are added behind it.
    """

    operands: tuple[tuple[str, Expr], ...]
    facts: tuple[Fact, ...]
    assumptions: tuple[str, ...]
    correction: Correction | None = None

    @cached_property
    def texts(self) -> dict[str, str]:
        """Per operand one spelling of what it holds, equal for equal expressions."""
        return {name: ideal_text(e, {}) or repr(e) for name, e in self.operands}

    @cached_property
    def held(self) -> dict[str, Expr]:
        """Per operand what the program puts into it."""
        return dict(self.operands)

    def expression(self, operand: str) -> Expr:
        """What the program puts into an operand."""
        return self.held[operand]


def assignments(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics) -> tuple[Assignment, ...]:
    """Every way to put expressions of the update into the inputs so that the ideal bodies agree."""
    contraction = intrinsic.contraction
    update, clamp = _without_clamp(fragment.update)
    names = [e.array for e in contraction.inputs]
    candidates = _candidates(update, fragment.target)
    wanted = ideal_text(contraction.update, {})
    if wanted is None:
        return ()
    goal = ideal_text(update, {})
    found: list[tuple[Expr, ...]] = []
    one = Literal("1", 1, contraction.input_dtypes[0])
    for pool in (candidates, [*candidates, one]):
        for chosen in itertools.product(pool, repeat=len(names)):
            if all(isinstance(c, Literal) for c in chosen):
                continue
            given = {str(e): c for e, c in zip(contraction.inputs, chosen, strict=True)}
            given[str(contraction.output)] = Load(fragment.target, contraction.output_dtype)
            if ideal_text(contraction.update, given) == goal:
                found.append(chosen)
        if found:
            break
    made = [_assignment(fragment, intrinsic, numerics, clamp, update, dict(zip(names, chosen, strict=True)))
            for chosen in found]
    return _folded(fragment, intrinsic, numerics, _without_repeats(made))


def _folded(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics,
            hindered: tuple[Assignment, ...]) -> tuple[Assignment, ...]:
    """Where nothing fits as it is: assignments of the product without its zero points, which are added behind it."""
    if intrinsic.library or intrinsic.contraction.finish is not None or any(not a.facts for a in hindered):
        return hindered
    without = without_zero_points(fragment)
    if without is None:
        return hindered
    core, correction = without
    plain = assignments(replace(fragment, update=core), intrinsic, numerics)
    return tuple(replace(a, correction=correction) for a in plain if not a.facts) or hindered


def _assignment(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics, clamp: tuple[int, int] | None,
                update: Expr, chosen: Mapping[str, Expr]) -> Assignment:
    contraction, facts = intrinsic.contraction, []
    operands = {}
    for element, wanted in zip(contraction.inputs, contraction.input_dtypes, strict=True):
        e = chosen[element.array]
        operands[element.array] = e if not isinstance(e, Literal) else Literal("1", 1, wanted)
        if not isinstance(e, Literal) and not _fits(e, wanted):
            facts.append(_dtype_fact(intrinsic, element.array, e, wanted))
    dtype = fragment.update.dtype
    if dtype != contraction.output_dtype:
        facts.append(Fact("accumulator", f"operand {contraction.output.array}: the program accumulates in {dtype}, "
                          f"{intrinsic.name} in {contraction.output_dtype}",
                          f"accumulate in {contraction.output_dtype}, and convert afterwards"))
    facts += _clamp_facts(intrinsic, clamp, dtype)
    facts += _numeric_facts(intrinsic, numerics)
    assumptions = list(contraction.traits if dtype.is_float else ())
    if not facts:
        given = {str(e): operands[e.array] for e in contraction.inputs}
        old: Expr = Load(fragment.target, dtype)
        if clamp is not None:
            mine = _clamped(_wide(_substituted(contraction.update, given, old, str(contraction.output))), clamp)
            outcome = same_function(Cast(fragment.update, INT64), mine)
        else:
            mine = _substituted(contraction.update, given, old, str(contraction.output))
            outcome = same_function(_one_width(update, dtype), _one_width(mine, dtype))
        regrouped = outcome.reassociated and clamp is None and _commuted(update) != _commuted(mine)
        if regrouped and numerics.reassociate:
            assumptions.append("factors of a product are multiplied in another order")
        elif regrouped:
            facts.append(Fact("rounding", "the factors of the product would be multiplied in another order",
                              "allow it (reassociate), or group the factors as the instruction does"))
        if outcome.verdict is not Verdict.EQUAL:
            facts.append(Fact("arithmetic", f"the program's update is not {intrinsic.name}'s in its own arithmetic"
                              + (f" ({outcome.witness})" if outcome.witness else f" ({outcome.verdict.value})"),
                              "compute the product in the accumulator's type"))
    if dtype.is_float and contraction.reductions:
        assumptions.append("float additions may be reordered")
    return Assignment(tuple(operands.items()), tuple(facts), tuple(dict.fromkeys(assumptions)))


def _one_width(e: Expr, dtype: DType) -> Expr:
    return e if e.dtype == dtype else Cast(e, dtype)


def _wide(e: Expr) -> Expr:
    """The same sum without wrapping: additions and products of integers in 64 bits."""
    def change(x: Expr) -> Expr:
        if isinstance(x, Binary) and x.op in ("+", "-", "*") and x.dtype.is_integer:
            return Binary(x.op, Cast(x.left, INT64), Cast(x.right, INT64), INT64)
        return x

    return Cast(rebuild(e, change), INT64)


def _clamped(e: Expr, clamp: tuple[int, int]) -> Expr:
    low, high = (Literal(f"{v}L", v, INT64) for v in clamp)
    above = Select(Binary(">", e, high, INT32), high, e, INT64)
    return Select(Binary("<", above, low, INT32), low, above, INT64)


def _substituted(update: Expr, given: Mapping[str, Expr], output: Expr, output_reference: str) -> Expr:
    def change(e: Expr) -> Expr:
        if isinstance(e, Load) and e.reference == output_reference:
            return output
        if isinstance(e, Load) and e.reference in given:
            replacement = given[e.reference]
            return replacement if replacement.dtype == e.dtype else Cast(replacement, e.dtype)
        return e

    return rebuild(update, change)


def ideal_text(update: Expr, given: Mapping[str, Expr]) -> str | None:
    """The text of `ideal_form`."""
    form = ideal_form(update, given)
    return None if form is None else form.text()


def accumulates_sum(intrinsic: Intrinsic) -> bool:
    """Whether the ideal update is the old value plus something that does not depend on it."""
    contraction = intrinsic.contraction
    form = ideal_form(contraction.update, {})
    old = str(contraction.output)
    return form is not None and [(m, c) for m, c in form.terms if old in m] == [((old,), Fraction(1))]


def ideal_form(update: Expr, given: Mapping[str, Expr]) -> Form | None:
    """Normal form over the rationals: every type replaced by an unbounded one; None outside sums, products, choices."""
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
        return Normaliser().form(rebuild(substituted, typed))
    except (TypeError, OverflowError):
        return None


def _candidates(update: Expr, target: str) -> list[Expr]:
    """Subexpressions that the old value is not part of, small ones first, without value-preserving conversions."""
    found: dict[Expr, None] = {}
    for e in walk(update):
        inner = _plain(e)
        if any(isinstance(x, Load) and x.reference == target for x in walk(inner)):
            continue
        if any(isinstance(x, Load) for x in walk(inner)):
            found[inner] = None
    for product in _regrouped(update, target):
        found.setdefault(product, None)
    return sorted(found, key=lambda e: sum(1 for _ in walk(e)))[:MAX_CANDIDATES]


def _regrouped(update: Expr, target: str) -> Iterator[Expr]:
    """Products of two factors of a longer product that the program does not multiply with each other."""
    for e in walk(update):
        factors = list(_factors(e))
        if len(factors) > 2 and not any(isinstance(x, Load) and x.reference == target for x in walk(e)):
            yield from (Binary("*", left, right, e.dtype) for left, right in itertools.combinations(factors, 2))


def _commuted(e: Expr) -> Expr:
    """The operands of sums and products in one order, which changes no rounding."""
    def change(x: Expr) -> Expr:
        if isinstance(x, Binary) and x.op in ("+", "*") and repr(x.right) < repr(x.left):
            return Binary(x.op, x.right, x.left, x.dtype)
        return x

    return rebuild(e, change)


def _factors(e: Expr) -> Iterator[Expr]:
    if isinstance(e, Binary) and e.op == "*":
        for part in (e.left, e.right):
            yield from _factors(part) if part.dtype == e.dtype else (part,)
    else:
        yield e


def _plain(e: Expr) -> Expr:
    """Below conversions that keep every value."""
    while isinstance(e, Cast) and widens(e.operand.dtype, e.dtype):
        e = e.operand
    return e


def _without_repeats(made: list[Assignment]) -> tuple[Assignment, ...]:
    """Of assignments that only differ by conversions around an operand, the least hindered, then the smallest."""
    best: dict[tuple[str | None, ...], Assignment] = {}
    for assignment in sorted(made, key=lambda a: (len(a.facts), sum(sum(1 for _ in walk(e)) for _, e in a.operands))):
        best.setdefault(tuple(ideal_text(e, {}) for _, e in assignment.operands), assignment)
    return tuple(best.values())


def _fits(e: Expr, wanted: DType) -> bool:
    """Whether every value of the expression is a value of the operand's type."""
    if widens(e.dtype, wanted) and not (e.dtype.is_integer and wanted.is_float):
        return True
    if e.dtype.is_integer and wanted.is_integer:
        form = Normaliser().form(e)
        low, high = wanted.value_range()
        return form.low is not None and form.high is not None and low <= form.low and form.high <= high
    return False


def _dtype_fact(intrinsic: Intrinsic, operand: str, e: Expr, wanted: DType) -> Fact:
    have = e.dtype
    text = f"operand {operand}: the program has {have}, {intrinsic.name} wants {wanted}"
    if {have.kind, wanted.kind} == {Kind.SIGNED, Kind.UNSIGNED} and have.bits == wanted.bits:
        half = 1 << (wanted.bits - 1)
        sign, back = ("-", "add") if wanted.kind is Kind.SIGNED else ("+", "subtract")
        return Fact("type", text, f"offset the operand: use (x {sign} {half}) and {back} {half} times the sum of the "
                    "other operand to the result")
    if have.is_float and wanted.is_float:
        return Fact("type", text, f"cast the operand to {wanted}, which changes the rounding")
    if (offset := _zero_point(e, wanted)) is not None:
        return Fact("type", text, f"take the zero point out of the product: (x {offset} z) * y = x * y {offset} z * y, "
                    "where the sums of y over the reduction are computed once, outside of the product")
    if have.is_integer and wanted.is_integer:
        return Fact("type", text, f"cast the operand to {wanted} if its values are known to fit")
    return Fact("type", text, f"convert the operand to {wanted} outside the loops")


def _zero_point(e: Expr, wanted: DType) -> str | None:
    """The operator when an operand is a value of its width, minus or plus something else."""
    while isinstance(e, Cast):
        e = e.operand
    if isinstance(e, Binary) and e.op in ("+", "-") and e.dtype.is_integer and wanted.is_integer:
        inner = e.left
        while isinstance(inner, Cast) and inner.dtype.is_integer:
            inner = inner.operand
        if isinstance(inner, Load) and inner.dtype.is_integer and inner.dtype.bits <= wanted.bits:
            return e.op
    return None


def _clamp_facts(intrinsic: Intrinsic, clamp: tuple[int, int] | None, dtype: DType) -> list[Fact]:
    saturates = intrinsic.contraction.finish is not None
    if saturates and clamp is None:
        return [Fact("saturation", f"{intrinsic.name} saturates its result, the program wraps",
                     "clamp the sum to the range of the accumulator in a wider type, if that is meant")]
    if clamp is not None and not saturates:
        return [Fact("saturation", f"the program clamps every sum to {clamp[0]} .. {clamp[1]}, {intrinsic.name} wraps",
                     "use the saturating form of the instruction")]
    if clamp is not None and clamp != intrinsic.contraction.output_dtype.value_range():
        return [Fact("saturation", f"the program clamps to {clamp[0]} .. {clamp[1]}, {intrinsic.name} to the range of "
                     f"{intrinsic.contraction.output_dtype}")]
    return []


def _numeric_facts(intrinsic: Intrinsic, numerics: Numerics) -> list[Fact]:
    if not intrinsic.contraction.output_dtype.is_float:
        return []
    facts = []
    for trait in intrinsic.contraction.traits:
        allowed = (numerics.contract if "fused" in trait else numerics.narrow if "mantissa" in trait
                   else numerics.flush)
        if not allowed:
            facts.append(Fact("numerics", f"{intrinsic.name}: {trait}, which is not allowed here",
                              "allow it with --allow"))
    if not numerics.reassociate and intrinsic.contraction.reductions:
        facts.append(Fact("numerics", f"{intrinsic.name} reorders float additions, which is not allowed here",
                          "allow it with --allow reassociate"))
    return facts


def _without_clamp(update: Expr) -> tuple[Expr, tuple[int, int] | None]:
    """The sum inside `clamp(sum, low, high)`, in every spelling that nests one minimum and one maximum."""
    inner, bounds = update, {}
    for _ in range(4):
        while isinstance(inner, Cast):
            inner = inner.operand
        step = _extremum(inner)
        if step is None:
            break
        kind, value, literal = step
        bounds[kind] = literal
        inner = value
    if set(bounds) == {"min", "max"}:
        return inner, (bounds["max"], bounds["min"])
    return update, None


def _extremum(e: Expr) -> tuple[str, Expr, int] | None:
    """`(min, x, c)` for a choice or call that is the smaller of x and the constant c; the same for max."""
    if isinstance(e, Call) and e.function in ("min", "max") and len(e.arguments) == 2:
        for x, c in (e.arguments, e.arguments[::-1]):
            if (value := _constant(c)) is not None:
                return e.function, x, value
    if not (isinstance(e, Select) and isinstance(e.condition, Binary) and e.condition.op in ("<", "<=", ">", ">=")):
        return None
    left, op, right = e.condition.left, e.condition.op, e.condition.right
    if _constant(left) is not None:
        left, right, op = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
    bound = _constant(right)
    if bound is None:
        return None
    for chosen_below, other in ((e.then, e.otherwise), (e.otherwise, e.then)):
        if _constant(chosen_below) == bound and _same_or_nested(other, left):
            literal_when = (chosen_below is e.then) == (op in ("<", "<="))
            return ("max" if literal_when else "min"), other, bound
    return None


def _same_or_nested(e: Expr, compared: Expr) -> bool:
    """`e` is the compared value, or a further clamp of it (`x > hi ? hi : x < lo ? lo : x`)."""
    while isinstance(e, Cast):
        e = e.operand
    while isinstance(compared, Cast):
        compared = compared.operand
    if e == compared:
        return True
    nested = _extremum(e)
    return nested is not None and _same_or_nested(nested[1], compared)


def _constant(e: Expr) -> int | None:
    if isinstance(e, Cast):
        return _constant(e.operand)
    if isinstance(e, Literal):
        return int(e.value)
    if isinstance(e, Unary) and e.op == "-":
        inner = _constant(e.operand)
        return None if inner is None else -inner
    if isinstance(e, Binary) and e.op in ("+", "-"):
        left, right = _constant(e.left), _constant(e.right)
        return None if left is None or right is None else left + right if e.op == "+" else left - right
    return None
