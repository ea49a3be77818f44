"""Branches that choose the value of one element become choices of that value.

    if (t > 127) t = 127;                    ->    t = t > 127 ? 127 : t;
    if (a > b) R[i] = a; else R[i] = b;      ->    R[i] = a > b ? a : b;

Only the chosen side of a choice is evaluated, so nothing is read that was not read before.  The element is always
written then, which nobody sees where every branch writes it, or where it is a scalar of the region.  That the condition
reads it says nothing: it may be read-only.

Source: J. R. Allen, K. Kennedy, C. Porterfield, J. Warren, "Conversion of control dependence to data dependence",
POPL 1983.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Cast,
    Expr,
    If,
    Load,
    Select,
    assignments,
    walk,
)
from polysched.scop.dtypes import DType, common_type
from polysched.scop.scop import Access, AccessKind, Array, Scop, Statement


def without_branches(scop: Scop, *, exists: Callable[[Access], bool] = lambda _: False) -> Scop:
    """The program with every such branch as one assignment; the same object where there is none.

    Parameters
    ----------
    exists : as `as_choice` has it.
    """
    statements = tuple(as_choice(scop, s, exists=exists) or s for s in scop.statements)
    return scop if statements == scop.statements else replace(scop, statements=statements)


def with_chosen_operands(scop: Scop) -> Scop:
    """The program with choices of an element's next value as one update by what is chosen; the same object without any.

        if (c) s += x; else s += y;    ->    s += c ? x : y;
        s = s + (c ? x : y);           ->    s += c ? x : y;
        s = c ? s + x : y + s;         ->    s += c ? x : y;

    Every branch writes the element, so nothing is written that was not written before.
    """
    statements = tuple(_with_chosen_operand(s) or s for s in scop.statements)
    return scop if statements == scop.statements else replace(scop, statements=statements)


def _with_chosen_operand(statement: Statement) -> Statement | None:
    """The statement as one update; None where some branch makes none, or another one, or where nothing is chosen."""
    dtypes = {a.dtype for a in assignments(statement.body)}
    target = _only_target(statement) if _is_choice(statement.body) and len(dtypes) == 1 else None
    if target is None:
        return None
    (dtype,), twins = dtypes, [a.reference for a in statement.reads if same_element(a, target)]
    found = _Updates(frozenset(twins), dtype).of_items(statement.body)
    if found is None or not twins or _loaded(found.operand) & set(twins):
        return None
    update = Assign(target.reference, found.operand, dtype, found.op, twins[0])
    used = statement.with_subscripts((twins[0], target.reference, *_loaded(found.operand)))
    reads = [a for a in statement.reads if a.reference in used]
    written = replace(target, kind=AccessKind.MUST_WRITE)
    return replace(statement, body=(update,), accesses=(*reads, written))


def _is_choice(body: tuple[BodyStatement, ...]) -> bool:
    """Whether a body is one branch, or one assignment without an operator of its own that has a choice in it."""
    match body:
        case (If(),):
            return True
        case (Assign(op=None) as item,):
            return any(isinstance(part, Select) for part in walk(item.value))
    return False


@dataclass(frozen=True)
class _Update:
    """An operator and its right operand."""

    op: str
    operand: Expr


@dataclass(frozen=True)
class _Updates:
    """Reads what an element becomes as updates of it.

    Parameters
    ----------
    element : the references that read it.
    dtype : of the element.
    """

    element: frozenset[str]
    dtype: DType

    def of_items(self, items: tuple[BodyStatement, ...]) -> _Update | None:
        """The only update on each way through some items of a body; None where there is not one each."""
        match items:
            case (Assign(op=None) as item,):
                return self._of_value(item.value)
            case (Assign(op=str(op)) as item,):
                return _Update(op, item.value)
            case (If() as branch,):
                return _chosen_update(branch.condition, self.of_items(branch.then), self.of_items(branch.otherwise))
        return None

    def _of_value(self, value: Expr) -> _Update | None:
        """A value that the element gets as an update of it."""
        if value.dtype != self.dtype:
            return None
        match value:
            case Select():
                return _chosen_update(value.condition, self._of_value(value.then), self._of_value(value.otherwise))
            case Binary(op="+" | "-" | "*") if self._is_element(value.left):
                return _Update(value.op, value.right)
            case Binary(op="+" | "*") if self._is_element(value.right):
                return _Update(value.op, value.left)
        return None

    def _is_element(self, value: Expr) -> bool:
        return isinstance(value, Load) and value.reference in self.element


def _chosen_update(condition: Expr, then: _Update | None, otherwise: _Update | None) -> _Update | None:
    """One of two updates by one operator."""
    if then is None or otherwise is None or (then.op, then.operand.dtype) != (otherwise.op, otherwise.operand.dtype):
        return None
    return _Update(then.op, Select(condition, then.operand, otherwise.operand, then.operand.dtype))


def as_choice(scop: Scop, statement: Statement, *,
              exists: Callable[[Access], bool] = lambda _: False) -> Statement | None:
    """The statement as one assignment; None where it is none, or its element may not always be written.

    Parameters
    ----------
    exists : whether an element may be written in every instance for another reason.
    """
    if len(statement.body) != 1 or not isinstance(branch := statement.body[0], If):
        return None
    target = _only_target(statement)
    if target is None:
        return None
    twins = [a for a in statement.reads if same_element(a, target)]
    if not _may_always_be_written(scop.array(target.array), branch) and not exists(target):
        return None
    old = twins[0] if twins else replace(target, reference=f"{target.reference}_old", kind=AccessKind.READ)
    dtype = next(assignments(statement.body)).dtype
    value = _chosen((branch,), Load(old.reference, dtype))
    if value is None:
        return None
    written = replace(target, kind=AccessKind.MUST_WRITE)
    reads = [a for a in (*statement.reads, *(() if twins else (old,))) if a.reference in _used(statement, value)]
    return replace(statement, body=(Assign(written.reference, value, dtype),), accesses=(*reads, written))


def _used(statement: Statement, value: Expr) -> set[str]:
    """The accesses that a value names, and those in their subscripts."""
    used = _loaded(value)
    return used | statement.with_subscripts(a.reference for a in statement.accesses if a.reference in used)


def _only_target(statement: Statement) -> Access | None:
    """The access of the one element that all assignments of a statement write."""
    targets = [statement.access(a.target) for a in assignments(statement.body)]
    return targets[0] if targets and all(same_element(t, targets[0]) for t in targets) else None


def _may_always_be_written(array: Array, branch: If) -> bool:
    """Whether the element may be written in every instance: one that all ways write, or a scalar of the region."""
    return (array.is_scalar and array.is_temporary) or _is_always_written((branch,))


def _is_always_written(items: tuple[BodyStatement, ...]) -> bool:
    """Whether there is one assignment on every way through some items of a body."""
    match items:
        case (Assign(),):
            return True
        case (If() as branch,):
            return _is_always_written(branch.then) and _is_always_written(branch.otherwise)
    return False


def _loaded(value: Expr) -> set[str]:
    return {e.reference for e in walk(value) if isinstance(e, Load)}


def same_element(access: Access, other: Access) -> bool:
    """Whether two accesses of one statement reach one element in every instance."""
    return access.array == other.array and access.exact and other.exact and bool(
        access.relation.is_equal(other.relation))


def _chosen(items: tuple[BodyStatement, ...], old: Load) -> Expr | None:
    """The element's value behind some items of a body; None where there are several of them, or loops."""
    match items:
        case ():
            return old
        case (Assign() as item,):
            return assigned_value(item, old)
        case (If() as branch,):
            then, otherwise = _chosen(branch.then, old), _chosen(branch.otherwise, old)
            if then is None or otherwise is None:
                return None
            return Select(branch.condition, then, otherwise, old.dtype)
    return None


def assigned_value(item: Assign, old: Expr) -> Expr:
    """What an assignment writes, in the type of its element."""
    value = item.value
    if item.op is not None:
        value = Binary(item.op, old, value, common_type(item.op, item.dtype, value.dtype))
    return value if value.dtype == item.dtype else Cast(value, item.dtype)
