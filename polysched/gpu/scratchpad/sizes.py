"""A program at known sizes: capacities are proved for them, not found out at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from polysched.errors import UsageError
from polysched.scop.points import isl_value
from polysched.scop.scop import Scop


def at_sizes(scop: Scop, sizes: Mapping[str, int]) -> Scop:
    """The program with one value for each parameter, which keeps its name.

    Rewrite:  [n] -> { S[i] : 0 <= i < n }  ->  [n] -> { S[i] : 0 <= i < n and n = 64 }

    Raises
    ------
    UsageError : a parameter has no size, or the sizes contradict the program.
    """
    missing = [p.name for p in scop.parameters if p.name not in sizes]
    if missing:
        raise UsageError(f"the size {missing[0]} of {scop.name} is not known", where=scop.name,
                         hint=f"buffers are placed for known sizes: --size {missing[0]}=VALUE")
    context = scop.context
    for name in (p.name for p in scop.parameters):
        at = context.find_dim_by_name(isl.dim_type.param, name)
        context = context.fix_val(isl.dim_type.param, at, isl_value(sizes[name]))
    if context.is_empty():
        raise UsageError("the program does not allow these sizes", where=scop.name,
                         witness=", ".join(f"{name}={sizes[name]}" for name in sizes))
    fixed = context.params()
    statements = tuple(replace(s, domain=s.domain.intersect_params(fixed), accesses=tuple(
        replace(a, relation=a.relation.intersect_params(fixed)) for a in s.accesses)) for s in scop.statements)
    domain = scop.domain.intersect_params(fixed)
    return replace(scop, context=context, statements=statements, schedule=scop.schedule.intersect_domain(domain))
