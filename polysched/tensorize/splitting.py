"""One loop split in two, so that its halves may go into different dimensions of an instruction.

Rewrite:  for k  ->  for k_tile, for k_lane:  k = first + size * k_tile + k_lane,  0 <= k_lane < size

The statement gets one more iterator; domain, accesses, bodies and the schedule as written follow by the bijection
between the two sets of instances, so everything that is decided later is decided on an ordinary Scop.  Where the size
does not divide the extent the new domain is no box, and isl's check of the padding decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import islpy as isl

from polysched.scop.body import Assign, Binary, Expr, IteratorRef, Literal, rebuild
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.encoding import groups
from polysched.tensorize.fragment import Fragment, fragments
from polysched.tensorize.intrinsic import Intrinsic
from polysched.tensorize.isl_check import shared_depth


@dataclass(frozen=True, eq=False, kw_only=True)
class SplitFragment:
    """A fragment with one loop in two, and the names of the halves."""

    fragment: Fragment
    halves: tuple[str, str]


def split_fragments(fragment: Fragment, intrinsic: Intrinsic) -> Iterator[SplitFragment]:
    """Every loop that the statement has for itself, split by every extent of the instruction that it exceeds."""
    sizes = sorted({g.extent for g in groups(intrinsic) if g.extent is not None and g.extent > 1})
    alone = len(fragment.scop.statements) == 1
    for loop in fragment.loops[0 if alone else shared_depth(fragment):]:
        for size in sizes:
            if loop.extent > size:
                scop, halves = split_loop(fragment.scop, fragment.statement.name, loop.name, size=size,
                                          first=loop.lower)
                made = next(f for f in fragments(scop, sizes=fragment.sizes)
                            if f.statement.name == fragment.statement.name)
                if all(made.loop(half).extent > 1 for half in halves):   # else a stride of the loop fills a half
                    yield SplitFragment(fragment=made, halves=halves)


def split_loop(scop: Scop, name: str, loop: str, *, size: int, first: int) -> tuple[Scop, tuple[str, str]]:
    """The Scop with one loop of one statement in two, and the names of the halves, the outer one first.

    Parameters
    ----------
    first : least value of the loop, where the first whole half begins.
    """
    statement = scop.statement(name)
    taken = {n for s in scop.statements for n in s.iterators} | {a.name for a in scop.arrays}
    outer, inner = (_fresh(f"{loop}_{half}", taken) for half in ("tile", "lane"))
    old, at = statement.iterators, statement.iterators.index(loop)
    new = (*old[:at], outer, inner, *old[at + 1:])
    value = f"{first} + {size} * {outer} + {inner}"
    text = f"{{ {name}[{', '.join(new)}] -> {name}[{', '.join((*old[:at], value, *old[at + 1:]))}] " \
           f": 0 <= {inner} < {size} }}"
    back = isl.Map.read_from_str(scop.context.get_ctx(), text)
    statements = tuple(_split_statement(s, back, new, loop, (outer, inner), size, first) if s.name == name else s
                       for s in scop.statements)
    union = isl.UnionMap.from_map(back)
    for s in scop.statements:
        if s.name != name:
            union = union.union(isl.UnionMap.from_map(isl.Map.identity(s.domain.get_space().map_from_set())))
    schedule = scop.schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(union))
    return replace(scop, statements=statements, schedule=schedule), (outer, inner)


def _split_statement(statement: Statement, back: isl.Map, new: tuple[str, ...], loop: str, halves: tuple[str, str],
                     size: int, first: int) -> Statement:
    def change(e: Expr) -> Expr:
        if not isinstance(e, IteratorRef) or e.name != loop:
            return e
        scaled = Binary("*", IteratorRef(halves[0], e.dtype), Literal(str(size), size, e.dtype), e.dtype)
        shifted = Binary("+", scaled, IteratorRef(halves[1], e.dtype), e.dtype)
        return Binary("+", shifted, Literal(str(first), first, e.dtype), e.dtype) if first else shifted

    domain = back.intersect_range(statement.domain).domain()
    for position, iterator in enumerate(new):
        domain = domain.set_dim_name(isl.dim_type.set, position, iterator)
    accesses = tuple(replace(a, relation=back.apply_range(a.relation).intersect_domain(domain),
                             subscripts=tuple(rebuild(x, change) for x in a.subscripts)) for a in statement.accesses)
    body = tuple(replace(b, value=rebuild(b.value, change)) if isinstance(b, Assign) else b for b in statement.body)
    return replace(statement, domain=domain, accesses=accesses, body=body)


def _fresh(wish: str, taken: set[str]) -> str:
    while wish in taken:
        wish += "_"
    taken.add(wish)
    return wish
