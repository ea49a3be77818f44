"""Assignments, increments and declarations as statements of the Scop."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polysched.scop import dtypes
from polysched.scop.body import Assign, BodyStatement, Cast, Expr, If, Literal, Perform, Unary
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, Pointer, Scalar, StructType, Unsupported
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.expressions import StatementBuilder, expression, performed
from polysched.scop.c_frontend.extraction import Extraction, Known, NotAffine
from polysched.scop.c_frontend.order import Leaf, OpenStatement, Tree, sequence
from polysched.scop.c_frontend.parse import everything, place
from polysched.scop.c_frontend.rewrites.effect_calls import EffectCall
from polysched.scop.c_frontend.subscripts.affine import affine, convert
from polysched.scop.c_frontend.subscripts.delinearise import subscript_polynomial
from polysched.scop.c_frontend.subscripts.members import is_fixed
from polysched.scop.c_frontend.subscripts.places import pointed, unusable


def open_statement(x: Extraction) -> StatementBuilder:
    """A builder for the next statement."""
    return StatementBuilder(x, f"S{len(x.open_statements)}")


def close_statement(x: Extraction, builder: StatementBuilder, node: c_ast.Node, domain: isl.Set,
                    body: tuple[BodyStatement, ...]) -> Tree | None:
    """Enter a finished statement under the flags around it, unless no instance of it ever runs."""
    if body:
        x.holds_otherwise(domain)
    if not body or domain.intersect(x.context).is_empty():
        return None
    for guard in reversed(x.guards):
        flag: Expr = builder.read(identifier(x, guard.flag, node), domain)
        body = (If(Unary("!", flag, dtypes.INT32) if guard.negated else flag, body),)
    where = place(x.path, node)
    statement = OpenStatement(builder.name, where.line, domain, x.iterators, body, tuple(builder.accesses))
    x.open_statements.append(statement)
    return Leaf(statement)


def identifier(x: Extraction, symbol: Symbol, node: c_ast.Node) -> c_ast.ID:
    """A new identifier node for a symbol, standing where `node` stands."""
    made = c_ast.ID(symbol.name, node.coord)
    x.bindings.meaning[made] = symbol
    return made


def new_flag(x: Extraction, node: c_ast.Node, wanted: str) -> Symbol:
    """A new local integer."""
    name, count = wanted, 0
    while name in x.identifiers or name in x.names:
        count += 1
        name = f"{wanted}_{count}"
    return Symbol(name=name, ctype=Scalar(dtypes.INT32), origin=Origin.REGION, node=node)


def forget(x: Extraction, *nodes: c_ast.Node | None) -> None:
    """Drop what is known about the scalars that these nodes assign."""
    for node in nodes:
        for symbol in x.bindings.assigned.get(node, ()) if node is not None else ():
            x.known.pop(symbol, None)


def unchained(node: c_ast.Node) -> list[c_ast.Node]:
    """`a = b = e` as `b = e` and `a = b`, in the order in which they happen."""
    if isinstance(node, c_ast.Assignment) and isinstance(node.rvalue, c_ast.Assignment):
        inner = unchained(node.rvalue)
        return [*inner, c_ast.Assignment(node.op, node.lvalue, node.rvalue.lvalue, node.coord)]
    return [node]


def assignment(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Tree | None:
    """An assignment or increment as one statement, a chain of them as several."""
    leaves = []
    for single in unchained(node):
        builder = open_statement(x)
        symbol, known = _new_value(x, single, domain)
        body = (assign(builder, single, domain, must=not x.guards),)
        if symbol is not None:
            x.known.pop(symbol, None)
            if known is not None:
                x.known[symbol] = known
        leaves.append(close_statement(x, builder, single, domain, body))
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


def effect_call(x: Extraction, node: EffectCall, domain: isl.Set) -> Tree | None:
    """A call of a function whose effects are declared, as one statement."""
    builder = open_statement(x)
    body = (perform(builder, node, domain, must=not x.guards),)
    forget(x, node)
    return close_statement(x, builder, node, domain, body)


def perform(b: StatementBuilder, node: EffectCall, domain: isl.Set, *, must: bool) -> Perform:
    """A call of a function whose effects are declared, and what takes its result."""
    statement = node.statement
    if not isinstance(statement, c_ast.Assignment):
        return Perform(performed(b, node, domain))
    _check_target(b.x, statement, statement.lvalue)
    op = None if statement.op == "=" else statement.op[:-1]
    read = b.read(statement.lvalue, domain).reference if op is not None else None
    call = performed(b, node, domain)
    reference, dtype = b.write(statement.lvalue, domain, must=must)
    if op in ("%", "<<", ">>", "&", "|", "^") and not (dtype.is_integer and call.dtype.is_integer):
        raise b.x.refuse(f"the operator {op}= needs integers", statement)
    return Perform(call, reference, dtype, op, read)


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
        raise x.refuse(f"the array `{symbol.name}` is assigned as a whole", node, hint="assign its elements in loops")


def _new_value(x: Extraction, node: c_ast.Node, domain: isl.Set) -> tuple[Symbol | None, Known | None]:
    """The scalar that an assignment sets, and its new value where that is affine."""
    target = node.expr if isinstance(node, c_ast.UnaryOp) else node.lvalue
    if not isinstance(target, c_ast.ID):
        return None, None
    symbol = x.bindings.symbol(target)
    ctype = symbol.ctype
    if not isinstance(ctype, Scalar) or not ctype.dtype.is_integer or symbol.name in x.bindings.addressed or x.guards:
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


def declaration(x: Extraction, node: c_ast.Decl, domain: isl.Set) -> Tree | None:
    """A declaration inside the region; its initial value is an assignment."""
    symbol = declared_scalar(x, node)
    if symbol is None or node.init is None:
        return None
    assert isinstance(symbol.ctype, Scalar)
    dtype = symbol.ctype.dtype
    known = known_value(x, node.init, domain, dtype) if dtype.is_integer and not x.guards else None
    if known is not None:
        x.known[symbol] = known
    if symbol in x.bindings.written_once and symbol.origin is Origin.REGION:
        if known is not None:
            return None
        if symbol.name not in x.bindings.addressed and _is_derived(x, node.init, domain, dtype):
            x.derived[symbol] = node.init
            return None
    builder = open_statement(x)
    value = expression(builder, node.init, domain)
    reference, dtype = builder.write(identifier(x, symbol, node), domain, must=not x.guards)
    return close_statement(x, builder, node, domain, (Assign(reference, value, dtype),))


def _is_derived(x: Extraction, node: c_ast.Node, domain: isl.Set, dtype: dtypes.DType) -> bool:
    """Whether an integer's first value is a polynomial of counters and parameters that its type holds.

    Its uses then stand for that value: `int at = (i * m + j) * k; x[at]` is `x[(i * m + j) * k]`.
    """
    if dtype.kind is not dtypes.Kind.SIGNED or subscript_polynomial(x, node, domain) is None:
        return False
    if not _is_fixed(x, node):
        return False
    probe = StatementBuilder(x, "derived")
    own = expression(probe, node, domain).dtype
    return not probe.accesses and own.kind is dtypes.Kind.SIGNED and own.bits <= dtype.bits


def _is_fixed(x: Extraction, node: c_ast.Node) -> bool:
    """Whether the variables and members of an expression keep their values as long as the loops around do."""
    if isinstance(node, c_ast.StructRef):
        return is_fixed(x, node)
    if isinstance(node, c_ast.ID):
        return _keeps_its_value(x, x.bindings.symbol(node))
    return all(_is_fixed(x, child) for _, child in node.children())


def _keeps_its_value(x: Extraction, used: Symbol) -> bool:
    return (used not in x.bindings.written or x.loop_of(used) is not None or used in x.pointers or used in x.derived
            or (used in x.known and used in x.bindings.written_once))


def _fixed_pointer(x: Extraction, node: c_ast.Decl, symbol: Symbol) -> c_ast.Node:
    """The value of a local pointer that is set once, by affine arithmetic on values that do not change.

    Raises
    ------
    UnsupportedScopError : it could point somewhere else by the time it is used.
    """
    hint = "set the pointer once, where it is declared, to an array plus an affine offset"
    if node.init is None or symbol not in x.bindings.written_once:
        raise x.refuse(f"the pointer `{symbol.name}` does not keep the value of its declaration", node, hint=hint)
    members = [part for part in everything(node.init) if isinstance(part, c_ast.StructRef)]
    for member in members:
        if not is_fixed(x, member):
            raise x.refuse(f"the pointer `{symbol.name}` depends on a member that is no integer or changes", member,
                           hint="put the member into a variable in front of the region")
    fields = {member.field for member in members}   # identifiers that name no variables
    for name in everything(node.init):
        if isinstance(name, c_ast.ID) and name not in fields:
            used = x.bindings.symbol(name)
            if not _keeps_its_value(x, used):
                raise x.refuse(f"the pointer `{symbol.name}` depends on `{used.name}`, which changes", node, hint=hint)
    pointed(x, node.init)
    return node.init


def declared_scalar(x: Extraction, node: c_ast.Decl) -> Symbol | None:
    """The symbol of a declaration that the walk has to look at: a scalar; None for arrays without values and types.

    Raises
    ------
    UnsupportedScopError : the declaration is of a kind that a region cannot hold.
    """
    symbol = x.bindings.declared.get(node)
    if symbol is None:
        return None
    if symbol.static or "extern" in (node.storage or ()):
        raise x.refuse("a static or extern variable is declared inside the region", node,
                       hint="declare it before the region")
    if isinstance(symbol.ctype, Pointer):
        x.pointers[symbol] = _fixed_pointer(x, node, symbol)
        return None
    x.known.pop(symbol, None)
    if node.init is not None and isinstance(symbol.ctype, StructType | Unsupported):
        raise unusable(x, node, symbol.ctype)
    if node.init is not None and (not isinstance(symbol.ctype, Scalar) or isinstance(node.init, c_ast.InitList)):
        raise x.refuse("initial values of an array under a condition on data", node,
                       hint="declare the array before the condition")
    return symbol if isinstance(symbol.ctype, Scalar) else None
