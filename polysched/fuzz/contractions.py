"""Seeded random sums of products, as instructions and library functions compute them.

Each number gives one program, always the same: one update `P[..] += Q[..] * R[..]` under two to five loops, in which
every loop is in the subscripts of one, two or all three arrays (products of matrices and vectors, batches,
broadcasts, convolutions with strides, dilations and reversed windows), with what surrounds it in real programs.
The arithmetic is exact for inputs of the recipe WHOLE, in any order, so that results are compared bit for bit.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

from polysched.fuzz.affine import Affine
from polysched.fuzz.program import Clamp, Guard, Loop, Node, Program, Reference, Statement, Term
from polysched.records import dataclass

PARAMETERS = ("n", "m")
SIZES = {"n": 37, "m": 41}
"""The sizes that instructions are emitted for, and by which loops are kept short enough."""
ITERATORS = ("i", "j", "k", "l", "p")
TIME = "t"
MOST_ITERATIONS = 12_000
MOST_SCALED = 500
"""Iterations of which the products may be scaled and added again; more of them might leave an int."""
LONGEST = 40
INT = (-(1 << 31), (1 << 31) - 1)
BYTE = (-128, 127)


@dataclass(frozen=True)
class _Types:
    """C types of the sum and of both factors."""

    total: str
    left: str
    right: str

    @property
    def is_whole(self) -> bool:
        return self.total not in ("float", "double")


TYPES = {
    _Types("float", "float", "float"): 3, _Types("double", "double", "double"): 2,
    _Types("int", "unsigned char", "signed char"): 5, _Types("int", "signed char", "signed char"): 4,
    _Types("int", "unsigned char", "unsigned char"): 2, _Types("int", "short", "short"): 3,
    _Types("unsigned", "unsigned char", "signed char"): 1, _Types("float", "_Float16", "_Float16"): 1,
    _Types("long", "signed char", "signed char"): 1,
}
"""How often each is drawn."""
DISTANCES = {_Types(total, "unsigned char", "unsigned char"): weight for total, weight in
             (("int", 2), ("unsigned", 1), ("long", 1))}
ROLES = (("P", "Q"), ("P", "Q"), ("P", "R"), ("P", "R"), ("Q", "R"), ("Q", "R"), ("Q", "R"), ("P", "Q", "R"),
         ("P",), ("Q",), ("R",))
"""Which subscripts a loop is in, besides the first two loops."""


def contraction(seed: int) -> Program:
    """The program of this number."""
    return _Writer(random.Random(f"contraction {seed}")).program(f"p{seed}")


class _Writer:
    """Draws one program; every choice comes from the one generator of random numbers."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.distance = source.random() < 0.08
        table = DISTANCES if self.distance else TYPES
        self.types = source.choices(list(table), weights=list(table.values()))[0]
        self.saturates = self.types.total == "int" and not self.distance and source.random() < 0.25
        self.iterators = ITERATORS[:source.choice((2, 3, 3, 3, 4, 4, 5))]
        self.bounds: dict[str, tuple[Affine, Affine]] = {}
        self.steps: dict[str, tuple[int, bool]] = {}
        self.arrays = {"P": self.types.total, "Q": self.types.left, "R": self.types.right}

    def program(self, name: str) -> Program:
        extents = dict(zip(self.iterators, self.extents(), strict=True))
        for iterator, extent in extents.items():
            first = self.random.choice((1, 2)) if self.random.random() < 0.08 else 0
            self.bounds[iterator] = (Affine((), first), extent.plus(Affine((), first)))
            self.steps[iterator] = (2 if self.random.random() < 0.04 else 1, self.random.random() < 0.05)
        self.triangle()
        dimensions = self.dimensions()
        self.is_long = math.prod(1 + e.constant + sum(SIZES[n] for n in e.names()) for i, e in extents.items()
                                 if not any(i in s.names() for s in dimensions["P"])) > MOST_SCALED
        self.result, left, right = (Reference(name, tuple(dimensions[name])) for name in "PQR")
        left, right = self.aliased(left, right)
        self.term = self.drawn_term(left, right)
        self.second = self.drawn_second()
        body = self.surrounded()
        if not self.is_long and self.random.random() < 0.08:
            body = (Loop(TIME, (Affine(),), (Affine((), 2),), 1, False, body),)
        return Program(name, PARAMETERS, self.arrays, body)

    def extents(self) -> list[Affine]:
        """Last iterations of the loops, of loops from 0; all together not too many."""
        found, left = [], MOST_ITERATIONS
        for _ in self.iterators:
            parameter = self.random.choice(PARAMETERS)
            symbolic = Affine(((parameter, 1),), self.random.choice((-1, -1, -1, -2, 2)))
            number = self.random.choice((self.random.randint(1, 9), self.random.randint(1, LONGEST),
                                         self.random.choice((8, 15, 16, 17, 32, 33))))
            value = SIZES[parameter] + symbolic.constant + 1
            if self.random.random() < 0.5 and value <= left:
                found.append(symbolic)
            else:
                value = min(number, left)
                found.append(Affine((), value - 1))
            left //= value
        self.random.shuffle(found)
        return found

    def triangle(self) -> None:
        """Now and then a loop ends at an iterator of a loop around it, or begins there."""
        if self.random.random() < 0.15:
            outer, inner = sorted(self.random.sample(self.iterators, 2), key=self.iterators.index)
            first, last = self.bounds[inner]
            edge = Affine(((outer, 1),), self.random.choice((0, 0, 1, -1)))
            self.bounds[inner] = (edge, last) if self.random.random() < 0.3 else (first, edge)

    def dimensions(self) -> dict[str, list[Affine]]:
        found: dict[str, list[Affine]] = {"P": [], "Q": [], "R": []}
        for position, iterator in enumerate(self.iterators):
            roles = {0: ("P", "Q"), 1: ("Q", "R")}.get(position) or self.random.choice(ROLES)
            for name in roles:
                found[name].append(Affine(((iterator, 1),)))
        for name in "QR":
            if len(found[name]) > 1 and self.random.random() < 0.3:
                found[name].append(self.window(found[name]))
        for subscripts in found.values():
            self.random.shuffle(subscripts)
            for at, subscript in enumerate(subscripts):
                if self.random.random() < 0.06:
                    subscripts[at] = Affine().plus(subscript, self.random.choice((-1, -1, 2)))
            if self.random.random() < 0.08:
                subscripts.append(Affine())
            if not subscripts:
                subscripts.append(Affine())
        return found

    def window(self, subscripts: list[Affine]) -> Affine:
        """Two subscripts added to one, with a stride and a dilation, or reversed."""
        first, second = (subscripts.pop(self.random.randrange(len(subscripts))) for _ in range(2))
        strided = Affine().plus(first, self.random.choice((1, 1, 2, 3)))
        return strided.plus(second, self.random.choice((1, 1, 2, -1)))

    def aliased(self, left: Reference, right: Reference) -> tuple[Reference, Reference]:
        """Now and then both factors, or a factor and the result, are in one array."""
        draw = self.random.random()
        if draw < 0.3 and self.types.left == self.types.right and len(left.subscripts) == len(right.subscripts):
            del self.arrays["R"]
            return left, replace(right, array="Q")
        if draw > 0.9 and self.types.left == self.types.total and len(left.subscripts) == len(self.result.subscripts):
            del self.arrays["Q"]
            return replace(left, array="P"), right
        return left, right

    def drawn_term(self, left: Reference, right: Reference) -> Term:
        narrow_float = self.types.left == "_Float16"
        cast = self.types.total if narrow_float or (self.random.random() < 0.3 and not self.distance) else ""
        zeros = (0, 0)
        if self.types.is_whole and not self.distance and self.random.random() < 0.25:
            zeros = (self.random.randint(-5, 128), self.random.choice((0, self.random.randint(-5, 20))))
        if self.random.random() < 0.2:
            left, right = right, left
        term = Term("1", left, times=right, cast=cast, zeros=zeros, distance=self.distance)
        draw = self.random.random()
        if self.distance or self.saturates or self.is_long or draw > 0.2:
            return term
        if draw < 0.1:
            self.arrays["alpha"] = self.types.total
            return replace(term, by=Reference("alpha"))
        return replace(term, factor=self.random.choice(("2", "3")))

    def drawn_second(self) -> Term | None:
        """Now and then one more product, of the elements beside the first one's."""
        if self.distance or self.saturates or self.is_long or self.random.random() >= 0.15:
            return None
        beside = [Reference(r.array, (r.subscripts[0].plus(Affine((), 1)), *r.subscripts[1:]))
                  for r in (self.term.of, self.term.times) if isinstance(r, Reference)]
        return replace(self.term, of=beside[0], times=beside[1], negative=self.random.random() < 0.3)

    def surrounded(self) -> tuple[Node, ...]:
        """The update in its loops, with what clears the result ahead and what is done with it behind."""
        kept = [i for i in self.iterators if any(i in s.names() for s in self.result.subscripts)]
        summed = [i for i in self.iterators if i not in kept]
        if any(self.around(i) & set(summed) for i in kept):   # no loops over the result alone
            return self.nest(self.shuffled(self.iterators), self.guarded(self.update(self.result)))
        ahead, behind, draw = self.ahead(kept), self.behind(), self.random.random()
        if draw < 0.4:
            nodes = self.nest(self.shuffled(self.iterators), self.guarded(self.update(self.result)))
            return (*self.nest(self.shuffled(kept), ahead), *nodes, *self.nest(self.shuffled(kept), behind))
        target, last = self.result, behind
        if draw > 0.75 and summed:
            target = Reference("acc")
            kind = "long" if self.saturates and self.random.random() < 0.5 else self.types.total
            ahead = (Statement(target, "=", self.first_value(kept), declares=kind),)
            last = (Statement(self.result, "=", (Term("1", target),)), *behind)
        inner = self.nest(self.shuffled(summed), self.guarded(self.update(target)))
        return self.nest(self.shuffled(kept), (*ahead, *inner, *last))

    def ahead(self, kept: list[str]) -> tuple[Statement, ...]:
        draw = self.random.random()
        if draw < 0.4:
            return ()
        if draw < 0.5 and not self.saturates:
            self.arrays["beta"] = self.types.total
            return (Statement(self.result, "*=", (Term("1", Reference("beta")),)),)
        return (Statement(self.result, "=", self.first_value(kept)),)

    def first_value(self, kept: list[str]) -> tuple[Term, ...]:
        """Zero, a number (one close to where a saturating sum is cut), or a bias."""
        if kept and self.random.random() < 0.25:
            self.arrays["b"] = self.types.total
            return (Term("1", Reference("b", (Affine(((self.random.choice(kept), 1),)),))),)
        if self.saturates:
            return (Term(self.random.choice(("2147480000", "-2147480000", "0"))),)
        return (Term(self.random.choice(("0", "0", "0", "1"))),)

    def behind(self) -> tuple[Statement, ...]:
        draw = self.random.random()
        value = Term("1", self.result)
        if draw < 0.6 or self.saturates:
            return ()
        if draw < 0.7:
            return (Statement(self.result, "=", (Term("0"),), choose=True),)
        if draw < 0.8:
            return (Statement(self.result, "=", (Term("2", self.result), Term("1"))),)
        other = Reference("O", self.result.subscripts)
        if draw < 0.9 and self.types.is_whole:
            self.arrays["O"] = "signed char"
            return (Statement(other, "=", (value,), clamp=Clamp(*BYTE, "long", named=self.random.random() < 0.5)),)
        self.arrays["O"] = self.types.total
        return (Statement(other, "=", (value,)),)

    def update(self, target: Reference) -> tuple[Node, ...]:
        """Adds the product to an element, in one of several spellings."""
        if self.saturates:
            clamp = Clamp(*INT, "long", named=self.random.random() < 0.5)
            return (Statement(target, "=", (Term("1", target, cast="long"), self.term), clamp=clamp),)
        draw = self.random.random()
        if self.second is not None and draw < 0.5:
            return (Statement(target, "+=", (self.term, self.second)),)
        if self.second is not None:
            return (Statement(target, "+=", (self.term,)), Statement(target, "+=", (self.second,)))
        if draw < 0.7:
            return (Statement(target, "+=", (self.term,)),)
        if draw < 0.82:
            return (Statement(target, "=", (Term("1", target), self.term)),)
        if draw < 0.9:
            return (Statement(Reference("v"), "=", (self.term,), declares=self.types.total),
                    Statement(target, "+=", (Term("1", Reference("v")),)))
        return (Statement(target, "-=", (self.term,)),)

    def guarded(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """Now and then only where one iterator is not beyond another."""
        if self.random.random() >= 0.06:
            return nodes
        first, second = self.random.sample(self.iterators, 2)
        condition = Affine(((first, 1), (second, -1)), self.random.randint(0, 3))
        return (Guard(((condition, None),), "&&", nodes),)

    def around(self, iterator: str) -> frozenset[str]:
        """The loops that a loop's bounds name."""
        return self.bounds[iterator][0].names() | self.bounds[iterator][1].names()

    def shuffled(self, iterators: Sequence[str]) -> list[str]:
        """Any order in which a loop is inside of those that its bounds name."""
        order = self.random.sample(list(iterators), len(iterators))
        for inner in iterators:
            for outer in self.around(inner) & set(order[order.index(inner):]):
                order.remove(outer)
                order.insert(order.index(inner), outer)
        return order

    def nest(self, order: Sequence[str], body: tuple[Node, ...]) -> tuple[Node, ...]:
        """The loops around a body, outermost first; nothing around nothing."""
        for iterator in reversed(order) if body else ():
            step, downward = self.steps[iterator]
            lower, upper = self.bounds[iterator]
            body = (Loop(iterator, (lower,), (upper,), step, downward, body),)
        return body
