"""Statements and iterators under other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polysched.scop.body import Assign, Expr, Load, rebuild
from polysched.scop.scop import Statement


def renamed_statement(statement: Statement, name: str, fresh: Mapping[str, str]) -> Statement:
    """The statement under another name, with references of its own."""
    def change(e: Expr) -> Expr:
        return Load(fresh[e.reference], e.dtype) if isinstance(e, Load) else e

    accesses = tuple(replace(a, reference=fresh[a.reference], relation=a.relation.set_tuple_name(
        isl.dim_type.in_, name), subscripts=tuple(rebuild(x, change) for x in a.subscripts))
        for a in statement.accesses)
    body = tuple(replace(b, target=fresh[b.target], value=rebuild(b.value, change),
                         read=None if b.read is None else fresh[b.read]) if isinstance(b, Assign) else b
                 for b in statement.body)
    return replace(statement, name=name, domain=statement.domain.set_tuple_name(name), accesses=accesses, body=body)


def fresh_name(wish: str, taken: set[str]) -> str:
    while wish in taken:
        wish += "_"
    taken.add(wish)
    return wish


def named_set(domain: isl.Set, iterators: Sequence[str]) -> isl.Set:
    """The set with these names of its dimensions, as far as they go."""
    for at, name in enumerate(iterators):
        domain = domain.set_dim_name(isl.dim_type.set, at, name)
    return domain


def named_map(relation: isl.Map, iterators: Sequence[str]) -> isl.Map:
    """The relation with these names of the dimensions of its domain, as far as they go."""
    for at, name in enumerate(iterators):
        relation = relation.set_dim_name(isl.dim_type.in_, at, name)
    return relation
