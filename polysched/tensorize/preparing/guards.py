"""Guards that change nothing, and choices by position: what is left is what an instruction computes.

Rewrite:  if (a != 0) c += a * b                          ->   c += a * b
          c += a != 0 ? a * b : 0                         ->   c += a * b
          for y, r: c += (0 <= y + r - 1 ? x : 0) * w     ->   for y, r with 0 <= y + r - 1: c += x * w

A guard that is false makes some expressions zero; with zero in their place the update has to be the old value, which
the normal form proves.  An instance whose update is the old value is left out.  Integers only: `c + 0 * b` is not `c`
where b is infinite or no number, or c is the negative zero.  What a guard leaves alone has to be written without one
somewhere, as a sum is that begins with zero: otherwise it may be read-only, or another thread's.
Source: the inverse of if-conversion (Allen, Kennedy, Porterfield, Warren, POPL 1983); index sets as in Griebl,
Feautrier, Lengauer, "Index set splitting", IJPP 28(6), 2000.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.if_conversion import assigned_value
from polysched.scop.body import (
    COMPARISON,
    Assign,
    Binary,
    Call,
    Expr,
    If,
    Literal,
    Load,
    Select,
    Unary,
    rebuild,
    unconditional_references,
    walk,
)
from polysched.scop.dtypes import INT32
from polysched.scop.scop import AccessKind, Scop, Statement, union_set
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS
from polysched.tensorize.equality import Verdict, same_function
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.preparing.conditions import instances_where
from polysched.tensorize.preparing.restating import narrowed, with_body
from polysched.tensorize.software.clamps import plain
from polysched.tensorize.software.conditional_reads import may_always_be_accessed, may_always_be_written
from polysched.tensorize.software.fragment import one_name_per_element
from polysched.tensorize.software.renaming import named_set

MOST_ALTERNATIVES = LIMITS.most_alternatives
PROOF_CONFLICTS = LIMITS.guard_conflicts


def without_idle_guards(dependences: Dependences) -> Dependences | None:
    """The program without guards on data that change nothing; None where there is none."""
    return _changed(dependences, _unguarded)


def with_domains_for_choices(dependences: Dependences) -> Dependences | None:
    """The program with choices by position as domains, where one side changes nothing; None where there is none."""
    return _changed(dependences, _cut)


def with_decided_choices(dependences: Dependences) -> Dependences | None:
    """The program without choices that are decided: `1 ? x : y` is x, `t ? 0 : 1` is `!t`; None where there is none."""
    return _changed(dependences, _decided)


def _decided(scop: Scop, statement: Statement) -> Statement | None:
    item = statement.body[0] if len(statement.body) == 1 else None
    if not isinstance(item, Assign):
        return None

    def change(e: Expr) -> Expr:
        if not isinstance(e, Select):
            return e
        if isinstance(e.condition, Literal):
            chosen = e.then if e.condition.value else e.otherwise
            return chosen if chosen.dtype == e.dtype else e
        ends = [x.value if isinstance(x, Literal) and x.dtype == INT32 else None for x in (e.then, e.otherwise)]
        return Unary("!", e.condition, INT32) if ends == [0, 1] else e

    value = rebuild(item.value, change)
    return None if value is item.value else with_body(statement, replace(item, value=value))


def _changed(dependences: Dependences,
             rewrite: Callable[[Scop, Statement], Statement | None]) -> Dependences | None:
    scop = dependences.scop
    made = {s.name: new for s in scop.statements if (new := rewrite(scop, s)) is not None}
    if not made:
        return None
    statements = tuple(made.get(s.name, s) for s in scop.statements)
    schedule = scop.schedule.intersect_domain(union_set(s.domain for s in statements))
    return analyse(replace(scop, statements=statements, schedule=schedule), value_based=dependences.value_based,
                   inputs=dependences.inputs)


def _unguarded(scop: Scop, statement: Statement) -> Statement | None:
    """The statement without its guard; None where it has none, or where that counts."""
    item = statement.body[0] if len(statement.body) == 1 else None
    if isinstance(item, If):
        if len(item.then) != 1 or item.otherwise or not isinstance(inner := item.then[0], Assign):
            return None
        target = statement.access(inner.target)
        old = Load(inner.target, inner.dtype)
        value = one_name_per_element(assigned_value(inner, old), statement, target)
        condition = one_name_per_element(item.condition, statement, target)
        if not _is_idle(condition, value, old) or not _may_be_read(scop, statement) or not may_always_be_written(
                scop, statement, target):
            return None
        accesses = tuple(replace(a, kind=AccessKind.MUST_WRITE) if a.reference == inner.target else a
                         for a in statement.accesses)
        return with_body(replace(statement, accesses=accesses), inner)
    if not isinstance(item, Assign):
        return None

    def change(e: Expr) -> Expr:
        if isinstance(e, Select) and _may_be_read(scop, statement):
            named = [one_name_per_element(x, statement, statement.access(item.target))
                     for x in (e.condition, e.then, e.otherwise)]
            if _is_idle(named[0], named[1], named[2]):
                return e.then
            if _is_idle(Unary("!", named[0], e.condition.dtype), named[2], named[1]):
                return e.otherwise
        return e

    value = rebuild(item.value, change)
    return None if value is item.value else with_body(statement, replace(item, value=value))


def _is_idle(condition: Expr, value: Expr, otherwise: Expr) -> bool:
    """Wherever a condition is false, two values are one, and the first may be computed."""
    if not value.dtype.is_integer or value.dtype != otherwise.dtype or not all(map(_is_defined, walk(value))):
        return False
    alternatives = [frozenset(e for e in zeros if e.dtype.is_integer) for zeros in _zeros(condition)]
    if not 0 < len(alternatives) <= MOST_ALTERNATIVES:
        return False
    return all(same_function(_with_zeros(value, zeros), _with_zeros(otherwise, zeros),
                             conflicts=PROOF_CONFLICTS).verdict is Verdict.EQUAL for zeros in alternatives)


def _is_defined(e: Expr) -> bool:
    """Whether an operation is defined whatever its operands are: a guard may keep zero from `__builtin_clz(x)`."""
    match e:
        case Call():
            return e.function in FUNCTIONS or e.function.startswith("__builtin_popcount")
        case Binary(op="/" | "%" | "<<" | ">>"):
            return isinstance(plain(e.right), Literal)
    return True


def _zeros(condition: Expr, *, holds: bool = False) -> Iterator[frozenset[Expr]]:
    """What is zero where a condition is false, one set per way to be false; an empty set where nothing is known.

    Parameters
    ----------
    holds : where it is true instead.
    """
    match condition:
        case Unary(op="!"):
            yield from _zeros(condition.operand, holds=not holds)
        case Binary(op="&&" | "||"):
            left, right = (list(_zeros(e, holds=holds)) for e in (condition.left, condition.right))
            if (condition.op == "&&") is holds:   # both sides are as they are
                yield from (a | b for a in left for b in right)
            else:
                yield from (*left, *right)
        case Binary() if condition.op in COMPARISON:
            yield _zeros_of_comparison(condition, holds=holds)
        case _:
            yield frozenset() if holds else frozenset({plain(condition)})   # a number as a condition


def _zeros_of_comparison(condition: Binary, *, holds: bool) -> frozenset[Expr]:
    """What is zero where a comparison is false, or holds: what equals zero, or is unsigned and not above it."""
    if condition.op in ("==", "!="):
        sides = [plain(condition.left), plain(condition.right)]
        zero = [isinstance(e, Literal) and e.value == 0 for e in sides]
        equal = (condition.op == "==") is holds
        return frozenset(e for e, other in zip(sides, reversed(zero), strict=True) if other and equal)
    if holds or condition.op not in ("<", ">"):
        return frozenset()
    above, below = (condition.left, condition.right) if condition.op == ">" else (condition.right, condition.left)
    return frozenset() if plain(above).dtype.is_signed or not _is_zero(below) else frozenset({plain(above)})


def _is_zero(e: Expr) -> bool:
    inner = plain(e)
    return isinstance(inner, Literal) and inner.value == 0


def _with_zeros(value: Expr, zeros: frozenset[Expr]) -> Expr:
    """A value with zero in the place of some expressions."""
    return rebuild(value, lambda e: Literal("0", 0, e.dtype) if e in zeros else e)


def _may_be_read(scop: Scop, statement: Statement) -> bool:
    """Every element that a statement accesses exists, or is accessed whatever its conditions are.

    What a condition by position keeps from being read is no part of the access relation, and stays unread.
    """
    always = set(unconditional_references(statement.body))
    return all((a.reference in always and statement.domain.is_subset(a.relation.domain()))
               or may_always_be_accessed(scop, statement, a) for a in statement.accesses)


def _cut(scop: Scop, statement: Statement) -> Statement | None:
    """The statement where a choice by position goes one way; None where both ways count, or there is none."""
    item = statement.body[0] if len(statement.body) == 1 else None
    if not isinstance(item, Assign) or not item.dtype.is_integer:
        return None
    target = statement.access(item.target)
    if target.kind is not AccessKind.MUST_WRITE:
        return None
    for condition in dict.fromkeys(e.condition for e in walk(item.value) if isinstance(e, Select)):
        where = instances_where(scop, statement, condition)
        if where is None:
            continue
        for domain, kept in ((where, True), (statement.domain.subtract(where), False)):
            other = _one_way(item, condition, then=not kept)
            old = Load(item.target, item.dtype)
            update = one_name_per_element(assigned_value(other, Load(item.read or item.target, item.dtype)), statement,
                                          target)
            if not domain.is_empty() and same_function(
                    update, old, conflicts=PROOF_CONFLICTS).verdict is Verdict.EQUAL:
                return narrowed(with_body(statement, _one_way(item, condition, then=kept)), _named(domain, statement))
    return None


def _one_way(item: Assign, condition: Expr, *, then: bool) -> Assign:
    """An assignment with every choice by a condition decided."""
    return replace(item, value=rebuild(item.value, lambda e: (e.then if then else e.otherwise)
                                       if isinstance(e, Select) and e.condition == condition else e))


def _named(domain: isl.Set, statement: Statement) -> isl.Set:
    return named_set(domain.coalesce(), statement.iterators)
