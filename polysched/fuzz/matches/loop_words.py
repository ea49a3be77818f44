"""Loops and arrays in other words: other names, orders, shapes and subscripts of the same elements."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import (
    Assign,
    Declare,
    Element,
    Function,
    Looked,
    Loop,
    Node,
    mapped,
    walk,
)
from polysched.fuzz.matches.unit_parts import affine
from polysched.fuzz.matches.units import Unit

NAMES = {"arrays": ("P", "Q", "R", "S", "U", "V", "Z"), "iterators": ("p", "q", "r", "x", "y")}


def embedded(source: random.Random, unit: Unit) -> tuple[Function, tuple[dict[str, int], ...]]:
    """The description as a program over more iterations, and two sets of values for its sizes."""
    sizes: tuple[dict[str, int], ...] = ({}, {})
    function = unit.function
    for loop in [n for n in walk(function.body) if isinstance(n, Loop)]:
        extent = loop.end.constant
        if loop.iterator in unit.enlarged and source.random() < 0.85:
            name = f"n_{loop.iterator}"
            step = source.choice((2, 4, extent)) if source.random() < 0.25 else 1
            least = extent if unit.kind == "stages" else 1   # their tiles are never padded
            for values in sizes:
                values[name] = max(-(-least // step) * step, step * source.choice((
                    1, 2, 3, max(1, extent // step), 2 * max(1, extent // step), extent // step + 1,
                    max(1, extent // step - 1), 5)))
            function = _with_loop(function, loop.iterator, replace(loop, end=affine((name, 1))), step)
        elif loop.iterator in unit.pieces and source.random() < 0.6:
            for values in sizes:
                values["n_pieces"] = extent * source.choice((1, 2, 3))
            function = _in_pieces(function, loop.iterator, extent)
    return replace(function, name="f", sizes=tuple(sorted(sizes[0].items()))), sizes


def _with_loop(function: Function, iterator: str, head: Loop, step: int) -> Function:
    """A loop that runs further; in steps of tiles where `step` is more than one."""
    def change(node: Any) -> Any:
        if not isinstance(node, Loop) or node.iterator != iterator:
            return node
        if step == 1:
            return replace(head, body=node.body)
        outer = f"{iterator}0"
        inner = Loop(iterator, affine((outer, 1)), affine((outer, 1), constant=step), node.body)
        return Loop(outer, Affine(), head.end, (inner,), step)

    return replace(function, body=mapped(function.body, change))


def _in_pieces(function: Function, iterator: str, extent: int) -> Function:
    """One more loop around the local's declaration, each iteration of which is one execution."""
    outer = f"{iterator}0"

    def change(node: Any) -> Any:
        if isinstance(node, Loop) and node.iterator == iterator:
            return replace(node, first=affine((outer, 1)), end=affine((outer, 1), constant=extent))
        if isinstance(node, Loop) and any(isinstance(n, Declare) for n in node.body):
            return replace(node, body=(Loop(outer, Affine(), affine(("n_pieces", 1)), node.body, extent),))
        return node

    return replace(function, body=mapped(function.body, change))


def with_values(function: Function, values: dict[str, int], *, symbolic: bool) -> Function:
    """The program at some sizes: as numbers, or as parameters that the caller gives these values."""
    if symbolic:
        return replace(function, sizes=tuple(sorted(values.items())))

    def change(node: Any) -> Any:
        return replace(node, first=_valued(node.first, values), end=_valued(node.end, values)) \
            if isinstance(node, Loop) else node

    return replace(function, body=mapped(function.body, change), sizes=())


def _valued(a: Affine, values: dict[str, int]) -> Affine:
    for name, value in values.items():
        a = a.with_value(name, Affine((), value))
    return a


def renamed(source: random.Random, function: Function) -> Function:
    """Other names for arrays and iterators."""
    arrays = source.sample(NAMES["arrays"], len(function.arrays))
    new = dict(zip((n for n, _ in function.arrays), arrays, strict=True))
    old = list(dict.fromkeys(n.iterator for n in walk(function.body) if isinstance(n, Loop)))
    iterators = [*source.sample(NAMES["iterators"], len(NAMES["iterators"])), *(f"z{n}" for n in range(9))]
    moved = dict(zip(old, iterators, strict=False))
    order = list(function.arrays)
    source.shuffle(order)
    body = mapped(function.body, lambda node: _named(node, new, moved))
    return replace(function, arrays=tuple((new[n], t) for n, t in order), body=body)


def _named(node: Any, arrays: dict[str, str], iterators: dict[str, str]) -> Any:
    def moved(a: Affine) -> Affine:
        return Affine((), a.constant).plus(affine(*((iterators.get(n, n), c) for n, c in a.terms)))

    match node:
        case Element():
            return Element(arrays.get(node.array, node.array), tuple(map(moved, node.subscripts)))
        case Looked():
            return replace(node, array=arrays.get(node.array, node.array))
        case Loop():
            return replace(node, iterator=iterators.get(node.iterator, node.iterator), first=moved(node.first),
                           end=moved(node.end))
    return node


def interchanged(source: random.Random, function: Function) -> Function | None:
    """The loops around everything, in another order."""
    nest, body = perfect(function.body)
    own = {loop.iterator for loop in nest}
    free = [n for n in nest if not (n.first.names() | n.end.names()) & own]
    if len(free) != len(nest) or len(nest) < 2:
        return None
    order = source.sample(nest, len(nest))
    return replace(function, body=nested(order, body))


def perfect(body: tuple[Node, ...]) -> tuple[list[Loop], tuple[Node, ...]]:
    """The loops that hold nothing but each other, outermost first, and what the innermost holds."""
    found: list[Loop] = []
    while len(body) == 1 and isinstance(body[0], Loop):
        found.append(body[0])
        body = body[0].body
    return found, body


def nested(order: list[Loop], body: tuple[Node, ...]) -> tuple[Node, ...]:
    for loop in reversed(order):
        body = (replace(loop, body=body),)
    return body


def shifted(source: random.Random, function: Function) -> Function | None:
    """Every subscript of one dimension of an array a bit higher."""
    chosen = _dimension(source, function)
    if chosen is None:
        return None
    name, at = chosen
    by = Affine((), source.choice((1, 2, 3)))
    return with_elements(function, name, lambda s: (*s[:at], s[at].plus(by), *s[at + 1:]))


def _dimension(source: random.Random, function: Function) -> tuple[str, int] | None:
    """An array, and one of its dimensions."""
    known = {e.array: len(e.subscripts) for e in walk(function.body) if isinstance(e, Element) and e.subscripts}
    found = [(n, at) for n, count in known.items() for at in range(count)]
    return source.choice(found) if found else None


def with_elements(function: Function, array: str,
                  change: Callable[[tuple[Affine, ...]], tuple[Affine, ...]]) -> Function:
    """Other subscripts for every element of one array."""
    return replace(function, body=mapped(function.body, lambda e: Element(array, change(e.subscripts))
                                         if isinstance(e, Element) and e.array == array and e.subscripts else e))


def moved_loop(source: random.Random, function: Function) -> Function | None:
    """A loop that counts from another number."""
    found = [n for n in walk(function.body) if isinstance(n, Loop) and n.step == 1]
    if not found:
        return None
    chosen, by = source.choice(found), source.choice((1, 2))
    inside = mapped(chosen.body, lambda node: _replaced_iterator(node, chosen.iterator, affine((chosen.iterator, 1),
                                                                                             constant=-by)))
    up = Affine((), by)
    new = replace(chosen, first=chosen.first.plus(up), end=chosen.end.plus(up), body=inside)
    return replace(function, body=mapped(function.body, lambda n: new if n == chosen else n))


def _replaced_iterator(node: Any, name: str, value: Affine) -> Any:
    match node:
        case Element():
            return Element(node.array, tuple(s.with_value(name, value) for s in node.subscripts))
        case Loop():
            return replace(node, first=node.first.with_value(name, value), end=node.end.with_value(name, value))
    return node


def transposed(source: random.Random, function: Function) -> Function | None:
    """An array with its dimensions in another order."""
    chosen = _dimension(source, function)
    count = {e.array: len(e.subscripts) for e in walk(function.body) if isinstance(e, Element)}
    if chosen is None or count[chosen[0]] < 2:
        return None
    order = source.sample(range(count[chosen[0]]), count[chosen[0]])
    return with_elements(function, chosen[0], lambda s: tuple(s[at] for at in order))


def one_row(source: random.Random, function: Function) -> Function | None:
    """An array that is a row of one with a dimension more."""
    chosen = _dimension(source, function)
    if chosen is None:
        return None
    return with_elements(function, chosen[0], lambda s: (*s[:chosen[1]], Affine((), 1), *s[chosen[1]:]))


def batched(source: random.Random, function: Function) -> Function | None:
    """One more loop around everything, known to the results and some of the inputs."""
    others = [n for n, _ in function.arrays if n not in function.written and source.random() < 0.6]
    looked = {e.array for e in walk(function.body) if isinstance(e, Looked)}
    own = (function.written | {*others}) - looked
    outer = affine(("b", 1))
    body = mapped(function.body, lambda e: Element(e.array, (outer, *e.subscripts))
                  if isinstance(e, Element) and e.array in own else e)
    return replace(function, body=(Loop("b", Affine(), Affine((), source.choice((2, 3))), body),))


def one_array(source: random.Random, function: Function) -> Function | None:
    """Two inputs of one type in one array."""
    count = {e.array: len(e.subscripts) for e in walk(function.body) if isinstance(e, Element)}
    inputs = [(n, t) for n, t in function.arrays if n not in function.written and count.get(n)]
    same = [(a, b) for a, t in inputs for b, u in inputs if a < b and t == u and count[a] == count[b]]
    if not same:
        return None
    a, b = source.choice(same)
    body = mapped(function.body, lambda e: replace(e, array=a) if isinstance(e, Element) and e.array == b else e)
    return replace(function, body=body, arrays=tuple(x for x in function.arrays if x[0] != b))


def unrolled(source: random.Random, function: Function) -> Function | None:
    """A short loop written out, or two iterations of one whose ends are a whole number of steps apart."""
    found = [n for n in walk(function.body) if isinstance(n, Loop) and n.step == 1 and not n.descending
             and not n.end.plus(n.first, -1).terms and n.end.plus(n.first, -1).constant <= 4
             and not any(isinstance(x, Declare) for x in n.body)]
    if not found:
        return None
    chosen = source.choice(found)
    count = chosen.end.plus(chosen.first, -1).constant
    new = [node for at in range(count) for node in mapped(chosen.body, partial(
        _replaced_iterator, name=chosen.iterator, value=chosen.first.plus(Affine((), at))))]
    return replace(function, body=mapped(function.body, lambda n: new if n == chosen else n))


def downward(source: random.Random, function: Function) -> Function | None:
    """A loop from its last iteration to its first."""
    found = [n for n in walk(function.body) if isinstance(n, Loop) and n.step == 1]
    if not found:
        return None
    chosen = source.choice(found)
    new = replace(chosen, descending=not chosen.descending)
    return replace(function, body=mapped(function.body, lambda n: new if n == chosen else n))


def distributed(source: random.Random, function: Function) -> Function | None:
    """Two statements in a nest of their own each."""
    nest, body = perfect(function.body)
    if len(body) != 2 or not all(isinstance(n, Assign) for n in body) or not nest:
        return None
    return replace(function, body=(*nested(nest, body[:1]), *nested(nest, body[1:])))
