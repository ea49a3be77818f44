"""The value of a loop as quotients and a rest: tiles run forward wherever what they divide does.

`floor(t / 32) + floor((2t + i) / 32)` does not decrease from one instance to another if neither `t` nor `2t + i` does.
That is asked without integer divisions, which are what takes isl long.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.records import dataclass

_DIVISION = isl.dim_type.div


@dataclass(frozen=True, eq=False, kw_only=True)
class Quotients:
    """A value that is `rest + factor * floor(dividend / divisor) + ...`.

    Parameters
    ----------
    signs : factor and divisor of each quotient, in order.
    dividends : what is divided, in this order.
    rest : the value without its quotients.
    """

    signs: tuple[tuple[int, int], ...]
    dividends: tuple[isl.PwAff, ...]
    rest: isl.PwAff


def quotients(value: isl.PwAff) -> Quotients | None:
    """The quotients of a value, of the same kinds in all its cases; None where it has none."""
    parts = [(domain, _quotients(aff)) for domain, aff in value.get_pieces()]
    kinds = {None if part is None else tuple(kind for kind, _ in part[0]) for _, part in parts}
    if len(kinds) != 1 or (signs := kinds.pop()) is None:
        return None
    cases = [(domain, (*(dividend for _, dividend in part[0]), part[1])) for domain, part in parts if part is not None]
    if len(cases) == 1:
        dividends = [isl.PwAff.from_aff(aff) for aff in cases[0][1]]
    else:
        dividends = [_of_cases([(domain, affs[k]) for domain, affs in cases]) for k in range(len(signs) + 1)]
    return Quotients(signs=signs, dividends=tuple(dividends[:-1]), rest=dividends[-1])


def _of_cases(cases: list[tuple[isl.Set, isl.Aff]]) -> isl.PwAff:
    """A value by its cases, which do not meet."""
    (domain, aff), *more = cases
    value = isl.PwAff.alloc(domain, aff)
    for domain, aff in more:
        value = value.union_add(isl.PwAff.alloc(domain, aff))
    return value


def _quotients(aff: isl.Aff) -> tuple[list[tuple[tuple[int, int], isl.Aff]], isl.Aff] | None:
    """Factor, divisor and dividend of each quotient in order, and the rest; None without any, or with factors that are
    fractions."""
    found: list[tuple[tuple[int, int], isl.Aff]] = []
    for k in range(aff.dim(_DIVISION)):
        factor, divided = aff.get_coefficient_val(_DIVISION, k), aff.get_div(k)
        if factor.is_zero():   # of another quotient
            continue
        if not factor.is_int():
            return None
        divisor = divided.get_denominator_val()
        found.append(((int(factor.to_python()), int(divisor.to_python())), divided.scale_val(divisor)))
    for k in range(aff.dim(_DIVISION)):
        aff = aff.set_coefficient_val(_DIVISION, k, isl.Val.zero(isl.DEFAULT_CONTEXT))
    return (sorted(found, key=lambda each: each[0]), aff) if found else None


def alike(source: isl.PwAff, sink: isl.PwAff) -> list[tuple[isl.PwAff, isl.PwAff]] | None:
    """What is divided in two values, and their rests, if none decreases where all of it does not; else None."""
    one = quotients(source)
    other = one if sink is source else quotients(sink)
    if one is None or other is None or one.signs != other.signs or any(factor < 0 for factor, _ in one.signs):
        return None
    return list(zip((*one.dividends, one.rest), (*other.dividends, other.rest), strict=True))


def have_quotients(values: Mapping[str, isl.PwAff]) -> bool:
    """Whether some value, or the condition of one of its cases, has quotients."""
    return any(_has_quotient(aff) or (len(pieces) > 1 and _is_divided(domain)) for value in values.values()
               for pieces in (value.get_pieces(),) for domain, aff in pieces)


def _has_quotient(aff: isl.Aff) -> bool:
    return any(not aff.get_coefficient_val(_DIVISION, k).is_zero() for k in range(aff.dim(_DIVISION)))


def _is_divided(domain: isl.Set) -> bool:
    return any(part.dim(_DIVISION) for part in domain.get_basic_sets())
