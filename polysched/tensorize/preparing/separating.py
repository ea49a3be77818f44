"""A statement that adds several products, in one statement for each, so that an instruction may compute every one.

Rewrite:  for k: c += a * b - d * e + f   ->   for k: c += a * b;  for k: c -= d * e;  for k: c += f

The parts run one behind the other, each with the loops that the statement has for itself.  Their additions
change places, which is exact for integers and needs leave for floats; nothing else that the statement writes may be
read.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.scheduling.tree.loop_tree import Sequence, from_isl, replace_node, to_isl
from polysched.scheduling.tree.loop_tree import walk as walk_tree
from polysched.scop.body import Assign, Binary, Expr, IteratorRef, Load, walk
from polysched.scop.scop import Access, AccessKind, Scop, Statement, union_set
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.preparing.ordering import order_that_is_lost
from polysched.tensorize.proofs.body_proofs import adds_to, below_signs, summands
from polysched.tensorize.software.clamps import plain
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.renaming import fresh_name, renamed_statement

MOST_PARTS = LIMITS.most_parts


def separated(fragment: Fragment, dependences: Dependences) -> tuple[Scop, tuple[str, ...]] | None:
    """The program with a statement per product, and their names; None where there is one product, or order counts.

    Parameters
    ----------
    dependences : of the fragment's program.
    """
    statement, parts = fragment.statement, _parts(fragment)
    if not 1 < len(parts) <= MOST_PARTS or fragment.kept or order_that_is_lost(fragment, dependences):
        return None
    old = next((a for a in statement.reads if a.array == fragment.statement.access(fragment.target).array
                and a.relation.is_equal(statement.access(fragment.target).relation)), None)
    if old is None:
        return None
    taken = {s.name for s in fragment.scop.statements}
    made = []
    for number, (op, value) in enumerate(parts):
        part = _with_update(statement, Assign(fragment.target, value, fragment.update.dtype, op, old.reference), old)
        if number:
            name = fresh_name(f"{statement.name}_{number + 1}", taken)
            part = renamed_statement(part, name, {a.reference: f"{name}_{a.reference}" for a in part.accesses})
        made.append(part)
    scop = _placed(fragment.scop, statement, tuple(made))
    return None if scop is None else (scop, tuple(s.name for s in made))


def _parts(fragment: Fragment) -> list[tuple[str, Expr]]:
    """What a statement adds, an operator and a value each; nothing where there is one product, or no sum."""
    if not adds_to(fragment.update, fragment.result):
        return []
    terms = [(op, e) for op, e in summands(fragment.update, fragment.update.dtype)
             if below_signs(plain(e)) != fragment.result]
    return terms if sum(_is_product(e) for _, e in terms) > 1 else []


def _is_product(e: Expr) -> bool:
    e = below_signs(plain(e))
    return isinstance(e, Binary) and e.op == "*" and all(
        any(isinstance(x, Load | IteratorRef) for x in walk(side)) for side in (e.left, e.right))


def _with_update(statement: Statement, item: Assign, old: Access) -> Statement:
    """The statement with another body, and the accesses of that."""
    used = {item.target, old.reference, *(x.reference for x in walk(item.value) if isinstance(x, Load))}
    for access in statement.accesses:
        if access.reference in used:
            used |= {x.reference for s in access.subscripts for x in walk(s) if isinstance(x, Load)}
    accesses = tuple(replace(a, kind=AccessKind.MUST_WRITE) if a.reference == item.target else a
                     for a in statement.accesses if a.reference in used)
    return replace(statement, body=(item,), accesses=accesses)


def _placed(scop: Scop, statement: Statement, parts: tuple[Statement, ...]) -> Scop | None:
    """The Scop with the parts in the place of the statement; None where its nest is not written down as one."""
    back = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    for s in scop.statements:
        back = back.union(isl.UnionMap.from_map(isl.Map.identity(s.domain.get_space().map_from_set())))
    for part in parts[1:]:
        same = isl.Map.identity(part.domain.get_space().map_from_set())
        back = back.union(isl.UnionMap.from_map(same.set_tuple_name(isl.dim_type.out, statement.name)))
    statements = tuple(p for s in scop.statements for p in (parts if s.name == statement.name else (s,)))
    pulled = scop.schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(back))
    pulled = pulled.intersect_domain(union_set(s.domain for s in statements))
    schedule = _in_sequence(pulled, parts)
    return None if schedule is None else replace(scop, statements=statements, schedule=schedule)


def _in_sequence(schedule: isl.Schedule, parts: tuple[Statement, ...]) -> isl.Schedule | None:
    """The order with the parts one behind the other, where the next nest or statement is theirs alone."""
    tree = from_isl(schedule)
    mine, branches = union_set(p.domain for p in parts), [isl.UnionSet.from_set(p.domain) for p in parts]
    if mine.is_equal(tree.domain):
        return to_isl(replace(tree, root=Sequence(branches=tuple((keep, tree.root) for keep in branches))))
    for node in walk_tree(tree.root):
        if not isinstance(node, Sequence):
            continue
        for at, (keep, child) in enumerate(node.branches):
            if keep.intersect(tree.domain).is_equal(mine):
                apart = (*node.branches[:at], *((one, child) for one in branches), *node.branches[at + 1:])
                return to_isl(replace(tree, root=replace_node(tree.root, node, Sequence(branches=apart))))
    return None
