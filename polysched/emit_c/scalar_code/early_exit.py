"""Where a loop would run, or go on once `break` has left it, for nothing.

    for (i) { if (running) S; if (running) T; }  ->  for (i) { if (running) S; if (running) T; if (!running) break; }
    for (i) if (taken) S;                        ->  if (taken) for (i) if (taken) S;

A `break` that depends on data becomes a flag that all statements of the loop test.  Where the loop stays sequential
and whatever it executes tests the same variable, nothing happens any more once that is zero, not even to the variable.
So does a condition on data around a loop, which is not entered then, in whatever order its iterations would run.
"""

from __future__ import annotations

from collections.abc import Callable

from polysched.emit_c.loop_ir.index import variables
from polysched.emit_c.loop_ir.loops import (
    Block,
    For,
    If,
    Let,
    Local,
    Node,
    RegisterTile,
    StatementInstance,
    Temporary,
)
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances, walk_nodes
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter
from polysched.scop.body import BodyStatement, Load, Unary
from polysched.scop.body import If as Guarded


def exit_test(loop: For, printer_of: Callable[[StatementInstance], ExpressionPrinter]) -> str | None:
    """The C text of a variable that, being zero, leaves a sequential loop nothing to do; None where there is none.

    Parameters
    ----------
    printer_of : prints the expressions of a statement instance.
    """
    if any(isinstance(n, RegisterTile) for n in walk_nodes(loop.body)):
        return None
    testing = loops_of_test(loop.body) is not None
    return next((text for text in _common(loop, printer_of) if not text.startswith("!")
                 and (testing or not is_element(text))), None)


def entry_test(loop: For, printer_of: Callable[[StatementInstance], ExpressionPrinter]) -> str | None:
    """The C text of a test of a variable without which a loop has nothing to do; None where there is none.

    Of an element it is one only where every iteration makes it: then the element exists where the loop runs at all.
    """
    always = loop.guard is None and loops_of_test(loop.body) == ()
    return next((text for text in _common(loop, printer_of) if always or not is_element(text)), None)


def is_element(test: str) -> bool:
    """Whether a test is of an element, or of what a pointer leads to, which need not exist where none is made."""
    return not test.removeprefix("!").isidentifier()


def loops_of_test(body: Node) -> tuple[For, ...] | None:
    """The loop in a body, if any, that has to run for some statement to be executed; None where it takes more."""
    match body:
        case Block():
            found = [loops for child in body.children if (loops := loops_of_test(child)) is not None]
            return min(found, key=len, default=None)
        case Local():
            return loops_of_test(body.body)
        case For(guard=None):
            return (body,) if loops_of_test(body.body) == () else None
        case _:
            return () if isinstance(body, StatementInstance) or (
                isinstance(body, RegisterTile) and not body.loops) else None


def _common(loop: For, printer_of: Callable[[StatementInstance], ExpressionPrinter]) -> list[str]:
    """The tests that everything below a loop makes of the same variables, outermost first."""
    below = list(walk_nodes(loop.body))
    if not all(isinstance(n, Block | For | If | Let | Local | RegisterTile | StatementInstance) for n in below):
        return []
    moved = frozenset({loop.variable}).union(*map(_moved, below))
    inside = {t.array for n in below for t in _declared(n)}
    tests = [tests_of(printer_of(leaf), moved, inside) for leaf in instances(loop.body)]
    return [text for text in tests[0] if all(text in other for other in tests)] if tests else []


def _moved(node: Node) -> frozenset[str]:
    match node:
        case For() | Let():
            return frozenset({node.variable})
        case RegisterTile():
            return frozenset({*(loop.variable for loop in node.loops), *(edge.variable for edge in node.edges)})
        case _:
            return frozenset()


def _declared(node: Node) -> tuple[Temporary, ...]:
    match node:
        case Local():
            return node.temporaries
        case RegisterTile():
            return node.private
        case _:
            return ()


def tests_of(printer: ExpressionPrinter, moved: frozenset[str], inside: set[str]) -> list[str]:
    """The tests that have to hold for an instance to do anything, of variables, outermost first.

    Of an element it is the outermost condition alone: below another one the element may not exist.

    Parameters
    ----------
    moved : what has different values in the loop.
    inside : arrays that the loop's body declares.
    """
    found, body = [], printer.statement.body
    outermost = _only_guard(body)
    while (guard := _only_guard(body)) is not None:
        negated = isinstance(guard.condition, Unary) and guard.condition.op == "!"
        tested = guard.condition.operand if isinstance(guard.condition, Unary) else guard.condition
        if isinstance(tested, Load) and (negated or tested is guard.condition):
            access = printer.statement.access(tested.reference)
            forms = [linear_form(s, printer.iterators) for s in access.subscripts]
            if access.array not in inside and all(f is not None and not variables(f) & moved for f in forms):
                test = "!" * negated + printer.element(access).code
                found += [test] if guard is outermost or not is_element(test) else []
        body = guard.then
    return found


def _only_guard(body: tuple[BodyStatement, ...]) -> Guarded | None:
    match body:
        case (Guarded(otherwise=()) as guard,):
            return guard
        case _:
            return None
