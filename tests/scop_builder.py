"""Scops from isl text, for tests of the rooms that only look at domains, accesses and schedules.

A statement is `(name, domain, reads, writes)`, where reads and writes are lists of `{ S0[i] -> A[i] }`
texts; a write text that starts with `?` is a may-write.  Bodies are empty: nothing here is executed.
"""

from __future__ import annotations

import re

import islpy as isl

from polysched.scop.dtypes import FLOAT64, INT32
from polysched.scop.scop import Access, AccessKind, Array, Parameter, Scop, Statement


def build_scop(statements: list[tuple[str, str, list[str], list[str]]], schedule: str, *,
               context: str = "{ : }", name: str = "test") -> Scop:
    """Make a Scop; `schedule` is a union map text, turned into one band per dimension."""
    parameters = sorted(set(re.findall(r"\b([A-Z])\b(?!\[)", " ".join(s[1] for s in statements) + context)))
    head = f"[{', '.join(parameters)}] -> "
    made = tuple(_statement(head, *s) for s in statements)
    context_set = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, head + context)
    domain = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    for statement in made:
        domain = domain.union(isl.UnionSet.from_set(statement.domain))
    tree = tree_of(isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, head + schedule), domain)
    accesses = [a for s in made for a in s.accesses]
    arrays = tuple(Array(name=array, dtype=FLOAT64,
                         extents=(None,) * next(a.relation.dim(isl.dim_type.out) for a in accesses
                                                if a.array == array))
                   for array in sorted({a.array for a in accesses}))
    return Scop(name=name, context=context_set, parameters=tuple(Parameter(p, INT32) for p in parameters),
                arrays=arrays, statements=made, schedule=tree)


def tree_of(schedule: isl.UnionMap, domain: isl.UnionSet) -> isl.Schedule:
    """A tree of nested one-member bands that runs `domain` in the lexicographic order of `schedule`."""
    values = isl.MultiUnionPwAff.from_union_map(schedule.intersect_domain(domain))
    tree = isl.Schedule.from_domain(domain)
    for member in reversed(range(values.dim(isl.dim_type.set))):
        tree = tree.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(values.get_union_pw_aff(member)))
    return tree


def _statement(head: str, name: str, domain: str, reads: list[str], writes: list[str]) -> Statement:
    instances = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, head + domain)
    accesses = []
    for number, text in enumerate([*reads, *writes]):
        if number < len(reads):
            kind = AccessKind.READ
        else:
            kind = AccessKind.MAY_WRITE if text.startswith("?") else AccessKind.MUST_WRITE
        relation = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, head + text.lstrip("?")).intersect_domain(instances)
        accesses.append(Access(reference=f"{name}_{'r' if kind is AccessKind.READ else 'w'}{number}",
                               array=relation.get_tuple_name(isl.dim_type.out), kind=kind, relation=relation))
    return Statement(name=name, line=0, domain=instances, body=(), accesses=tuple(accesses))
