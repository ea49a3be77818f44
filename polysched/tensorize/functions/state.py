"""What is known so far of a correspondence between a described function and a part of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TypeVar

import islpy as isl

from polysched.records import dataclass
from polysched.scop.body import Expr
from polysched.tensorize.software.polynomials import Monomial, Polynomial, affine_text, parameters_of, substituted

PREFIX = "_f_"   # of the function's parameters
SetOrMap = TypeVar("SetOrMap", isl.Set, isl.Map)


@dataclass(frozen=True, eq=False, kw_only=True)
class Operand:
    """Where an array of the function lies in the program.

    Parameters
    ----------
    array : of the program.
    base : the element that the function's first one is, as a sum of monomials times numbers that the loops around
        choose: `{ [] -> [number] }` per monomial.
    """

    array: str
    base: Mapping[Monomial, isl.Map]


@dataclass(frozen=True, eq=False, kw_only=True)
class Number:
    """What is handed over by value: an expression whose loads `@0`, `@1`, ... are elements.

    Parameters
    ----------
    elements : per load the array and `{ [] -> [element] }`; without array the element is a number.
    """

    value: Expr
    elements: tuple[tuple[str, isl.Map], ...] = ()

    def equals(self, other: Number) -> bool:
        """Whether both are the same expression of the same elements."""
        return self.value == other.value and len(self.elements) == len(other.elements) and all(
            a == b and m.union(n).is_single_valued()
            for (a, m), (b, n) in zip(self.elements, other.elements, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class State:
    """A correspondence, as far as it is known.

    Parameters
    ----------
    context : parameters of the program and iterators of loops around, and what the function's parameters equal.
    values : per parameter of the function its value as a polynomial in those of the program.
    instances : per recursive statement of the function the program's, and `{ [program's] -> [function's] }`.
    order : floats are added, or multiplied, in another order than the program's.
    """

    context: isl.Set
    values: Mapping[str, Polynomial] = field(default_factory=dict)
    operands: Mapping[str, Operand] = field(default_factory=dict)
    numbers: Mapping[str, Number] = field(default_factory=dict)
    instances: Mapping[str, tuple[str, isl.Map]] = field(default_factory=dict)
    order: bool = False

    def with_value(self, name: str, value: Polynomial) -> State:
        """One more parameter of the function, whose name has no prefix."""
        context = self.context
        if all(len(m) <= 1 for m in value):
            names = sorted(parameters_of(value))
            text = f"[{', '.join([PREFIX + name, *names])}] -> {{ : {PREFIX}{name} = {affine_text(value)} }}"
            context = context.intersect(isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text))
        return replace(self, context=context, values={**self.values, name: value})

    def known(self, value: Polynomial) -> Polynomial | None:
        """A polynomial in the function's parameters in those of the program; None where one is not known yet."""
        names = {n: self.values.get(n.removeprefix(PREFIX)) for m in value for n in m if n.startswith(PREFIX)}
        given = {n: v for n, v in names.items() if v is not None}
        return substituted(value, given) if len(given) == len(names) else None

    def restricted(self, relation: isl.Map) -> isl.Map:
        """A relation for those values of the function's parameters that are known to be its."""
        return relation.intersect_params(self.context)

    def in_program(self, relation: SetOrMap) -> SetOrMap:
        """A set or relation of the function with its parameters' values; what is not known may be anything."""
        relation = relation.intersect_params(self.context)
        for at in reversed(range(relation.dim(isl.dim_type.param))):
            if str(relation.get_dim_name(isl.dim_type.param, at)).startswith(PREFIX):
                relation = relation.project_out(isl.dim_type.param, at, 1)
        return relation
