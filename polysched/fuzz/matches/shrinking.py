"""Make a faulty pair smaller for as long as it has a fault of the same kind.

A reduction is tried on the description alone, on the program alone, and, where both offer one of the same name, on
both at once: what matches has to stay alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import (
    TYPES,
    Assign,
    Binary,
    Choice,
    Converted,
    Declare,
    Element,
    Expr,
    Function,
    Looked,
    Loop,
    Number,
    Unary,
    mapped,
    replaced_at,
    walk,
)
from polysched.fuzz.matches.pairs import Pair

Fault = Callable[[Pair], str | None]
MOST_BOTH = 60


def shrink(own: Pair, fault: Fault, *, deadline: float) -> Pair:
    """The smallest pair found.

    Parameters
    ----------
    fault : what is wrong with a pair; None when nothing is.
    deadline : of `time.monotonic`.
    """
    if fault(own) is None:
        return own
    again = True
    while again:
        again = False
        for candidate in smaller(own):
            if time.monotonic() > deadline:
                return own
            if weight(candidate) < weight(own) and fault(candidate) is not None:
                own, again = candidate, True
                break
    return own


def weight(own: Pair) -> int:
    """How large a pair is, in nodes and numbers."""
    return sum(_weight(f) for f in (own.unit.function, *dict.fromkeys(own.programs))) + own.lanes + own.strict


def _weight(function: Function) -> int:
    total = 5 * len(function.arrays) + 3 * len(function.sizes) + function.respelled
    for node in walk(function.body):
        total += 8
        if isinstance(node, Element):
            total += sum(3 + abs(s.constant) + sum(2 + abs(c) for _, c in s.terms) for s in node.subscripts)
        if isinstance(node, Loop):
            total += min(node.end.constant, 40) + node.first.constant + node.step + 2 * node.descending
        if isinstance(node, Number):
            total += len(node.text) + (node.text not in ("0", "1"))
        if isinstance(node, Declare | Converted):
            total += TYPES[node.ctype].bits == 64
    return total


def smaller(own: Pair) -> Iterator[Pair]:
    """Pairs with one thing less."""
    if len({*own.programs}) > 1:
        yield from (replace(own, programs=(p, p)) for p in own.programs)
    if own.lanes or own.strict:
        yield replace(own, lanes=False)
        yield replace(own, strict=False)
    first = own.programs[0]
    if first.sizes:
        yield replace(own, programs=(_numeric(first),) * 2)
    units = list(reductions(own.unit.function))
    programs = list(reductions(first))
    both = [(f, p) for name, f in units for other, p in programs if name == other]
    for function, program in both[:MOST_BOTH]:
        yield _with_unit(replace(own, programs=(program, program)), function)
    for _, program in programs:
        yield replace(own, programs=(program, program))
    for _, function in units:
        yield _with_unit(own, function)


def _with_unit(own: Pair, function: Function) -> Pair:
    modes = tuple("DIRECT" if n in function.written else "PACKED" for n, _ in function.arrays)
    return replace(own, unit=replace(own.unit, function=function, modes=modes, spelling=()))


def _numeric(function: Function) -> Function:
    def change(node: Any) -> Any:
        if not isinstance(node, Loop):
            return node
        first, end = node.first, node.end
        for name, value in function.sizes:
            first, end = (a.with_value(name, Affine((), value)) for a in (first, end))
        return replace(node, first=first, end=end)

    return replace(function, body=mapped(function.body, change), sizes=())


def reductions(function: Function) -> Iterator[tuple[str, Function]]:
    """Smaller functions, each with a name that says what was done."""
    for at, node in enumerate(walk(function.body)):
        for name, new in _of_node(node):
            if isinstance(node, Element) and not isinstance(new, Element) and _is_target(function, at):
                continue
            changed = replace(function, body=replaced_at(function.body, at, new))
            if _is_whole(changed):
                yield name, _pruned(changed)
    for at, (name, ctype) in enumerate(function.arrays):
        if not TYPES[ctype].is_float and ctype != "int32_t":
            arrays = (*function.arrays[:at], (name, "int32_t"), *function.arrays[at + 1:])
            yield f"int32_t for {ctype}", replace(function, arrays=arrays)


def _is_target(function: Function, at: int) -> bool:
    before: Any = None
    for n, value in enumerate(walk(function.body)):
        if n == at:
            return isinstance(before, Assign)
        before = value
    return False


def _of_node(node: Any) -> Iterator[tuple[str, Any]]:
    match node:
        case Loop():
            yield from _of_loop(node)
        case Assign():
            yield "no statement", []
            if node.op == "-=":
                yield "+= for -=", replace(node, op="+=")
        case Declare():
            yield "no declaration", []
        case Converted():
            yield f"no cast to {node.ctype}", node.of
        case Unary():
            yield f"operand of {node.op}", node.of
        case Binary():
            yield f"left of {node.op}", node.left
            yield f"right of {node.op}", node.right
        case Choice():
            yield "then", node.then
            yield "otherwise", node.otherwise
        case Looked():
            yield "index of a table", node.index
        case Element() if node.subscripts:
            yield from _of_element(node)
        case Number() if node.text not in ("0", "1") and not node.is_float:
            yield "one", Number("1")
            if node.suffix:
                yield "no suffix", Number(node.digits)


def _of_loop(node: Loop) -> Iterator[tuple[str, Any]]:
    at_first = mapped(node.body, lambda x: _fixed(x, node.iterator, node.first))
    yield "no loop", list(at_first)
    if node.descending:
        yield "upwards", replace(node, descending=False)
    for end in (1, 2, 4):
        if not node.end.terms and end < node.end.constant and node.step == 1:
            yield f"extent {end}", replace(node, end=Affine((), end))
    if node.first.constant and not node.first.terms:
        yield "from 0", replace(node, first=Affine(), end=node.end.plus(node.first, -1))


def _fixed(node: Any, name: str, value: Affine) -> Any:
    match node:
        case Element():
            return Element(node.array, tuple(s.with_value(name, value) for s in node.subscripts))
        case Loop():
            return replace(node, first=node.first.with_value(name, value), end=node.end.with_value(name, value))
    return node


def _of_element(node: Element) -> Iterator[tuple[str, Any]]:
    for at, s in enumerate(node.subscripts):
        def put(new: Affine, at: int = at) -> Element:
            return Element(node.array, (*node.subscripts[:at], new, *node.subscripts[at + 1:]))

        if s.constant:
            yield "no distance", put(Affine(s.terms))
        for n, c in s.terms:
            yield "no iterator", put(s.with_value(n, Affine()))
            if c not in (1, -1):
                yield "no factor", put(s.plus(Affine(((n, 1),)), 1 - c))
    yield "a number", Number("1")


def _is_whole(function: Function) -> bool:
    """Whether something is written, and every local is declared before it is used."""
    locals_, declared = set[str](), set[str]()
    arrays = {n for n, _ in function.arrays}
    for node in walk(function.body):
        if isinstance(node, Element) and node.array not in arrays:
            locals_.add(node.array)
        if isinstance(node, Declare):
            declared.add(node.name)
    dimensions: dict[str, int] = {}
    same = all(dimensions.setdefault(e.array, len(e.subscripts)) == len(e.subscripts)
               for e in walk(function.body) if isinstance(e, Element))
    loops = all(n.body for n in walk(function.body) if isinstance(n, Loop))
    return bool(function.written) and locals_ <= declared and same and loops


def _pruned(function: Function) -> Function:
    """Without parameters that nothing reads, and without dimensions that are always 0."""
    used = {e.array for e in walk(function.body) if isinstance(e, Element | Looked)}
    function = replace(function, arrays=tuple(x for x in function.arrays if x[0] in used))
    empty: dict[str, set[int]] = {}
    for e in walk(function.body):
        if isinstance(e, Element) and e.subscripts:
            zero = {at for at, s in enumerate(e.subscripts) if s == Affine()}
            empty[e.array] = empty.get(e.array, zero) & zero

    def change(e: Expr) -> Expr:
        if not isinstance(e, Element) or not empty.get(e.array):
            return e
        kept = [s for at, s in enumerate(e.subscripts) if at not in empty[e.array]]
        return Element(e.array, tuple(kept or [Affine()]))

    return replace(function, body=mapped(function.body, change))
