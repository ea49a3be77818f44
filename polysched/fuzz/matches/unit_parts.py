"""What random descriptions are made of: operands, constants, expressions of operands."""

from __future__ import annotations

import random
from collections.abc import Sequence

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import (
    TYPES,
    Binary,
    Choice,
    Converted,
    CType,
    Element,
    Expr,
    Loop,
    Node,
    Number,
    Unary,
    promoted,
    type_of,
    walk,
)

NARROW = ("int8_t", "uint8_t", "int16_t", "uint16_t")
WIDE = ("int32_t", "int32_t", "int32_t", "uint32_t", "int64_t", "uint64_t")
FLOATS = ("float", "double")
MASKS = ("1", "15", "0xff", "0xFFFF", "0xFFFFFFFF", "255u", "0x7fffffff")
CONSTANTS = ("1", "2", "3", "5", "7", "128", "255", "1u", "2u", "3L", "0x80000000", "1000")
MOST_INSTANCES = 128


def affine(*terms: tuple[str, int], constant: int = 0) -> Affine:
    """Sum of the terms."""
    total = Affine((), constant)
    for name, factor in terms:
        total = total.plus(Affine(((name, 1),)), factor)
    return total


def loops(order: Sequence[tuple[str, int]], body: tuple[Node, ...], descending: str = "") -> tuple[Node, ...]:
    """Loops from 0 around a body, outermost first."""
    for name, extent in reversed(order):
        body = (Loop(name, Affine(), Affine((), extent), body, descending=name == descending),)
    return body


def clamp(value: Expr, low: str, high: str) -> Expr:
    """A value cut to a range."""
    return Choice(Binary(">", value, Number(high)), Number(high),
                  Choice(Binary("<", value, Number(low)), Number(low), value))


def names_of(trees: object) -> set[str]:
    return {n for e in walk(tuple(trees) if isinstance(trees, list) else trees) if isinstance(e, Element)
            for s in e.subscripts for n in s.names()}


class Parts:
    """Draws parts of one description; every choice comes from the one generator of random numbers."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.arrays: dict[str, str] = {}
        self.spelling: tuple[Node, ...] = ()
        self.lanes = [(n, source.choice((2, 4, 4, 8, 8, 16))) for n in ("i", "j")[:source.choice((1, 1, 1, 2))]]
        self.sums = [("k", source.choice((2, 2, 4, 4)))]
        while self.lanes[0][1] * self.lanes[-1][1] > MOST_INSTANCES // 2:
            self.lanes[0] = (self.lanes[0][0], self.lanes[0][1] // 2)

    def all_names(self) -> set[str]:
        return {n for n, _ in (*self.lanes, *self.sums)}

    def types(self) -> dict[str, CType]:
        return {n: TYPES[t] for n, t in self.arrays.items()}

    def nest(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        """All loops around a body; those that it does not use are left out."""
        used = names_of(body)
        order = [x for x in (*self.lanes, *self.sums) if x[0] in used]
        self.lanes, self.sums = [x for x in self.lanes if x in order], [x for x in self.sums if x in order]
        return loops(order, body, self.random.choice(order)[0] if self.random.random() < 0.08 else "")

    def result(self, name: str, ctype: str) -> Element:
        self.arrays[name] = ctype
        return Element(name, tuple(affine((n, 1)) for n, _ in self.lanes))

    def inputs(self, count: int, *, reduced: bool = True, types: Sequence[str] = ()) -> list[Expr]:
        """Elements of so many operands; together they know every loop."""
        known = [n for n, _ in (*self.lanes, *(self.sums if reduced else ()))]
        found: list[Expr] = []
        for at, name in enumerate(("A", "B", "W")[:count]):
            self.arrays[name] = self.random.choice(types or (*NARROW, *NARROW, *WIDE[2:]))
            own = self.loops_of(at, known, summed=reduced and at < 2)
            if at == count - 1:
                own += [n for n in known if n not in own and n not in names_of(found)]
            found.append(Element(name, self.subscripts(own)))
        return found

    def loops_of(self, at: int, known: list[str], *, summed: bool) -> list[str]:
        """The loops that move an operand: the first one always has some, factors of a sum have its loop."""
        own = [n for n in known if self.random.random() < (0.8 if len(known) > 1 or at == 0 else 0.75)]
        if at == 0:
            own = own or known[:1]
        return [*own, "k"] if summed and "k" not in own else own

    def subscripts(self, names: list[str]) -> tuple[Affine, ...]:
        """Iterators as subscripts, seldom a constant among them."""
        found = [affine((n, 1)) for n in names] or [Affine()]
        if self.random.random() < 0.06:
            found.insert(self.random.randrange(len(found) + 1), Affine((), self.random.choice((0, 1))))
        return tuple(found)

    def perhaps_converted(self, e: Expr) -> Expr:
        return Converted(self.random.choice((*NARROW, *WIDE)), e) if self.random.random() < 0.3 else e

    def value(self, leaves: list[Expr]) -> Expr:
        """An expression of all leaves."""
        parts = [self.dressed(e) if self.random.random() < 0.35 else e for e in leaves]
        while len(parts) > 1:
            a, b, *rest = parts
            parts = [self.joined(a, b), *rest]
        return self.dressed(parts[0]) if self.random.random() < 0.4 else parts[0]

    def joined(self, a: Expr, b: Expr) -> Expr:
        test = Binary(self.random.choice((">", "<", ">=", "<=")), a, b)
        return self.random.choice((
            Binary("*", a, b), Binary("*", a, b), Binary("*", a, b), Binary("+", a, b), Binary("-", a, b),
            Binary(self.random.choice(("&", "|", "^")), a, b), Choice(test, a, b),
            Choice(Binary(">", a, b), Binary("-", a, b), Binary("-", b, a)), test, Choice(test, a, Number("0"))))

    def dressed(self, e: Expr) -> Expr:
        """One operation with a constant, or a conversion."""
        width = promoted(type_of(e, self.types())).bits
        return self.random.choice((
            Converted(self.random.choice((*NARROW, *NARROW, *WIDE)), e), Converted(self.random.choice(NARROW), e),
            Binary("+", e, self.number()), Binary("-", e, self.number()), Binary("*", e, self.number()),
            Binary("/", e, Number(self.random.choice(("2", "2u", "3", "4", "2L", "4u", "3u")))),
            Binary("%", e, Number(self.random.choice(("4", "4u", "3", "8")))),
            Binary("&", e, Number(self.random.choice(MASKS))),
            Binary(">>", e, Number(str(self.random.randrange(1, min(width, 9))))),
            Binary("<<", e, Number(str(self.random.choice((1, 2, 4, width - 1))))), Unary("-", e), Unary("~", e),
            Choice(Binary(">", e, Number("100")), Number("100"), e)))

    def number(self) -> Number:
        return Number(self.random.choice(CONSTANTS))

    def average(self, leaves: list[Expr]) -> Expr:
        total = leaves[0]
        for other in leaves[1:]:
            total = Binary("+", total, other)
        rounded = Binary("+", total, Number("1")) if self.random.random() < 0.7 else total
        return Binary(">>", rounded, Number(str(self.random.choice((1, 1, 2)))))

    def high_product(self, leaves: list[Expr]) -> Expr:
        """The upper bits of a product, rounded."""
        product: Expr = leaves[0]
        for other in leaves[1:]:
            product = Binary("*", Converted("int32_t", product), other)
        shift = self.random.choice((7, 14, 15))
        return Binary(">>", Binary("+", product, Number(str(1 << (shift - 1)))), Number(str(shift)))

    def clamped(self, leaves: list[Expr]) -> Expr:
        value = self.value(leaves[:2])
        return clamp(value, *self.random.choice((("-128", "127"), ("0", "255"), ("-32768", "32767"))))
