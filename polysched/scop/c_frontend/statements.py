"""The walk over a region's statements: domains, bodies and the order as written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import islpy as isl
from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.scop import dtypes
from polysched.scop.body import Assign, Binary, BodyStatement, Cast, Expr, If, IteratorRef, Literal
from polysched.scop.c_frontend import polyhedra
from polysched.scop.c_frontend.affine import affine, condition, convert
from polysched.scop.c_frontend.bindings import describe
from polysched.scop.c_frontend.c_types import ArrayOf, Pointer, Scalar
from polysched.scop.c_frontend.expressions import OpenAccess, StatementBuilder, expression
from polysched.scop.c_frontend.extraction import Affine, Extraction, Known, NotAffine
from polysched.scop.c_frontend.loops import LoopDomain, LoopHead, enter, first_value, loop_head
from polysched.scop.c_frontend.parse import place
from polysched.scop.c_frontend.scopes import Origin, Symbol

CONTROL_HINTS = {
    "Goto": "restructure with if and for", "Label": "restructure with if and for",
    "Switch": "write it as if and else", "Return": "leave the function after the region",
    "DoWhile": "write it as a for loop with affine bounds",
    "Break": "put the condition into the loop's head", "Continue": "put the rest of the body into an if",
}
CONTROL_WORDS = {"Goto": "goto", "Label": "a label", "Switch": "switch", "Return": "return", "While": "while",
                 "DoWhile": "do", "Break": "break", "Continue": "continue", "Case": "case", "Default": "default"}


@dataclass(frozen=True, eq=False)
class OpenStatement:
    """A statement before the parameters are settled."""

    name: str
    line: int
    domain: isl.Set
    iterators: tuple[tuple[str, str], ...]
    body: tuple[BodyStatement, ...]
    accesses: tuple[OpenAccess, ...]


@dataclass(frozen=True, eq=False)
class Leaf:
    """One statement of the order as written."""

    statement: OpenStatement


@dataclass(frozen=True, eq=False)
class Sequence:
    """Children one after the other."""

    children: tuple[Tree, ...]


@dataclass(frozen=True, eq=False)
class LoopTree:
    """A loop: its depth, whether its counter grows, and what it repeats."""

    depth: int
    forward: bool
    child: Tree


Tree: TypeAlias = Leaf | Sequence | LoopTree


def sequence(children: list[Tree]) -> Tree | None:
    """The children in order; one alone stands for itself."""
    if not children:
        return None
    return children[0] if len(children) == 1 else Sequence(tuple(children))


def walk(x: Extraction, node: c_ast.Node | None, domain: isl.Set) -> Tree | None:
    """Read one C statement on a domain."""
    if node is None or isinstance(node, c_ast.EmptyStatement | c_ast.Pragma | c_ast.Typedef):
        return None
    if isinstance(node, c_ast.Compound):
        return walk_all(x, tuple(node.block_items or ()), domain)
    if isinstance(node, c_ast.DeclList):
        return walk_all(x, tuple(node.decls), domain)
    if isinstance(node, c_ast.For):
        return _for(x, node, domain)
    if isinstance(node, c_ast.If):
        return _if(x, node, domain)
    if isinstance(node, c_ast.Decl):
        return _declaration(x, node, domain)
    if isinstance(node, c_ast.ExprList):
        return walk_all(x, tuple(node.exprs), domain)
    if isinstance(node, c_ast.Assignment) or _is_increment(node):
        return _assignment(x, node, domain)
    if isinstance(node, c_ast.Cast) and isinstance(node.expr, c_ast.Constant):
        return None
    raise _refused(x, node)


def walk_all(x: Extraction, nodes: tuple[c_ast.Node, ...], domain: isl.Set) -> Tree | None:
    """Read statements one after the other."""
    children = [walk(x, node, domain) for node in nodes]
    return sequence([c for c in children if c is not None])


def _is_increment(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--")


def _refused(x: Extraction, node: c_ast.Node) -> UnsupportedScopError:
    kind = type(node).__name__
    if kind == "While":
        return x.refuse("a while loop cannot be analysed", node.cond, witness=f"while ({describe(node.cond)})",
                        hint="write it as a for loop with affine bounds")
    if kind in CONTROL_WORDS:
        return x.refuse(f"`{CONTROL_WORDS[kind]}` inside the region", node, hint=CONTROL_HINTS.get(kind))
    if kind == "FuncCall":
        return x.refuse("a call whose result is not used must have side effects", node,
                        hint="move the call out of the region, or inline what it does")
    return x.refuse("this statement has no effect that can be analysed", node,
                    hint="a region holds for, if, assignments and declarations")


def _for(x: Extraction, node: c_ast.For, domain: isl.Set) -> Tree | None:
    head = loop_head(x, node, domain)
    initial = first_value(x, head, domain)
    children = [_set_counter(x, head, domain)]
    _forget(x, node)
    inside = enter(x, head, domain, initial)
    child = walk(x, node.stmt, inside.domain)
    x.loops.pop()
    _forget(x, node)
    if child is not None:
        children.append(LoopTree(len(x.loops), inside.step > 0, child))
    children.append(_counter_after(x, head, inside, domain))
    return sequence([c for c in children if c is not None])


def _set_counter(x: Extraction, head: LoopHead, domain: isl.Set) -> Tree | None:
    """The assignment of a counter's first value, where the counter is read outside its loop."""
    if head.counter not in x.materialised or head.initial is None:
        return None
    target = c_ast_id(x, head.counter, head.node)
    return _assignment(x, c_ast.Assignment("=", target, head.initial, head.node.coord), domain)


def _counter_after(x: Extraction, head: LoopHead, inside: LoopDomain, domain: isl.Set) -> Tree | None:
    """What a loop leaves in its counter: one step beyond the last iteration; set by that iteration."""
    if head.counter not in x.materialised:
        return None
    name = inside.loop.isl_name
    last = polyhedra.last_value(inside.domain, name, forward=inside.step > 0)
    beyond = last.add(polyhedra.constant(inside.step))
    after = beyond.union_add(inside.initial.intersect_domain(beyond.domain().complement()))
    x.loops.append(inside.loop)
    final = inside.domain.intersect(polyhedra.symbol(name).eq_set(last))
    builder = _open(x)
    reference, dtype = builder.write(c_ast_id(x, head.counter, head.node), final, must=True)
    step = Literal(str(abs(inside.step)), abs(inside.step), dtypes.INT32)
    value = Binary("+" if inside.step > 0 else "-", IteratorRef(inside.loop.shown, dtype), step,
                   dtypes.usual_conversion(dtype, dtypes.INT32))
    leaf = _close(x, builder, head.node, final, (Assign(reference, value, dtype),))
    x.loops.pop()
    x.known[head.counter] = Known(Affine(after, dtype), None)
    return None if leaf is None else LoopTree(len(x.loops), inside.step > 0, leaf)


def _if(x: Extraction, node: c_ast.If, domain: isl.Set) -> Tree | None:
    try:
        with x.attempt():
            where = condition(x, node.cond, domain)
    except NotAffine:
        return _conditional(x, node, domain)
    before = dict(x.known)
    then = walk(x, node.iftrue, domain.intersect(where).coalesce())
    after_then, x.known = x.known, dict(before)
    otherwise = walk(x, node.iffalse, domain.subtract(where).coalesce())
    x.known = {s: k for s, k in x.known.items() if after_then.get(s) is k}
    return sequence([t for t in (then, otherwise) if t is not None])


def _open(x: Extraction) -> StatementBuilder:
    return StatementBuilder(x, f"S{len(x.open_statements)}")


def _close(x: Extraction, builder: StatementBuilder, node: c_ast.Node, domain: isl.Set,
           body: tuple[BodyStatement, ...]) -> Tree | None:
    """Enter a finished statement, unless no instance of it ever runs."""
    if domain.intersect(x.context).is_empty():
        return None
    where = place(x.path, node)
    statement = OpenStatement(builder.name, where.line, domain, x.iterators, body, tuple(builder.accesses))
    x.open_statements.append(statement)
    return Leaf(statement)


def _conditional(x: Extraction, node: c_ast.If, domain: isl.Set) -> Tree | None:
    """A condition on data: the whole `if` becomes one statement whose accesses may or may not happen."""
    builder = _open(x)
    body = _guarded(builder, node, domain)
    for symbol in x.bindings.assigned.get(node, ()):
        x.known.pop(symbol, None)
    return _close(x, builder, node, domain, body)


def _guarded(b: StatementBuilder, node: c_ast.Node | None, domain: isl.Set) -> tuple[BodyStatement, ...]:
    """The body of a statement under a condition on data."""
    x = b.x
    if node is None or isinstance(node, c_ast.EmptyStatement | c_ast.Pragma):
        return ()
    if isinstance(node, c_ast.Compound | c_ast.ExprList):
        items = node.block_items if isinstance(node, c_ast.Compound) else node.exprs
        return tuple(s for item in items or () for s in _guarded(b, item, domain))
    if isinstance(node, c_ast.If):
        test = expression(b, node.cond, domain)
        _forget(x, node.iftrue, node.iffalse)
        return (If(test, _guarded(b, node.iftrue, domain), _guarded(b, node.iffalse, domain)),)
    if isinstance(node, c_ast.Assignment) or _is_increment(node):
        _forget(x, node)
        return tuple(assign(b, single, domain, must=False) for single in _unchained(node))
    if isinstance(node, c_ast.Decl):
        raise x.refuse("a declaration under a condition on data", node, hint="declare the variable before the `if`")
    if isinstance(node, c_ast.For):
        raise x.refuse("a loop under a condition on data", node.init or node,
                       hint="test inside the innermost loop, where the condition guards single assignments")
    raise _refused(x, node)


def _forget(x: Extraction, *nodes: c_ast.Node | None) -> None:
    for node in nodes:
        for symbol in x.bindings.assigned.get(node, ()) if node is not None else ():
            x.known.pop(symbol, None)


def _unchained(node: c_ast.Node) -> list[c_ast.Node]:
    """`a = b = e` as `b = e` and `a = b`, in the order in which they happen."""
    if isinstance(node, c_ast.Assignment) and isinstance(node.rvalue, c_ast.Assignment):
        inner = _unchained(node.rvalue)
        return [*inner, c_ast.Assignment(node.op, node.lvalue, node.rvalue.lvalue, node.coord)]
    return [node]


def _assignment(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Tree | None:
    leaves = []
    for single in _unchained(node):
        builder = _open(x)
        symbol, known = _new_value(x, single, domain)
        body = (assign(builder, single, domain, must=True),)
        if symbol is not None:
            x.known.pop(symbol, None)
            if known is not None:
                x.known[symbol] = known
        leaf = _close(x, builder, single, domain, body)
        if leaf is not None:
            leaves.append(leaf)
    return sequence(leaves)


def assign(b: StatementBuilder, node: c_ast.Node, domain: isl.Set, *, must: bool) -> Assign:
    """One assignment, compound assignment or increment."""
    x = b.x
    target = node.expr if isinstance(node, c_ast.UnaryOp) else node.lvalue
    _check_target(x, node, target)
    op: str | None
    read: str | None
    value: Expr
    if isinstance(node, c_ast.UnaryOp):
        value, op = Literal("1", 1, dtypes.INT32), "+" if "++" in node.op else "-"
        read = b.read(target, domain).reference
    else:
        op = None if node.op == "=" else node.op[:-1]
        read = b.read(target, domain).reference if op is not None else None
        value = expression(b, node.rvalue, domain)
    reference, dtype = b.write(target, domain, must=must)
    if op in ("%", "<<", ">>", "&", "|", "^") and not (dtype.is_integer and value.dtype.is_integer):
        raise x.refuse(f"the operator {op}= needs integers", node)
    return Assign(reference, value, dtype, op, read)


def _check_target(x: Extraction, node: c_ast.Node, target: c_ast.Node) -> None:
    if not isinstance(target, c_ast.ID):
        return
    symbol = x.bindings.symbol(target)
    if x.loop_of(symbol) is not None:
        raise x.refuse(f"the loop's counter `{symbol.name}` is changed inside the loop", node,
                       hint="let only the loop's head change its counter")
    if isinstance(symbol.ctype, Pointer):
        raise x.refuse(f"the pointer `{symbol.name}` is changed: it walks through memory", node,
                       hint="use an array with a subscript instead")
    if isinstance(symbol.ctype, ArrayOf):
        raise x.refuse(f"the array `{symbol.name}` is assigned as a whole", node)


def _new_value(x: Extraction, node: c_ast.Node, domain: isl.Set) -> tuple[Symbol | None, Known | None]:
    """The scalar that an assignment sets, and its new value where that is affine."""
    target = node.expr if isinstance(node, c_ast.UnaryOp) else node.lvalue
    if not isinstance(target, c_ast.ID):
        return None, None
    symbol = x.bindings.symbol(target)
    ctype = symbol.ctype
    if not isinstance(ctype, Scalar) or not ctype.dtype.is_integer or symbol.name in x.bindings.addressed:
        return symbol, None
    if isinstance(node, c_ast.UnaryOp):
        one = c_ast.Constant("int", "1", node.coord)
        value: c_ast.Node = c_ast.BinaryOp("+" if "++" in node.op else "-", target, one, node.coord)
    elif node.op == "=":
        value = node.rvalue
    else:
        value = c_ast.BinaryOp(node.op[:-1], target, node.rvalue, node.coord)
    return symbol, known_value(x, value, domain, ctype.dtype)


def known_value(x: Extraction, node: c_ast.Node, domain: isl.Set, dtype: dtypes.DType) -> Known | None:
    """The value of an expression when it is affine and can be written without a load."""
    try:
        with x.attempt(strict=True):
            value = convert(x, affine(x, node, domain), dtype, domain, node)
    except NotAffine:
        return None
    probe = StatementBuilder(x, "known")
    spelled = expression(probe, node, domain)
    if probe.accesses:
        return None
    return Known(value, spelled if spelled.dtype == dtype else Cast(spelled, dtype))


def _declaration(x: Extraction, node: c_ast.Decl, domain: isl.Set) -> Tree | None:
    symbol = x.bindings.declared.get(node)
    if symbol is None:
        return None
    if symbol.static or "extern" in (node.storage or ()):
        raise x.refuse("a static or extern variable is declared inside the region", node,
                       hint="declare it before the region")
    if isinstance(symbol.ctype, Pointer):
        raise x.refuse("a pointer is declared inside the region", node, hint="subscript the array itself")
    x.known.pop(symbol, None)
    if node.init is None:
        return None
    if not isinstance(symbol.ctype, Scalar) or isinstance(node.init, c_ast.InitList):
        raise x.refuse("an array with initial values is declared inside the region", node,
                       hint="assign the elements in loops")
    dtype = symbol.ctype.dtype
    known = known_value(x, node.init, domain, dtype) if dtype.is_integer else None
    if known is not None:
        x.known[symbol] = known
    if known is not None and symbol in x.bindings.written_once and symbol.origin is Origin.REGION:
        return None
    builder = _open(x)
    value = expression(builder, node.init, domain)
    reference, dtype = builder.write(c_ast_id(x, symbol, node), domain, must=True)
    return _close(x, builder, node, domain, (Assign(reference, value, dtype),))


def c_ast_id(x: Extraction, symbol: Symbol, node: c_ast.Node) -> c_ast.ID:
    """An identifier node for a symbol."""
    made = c_ast.ID(symbol.name, node.coord)
    x.bindings.meaning[made] = symbol
    return made
