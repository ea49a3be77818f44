"""Branches that choose the value of one element become choices of that value.

    if (t > 127) t = 127;    ->    t = t > 127 ? 127 : t;

Only the chosen side of a choice is evaluated, so nothing is read that was not read before.  The element is always
written then, which nobody sees where it is a scalar of the region, or where the condition reads it anyway.

Source: J. R. Allen, K. Kennedy, C. Porterfield, J. Warren, "Conversion of control dependence to data dependence",
POPL 1983.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

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
from polysched.scop.dtypes import DType, promote, usual_conversion
from polysched.scop.scop import Access, AccessKind, Array, Scop, Statement


def without_branches(scop: Scop) -> Scop:
    """The program with every such branch as one assignment; the same object where there is none."""
    statements = tuple(_converted(scop, s) or s for s in scop.statements)
    return scop if statements == scop.statements else replace(scop, statements=statements)


def with_chosen_operands(scop: Scop) -> Scop:
    """The program with branches that update one element by one operator as one update; the same object without any.

        if (c) s += x; else s += y;    ->    s += c ? x : y;

    Every branch updates the element, so nothing is written that was not written before.
    """
    statements = tuple(_with_chosen_operand(s) or s for s in scop.statements)
    return scop if statements == scop.statements else replace(scop, statements=statements)


def _with_chosen_operand(statement: Statement) -> Statement | None:
    """The statement as one update; None where some branch makes none, or another one."""
    first = _only_update(statement) if isinstance(statement.body[0], If) else None
    value = _operand(statement.body)
    if first is None or first.read is None or value is None:
        return None
    written = replace(statement.access(first.target), kind=AccessKind.MUST_WRITE)
    used = {first.read, *(e.reference for e in walk(value) if isinstance(e, Load))}
    used |= {r for a in statement.accesses if a.reference in {*used, first.target} for r in _named_in_subscripts(a)}
    reads = [a for a in statement.reads if a.reference in used]
    return replace(statement, body=(replace(first, value=value),), accesses=(*reads, written))


def _only_update(statement: Statement) -> Assign | None:
    """The first of several updates that are all of one element and by one operator; None where they are not."""
    updates = tuple(assignments(statement.body))
    if len({(update.op, update.dtype) for update in updates}) != 1 or updates[0].op is None:
        return None
    ends = [statement.access(r) for update in updates for r in (update.target, update.read) if r is not None]
    return updates[0] if all(_same_element(end, ends[0]) for end in ends) else None


def _operand(items: tuple[BodyStatement, ...]) -> Expr | None:
    """The operand of the only update on each way through some items of a body; None where there is not one each."""
    match items:
        case (Assign() as item,):
            return item.value
        case (If() as branch,):
            then, otherwise = _operand(branch.then), _operand(branch.otherwise)
            if then is None or otherwise is None or then.dtype != otherwise.dtype:
                return None
            return Select(branch.condition, then, otherwise, then.dtype)
    return None


def _converted(scop: Scop, statement: Statement) -> Statement | None:
    """The statement as one assignment; None where it is none, or its element may not always be written."""
    if len(statement.body) != 1 or not isinstance(branch := statement.body[0], If):
        return None
    target = _only_target(statement)
    if target is None:
        return None
    twins = [a for a in statement.reads if _same_element(a, target)]
    if not _may_always_be_written(scop.array(target.array), branch, twins):
        return None
    old = twins[0] if twins else replace(target, reference=f"{target.reference}_old", kind=AccessKind.READ)
    dtype = next(assignments(statement.body)).dtype
    value = _chosen((branch,), Load(old.reference, dtype))
    if value is None:
        return None
    written = replace(target, kind=AccessKind.MUST_WRITE)
    used = _loaded(value)
    used |= {r for a in statement.accesses if a.reference in used for r in _named_in_subscripts(a)}
    reads = [a for a in (*statement.reads, *(() if twins else (old,))) if a.reference in used]
    return replace(statement, body=(Assign(written.reference, value, dtype),), accesses=(*reads, written))


def _only_target(statement: Statement) -> Access | None:
    """The access of the one element that all assignments of a statement write."""
    targets = [statement.access(a.target) for a in assignments(statement.body)]
    return targets[0] if targets and all(_same_element(t, targets[0]) for t in targets) else None


def _may_always_be_written(array: Array, branch: If, twins: Sequence[Access]) -> bool:
    """Whether the element exists in every instance: a temporary scalar, or one that the condition reads."""
    named = _loaded(branch.condition)
    return (array.is_scalar and array.is_temporary) or any(a.reference in named for a in twins)


def _loaded(value: Expr) -> set[str]:
    return {e.reference for e in walk(value) if isinstance(e, Load)}


def _named_in_subscripts(access: Access) -> Iterator[str]:
    for subscript in access.subscripts:
        yield from (e.reference for e in walk(subscript) if isinstance(e, Load))


def _same_element(access: Access, other: Access) -> bool:
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
        value = Binary(item.op, old, value, _common(item.op, item.dtype, value.dtype))
    return value if value.dtype == item.dtype else Cast(value, item.dtype)


def _common(op: str, old: DType, value: DType) -> DType:
    return promote(old) if op in ("<<", ">>") else usual_conversion(old, value)
