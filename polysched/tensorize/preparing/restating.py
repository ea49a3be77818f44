"""A program in other words: the map from its instances to those it was made from, and the check that values stay.

If every instance of the new program stands for one of the old, runs the same body, and every read gets its value from
the instance that stands for the old source, then all values are equal, by induction over the order.  Arrays that live
on must have every element written last by the instance that stands for its last writer.

Source: P. Feautrier, "Dataflow analysis of array and scalar references", IJPP 20(1), 1991 (exact sources).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
    Leaf,
    LoopTree,
    Mark,
    Node,
    children,
    from_isl,
    to_isl,
    with_children,
)
from polysched.scheduling.tree.loop_tree import Sequence as InSequence
from polysched.scop.body import Assign, Binary, Cast, Expr, Load, walk
from polysched.scop.dtypes import UINT32, UINT64
from polysched.scop.scop import AccessKind, Scop, Statement, union_map


@dataclass(frozen=True, eq=False, kw_only=True)
class Restated:
    """A program that is to compute what another one does.

    Parameters
    ----------
    scop : the program.
    back : `{ new instance -> old instance }`; old instances that nothing stands for are gone, since they change nothing
        or only compute what nobody reads.
    references : per access the references that it had; others are as they were.
    """

    scop: Scop
    back: isl.UnionMap
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def checked(before: Dependences, made: Restated) -> Dependences | None:
    """The dependences of the new program; None where some value would be another.

    Either no two accesses of one element, one of them a write, have changed places; or every value comes from where it
    came.

    Raises
    ------
    BudgetExceededError : as `analyse`.
    """
    if _keeps_order(before.scop, made):
        return analyse(made.scop, value_based=before.value_based, inputs=before.inputs)
    after = analyse(made.scop, value_based=True, inputs=before.inputs)
    if not after.value_based or not before.value_based:
        return None
    back = made.back.intersect_domain(made.scop.domain).intersect_params(made.scop.context)
    old, new = sources(before), sources(after)
    nothing = union_map(())
    for statement in made.scop.statements:
        for access in statement.reads:
            wanted = union_map_of([old.get(r, nothing) for r in made.references.get(
                access.reference, (access.reference,))])
            found = new.get(access.reference, nothing).apply_domain(back).apply_range(back)
            if not found.is_equal(wanted.intersect_range(back.range())):
                return None
    return after if _same_at_the_end(before.scop, made.scop, back) else None


def _keeps_order(before: Scop, made: Restated) -> bool:
    """All instances are there, and those that meet in one element, which one of them writes, run in the old order."""
    after = made.scop
    back = made.back.intersect_domain(after.domain)
    known = after.context.params()
    if not back.range().intersect_params(known).is_equal(before.domain.intersect_params(known)) \
            or not back.is_injective():
        return False
    kinds = AccessKind.MAY_WRITE, AccessKind.MUST_WRITE
    writes, every = after.relation(*kinds), after.relation(AccessKind.READ, *kinds)
    meeting = writes.apply_range(every.reverse())
    old = before.schedule.get_map().intersect_domain(before.domain)
    new = after.schedule.get_map().intersect_domain(after.domain)
    earlier = old.lex_lt_union_map(old).apply_domain(back.reverse()).apply_range(back.reverse())
    turned = meeting.union(meeting.reverse()).intersect(earlier).intersect(new.lex_ge_union_map(new))
    return bool(turned.intersect_params(after.context).is_empty())


def sources(dependences: Dependences) -> dict[str, isl.UnionMap]:
    """Per read access the instances that write its values, to those that read them."""
    found: dict[str, list[isl.Map]] = {}
    for pair in dependences.pairs:
        if pair.kind is DependenceKind.FLOW:
            found.setdefault(pair.sink_reference, []).append(pair.relation)
    return {reference: union_map(relations) for reference, relations in found.items()}


def union_map_of(parts: list[isl.UnionMap]) -> isl.UnionMap:
    """The union of unions."""
    total = union_map(())
    for part in parts:
        total = total.union(part)
    return total


def identity(scop: Scop, *, but: frozenset[str] = frozenset()) -> isl.UnionMap:
    """Every instance of a program to itself, without some statements."""
    return union_map(isl.Map.identity(s.domain.get_space().map_from_set()).intersect_domain(s.domain)
                     for s in scop.statements if s.name not in but)


def pulled_back(schedule: isl.Schedule, back: isl.UnionMap, domain: isl.UnionSet) -> isl.Schedule:
    """The order of the instances that others stand for, over these."""
    pulled = schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(back))
    tree = from_isl(pulled)
    return to_isl(LoopTree(domain=domain, root=without_domains(tree.root, domain)))


def without_domains(node: Node, domain: isl.UnionSet) -> Node:
    """The same tree without what the domain says anyway, and without loops for statements that are not in it."""
    below = tuple(without_domains(child, domain) for child in children(node))
    node = with_children(node, below) if below else node
    if isinstance(node, Band):
        return replace(node, members=tuple(
            m.intersect_domain(domain.universe()).gist(domain).coalesce() for m in node.members))
    if isinstance(node, InSequence):
        return replace(node, branches=tuple((keep.gist(domain).coalesce(), child) for keep, child in node.branches))
    return node


def one_behind_the_other(node: Node, parts: Sequence[isl.Set], *, active: isl.UnionSet | None = None) -> Node:
    """A tree in which instances of some statements at the same place run in this order.

    Parameters
    ----------
    active : what arrives at the node; None for everything.
    """
    if active is not None and active.intersect(isl.UnionSet.from_set(parts[-1])).is_empty():
        return node
    match node:
        case Leaf():
            return InSequence(branches=tuple((isl.UnionSet.from_set(d), Leaf()) for d in parts))
        case InSequence():
            return replace(node, branches=tuple((keep, one_behind_the_other(child, parts, active=keep))
                                                for keep, child in node.branches))
        case Filter():
            return replace(node, child=one_behind_the_other(node.child, parts, active=node.keep))
        case Band() | Mark():
            return replace(node, child=one_behind_the_other(node.child, parts, active=active))


def wrapping_sum(old: Expr, addend: Expr) -> Expr:
    """The sum of two values in the type of the first; of integers with the wrap that C leaves undefined."""
    dtype = old.dtype
    if not dtype.is_integer:
        return Binary("+", old, addend, dtype)
    wraps = UINT32 if dtype.bits == UINT32.bits else UINT64
    left, right = (e if e.dtype == wraps else Cast(e, wraps) for e in (old, addend))
    total = Binary("+", left, right, wraps)
    return total if dtype == wraps else Cast(total, dtype)


def with_body(statement: Statement, item: Assign) -> Statement:
    """A statement with another assignment, and the accesses of that."""
    used = {item.target, *(e.reference for e in walk(item.value) if isinstance(e, Load))}
    if item.read is not None:
        used.add(item.read)
    known = statement.with_subscripts(used)
    return replace(statement, body=(item,), accesses=tuple(a for a in statement.accesses if a.reference in known))


def narrowed(statement: Statement, domain: isl.Set) -> Statement:
    """A statement of fewer instances."""
    return replace(statement, domain=domain, accesses=tuple(
        replace(a, relation=a.relation.intersect_domain(domain)) for a in statement.accesses))


def _same_at_the_end(before: Scop, after: Scop, back: isl.UnionMap) -> bool:
    """Every element that outlives the region is written last by what stands for its last writer."""
    for array in (a for a in after.arrays if not a.is_temporary):
        old, new = (_last_writers(scop, array.name) for scop in (before, after))
        if not new.apply_range(back).is_equal(old):
            return False
    return {a.name for a in after.arrays if not a.is_temporary} >= {
        x.array for s in before.statements for x in s.writes if not before.array(x.array).is_temporary}


def _last_writers(scop: Scop, array: str) -> isl.UnionMap:
    """Elements to the instance that writes them last; all instances that may write them."""
    order = scop.schedule.get_map()
    writes = [a for s in scop.statements for a in s.writes if a.array == array]
    must = union_map(a.relation.intersect_params(scop.context) for a in writes if a.kind is AccessKind.MUST_WRITE)
    may = union_map(a.relation.intersect_params(scop.context) for a in writes if a.kind is AccessKind.MAY_WRITE)
    last = must.reverse().apply_range(order).lexmax().apply_range(order.reverse())
    return last.intersect(must.reverse()).union(may.reverse())
