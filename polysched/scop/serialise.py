"""A Scop as plain values for JSON, in isl notation, for scripts in any language.

    {"name", "context", "parameters", "arrays": [{"name", "dtype", "extents"}],
     "statements": [{"name", "line", "domain", "reads", "may_writes", "must_writes", "body"}],
     "schedule", "assumptions", "notes"}

Every set, relation and schedule is text that isl parses back to the same value.
"""

from __future__ import annotations

from typing import Any

from polysched.scop.body import (
    Address,
    Assign,
    Binary,
    BodyStatement,
    Call,
    Cast,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Perform,
    Select,
    Unary,
    While,
)
from polysched.scop.scop import AccessKind, Array, Assumption, Scop, Statement, union_map

# C's precedence of operators, strongest first (C11 6.5).
PRECEDENCE = {op: level for level, ops in enumerate(
    (("*", "/", "%"), ("+", "-"), ("<<", ">>"), ("<", "<=", ">", ">="), ("==", "!="), ("&",), ("^",), ("|",),
     ("&&",), ("||",)), start=3) for op in ops}
_TERNARY, _UNARY, _PRIMARY = 13, 2, 0


def scop_to_json(scop: Scop) -> dict[str, Any]:
    """The Scop as dictionaries, lists, strings and numbers."""
    return {
        "name": scop.name,
        "context": str(scop.context),
        "parameters": [p.name for p in scop.parameters],
        "arrays": [_array(a) for a in scop.arrays],
        "statements": [_statement(scop, s) for s in scop.statements],
        "schedule": str(scop.schedule),
        "assumptions": [_assumption(a) for a in scop.assumptions],
        "notes": list(scop.notes),
    }


def _array(array: Array) -> dict[str, Any]:
    return {"name": array.name, "dtype": array.dtype.name,
            "extents": [None if e is None else str(e) for e in array.extents], "storage": array.storage.value}


def _assumption(assumption: Assumption) -> dict[str, Any]:
    return {"kind": assumption.kind, "text": assumption.text, "condition": assumption.condition,
            "parameters": None if assumption.parameters is None else str(assumption.parameters)}


def _statement(scop: Scop, statement: Statement) -> dict[str, Any]:
    def relation(kind: AccessKind) -> str:
        return str(union_map(a.relation for a in statement.accesses if a.kind is kind))

    return {"name": statement.name, "line": statement.line, "domain": str(statement.domain),
            "reads": relation(AccessKind.READ), "may_writes": relation(AccessKind.MAY_WRITE),
            "must_writes": relation(AccessKind.MUST_WRITE), "body": body_text(scop, statement)}


def body_text(scop: Scop, statement: Statement) -> str:
    """What one instance of a statement does, as C over its iterators; parameters under their C names."""
    return " ".join(_item(scop, statement, item) for item in statement.body)


def _item(scop: Scop, statement: Statement, item: BodyStatement) -> str:
    match item:
        case Assign():
            target = _element(scop, statement, item.target)
            return f"{target} {item.op or ''}= {expression_text(scop, statement, item.value)};"
        case If():
            text = f"if ({expression_text(scop, statement, item.condition)}) {_block(scop, statement, item.then)}"
            return text + (f" else {_block(scop, statement, item.otherwise)}" if item.otherwise else "")
        case While():
            return (f"while ({expression_text(scop, statement, item.condition)}) "
                    f"{_block(scop, statement, item.body)}")
        case Perform():
            target = "" if item.target is None else f"{_element(scop, statement, item.target)} {item.op or ''}= "
            return f"{target}{expression_text(scop, statement, item.call)};"


def _block(scop: Scop, statement: Statement, items: tuple[BodyStatement, ...]) -> str:
    return "{ " + "".join(_item(scop, statement, i) + " " for i in items) + "}"


def _element(scop: Scop, statement: Statement, reference: str) -> str:
    access = statement.access(reference)
    array = scop.array(access.array)
    subscripts = [expression_text(scop, statement, s) for s in access.subscripts]
    if array.c_element:
        return array.c_element.format(*subscripts)
    return array.name + "".join(f"[{s}]" for s in subscripts)


def expression_text(scop: Scop, statement: Statement, expr: Expr) -> str:
    """An expression as C, with as few parentheses as its meaning needs."""
    return _text(scop, statement, expr)[0]


def _text(scop: Scop, statement: Statement, expr: Expr) -> tuple[str, int]:
    """The text and its precedence level, from C's table; the smaller, the tighter."""
    def inner(child: Expr, level: int) -> str:
        text, own = _text(scop, statement, child)
        return text if own <= level else f"({text})"

    match expr:
        case Literal():
            return expr.text, _PRIMARY
        case IteratorRef():
            return expr.name, _PRIMARY
        case ParameterRef():
            spelling = {p.name: p.spelling for p in scop.parameters}.get(expr.name, expr.name)
            return spelling, _PRIMARY
        case Load():
            return _element(scop, statement, expr.reference), _PRIMARY
        case Unary():
            return expr.op + inner(expr.operand, _PRIMARY), _UNARY
        case Binary():
            level = PRECEDENCE[expr.op]
            return f"{inner(expr.left, level)} {expr.op} {inner(expr.right, level - 1)}", level
        case Select():
            return (f"{inner(expr.condition, _TERNARY - 1)} ? {inner(expr.then, _TERNARY)} : "
                    f"{inner(expr.otherwise, _TERNARY)}"), _TERNARY
        case Call():
            arguments = ", ".join(expression_text(scop, statement, a) for a in expr.arguments)
            return f"{expr.function}({arguments})", _PRIMARY
        case Address():
            return f"&{_element(scop, statement, expr.references[0])}", _UNARY
        case Cast():
            return f"({expr.dtype.c_name}){inner(expr.operand, _PRIMARY)}", _UNARY
