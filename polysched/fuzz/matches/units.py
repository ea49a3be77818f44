"""Random descriptions of instructions, each of a kind: what a user might write, in the description language.

Nothing here asks what the matcher can do: a description that it cannot represent has to be refused when it is loaded.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import (
    COMPARISONS,
    Assign,
    Binary,
    Called,
    Choice,
    Converted,
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
    walk,
)
from polysched.fuzz.matches.manual_words import in_manual_words
from polysched.fuzz.matches.unit_parts import (
    FLOATS,
    NARROW,
    WIDE,
    Parts,
    affine,
    clamp,
    loops,
)
from polysched.records import dataclass

NAME = "unit"
BRANCHES = "branches"
FIRST_OF_MORE_KINDS = 2500   # descriptions before are those of the recorded 20,000 pairs
FIRST_OF_BRANCHES = 5000     # and these have choices that programs write as branches
FIRST_OF_MANUALS = 50000     # and these sums in the words of manuals, swaps, and tables under a condition


@dataclass(frozen=True)
class Unit:
    """One description.

    Parameters
    ----------
    kind : the family that it was drawn from.
    enlarged : loops that programs may run further: what is computed per iteration stays the same.
    pieces : loops that programs may run further in whole pieces only, each with the locals of one execution.
    modes : names in `LoadMode`, per operand.
    spelling : the body as the description has it, where that is in other words than the function's.
    """

    function: Function
    kind: str
    enlarged: frozenset[str]
    pieces: frozenset[str]
    modes: tuple[str, ...]
    spelling: tuple[Node, ...] = ()

    @property
    def described(self) -> Function:
        """The function in the words of the description."""
        return replace(self.function, body=self.spelling) if self.spelling else self.function


def unit(seed: int) -> Unit:
    """The description of this number."""
    return _Drawer(random.Random(f"unit {seed}")).unit(
        more=seed >= FIRST_OF_MORE_KINDS, branches=seed >= FIRST_OF_BRANCHES, manuals=seed >= FIRST_OF_MANUALS)


class _Drawer(Parts):
    """Draws one description; every choice comes from the one generator of random numbers."""

    def unit(self, *, more: bool, branches: bool, manuals: bool = False) -> Unit:
        kinds: dict[Callable[[], tuple[tuple[Node, ...], set[str], set[str]]], tuple[str, int]] = {
            self.constants: ("constants", 3), self.products: ("sum of products", 4),
            self.sum_of_anything: ("sum", 4), self.narrow: ("local", 4),
            self.window: ("window", 3), self.twice: ("operand twice", 3), self.assignment: ("assignment", 5),
            self.update: ("update", 2), self.outputs: ("several outputs", 2), self.saturating: ("saturating", 1),
            self.floats: ("floats", 2), self.extrema: ("maximum of maxima", 1), self.table: ("table", 1),
            self.stages: ("stages", 2)}
        if more:
            kinds |= {self.triangle: ("triangle", 2), self.calls: ("calls", 3), self.mask: ("masks", 3),
                      self.in_place: ("in place", 2)}
        if branches:
            kinds |= {self.branches: (BRANCHES, 20)}
        if manuals:
            kinds |= {self.manual: ("as manuals write", 20), self.swap: ("swap", 5), self.bounded: ("bounded table", 6)}
        draw = self.random.choices(list(kinds), weights=[w for _, w in kinds.values()])[0]
        body, enlarged, pieces = draw()
        written = {n.target.array for n in _assignments(body)}
        order = sorted(self.arrays, key=lambda n: n not in written)
        function = Function(NAME, tuple((n, self.arrays[n]) for n in order), body)
        modes = tuple("DIRECT" if n in written else self.random.choice(("PACKED", "PACKED", "DIRECT")) for n in order)
        if draw == self.manual:
            self.spelling = in_manual_words(self.random, body, self.arrays["C"])
        return Unit(function, kinds[draw][0], frozenset(enlarged), frozenset(pieces), modes, self.spelling)

    # kinds: the body, the loops that may run further, and those that may in whole pieces

    def products(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        total = self.result("C", self.random.choice(WIDE))
        a, b = self.inputs(2)
        value = Binary("*", self.perhaps_converted(a), self.perhaps_converted(b))
        return self.nest((Assign(total, "+=", value),)), self.all_names(), set()

    def sum_of_anything(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        total = self.result("C", self.random.choice((*WIDE, *WIDE, *NARROW)))
        value = self.value(self.inputs(self.random.choice((1, 2, 2, 2, 3))))
        return self.nest((Assign(total, self.random.choice(("+=", "+=", "+=", "-=")), value),)), self.all_names(), set()

    def constants(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """One operand and constants whose types decide what is computed."""
        total = self.result("C", self.random.choice((*WIDE, "int64_t", "int64_t")))
        (a,) = self.inputs(1, types=(*NARROW, *WIDE))
        one, high = self.random.choice((("1", "31"), ("1u", "31"), ("1L", "31"), ("1L", "63"), ("1ul", "40")))
        value: Expr = self.random.choice((
            Binary("/", a, Number(self.random.choice(("2u", "2", "3u", "2L", "7ul")))),
            Binary("&", a, Number(self.random.choice(("0xFFFFFFFF", "0xFFFFFFFFL", "0x7fffffff", "0xFFFF", "255u")))),
            Binary("+", a, Number(self.random.choice(("0xFFFFFFFF", "1u", "4294967295", "0x80000000", "2147483648")))),
            Binary("*", a, Binary("<<", Number(one), Number(high))),
            Choice(Binary(">", a, Number(self.random.choice(("0u", "0", "0L", "1u")))), a, Number("0")),
            Binary(">", a, Number(self.random.choice(("-1", "1u", "0xFFFFFFFF")))),
            Binary(">>", Binary("-", Number(self.random.choice(("1u", "1", "0L"))), a), Number("1")),
            Binary("%", a, Number(self.random.choice(("3u", "4", "5ul", "3L"))))))
        return self.nest((Assign(total, "+=", value),)), self.all_names(), set()

    def narrow(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """A sum in a local, often of fewer bits than the result's."""
        kind = self.random.choice((*NARROW, "int16_t", "int16_t", *WIDE))
        total = self.result("C", self.random.choice(WIDE))
        value = self.value(self.inputs(2)) if self.random.random() < 0.5 else Binary("*", *self.inputs(2))
        inner: tuple[Node, ...] = (Assign(Element("t"), "+=", value),)
        summed = self.random.random() < 0.7
        if summed:
            inner = loops(self.sums, inner, "k" if self.random.random() < 0.15 else "")
        else:
            inner = tuple(_without(n, "k") for n in inner)
        body = (Declare("t", kind, Number("0")), *inner, Assign(total, "+=", Element("t")))
        return loops(self.lanes, body), {n for n, _ in self.lanes}, {"k"} if summed else set()

    def window(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """Neighbouring results read neighbouring elements."""
        total = self.result("C", self.random.choice(WIDE))
        stride, dilation = self.random.choice(((1, 1), (1, 1), (1, 1), (2, 1), (1, 2), (1, -1)))
        sliding = affine((self.lanes[0][0], stride), ("k", dilation))
        x = Element("X", (sliding, *(affine((n, 1)) for n, _ in self.lanes[1:] if self.random.random() < 0.7)))
        self.arrays["X"] = self.random.choice(NARROW)
        leaves: list[Expr] = [x]
        if self.random.random() < 0.85:
            self.arrays["W"] = self.random.choice(NARROW)
            own = [affine(("k", 1)), *(affine((n, 1)) for n, _ in self.lanes[1:])]
            leaves.append(Element("W", tuple(own)))
        value = Binary("*", *leaves) if len(leaves) == 2 and self.random.random() < 0.7 else self.value(leaves)
        return self.nest((Assign(total, "+=", value),)), self.all_names(), set()

    def twice(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """One operand, two of its elements: a symmetric product, neighbours, even and odd elements."""
        self.arrays["A"] = self.random.choice(NARROW)
        left, right = self.two_of_one()
        value = Binary("*", left, right) if self.random.random() < 0.6 else self.value([left, right])
        total = self.result("C", self.random.choice(WIDE))
        used = {n for e in (left, right) for s in e.subscripts for n in s.names()}
        self.lanes = [x for x in self.lanes if x[0] in used]
        total = Element("C", tuple(affine((n, 1)) for n, _ in self.lanes))
        order = [*self.lanes, *(s for s in self.sums if s[0] in used)]
        op = self.random.choice(("+=", "+=", "=")) if "k" not in used else "+="
        return loops(order, (Assign(total, op, value),)), {n for n, _ in order}, set()

    def two_of_one(self) -> tuple[Element, Element]:
        """Two rows of one operand, its even and odd elements, neighbours, or the same element twice."""
        first = self.lanes[0][0]
        draw = self.random.random()
        if draw < 0.4 and len(self.lanes) == 2:
            self.lanes[1] = (self.lanes[1][0], self.lanes[0][1] if self.random.random() < 0.7 else self.lanes[1][1])
            left, right = (Element("A", (affine((n, 1)), affine(("k", 1)))) for n, _ in self.lanes)
        elif draw < 0.85:
            step = 2 if draw < 0.7 else 1
            left, right = (Element("A", (affine((first, step), constant=c),)) for c in (0, 1))
        else:
            left = right = Element("A", (affine((first, 1)), affine(("k", 1))))
        return left, right

    def assignment(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        target = self.result("O", self.random.choice((*NARROW, *NARROW, *WIDE)))
        leaves = self.inputs(self.random.choice((1, 2, 2, 2, 3)), reduced=False)
        value = self.random.choice((self.average, self.value, self.value, self.high_product, self.clamped))(leaves)
        if self.random.random() < 0.4:
            value = Converted(self.arrays["O"], value)
        return loops(self.lanes, (Assign(target, "=", value),)), {n for n, _ in self.lanes}, set()

    def update(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """A new value of each element that is no sum: a maximum, a shift, a mask."""
        own = self.result("C", self.random.choice((*NARROW, "int32_t", "int32_t", "uint32_t")))
        (a,) = self.inputs(1, reduced=False)
        other = self.value([a]) if self.random.random() < 0.4 else a
        value: Expr = self.random.choice((
            Choice(Binary(">", own, other), own, other), Choice(Binary("<", own, other), own, other),
            Binary(self.random.choice(("&", "|", "^")), own, other), Binary("-", other, own),
            Binary("+", Binary(">>", own, Number("1")), other), Binary("*", own, other)))
        return loops(self.lanes, (Assign(own, "=", value),)), {n for n, _ in self.lanes}, set()

    def outputs(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """Sum and difference, minimum and maximum, both parts of a complex product."""
        kind = self.random.choice((*WIDE, *NARROW))
        first, second = self.result("C", kind), self.result("D", kind)
        a, b = self.inputs(2, reduced=False)
        test = Binary(">", a, b)
        left, right = self.random.choice((
            (Binary("+", a, b), Binary("-", a, b)), (Choice(test, a, b), Choice(test, b, a)),
            (Binary("*", a, b), Binary("+", a, b)), (self.value([a, b]), self.value([b, a]))))
        op = self.random.choice(("=", "=", "+="))
        body = (Assign(first, op, left), Assign(second, op, right))
        return loops(self.lanes, body), {n for n, _ in self.lanes}, set()

    def saturating(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        bits = self.random.choice((16, 32))
        own = self.result("C", f"int{bits}_t")
        a, b = self.inputs(2, reduced=False)
        wide = "int64_t" if bits == 32 else "int32_t"
        value = Called(f"sat_i{bits}", (Binary("+", Converted(wide, own), Binary("*", a, b)),))
        return loops(self.lanes, (Assign(own, "=", value),)), {n for n, _ in self.lanes}, set()

    def floats(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        kind = self.random.choice(FLOATS)
        total = self.result("C", kind)
        a, b = self.inputs(2, types=(kind,) if self.random.random() < 0.7 else (*FLOATS, "float", "int16_t", "int32_t"))
        all_float = {self.arrays[n] for n in ("A", "B", "C")} == {"float"}
        if all_float and self.random.random() < 0.3:
            return self.nest((Assign(total, "=", Called("fma_f32", (a, b, total))),)), self.all_names(), set()
        value: Expr = Binary("*", a, b)
        if self.random.random() < 0.4:
            value = self.random.choice((Binary("-", a, b), Choice(Binary(">", a, b), a, b),
                                        Binary("*", value, Number("0.5f")), Converted("float", value)))
        return self.nest((Assign(total, "+=", value),)), self.all_names(), set()

    def extrema(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """A maximum of maxima, as pooling has it."""
        name, extent = self.lanes[0]
        self.lanes = [(name, min(extent, 8))]
        kind = self.random.choice((*NARROW, "int32_t"))
        self.arrays |= {"O": kind, "A": kind}
        reach = self.random.choice((2, 3, 4, 4))
        leaves: list[Expr] = [Element("A", (affine((name, reach), constant=c),)) for c in range(reach)]
        op = self.random.choice((">", "<"))
        while len(leaves) > 1:
            a, b, *rest = leaves
            leaves = [*rest, Choice(Binary(op, a, b), a, b)]
        return loops(self.lanes, (Assign(Element("O", (affine((name, 1)),)), "=", leaves[0]),)), {name}, set()

    def table(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """Data chooses the element of another operand."""
        extent = self.random.choice((4, 8, 16))
        target = self.result("O", self.random.choice((*NARROW, "int32_t")))
        (a,) = self.inputs(1, reduced=False, types=("uint8_t", "int8_t", "uint16_t"))
        self.arrays["T"] = self.random.choice((*NARROW, "int32_t"))
        value: Expr = Looked("T", Binary("&", a, Number(str(extent - 1))), extent)
        if self.random.random() < 0.3:
            value = Binary("+", value, a)
        return loops(self.lanes, (Assign(target, self.random.choice(("=", "=", "+=")), value),)), \
            {n for n, _ in self.lanes}, set()

    def stages(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """A sum from a bias, with something done to it at the end."""
        target = self.result("O", self.random.choice(("int32_t", "int32_t", "uint8_t", "int8_t", "int16_t")))
        a, b = self.inputs(2)
        self.arrays["bias"] = self.random.choice(("int32_t", "int16_t"))
        start: Expr = Element("bias", tuple(affine((n, 1)) for n, _ in self.lanes[-1:]))
        if self.random.random() < 0.25:
            start = Number("0")
            del self.arrays["bias"]
        t = Element("t")
        last = self.random.choice((
            Choice(Binary(">", t, Number("0")), t, Number("0")), Binary(">>", t, Number("3")),
            clamp(t, "-128", "127"),
            Called("sat_i16", (t,)), Binary("*", t, Number("3"))))
        body = (Declare("t", "int32_t", start), *loops(self.sums, (Assign(t, "+=", Binary("*", a, b)),)),
                Assign(target, "=", last))
        return loops(self.lanes, body), {n for n, _ in self.lanes}, set()

    def triangle(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """A sum that is longer from result to result; another loop may run further."""
        *around, (name, extent) = self.lanes
        self.lanes = [*around, (name, min(extent, 8))]
        total = self.result("C", self.random.choice(WIDE))
        self.arrays |= {"A": self.random.choice(NARROW), "B": self.random.choice(NARROW)}
        a = Element("A", (affine((name, 1)), affine(("k", 1))))
        b = Element("B", (*(affine((n, 1)) for n, _ in around), affine(("k", 1))))
        product = Binary("*", self.perhaps_converted(a), b)
        first, end = (Affine(), affine((name, 1), constant=1)) if self.random.random() < 0.7 else (
            affine((name, 1)), Affine((), min(extent, 8)))
        inner = Loop("k", first, end, (Assign(total, "+=", product),))
        return loops(self.lanes, (inner,)), {n for n, _ in around}, set()

    def calls(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """Functions of the description language by their meaning."""
        summed = self.random.random() < 0.5
        total = self.result("C", self.random.choice(WIDE))
        a, b = self.inputs(2, reduced=summed, types=(*NARROW, *NARROW, "int32_t", "uint32_t"))
        bits = Binary(self.random.choice(("^", "&", "|")), a, b)
        pair = tuple(self.random.sample((a, b), 2))
        value: Expr = self.random.choice((
            Called("abs", (Binary("-", a, b),)), Called("popcount_u32", (bits,)),
            Called(self.random.choice(("min_i32", "max_i32", "min_u32", "max_u32")), pair),
            Binary("*", Called("abs", (a,)), b), Binary("+", Called("popcount_u32", (a,)), b)))
        if not summed:
            op = self.random.choice(("=", "=", "+="))
            return loops(self.lanes, (Assign(total, op, value),)), {n for n, _ in self.lanes}, set()
        return self.nest((Assign(total, "+=", value),)), self.all_names(), set()

    def mask(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """Comparisons as all bits or one, and blends by a comparison or by bits."""
        target = self.result("O", self.random.choice((*NARROW, *NARROW, "int32_t", "uint32_t")))
        a, b, m = self.inputs(3, reduced=False)
        test = Binary(self.random.choice((">", "<", ">=", "<=", "==", "!=")), a, b)
        value: Expr = self.random.choice((
            Choice(test, Number("-1"), Number("0")), Choice(test, Number("255"), Number("0")), test, Unary("-", test),
            Choice(Binary(self.random.choice(("<", "!=")), m, Number("0")), a, b),
            Choice(Binary("&", m, Number(self.random.choice(("1", "128", "0x80u")))), a, b),
            Binary("|", Binary("&", m, a), Binary("&", Unary("~", m), b))))
        used = {n for n in self.arrays if n == "O" or n in {e.array for e in walk(value) if isinstance(e, Element)}}
        self.arrays = {n: t for n, t in self.arrays.items() if n in used}
        return loops(self.lanes, (Assign(target, "=", value),)), {n for n, _ in self.lanes}, set()

    def in_place(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """Two results in the place of the operands that both are computed from."""
        kind = self.random.choice((*NARROW, *WIDE))
        p, q, t = self.result("P", kind), self.result("Q", kind), Element("t")
        less = Binary("<", t, q)
        left, right = self.random.choice((
            (Binary("+", t, q), Binary("-", t, q)), (Choice(less, t, q), Choice(less, q, t)),
            (Binary("^", t, q), Binary("&", t, q)), (Binary("-", q, t), Binary(">>", Binary("+", t, q), Number("1")))))
        body = (Declare("t", kind, p), Assign(p, "=", left), Assign(q, "=", right))
        return loops(self.lanes, body), {n for n, _ in self.lanes}, set()

    def branches(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """One or two results by a comparison or a mask: two values, a value or the old one, a sum or the old one."""
        floats = self.random.random() < 0.2
        types = (self.random.choice(FLOATS),) if floats else (*NARROW, "int32_t", "uint32_t")
        c, d = self.result("C", self.random.choice(types)), self.result("D", self.random.choice(types))
        a, b, m = self.inputs(3, reduced=False, types=types)
        zero, compare = Number("0"), Binary(self.random.choice(COMPARISONS), a, b)
        test = self.random.choice((
            compare, compare, Binary("<", m, zero), Binary("!=", m, zero), Binary("<", a, c),
            Binary("&&", compare, Binary(">", m, zero)), Binary("||", Binary(">", a, zero), Binary("<", b, m)),
            compare if floats else Binary("&", m, Number(self.random.choice(("1", "128"))))))
        x, y = self.random.choice(((a, b), (a, b), (Binary("+", a, b), m), (Binary("-", a, b), Binary("-", b, a)),
                                   (a, c), (b, c), (Binary("+", c, a), c), (Number("-1"), zero)))
        body = [Assign(c, "=", Choice(test, x, y))]
        if self.random.random() < 0.4 and c not in walk((test, x, y)):
            body.append(Assign(d, "=", Choice(test, *self.random.choice(((y, x), (b, a), (m, d))))))
        self.arrays = {e.array: self.arrays[e.array] for e in walk(tuple(body)) if isinstance(e, Element)}
        return loops(self.lanes, tuple(body)), {n for n, _ in self.lanes}, set()

    def manual(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """A sum, which the description says in the words of a manual."""
        return self.random.choice((self.products, self.products, self.sum_of_anything, self.window, self.floats))()

    def swap(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """Two or three operands change places, one of them perhaps with a change on the way."""
        kind = self.random.choice((*NARROW, *WIDE, *FLOATS))
        names = ("P", "Q", "R")[:self.random.choice((2, 2, 3))]
        places, t = [self.result(n, kind) for n in names], Element("t")
        moved: list[Expr] = [*places[1:], t]
        if self.random.random() < 0.3:
            moved[0] = Unary("-", moved[0])
        body: tuple[Node, ...] = (Declare("t", kind, places[0]), *(
            Assign(p, "=", v) for p, v in zip(places, moved, strict=True)))
        return loops(self.lanes, body), {n for n, _ in self.lanes}, set()

    def bounded(self) -> tuple[tuple[Node, ...], set[str], set[str]]:
        """A table that is read where a condition keeps the subscript inside."""
        extent = self.random.choice((4, 8, 16))
        target = self.result("O", self.random.choice((*NARROW, "int32_t")))
        (a,) = self.inputs(1, reduced=False, types=("uint8_t", "uint16_t"))
        self.arrays["T"] = self.random.choice((*NARROW, "int32_t"))
        other, number = self.random.choice((Number("0"), Number("1"), target, a)), str(extent - 1)
        form = self.random.randrange(3)

        def body(index: Expr) -> tuple[Node, ...]:
            read = Looked("T", index, extent)
            value = (Choice(Binary("<=", a, Number(number)), read, other),
                     Choice(Binary(">", a, Number(number)), other, read),
                     Choice(Binary("<", a, Number(str(extent // 2))), read, other))[form]
            return loops(self.lanes, (Assign(target, "=", value),))

        self.spelling = body(a)   # programs mask the subscript, so that none of another condition leaves the table
        return body(Binary("&", a, Number(number))), {n for n, _ in self.lanes}, set()


def _assignments(nodes: tuple[Node, ...]) -> list[Assign]:
    found: list[Assign] = []
    for node in nodes:
        if isinstance(node, Loop):
            found += _assignments(node.body)
        elif isinstance(node, Assign) and node.target.subscripts:
            found.append(node)
    return found


def _without(node: Node, name: str) -> Node:
    """The node with an iterator at 0."""
    return mapped(node, lambda e: Element(e.array, tuple(s.with_value(name, Affine()) for s in e.subscripts))
                  if isinstance(e, Element) else e)
