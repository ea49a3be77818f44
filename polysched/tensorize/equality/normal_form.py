"""A normal form of expressions: polynomials over loads and opaque terms, modulo 2^w for integers.

Integer arithmetic of width w is the ring of integers modulo 2^w, so sums and products are expanded; a conversion to
fewer bits is a ring homomorphism, one to more bits is the identity only where an interval shows that nothing
wrapped.  Everything else (shifts right, bit operations, choices) becomes an opaque term over normal forms; choices
that are minima, maxima and clamps get one spelling.

Floats keep what C computes, but for the order in which they are added and multiplied: whether that was needed is
reported, because it means that a rounding moved.  Nothing is multiplied out and nothing cancels: `x + 0.0f` makes +0 of
-0, `0 - x` is +0 where `-x` is -0, `x - x` is no number where x is none (IEEE 754, 6.3).  The one number that adds
nothing is -0.  Over `numbers`, floats are rationals.

Equal forms mean equal functions; different forms mean nothing (a polynomial may vanish modulo 2^w everywhere).
Source: Shekhar, Kalla, Enescu, "Equivalence verification of polynomial datapaths using ideal membership testing",
IEEE TCAD 26(7), 2007 (polynomial functions modulo 2^m).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import field, replace
from fractions import Fraction

from polysched.errors import BudgetExceededError
from polysched.records import dataclass
from polysched.scop.body import Binary, Call, Cast, Expr, IteratorRef, Literal, Load, ParameterRef, Select, Unary
from polysched.scop.dtypes import DType, Kind, usual_conversion
from polysched.tensorize.equality.float_terms import (
    MANTISSA_BITS,
    POSITIVE_ZERO,
    Monomial,
    Polynomial,
    added,
    is_exact,
    is_number,
    multiplied,
    negative,
)
from polysched.tensorize.limits import LIMITS

NORMAL_FORM_STEPS = LIMITS.normal_form_steps
LONGEST_NAME = LIMITS.longest_name
MAXIMA = {"fmax": "max", "fmaxf": "max", "max": "max", "fmin": "min", "fminf": "min", "min": "min"}


@dataclass(frozen=True)
class Form:
    """A value: its polynomial, its type, its interval when it is an integer that did not wrap."""

    terms: Polynomial
    dtype: DType
    low: int | None = None
    high: int | None = None

    @property
    def exact(self) -> bool:
        """The polynomial over the integers is the value, nothing wrapped."""
        return self.low is not None

    def text(self) -> str:
        """One spelling per polynomial modulo the width of the type."""
        modulus = 0 if self.dtype.is_float else 1 << self.dtype.bits
        reduced = ((m, c % modulus if modulus and c.denominator == 1 else c) for m, c in self.terms)
        parts = [f"{c}*{'*'.join(m)}" if m else str(c) for m, c in reduced if c]
        return "(" + " + ".join(parts) + f"):{self.dtype.name}"


@dataclass
class Normaliser:
    """Computes forms; atoms are named by their text.

    Parameters
    ----------
    ranges : values that a load can have, where the program knows more than the type.
    numbers : every value is a rational number, so that minima of floats, too, are the same in every spelling; what a
        choice, `fmin` or `min` makes of NaN are three different things.
    budget : expressions looked at and terms made of products, together.
    """

    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    numbers: bool = False
    budget: int = NORMAL_FORM_STEPS
    intervals: dict[str, tuple[int, int]] = field(default_factory=dict)
    known: dict[int, tuple[Expr, Form]] = field(default_factory=dict)
    extrema: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    spent: int = 0

    def form(self, e: Expr) -> Form:
        """The normal form of an expression.

        Raises
        ------
        BudgetExceededError : it takes more steps than the budget has.
        """
        found = self.known.get(id(e))   # by identity: equal subexpressions are mostly the same object
        if found is None:
            self._spend(1)
            found = self.known[id(e)] = (e, self._form(e))
        return found[1]

    def _spend(self, steps: int) -> None:
        self.spent += steps
        if self.spent > self.budget:
            raise BudgetExceededError(f"the normal form of the update takes more than {self.budget} steps",
                                      hint="compute parts of it in statements of their own")

    def _form(self, e: Expr) -> Form:
        match e:
            case Literal():
                return self._literal(e)
            case Load():
                return self._atom(e.reference, e.dtype, self.ranges.get(e.reference))
            case IteratorRef() | ParameterRef():
                return self._atom(e.name, e.dtype, self.ranges.get(e.name))
            case Cast():
                return self._converted(self.form(e.operand), e.dtype)
            case Unary() if e.op in ("-", "+"):
                inner = self._converted(self.form(e.operand), e.dtype)
                return inner if e.op == "+" else self._negated(inner, e.dtype)
            case Binary() if e.op in ("+", "-", "*"):
                left, right = (self._converted(self.form(x), e.dtype) for x in (e.left, e.right))
                return self._computed(e.op, left, right, e.dtype)
            case Binary() if e.op == "<<" and isinstance(e.right, Literal):
                left = self._converted(self.form(e.left), e.dtype)
                return self._product(left, _constant(1 << int(e.right.value), e.dtype), e.dtype)
            case Binary() if _changes_nothing(e):
                return self._converted(self.form(e.left), e.dtype)
        return self._opaque(e)

    def _computed(self, op: str, left: Form, right: Form, dtype: DType) -> Form:
        """A sum, a difference or a product."""
        if not self._rounds(dtype):
            return self._product(left, right, dtype) if op == "*" else self._linear(
                left, right, 1 if op == "+" else -1, dtype)
        if op == "*":
            return self._float_product(left, right, dtype)
        return self._float_sum(left, right if op == "+" else self._negated(right, dtype), dtype)

    def _negated(self, inner: Form, dtype: DType) -> Form:
        """Minus a value; of a rational number that is 0 it is none, as its sign can be told from 0's."""
        if self._rounds(dtype):
            return Form(negative(self._as_atom(inner).terms), dtype)
        if dtype.is_float and not any(c for _, c in inner.terms):
            return self._known({("negative zero",): Fraction(1)}, dtype, None)
        return self._linear(_zero(dtype), inner, -1, dtype)

    def _zero(self, dtype: DType) -> Form:
        return Form(POSITIVE_ZERO, dtype) if self._rounds(dtype) else _zero(dtype)

    def _rounds(self, dtype: DType) -> bool:
        """Whether values of a type are what C computes, not rational numbers."""
        return dtype.is_float and not self.numbers

    def _as_atom(self, form: Form) -> Form:
        """A sum of floats as one value."""
        return form if len(form.terms) == 1 else self._atom(f"sum{form.text()}", form.dtype)

    def _float_sum(self, left: Form, right: Form, dtype: DType) -> Form:
        terms = added(left.terms, right.terms)
        if terms is None or (is_number(terms) and not is_exact(terms, dtype)):
            return self._atom(" + ".join(sorted((left.text(), right.text()))), dtype)
        return Form(terms, dtype)

    def _float_product(self, left: Form, right: Form, dtype: DType) -> Form:
        for one, other in ((left, right), (right, left)):
            if is_number(one.terms) and abs(one.terms[0][1]) == 1:
                return other if one.terms[0][1] == 1 else self._negated(other, dtype)
        terms = multiplied(self._as_atom(left).terms, self._as_atom(right).terms)
        if is_number(terms) and not is_exact(terms, dtype):
            return self._atom(" * ".join(sorted((left.text(), right.text()))), dtype)
        return Form(terms, dtype)

    def _is_sum_of_floats(self, form: Form, dtype: DType) -> bool:
        """Whether an integer is the same sum and product of its parts as floats, the sign of a zero included."""
        if not form.dtype.is_integer or not dtype.is_float or form.low is None or form.high is None \
                or max(-form.low, form.high) > 1 << MANTISSA_BITS[dtype.name]:
            return False
        if self.numbers or is_number(form.terms) or (
                len(form.terms) == 1 and len(form.terms[0][0]) == 1 and form.terms[0][1] >= 1):
            return True
        return all(c > 0 and all(self.intervals.get(name, (-1, 0))[0] >= 0 for name in m) for m, c in form.terms)

    def _literal(self, e: Literal) -> Form:
        if not math.isfinite(e.value):   # a number like any other, but no rational one
            name, sign = ("no number", 1) if math.isnan(e.value) else ("positive infinity", 1 if e.value > 0 else -1)
            return self._known({(name,): Fraction(sign)}, e.dtype, None)
        if e.value == 0:
            zero = self._zero(e.dtype)
            return self._negated(zero, e.dtype) if math.copysign(1.0, e.value) < 0 else zero
        value = Fraction(e.value)
        return self._known({(): value}, e.dtype, (int(value), int(value)) if e.dtype.is_integer else None)

    def _opaque(self, e: Expr) -> Form:
        match e:
            case Select():
                return self._choice(e)
            case Call():
                forms = [self._converted(self.form(a), e.dtype) for a in e.arguments]
                if e.function in MAXIMA and len(forms) == 2 and self._ordered(*forms):
                    return self._extremum(MAXIMA[e.function], forms, e.dtype)
                return self._atom(f"{e.function}({', '.join(self.form(a).text() for a in e.arguments)})", e.dtype)
            case Unary():
                inner = self.form(e.operand)
                inner = self._converted(inner, e.dtype) if e.op == "~" else inner   # ~ of a byte may be one of an int
                return self._atom(f"{e.op}{inner.text()}", e.dtype)
            case Binary():
                left, right = self.form(e.left), self.form(e.right)
                texts = [f.text() for f in self._as_computed(e, left, right)]
                if e.op in ("&", "|", "^", "==", "!=", "&&", "||"):
                    texts.sort()
                op = e.op
                if op in (">", ">="):
                    op, texts = {">": "<", ">=": "<="}[op], texts[::-1]
                known = self._interval(e, left)
                return self._atom(f"({texts[0]} {op} {texts[1]})", e.dtype, known)
        raise TypeError(f"no expression: {e}")

    def _as_computed(self, e: Binary, left: Form, right: Form) -> tuple[Form, Form]:
        """Both sides in the type in which C computes, which an explicit conversion to it does not change."""
        if e.op in ("&&", "||"):
            return left, right
        if e.op in ("<<", ">>"):
            return self._converted(left, e.dtype), right
        common = usual_conversion(e.left.dtype, e.right.dtype)
        return self._converted(left, common), self._converted(right, common)

    def _interval(self, e: Binary, left: Form) -> tuple[int, int] | None:
        """The values of a shift, quotient or remainder by a constant, and of a comparison."""
        if e.op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||"):
            return 0, 1
        if e.op == "&":
            masks = [int(x.value) for x in (e.left, e.right) if isinstance(x, Literal) and int(x.value) >= 0]
            return (0, min(masks)) if masks else None
        if not e.dtype.is_integer or not isinstance(e.right, Literal):
            return None
        number = int(e.right.value)
        if e.op == ">>" and left.low is not None and left.high is not None:
            return left.low >> number, left.high >> number
        if e.op not in ("/", "%") or number <= 0:
            return None
        value = self._converted(left, e.dtype)
        low, high = e.dtype.value_range() if value.low is None or value.high is None else (value.low, value.high)
        if e.op == "/":   # towards zero
            return int(Fraction(low, number)), int(Fraction(high, number))
        return max(-number + 1, min(low, 0)), min(number - 1, max(high, 0))

    def _choice(self, e: Select) -> Form:
        """Minima and maxima in every spelling of the comparison get one name, and so do tests for zero."""
        e = _by_truth(e)
        condition = e.condition
        if isinstance(condition, Binary) and condition.op in ("<", "<=", ">", ">="):
            found = self._chosen_extremum(condition, e)
            if found is not None:
                return found
            if condition.op in ("<=", ">=") and condition.left.dtype.is_integer and condition.right.dtype.is_integer:
                opposite = replace(condition, op="<" if condition.op == ">=" else ">")
                return self._choice(Select(opposite, e.otherwise, e.then, e.dtype))   # of floats neither may hold
        sides = [self.form(x) for x in (e.then, e.otherwise)]
        if e.dtype.is_float:
            sides = [self._converted(f, e.dtype) for f in sides]
        texts = [f.text() for f in (self.form(condition), *sides)]
        return self._atom(f"({texts[0]} ? {texts[1]} : {texts[2]})", e.dtype)

    def _chosen_extremum(self, condition: Binary, e: Select) -> Form | None:
        """A choice by a comparison as the least or greatest of both sides; None where it is none."""
        common = usual_conversion(condition.left.dtype, condition.right.dtype)
        left, right = (self._converted(self.form(x), common) for x in (condition.left, condition.right))
        then, other = self.form(e.then), self.form(e.otherwise)
        forms = [self._converted(f, e.dtype) for f in (then, other)]   # the order in another type is another one
        if {left.terms, right.terms} == {then.terms, other.terms} and self._ordered(left, right) and all(
                f.exact or f.dtype.is_float for f in (left, right, then, other, *forms)):
            smaller = (then.terms == left.terms) == (condition.op in ("<", "<="))
            return self._extremum("min" if smaller else "max", forms, e.dtype)
        return None

    def _ordered(self, *forms: Form) -> bool:
        return self.numbers or all(f.dtype.is_integer for f in forms)

    def _extremum(self, kind: str, forms: list[Form], dtype: DType) -> Form:
        """The least or greatest of some values; of such values in turn all together, since order is not told."""
        choose = min if kind == "min" else max
        known = None
        if all(f.low is not None and f.high is not None for f in forms):
            lows, highs = [f.low or 0 for f in forms], [f.high or 0 for f in forms]
            known = choose(lows), choose(highs)
            for index, form in enumerate(forms):   # one side never matters
                other = 1 - index
                if (kind == "min" and highs[index] <= lows[other]) or (kind == "max" and lows[index] >= highs[other]):
                    return form
        texts = sorted({text for f in forms for text in self.extrema.get((kind, f.text()), (f.text(),))})
        found = self._atom(f"{kind}({', '.join(texts)})", dtype, known)
        self.extrema[kind, found.text()] = tuple(texts)
        return found

    def _atom(self, name: str, dtype: DType, known: tuple[int, int] | None = None) -> Form:
        if len(name) > LONGEST_NAME:   # else names of what shares parts would grow with every operation
            name = f"#{hashlib.blake2b(name.encode(), digest_size=32).hexdigest()}"
        if dtype.is_integer and known is None:
            known = self.intervals.get(name) or dtype.value_range()
        if known is not None:
            self.intervals[name] = known
        return self._known({(name,): Fraction(1)}, dtype, known)

    def _known(self, terms: dict[Monomial, Fraction], dtype: DType, known: tuple[int, int] | None) -> Form:
        kept = tuple(sorted((m, c) for m, c in terms.items() if c))
        if not dtype.is_integer or known is None:
            return Form(kept, dtype)
        low, high = dtype.value_range()
        inside = low <= known[0] and known[1] <= high
        return Form(kept, dtype, *(known if inside else (None, None)))

    def _converted(self, form: Form, dtype: DType) -> Form:
        if form.dtype == dtype:
            return form
        if not form.terms:   # zero in every type
            return self._zero(dtype)
        if dtype.kind is Kind.BOOL:   # whether it is zero, no residue
            return self._atom(f"({form.text()} is not zero)", dtype)
        if form.dtype.is_integer and dtype.is_integer:
            if form.low is not None and form.high is not None:
                return self._known(dict(form.terms), dtype, (form.low, form.high))
            if dtype.bits <= form.dtype.bits:
                return Form(form.terms, dtype)
            return self._atom(f"widened{form.text()}", dtype, form.dtype.value_range())
        if form.dtype.is_float and dtype.is_float and widens(form.dtype, dtype) and _is_unrounded(form):
            return Form(form.terms, dtype)
        if self._is_sum_of_floats(form, dtype):
            return Form(form.terms, dtype)
        return self._atom(_conversion(form, dtype), dtype)

    def _linear(self, left: Form, right: Form, sign: int, dtype: DType) -> Form:
        terms = dict(left.terms)
        for monomial, coefficient in right.terms:
            terms[monomial] = terms.get(monomial, Fraction(0)) + sign * coefficient
        known = None
        if left.low is not None and left.high is not None and right.low is not None and right.high is not None:
            ends = (right.low, right.high) if sign > 0 else (-right.high, -right.low)
            known = left.low + ends[0], left.high + ends[1]
        return self._known(terms, dtype, known)

    def _product(self, left: Form, right: Form, dtype: DType) -> Form:
        terms: dict[Monomial, Fraction] = {}
        self._spend(len(left.terms) * len(right.terms))
        for m, c in left.terms:
            for n, d in right.terms:
                key = tuple(sorted(m + n))
                terms[key] = terms.get(key, Fraction(0)) + c * d
        known = None
        if left.low is not None and left.high is not None and right.low is not None and right.high is not None:
            ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            known = min(ends), max(ends)
        return self._known(terms, dtype, known)


def _by_truth(e: Select) -> Select:
    """A choice by a test for zero as one by the number: `x != 0 ? a : b` and `!x ? b : a` are `x ? a : b`."""
    then, otherwise = e.then, e.otherwise
    match e.condition:
        case Unary(op="!"):
            inner, then, otherwise = e.condition.operand, otherwise, then
        case Binary(op="!=") if (found := _other_than_zero(e.condition)) is not None:
            inner = found
        case Binary(op="==") if (found := _other_than_zero(e.condition)) is not None:
            inner, then, otherwise = found, otherwise, then
        case _:
            return e
    return _by_truth(Select(inner, then, otherwise, e.dtype))


def _other_than_zero(e: Binary) -> Expr | None:
    """What a comparison compares with zero; None for others."""
    sides = [s.operand if isinstance(s, Cast) and isinstance(s.operand, Literal) else s for s in (e.left, e.right)]
    zero = [isinstance(s, Literal) and s.value == 0 for s in sides]
    return e.right if zero[0] else e.left if zero[1] else None


def _conversion(form: Form, dtype: DType) -> str:
    """The name of a value that may be rounded: it differs between float types, and may stand in a wider one then."""
    return f"converted{form.text()}" + ("" if dtype.is_integer else f" to {dtype.name}")


def _is_unrounded(form: Form) -> bool:
    """A float that is the polynomial: a value or its negative, a constant of its type; what is computed is rounded."""
    if len(form.terms) != 1:
        return not form.terms
    (monomial, factor), = form.terms
    return (len(monomial) == 1 and abs(factor) == 1) or (
        not monomial and abs(factor.numerator).bit_length() <= MANTISSA_BITS[form.dtype.name])


def _changes_nothing(e: Binary) -> bool:
    """`x >> 0`, `x | 0`, `x ^ 0` and `x / 1` are x, in the type of the result."""
    number = {">>": 0, "|": 0, "^": 0, "/": 1}.get(e.op)
    return number is not None and isinstance(e.right, Literal) and e.right.value == number


def widens(narrow: DType, wide: DType) -> bool:
    """Whether every value of `narrow` is a value of `wide`."""
    if narrow == wide:
        return True
    if narrow.is_float and wide.is_float:
        return wide.name != "float16" and narrow.bits < wide.bits
    if narrow.is_integer and wide.is_integer:
        (a, b), (c, d) = narrow.value_range(), wide.value_range()
        return c <= a and b <= d
    return narrow.is_integer and narrow.kind is not Kind.FLOAT and narrow.bits <= MANTISSA_BITS.get(wide.name, 0)


def _zero(dtype: DType) -> Form:
    return _constant(0, dtype)


def _constant(value: int, dtype: DType) -> Form:
    terms: Polynomial = (((), Fraction(value)),) if value else ()
    return Form(terms, dtype, value, value) if dtype.is_integer else Form(terms, dtype)
