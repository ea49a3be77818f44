"""The order of accesses: that of the instances as written, and inside an instance the order of its body."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polysched.scop.body import Load, references, walk
from polysched.scop.points import isl_value
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Access, Scop, Statement, union_map


def access_schedule(scop: Scop) -> isl.Schedule:
    """The schedule as written over tagged instances, with the order inside an instance below every leaf."""
    # Over whole spaces: constraints here would multiply with those of the domains in every band.
    tagged = [isl.Map.universe(a.tagged_relation.domain().unwrap().get_space())
              for s in scop.statements for a in s.accesses]
    untag = isl.UnionPwMultiAff.from_union_map(union_map(t.domain_map() for t in tagged))
    schedule = scop.schedule.pullback_union_pw_multi_aff(untag)
    stages = isl.UnionPwAff.empty_ctx(isl.DEFAULT_CONTEXT)
    for statement in scop.statements:
        stage_of = access_stages(statement)
        for access in statement.accesses:
            domain = isl.UnionSet.from_set(isl.Set.universe(access.tagged_relation.domain().get_space()))
            value = isl_value(stage_of[access.reference])
            stages = stages.union_add(isl.UnionPwAff.val_on_domain(domain, value))
    if stages.n_pw_aff() == 0:
        return schedule
    return _insert_at_leaves(schedule.get_root(), isl.MultiUnionPwAff.from_union_pw_aff(stages)).get_schedule()


def _insert_at_leaves(node: isl.ScheduleNode, band: isl.MultiUnionPwAff) -> isl.ScheduleNode:
    if kind_of(node) == NodeKind.leaf:
        return node.insert_partial_schedule(band)
    for position in range(node.n_children()):
        node = _insert_at_leaves(node.child(position), band).parent()
    return node


def access_stages(statement: Statement) -> dict[str, int]:
    """When each access of one instance happens, relative to the others of the same instance.

    The k-th item of the body reads at stage 2k and writes at stage 2k+1.  What the body does not name, the
    subscripts' own loads, happens at the stage at which its access is evaluated.  An early stage for a read
    is always sound: it can only add a dependence on another instance.
    """
    stage = {a.reference: 1 if a.is_write else 0 for a in statement.accesses}
    for position, item in enumerate(statement.body):
        for reference in references((item,)):
            access = statement.access(reference)
            stage[reference] = 2 * position + (1 if access.is_write else 0)
            for inner in _subscript_loads(access):
                stage[inner] = 2 * position
    return stage


def _subscript_loads(access: Access) -> Iterator[str]:
    for subscript in access.subscripts:
        yield from (e.reference for e in walk(subscript) if isinstance(e, Load))
