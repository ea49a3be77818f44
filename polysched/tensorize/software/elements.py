"""Which element an access reaches, as sums of iterators, and whether elements lie at known distances in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import islpy as isl

from polysched.scop.body import Binary, Cast, Expr, IteratorRef, Literal, ParameterRef, Unary
from polysched.scop.dtypes import INT64
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Access, Array
from polysched.tensorize.software.sizes import is_general

_DENSE = re.compile(r"[^{]*(\[\{\}\])*")


def subscripts_per_dimension(access: Access, domain: isl.Set, sizes: Mapping[str, int]) -> tuple[Expr, ...] | None:
    """One subscript per dimension of the array: as written where these are as many, else as the relation has them.

    Linearised subscripts are fewer: `A[i * n + j]` of an array that is seen as rows of n elements is `A[i][j]`.

    Parameters
    ----------
    domain : of the statement at these sizes, named iterators.

    Returns
    -------
    None where the relation does not reach one element whose every subscript is affine.
    """
    if len(access.subscripts) == access.relation.dim(isl.dim_type.out):
        return access.subscripts
    names = [domain.get_dim_name(isl.dim_type.set, at) or "" for at in range(domain.dim(isl.dim_type.set))]
    return subscripts_of(fix_parameters(access.relation, sizes).intersect_domain(domain), names)


def subscripts_of(relation: isl.Map, iterators: Sequence[str]) -> tuple[Expr, ...] | None:
    """The element that an iteration reaches, as sums of iterators and parameters; None where it has no such form."""
    if not relation.is_single_valued():
        return None
    reached = isl.PwMultiAff.from_map(relation).coalesce().gist(relation.domain())
    if not reached.isa_multi_aff():
        return None
    elements = reached.as_multi_aff()
    affs = [elements.get_aff(at) for at in range(relation.dim(isl.dim_type.out))]
    if any(a.dim(isl.dim_type.div) or not a.get_denominator_val().is_one() for a in affs):
        return None
    return tuple([_sum_of(a, iterators) for a in affs])


def scattered(array: Array, accesses: Iterable[Access]) -> str | None:
    """Why elements do not lie one behind the other, row by row; None where they do.

    Parameters
    ----------
    accesses : of the array; subscripts that are zero in all of them (`p->q[i]` is `p[0].q[i]`) lead to a place that the
        address of the first element tells.
    """
    element = array.c_element or array.name + "[{}]" * len(array.extents)
    known = [extent is not None for extent in array.extents]   # isl's `==` refuses None
    if all(known[1:]) and _DENSE.fullmatch(element):
        return None
    zeros, words = leading_zeros(array, accesses), element.replace("{}", "")
    if not all(known[zeros + 1:]):
        return f"the rows of {words} lie where pointers in memory say"
    if not _DENSE.fullmatch(element.split("{}", zeros)[-1].removeprefix("]") if zeros else element):
        return f"the elements of {words} lie inside structures, with other members between them"
    return None


def leading_zeros(array: Array, accesses: Iterable[Access]) -> int:
    """How many outermost subscripts of an array are zero in all accesses."""
    relations = [a.relation for a in accesses if a.array == array.name]
    for at in range(len(array.extents)):
        if any(not r.plain_get_val_if_fixed(isl.dim_type.out, at).is_zero() for r in relations):
            return at
    return len(array.extents)


def _sum_of(aff: isl.Aff, iterators: Sequence[str]) -> Expr:
    total: Expr = _number(int(aff.get_constant_val().get_num_si()))
    terms: list[tuple[Expr, int]] = []
    for at, name in enumerate(iterators):
        terms.append((IteratorRef(name, INT64), int(aff.get_coefficient_val(isl.dim_type.in_, at).get_num_si())))
    for at in range(aff.dim(isl.dim_type.param)):
        name = aff.get_dim_name(isl.dim_type.param, at) or ""
        terms.append((ParameterRef(name, INT64), int(aff.get_coefficient_val(isl.dim_type.param, at).get_num_si())))
    for term, factor in terms:
        if factor:
            total = Binary("+", total, Binary("*", term, _number(factor), INT64), INT64)
    return total


def _number(value: int) -> Literal:
    return Literal(str(value), value, INT64)


def linear_form(e: Expr, sizes: Mapping[str, int]) -> dict[str, int] | None:
    """Coefficients by iterator, the constant under the empty name; None when the expression is not affine."""
    match e:
        case Literal():
            return {"": int(e.value)}
        case IteratorRef():
            return {e.name: 1}
        case ParameterRef() if e.name in sizes:
            return {"": sizes[e.name]}
        case Cast():
            return linear_form(e.operand, sizes)
        case Unary() if e.op == "-":
            inner = linear_form(e.operand, sizes)
            return None if inner is None else {n: -c for n, c in inner.items()}
        case Binary():
            left, right = linear_form(e.left, sizes), linear_form(e.right, sizes)
            return None if left is None or right is None else _combined(e.op, left, right)
    return None


def _combined(op: str, left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int] | None:
    """The form of an operation on two forms."""
    if op == "*":
        if set(left) - {""} and set(right) - {""}:
            return None
        factor, rest = (right.get("", 0), left) if set(left) - {""} else (left.get("", 0), right)
        return {n: c * factor for n, c in rest.items()}
    if op in ("+", "-"):
        sign = 1 if op == "+" else -1
        return {n: left.get(n, 0) + sign * right.get(n, 0) for n in {*left, *right}}
    return _divided(left, right, rest=op == "%") if op in ("/", "%") else None


def _divided(left: Mapping[str, int], right: Mapping[str, int], *, rest: bool) -> dict[str, int] | None:
    """A number divided by a positive one, as C does, or what is left of it; None for what moves with an iterator."""
    if set(left) | set(right) != {""} or is_general(right[""]) or right[""] <= 0:
        return None
    value, by = left[""], right[""]
    if value < 0:
        return None if is_general(value) else {"": -(-value % by if rest else -value // by)}
    return {"": value % by if rest else value // by}
