"""`original_when_small`: where there is too little to do for the transformed code to pay, the original runs.

A team of threads, even one that an `if` clause keeps from starting, a test, an allocation: each costs time once per
call, whatever the size.  The crossover follows from how many of them the emitted text has.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.emit_c.c_source import CSource
from polysched.emit_c.original_code import inside, original_lines
from polysched.emit_c.size_text import size_text
from polysched.errors import UsageError
from polysched.scop.body import Call, statement_expressions, walk
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop, Statement

ITERATIONS_OF_A_REGION = 512
"""Iterations of a cheap loop that take as long as entering one parallel region: half a microsecond."""
ITERATIONS_IN_LANES_OF_A_REGION = 8192
"""The same for loops that the compiler runs in lanes as well: adding 2000 floats took 0.13 microseconds, and 0.8 with a
region that its `if` clause keeps from starting a team (gcc 12)."""
ITERATIONS_OF_AN_ALLOCATION = 1024
TYPICAL_SIZE = 1000


def crossover(source: CSource) -> int:
    """Iterations of the deepest statement below which the original code is taken to be faster."""
    teams = source.text.count("#pragma omp parallel")
    region = ITERATIONS_IN_LANES_OF_A_REGION if teams and _is_light(source.scop) else ITERATIONS_OF_A_REGION
    return region * (1 + teams) + ITERATIONS_OF_AN_ALLOCATION * len(source.allocated)


def _is_light(scop: Scop) -> bool:
    """Whether there are single loops without calls only, for which compilers have vectors too."""
    return all(statement.depth <= 1 and not any(
        isinstance(part, Call) for top in statement_expressions(statement.body) for part in walk(top))
        for statement in scop.statements)


def original_when_small(source: CSource) -> CSource:
    """Put the region behind a test of how much there is to do, with the original code as the other branch.

    Rewrite:  NEW  ->  if (iterations >= crossover) { NEW } else { ORIGINAL }

    Iterations are those of the deepest statement, counted in the box around them.  A region whose iterations have no
    known bound, or are certainly enough, stays as it is.

    Raises
    ------
    UsageError : the region does not come from a C file.
    """
    scop = source.scop
    if scop.source is None:
        raise UsageError("the original code is not at hand", where=scop.name, hint="--safe is for regions of C files")
    boxes = [box for statement in scop.statements if (box := _box(scop, statement)) is not None]
    if not boxes:
        return source
    largest = max(boxes, key=lambda box: _size(box, scop))
    if all(extent.is_cst() for extent in largest) and _size(largest, scop) >= crossover(source):
        return source
    count = " * ".join(f"({size_text(scop, extent)})" for extent in largest) or "1"
    lines = [f"if ((double){count} >= {crossover(source)}) {{", *map(inside, source.text.splitlines()), "} else {",
             *original_lines(scop), "}"]
    return replace(source, text="".join(f"{line}\n" for line in lines))


def _box(scop: Scop, statement: Statement) -> tuple[isl.PwAff, ...] | None:
    """The length of each iterator's range, over the parameters; None when one has no bound."""
    domain = statement.domain.intersect_params(scop.context)
    dims = range(statement.depth)
    if domain.is_empty() or not all(domain.dim_has_any_lower_bound(isl.dim_type.set, k)
                                    and domain.dim_has_any_upper_bound(isl.dim_type.set, k) for k in dims):
        return None
    one = isl.Val.one(isl.DEFAULT_CONTEXT)
    return tuple(domain.dim_max(k).sub(domain.dim_min(k)).add_constant_val(one).project_domain_on_params()
                 for k in dims)


def _size(box: tuple[isl.PwAff, ...], scop: Scop) -> int:
    """The number of points of a box where every parameter has one large value."""
    values = {p.name: TYPICAL_SIZE for p in scop.parameters}
    size = 1
    for extent in box:
        at = fix_parameters(isl.Set.from_pw_aff(extent), values)
        size *= 0 if at.is_empty() else int(at.dim_max_val(0).to_python())
    return size
