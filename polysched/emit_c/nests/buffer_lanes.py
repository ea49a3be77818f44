"""Loops that fill a buffer, in the order in which the buffer lies in memory.

Rewrite:  for c: for x: T[x][c] = 0   ->   for x: for c (simd): T[x][c] = 0

A buffer of sums has the lanes of its register block as its last dimension (`array_contraction`), so a nest that starts
the sums, or goes on with them into a buffer of the same kind, would go across it.  One loop of such a nest moves inside
where all accesses then stay in place or go along memory, as they did not before.  The loop carries no dependence, and
the bounds of those that it moves past do not name it.

Source: J. R. Allen and K. Kennedy, "Automatic translation of FORTRAN programs to vector form", ACM TOPLAS 9(4), 1987
(interchange for vectorisation: a loop that carries nothing may become the innermost one).
"""

from __future__ import annotations

from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import growth, variables
from polysched.emit_c.loop_ir.loops import For, Let, Node, StatementInstance
from polysched.emit_c.loop_ir.statement_instances import leaves_of
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import map_children
from polysched.scop.scop import Access, Scop


def follow_buffers(node: Node, facts: Facts, dependences: Dependences, around: tuple[str, ...] = ()) -> Node:
    """The loops, those that write buffers across their rows in another order.

    Parameters
    ----------
    around : the variables of the loops around the node, outermost first.
    """
    match node:
        case For():
            nest, instance = _perfect(node)
            if instance is not None and (moved := _moved(nest, instance, dependences, facts, around)) is not None:
                return moved
            return replace(node, body=follow_buffers(node.body, facts.inside(node), dependences,
                                                     (*around, node.variable)))
        case Let():
            return replace(node, body=follow_buffers(node.body, facts.where(node), dependences,
                                                     (*around, node.variable)))
        case StatementInstance():
            return node
        case _:
            return map_children(node, lambda child: follow_buffers(child, facts, dependences, around))


def _perfect(loop: For) -> tuple[tuple[For, ...], StatementInstance | None]:
    """The loops of a nest with one statement, and that statement; None where there is more in it."""
    nest = [loop]
    inside: Node = loop.body
    while isinstance(inside, For):
        nest.append(inside)
        inside = inside.body
    return tuple(nest), inside if isinstance(inside, StatementInstance) else None


def _moved(nest: tuple[For, ...], instance: StatementInstance, dependences: Dependences, facts: Facts,
           around: tuple[str, ...]) -> Node | None:
    """The nest with the loop along the buffer's rows inside; None where it is so already, or must not."""
    scop = dependences.scop
    if not _writes_a_buffer(instance, scop) or _along(nest[-1], instance, scop) or any(
            loop.mark.register or loop.mark.parallel or not loop.is_canonical for loop in nest):
        return None
    position = next((n for n in range(len(nest) - 2, -1, -1) if _can_move(nest, n) and _along(
        nest[n], instance, scop)), None)
    if position is None:
        return None
    leaves = tuple(leaves_of(nest[0], around, facts))
    if any(True for _ in carried_pairs(leaves, len(around) + position, dependences)):
        return None
    lanes = replace(nest[position], mark=replace(nest[position].mark, simd=True), body=instance)
    inner = tuple(replace(loop, mark=replace(loop.mark, simd=False)) for loop in nest[position + 1:])
    return _nested((*nest[:position], *inner), lanes)


def _can_move(nest: tuple[For, ...], position: int) -> bool:
    """Whether no bound of the loops inside names the loop."""
    loop = nest[position]
    return loop.step == 1 and not any(loop.variable in variables(bound) for other in nest[position + 1:]
                                      for bound in (other.lower, other.upper))


def _nested(loops: tuple[For, ...], body: Node) -> Node:
    for loop in reversed(loops):
        body = replace(loop, body=body)
    return body


def _writes_a_buffer(instance: StatementInstance, scop: Scop) -> bool:
    buffers = {t.array for t in instance.temporaries if t.kept}
    return all(access.array in buffers for access in statement_at(scop, instance).writes)


def _along(loop: For, instance: StatementInstance, scop: Scop) -> bool:
    """Whether every access stays in place or goes to the next element of memory from one iteration to the next."""
    return all(_is_along(loop.variable, instance, access, scop)
               for access in statement_at(scop, instance).accesses)


def _is_along(name: str, instance: StatementInstance, access: Access, scop: Scop) -> bool:
    values = dict(zip(statement_at(scop, instance).iterators, instance.iterators, strict=True))
    known = tuple(linear_form(subscript, values) for subscript in access.subscripts)
    forms = tuple(form for form in known if form is not None)
    if len(forms) < len(known):
        return False
    for temporary in instance.temporaries:
        if temporary.array == access.array:
            forms = temporary.subscripts(forms)
    steps = [growth(form, name) for form in forms]
    return all(step == 0 for step in steps[:-1]) and (not steps or steps[-1] in (0, 1))
