"""What arrays of a check are filled with, and how results compare."""

from __future__ import annotations

import math
from dataclasses import replace
from enum import Enum

from polysched.emit_c.limits import LIMITS
from polysched.records import dataclass
from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, statement_expressions, walk
from polysched.scop.dtypes import Kind
from polysched.scop.scop import Array, Scop, Statement
from polysched.tensorize.equality.normal_form import Normaliser
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.zero_points import reduction_loops

SIGNIFICANT_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "longdouble": 64}
LARGEST_WHOLE = LIMITS.largest_whole
EXACT_CALLS = frozenset({"fmaf", "fma", "fabs", "fabsf", "fmin", "fminf", "fmax", "fmaxf", "abs", "min", "max"})


class Values(Enum):
    """What an array of a check is filled with."""

    ANY = "any"            # all bits, corners of the type more often
    WHOLE = "whole"        # whole numbers of small magnitude, whose sums and products are exact
    POSITIVE = "positive"  # from one to seven: divisors and numbers of places to shift
    INDEX = "index"        # subscripts below `most`


class Equality(Enum):
    """How results compare."""

    BITS = "bit for bit"       # one NaN is as good as another
    NUMBERS = "as numbers"     # additions may change places: of data whose sums are exact; zeros may differ in sign
    ROUNDED = "up to rounding"  # and the statement's other operations round


@dataclass(frozen=True, kw_only=True)
class CheckedArray:
    """One array of a check.

    Parameters
    ----------
    dtype : the element type's name in `scop.dtypes`.
    most : largest magnitude of whole numbers; the bound of subscripts.
    compared : its values are of use behind the statement.
    boxes : least and greatest subscripts of the elements that compare; all of them where there is none.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    values: Values
    most: int = 0
    compared: bool = True
    boxes: tuple[tuple[tuple[int, int], ...], ...] = ()


def expressions_of(alone: Scop) -> list[tuple[Statement, Expr]]:
    return [(s, e) for s in alone.statements for top in statement_expressions(s.body) for e in walk(top)]


def checked(array: Array, found: Match, alone: Scop, equality: Equality) -> CheckedArray:
    """An array with the values that suit the statement."""
    shape = tuple(map(int, filter(None, array.c_extents)))
    made = CheckedArray(name=array.name, dtype=array.dtype.name, shape=shape, values=Values.ANY,
                        compared=array.name not in _locals_of(found.fragment))
    below = subscripted_below(array, alone)
    if below is not None:
        return replace(made, values=Values.INDEX, most=below)
    if limits_values(array, alone):
        return replace(made, values=Values.POSITIVE)
    if equality is not Equality.BITS or (array.dtype.is_float and any(cuts(e) for _, e in expressions_of(alone))):
        return replace(made, values=Values.WHOLE, most=magnitude(found))
    return made


def _locals_of(fragment: Fragment) -> set[str]:
    """What several assignments that stay together write beside their results: temporaries that only they use."""
    statement = fragment.statement
    shown = {statement.access(r.target).array for r in fragment.results}
    return {a.array for a in statement.writes} - shown


def subscripted_below(array: Array, alone: Scop) -> int | None:
    """The bound of an array's elements where they are subscripts."""
    bounds = []
    for statement in alone.statements:
        for access in statement.accesses:
            extents = [int(e) for e in alone.array(access.array).c_extents if e is not None]
            for position, subscript in enumerate(access.subscripts):
                loads = [statement.access(e.reference).array for e in walk(subscript) if isinstance(e, Load)]
                if array.name in loads and not _stays_below(subscript, extents[position]):
                    bounds.append(extents[position])
    return min(bounds, default=None)


def _stays_below(subscript: Expr, extent: int) -> bool:
    """Whether a subscript is one of an array whatever the elements are that it is computed from (`I[i] & 15`)."""
    form = Normaliser({}).form(subscript)
    return form.low is not None and form.high is not None and form.low >= 0 and form.high < extent


def limits_values(array: Array, alone: Scop) -> bool:
    """Whether elements divide, or say how far to shift."""
    for statement, e in expressions_of(alone):
        if isinstance(e, Binary) and e.op in ("/", "%", "<<", ">>"):
            loads = [x for x in walk(e.right) if isinstance(x, Load)]
            if not e.dtype.is_float and array.name in {statement.access(x.reference).array for x in loads}:
                return True
    return False


def cuts(e: Expr) -> bool:
    """A conversion of a float to an integer, which C leaves open for large ones."""
    return isinstance(e, Cast) and e.dtype.is_integer and e.operand.dtype.is_float


def magnitude(found: Match) -> int:
    """The largest whole number whose products, as many as are added up, have an exact sum in the result's type."""
    dtype = found.fragment.update.dtype
    bits = SIGNIFICANT_BITS.get(dtype.name, dtype.bits - (dtype.kind is Kind.SIGNED))
    length = math.prod(found.fragment.loop(n).extent for n in reduction_loops(found.fragment)) * 2
    fitting = [m for m in (1, 2, 4, LARGEST_WHOLE) if m * m * length < 1 << bits]
    return max(fitting, default=1)


def equality_of(found: Match, alone: Scop) -> Equality:
    """What the match promises."""
    if not found.fragment.update.dtype.is_float or not found.assumptions:
        return Equality.BITS
    return Equality.ROUNDED if any(rounds(e) for _, e in expressions_of(alone)) else Equality.NUMBERS


def rounds(e: Expr) -> bool:
    """An operation that rounds whole numbers: a quotient, a fraction, a function."""
    match e:
        case Binary():
            return e.op == "/" and e.dtype.is_float
        case Literal():
            return e.dtype.is_float and not float(e.value).is_integer()
        case Call():
            return e.function not in EXACT_CALLS
        case _:
            return False
