"""Maps and sets of the `affine` dialect: how they are written, and what they give for values.

    affine_map<(d0, d1)[s0] -> (d0 + 1, s0 floordiv 2)>        affine_set<(d0) : (d0 - 2 >= 0, d0 mod 2 == 0)>

Source: MLIR's documentation, "'affine' Dialect": affine expressions, maps and integer sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import islpy as isl

from polysched.records import dataclass
from polysched.scop.construction.affine_sets import affine_of
from polysched.scop.construction.functions import ceil_divide, floor_divide, modulo
from polysched.scop.construction.values import Value, affine_constant, arithmetic, number
from polysched.scop.mlir_frontend.words import Words

_SUMS = ("+", "-")
_PRODUCTS = ("*", "floordiv", "ceildiv", "mod")


@dataclass(frozen=True)
class Form:
    """An affine expression: a name, a number, or an operator over two expressions.

    Parameters
    ----------
    op : `name`, `number`, or an operator.
    name, value : of these.
    sides : operands of an operator.
    """

    op: str
    name: str = ""
    value: int = 0
    sides: tuple[Form, ...] = ()

    def of(self, values: Mapping[str, Value]) -> Value:
        """What it gives."""
        if self.op == "number":
            return number(self.value)
        if self.op == "name":
            return values[self.name]
        left, right = (side.of(values) for side in self.sides)
        match self.op:
            case "floordiv":
                return floor_divide(left, right)
            case "ceildiv":
                return ceil_divide(left, right)
            case "mod":
                return modulo(left, right)
            case _:
                return arithmetic(self.op, left, right)


@dataclass(frozen=True)
class AffineMap:
    """A map.

    Parameters
    ----------
    dimensions, symbols : names of its arguments.
    results : expressions over these.
    """

    dimensions: tuple[str, ...]
    symbols: tuple[str, ...]
    results: tuple[Form, ...]

    @property
    def arguments(self) -> int:
        return len(self.dimensions) + len(self.symbols)

    def of(self, operands: Sequence[Value]) -> list[Value]:
        """The results for operands, dimensions first."""
        values = dict(zip((*self.dimensions, *self.symbols), operands, strict=True))
        return [form.of(values) for form in self.results]


@dataclass(frozen=True)
class AffineSet:
    """A set.

    Parameters
    ----------
    dimensions, symbols : names of its arguments.
    constraints : expressions with `==` or `>=`, for their relation to zero.
    """

    dimensions: tuple[str, ...]
    symbols: tuple[str, ...]
    constraints: tuple[tuple[Form, str], ...]

    @property
    def arguments(self) -> int:
        return len(self.dimensions) + len(self.symbols)

    def of(self, operands: Sequence[Value]) -> isl.Set:
        """Where operands are in the set; raises ValueError where a constraint is not affine."""
        values = dict(zip((*self.dimensions, *self.symbols), operands, strict=True))
        holds = isl.Set("{ : }")
        for form, relation in self.constraints:
            value = affine_of(form.of(values))
            zero = affine_constant(0)
            holds = holds.intersect(value.eq_set(zero) if relation == "==" else value.ge_set(zero))
        return holds


def read_map(words: Words) -> AffineMap:
    """What stands between the angle brackets of `affine_map<...>`."""
    dimensions, symbols = _arguments(words)
    words.expect("->")
    words.expect("(")
    known = (*dimensions, *symbols)
    return AffineMap(dimensions, symbols, tuple(words.listed(")", lambda: read_form(words, _named(words, known)))))


def read_set(words: Words) -> AffineSet:
    """What stands between the angle brackets of `affine_set<...>`."""
    dimensions, symbols = _arguments(words)
    words.expect(":")
    words.expect("(")
    known = (*dimensions, *symbols)
    return AffineSet(dimensions, symbols, tuple(words.listed(")", lambda: _constraint(words, known))))


def _arguments(words: Words) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words.expect("(")
    dimensions = tuple(words.listed(")", lambda: words.of_kind("word", "a dimension")))
    symbols = tuple(words.listed("]", lambda: words.of_kind("word", "a symbol"))) if words.accept("[") else ()
    if len({*dimensions, *symbols}) != len(dimensions) + len(symbols):
        words.refuse("two arguments of a map or set before this have one name")
    return dimensions, symbols


def _named(words: Words, known: Sequence[str]) -> Callable[[], str]:
    def name() -> str:
        if words.word not in known:
            words.refuse(f"a number or one of {', '.join(known) or 'no names'} was expected")
        return words.next()

    return name


def _constraint(words: Words, known: Sequence[str]) -> tuple[Form, str]:
    left = read_form(words, _named(words, known))
    relation = ""
    while words.word in ("<", ">", "="):
        relation += words.next()
    if relation not in ("==", ">=", "<="):
        words.refuse("`==`, `>=` or `<=` was expected before this")
    right = read_form(words, _named(words, known))
    if relation == "<=":
        left, right, relation = right, left, ">="
    return Form("-", sides=(left, right)), relation


def read_form(words: Words, name: Callable[[], str]) -> Form:
    """An expression.

    Parameters
    ----------
    name : reads a name that may stand in it.
    """
    form = _product(words, name)
    while words.word in _SUMS:
        form = Form(words.next(), sides=(form, _product(words, name)))
    return form


def _product(words: Words, name: Callable[[], str]) -> Form:
    form = _factor(words, name)
    while words.word in _PRODUCTS:
        op = words.next()
        right = _factor(words, name)
        if op != "*" and not (right.op == "number" and right.value > 0):
            words.refuse(f"behind `{op}` stands no positive number before this")
        if op == "*" and not {form.op, right.op} & {"number", "name"}:
            words.refuse("a product of two expressions stands before this")
        form = Form(op, sides=(form, right))
    return form


def _factor(words: Words, name: Callable[[], str]) -> Form:
    if words.accept("-"):
        words.deeper()
        form = _factor(words, name)
        words.depth -= 1
        return (Form("number", value=-form.value) if form.op == "number" else
                Form("-", sides=(Form("number"), form)))
    if words.accept("("):
        words.deeper()
        form = read_form(words, name)
        words.depth -= 1
        words.expect(")")
        return form
    if words.kind == "number":
        return Form("number", value=words.integer("a number"))
    return Form("name", name=name())
