"""Control that depends on data: one statement of the Scop whose accesses may or may not happen."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.scop.body import Assign, BodyStatement, If, While
from polysched.scop.c_frontend.affine import may_be
from polysched.scop.c_frontend.assignments import (
    assign,
    close_statement,
    declared_scalar,
    forget,
    identifier,
    is_increment,
    open_statement,
    unchained,
)
from polysched.scop.c_frontend.bindings import stepped_name
from polysched.scop.c_frontend.expressions import StatementBuilder, expression
from polysched.scop.c_frontend.extraction import Extraction
from polysched.scop.c_frontend.order import Tree
from polysched.scop.c_frontend.parse import everything

CONTROL_HINTS = {
    "Goto": "restructure with if and for", "Label": "restructure with if and for",
    "Switch": "write it as if and else", "Return": "leave the function after the region",
    "Break": "put the condition into the loop's head", "Continue": "put the rest of the body into an if",
}
CONTROL_WORDS = {"Goto": "goto", "Label": "a label", "Switch": "switch", "Return": "return", "While": "while",
                 "DoWhile": "do", "Break": "break", "Continue": "continue", "Case": "case", "Default": "default"}


def refused(x: Extraction, node: c_ast.Node) -> UnsupportedScopError:
    """The refusal of a statement that a region cannot hold."""
    kind = type(node).__name__
    if kind in CONTROL_WORDS:
        return x.refuse(f"`{CONTROL_WORDS[kind]}` inside the region", node, hint=CONTROL_HINTS.get(kind))
    if kind == "FuncCall":
        return x.refuse("a call whose result is not used must have side effects", node,
                        hint="move the call out of the region, or inline what it does")
    return x.refuse("this statement has no effect that can be analysed", node,
                    hint="a region holds for, if, while, assignments and declarations")


def opaque_statement(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Tree | None:
    """A whole `if` or `while` on data as one statement."""
    builder = open_statement(x)
    body = guarded(builder, node, domain)
    forget(x, node)
    return close_statement(x, builder, node, domain, body)


def needs_flags(node: c_ast.Node | None) -> bool:
    """Whether something below cannot stand inside one statement: a `for` loop, `break` or `continue`."""
    return any(isinstance(n, c_ast.For | c_ast.Break | c_ast.Continue) for n in everything(node))


def guarded(b: StatementBuilder, node: c_ast.Node | None, domain: isl.Set) -> tuple[BodyStatement, ...]:
    """C statements as the body of one statement; nothing is known to happen."""
    x = b.x
    if node is None or isinstance(node, c_ast.EmptyStatement | c_ast.Pragma | c_ast.Typedef):
        return ()
    if isinstance(node, c_ast.Compound | c_ast.ExprList | c_ast.DeclList):
        items = {c_ast.Compound: "block_items", c_ast.ExprList: "exprs", c_ast.DeclList: "decls"}[type(node)]
        return tuple(s for item in getattr(node, items) or () for s in guarded(b, item, domain))
    if isinstance(node, c_ast.If):
        test = expression(b, node.cond, domain)
        then_domain, else_domain = (may_be(x, node.cond, domain, truth=truth) for truth in (True, False))
        forget(x, node)
        return (If(test, guarded(b, node.iftrue, then_domain), guarded(b, node.iffalse, else_domain)),)
    if isinstance(node, c_ast.While):
        return (_repeated(b, node, domain),)
    if isinstance(node, c_ast.DoWhile):
        forget(x, node)
        return (*guarded(b, node.stmt, domain), _repeated(b, node, domain))
    if isinstance(node, c_ast.Assignment) or is_increment(node):
        forget(x, node)
        return tuple(assign(b, single, domain, must=False) for single in unchained(node))
    if isinstance(node, c_ast.Decl):
        return _declared(b, node, domain)
    if isinstance(node, c_ast.For):
        return _counted(b, node, domain)
    raise refused(x, node)


def _counted(b: StatementBuilder, node: c_ast.For, domain: isl.Set) -> tuple[BodyStatement, ...]:
    """A `for` loop as the `while` loop that it stands for (C11 6.8.5.3); its counter is a variable like any other."""
    x = b.x
    if node.cond is None:
        raise x.refuse("a loop without a condition", node.init or node, witness="for (;;)",
                       hint="give the loop a condition")
    forget(x, node)
    stored = x.stored_counters
    x.stored_counters = stored | x.bindings.assigned.get(node, frozenset())
    before = guarded(b, node.init, domain)
    test = expression(b, node.cond, domain)
    repeated = guarded(b, node.stmt, domain)
    after = guarded(b, node.next, domain)
    x.stored_counters = stored
    return (*before, While(test, (*repeated, *after)))


def bounds_depend_on_data(x: Extraction, node: c_ast.For, domain: isl.Set) -> bool:
    """Whether a loop's first value or condition reads memory or a scalar that the region changes.

    Bounds that are not affine in parameters and counters alone are no such case: they are refused.
    """
    counter = stepped_name(node.next)
    heads = [node.init, node.cond] if isinstance(node.init, c_ast.Assignment | c_ast.DeclList) else [node.cond]
    for head in heads:
        for part in everything(head):
            if isinstance(part, c_ast.ArrayRef) or (isinstance(part, c_ast.UnaryOp) and part.op == "*"):
                return True
            if isinstance(part, c_ast.ID) and part.name != counter and part in x.bindings.meaning:
                symbol = x.bindings.meaning[part]
                if symbol in x.bindings.written and symbol not in x.known and x.loop_of(symbol) is None:
                    return True
    return False


def _repeated(b: StatementBuilder, node: c_ast.While | c_ast.DoWhile, domain: isl.Set) -> While:
    forget(b.x, node)
    test = expression(b, node.cond, domain)
    return While(test, guarded(b, node.stmt, domain))


def _declared(b: StatementBuilder, node: c_ast.Decl, domain: isl.Set) -> tuple[BodyStatement, ...]:
    x = b.x
    symbol = declared_scalar(x, node)
    if symbol is None or node.init is None:
        return ()
    value = expression(b, node.init, domain)
    reference, dtype = b.write(identifier(x, symbol, node), domain, must=False)
    return (Assign(reference, value, dtype),)
