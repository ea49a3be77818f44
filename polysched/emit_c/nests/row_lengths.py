"""How many iterations of a loop can run at all, by the rows of declared length that it walks along."""

from __future__ import annotations

from polysched.emit_c.loop_ir.index import Variable
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.scalar_code.heap import constant_extents
from polysched.scop.body import unconditional_references
from polysched.scop.scop import Scop


def most_iterations(loop: For, scop: Scop) -> int | None:
    """An upper bound of the iterations of a loop; None where no row says anything.

    `a[i][j]` of `a[12][12]` has a defined value for 12 iterations of j (C11 6.5.6p8).  What an array's first dimension
    declares says nothing: a parameter is a pointer.
    """
    found: list[int] = []
    for instance in instances(loop.body):
        statement = statement_at(scop, instance)
        values = dict(zip(statement.iterators, instance.iterators, strict=True))
        certain = set(unconditional_references(statement.body))
        for access in statement.accesses:
            extents = constant_extents(scop.array(access.array))
            if access.reference not in certain or len(extents) != len(access.subscripts):
                continue
            for subscript, extent in list(zip(access.subscripts, extents, strict=True))[1:]:
                form = linear_form(subscript, values)
                if extent is not None and form is not None and form.coefficient(Variable(loop.variable)):
                    found.append(extent)
    return min(found, default=None)
