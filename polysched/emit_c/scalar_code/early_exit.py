"""Where a loop that `break` has left would go on for nothing.

    for (i) { if (running) S; if (running) T; }  ->  for (i) { if (running) S; if (running) T; if (!running) break; }

A `break` that depends on data becomes a flag that all statements of the loop test.  Where the loop stays sequential
and whatever it executes tests the same variable, nothing happens any more once that is zero, not even to the variable.
"""

from __future__ import annotations

from collections.abc import Callable

from polysched.emit_c.loop_ir.index import variables
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Local, StatementInstance
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances, walk_nodes
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter
from polysched.scop.body import BodyStatement, Load
from polysched.scop.body import If as Guarded


def exit_test(loop: For, printer_of: Callable[[StatementInstance], ExpressionPrinter]) -> str | None:
    """The C text of a variable that, being zero, leaves a sequential loop nothing to do; None where there is none.

    Parameters
    ----------
    printer_of : prints the expressions of a statement instance.
    """
    below = list(walk_nodes(loop.body))
    if not all(isinstance(n, Block | For | If | Let | Local | StatementInstance) for n in below):
        return None
    moved = frozenset({loop.variable}) | {n.variable for n in below if isinstance(n, For | Let)}
    inside = {t.array for n in below if isinstance(n, Local) for t in n.temporaries}
    tests = [_tests(printer_of(leaf), moved, inside) for leaf in instances(loop.body)]
    return next((text for text in tests[0] if all(text in other for other in tests)), None) if tests else None


def _tests(printer: ExpressionPrinter, moved: frozenset[str], inside: set[str]) -> list[str]:
    """The variables that have to be nonzero for an instance to do anything, outermost first.

    Parameters
    ----------
    moved : what has different values in the loop.
    inside : arrays that the loop's body declares.
    """
    found, body = [], printer.statement.body
    while (guard := _only_guard(body)) is not None:
        if isinstance(guard.condition, Load):
            access = printer.statement.access(guard.condition.reference)
            forms = [linear_form(s, printer.iterators) for s in access.subscripts]
            if access.array not in inside and all(f is not None and not variables(f) & moved for f in forms):
                found.append(printer.element(access).code)
        body = guard.then
    return found


def _only_guard(body: tuple[BodyStatement, ...]) -> Guarded | None:
    match body:
        case (Guarded(otherwise=()) as guard,):
            return guard
        case _:
            return None
