"""Short loops over elements that lie apart are unrolled by the compiler.

Rewrite:  for (i = a; i < b; i++) y[i][0] += x[i][0]  ->  the same, marked to be unrolled

Such a loop has no vectors to load: an iteration is a few instructions, and stepping pointers and branching takes as
long as they do.  Compilers unroll it when they are asked to, with `#pragma GCC unroll` (GCC 12 manual, 6.62.16).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Linear, Variable
from polysched.emit_c.loop_ir.loops import For, Node, RegisterTile, StatementInstance
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances, map_children, straight, walk_nodes
from polysched.scop.body import Assign, Call, statement_expressions, walk
from polysched.scop.scop import Access, Scop

COPIES = LIMITS.strided_copies
MOST_ACCESSES = LIMITS.most_strided_accesses


def unroll_strided(node: Node, scop: Scop, *, simd: bool) -> Node:
    """Mark the innermost loops that write short bodies' results to elements apart.

    Parameters
    ----------
    simd : loops marked for lanes get them.
    """
    if not isinstance(node, For) or any(isinstance(n, For | RegisterTile) for n in walk_nodes(node.body)):
        return map_children(node, partial(unroll_strided, scop=scop, simd=simd))
    if not (simd and node.mark.simd) and _is_short(node, scop) and _writes_apart(node, scop):
        return replace(node, mark=replace(node.mark, unroll=COPIES))
    return node


def _is_short(loop: For, scop: Scop) -> bool:
    """Whether an iteration is a few assignments, and the loop one that compilers do not unroll by themselves."""
    if not _has_plain_head(loop, scop) or straight(loop.body) is None:
        return False
    bodies = [statement_at(scop, i) for i in instances(loop.body)]
    calls = any(isinstance(part, Call) for s in bodies for e in statement_expressions(s.body) for part in walk(e))
    plain = all(isinstance(item, Assign) for s in bodies for item in s.body)
    return plain and not calls and sum(len(s.accesses) for s in bodies) <= MOST_ACCESSES


def _has_plain_head(loop: For, scop: Scop) -> bool:
    """Whether a loop counts to a bound without a choice: gcc 12 warns that it ignores the pragma of others."""
    length = loop.upper - loop.lower
    if loop.mark.register or loop.yields or not loop.is_canonical or length.is_constant:
        return False
    computed = {p.name for p in scop.parameters if "?" in p.spelling}
    return all(isinstance(atom, Variable) and atom.name not in computed for atom, _ in loop.upper.terms)


def _writes_apart(loop: For, scop: Scop) -> bool:
    """Whether all that is written goes to elements apart."""
    return all(_moves_apart(access, instance, loop, scop)
               for instance in instances(loop.body) for access in statement_at(scop, instance).writes)


def _moves_apart(access: Access, instance: StatementInstance, loop: For, scop: Scop) -> bool:
    """Whether an access goes from element to element with others in between."""
    values = dict(zip(statement_at(scop, instance).iterators, instance.iterators, strict=True))
    *outer, last = ([linear_form(s, values) for s in access.subscripts] or [None])
    steps = [_step(form, loop) for form in outer]
    return any(steps) or (last is not None and abs(_step(last, loop)) > 1)


def _step(form: Linear | None, loop: For) -> int:
    """By how much a subscript grows from one iteration to the next; 0 where that is not known."""
    return 0 if form is None else loop.step * form.coefficient(Variable(loop.variable))
