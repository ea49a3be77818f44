"""Whether an array of a function can lie in one of the program: the same distances between corresponding elements.

    x[i * incx]  against  A[i][j], j a loop around, rows of n elements:  incx = n, x = &A[0][j]

The address of an element is a sum of strides times subscripts.  Strides are polynomials in the parameters, so addresses
are compared monomial by monomial; what is left is the base, and isl proves that it does not depend on the instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import islpy as isl

from polysched.records import dataclass
from polysched.scop.scop import Array
from polysched.tensorize.functions.state import PREFIX, Operand, State
from polysched.tensorize.software.polynomials import (
    ONE,
    Monomial,
    Polynomial,
    add,
    divided,
    multiply,
    of_affine,
)

Address = Mapping[Monomial, isl.PwAff]   # a sum of monomials times functions of the instance


def same_place(state: State, theirs: Array, element: isl.Map, ours: Array, other: isl.Map, *,
               packs: bool = False) -> State | None:
    """The state in which corresponding instances access the same memory; None where they cannot.

    Parameters
    ----------
    theirs, ours : arrays of the function and of the program.
    element, other : `{ [instance] -> [element] }` of each, of the same instances of the program.
    packs : the function's array is a copy, so that its elements may lie at any constant distances in the program's.
    """
    known = state.operands.get(theirs.name)
    if theirs.dtype != ours.dtype or (known is not None and known.array != ours.name):
        return None
    mine, wanted = strides(ours, ""), free_strides(theirs) if packs else strides(theirs, PREFIX)
    if mine is None or wanted is None:
        return None
    reached, subscripts = _functions(other), _functions(state.in_program(element))
    if reached is None or subscripts is None:
        return None
    place = _Place(mine=mine, reached=reached, domain=other.domain(), base=None if known is None else known.base)
    after = _with_strides(state, wanted, subscripts, place)
    base = None if after is None else _base_of(after, wanted, subscripts, place)
    if after is None or base is None:
        return None
    operand = Operand(array=ours.name, base=base)
    return replace(after, operands={**after.operands, theirs.name: operand})


def _base_of(state: State, wanted: list[Polynomial], subscripts: list[isl.PwAff],
             place: _Place) -> Mapping[Monomial, isl.Map] | None:
    """The element that the function's first one is; None where accesses differ about it."""
    values = [state.known(s) for s in wanted]
    terms = [*place.terms(), *((s, f, -1) for s, f in zip(values, subscripts, strict=True)
                               if s is not None and not _is_zero(f))]
    base = _base(_address(terms), place.domain)
    return base if base is None or place.base is None else _agreeing(place.base, base)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Place:
    """Elements of the program's array.

    Parameters
    ----------
    mine, reached : strides and subscripts.
    domain : the instances that access them.
    base : the element that the function's first one is, where an earlier access decided it.
    """

    mine: list[Polynomial]
    reached: list[isl.PwAff]
    domain: isl.Set
    base: Mapping[Monomial, isl.Map] | None

    def terms(self) -> list[tuple[Polynomial, isl.PwAff, int]]:
        """The address of an element."""
        return [(s, f, 1) for s, f in zip(self.mine, self.reached, strict=True)]


def strides(array: Array, prefix: str) -> list[Polynomial] | None:
    """Elements between neighbours per dimension; None where an extent is no affine function of the parameters."""
    found: list[Polynomial] = []
    product: Polynomial = ONE
    for at in reversed(range(len(array.extents))):
        found.append(product)
        extent = array.extents[at]
        if at:
            value = of_affine(extent) if extent is not None else None
            if value is None:
                return None
            product = multiply(product, {tuple(prefix + n for n in m): c for m, c in value.items()})
    return found[::-1]


def step_name(array: str, at: int) -> str:
    """The name of the distance of neighbours in one dimension of an array that is copied."""
    return f"{array}_step{at}"


def free_strides(array: Array) -> list[Polynomial]:
    """One unknown per dimension."""
    return [{(f"{PREFIX}{step_name(array.name, at)}",): 1} for at in range(len(array.extents))]


def _functions(relation: isl.Map) -> list[isl.PwAff] | None:
    """Every subscript as a function of the instance; None for a relation that is none."""
    if not relation.is_single_valued():
        return None
    function = relation.as_pw_multi_aff()
    return [function.get_pw_aff(at) for at in range(relation.dim(isl.dim_type.out))]


def _is_zero(function: isl.PwAff) -> bool:
    return bool(function.non_zero_set().is_empty())


def _with_strides(state: State, wanted: Iterable[Polynomial], subscripts: list[isl.PwAff],
                  place: _Place) -> State | None:
    """The state with the steps and leading dimensions that this access decides; None where it cannot decide one."""
    wanted = list(wanted)
    for at, (stride, function) in enumerate(zip(wanted, subscripts, strict=True)):
        if state.known(stride) is not None or _is_zero(function):
            continue
        unknown = [m for m in stride if state.known({m: 1}) is None]
        rest = state.known({m: c for m, c in stride.items() if m not in unknown})
        if len(unknown) != 1 or len(unknown[0]) != 1 or rest is None:
            return None
        value = _coefficient(state, wanted, subscripts, at, place.mine, place.reached)
        if value is None:
            value = _from_base(state, wanted, subscripts, at, place)
        value = None if value is None else divided(add(value, rest, -1), stride[unknown[0]])
        if value is None:
            return None
        state = state.with_value(unknown[0][0].removeprefix(PREFIX), value)
    return state


def _coefficient(state: State, wanted: list[Polynomial], subscripts: list[isl.PwAff], at: int, mine: list[Polynomial],
                 reached: list[isl.PwAff]) -> Polynomial | None:
    """The stride of one dimension of the function, from an iterator that only its subscript knows."""
    forms = [of_affine(f) for f in subscripts]
    ours = [of_affine(f) for f in reached]
    form = forms[at]
    if form is None or None in forms or None in ours:
        return None
    for name in (m for m in form if m and m[0].startswith("#")):
        total: Polynomial = {}
        for stride, function in zip(mine, ours, strict=True):
            assert function is not None
            total = add(total, stride, function.get(name, 0))
        for other, (stride, function) in enumerate(zip(wanted, forms, strict=True)):
            assert function is not None
            value = state.known(stride)
            if other != at and function.get(name, 0):
                if value is None:
                    break
                total = add(total, value, -function[name])
        else:
            return divided(total, form[name])
    return None


def _from_base(state: State, wanted: list[Polynomial], subscripts: list[isl.PwAff], at: int,
               place: _Place) -> Polynomial | None:
    """The stride of a dimension whose subscript is a number, where the first element's place is known.

    A sum of two products has one instance that adds to another; its subscripts tell no stride but by that of the first.
    """
    form, base = of_affine(subscripts[at]), place.base
    if form is None or form.keys() != {()} or base is None:
        return None
    moved = [(state.known(s), f) for n, (s, f) in enumerate(zip(wanted, subscripts, strict=True))
             if n != at and not _is_zero(f)]
    known = [(s, f, -1) for s, f in moved if s is not None]
    distance = _base(_address([*place.terms(), *known]), place.domain) if len(known) == len(moved) else None
    value = None if distance is None else _constants(distance, base)
    return None if value is None else divided(value, form[()])


def _constants(first: Mapping[Monomial, isl.Map], second: Mapping[Monomial, isl.Map]) -> Polynomial | None:
    """The difference of two addresses where it is the same in all iterations of loops around."""
    value: Polynomial = {}
    for monomial in {*first, *second}:
        number = _constant(first.get(monomial), second.get(monomial))
        if number is None:
            return None
        value = add(value, {monomial: number})
    return value


def _constant(first: isl.Map | None, second: isl.Map | None) -> int | None:
    """The difference of two numbers `{ [] -> [number] }` where it is the same in all iterations of loops around."""
    given = [m if m is not None else isl.Map.read_from_str(isl.DEFAULT_CONTEXT, "{ [] -> [0] }")
             for m in (first, second)]
    left, right = (m.as_pw_multi_aff().get_pw_aff(0) for m in given)
    form = of_affine(left.sub(right))
    return None if form is None or form.keys() - {()} else form.get((), 0)


def _address(terms: Iterable[tuple[Polynomial, isl.PwAff, int]]) -> Address:
    found: dict[Monomial, isl.PwAff] = {}
    for stride, function, sign in terms:
        for monomial, coefficient in stride.items():
            scaled = function.scale_val(isl.Val(sign * coefficient))
            found[monomial] = found[monomial].add(scaled) if monomial in found else scaled
    return found


def _base(difference: Address, domain: isl.Set) -> Mapping[Monomial, isl.Map] | None:
    """The difference of two addresses where it is the same for all instances."""
    base = {}
    for monomial, function in difference.items():
        values = isl.Map.from_range(isl.Map.from_pw_aff(function).intersect_domain(domain).range())
        if not values.is_single_valued():
            return None
        base[monomial] = values
    return base


def _agreeing(known: Mapping[Monomial, isl.Map], new: Mapping[Monomial, isl.Map]) -> Mapping[Monomial, isl.Map] | None:
    """Both bases as one; None where they differ."""
    merged = dict(known)
    zero = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, "{ [] -> [0] }")
    for monomial in {*known, *new}:
        left, right = known.get(monomial), new.get(monomial)
        total = (left if left is not None else zero).union(right if right is not None else zero)
        if not total.is_single_valued():
            return None
        merged[monomial] = total.coalesce()
    return merged
