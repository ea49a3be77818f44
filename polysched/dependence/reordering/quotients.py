"""The value of a loop as quotients and a rest: tiles run forward wherever what they divide does.

`floor(t / 32) + floor((2t + i) / 32)` does not decrease from one instance to another if neither `t` nor `2t + i` does.
That is asked without integer divisions, which are what takes isl long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

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
    """The quotients of a value; None where it has none, where it is a quotient of several, or has cases."""
    pieces = value.get_pieces()
    if len(pieces) != 1:
        return None
    rest = pieces[0][1]
    found: list[tuple[int, int, isl.PwAff]] = []
    for k in range(rest.dim(_DIVISION)):
        factor, divided = rest.get_coefficient_val(_DIVISION, k), rest.get_div(k)
        if factor.is_zero():   # of another quotient
            continue
        if not factor.is_int():
            return None
        divisor = divided.get_denominator_val()
        found.append((int(factor.to_python()), int(divisor.to_python()),
                      isl.PwAff.from_aff(divided.scale_val(divisor))))
    for k in range(rest.dim(_DIVISION)):
        rest = rest.set_coefficient_val(_DIVISION, k, isl.Val.zero(isl.DEFAULT_CONTEXT))
    if not found:
        return None
    found.sort(key=lambda each: each[:2])
    return Quotients(signs=tuple((factor, divisor) for factor, divisor, _ in found),
                     dividends=tuple(dividend for _, _, dividend in found), rest=isl.PwAff.from_aff(rest))


def have_quotients(values: Mapping[str, isl.PwAff]) -> bool:
    """Whether some value has quotients."""
    return any(not aff.get_coefficient_val(_DIVISION, k).is_zero() for value in values.values()
               for _, aff in value.get_pieces() for k in range(aff.dim(_DIVISION)))
