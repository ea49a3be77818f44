"""Integer index expressions in a normal form: linear forms over loop variables, parameters and quotients.

An isl AST expression such as `(-1 * ps_1 + ps_2) + 1` becomes a `Linear`, so that it prints as
`ps_2 - ps_1 + 1` and so that two expressions can be compared, shifted and substituted into.  All values are
mathematical integers; how wide the C arithmetic has to be is decided in `index_printer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from math import gcd
from typing import TypeAlias

from polysched.records import dataclass


@dataclass(frozen=True)
class Variable:
    """A loop variable of the emitted code or a parameter, by its C name."""

    name: str


@dataclass(frozen=True)
class Quotient:
    """`numerator / divisor`, rounded down; `truncates` tells that C's own `/` gives the same value.

    That is so where the numerator is known to be non-negative or divisible (isl's `pdiv_q` and `div`).
    """

    numerator: Linear
    divisor: int
    truncates: bool


@dataclass(frozen=True)
class Remainder:
    """`numerator % divisor` where C's own `%` is right.

    Either the numerator is non-negative (isl's `pdiv_r`) or the value is only compared to zero (`zdiv_r`).
    """

    numerator: Linear
    divisor: int


@dataclass(frozen=True)
class SourceOperation:
    """`operand op number` as the program has it (`t % 2` in a subscript), with C's rounding and for either sign."""

    op: str
    operand: Linear
    number: int


@dataclass(frozen=True)
class Extreme:
    """The least (`min`) or the largest (`max`) of several values."""

    kind: str
    arms: tuple[Linear, ...]


@dataclass(frozen=True)
class Choice:
    """`condition ? then : otherwise`."""

    condition: Condition
    then: Linear
    otherwise: Linear


@dataclass(frozen=True)
class ToBoundary:
    """How many elements lie between an element of an array and the next address that is a multiple of some bytes.

    At least one, and as many as fit between two boundaries for an element that lies on one.

    Parameters
    ----------
    template : how C spells an element: a `str.format` template with one `{}` per subscript, each in brackets.
    """

    template: str
    subscripts: tuple[Linear, ...]
    element_bytes: int
    boundary_bytes: int


@dataclass(frozen=True)
class Product:
    """`left * right` where neither is a number: a loop's variable times a width that only the running program knows."""

    left: Linear
    right: Linear


Atom: TypeAlias = Variable | Quotient | Remainder | SourceOperation | Extreme | Choice | ToBoundary | Product


@dataclass(frozen=True, eq=False)
class Linear:
    """`sum(coefficient * atom) + constant`; no atom occurs twice and no coefficient is zero.

    The order of the terms is how they print; it does not count in comparisons.
    """

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Linear):
            return NotImplemented
        return self.constant == other.constant and frozenset(self.terms) == frozenset(other.terms)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((frozenset(self.terms), self.constant))

    def __reduce__(self) -> tuple[type[Linear], tuple[object, ...]]:
        return Linear, (self.terms, self.constant)   # another process has other hashes

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of all variables that occur anywhere in it."""
        return frozenset(name for atom, _ in self.terms for name in _names_in(atom))

    @cached_property
    def has_constant_atom(self) -> bool:
        """Whether something in it is a number that is not computed yet, as `1024 % 4`."""
        return any(not _names_in(atom) or any(map(_has_constant_atom, _forms_in(atom))) for atom, _ in self.terms)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def coefficient(self, atom: Atom) -> int:
        """The factor of `atom`; 0 when it does not occur at the top."""
        return next((c for a, c in self.terms if a == atom), 0)

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.constant + other)
        total = dict(self.terms)
        for atom, factor in other.terms:
            total[atom] = total.get(atom, 0) + factor
        return Linear(tuple((a, c) for a, c in total.items() if c), self.constant + other.constant)

    def __mul__(self, factor: int) -> Linear:
        if factor == 0:
            return Linear()
        return Linear(tuple((a, c * factor) for a, c in self.terms), self.constant * factor)

    def __sub__(self, other: Linear | int) -> Linear:
        return self + (-other if isinstance(other, int) else other * -1)


def constant(value: int) -> Linear:
    """The constant form."""
    return Linear((), value)


def variable(name: str) -> Linear:
    """The form that is one variable."""
    return Linear(((Variable(name), 1),), 0)


def of_atom(atom: Atom) -> Linear:
    """The form that is one atom."""
    return Linear(((atom, 1),), 0)


def quotient(numerator: Linear, divisor: int, *, truncates: bool) -> Linear:
    """The quotient rounded down, evaluated where the divisor divides every coefficient."""
    if all(factor % divisor == 0 for _, factor in numerator.terms) and (
            not truncates or numerator.is_constant or numerator.constant % divisor == 0):
        return Linear(tuple((a, c // divisor) for a, c in numerator.terms), numerator.constant // divisor)
    return of_atom(Quotient(numerator, divisor, truncates))


def remainder(numerator: Linear, divisor: int) -> Linear:
    """The remainder; evaluated when the numerator is constant."""
    if numerator.is_constant:
        return constant(numerator.constant % divisor)
    return of_atom(Remainder(numerator, divisor))


def product(left: Linear, right: Linear) -> Linear:
    """The product; a multiple of the one where the other is a number."""
    for factor, form in ((left, right), (right, left)):
        if factor.is_constant:
            return form * factor.constant
    return of_atom(Product(left, right))


def source_operation(op: str, operand: Linear, number: int) -> Linear:
    """What an operation of the program gives, evaluated where the operand is constant or divisible; `number` > 0."""
    if not operand.is_constant:
        divisor = {"/": number, "%": number, "&": number + 1, ">>": 1 << number}[op]
        if operand.constant % divisor or any(factor % divisor for _, factor in operand.terms):
            return of_atom(SourceOperation(op, operand, number))
        return constant(0) if op in ("%", "&") else quotient(operand, divisor, truncates=False)
    value = operand.constant
    towards_zero = abs(value) // number * (1 if value >= 0 else -1)
    match op:
        case "/":
            return constant(towards_zero)
        case "%":
            return constant(value - number * towards_zero)
        case "&":
            return constant(value & number)
        case ">>":
            return constant(value >> number)
        case _:
            raise ValueError(f"no operation {op!r} of subscripts")


def extreme(kind: str, arms: Iterable[Linear]) -> Linear:
    """The min or max of the arms, flattened, with the arms that differ by a constant only merged."""
    pick = min if kind == "min" else max
    best: dict[tuple[tuple[Atom, int], ...], int] = {}
    for arm in arms:
        for flat in _flattened(kind, arm):
            key = flat.terms
            best[key] = pick(best[key], flat.constant) if key in best else flat.constant
    merged = tuple(Linear(terms, value) for terms, value in best.items())
    return merged[0] if len(merged) == 1 else of_atom(Extreme(kind, merged))


def _flattened(kind: str, arm: Linear) -> Iterator[Linear]:
    match arm.terms:
        case ((Extreme(kind=inner, arms=arms), 1),) if inner == kind:
            for nested in arms:
                yield nested + arm.constant
        case _:
            yield arm


def shifted(form: Linear, by: int) -> Linear:
    """The form plus a constant, brought into the arms of a min or max."""
    match form.terms:
        case ((Extreme(kind=kind, arms=arms), 1),):
            return extreme(kind, (shifted(arm, form.constant + by) for arm in arms))
        case _:
            return form + by


@dataclass(frozen=True)
class Comparison:
    """`left op right` with op one of `<`, `<=`, `>`, `>=`, `==`."""

    op: str
    left: Linear
    right: Linear

    def negation(self) -> Comparison:
        """The comparison that holds where this one, an inequality, does not."""
        return replace(self, op={"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[self.op])

    @property
    def value(self) -> bool | None:
        """Whether it holds, where that is a matter of constants."""
        difference = self.left - self.right
        if not difference.is_constant:
            return None
        amount = difference.constant
        return {"<": amount < 0, "<=": amount <= 0, ">": amount > 0, ">=": amount >= 0, "==": amount == 0}[self.op]


@dataclass(frozen=True)
class Junction:
    """All (`&&`) or at least one (`||`) of the conditions."""

    op: str
    arms: tuple[Condition, ...]


Condition: TypeAlias = Comparison | Junction


def junction(op: str, arms: Iterable[Condition]) -> Condition:
    """The conjunction or disjunction of the arms, flattened."""
    flat: list[Condition] = []
    for arm in arms:
        flat += arm.arms if isinstance(arm, Junction) and arm.op == op else (arm,)
    return flat[0] if len(flat) == 1 else Junction(op, tuple(flat))


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The conditions all of which hold where this one does."""
    return condition.arms if isinstance(condition, Junction) and condition.op == "&&" else (condition,)


def rounded_towards_zero(form: Linear) -> Linear:
    """The form with quotients rounded as C's own `/` does, which is no less; those that are subtracted stay.

    Where the numerators are not negative, it is the same.
    """
    total = constant(form.constant)
    for atom, factor in form.terms:
        if isinstance(atom, Quotient) and factor > 0:
            atom = Quotient(rounded_towards_zero(atom.numerator), atom.divisor, truncates=True)
        total += of_atom(atom) * factor
    return total


def substitute(form: Linear, values: Mapping[str, Linear]) -> Linear:
    """The form with variables replaced by forms, everywhere inside."""
    if form.variables.isdisjoint(values) and not form.has_constant_atom:
        return form
    total: dict[Atom, int] = {}
    number = form.constant
    for atom, factor in form.terms:
        part = _substitute_atom(atom, values)
        number += factor * part.constant
        for inner, coefficient in part.terms:
            total[inner] = total.get(inner, 0) + factor * coefficient
            if not total[inner]:
                del total[inner]   # at the end, should it come back
    return Linear(tuple(total.items()), number)


def _substitute_atom(atom: Atom, values: Mapping[str, Linear]) -> Linear:
    match atom:
        case Variable(name=name):
            return values.get(name, of_atom(atom))
        case Quotient():
            return quotient(substitute(atom.numerator, values), atom.divisor, truncates=atom.truncates)
        case Remainder():
            return remainder(substitute(atom.numerator, values), atom.divisor)
        case SourceOperation():
            return source_operation(atom.op, substitute(atom.operand, values), atom.number)
        case Extreme():
            return extreme(atom.kind, (substitute(a, values) for a in atom.arms))
        case ToBoundary():
            return of_atom(replace(atom, subscripts=tuple(substitute(s, values) for s in atom.subscripts)))
        case Product():
            return product(substitute(atom.left, values), substitute(atom.right, values))
        case Choice():
            return of_atom(Choice(substitute_condition(atom.condition, values),
                                  substitute(atom.then, values), substitute(atom.otherwise, values)))


def substitute_condition(condition: Condition, values: Mapping[str, Linear]) -> Condition:
    """The condition with variables replaced by forms."""
    if isinstance(condition, Comparison):
        return replace(condition, left=substitute(condition.left, values), right=substitute(condition.right, values))
    return Junction(condition.op, tuple(substitute_condition(a, values) for a in condition.arms))


def variables(form: Linear | Condition) -> frozenset[str]:
    """The names of all variables that occur anywhere in the form."""
    match form:
        case Linear():
            return form.variables
        case Comparison():
            return form.left.variables | form.right.variables
        case Junction():
            return frozenset[str]().union(*map(variables, form.arms))


def _has_constant_atom(form: Linear | Condition) -> bool:
    return form.has_constant_atom if isinstance(form, Linear) else not variables(form)


def _names_in(atom: Atom) -> frozenset[str]:
    if isinstance(atom, Variable):
        return frozenset((atom.name,))
    return frozenset[str]().union(*map(variables, _forms_in(atom)))


def source_operations(form: Linear | Condition) -> Iterator[SourceOperation]:
    """The operations of the program, anywhere in the form."""
    return (atom for atom in _atoms(form) if isinstance(atom, SourceOperation))


def differ(first: Linear, second: Linear) -> bool:
    """Whether two forms certainly never have the same value, whatever their variables are.

    What they differ by is no multiple of the greatest common divisor of its coefficients (the test of Banerjee and
    Towle), or both are the same remainder, of numbers whose distance is no multiple of the divisor.
    """
    difference = first - second
    if difference.constant % gcd(*(factor for _, factor in difference.terms)) if difference.terms else (
            difference.constant):
        return True
    match first.terms, second.terms:
        case ((SourceOperation() as one, factor),), ((SourceOperation() as other, same),):
            apart = one.operand - other.operand
            alike = (one.op, one.number, factor, first.constant) == (other.op, other.number, same, second.constant)
            period = one.number + (one.op == "&")
            return alike and one.op in ("%", "&") and apart.is_constant and bool(apart.constant % period)
        case _:
            return False


def numerators(form: Linear | Condition) -> Iterator[Linear]:
    """What remainders are taken of, anywhere in the form."""
    return (atom.numerator for atom in _atoms(form) if isinstance(atom, Remainder))


def direction(form: Linear, name: str) -> int | None:
    """1 where the form never falls as a variable grows, -1 where it never rises, 0 without it, None: it may do both.

    Quotients rise with their numerators, extremes with their arms.
    """
    signs: set[int | None] = set()
    for atom, factor in form.terms:
        inner: set[int | None]
        match atom:
            case Variable():
                inner = {int(atom.name == name)}
            case Quotient():
                inner = {direction(atom.numerator, name)}
            case Extreme():
                inner = {direction(arm, name) for arm in atom.arms}
            case _:
                inner = {None if name in variables(of_atom(atom)) else 0}
        signs |= {None if sign is None else sign * (1 if factor > 0 else -1) for sign in inner if sign != 0}
    return None if None in signs or len(signs) > 1 else next(iter(signs), 0)


def growth(form: Linear, name: str) -> int | None:
    """By how much the form grows with a variable; None where that also occurs inside a quotient or the like."""
    inside = any(name in variables(of_atom(atom)) for atom, _ in form.terms if not isinstance(atom, Variable))
    return None if inside else form.coefficient(Variable(name))


def _atoms(form: Linear | Condition) -> Iterator[Atom]:
    """Every atom of a form or condition, at any depth."""
    match form:
        case Comparison():
            inner: tuple[Linear | Condition, ...] = (form.left, form.right)
        case Junction():
            inner = form.arms
        case Linear():
            inner = ()
            for atom, _ in form.terms:
                yield atom
                inner += _forms_in(atom)
    for part in inner:
        yield from _atoms(part)


def _forms_in(atom: Atom) -> tuple[Linear | Condition, ...]:
    match atom:
        case Variable():
            return ()
        case Quotient() | Remainder():
            return (atom.numerator,)
        case SourceOperation():
            return (atom.operand,)
        case Extreme():
            return atom.arms
        case ToBoundary():
            return atom.subscripts
        case Product():
            return (atom.left, atom.right)
        case Choice():
            return (atom.condition, atom.then, atom.otherwise)
