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
from polysched.scop.c_frontend.bindings import describe
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
        raise x.refuse("a for loop inside a while loop", node.init or node,
                       witness=f"for (...; {describe(node.cond) if node.cond else ''}; ...)",
                       hint="write both as for loops with affine bounds, or both as while loops")
    raise refused(x, node)


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
