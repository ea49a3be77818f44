"""Reading the text form of the loop IR: `parse_loops(loop_text(node)) == node`.

The text is Python's syntax, so `ast` splits it; nothing of it is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, NoReturn, TypeAlias, TypeVar

from polysched.emit_c.loop_ir import loops
from polysched.emit_c.loop_ir.index import (
    Choice,
    Comparison,
    Condition,
    Extreme,
    Junction,
    Linear,
    Product,
    Quotient,
    Remainder,
    SourceOperation,
    ToBoundary,
    constant,
    of_atom,
    variable,
)
from polysched.emit_c.loop_ir.loops import (
    Block,
    For,
    If,
    Let,
    Local,
    Node,
    OnCopy,
    Packed,
    RegisterTile,
    StatementInstance,
    ThreadReduction,
)
from polysched.errors import SourceSyntaxError
from polysched.scheduling.marks import LoopMark
from polysched.scop import body, dtypes

_RECORDS: dict[str, type] = {
    **{c.__name__: c for c in (loops.Temporary, loops.Edge, loops.Panel, loops.PackedOperand, loops.Partial,
                               loops.PartialElement, loops.ThreadPart, loops.FetchedRow, loops.StatementInstance,
                               loops.Settled, For, Block, RegisterTile)},
    **{c.__name__: c for c in (body.Literal, body.Load, body.IteratorRef, body.ParameterRef, body.Unary, body.Binary,
                               body.Cast, body.Select, body.Call)},
}
_DTYPES = {d.name: d for d in vars(dtypes).values() if isinstance(d, dtypes.DType)}
_T = TypeVar("_T")
Panels: TypeAlias = Mapping[str, loops.Panel]   # those that are filled around a node
_COMPARISONS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=="}


def parse_loops(text: str) -> Node:
    """The node whose text form this is.

    Raises
    ------
    SourceSyntaxError : the text is not a text form; the witness is the line.
    """
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise SourceSyntaxError("this is no text form of the loop IR", where=f"line {error.lineno}",
                                witness=(error.text or "").strip()) from None
    return _block(module.body, {})


def _refuse(node: ast.AST) -> NoReturn:
    raise SourceSyntaxError("this is no text form of the loop IR", where=f"line {getattr(node, 'lineno', '?')}",
                            witness=ast.unparse(node).split("\n")[0])


def _block(statements: Sequence[ast.stmt], panels: Panels) -> Node:
    made = tuple(_node(statement, panels) for statement in statements if not isinstance(statement, ast.Pass))
    return made[0] if len(made) == 1 else Block(made)


def _node(statement: ast.stmt, panels: Panels) -> Node:
    match statement:
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[lower, upper, *step], keywords=keywords)):
            given = _keywords(keywords)
            return _made(For, statement, _name(statement.target), _linear(lower), _linear(upper),
                         _number(step[0]) if step else 1, _block(statement.body, panels), **given)
        case ast.If():
            return If(_condition(statement.test), _block(statement.body, panels),
                      _block(statement.orelse, panels) if statement.orelse else None)
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Name(id=kind)) as call)]) if kind in _NODES:
            return _NODES[kind](call, statement.body, panels)
        case ast.Expr(value=ast.Call() as call):
            return _instance(call)
    _refuse(statement)


def _instance(call: ast.Call) -> StatementInstance:
    match call.func:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id="statements"), slice=ast.Constant(value=str(name))):
            return _made(StatementInstance, call, name, tuple(map(_linear, call.args)), **_keywords(call.keywords))
    _refuse(call)


def _read_block(_: ast.Call, inner: Sequence[ast.stmt], panels: Panels) -> Node:
    return Block(tuple(_node(s, panels) for s in inner if not isinstance(s, ast.Pass)))


def _read_let(call: ast.Call, inner: Sequence[ast.stmt], panels: Panels) -> Node:
    match call.args:
        case [name, value]:
            return _made(Let, call, _name(name), _linear(value), _block(inner, panels), **_keywords(call.keywords))
    _refuse(call)


def _read_local(call: ast.Call, inner: Sequence[ast.stmt], panels: Panels) -> Node:
    return Local(tuple(_record_of(loops.Temporary, arg) for arg in call.args), _block(inner, panels))


def _read_tile(call: ast.Call, inner: Sequence[ast.stmt], panels: Panels) -> Node:
    given = _keywords(call.keywords)
    names = given.pop("panels", ())
    if unknown := [name for name in names if name not in panels]:
        raise SourceSyntaxError(f"no panel {unknown[0]} is filled around this tile", where=f"line {call.lineno}")
    return _made(RegisterTile, call, body=_block(inner, panels), panels=tuple(panels[name] for name in names), **given)


def _read_packed(call: ast.Call, inner: Sequence[ast.stmt], panels: Panels) -> Node:
    match call.args:
        case [panel, ast.Call() as source]:
            copied = _record_of(loops.Panel, panel)
            return Packed(copied, _instance(source), _block(inner, {**panels, copied.name: copied}))
    _refuse(call)


def _read_copy(call: ast.Call, inner: Sequence[ast.stmt], panels: Panels) -> Node:
    match call.args:
        case [tile, count]:
            return OnCopy(_record_of(RegisterTile, tile), _number(count), _block(inner, panels))
    _refuse(call)


def _read_reduction(call: ast.Call, inner: Sequence[ast.stmt], panels: Panels) -> Node:
    return _made(ThreadReduction, call, loop=_block(inner, panels), **_keywords(call.keywords))


def _made(kind: Callable[..., _T], node: ast.AST, /, *given: object, **named: object) -> _T:
    """The record of these fields; refused where it has no such field, or lacks one."""
    try:
        signature(kind).bind(*given, **named)
    except TypeError:
        _refuse(node)
    return kind(*given, **named)


def _record_of(kind: type[_T], node: ast.expr) -> _T:
    found = _record(node)
    if not isinstance(found, kind):
        _refuse(node)
    return found


_NODES: dict[str, Callable[[ast.Call, Sequence[ast.stmt], Panels], Node]] = {
    "block": _read_block, "let": _read_let, "local": _read_local, "register_tile": _read_tile, "packed": _read_packed,
    "on_copy": _read_copy, "thread_reduction": _read_reduction}


def _keywords(keywords: Sequence[ast.keyword]) -> dict[str, Any]:
    return {str(k.arg): _mark(k.value) if k.arg == "mark" else _record(k.value) for k in keywords}


def _mark(node: ast.expr) -> LoopMark:
    try:
        mark = LoopMark.from_text(f"{LoopMark.PREFIX} {_record(node)}")
    except ValueError:
        _refuse(node)
    assert mark is not None, "the text begins with the prefix"
    return mark


def _record(node: ast.expr) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Tuple():
            return tuple(map(_record, node.elts))
        case ast.Call(func=ast.Name(id="linear"), args=[form]):
            return _linear(form)
        case ast.Call(func=ast.Name(id="condition"), args=[test]):
            return _condition(test)
        case ast.Call(func=ast.Name(id="loop"), args=[name, lower, upper, *step]):
            return _made(For, node, _name(name), _linear(lower), _linear(upper), _number(step[0]) if step else 1,
                         Block(()), **_keywords(node.keywords))
        case ast.Call(func=ast.Name(id="edge"), args=[name, base, count]):
            return loops.Edge(_name(name), _linear(base), _number(count), bool(node.keywords))
        case ast.Call(func=ast.Name(id="dtype"), args=[ast.Constant(value=str(name))]) if name in _DTYPES:
            return _DTYPES[name]
        case ast.Call(func=ast.Name(id=name), args=[]) if name in _RECORDS:
            return _made(_RECORDS[name], node, **_keywords(node.keywords))
    _refuse(node)


def _number(node: ast.expr) -> int:
    value = _record(node)
    if not isinstance(value, int):
        _refuse(node)
    return value


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id="names"), slice=ast.Constant(value=str(name))):
            return str(name)
    _refuse(node)


def _linear(node: ast.expr) -> Linear:
    match node:
        case ast.Constant(value=int(value)):
            return constant(value)
        case ast.Name() | ast.Subscript():
            return variable(_name(node))
        case ast.UnaryOp(op=ast.USub()):
            return _linear(node.operand) * -1
        case ast.BinOp(op=ast.Add()):
            return _linear(node.left) + _linear(node.right)
        case ast.BinOp(op=ast.Sub()):
            return _linear(node.left) - _linear(node.right)
        case ast.BinOp(op=ast.Mult()):
            return _linear(node.right) * _number(node.left)
        case ast.Call(func=ast.Name(id=kind), args=args):
            return _atom(kind, args, node)
    _refuse(node)


def _atom(kind: str, args: list[ast.expr], node: ast.expr) -> Linear:
    match kind, args:
        case ("floord" | "quot"), [numerator, divisor]:
            return of_atom(Quotient(_linear(numerator), _number(divisor), kind == "quot"))
        case "rem", [numerator, divisor]:
            return of_atom(Remainder(_linear(numerator), _number(divisor)))
        case "source", [ast.Constant(value=str(op)), operand, number]:
            return of_atom(SourceOperation(op, _linear(operand), _number(number)))
        case ("min" | "max"), _:
            return of_atom(Extreme(kind, tuple(map(_linear, args))))
        case "choose", [test, then, otherwise]:
            return of_atom(Choice(_condition(test), _linear(then), _linear(otherwise)))
        case "to_boundary", [ast.Constant(value=str(template)), element, boundary, *subscripts]:
            return of_atom(ToBoundary(template, tuple(map(_linear, subscripts)), _number(element), _number(boundary)))
        case "product", [left, right]:
            return of_atom(Product(_linear(left), _linear(right)))
    _refuse(node)


def _condition(node: ast.expr) -> Condition:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return Comparison(_COMPARISONS[type(op)], _linear(left), _linear(right))
        case ast.Call(func=ast.Name(id="all" | "any" as kind), args=args):
            return Junction("&&" if kind == "all" else "||", tuple(map(_condition, args)))
    _refuse(node)
