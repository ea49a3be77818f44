"""Branches on data that write several elements, or one of them sometimes, as statements that always write one.

Rewrite:  if (c) { L = a; H = b; } else { L = b; H = a; }   ->   L = c ? a : b;  H = c ? b : a;
          if (c) R = a;                                     ->   R = c ? a : R;
          if (P < Q) { t = P; P = Q; Q = t; }   ->   b = P;  P = P < Q ? Q : P;  Q = b < Q ? b : Q;

Parts that read what others write are run on symbols (`branch_values`), and an old value that is needed later is kept in
a temporary.  Only the chosen side of a choice is evaluated, so nothing is read that was not read before, but for R,
which the program writes in any case or owns: what it may leave alone can belong to another thread, or be read-only.
The statements run one behind the other, each behind those that read what it writes.  Sums under a condition stay
(`if (c) R += a;`), since no instruction takes `c ? R + a : R` for one.
Source: J. R. Allen, K. Kennedy, C. Porterfield, J. Warren, "Conversion of control dependence to data dependence",
POPL 1983.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from graphlib import CycleError, TopologicalSorter

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.if_conversion import as_choice
from polysched.scheduling.tree.loop_tree import from_isl, split_bands, to_isl
from polysched.scop.body import (
    Assign,
    BodyStatement,
    Expr,
    If,
    Load,
    assignments,
    distinct,
    rebuild,
    rebuild_shared,
    references,
    unconditional_references,
)
from polysched.scop.dtypes import DType
from polysched.scop.scop import Access, AccessKind, Array, Scop, Statement, Storage, union_set
from polysched.tensorize.preparing.branch_values import may_be_run, values_behind
from polysched.tensorize.preparing.restating import identity, one_behind_the_other, pulled_back
from polysched.tensorize.software.conditional_reads import may_always_be_accessed, may_always_be_written
from polysched.tensorize.software.fragment import are_one
from polysched.tensorize.software.renaming import fresh_name, renamed_statement


def with_choices_for_branches(dependences: Dependences, *, anywhere: bool = False) -> Dependences | None:
    """The program with one such branch less; None where there is none.

    Parameters
    ----------
    anywhere : old values may be written to any element, for nobody executes what is made.
    """
    scop = dependences.scop
    for statement in scop.statements:
        if (made := _as_choices(scop, statement, anywhere=anywhere)) is not None:
            return analyse(made, value_based=dependences.value_based, inputs=dependences.inputs)
    return None


def _as_choices(scop: Scop, statement: Statement, *, anywhere: bool) -> Scop | None:
    """The program with a statement as one assignment per array that it writes; None where it is no such branch."""
    is_branch = len(statement.body) == 1 and isinstance(statement.body[0], If)
    if not is_branch or not may_be_run(statement):
        return None
    return _array_by_array(scop, statement, anywhere=anywhere) or _at_once(scop, statement, anywhere=anywhere)


def _array_by_array(scop: Scop, statement: Statement, *, anywhere: bool) -> Scop | None:
    """The same where no part reads what another one writes."""
    written = tuple(dict.fromkeys(statement.access(a.target).array for a in assignments(statement.body)))
    order = _one_behind_the_other(statement, written)
    if order is None:
        return None
    made: list[Statement] = []
    taken = {s.name for s in scop.statements}
    for array in order:
        part = _as_choice(scop, statement, _only_writing(statement, array), anywhere=anywhere)
        if part is None:
            return None
        if made:
            name = fresh_name(f"{statement.name}_{array}", taken)
            part = renamed_statement(part, name, {a.reference: f"{name}_{a.reference}" for a in part.accesses})
        taken.add(part.name)
        made.append(part)
    return _placed(scop, statement, made) if made else None


def _at_once(scop: Scop, statement: Statement, *, anywhere: bool) -> Scop | None:
    """The same where parts read what others write: old values that are read later are kept in temporaries."""
    found = values_behind(scop, statement)
    if found is None or not found.values:
        return None
    order = min((list(found.values), list(found.values)[::-1]), key=lambda o: len(_needed_later(o, found.values)))
    kept = _needed_later(order, found.values)
    if not anywhere and not (
            all(_may_be_written(scop, statement, n) for n in found.values if n not in found.always)
            and all(_may_be_read(scop, statement, n) for n in kept)):
        return None
    return _in_order(scop, statement, found.values, order, kept)


def _in_order(scop: Scop, statement: Statement, values: Mapping[str, Expr], order: Sequence[str],
              kept: Sequence[str]) -> Scop:
    """The program with a branch as assignments in this order, behind those of temporaries for what is read later."""
    taken = {s.name for s in scop.statements} | {a.name for a in scop.arrays}
    names = {n: fresh_name(f"before_{statement.access(n).array}", taken) for n in kept}
    made = [_keeping(statement, n, names[n], values[n].dtype) for n in kept]
    made += [_setting(statement, n, values[n], {k: v for k, v in names.items() if k in order[:at]})
             for at, n in enumerate(order)]
    parts = []
    for at, part in enumerate(made):
        name = statement.name if at == 0 else fresh_name(f"{statement.name}_{at}", taken)
        parts.append(renamed_statement(part, name, {a.reference: f"{name}_{a.reference}" for a in part.accesses}))
    arrays = tuple(Array(name=names[n], dtype=values[n].dtype, storage=Storage.LOCAL, c_element=names[n])
                   for n in kept)
    return _placed(replace(scop, arrays=(*scop.arrays, *arrays)), statement, parts)


def _may_be_written(scop: Scop, statement: Statement, name: str) -> bool:
    """Whether the old value may be written to an element that some way leaves alone; a sum of one element stays."""
    items = list(assignments(statement.body))
    return may_always_be_written(scop, statement, statement.access(name)) and (
        len(items) > 1 or all(a.op is None for a in items))


def _may_be_read(scop: Scop, statement: Statement, name: str) -> bool:
    """Whether an element may be read in every instance."""
    mine = statement.access(name)
    always = {*unconditional_references(statement.body)}
    return any(are_one(statement.access(r), mine) for r in always) or may_always_be_accessed(scop, statement, mine)


def _needed_later(order: Sequence[str], values: Mapping[str, Expr]) -> list[str]:
    """The elements that are read behind the place at which they are written."""
    return [n for at, n in enumerate(order) if any(
        isinstance(e, Load) and e.reference == n for e in distinct(*(values[m] for m in order[at + 1:])))]


def _keeping(statement: Statement, name: str, temporary: str, dtype: DType) -> Statement:
    """`temporary = element;`"""
    mine = replace(statement.access(name), reference="old", kind=AccessKind.READ)
    target = _access_of(statement, temporary, "new", AccessKind.MUST_WRITE)
    return replace(statement, body=(Assign("new", Load("old", dtype), dtype),), accesses=(mine, target))


def _setting(statement: Statement, name: str, value: Expr, before: Mapping[str, str]) -> Statement:
    """`element = value;`, which reads temporaries for the elements that were written already."""
    def old(e: Expr) -> Expr:
        return replace(e, reference=f"{e.reference}_old") if isinstance(e, Load) else e

    read = statement.with_subscripts(e.reference for e in distinct(value) if isinstance(e, Load))
    accesses = [_access_of(statement, before[a.reference], f"{a.reference}_old", AccessKind.READ)
                if a.reference in before else replace(a, reference=f"{a.reference}_old", kind=AccessKind.READ,
                                                      subscripts=tuple(rebuild(s, old) for s in a.subscripts))
                for a in statement.accesses if a.reference in read]
    target = replace(statement.access(name), reference="new", kind=AccessKind.MUST_WRITE)
    return replace(statement, body=(Assign("new", rebuild_shared(value, old), value.dtype),),
                   accesses=(*accesses, target))


def _access_of(statement: Statement, scalar: str, reference: str, kind: AccessKind) -> Access:
    """An access of a scalar in every instance."""
    relation = isl.Map.from_domain(statement.domain).set_tuple_name(isl.dim_type.out, scalar)
    return Access(reference=reference, array=scalar, kind=kind, relation=relation)


def _as_choice(scop: Scop, whole: Statement, own: Statement, *, anywhere: bool) -> Statement | None:
    """The part of a statement that writes one array as one assignment."""
    if anywhere:
        return as_choice(scop, own, exists=lambda _: True)
    if any(a.op is not None for a in assignments(own.body)):
        return as_choice(scop, own)
    return as_choice(scop, own, exists=partial(may_always_be_written, scop, whole))


def _one_behind_the_other(statement: Statement, written: tuple[str, ...]) -> list[str] | None:
    """The arrays in an order in which each is written behind all parts that read it; None where there is none."""
    if len(written) > 1 and not _reads_old_values(statement, statement.body, frozenset()):
        return None
    readers: dict[str, list[str]] = {array: [] for array in written}
    for array in written:
        part = _only_writing(statement, array)
        targets = {a.target for a in assignments(part.body)}
        seen = {a.array for a in part.accesses if a.reference not in targets} - {array}
        for read in (a for a in written if a in seen):
            readers[read].append(array)
    try:
        return list(TopologicalSorter(readers).static_order())
    except CycleError:
        return None


def _reads_old_values(statement: Statement, items: tuple[BodyStatement, ...], before: frozenset[str]) -> bool:
    """Whether nothing reads an array that was written ahead of it, on every way through some items of a body."""
    for item in items:
        read = references((replace(item, then=(), otherwise=()),)) if isinstance(item, If) else [
            r for r in references((item,)) if not isinstance(item, Assign) or r != item.target]
        if any(statement.access(r).array in before for r in statement.with_subscripts(read)):
            return False
        if isinstance(item, If):
            if not all(_reads_old_values(statement, way, before) for way in (item.then, item.otherwise)):
                return False
            before |= {statement.access(a.target).array for a in assignments((item,))}
        elif isinstance(item, Assign):
            before |= {statement.access(item.target).array}
    return True


def _only_writing(statement: Statement, array: str) -> Statement:
    """The statement with its assignments to one array, and the accesses of these."""
    body = _kept(statement, statement.body, array)
    used = statement.with_subscripts(references(body))
    return replace(statement, body=body, accesses=tuple(a for a in statement.accesses if a.reference in used))


def _kept(statement: Statement, items: tuple[BodyStatement, ...], array: str) -> tuple[BodyStatement, ...]:
    """Items without the assignments to other arrays, and without branches in which nothing is left."""
    found: list[BodyStatement] = []
    for item in items:
        if isinstance(item, If):
            then, otherwise = (_kept(statement, way, array) for way in (item.then, item.otherwise))
            if then or otherwise:
                found.append(replace(item, then=then, otherwise=otherwise))
        elif not isinstance(item, Assign) or statement.access(item.target).array == array:
            found.append(item)
    return tuple(found)


def _placed(scop: Scop, statement: Statement, parts: list[Statement]) -> Scop:
    """The program with the parts one behind the other in the place of the statement."""
    statements = tuple(p for s in scop.statements for p in (parts if s.name == statement.name else (s,)))
    if len(parts) == 1:
        return replace(scop, statements=statements)
    back = identity(scop)
    for part in parts[1:]:
        same = isl.Map.identity(part.domain.get_space().map_from_set()).intersect_domain(part.domain)
        back = back.union(isl.UnionMap.from_map(same.set_tuple_name(isl.dim_type.out, statement.name)))
    tree = from_isl(pulled_back(scop.schedule, back, union_set(s.domain for s in statements)))
    ordered = replace(tree, root=one_behind_the_other(split_bands(tree.root), [p.domain for p in parts]))
    return replace(scop, statements=statements, schedule=to_isl(ordered))
