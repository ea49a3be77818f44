"""Seeded random affine programs.

Each number gives one program, always the same: several statements in a random tree of loops, 1 to 4 deep, with
triangular, strided, shifted and decreasing loops, affine guards, scalar and array dependences, and now and
then a data-dependent condition.  Sums of unsigned integers wrap and lose nothing, so that most programs show any
change of the order; floating-point programs stay bounded.
"""

from __future__ import annotations

import random
from dataclasses import replace

from polysched.fuzz.affine import Affine
from polysched.fuzz.program import Guard, Loop, Node, Program, Reference, Statement, Term, computes
from polysched.records import dataclass

PARAMETERS = ("n", "m")
ITERATORS = ("i", "j", "k", "l")
FAMILIES = {
    "unsigned": ("unsigned", "unsigned", "unsigned short", "unsigned char"),
    "double": ("double", "double", "float"),
    "int": ("int",),
}
MODULUS = 1009
PRODUCTS = (("float", "float", "float"), ("double", "double", "double"), ("int", "unsigned char", "signed char"),
            ("int", "signed char", "signed char"), ("int", "short", "short"))
"""Types of the sum and of both factors; all the products of a program fit an int."""
TRIED_SIZES = ({"n": 8, "m": 9}, {"n": 13, "m": 11}, {"n": 7, "m": 12}, {"n": 2, "m": 2})


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How large and how wild programs may be.

    Parameters
    ----------
    statements : so many assignments, or fewer: one is six times as likely as six. Alternatives and temporaries
        come on top.
    depth : most loops around one.
    data_dependent : probability that a statement has a data-dependent condition.
    temporaries : probability that a statement gets a part of its value from a temporary: a variable declared in its
        block, or an array there that a loop in front of the statement's fills.
    products : probability that a program has a nest more, with arrays of its own: a sum of products as the
        instructions of `tensorize` compute them.
    """

    statements: int = 6
    depth: int = 4
    data_dependent: float = 0.02
    temporaries: float = 0.15
    products: float = 0.12


def generate(seed: int, *, shape: Shape | None = None) -> Program:
    """The program of this number; one that would compute nothing is drawn again."""
    source = random.Random(seed)
    while True:
        program = _Writer(source, shape or Shape()).program(f"p{seed}")
        if any(computes(program, sizes) for sizes in TRIED_SIZES):
            return program


class _Writer:
    """Draws one program; every choice comes from the one generator of random numbers."""

    def __init__(self, source: random.Random, shape: Shape) -> None:
        self.random = source
        self.shape = shape
        self.family = source.choices(list(FAMILIES), weights=(6, 3, 1))[0]
        counts = range(1, shape.statements + 1)
        self.left = source.choices(counts, weights=[1 / count for count in counts])[0]
        self.deepest = source.choices(range(1, shape.depth + 1), weights=(2, 4, 3, 1)[:shape.depth])[0]
        self.ranks = {"A": source.randint(1, 3), "B": source.randint(1, 2), "C": source.randint(1, 2), "s": 0}
        if source.random() < 0.5:
            del self.ranks["s"]
        if source.random() < 0.4:
            del self.ranks["C"]
        self.types = {name: source.choice(FAMILIES[self.family]) for name in self.ranks}

    def program(self, name: str) -> Program:
        body: list[Node] = []
        while self.left > 0:
            body.append(self.loop(()))
        found = _Temporaries(self)
        nodes = found.within(tuple(body), ())
        types = self.types | found.types
        if self.random.random() < self.shape.products:
            nest, more = product_nest(self.random)
            types |= more
            nodes = (nest, *nodes) if self.random.random() < 0.5 else (*nodes, nest)
        return Program(name, PARAMETERS, types, nodes)

    def body(self, around: tuple[str, ...]) -> tuple[Node, ...]:
        nodes: list[Node] = []
        while not nodes or (self.left > 0 and self.random.random() < 0.45):
            deeper = len(around) < self.deepest
            if deeper and (self.random.random() < 0.65 or self.left <= 0):
                nodes.append(self.loop(around))
            elif self.random.random() < 0.15:
                nodes.append(self.guard(around))
            else:
                nodes.append(self.statement(around))
        return tuple(nodes)

    def loop(self, around: tuple[str, ...]) -> Loop:
        iterator = ITERATORS[len(around)]
        lower: tuple[Affine, ...] = (self.lower(around),)
        upper: tuple[Affine, ...] = (self.upper(around),)
        if around and self.random.random() < 0.1:
            lower = (*lower, self.lower(around))
        if around and self.random.random() < 0.1:
            upper = (*upper, self.upper(around))
        step = self.random.choices((1, 2, 3), weights=(10, 2, 1))[0]
        return Loop(iterator, lower, upper, step, self.random.random() < 0.15, self.body((*around, iterator)))

    def lower(self, around: tuple[str, ...]) -> Affine:
        if around and self.random.random() < 0.3:
            return Affine(((self.random.choice(around), 1),), self.random.randint(-1, 2))
        return Affine((), self.random.choice((0, 0, 0, 1, 2)))

    def upper(self, around: tuple[str, ...]) -> Affine:
        draw = self.random.random()
        if around and draw < 0.2:
            return Affine(((self.random.choice(around), 1),), self.random.randint(0, 2))
        if around and draw < 0.3:
            return Affine(((self.random.choice(around), -1), (self.random.choice(PARAMETERS), 1)), -1)
        if draw < 0.35:
            return Affine((), self.random.randint(0, 4))
        return Affine(((self.random.choice(PARAMETERS), 1),), -self.random.choice((1, 1, 1, 2, 3)))

    def guard(self, around: tuple[str, ...]) -> Guard:
        conditions = tuple(self.condition(around) for _ in range(self.random.choice((1, 1, 2))))
        then = (self.statement(around),)
        otherwise = (self.statement(around),) if self.random.random() < 0.4 else ()
        return Guard(conditions, self.random.choice(("&&", "||")), then, otherwise)

    def condition(self, around: tuple[str, ...]) -> tuple[Affine, int | None]:
        affine = self.subscript(around)
        if self.random.random() < 0.25:
            return affine, self.random.choice((2, 3))
        other = self.random.choice((*around, *PARAMETERS))
        return affine.plus(Affine(((other, 1),)), -1), None

    def statement(self, around: tuple[str, ...]) -> Statement:
        self.left -= 1
        target = self.reference(around)
        terms = tuple(self.term(around, position) for position in range(self.random.choice((1, 2, 2, 3, 4))))
        when = self.reference(around) if self.random.random() < self.shape.data_dependent else None
        if self.family == "int":
            return Statement(target, "=", terms, modulus=MODULUS, when=when)
        choose = self.random.random() < 0.06
        op = "=" if choose else self.random.choices(("=", "+=", "-="), weights=(5, 3, 1))[0]
        if self.family == "double" and op != "=" and self.random.random() < 0.3:
            return Statement(target, "*=", (Term("0.5"),), when=when)
        return Statement(target, op, terms, choose=choose, when=when)

    def term(self, around: tuple[str, ...], position: int) -> Term:
        negative = position > 0 and self.random.random() < 0.25
        factor = {"unsigned": ("1", "3u", "5u"), "double": ("0.5", "0.25", "0.125f"), "int": ("1", "3", "2")}
        literal = self.random.choice(factor[self.family])
        draw = self.random.random()
        if draw < 0.1 and around:
            return Term(literal, Affine(((self.random.choice(around), 1),), self.random.randint(0, 3)), negative)
        if draw < 0.15:
            return Term(literal, None, negative)
        return Term(literal, self.reference(around), negative)

    def reference(self, around: tuple[str, ...]) -> Reference:
        name = self.random.choice(list(self.ranks))
        return Reference(name, tuple(self.subscript(self.iterators_for(around, d)) for d in range(self.ranks[name])))

    def iterators_for(self, around: tuple[str, ...], dimension: int) -> tuple[str, ...]:
        """Mostly the loop at the dimension's own depth, as in most programs; else any."""
        if dimension < len(around) and self.random.random() < 0.6:
            return around[dimension:dimension + 1]
        return around

    def subscript(self, around: tuple[str, ...]) -> Affine:
        if not around or self.random.random() < 0.04:
            return Affine((), self.random.randint(0, 2))
        shift = self.random.choice((0, 0, 0, 0, -1, -1, 1, 1, 2, -2))
        first = self.random.choice(around)
        draw = self.random.random()
        if draw < 0.12:
            return Affine(((first, 1),), shift).plus(Affine(((self.random.choice(around), 1),)))
        if draw < 0.2:
            return Affine(((first, 1),), shift).plus(Affine(((self.random.choice(around), 1),)), -1)
        if draw < 0.26:
            return Affine(((first, -1), ("n", 1)), shift)
        if draw < 0.32:
            return Affine(((first, self.random.choice((2, 3))),), shift)
        return Affine(((first, 1),), shift)


def product_nest(source: random.Random) -> tuple[Loop, dict[str, str]]:
    """`P[..] += Q[..] * R[..]` over two to four loops, and the types of the three arrays.

    Every loop is in a subscript of two of the arrays, as in products of matrices, or in one of them all (batches), and
    now and then two of them are added in a subscript, as in convolutions.
    """
    iterators = ITERATORS[:source.randint(2, 4)]
    dimensions: dict[str, list[Affine]] = {"P": [], "Q": [], "R": []}
    for position, iterator in enumerate(iterators):
        where = source.choice((("P", "Q"), ("P", "R"), ("Q", "R"), ("P", "Q", "R")))
        where = {0: ("P", "Q"), 1: ("Q", "R")}.get(position, where)
        for name in where:
            subscript = Affine(((iterator, 1),))
            if dimensions[name] and source.random() < 0.15:
                last = dimensions[name].pop()
                subscript = last.plus(subscript)
            dimensions[name].append(subscript)
    for subscripts in dimensions.values():
        source.shuffle(subscripts)
    p, q, r = (Reference(name, tuple(subscripts)) for name, subscripts in dimensions.items())
    node: Node = Statement(p, "+=", (Term("1", q, times=r),))
    order = source.sample(iterators, len(iterators))
    for iterator in reversed(order):
        upper = Affine(((source.choice(PARAMETERS), 1),), -1)
        node = Loop(iterator, (Affine(),), (upper,), 1, False, (node,))
    assert isinstance(node, Loop)
    return node, dict(zip(dimensions, source.choice(PRODUCTS), strict=True))


class _Temporaries:
    """Puts temporaries into a finished program; what was drawn before stays as it is."""

    def __init__(self, writer: _Writer) -> None:
        self.writer, self.random, self.wanted = writer, writer.random, writer.shape.temporaries
        self.types: dict[str, str] = {}
        self.variables = 0

    def within(self, nodes: tuple[Node, ...], around: tuple[str, ...]) -> tuple[Node, ...]:
        """The nodes of one block with their temporaries."""
        if not self.wanted:
            return nodes
        found: list[Node] = []
        for node in nodes:
            match node:
                case Loop():
                    found += self.loop(node, around)
                case Guard():
                    found.append(replace(node, then=self.within(node.then, around),
                                         otherwise=self.within(node.otherwise, around)))
                case Statement():
                    found += self.statement(node, around)
        return tuple(found)

    def statement(self, node: Statement, around: tuple[str, ...]) -> tuple[Statement, ...]:
        """A variable of the block in front of the statement."""
        if not around or node.op == "*=" or self.random.random() >= self.wanted:
            return (node,)
        self.variables += 1
        variable = Reference(f"t{self.variables}")
        kind = self.random.choice(FAMILIES[self.writer.family])
        return (replace(self.value(variable, around, node.modulus), declares=kind), _with_term(node, variable))

    def loop(self, node: Loop, around: tuple[str, ...]) -> tuple[Loop, ...]:
        """A loop with the same bounds in front, which fills an array that a statement of this one reads."""
        node = replace(node, body=self.within(node.body, (*around, node.iterator)))
        users = [k for k, child in enumerate(node.body) if isinstance(child, Statement) and child.op != "*="
                 and not child.declares]
        if not around or not users or self.random.random() >= self.wanted:
            return (node,)
        name = f"T{len(self.types) + 1}"
        self.types[name] = self.random.choice(FAMILIES[self.writer.family])
        element = Reference(name, (Affine(((node.iterator, 1),)),))
        at = self.random.choice(users)
        user = node.body[at]
        assert isinstance(user, Statement)
        filled = self.value(element, (*around, node.iterator), user.modulus)
        return (replace(node, body=(filled,), declares=name),
                replace(node, body=(*node.body[:at], _with_term(user, element), *node.body[at + 1:])))

    def value(self, target: Reference, around: tuple[str, ...], modulus: int | None) -> Statement:
        terms = tuple(self.writer.term(around, position) for position in range(self.random.choice((1, 2))))
        return Statement(target, "=", terms, modulus=modulus)


def _with_term(statement: Statement, element: Reference) -> Statement:
    return replace(statement, terms=(*statement.terms, Term("1", element)))
