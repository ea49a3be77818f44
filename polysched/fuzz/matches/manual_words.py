"""A sum in a description as the pseudocode of manuals has it; the programs beside it keep to the plain loop.

    for i: for k < 2: C[i] += A[i][k] * B[k]
      ->   for i: { t = C[i]; for k < 2: t += A[i][k] * B[k]; C[i] = t; }            Arm, RISC-V
      ->   for i: C[i] = C[i] + A[i][0] * B[0] + A[i][1] * B[1]                      AMX, Hexagon
      ->   for i: { C[i] += A[i][0] * B[0]; C[i] += A[i][1] * B[1]; }                Hexagon
"""

from __future__ import annotations

import random

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import Assign, Binary, Declare, Element, Expr, Loop, Node, mapped


def in_manual_words(source: random.Random, body: tuple[Node, ...], ctype: str) -> tuple[Node, ...]:
    """The body in the words of some manual; as it is where it has no sum in its innermost loop.

    Parameters
    ----------
    ctype : of the result.
    """
    (loop,) = body
    if not isinstance(loop, Loop):
        return body
    (inner,) = loop.body
    if isinstance(inner, Loop):
        return (Loop(loop.iterator, loop.first, loop.end, in_manual_words(source, loop.body, ctype), loop.step,
                     loop.descending),)
    if not isinstance(inner, Assign) or inner.op != "+=" or any(
            loop.iterator in s.names() for s in inner.target.subscripts):
        return body
    return source.choice((_second_name, _one_sum, _statements))(loop, inner, ctype)


def _second_name(loop: Loop, inner: Assign, ctype: str) -> tuple[Node, ...]:
    name = Element("t")
    own = Loop(loop.iterator, loop.first, loop.end, (Assign(name, "+=", inner.value),), loop.step, loop.descending)
    return Declare("t", ctype, inner.target), own, Assign(inner.target, "=", name)


def _one_sum(loop: Loop, inner: Assign, ctype: str) -> tuple[Node, ...]:
    total: Expr = inner.target
    for value in _addends(loop, inner):
        total = Binary("+", total, value)
    return (Assign(inner.target, "=", total),)


def _statements(loop: Loop, inner: Assign, ctype: str) -> tuple[Node, ...]:
    return tuple(Assign(inner.target, "+=", value) for value in _addends(loop, inner))


def _addends(loop: Loop, inner: Assign) -> list[Expr]:
    """What each iteration adds, in order."""
    def added(at: int) -> Expr:
        def change(e: Expr) -> Expr:
            return Element(e.array, tuple(s.with_value(loop.iterator, Affine((), at)) for s in e.subscripts)) \
                if isinstance(e, Element) else e
        return mapped(inner.value, change)
    values = range(loop.first.constant, loop.end.constant, loop.step)
    return [added(at) for at in (reversed(values) if loop.descending else values)]
