"""Programs that compute what a description says, in other words.

Every rewrite keeps each bit of the result in C with wrapping signed arithmetic: integers may be added in another order,
and floats are given whole numbers, whose sums are exact.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import (
    COMPARISONS,
    INT,
    Assign,
    Binary,
    Choice,
    Converted,
    CType,
    Declare,
    Element,
    Expr,
    Function,
    Looked,
    Loop,
    Node,
    Number,
    Unary,
    mapped,
    promoted,
    replaced_at,
    type_of,
    walk,
)
from polysched.fuzz.matches.units import Unit, affine

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
NAMES = {"arrays": ("P", "Q", "R", "S", "U", "V", "Z"), "iterators": ("p", "q", "r", "x", "y")}
PIECES = 2
Word = Callable[[random.Random, Function], Function | None]


def embedded(source: random.Random, unit: Unit) -> tuple[Function, tuple[dict[str, int], ...]]:
    """The description as a program over more iterations, and two sets of values for its sizes."""
    sizes: tuple[dict[str, int], ...] = ({}, {})
    function = unit.function
    for loop in [n for n in walk(function.body) if isinstance(n, Loop)]:
        extent = loop.end.constant
        if loop.iterator in unit.enlarged and source.random() < 0.85:
            name = f"n_{loop.iterator}"
            step = source.choice((2, 4, extent)) if source.random() < 0.25 else 1
            for values in sizes:
                values[name] = step * source.choice((1, 2, 3, max(1, extent // step), 2 * max(1, extent // step),
                                                     extent // step + 1, max(1, extent // step - 1), 5))
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


# the rewrites


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


def spelled_out(source: random.Random, function: Function) -> Function | None:
    """`C += x` as `C = C + x`, or the other way."""
    def change(node: Any) -> Any:
        if not isinstance(node, Assign):
            return node
        if node.op != "=":
            return Assign(node.target, "=", Binary(node.op[0], node.target, node.value))
        match node.value:
            case Binary(op="+", left=left, right=right) if left == node.target:
                return Assign(node.target, "+=", right)
        return node

    return replace(function, body=mapped(function.body, change))


def with_scalar(source: random.Random, function: Function) -> Function | None:
    """A part of a value in a variable of its own, of the part's type."""
    found = [n for n in walk(function.body) if isinstance(n, Assign)
             and not isinstance(n.value, Element | Number)]
    if not found:
        return None
    chosen = source.choice(found)
    part = source.choice([e for e in walk(chosen.value) if not isinstance(e, Number)])
    name = f"s{sum(isinstance(n, Declare) for n in walk(function.body))}"
    value = mapped(chosen.value, lambda e: Element(name) if e == part else e)
    new = [Declare(name, type_of(part, function.types).name, part), replace(chosen, value=value)]
    return replace(function, body=mapped(function.body, lambda n: new if n == chosen else n))


def split_sum(source: random.Random, function: Function) -> Function | None:
    """`C += a + b` as two statements, where the sum wraps no earlier than the result."""
    types = function.types
    found = [n for n in walk(function.body) if isinstance(n, Assign) and n.op in ("+=", "-=")
             and isinstance(n.value, Binary) and n.value.op in "+-"
             and not type_of(n.value, types).is_float and not types[n.target.array].is_float
             and type_of(n.value, types).bits >= types[n.target.array].bits]
    if not found:
        return None
    chosen = source.choice(found)
    assert isinstance(chosen.value, Binary)
    second = chosen.op if chosen.value.op == "+" else "-=" if chosen.op == "+=" else "+="
    new = [replace(chosen, value=chosen.value.left), Assign(chosen.target, second, chosen.value.right)]
    return replace(function, body=mapped(function.body, lambda n: new if n == chosen else n))


def joined_sum(source: random.Random, function: Function) -> Function | None:
    """Two statements that add to one element as one, where the sum wraps no earlier than the result."""
    types = function.types
    for at, node in enumerate(walk(function.body)):
        body = node.body if isinstance(node, Loop) else ()
        for n, (a, b) in enumerate(itertools.pairwise(body)):
            if not isinstance(a, Assign) or not isinstance(b, Assign) or a.target != b.target or {a.op, b.op} != {"+="}:
                continue
            value = Binary("+", a.value, b.value)
            if not type_of(value, types).is_float and type_of(value, types).bits >= types[a.target.array].bits:
                new = replace(node, body=(*body[:n], Assign(a.target, "+=", value), *body[n + 2:]))
                return replace(function, body=replaced_at(function.body, at, lambda _, new=new: new))  # type: ignore[misc]
    return None


def _local_sums(function: Function) -> Iterator[tuple[Declare, Assign]]:
    """Locals that start from zero, with what adds them to something."""
    nodes = list(walk(function.body))
    zeros = [d for d in nodes if isinstance(d, Declare) and isinstance(d.value, Number) and d.value.text == "0"]
    added = [n for n in nodes if isinstance(n, Assign) and n.op in ("+=", "-=")]
    return ((d, n) for d in zeros for n in added if n.value == Element(d.name))


def _wraps_no_earlier(local: Declare, last: Assign, types: Mapping[str, CType]) -> bool:
    return types[local.name].bits >= types[last.target.array].bits and not types[local.name].is_float


def local_dropped(source: random.Random, function: Function, *, exact: bool = True) -> Function | None:
    """A sum in a local added to the result straight away, where the local wraps no earlier than the result.

    Parameters
    ----------
    exact : keep the function; otherwise the wrap of a narrow local is lost.
    """
    found = [(d, n) for d, n in _local_sums(function) if not exact or _wraps_no_earlier(d, n, function.types)]
    if not found:
        return None
    local, last = source.choice(found)
    inner = [n for n in walk(function.body) if isinstance(n, Assign) and n.target == Element(local.name)]
    reads = sum(e == Element(local.name) for e in walk(function.body))
    if len(inner) != 1 or inner[0].op not in ("+=", "-=") or reads != 2:
        return None
    op = "+=" if inner[0].op == last.op else "-="

    def change(node: Any) -> Any:
        if node in (local, last):
            return []
        return Assign(last.target, op, inner[0].value) if node == inner[0] else node

    return replace(function, body=mapped(function.body, change))


def local_folded(source: random.Random, function: Function) -> Function | None:
    """`T t = 0; t += x; C += t` as `C += (T)x`."""
    for at, node in enumerate(walk(function.body)):
        match node:
            case Loop(body=(Declare(value=Number(text="0")) as local, Assign(op="+=") as first, Assign() as last)) if \
                    first.target == last.value == Element(local.name):
                new = replace(node, body=(replace(last, value=Converted(local.ctype, first.value)),))
                return replace(function, body=replaced_at(function.body, at, lambda _, new=new: new))  # type: ignore[misc]
    return None


def unrolled(source: random.Random, function: Function) -> Function | None:
    """A short loop written out, or two iterations of one whose ends are a whole number of steps apart."""
    found = [n for n in walk(function.body) if isinstance(n, Loop) and n.step == 1 and not n.descending
             and not n.end.plus(n.first, -1).terms and n.end.plus(n.first, -1).constant <= 4
             and not any(isinstance(x, Declare) for x in n.body)]
    if not found:
        return None
    chosen = source.choice(found)
    count = chosen.end.plus(chosen.first, -1).constant
    new = [node for at in range(count) for node in mapped(chosen.body, lambda x, at=at: _replaced_iterator(  # type: ignore[misc]
        x, chosen.iterator, chosen.first.plus(Affine((), at))))]
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


def other_spellings(source: random.Random, function: Function) -> Function:
    """int, short and unsigned char instead of stdint.h's names."""
    return replace(function, respelled=True)


def expression(source: random.Random, function: Function) -> Function | None:
    """One operation in other words: operands change places, a cast that changes nothing, a number respelled."""
    places = [(at, new) for at, e in enumerate(walk(function.body)) if isinstance(e, Expr)
              and not _is_target(function, at) for new in _same(source, e, function.types)]
    if not places:
        return None
    at, new = source.choice(places)
    return replace(function, body=replaced_at(function.body, at, lambda _: new))


def _is_target(function: Function, at: int) -> bool:
    """Whether a position holds the target of an assignment."""
    before: Any = None
    for n, value in enumerate(walk(function.body)):
        if n == at:
            return isinstance(before, Assign)
        before = value
    return False


def _same(source: random.Random, e: Expr, types: dict[str, CType]) -> Iterator[Expr]:
    """Other spellings of one expression, of the same type and value."""
    own = type_of(e, types)
    if isinstance(e, Number):
        yield from _numbers(e)
        return
    if not isinstance(e, Element) or e.subscripts:
        yield Converted(own.name, e)
    match e:
        case Converted():
            if type_of(e.of, types) == own:
                yield e.of
        case Binary(op="+" | "*" | "&" | "|" | "^" | "==" | "!="):
            yield Binary(e.op, e.right, e.left)
        case Binary() if e.op in COMPARISONS:
            yield Binary(MIRRORED[e.op], e.right, e.left)
        case Choice(test=Binary(op=op) as test) if op in OPPOSITE and not _is_float(test, types):
            yield Choice(Binary(OPPOSITE[op], test.left, test.right), e.otherwise, e.then)
    if isinstance(e, Binary):
        yield from _operations(e, own, types)


def _is_float(test: Binary, types: dict[str, CType]) -> bool:
    return any(type_of(e, types).is_float for e in (test.left, test.right))


def _operations(e: Binary, own: CType, types: dict[str, CType]) -> Iterator[Expr]:
    """Products, quotients and masks by powers of two; operands converted to the common type, as C does it anyway."""
    if e.op in ("+", "-", "*", "/", "&", "|", "^") and type_of(e.left, types) != own:
        yield Binary(e.op, Converted(own.name, e.left), e.right)
    if e.op in ("+", "-", "*", "/", "&", "|", "^") and type_of(e.right, types) != own:
        yield Binary(e.op, e.left, Converted(own.name, e.right))
    if e.op == "+" and e.left == e.right:
        yield Binary("*", Number("2"), e.left)
    if own.is_float or not isinstance(e.right, Number) or e.right.is_float or type_of(e.right, types) != INT:
        return
    left = type_of(e.left, types)
    yield from _by_power(e, e.right.value, left)
    if e.op == "-" and promoted(left) == own:
        yield Binary("+", e.left, Number(f"-{e.right.value}") if e.right.value > 0 else Unary("-", e.right))


POWERS: Mapping[str, tuple[str, Callable[[int], int]]] = {
    "*": ("<<", lambda value: value.bit_length() - 1), "/": (">>", lambda value: value.bit_length() - 1),
    "%": ("&", lambda value: value - 1)}
"""Operations by a power of two, and what is the same, with its number."""
SHIFTS = {"<<": "*", ">>": "/"}


def _by_power(e: Binary, value: int, left: CType) -> Iterator[Expr]:
    """The same by a power of two or as a shift; of signed numbers only what does not round."""
    keeps_sign = e.op in ("*", "<<") or not left.signed
    if e.op in POWERS and value > 1 and value & (value - 1) == 0 and keeps_sign:
        op, number = POWERS[e.op]
        yield Binary(op, e.left, Number(str(number(value))))
    if e.op in SHIFTS and value < 31 and keeps_sign:
        yield Binary(SHIFTS[e.op], e.left, Number(str(1 << value)))


def _numbers(e: Number) -> Iterator[Expr]:
    if e.is_float:
        return
    if 0 <= e.value <= INT.range[1]:
        digits = str(e.value) if e.digits.startswith("0x") else hex(e.value)
        yield Number(digits + e.suffix)
        yield Number(e.digits + e.suffix.upper())
        if not e.suffix and e.value > 1:
            yield Binary("+", Number(str(e.value - 1)), Number("1"))
        if not e.suffix:
            yield Converted(INT.name, e)


WORDS: dict[str, tuple[Word, int]] = {
    "renamed": (renamed, 2), "loops interchanged": (interchanged, 3), "subscripts shifted": (shifted, 2),
    "loop moved": (moved_loop, 1), "array transposed": (transposed, 2), "row of an array": (one_row, 1),
    "batched": (batched, 2), "two operands in one array": (one_array, 1), "update spelled out": (spelled_out, 2),
    "scalar": (with_scalar, 3), "sum split": (split_sum, 2), "unrolled": (unrolled, 2), "sum joined": (joined_sum, 2),
    "local dropped": (local_dropped, 2), "local folded": (local_folded, 2), "downward": (downward, 1),
    "distributed": (distributed, 1), "types respelled": (other_spellings, 1), "expression": (expression, 6)}
"""By name, and how often each is drawn."""


def reworded(source: random.Random, function: Function, count: int) -> tuple[Function, tuple[str, ...]]:
    """So many rewrites, one after another, and their names; those that have nothing to do are left out."""
    done: list[str] = []
    for _ in range(count):
        name = source.choices(list(WORDS), weights=[w for _, w in WORDS.values()])[0]
        if name in done and name not in ("expression", "scalar", "unrolled", "sum joined"):
            continue
        new = WORDS[name][0](source, function)
        if new is not None and new != function and keeps_tables(new):
            function = new
            done.append(name)
            joined = joined_sum(source, function) if name == "unrolled" and source.random() < 0.5 else None
            if joined is not None:
                function = joined
                done.append("sum joined")
    return function, tuple(done)


def keeps_tables(function: Function) -> bool:
    """Whether every index that data chooses is masked to its table."""
    return all(isinstance(e.index, Binary) and e.index.op == "&" and isinstance(e.index.right, Number)
               and e.index.right.value == e.extent - 1 for e in walk(function.body) if isinstance(e, Looked))
