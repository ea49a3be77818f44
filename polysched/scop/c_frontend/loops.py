"""`for` loops: their counter, step and exact iteration domain."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import describe, identifiers_in, stepped_name
from polysched.scop.c_frontend.declarations.c_types import Scalar
from polysched.scop.c_frontend.declarations.scopes import Symbol
from polysched.scop.c_frontend.declarations.written_loops import loop_text
from polysched.scop.c_frontend.extraction import Affine, Extraction, Known, Loop, NotAffine
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.affine import affine, condition, convert
from polysched.scop.c_frontend.subscripts.entry_values import entry_value
from polysched.scop.dtypes import DType, Kind
from polysched.scop.points import isl_value

BOUND_HINT = "bounds may use +, -, constants, outer counters and integers that the region does not change"
FORM_HINT = "write `for (i = lower; i < upper; i += step)` with a constant step"


@dataclass(frozen=True, eq=False)
class LoopHead:
    """A loop's head: counter, type, first value (None: whatever the counter holds), step, and whether it declares."""

    counter: Symbol
    dtype: DType
    initial: c_ast.Node | None
    step: int
    node: c_ast.For


@dataclass(frozen=True, eq=False)
class LoopDomain:
    """A loop, the domain of its body, and the first value of its counter."""

    loop: Loop
    domain: isl.Set
    initial: isl.PwAff
    step: int


def loop_head(x: Extraction, node: c_ast.For, domain: isl.Set) -> LoopHead:
    """Read a loop's initialisation and step.

    Raises
    ------
    NoCountedLoop : it does not count with one integer variable and a constant step.
    """
    counter, initial = _counter(x, node)
    ctype = counter.ctype
    if not isinstance(ctype, Scalar) or not ctype.dtype.is_integer or ctype.volatile:
        raise x.no_counted_loop(f"the loop counts with `{counter.name}`, which is no integer variable", node,
                                witness=loop_text(node), hint="count with an int, or another integer type")
    if counter in x.bindings.assigned.get(node.stmt, ()):
        raise x.no_counted_loop(f"the loop's counter `{counter.name}` is changed inside the loop", node,
                                witness=loop_text(node), hint="let only the loop's head change its counter")
    if counter.name in x.bindings.addressed:
        raise x.no_counted_loop(f"the address of the loop's counter `{counter.name}` is taken", node,
                                witness=loop_text(node), hint="count with a variable of its own")
    step = _step(x, node, counter, domain)
    if abs(step) > ctype.dtype.value_range()[1]:   # `i += 4294967295u` counts down
        raise x.no_counted_loop(f"the loop's step is no {ctype.dtype.c_name}", node, witness=loop_text(node),
                                hint=FORM_HINT)
    return LoopHead(counter, ctype.dtype, initial, step, node)


def _counter(x: Extraction, node: c_ast.For) -> tuple[Symbol, c_ast.Node | None]:
    init = node.init
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0] in x.bindings.declared:
        declaration = init.decls[0]
        if declaration.init is None:
            raise x.no_counted_loop("the loop's counter has no first value", node, witness=loop_text(node),
                                    hint=FORM_HINT)
        return x.bindings.declared[declaration], declaration.init
    if isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        return x.bindings.symbol(init.lvalue), init.rvalue
    if init is None and (name := stepped_name(node.next)) is not None:
        step = node.next
        target = step.expr if isinstance(step, c_ast.UnaryOp) else step.lvalue
        symbol = x.bindings.symbol(target)
        if symbol not in x.known and (entry := entry_value(x, symbol, node)) is not None:
            x.known[symbol] = Known(entry, None)
        if name and symbol in x.known:
            return symbol, None
        raise x.no_counted_loop(f"the first value of the loop's counter `{name}` is not known", node,
                                witness=loop_text(node), hint=FORM_HINT)
    raise x.no_counted_loop("the loop does not begin by setting one counter", node, witness=loop_text(node),
                            hint=FORM_HINT)


def _step(x: Extraction, node: c_ast.For, counter: Symbol, domain: isl.Set) -> int:
    """The constant that each iteration adds to the counter."""
    step = node.next
    if step is None or stepped_name(step) != counter.name:
        raise x.no_counted_loop(f"the loop's last part does not step its counter `{counter.name}`", node,
                                witness=loop_text(node), hint=FORM_HINT)
    if isinstance(step, c_ast.UnaryOp):
        return 1 if "++" in step.op else -1
    amount = _constant(x, step.rvalue, node, domain) if step.op in ("+=", "-=") else None
    sign = -1 if step.op == "-=" else 1
    if step.op == "=" and isinstance(step.rvalue, c_ast.BinaryOp) and step.rvalue.op in ("+", "-"):
        left, right = step.rvalue.left, step.rvalue.right
        if step.rvalue.op == "+" and isinstance(right, c_ast.ID) and right.name == counter.name:
            left, right = right, left
        if isinstance(left, c_ast.ID) and left.name == counter.name:
            amount = _constant(x, right, node, domain)
            sign = -1 if step.rvalue.op == "-" else 1
    if amount is None:
        raise x.no_counted_loop("the loop's step is not a constant", node, witness=loop_text(node), hint=FORM_HINT)
    if amount == 0:
        raise x.no_counted_loop("the loop's step is zero: it never ends", node, witness=loop_text(node), hint=FORM_HINT)
    return sign * amount


def _constant(x: Extraction, node: c_ast.Node, loop: c_ast.For, domain: isl.Set) -> int | None:
    """The value of an amount, where nothing in the loop changes what it is made of."""
    if identifiers_in(node) & {symbol.name for symbol in x.bindings.assigned.get(loop.stmt, ())}:
        return None
    try:
        with x.attempt(strict=True):
            return polyhedra.constant_value(affine(x, node, domain).value)
    except NotAffine:
        return None


def enter(x: Extraction, head: LoopHead, domain: isl.Set, initial: isl.PwAff) -> LoopDomain:
    """The exact domain of a loop's body; the loop is pushed on `x.loops`.

    The counter runs through `initial + k * step` as long as the condition has held for every value so far
    (C11 6.8.5.3), so the domain is the points where it holds minus those after a point where it does not.
    """
    loop = Loop(head.counter, f"{head.counter.name}#{x.counters}", _shown(x, head.counter.name), head.dtype)
    x.counters += 1
    x.loops.append(loop)
    counter = polyhedra.symbol(loop.isl_name)
    forward = head.step > 0
    base = domain.intersect(counter.ge_set(initial) if forward else counter.le_set(initial))
    if abs(head.step) != 1:
        stride = isl_value(abs(head.step))
        base = base.intersect(counter.sub(initial).mod_val(stride).eq_set(polyhedra.constant(0)))
    wraps = head.dtype.kind is not Kind.SIGNED or head.dtype.bits < 32
    if wraps:
        base = base.intersect(polyhedra.between(counter, *head.dtype.value_range()))
    with x.defer() as requirements:
        holds = base.intersect(_condition(x, head, base))
    fails = base.subtract(holds)
    for requirement in requirements:
        fails = fails.intersect(requirement.good)
    reached = base.subtract(polyhedra.later_than(fails, loop.isl_name, forward=forward))
    for needed in requirements:
        x.require(reached, needed.good, kind=needed.kind, text=needed.text, node=needed.node)
    ends = polyhedra.project_out(fails, [loop.isl_name])
    x.loops.pop()
    x.require(domain, ends, kind="terminates", node=head.node,
              text=f"the loop `{loop_text(head.node)}` ends without its counter wrapping around")
    x.loops.append(loop)
    body = holds.intersect(reached).intersect(ends).coalesce()
    return LoopDomain(loop, body, initial, head.step)


def first_value(x: Extraction, head: LoopHead, domain: isl.Set) -> isl.PwAff:
    """The value that the counter begins with.

    Raises
    ------
    NoCountedLoop : it is not affine.
    """
    if head.initial is None:
        return x.known[head.counter].affine.value
    try:
        with x.bound():
            value: Affine = affine(x, head.initial, domain)
        return convert(x, value, head.dtype, domain, head.initial).value
    except NotAffine as reason:
        raise x.no_counted_loop(f"the loop's lower bound is not affine: {reason.reason}", head.node,
                                witness=f"{loop_text(head.node)}, at `{describe(reason.node)}`",
                                hint=BOUND_HINT) from None


def _condition(x: Extraction, head: LoopHead, base: isl.Set) -> isl.Set:
    if head.node.cond is None:
        return polyhedra.universe()
    try:
        with x.bound():
            return condition(x, head.node.cond, base)
    except NotAffine as reason:
        raise x.no_counted_loop(f"the loop's bound is not affine: {reason.reason}", head.node,
                                witness=f"{loop_text(head.node)}, at `{describe(reason.node)}`",
                                hint=BOUND_HINT) from None


def _shown(x: Extraction, wanted: str) -> str:
    """A name for the dimension that no outer loop, parameter or isl keyword has."""
    taken = {loop.shown for loop in x.loops} | {p.name for p in x.parameters.values()}
    base, candidate, count = wanted.replace("$", "_"), wanted.replace("$", "_"), 0
    while candidate in taken or candidate in x.reserved:
        count += 1
        candidate = f"{base}_{count}"
    return candidate
