"""A program at known sizes: capacities are proved for them, not found out at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from polysched.errors import UsageError
from polysched.scop.points import isl_value
from polysched.scop.scop import Scop, Statement


def at_sizes(scop: Scop, sizes: Mapping[str, int]) -> Scop:
    """The program with one value for each parameter, which keeps its name.

    Rewrite:  [n] -> { S[i] : 0 <= i < n }  ->  [n] -> { S[i] : 0 <= i < n and n = 64 }

    Statements that never run at these sizes are left out, and arrays that only they use.

    Raises
    ------
    UsageError : a parameter has no size, the sizes contradict the program, or nothing runs.
    """
    missing = [p.name for p in scop.parameters if p.name not in sizes]
    if missing:
        raise UsageError(f"the size {missing[0]} of {scop.name} is not known", where=scop.name,
                         hint=f"buffers are placed for known sizes: --size {missing[0]}=VALUE")
    given = ", ".join(f"{name}={value}" for name, value in sizes.items())
    context = scop.context
    for name in (p.name for p in scop.parameters):
        at = context.find_dim_by_name(isl.dim_type.param, name)
        context = context.fix_val(isl.dim_type.param, at, isl_value(sizes[name]))
    if context.is_empty():
        raise UsageError("the program does not allow these sizes", where=scop.name, witness=given)
    fixed = context.params()
    statements = tuple(found for s in scop.statements if not (found := _fixed(s, fixed)).domain.is_empty())
    if not statements:
        raise UsageError("no statement runs at these sizes", where=scop.name, witness=given,
                         hint="there is nothing to map: leave --target out, or give larger sizes")
    used = {access.array for s in statements for access in s.accesses}
    domain = scop.domain.intersect_params(fixed)
    return replace(scop, context=context, statements=statements, schedule=scop.schedule.intersect_domain(domain),
                   arrays=tuple(array for array in scop.arrays if array.name in used))


def _fixed(statement: Statement, fixed: isl.Set) -> Statement:
    accesses = tuple(replace(a, relation=a.relation.intersect_params(fixed)) for a in statement.accesses)
    return replace(statement, domain=statement.domain.intersect_params(fixed), accesses=accesses)
