"""Control that depends on data: one statement of the Scop whose accesses may or may not happen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import islpy as isl
from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.scop import dtypes
from polysched.scop.body import Assign, Binary, BodyStatement, Expr, If, Literal, While
from polysched.scop.c_frontend.assignments import (
    assign,
    assignment,
    close_statement,
    declaration,
    declared_scalar,
    forget,
    identifier,
    new_flag,
    open_statement,
    perform,
    unchained,
)
from polysched.scop.c_frontend.declarations.bindings import describe, stepped_name
from polysched.scop.c_frontend.declarations.effects import EXAMPLE
from polysched.scop.c_frontend.declarations.scopes import Symbol
from polysched.scop.c_frontend.declarations.written_loops import loop_text
from polysched.scop.c_frontend.expressions import StatementBuilder, expression
from polysched.scop.c_frontend.extraction import Extraction, OpaqueLoop
from polysched.scop.c_frontend.order import Tree, sequence
from polysched.scop.c_frontend.parse import everything, is_step, listed, place
from polysched.scop.c_frontend.remarks import is_remark
from polysched.scop.c_frontend.rewrites.effect_calls import EffectCall
from polysched.scop.c_frontend.subscripts.affine import may_be
from polysched.scop.c_frontend.subscripts.members import is_fixed
from polysched.scop.c_frontend.text import assembly

CONTROL_HINTS = {
    "Goto": "restructure with if and for", "Label": "restructure with if and for",
    "Switch": "end each case in `break`, or write it as if and else", "Return": "leave the function after the region",
    "Break": "put the condition into the loop's head", "Continue": "put the rest of the body into an if",
}
CONTROL_WORDS = {"Goto": "goto", "Label": "a label", "Switch": "switch", "Return": "return", "While": "while",
                 "DoWhile": "do", "Break": "break", "Continue": "continue", "Case": "case", "Default": "default"}


def refused(x: Extraction, node: c_ast.Node) -> UnsupportedScopError:
    """The refusal of a statement that a region cannot hold."""
    kind = type(node).__name__
    if kind in CONTROL_WORDS:
        return jump(x.path, node)
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.name.name == assembly.CALL:
        return x.refuse("what assembly does is not known", node, hint="move it out of the region, or write it in C")
    if kind == "FuncCall":
        return unused_call(x.path, node)
    return x.refuse("this statement has no effect that can be analysed", node,
                    hint="a region holds for, if, while, assignments and declarations")


def jump(path: str, node: c_ast.Node) -> UnsupportedScopError:
    """The refusal of control that goes elsewhere."""
    kind = type(node).__name__
    return UnsupportedScopError(f"`{CONTROL_WORDS[kind]}` inside the region", where=place(path, node),
                                witness=describe(node), hint=CONTROL_HINTS.get(kind))


def unused_call(path: str, node: c_ast.Node) -> UnsupportedScopError:
    """The refusal of a call of which nothing says what it reaches."""
    return UnsupportedScopError(
        "a call whose result is not used must have side effects", where=place(path, node), witness=describe(node),
        hint="move the call out of the region, inline what it does, or say what it reaches through its pointers: "
             f"`{EXAMPLE}`")


def opaque_statement(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Tree | None:
    """A whole `if` or `while` on data as one statement; the loops in it are noted."""
    for loop in _outermost_loops(node):
        note_whole(x, loop, "it stands under a condition on data" if loop is not node
                   else "it does not count with one integer that it steps once")
    builder = open_statement(x)
    body = guarded(builder, node, domain)
    forget(x, node)
    return close_statement(x, builder, node, domain, body)


def opaque_loop(x: Extraction, node: c_ast.For, domain: isl.Set) -> Tree | None:
    """A whole `for` loop: its counter is set by a statement of its own, so that each iteration around has its own."""
    first = node.init.decls if isinstance(node.init, c_ast.DeclList) else [node.init]
    plain = all(isinstance(item, c_ast.Decl) or (isinstance(item, c_ast.Assignment) and item.op == "=")
                for item in first)
    counters = x.bindings.assigned.get(node, frozenset())
    if not plain or _writes_where(x, node.stmt, counters):   # then iterations around stay in their order anyway
        return opaque_statement(x, node, domain)
    stored, x.stored_counters = x.stored_counters, x.stored_counters | counters
    leaves = [declaration(x, item, domain) if isinstance(item, c_ast.Decl) else assignment(x, item, domain)
              for item in first]
    x.stored_counters = stored
    rest = c_ast.For(None, node.cond, node.next, node.stmt, node.coord)
    x.bindings.assigned[rest] = counters
    builder = open_statement(x)
    body = guarded(builder, rest, domain)
    forget(x, rest)
    return sequence([*leaves, close_statement(x, builder, rest, domain, body)])


def _writes_where(x: Extraction, node: c_ast.Node, counters: Set[Symbol]) -> bool:
    """Whether elements are written at subscripts that depend on variables which the loop changes."""
    for part in everything(node):
        target = part.lvalue if isinstance(part, c_ast.Assignment) else part.expr if is_step(part) else None
        if target is not None and not isinstance(target, c_ast.ID) and any(
                isinstance(n, c_ast.ID) and x.bindings.meaning.get(n) in counters for n in everything(target)):
            return True
    return False


def note_whole(x: Extraction, node: c_ast.Node, reason: str) -> None:
    """Tell that a loop is one statement, once."""
    text = f"the loop `{loop_text(node)}` is kept whole: "
    if not any(note.startswith(f"{place(x.path, node)}: {text}") for note in x.notes):
        x.note(f"{text}{reason}", node)


def _outermost_loops(node: c_ast.Node) -> Iterator[c_ast.Node]:
    if isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile):
        yield node
        return
    for _, child in node.children():
        yield from _outermost_loops(child)


def needs_flags(node: c_ast.Node | None) -> bool:
    """Whether something below cannot stand inside one statement: a `for` loop, `break` or `continue`."""
    return any(isinstance(n, c_ast.For | c_ast.Break | c_ast.Continue) for n in everything(node))


def guarded(b: StatementBuilder, node: c_ast.Node | None, domain: isl.Set) -> tuple[BodyStatement, ...]:
    """C statements as the body of one statement; nothing is known to happen."""
    x = b.x
    if node is None or isinstance(node, c_ast.EmptyStatement | c_ast.Pragma | c_ast.Typedef):
        return ()
    items = listed(node)
    if items is not None:
        return _one_after_the_other(b, items, domain)
    if isinstance(node, c_ast.If):
        return (_choice(b, node, domain),)
    if isinstance(node, c_ast.While | c_ast.DoWhile):
        with x.perhaps():
            return _repeated(b, node, domain)
    if isinstance(node, c_ast.Assignment | EffectCall) or is_step(node):
        return _assigned(b, node, domain)
    if isinstance(node, c_ast.Decl):
        return _declared(b, node, domain)
    if isinstance(node, c_ast.For):
        with x.perhaps():
            return _counted(b, node, domain)
    if isinstance(node, c_ast.Break | c_ast.Continue) and x.opaque_loops:
        loop = x.opaque_loops[-1]
        flag = loop.running if isinstance(node, c_ast.Break) else loop.going
        assert flag is not None
        return (_set(b, node, flag, 0, domain),)
    if isinstance(node, c_ast.Label) and node.name not in x.jump_targets:
        return guarded(b, node.stmt, domain)
    if is_remark(x, node):
        return ()
    raise refused(x, node)


def _assigned(b: StatementBuilder, node: c_ast.Node, domain: isl.Set) -> tuple[BodyStatement, ...]:
    """An assignment, increment or call that perhaps happens."""
    forget(b.x, node)
    if isinstance(node, EffectCall):
        return (perform(b, node, domain, must=False),)
    return tuple(assign(b, single, domain, must=False) for single in unchained(node))


def _choice(b: StatementBuilder, node: c_ast.If, domain: isl.Set) -> If:
    """Both branches, each where its condition may hold."""
    test = expression(b, node.cond, domain)
    then_domain, else_domain = (may_be(b.x, node.cond, domain, truth=truth) for truth in (True, False))
    forget(b.x, node)
    with b.x.perhaps():
        return If(test, guarded(b, node.iftrue, then_domain), guarded(b, node.iffalse, else_domain))


def _one_after_the_other(b: StatementBuilder, items: Sequence[c_ast.Node],
                         domain: isl.Set) -> tuple[BodyStatement, ...]:
    """Statements in a row; those behind one that may leave the loop around happen only if it did not."""
    for at, item in enumerate(items):
        leaves = [n for n in _of_this_loop(item) if isinstance(n, c_ast.Break | c_ast.Continue)]
        if leaves and b.x.opaque_loops:
            before = tuple(s for earlier in items[:at + 1] for s in guarded(b, earlier, domain))
            behind = _one_after_the_other(b, items[at + 1:], domain)
            return (*before, *_while_going(b, leaves, behind, domain))
    return tuple(s for item in items for s in guarded(b, item, domain))


def _while_going(b: StatementBuilder, leaves: Sequence[c_ast.Node], behind: tuple[BodyStatement, ...],
                 domain: isl.Set) -> tuple[BodyStatement, ...]:
    """What stands behind statements that may break or continue, under the flags that they clear."""
    loop = b.x.opaque_loops[-1]
    for kind, flag in ((c_ast.Continue, loop.going), (c_ast.Break, loop.running)):
        node = next((n for n in leaves if isinstance(n, kind)), None)
        if node is not None and behind:
            assert flag is not None
            behind = (If(b.read(identifier(b.x, flag, node), domain), behind),)
    return behind


def _of_this_loop(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """A subtree without the bodies of the loops inside it, whose `break` and `continue` are their own."""
    if node is None:
        return
    yield node
    if not isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.Switch):
        for _, child in node.children():
            yield from _of_this_loop(child)


def _set(b: StatementBuilder, node: c_ast.Node, flag: Symbol, value: int, domain: isl.Set) -> Assign:
    reference, dtype = b.write(identifier(b.x, flag, node), domain, must=False)
    return Assign(reference, Literal(str(value), value, dtypes.INT32), dtype)


def _enter(b: StatementBuilder, node: c_ast.For | c_ast.While | c_ast.DoWhile) -> OpaqueLoop:
    """The flags that a loop's own `break` and `continue` need."""
    own = [n for _, child in node.children() for n in _of_this_loop(child)]
    made = OpaqueLoop(running=new_flag(b.x, node, "running") if any(isinstance(n, c_ast.Break) for n in own) else None,
                      going=new_flag(b.x, node, "going") if any(isinstance(n, c_ast.Continue) for n in own) else None)
    b.x.opaque_loops.append(made)
    return made


def _pass(b: StatementBuilder, node: c_ast.For | c_ast.While | c_ast.DoWhile, domain: isl.Set,
          after: tuple[BodyStatement, ...] = ()) -> tuple[BodyStatement, ...]:
    """One pass through a loop's body, and what `continue` does not skip but `break` does."""
    loop = b.x.opaque_loops[-1]
    start = () if loop.going is None else (_set(b, node, loop.going, 1, domain),)
    if after and loop.running is not None:
        after = (If(b.read(identifier(b.x, loop.running, node), domain), after),)
    return (*start, *guarded(b, node.stmt, domain), *after)


def _test(b: StatementBuilder, node: c_ast.For | c_ast.While | c_ast.DoWhile, domain: isl.Set) -> Expr:
    """A loop's condition, true where there is none; not evaluated any more once `break` was reached."""
    loop = b.x.opaque_loops[-1]
    test = None if node.cond is None else expression(b, node.cond, domain)
    if loop.running is None:
        return test or Literal("1", 1, dtypes.INT32)
    running = b.read(identifier(b.x, loop.running, node), domain)
    return running if test is None else Binary("&&", running, test, dtypes.INT32)


def _counted(b: StatementBuilder, node: c_ast.For, domain: isl.Set) -> tuple[BodyStatement, ...]:
    """A `for` loop as the `while` loop that it stands for (C11 6.8.5.3); its counter is a variable like any other."""
    x = b.x
    forget(x, node)
    stored = x.stored_counters
    x.stored_counters = stored | x.bindings.assigned.get(node, frozenset())
    before = guarded(b, node.init, domain)
    loop = _enter(b, node)
    start = () if loop.running is None else (_set(b, node, loop.running, 1, domain),)
    test = _test(b, node, domain)
    body = _pass(b, node, domain, after=guarded(b, node.next, domain))
    x.opaque_loops.pop()
    x.stored_counters = stored
    return (*before, *start, While(test, body))


def bounds_depend_on_data(x: Extraction, node: c_ast.For) -> bool:
    """Whether a loop's first value or condition reads what the region changes in memory, or calls a function.

    Bounds that are not affine in parameters and counters alone are no such case: they are refused.
    """
    counter = stepped_name(node.next)
    heads = [node.init, node.cond] if isinstance(node.init, c_ast.Assignment | c_ast.DeclList) else [node.cond]
    for head in filter(None, heads):
        for part in _changing_parts(x, head):
            if isinstance(part, c_ast.ArrayRef) or (isinstance(part, c_ast.UnaryOp) and part.op == "*"):
                return True
            if isinstance(part, c_ast.FuncCall) and isinstance(part.name, c_ast.ID) and part.name.name in x.pure:
                return True
            if isinstance(part, c_ast.ID) and part.name != counter and part in x.bindings.meaning:
                symbol = x.bindings.meaning[part]
                if symbol in x.bindings.written and symbol not in x.known and x.loop_of(symbol) is None:
                    return True
    return False


def _changing_parts(x: Extraction, node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The nodes below one, without those that read an integer in memory which the region does not change."""
    if isinstance(node, c_ast.ArrayRef | c_ast.StructRef | c_ast.UnaryOp) and is_fixed(x, node):
        return
    yield node
    for _, child in node.children():
        yield from _changing_parts(x, child)


def _repeated(b: StatementBuilder, node: c_ast.While | c_ast.DoWhile, domain: isl.Set) -> tuple[BodyStatement, ...]:
    """A `while` loop, or a `do` loop as its body once and then the `while` loop."""
    forget(b.x, node)
    loop = _enter(b, node)
    start = () if loop.running is None else (_set(b, node, loop.running, 1, domain),)
    first = _pass(b, node, domain) if isinstance(node, c_ast.DoWhile) else ()
    repeated = While(_test(b, node, domain), _pass(b, node, domain))
    b.x.opaque_loops.pop()
    return (*start, *first, repeated)


def _declared(b: StatementBuilder, node: c_ast.Decl, domain: isl.Set) -> tuple[BodyStatement, ...]:
    x = b.x
    symbol = declared_scalar(x, node)
    if symbol is None or node.init is None:
        return ()
    value = expression(b, node.init, domain)
    reference, dtype = b.write(identifier(x, symbol, node), domain, must=False)
    return (Assign(reference, value, dtype),)
