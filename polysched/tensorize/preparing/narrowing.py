"""Sums that a program keeps in a wider variable than their values need, kept in 32 bits as instructions keep them.

    long s = 0;  for (k) { s += a[k] * b[k];  if (s > INT_MAX) s = INT_MAX;  if (s < INT_MIN) s = INT_MIN; }  c = s;

A variable of the region changes its type where nobody can see it: every value that is written into it is one of the
narrower type (the sum is cut to its range), or nobody looks at more than its low bits: it is only added to, subtracted
from and multiplied, and whoever else reads it converts it to the narrower type.  In the first case every read converts
back, so that what is computed from it stays as the program says it; in the second it is computed in the unsigned type
of the narrower width, since sums may leave a range that the program's stay in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum

from polysched.dependence.dependences import Dependences
from polysched.scop.body import Assign, Binary, Cast, Expr, Load, Unary, children, rebuild, walk, with_children
from polysched.scop.dtypes import INT32, INT64, UINT32, DType, Kind
from polysched.scop.scop import Array, Scop, Statement, Storage
from polysched.tensorize.equality.normal_form import widens
from polysched.tensorize.proofs.body_proofs import fits
from polysched.tensorize.software.clamps import of_any_sum, without_clamp
from polysched.tensorize.software.fragment import one_name_per_element

WIDE, NARROW, WRAPS = INT64, INT32, UINT32
RING = frozenset({"+", "-", "*"})


def narrow_sums(dependences: Dependences) -> Dependences:
    """The program with such variables in 32 bits; the same object where there are none. No dependence changes."""
    scop = dependences.scop
    chosen = [(a, kept) for a in scop.arrays if a.storage is Storage.LOCAL and a.dtype == WIDE
              and (kept := _what_is_kept(scop, a)) is not None]
    for array, kept in chosen:
        scop = _narrowed(scop, array, low=kept is _Kept.LOW_BITS)
    return replace(dependences, scop=scop) if chosen else dependences


class _Kept(Enum):
    """What a narrower variable holds of a wider one."""

    VALUES = "values"
    LOW_BITS = "low bits"


def _what_is_kept(scop: Scop, array: Array) -> _Kept | None:
    """What of a variable's values is enough for the program; None for all of their bits."""
    users = [s for s in scop.statements if any(a.array == array.name for a in s.accesses)]
    items = [(s, s.body[0]) for s in users if len(s.body) == 1 and isinstance(s.body[0], Assign)]
    if len(items) < len(users) or any(_in_subscripts(s, array) for s in users):
        return None
    writers = [(s, item) for s, item in items if s.access(item.target).array == array.name]
    if not any(_accumulates(s, item, array) for s, item in writers):
        return None   # nothing that an instruction adds to
    if all(_stays_narrow(s, item, array) for s, item in writers):
        return _Kept.VALUES
    return _Kept.LOW_BITS if all(_reads_low_bits(s, item, array) for s, item in items) else None


def _accumulates(statement: Statement, item: Assign, array: Array) -> bool:
    return item.op is not None or any(_loads(statement, item.value, array))


def _loads(statement: Statement, e: Expr, array: Array) -> Iterator[Load]:
    return (x for x in walk(e) if isinstance(x, Load) and statement.access(x.reference).array == array.name)


def _in_subscripts(statement: Statement, array: Array) -> bool:
    return any(any(_loads(statement, s, array)) for a in statement.accesses for s in a.subscripts)


def _stays_narrow(statement: Statement, item: Assign, array: Array) -> bool:
    """Every value that is written is one of the narrower type, as long as those that are read are."""
    if item.op is not None:
        return False
    value = _read_narrow(statement, item.value, array)
    named = one_name_per_element(value, statement, statement.access(item.target))
    inner, clamp = without_clamp(named)
    return fits(value if clamp is None else of_any_sum(named, inner), NARROW, {})


def _reads_low_bits(statement: Statement, item: Assign, array: Array) -> bool:
    """Only the low bits of what is read count for what is written."""
    return _low_bits_count(statement, item.value, array, low=_keeps_low_bits(statement, item, array))


def _keeps_low_bits(statement: Statement, item: Assign, array: Array) -> bool:
    """Only the low bits of an assignment's value count."""
    dtype = NARROW if statement.access(item.target).array == array.name else item.dtype
    return _cuts(dtype) and (item.op is None or item.op in RING)


def _low_bits_count(statement: Statement, e: Expr, array: Array, *, low: bool) -> bool:
    """Whether what counts of an expression follows from the low bits of the variable.

    Parameters
    ----------
    low : only the low bits of the expression count.
    """
    if isinstance(e, Load):
        return low or statement.access(e.reference).array != array.name
    return all(_low_bits_count(statement, x, array, low=_low_below(e, low=low)) for x in children(e))


def _low_below(e: Expr, *, low: bool) -> bool:
    """Whether only the low bits of an expression's operands count, where that holds of the expression or not."""
    if isinstance(e, Cast):
        whole = e.dtype.is_integer and e.dtype.kind is not Kind.BOOL   # a truth value looks at every bit
        return e.operand.dtype.is_integer and whole and (low or _cuts(e.dtype))
    return low and e.dtype.is_integer and _is_ring(e)


def _is_ring(e: Expr) -> bool:
    """Low bits of the result follow from those of the operands."""
    return (isinstance(e, Binary) and e.op in RING) or (isinstance(e, Unary) and e.op in ("-", "+"))


def _cuts(dtype: DType) -> bool:
    """A conversion to this type keeps no more than the low bits."""
    return dtype.kind in (Kind.SIGNED, Kind.UNSIGNED) and dtype.bits <= NARROW.bits


def _read_narrow(statement: Statement, value: Expr, array: Array) -> Expr:
    """A value whose reads of the variable convert from its narrower type."""
    def change(e: Expr) -> Expr:
        if isinstance(e, Load) and statement.access(e.reference).array == array.name:
            return Cast(Load(e.reference, NARROW), WIDE)
        return converted(e.operand, NARROW) if isinstance(e, Cast) and e.dtype == NARROW else e

    return rebuild(value, change)


def _read_low_bits(statement: Statement, e: Expr, array: Array, *, low: bool) -> Expr:
    """An expression of which the same counts, with reads of the variable's low bits only.

    Rewrite:  t + x  ->  (unsigned)t + (unsigned)x

    Parameters
    ----------
    low : as for `_low_bits_count`, which holds.
    """
    if not any(_loads(statement, e, array)):
        return e
    if isinstance(e, Load):
        return Cast(Load(e.reference, NARROW), WRAPS)
    below = _low_below(e, low=low)
    parts = tuple(_read_low_bits(statement, x, array, low=below) for x in children(e))
    if isinstance(e, Cast):
        return converted(parts[0], e.dtype)
    if below and e.dtype.bits > NARROW.bits:
        return replace(with_children(e, tuple(converted(x, WRAPS) for x in parts)), dtype=WRAPS)
    return with_children(e, parts)


def converted(value: Expr, dtype: DType) -> Expr:
    """A value in a type; there and back again is no conversion."""
    if isinstance(value, Cast) and value.operand.dtype == dtype and widens(dtype, value.dtype):
        return value.operand
    return value if value.dtype == dtype else Cast(value, dtype)


def _narrowed(scop: Scop, array: Array, *, low: bool) -> Scop:
    """The program with the variable in its narrower type, which holds its values or only their low bits."""
    def changed(statement: Statement) -> Statement:
        if not any(a.array == array.name for a in statement.accesses):
            return statement
        item = statement.body[0]
        assert isinstance(item, Assign)
        dtype = NARROW if statement.access(item.target).array == array.name else item.dtype
        if low:
            value = _read_low_bits(statement, item.value, array, low=_keeps_low_bits(statement, item, array))
            if item.op is not None and dtype == NARROW:
                value = converted(value, WRAPS)   # so that the sum with the old value wraps, too
        else:
            value = _read_narrow(statement, item.value, array)
        value = value if item.op is not None else converted(value, dtype)
        return replace(statement, body=(replace(item, value=value, dtype=dtype),))

    arrays = tuple(replace(a, dtype=NARROW) if a.name == array.name else a for a in scop.arrays)
    return replace(scop, arrays=arrays, statements=tuple(map(changed, scop.statements)))
