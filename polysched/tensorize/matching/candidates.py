"""Expressions of a program that may be operands of an instruction, the likeliest first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from polysched.scop.body import Binary, Expr, IteratorRef, Literal, Load, Unary, walk
from polysched.scop.dtypes import INT32, DType, usual_conversion
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.proofs.ideal import ideal_form
from polysched.tensorize.software.clamps import plain

MAX_CANDIDATES = LIMITS.most_candidates


def candidate_operands(update: Expr, target: str) -> list[Expr]:
    """Subexpressions that the old value is not part of, small ones first, without value-preserving conversions."""
    found: dict[Expr, None] = {}
    for e in walk(update):
        inner = plain(e)
        if any(isinstance(x, Load) and x.reference == target for x in walk(inner)):
            continue
        if any(isinstance(x, Load | IteratorRef) for x in walk(inner)):
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


def _scaled(update: Expr, target: str, candidates: list[Expr]) -> list[Expr]:
    """Candidates times the constant factor of the one product that the update adds: `-a` for `c -= a * b`."""
    form = ideal_form(update, {})
    products = [c for m, c in form.terms if target not in m] if form is not None else []
    if len(products) != 1 or products[0] == 1 or products[0].denominator != 1:
        return []
    factor, found = int(products[0]), []
    for e in candidates:
        if e.dtype.is_integer:
            wide = usual_conversion(INT32, e.dtype)
            scaled: Expr = Unary("-", e, wide) if factor == -1 else Binary("*", Literal(str(factor), factor, INT32), e,
                                                                           wide)
            found.append(scaled)
        elif factor == -1:   # exact; another factor of a float would be rounded where the program does not
            found.append(Unary("-", e, e.dtype))
    return found


def pools(intrinsic: Intrinsic, update: Expr, target: str,
           candidates: list[Expr]) -> Iterator[list[list[Expr]]]:
    """What every input may hold, the likeliest first; the next are tried where nothing fits.

    Of a library function memory holds matrices, and numbers are whatever the program computes.
    """
    contraction = intrinsic.contraction
    one: Expr = Literal("1", 1, contraction.input_dtypes[0])
    count = len(contraction.inputs)
    if not intrinsic.library:
        alone = [*candidates, *_scaled(update, target, candidates)]
        yield [alone] * count
        yield [[*alone, one]] * count
        return
    by_value = [intrinsic.operand(e.array).mode is LoadMode.VALUE for e in contraction.inputs]
    loads: list[Expr] = [e for e in candidates if isinstance(e, Load)]
    factor = _constant_factor(update, target, contraction.output_dtype)
    numbers = [*factor, one]
    yield [numbers if n else loads for n in by_value]
    scaled = [*_scaled(update, target, candidates), *(Binary("*", f, e, f.dtype) for f in factor for e in candidates)]
    yield [[*candidates, *scaled] if n else loads for n in by_value]
    yield [numbers if n else candidates for n in by_value]
    yield [[*candidates, one]] * count


def _constant_factor(update: Expr, target: str, dtype: DType) -> list[Expr]:
    """The constant that the one product of the update is multiplied by, where it is a number of this type."""
    form = ideal_form(update, {})
    products = [c for m, c in form.terms if target not in m] if form is not None else []
    if len(products) != 1 or products[0] == 1 or not dtype.is_float or Fraction(float(products[0])) != products[0]:
        return []
    return [Literal(repr(float(products[0])), float(products[0]), dtype)]


def _factors(e: Expr) -> Iterator[Expr]:
    if isinstance(e, Binary) and e.op == "*":
        for part in (e.left, e.right):
            yield from _factors(part) if part.dtype == e.dtype else (part,)
    else:
        yield e
