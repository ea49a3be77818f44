"""Conditions on iterators and sizes as sets of instances, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import islpy as isl

from polysched.scop.body import Binary, Cast, Expr, IteratorRef, Literal, ParameterRef, Unary, walk
from polysched.scop.dtypes import INT32, INT64, usual_conversion
from polysched.scop.points import isl_value
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.limits import LIMITS

MOST_ALTERNATIVES = LIMITS.most_alternatives
_COMPARED = {"<": "lt_set", "<=": "le_set", ">": "gt_set", ">=": "ge_set", "==": "eq_set", "!=": "ne_set"}


def instances_where(scop: Scop, statement: Statement, condition: Expr) -> isl.Set | None:
    """The instances of a statement for which a condition holds; None where it is not affine or looks at data.

    Signed arithmetic does not wrap, since C leaves that undefined; in unsigned types only names and numbers are
    compared, and what is signed only where no instance makes it negative.
    """
    domain = statement.domain.align_params(scop.context.get_space())
    found = _holds(domain.intersect_params(scop.context), condition)
    return None if found is None else found.intersect(domain)


def _holds(domain: isl.Set, e: Expr) -> isl.Set | None:
    match e:
        case Binary(op="&&" | "||"):
            left, right = _holds(domain, e.left), _holds(domain, e.right)
            if left is None or right is None:
                return None
            return left.intersect(right) if e.op == "&&" else left.union(right)
        case Unary(op="!"):
            inner = _holds(domain, e.operand)
            return None if inner is None else inner.complement()
        case Cast() if e.dtype.is_integer and e.dtype.bits >= INT32.bits and _is_truth(e.operand):
            return _holds(domain, e.operand)
        case Binary() if e.op in _COMPARED:
            first, second = _affine(domain, e.left), _affine(domain, e.right)
            if first is None or second is None or not _keep_sign(domain, e, first, second):
                return None
            return _set(first, second, e.op)
    return None


def _keep_sign(domain: isl.Set, e: Binary, first: isl.Aff, second: isl.Aff) -> bool:
    """Whether both sides are compared as the numbers that they are: a negative one is a large unsigned one."""
    if usual_conversion(e.left.dtype, e.right.dtype).is_signed:
        return True
    return all(not side.dtype.is_signed or domain.is_subset(isl.PwAff.from_aff(value).nonneg_set())
               for side, value in ((e.left, first), (e.right, second)))


def _is_truth(e: Expr) -> bool:
    return isinstance(e, Binary) and (e.op in _COMPARED or e.op in ("&&", "||"))


def _set(left: isl.Aff, right: isl.Aff, op: str) -> isl.Set:
    first, second = isl.PwAff.from_aff(left), isl.PwAff.from_aff(right)
    made: isl.Set = getattr(first, _COMPARED[op])(second)
    return made


def _affine(domain: isl.Set, e: Expr) -> isl.Aff | None:
    """A side of a comparison; None where it is not affine."""
    if not e.dtype.is_integer or (not e.dtype.is_signed and any(isinstance(x, Binary | Unary) for x in walk(e))):
        return None
    return affine(domain, e)


def affine(domain: isl.Set, e: Expr) -> isl.Aff | None:
    """An expression over the iterators and parameters of a domain, as if nothing wrapped; None where it is none."""
    terms = _terms(e)
    if terms is None:
        return None
    space = isl.LocalSpace.from_space(domain.get_space())
    total = isl.Aff.zero_on_domain(space)
    for name, factor in terms.items():
        if not name:
            total = total.add_constant_val(isl_value(factor))
            continue
        kind = isl.dim_type.set
        at = domain.find_dim_by_name(kind, name)
        if at < 0:
            kind = isl.dim_type.param
            at = domain.find_dim_by_name(kind, name)
        if at < 0:
            return None
        total = total.add(isl.Aff.var_on_domain(space, kind, at).scale_val(isl_value(factor)))
    return total


def _terms(e: Expr) -> Mapping[str, int] | None:
    """Factors by name of an iterator or parameter, the constant under the empty name."""
    match e:
        case Literal() if isinstance(e.value, int):
            return {"": e.value}
        case IteratorRef() | ParameterRef():
            return {e.name: 1}
        case Cast():
            return _terms(e.operand) if _keeps_value(e) else None
        case Unary(op="-"):
            inner = _terms(e.operand)
            return None if inner is None else {n: -c for n, c in inner.items()}
        case Binary(op="+" | "-" | "*"):
            left, right = _terms(e.left), _terms(e.right)
            return None if left is None or right is None else _combined(e.op, left, right)
    return None


def _keeps_value(e: Cast) -> bool:
    """Whether a conversion between integers keeps every value; that of a number to an unsigned type keeps this one."""
    inner = e.operand
    if not inner.dtype.is_integer or inner.dtype.bits > e.dtype.bits:
        return False
    if isinstance(inner, Literal):
        return e.dtype.is_signed or not (isinstance(inner.value, int) and inner.value < 0)
    return e.dtype.is_signed == inner.dtype.is_signed


def _combined(op: str, left: Mapping[str, int], right: Mapping[str, int]) -> Mapping[str, int] | None:
    """The terms of a sum, a difference or a product; None for products of which neither side is a number."""
    if op == "*":
        for factor, rest in ((left, right), (right, left)):
            if set(factor) == {""}:
                return {n: c * factor[""] for n, c in rest.items()}
        return None
    sign = 1 if op == "+" else -1
    return {n: left.get(n, 0) + sign * right.get(n, 0) for n in {*left, *right}}


def condition_of(scop: Scop, statement: Statement, where: isl.Set) -> Expr | None:
    """A condition that holds for these instances of a statement and for no others; None where it has no short words."""
    parts = where.gist(statement.domain.intersect_params(scop.context)).coalesce().remove_redundancies()
    if parts.is_empty() or parts.n_basic_set() > MOST_ALTERNATIVES:
        return None
    ways: list[Expr] = []
    for part in parts.get_basic_sets():
        tests = [_test(scop, statement, c) for c in part.get_constraints()]
        known = [t for t in tests if t is not None]
        if not known or len(known) < len(tests):
            return None
        ways.append(reduce(lambda a, b: Binary("&&", a, b, INT32), known))
    return reduce(lambda a, b: Binary("||", a, b, INT32), ways)


def _test(scop: Scop, statement: Statement, constraint: isl.Constraint) -> Expr | None:
    """A constraint on the iterators of a statement as a comparison."""
    value = sum_of(scop, constraint.get_aff(), statement)
    op = "==" if constraint.is_equality() else ">="
    return None if value is None else Binary(op, value, Literal("0", 0, INT64), INT32)


def sum_of(scop: Scop, aff: isl.Aff, statement: Statement) -> Expr | None:
    """An affine function of the iterators of a statement and of the sizes as an expression; None where it divides."""
    if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
        return None
    constant = int(aff.get_constant_val().get_num_si())
    types = {p.name: p.dtype for p in scop.parameters}
    terms: list[tuple[int, Expr]] = [
        (int(aff.get_coefficient_val(isl.dim_type.in_, at).get_num_si()), IteratorRef(name, INT64))
        for at, name in enumerate(statement.iterators)]
    for at in range(aff.dim(isl.dim_type.param)):
        name = str(aff.get_dim_name(isl.dim_type.param, at))
        factor = int(aff.get_coefficient_val(isl.dim_type.param, at).get_num_si())
        if name in types:
            terms.append((factor, Cast(ParameterRef(name, types[name]), INT64)))
        elif factor:
            return None
    total: Expr | None = None
    for factor, e in terms:
        if factor:
            scaled = e if factor == 1 else Binary("*", Literal(str(factor), factor, INT64), e, INT64)
            total = scaled if total is None else Binary("+", total, scaled, INT64)
    if total is None:
        return Literal(str(constant), constant, INT64)
    return Binary("+", total, Literal(str(constant), constant, INT64), INT64) if constant else total
