"""A program of other statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polysched.scop.scop import Scop, Statement, union_set


def with_statements(scop: Scop, statements: Sequence[Statement], *, schedule: isl.Schedule | None = None) -> Scop:
    """The program of these statements alone.

    Its schedule is the one given, or that of the program, on their domains.  Temporaries that they do not use are gone.
    """
    used = {a.array for s in statements for a in s.accesses}
    order = scop.schedule if schedule is None else schedule
    return replace(scop, statements=tuple(statements),
                   schedule=order.intersect_domain(union_set(s.domain for s in statements)),
                   arrays=tuple(a for a in scop.arrays if a.name in used or not a.is_temporary))
