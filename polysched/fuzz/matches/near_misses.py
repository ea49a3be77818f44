"""Programs with one thing changed: a subscript, a type, a constant, a wrap, an operator.

Whether the changed program is still the same function is for its execution to say.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import (
    COMPARISONS,
    TYPES,
    Assign,
    Binary,
    Branch,
    Choice,
    Converted,
    Declare,
    Element,
    Expr,
    Function,
    Loop,
    Number,
    promoted,
    replaced_at,
    type_of,
    walk,
)
from polysched.fuzz.matches.loop_words import with_elements
from polysched.fuzz.matches.sum_words import local_dropped
from polysched.fuzz.matches.unit_parts import NARROW, affine
from polysched.fuzz.matches.words import keeps_tables

Miss = Callable[[random.Random, Function], Function | None]
INTEGERS = tuple(n for n, t in TYPES.items() if not t.is_float)
OPERATORS = (("+", "-", "*"), ("&", "|", "^"), ("<<", ">>"), ("/", "%"), COMPARISONS)


def _places(function: Function, wanted: Callable[[Any], bool]) -> list[tuple[int, Any]]:
    """Positions of `walk` with their values, targets of assignments left out."""
    found, before = [], None
    for at, value in enumerate(walk(function.body)):
        if wanted(value) and not isinstance(before, Assign):
            found.append((at, value))
        before = value
    return found


def _put(function: Function, at: int, new: Any) -> Function:
    return replace(function, body=replaced_at(function.body, at, new))


def subscript(source: random.Random, function: Function) -> Function | None:
    """One subscript of one element: a factor, a distance, another iterator, one more, one less."""
    inside = _iterators(function)
    places = _places(function, lambda e: isinstance(e, Element) and bool(e.subscripts))
    if not places:
        return None
    at, element = source.choice(places)
    where = source.randrange(len(element.subscripts))
    old = element.subscripts[where]
    used = sorted({n for s in element.subscripts for n in s.names()} | inside)
    new = [old.plus(Affine((), 1)), old.plus(old), *(old.plus(affine((n, 1))) for n in used)]
    new += [old.plus(affine((n, -c))) for n, c in old.terms] + [old.plus(affine((n, c))) for n, c in old.terms]
    new += [old.with_value(n, affine((m, 1))) for n, _ in old.terms for m in used if m != n]
    chosen = source.choice(new)
    subscripts = (*element.subscripts[:where], chosen, *element.subscripts[where + 1:])
    return _put(function, at, Element(element.array, subscripts))


def _iterators(function: Function) -> set[str]:
    """Iterators that every statement is inside of."""
    body, found = function.body, set()
    while len(body) == 1 and isinstance(body[0], Loop):
        found.add(body[0].iterator)
        body = body[0].body
    return found


def window_opened(source: random.Random, function: Function) -> Function | None:
    """`X[i + k]` as `X[i][k]`, a window as a matrix."""
    found = [(e.array, at) for e in walk(function.body) if isinstance(e, Element)
             for at, s in enumerate(e.subscripts) if len(s.names()) > 1]
    if not found:
        return None
    name, at = source.choice(found)
    others = [e for e in walk(function.body) if isinstance(e, Element) and e.array == name]
    if any(len(e.subscripts[at].names()) != 2 for e in others):
        return None

    def opened(s: tuple[Affine, ...]) -> tuple[Affine, ...]:
        first = sorted(s[at].names())[0]
        own = Affine(tuple(t for t in s[at].terms if t[0] == first))
        return (*s[:at], own, s[at].plus(own, -1), *s[at + 1:])

    return with_elements(function, name, opened)


def swapped_subscripts(source: random.Random, function: Function) -> Function | None:
    """One element with two subscripts in the other order."""
    places = _places(function, lambda e: isinstance(e, Element) and len(e.subscripts) > 1)
    if not places:
        return None
    at, element = source.choice(places)
    new = list(element.subscripts)
    a, b = source.sample(range(len(new)), 2)
    new[a], new[b] = new[b], new[a]
    return _put(function, at, Element(element.array, tuple(new)))


def array_type(source: random.Random, function: Function) -> Function | None:
    """Another type for a parameter."""
    name, old = source.choice(function.arrays)
    choices = ("float", "double") if TYPES[old].is_float else INTEGERS
    new = source.choice([t for t in choices if t != old])
    return replace(function, arrays=tuple((n, new if n == name else t) for n, t in function.arrays))


def local_type(source: random.Random, function: Function) -> Function | None:
    """Another type for a local variable."""
    places = [(at, d) for at, d in _places(function, lambda d: isinstance(d, Declare))]
    if not places:
        return None
    at, old = source.choice(places)
    choices = ("float", "double") if TYPES[old.ctype].is_float else INTEGERS
    return _put(function, at, replace(old, ctype=source.choice([t for t in choices if t != old.ctype])))


def constant(source: random.Random, function: Function) -> Function | None:
    """Another value of a constant, or another type of it."""
    places = _places(function, lambda e: isinstance(e, Number) and not e.is_float)
    if not places:
        return None
    at, old = source.choice(places)
    shifts = {id(e.right) for e in walk(function.body) if isinstance(e, Binary) and e.op in ("<<", ">>")}
    if id(old) in shifts:
        new = [str(old.value + 1), str(max(old.value - 1, 0))] if old.value < 30 else [str(old.value - 1)]
    else:
        digits = old.digits
        new = [str(old.value + 1), str(old.value * 2), digits + "u", digits + "L", digits + "ul", digits]
        new.append(hex(abs(old.value)))
        new += [str(old.value - 1)] if old.value > 1 else []
    return _put(function, at, Number(source.choice([n for n in new if n != old.text])))


def cast_removed(source: random.Random, function: Function) -> Function | None:
    places = _places(function, lambda e: isinstance(e, Converted))
    if not places:
        return None
    at, old = source.choice(places)
    return _put(function, at, old.of)


def cast_added(source: random.Random, function: Function) -> Function | None:
    """A value that wraps to another type."""
    floats = any(TYPES[t].is_float for _, t in function.arrays)
    places = _places(function, lambda e: isinstance(e, Expr) and not isinstance(e, Number))
    if not places:
        return None
    at, old = source.choice(places)
    ctype = source.choice((*NARROW, *INTEGERS))
    if floats and type_of(old, function.types).is_float:
        ctype = "float"
    return _put(function, at, Converted(ctype, old))


def operator(source: random.Random, function: Function) -> Function | None:
    """Another operator of the same kind."""
    places = [(at, e, new) for at, e in _places(function, lambda e: isinstance(e, Binary)) for new in _others(e)]
    if not places:
        return None
    at, old, new = source.choice(places)
    return _put(function, at, replace(old, op=new))


def _others(e: Binary) -> Iterator[str]:
    for group in OPERATORS:
        if e.op in group and not (group[0] == "/" and not isinstance(e.right, Number)):
            yield from (op for op in group if op != e.op)


def wrap_lost(source: random.Random, function: Function) -> Function | None:
    """A sum in a local without the local, whose type may have cut it."""
    return local_dropped(source, function, exact=False)


def swapped(source: random.Random, function: Function) -> Function | None:
    """Operands of a difference or branches of a choice, exchanged."""
    places = _places(function, lambda e: isinstance(e, Choice) or (isinstance(e, Binary) and e.op == "-"))
    if not places:
        return None
    at, old = source.choice(places)
    new = replace(old, then=old.otherwise, otherwise=old.then) if isinstance(old, Choice) else \
        replace(old, left=old.right, right=old.left)
    return _put(function, at, new)


def update(source: random.Random, function: Function) -> Function | None:
    """`+=`, `-=` and `=` for each other."""
    places = [(at, a) for at, a in enumerate(walk(function.body)) if isinstance(a, Assign)]
    at, old = source.choice(places)
    return _put(function, at, replace(old, op=source.choice([o for o in ("+=", "-=", "=") if o != old.op])))


def side_lost(source: random.Random, function: Function) -> Function | None:
    """A branch without its `else`, with its sides exchanged, or one of its writes under no condition."""
    places = [(at, b) for at, b in _places(function, lambda b: isinstance(b, Branch))]
    if not places:
        return None
    at, old = source.choice(places)
    first, *others = old.then or old.otherwise
    ways = [replace(old, then=old.otherwise or old.then, otherwise=old.then if old.otherwise else ())]
    if old.otherwise:
        ways.append(replace(old, otherwise=()))
    ways.append(Branch(old.test, tuple(others), old.otherwise) if others and old.then else first)
    chosen = source.choice(ways)
    alone = isinstance(chosen, Branch) and chosen.then == tuple(others) and bool(others)
    return _put(function, at, [first, chosen] if alone else chosen)


MISSES: dict[str, tuple[Miss, int]] = {
    "subscript": (subscript, 5), "window opened": (window_opened, 3), "subscripts swapped": (swapped_subscripts, 1),
    "type of an array": (array_type, 3), "type of a local": (local_type, 3), "constant": (constant, 4),
    "cast removed": (cast_removed, 3), "cast added": (cast_added, 3), "operator": (operator, 2),
    "swapped": (swapped, 1),
    "wrap of a local": (wrap_lost, 3),
    "kind of update": (update, 1)}
"""By name, and how often each is drawn."""
OF_BRANCHES: dict[str, tuple[Miss, int]] = {**MISSES, "side of a branch": (side_lost, 25)}
"""Of programs that choose what they write."""


def missed(source: random.Random, function: Function,
           table: dict[str, tuple[Miss, int]] | None = None) -> tuple[Function, str]:
    """The program with one change, and what that was."""
    table = MISSES if table is None else table
    while True:
        name = source.choices(list(table), weights=[w for _, w in table.values()])[0]
        new = table[name][0](source, function)
        if new is not None and new != function and keeps_tables(new) and is_defined(new):
            return new, name


def is_defined(function: Function) -> bool:
    """Whether C says what every shift and quotient by a constant is: their execution would not say anything else."""
    for e in walk(function.body):
        if isinstance(e, Binary) and e.op in ("<<", ">>", "/", "%"):
            by = _value(e.right)
            width = promoted(type_of(e.left, function.types)).bits
            if by is not None and not (by != 0 if e.op in "/%" else 0 <= by < width):
                return False
    return True


def _value(e: Expr) -> int | None:
    """Of small constants as `expression_words` writes them; None where data has a part in it."""
    match e:
        case Number(is_float=False):
            return e.value
        case Converted():
            return _value(e.of)
        case Binary(op="+" | "-" | "*"):
            left, right = _value(e.left), _value(e.right)
            if left is None or right is None:
                return None
            return left + right if e.op == "+" else left - right if e.op == "-" else left * right
    return None
