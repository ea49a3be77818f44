"""Choices of what is written as branches, and branches in other words.

    C[i] = t ? a : b;             if (t) C[i] = a; else C[i] = b;
    C[i] = t ? a : C[i];          if (t) C[i] = a;
    if (t) A; if (t) B;           if (t) { A B }
    if (t && u) A else B          if (t) { if (u) A else B } else B
    if (t) C[i] = a; else ..      C[i] = ..; if (t) C[i] = a;
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

from polysched.fuzz.matches.c_tree import (
    Assign,
    Binary,
    Branch,
    Choice,
    Converted,
    CType,
    Element,
    Expr,
    Function,
    Loop,
    Node,
    Unary,
    mapped,
    replaced_at,
    type_of,
    walk,
)
from polysched.fuzz.matches.expression_words import OPPOSITE


def branched(source: random.Random, function: Function) -> Function | None:
    """Assignments of a choice as branches, one or all; a side that is the element itself is left out."""
    found = [n for n in walk(function.body) if isinstance(n, Assign) and n.op == "=" and isinstance(n.value, Choice)]
    if not found:
        return None
    chosen = [source.choice(found)] if source.random() < 0.5 else found
    return replace(function, body=mapped(function.body, lambda n: _branch(n, function.types) if n in chosen else n))


def _branch(item: Assign, types: dict[str, CType]) -> Node:
    choice = item.value
    assert isinstance(choice, Choice)
    common = type_of(choice, types)
    sides: list[tuple[Node, ...]] = []
    for side in (choice.then, choice.otherwise):
        kept = side == item.target and _holds(common, types[item.target.array])
        value = side if type_of(side, types) == common else Converted(common.name, side)
        sides.append(() if kept else (Assign(item.target, "=", value),))
    if not any(sides):
        return item
    return Branch(choice.test, *sides) if sides[0] else Branch(Unary("!", choice.test), sides[1])


def _holds(wide: CType, narrow: CType) -> bool:
    """Whether values of a type are the same behind a conversion to another one and back."""
    return wide.bits >= narrow.bits and wide.is_float == narrow.is_float


def joined(source: random.Random, function: Function) -> Function | None:
    """Two branches by one condition as one, where the second reads nothing that the first writes."""
    for at, node in enumerate(walk(function.body)):
        body = node.body if isinstance(node, Loop) else ()
        for n, (a, b) in enumerate(itertools.pairwise(body)):
            if not isinstance(a, Branch) or not isinstance(b, Branch) or a.test != b.test or _written(a) & _named(b):
                continue
            new = Branch(a.test, (*a.then, *b.then), (*a.otherwise, *b.otherwise))
            return replace(function, body=replaced_at(function.body, at, replace(
                node, body=(*body[:n], new, *body[n + 2:]))))
    return None


def _written(branch: Branch) -> set[str]:
    return {n.target.array for n in walk(branch) if isinstance(n, Assign)}


def _named(branch: Branch) -> set[str]:
    return {e.array for e in walk(branch) if isinstance(e, Element)}


def negated(source: random.Random, function: Function) -> Function | None:
    """A branch by the opposite condition; the opposite of `a < b` is another one where one of them is no number."""
    def opposite(test: Expr) -> Expr:
        match test:
            case Unary(op="!"):
                return test.of
            case Binary(op=op) if op in OPPOSITE and not any(
                    type_of(e, function.types).is_float for e in (test.left, test.right)):
                return Binary(OPPOSITE[op], test.left, test.right)
        return Unary("!", test)

    return _changed(source, function, (
        (b, Branch(opposite(b.test), b.otherwise, b.then)) for b in _branches(function) if b.otherwise))


def nested(source: random.Random, function: Function) -> Function | None:
    """A branch by two conditions as one inside another."""
    def inside(b: Branch, test: Binary) -> Branch:
        if test.op == "&&":
            return Branch(test.left, (Branch(test.right, b.then, b.otherwise),), b.otherwise)
        return Branch(test.left, b.then, (Branch(test.right, b.then, b.otherwise),))

    return _changed(source, function, ((b, inside(b, b.test)) for b in _branches(function)
                                       if isinstance(b.test, Binary) and b.test.op in ("&&", "||")))


def overwritten(source: random.Random, function: Function) -> Function | None:
    """The value of `else` in any case, then that of the branch, where neither reads what is written."""
    def changed(b: Branch) -> list[Node] | None:
        match b:
            case Branch(then=(Assign(op="=") as first,), otherwise=(Assign(op="=") as second,)) if \
                    first.target == second.target and first.target not in walk((b.test, first.value)):
                return [second, replace(b, otherwise=())]
        return None

    return _changed(source, function, ((b, new) for b in _branches(function) if (new := changed(b)) is not None))


def _branches(function: Function) -> Iterator[Branch]:
    return (n for n in walk(function.body) if isinstance(n, Branch))


def _changed(source: random.Random, function: Function,
             ways: Iterator[tuple[Branch, Branch | list[Node]]]) -> Function | None:
    found = list(ways)
    if not found:
        return None
    old, new = source.choice(found)
    return replace(function, body=mapped(function.body, lambda n: new if n == old else n))
