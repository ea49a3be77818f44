"""Sums that a program keeps in a wider variable than their values need, kept in 32 bits as instructions keep them.

    long s = 0;  for (k) { s += a[k] * b[k];  if (s > INT_MAX) s = INT_MAX;  if (s < INT_MIN) s = INT_MIN; }  c = s;

A variable of the region changes its type where nobody can see it: every value that is written into it is one of the
narrower type (the sum is cut to its range), or nobody looks at more than its low bits: it is only added to, subtracted
from and multiplied, and whoever else reads it converts it to the narrower type.  Every read converts back, so that
what is computed from it stays as the program says it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.scop.body import Assign, Binary, Cast, Expr, Load, Unary, children, rebuild, walk
from polysched.scop.dtypes import INT32, INT64, DType, Kind
from polysched.scop.scop import Array, Scop, Statement, Storage
from polysched.tensorize.body_proofs import fits
from polysched.tensorize.clamps import of_any_sum, without_clamp
from polysched.tensorize.equality.normal_form import widens
from polysched.tensorize.fragment import one_name_per_element

WIDE, NARROW = INT64, INT32
RING = frozenset({"+", "-", "*"})


def narrow_sums(dependences: Dependences) -> Dependences:
    """The program with such variables in 32 bits; the same object where there are none. No dependence changes."""
    scop = dependences.scop
    chosen = [a for a in scop.arrays if a.storage is Storage.LOCAL and a.dtype == WIDE and _may_be_narrow(scop, a)]
    for array in chosen:
        scop = _narrowed(scop, array)
    return replace(dependences, scop=scop) if chosen else dependences


def _may_be_narrow(scop: Scop, array: Array) -> bool:
    users = [s for s in scop.statements if any(a.array == array.name for a in s.accesses)]
    items = [(s, s.body[0]) for s in users if len(s.body) == 1 and isinstance(s.body[0], Assign)]
    if len(items) < len(users) or any(_in_subscripts(s, array) for s in users):
        return False
    writers = [(s, item) for s, item in items if s.access(item.target).array == array.name]
    if not any(_accumulates(s, item, array) for s, item in writers):
        return False   # nothing that an instruction adds to
    return all(_stays_narrow(s, item, array) for s, item in writers) or all(
        _reads_low_bits(s, item, array) for s, item in items)


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
    dtype = NARROW if statement.access(item.target).array == array.name else item.dtype
    whole = _cuts(dtype) and (item.op is None or item.op in RING)
    return _low_bits_count(statement, item.value, array, low=whole)


def _low_bits_count(statement: Statement, e: Expr, array: Array, *, low: bool) -> bool:
    """Whether what counts of an expression follows from the low bits of the variable.

    Parameters
    ----------
    low : only the low bits of the expression count.
    """
    if isinstance(e, Load):
        return low or statement.access(e.reference).array != array.name
    if isinstance(e, Cast):
        whole = e.dtype.is_integer and e.dtype.kind is not Kind.BOOL   # a truth value looks at every bit
        below = e.operand.dtype.is_integer and whole and (low or _cuts(e.dtype))
        return _low_bits_count(statement, e.operand, array, low=below)
    ring = (isinstance(e, Binary) and e.op in RING) or (isinstance(e, Unary) and e.op in ("-", "+"))
    below = low and ring and e.dtype.is_integer
    return all(_low_bits_count(statement, x, array, low=below) for x in children(e))


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


def converted(value: Expr, dtype: DType) -> Expr:
    """A value in a type; there and back again is no conversion."""
    if isinstance(value, Cast) and value.operand.dtype == dtype and widens(dtype, value.dtype):
        return value.operand
    return value if value.dtype == dtype else Cast(value, dtype)


def _narrowed(scop: Scop, array: Array) -> Scop:
    """The program with the variable in its narrower type."""
    def changed(statement: Statement) -> Statement:
        if not any(a.array == array.name for a in statement.accesses):
            return statement
        item = statement.body[0]
        assert isinstance(item, Assign)
        value, dtype = _read_narrow(statement, item.value, array), item.dtype
        if statement.access(item.target).array == array.name:
            dtype = NARROW
        value = value if item.op is not None else converted(value, dtype)
        return replace(statement, body=(replace(item, value=value, dtype=dtype),))

    arrays = tuple(replace(a, dtype=NARROW) if a.name == array.name else a for a in scop.arrays)
    return replace(scop, arrays=arrays, statements=tuple(map(changed, scop.statements)))
