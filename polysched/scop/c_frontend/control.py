"""The walk over a region: loops and conditions shape the domains of the statements inside.

Each step gives the order as written and the domain on which control goes on behind it.  What depends
on data alone is kept as flags: local integers that the statements below test.
"""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop import dtypes
from polysched.scop.body import COMPARISON, LOGICAL, Assign, Binary, Expr, IteratorRef, Literal, Unary
from polysched.scop.c_frontend.assignments import (
    assignment,
    close_statement,
    declaration,
    effect_call,
    forget,
    identifier,
    new_flag,
    open_statement,
)
from polysched.scop.c_frontend.declarations.scopes import Symbol
from polysched.scop.c_frontend.declarations.written_loops import loop_text
from polysched.scop.c_frontend.expressions import expression
from polysched.scop.c_frontend.extraction import (
    Affine,
    Extraction,
    Guard,
    Known,
    LoopExit,
    NoCountedLoop,
    NotAffine,
)
from polysched.scop.c_frontend.initialisers import initial_assignments
from polysched.scop.c_frontend.loops import FORM_HINT, LoopDomain, LoopHead, enter, first_value, loop_head
from polysched.scop.c_frontend.opaque import (
    bounds_depend_on_data,
    needs_flags,
    note_whole,
    opaque_loop,
    opaque_statement,
    refused,
)
from polysched.scop.c_frontend.order import LoopTree, Tree, sequence
from polysched.scop.c_frontend.parse import is_step, listed
from polysched.scop.c_frontend.remarks import assume, is_remark
from polysched.scop.c_frontend.rewrites.effect_calls import EffectCall
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.affine import condition, may_be


@dataclass(frozen=True, eq=False)
class Walked:
    """What a statement does, and where control goes on behind it."""

    tree: Tree | None
    rest: isl.Set


class NeedsFlag(Exception):
    """A loop is left or cut short depending on data; its body has to be read again with a flag."""

    def __init__(self, loop_exit: LoopExit, *, is_break: bool) -> None:
        super().__init__()
        self.loop_exit = loop_exit
        self.is_break = is_break


def walk(x: Extraction, node: c_ast.Node | None, domain: isl.Set) -> Walked:
    """Read one C statement on a domain."""
    if node is None or isinstance(node, c_ast.EmptyStatement | c_ast.Pragma | c_ast.Typedef):
        return Walked(None, domain)
    items = listed(node)
    if items is not None:
        return walk_all(x, items, domain)
    x.at = node
    if isinstance(node, c_ast.For):
        return Walked(_for(x, node, domain), domain)
    if isinstance(node, c_ast.If):
        return _if(x, node, domain)
    if isinstance(node, c_ast.While | c_ast.DoWhile):
        return Walked(_while(x, node, domain), domain)
    if isinstance(node, c_ast.Break | c_ast.Continue) and x.exits:
        return _leave(x, node, domain)
    if isinstance(node, c_ast.Label) and node.name not in x.jump_targets:
        return walk(x, node.stmt, domain)
    return _simple(x, node, domain)


def _simple(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Walked:
    """Read a statement without others inside: a declaration, an assignment or a remark.

    Raises
    ------
    UnsupportedScopError : it is none of these.
    """
    if isinstance(node, c_ast.Decl) and isinstance(node.init, c_ast.InitList) and node in x.bindings.declared:
        return walk_all(x, initial_assignments(x, node, x.bindings.declared[node]), domain)
    if isinstance(node, c_ast.Decl):
        return Walked(declaration(x, node, domain), domain)
    if isinstance(node, c_ast.Assignment) or is_step(node):
        return Walked(assignment(x, node, domain), domain)
    if isinstance(node, EffectCall):
        return Walked(effect_call(x, node, domain), domain)
    if is_remark(x, node):
        assume(x, node, domain)
        return Walked(None, domain)
    raise refused(x, node)


def walk_all(x: Extraction, nodes: tuple[c_ast.Node, ...], domain: isl.Set) -> Walked:
    """Read statements one after the other."""
    trees = []
    for node in nodes:
        walked = walk(x, node, domain)
        trees.append(walked.tree)
        domain = walked.rest
    return Walked(sequence(trees), domain)


def _if(x: Extraction, node: c_ast.If, domain: isl.Set) -> Walked:
    try:
        with x.attempt(), x.bound():
            where = condition(x, node.cond, domain)
    except NotAffine:
        if needs_flags(node):
            return Walked(_flagged_if(x, node, domain), domain)
        return Walked(opaque_statement(x, node, domain), domain)
    before = dict(x.known)
    then_domain, else_domain = domain.intersect(where).coalesce(), domain.subtract(where).coalesce()
    then = walk(x, node.iftrue, then_domain)
    after_then, x.known = x.known, dict(before)
    otherwise = walk(x, node.iffalse, else_domain)
    if then.rest is then_domain and otherwise.rest is else_domain:
        rest = domain
    else:
        rest = then.rest.union(otherwise.rest).coalesce()
    if otherwise.rest.is_empty() and not else_domain.is_empty():
        x.known = after_then
    elif not (then.rest.is_empty() and not then_domain.is_empty()):
        x.known = {s: k for s, k in x.known.items() if after_then.get(s) is k}
    return Walked(sequence((then.tree, otherwise.tree)), rest)


def _flagged_if(x: Extraction, node: c_ast.If, domain: isl.Set) -> Tree | None:
    """A condition on data over loops: it is stored in a flag that the statements below test."""
    flag = new_flag(x, node, "taken")
    builder = open_statement(x)
    test = expression(builder, node.cond, domain)
    is_truth = (isinstance(test, Binary) and test.op in COMPARISON | LOGICAL) or (
        isinstance(test, Unary) and test.op == "!")
    value: Expr = test if is_truth else Binary("!=", test, Literal("0", 0, dtypes.INT32), dtypes.INT32)
    reference, dtype = builder.write(identifier(x, flag, node), domain, must=not x.guards)
    trees = [close_statement(x, builder, node, domain, (Assign(reference, value, dtype),))]
    domains = {negated: may_be(x, node.cond, domain, truth=not negated) for negated in (False, True)}
    for branch, negated in ((node.iftrue, False), (node.iffalse, True)):
        before = dict(x.known)
        x.guards.append(Guard(flag, negated))
        trees.append(walk(x, branch, domains[negated]).tree)
        x.guards.pop()
        x.known = before
    forget(x, node)
    return sequence(trees)


def _set_flag(x: Extraction, node: c_ast.Node, flag: Symbol, value: int, domain: isl.Set) -> Tree | None:
    builder = open_statement(x)
    reference, dtype = builder.write(identifier(x, flag, node), domain, must=not x.guards)
    body = (Assign(reference, Literal(str(value), value, dtypes.INT32), dtype),)
    return close_statement(x, builder, node, domain, body)


def _leave(x: Extraction, node: c_ast.Break | c_ast.Continue, domain: isl.Set) -> Walked:
    """`break` and `continue`: by the domain where they are affine, by a flag where they depend on data."""
    loop_exit = x.exits[-1]
    is_break = isinstance(node, c_ast.Break)
    trees = [_keep_counter(x, node, domain)] if is_break else []
    may_be_skipped = is_break and loop_exit.continue_flag is not None
    if len(x.guards) == loop_exit.guard_depth and not may_be_skipped:
        if is_break:
            loop_exit.breaks = domain if loop_exit.breaks is None else loop_exit.breaks.union(domain)
        return Walked(sequence(trees), domain.subtract(domain))
    flag = loop_exit.break_flag if is_break else loop_exit.continue_flag
    if flag is None:
        raise NeedsFlag(loop_exit, is_break=is_break)
    trees.append(_set_flag(x, node, flag, 0, domain))
    return Walked(sequence(trees), domain)


def _keep_counter(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Tree | None:
    """The counter's value where `break` leaves the loop, if somebody reads it later."""
    loop = x.loops[-1]
    if loop.counter not in x.materialised:
        return None
    builder = open_statement(x)
    reference, dtype = builder.write(identifier(x, loop.counter, node), domain, must=not x.guards)
    return close_statement(x, builder, node, domain, (Assign(reference, IteratorRef(loop.shown, dtype), dtype),))


def _for(x: Extraction, node: c_ast.For, domain: isl.Set) -> Tree | None:
    if x.loops and bounds_depend_on_data(x, node):
        return _kept_whole(x, node, domain, "its bounds depend on data")
    saved = x.snapshot()
    try:
        head = loop_head(x, node, domain)
        initial = first_value(x, head, domain)
        trees = [_set_counter(x, head, domain)]
        forget(x, node)
        inside = enter(x, head, domain, initial)
    except NoCountedLoop as refusal:
        if not x.whole_loops:
            raise
        x.restore(saved)
        return _kept_whole(x, node, domain, f"{refusal.problem}; to have it transformed, {refusal.hint}")
    saved = x.snapshot()
    on_break = on_continue = False
    while True:
        loop_exit = LoopExit(guard_depth=len(x.guards))
        try:
            before, body = _body(x, node, inside, domain, loop_exit, on_break=on_break, on_continue=on_continue)
        except NeedsFlag as needed:
            if needed.loop_exit is not loop_exit:
                raise
            on_break, on_continue = on_break or needed.is_break, on_continue or not needed.is_break
            x.restore(saved)
            continue
        cut = _without_broken(inside, loop_exit)
        if cut is None:
            break
        inside = cut
        x.restore(saved)
    x.loops.pop()
    forget(x, node)
    trees.append(before)
    if body is not None:
        trees.append(LoopTree(len(x.loops), inside.step > 0, body))
    trees.append(_counter_after(x, head, inside, loop_exit))
    return sequence(trees)


def _while(x: Extraction, node: c_ast.While | c_ast.DoWhile, domain: isl.Set) -> Tree | None:
    """A loop that ends when data says so.

    Raises
    ------
    NoCountedLoop : it is outermost, and such a loop may not be a region.
    """
    if not x.whole_loops and not x.loops:
        raise x.no_counted_loop("the loop does not count with one integer that it steps once", node,
                                witness=loop_text(node), hint=FORM_HINT)
    return opaque_statement(x, node, domain)


def _kept_whole(x: Extraction, node: c_ast.For, domain: isl.Set, reason: str) -> Tree | None:
    """A loop that counts in no affine way: one statement that runs it as C does, whatever it does to its counter."""
    note_whole(x, node, reason)
    return opaque_loop(x, node, domain)


def _body(x: Extraction, node: c_ast.For, inside: LoopDomain, domain: isl.Set, loop_exit: LoopExit, *,
          on_break: bool, on_continue: bool) -> tuple[Tree | None, Tree | None]:
    """A loop's body under the flags that it needs: what comes before the loop, and what is repeated."""
    before, trees = None, []
    depth = len(x.guards)
    if on_break:
        loop_exit.break_flag = new_flag(x, node, "running")
        loop = x.loops.pop()
        before = _set_flag(x, node, loop_exit.break_flag, 1, domain)
        x.loops.append(loop)
        x.guards.append(Guard(loop_exit.break_flag))
    if on_continue:
        loop_exit.continue_flag = new_flag(x, node, "going")
        trees.append(_set_flag(x, node, loop_exit.continue_flag, 1, inside.domain))
        x.guards.append(Guard(loop_exit.continue_flag))
    loop_exit.guard_depth = len(x.guards)
    x.exits.append(loop_exit)
    trees.append(walk(x, node.stmt, inside.domain).tree)
    x.exits.pop()
    del x.guards[depth:]
    return before, sequence(trees)


def _without_broken(inside: LoopDomain, loop_exit: LoopExit) -> LoopDomain | None:
    """The loop without the iterations after an affine `break`; None when there are none to take away."""
    if loop_exit.breaks is None:
        return None
    name, forward = inside.loop.isl_name, inside.step > 0
    after = polyhedra.later_than(loop_exit.breaks, name, forward=forward)
    if inside.domain.intersect(after).is_empty():
        return None
    return LoopDomain(inside.loop, inside.domain.subtract(after).coalesce(), inside.initial, inside.step)


def _set_counter(x: Extraction, head: LoopHead, domain: isl.Set) -> Tree | None:
    """The assignment of a counter's first value, where the counter is read outside its loop."""
    if head.counter not in x.materialised or head.initial is None:
        return None
    target = identifier(x, head.counter, head.node)
    return assignment(x, c_ast.Assignment("=", target, head.initial, head.node.coord), domain)


def _counter_after(x: Extraction, head: LoopHead, inside: LoopDomain, loop_exit: LoopExit) -> Tree | None:
    """What a loop leaves in its counter: one step beyond the last iteration; set by that iteration."""
    if head.counter not in x.materialised:
        return None
    name = inside.loop.isl_name
    last = polyhedra.last_value(inside.domain, name, forward=inside.step > 0)
    beyond = last.add(polyhedra.constant(inside.step))
    after = beyond.union_add(inside.initial.intersect_domain(beyond.domain().complement()))
    x.loops.append(inside.loop)
    final = inside.domain.intersect(polyhedra.symbol(name).eq_set(last))
    if loop_exit.breaks is not None:
        final = final.subtract(loop_exit.breaks)
    if loop_exit.break_flag is not None:
        x.guards.append(Guard(loop_exit.break_flag))
    builder = open_statement(x)
    reference, dtype = builder.write(identifier(x, head.counter, head.node), final, must=not x.guards)
    step = Literal(str(abs(inside.step)), abs(inside.step), dtypes.INT32)
    value = Binary("+" if inside.step > 0 else "-", IteratorRef(inside.loop.shown, dtype), step,
                   dtypes.usual_conversion(dtype, dtypes.INT32))
    leaf = close_statement(x, builder, head.node, final, (Assign(reference, value, dtype),))
    x.loops.pop()
    if loop_exit.break_flag is not None:
        x.guards.pop()
    if loop_exit.breaks is None and loop_exit.break_flag is None and not x.guards:
        x.known[head.counter] = Known(Affine(after, dtype), None)
    return None if leaf is None else LoopTree(len(x.loops), inside.step > 0, leaf)
