"""Values of a statement in terms of memory and of recursive values only: everything between is put in place.

    e = x[i] - m;  y[i] = expf(e)    ->    y[i] = expf(x[i] - m)

Where a read has several sources the instances fall into cases, each with its own value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum

import islpy as isl

from polysched.errors import BudgetExceededError
from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, IteratorRef, Literal, Load, ParameterRef, rebuild, walk
from polysched.tensorize.functions.recurrences import OUTER, Equation, Recurrences, Source
from polysched.tensorize.limits import LIMITS

MOST_CASES = LIMITS.most_cases
LARGEST_VALUE = LIMITS.largest_value_nodes
TURNED = {">": "<", ">=": "<="}


class Kind(Enum):
    """What a leaf of a value is."""

    VALUE = "a value computed by a recursive statement"
    MEMORY = "an element that was there before"
    NUMBER = "an iterator or a parameter"


@dataclass(frozen=True, eq=False, kw_only=True)
class Leaf:
    """A leaf of a value: for every instance of the root an instance, an element, or a number.

    Parameters
    ----------
    name : the statement, the array, or "".
    relation : `{ [root] -> [instance, element or number] }`.
    """

    kind: Kind
    name: str
    relation: isl.Map


@dataclass(frozen=True, eq=False, kw_only=True)
class Case:
    """The value of some instances; its loads name the leaves."""

    domain: isl.Set
    value: Expr
    leaves: dict[str, Leaf]


def cases(system: Recurrences, name: str, domain: isl.Set) -> list[Case]:
    """The values of a statement's instances in a domain.

    Raises
    ------
    BudgetExceededError : there are too many cases, or values are too large.
    """
    identity = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    return [replace(c, value=normal(c.value)) for c in _cases(system, system.equations[name], identity)]


def _cases(system: Recurrences, equation: Equation, at: isl.Map) -> list[Case]:
    """The values of the instances that a relation from the root reaches."""
    found = [Case(domain=at.domain(), value=equation.value, leaves={})]
    for reference, sources in equation.sources.items():
        found = [c for case in found for source in sources for c in _with_source(system, case, reference, source, at)]
        if len(found) > MOST_CASES:
            raise BudgetExceededError("a value has too many cases", where=equation.name,
                                      witness=f"more than {MOST_CASES} in tensorize/functions/expansion")
    return [_with_numbers(system, equation, case, at) for case in found]


def _with_source(system: Recurrences, case: Case, reference: str, source: Source, at: isl.Map) -> Iterator[Case]:
    reached = at.intersect_domain(case.domain).apply_range(source.relation)
    domain = reached.domain()
    if domain.is_empty():
        return
    if source.statement is not None and source.statement not in system.recursive:
        for inner in _cases(system, system.equations[source.statement], reached):
            yield _merged(case, reference, inner)
        return
    kind = Kind.MEMORY if source.statement is None else Kind.VALUE
    leaf = Leaf(kind=kind, name=source.statement or source.array, relation=reached)
    dtype = next(e.dtype for e in walk(case.value) if isinstance(e, Load) and e.reference == reference)
    yield _merged(case, reference, Case(domain=domain, value=Load("#", dtype), leaves={"#": leaf}))


def _merged(case: Case, reference: str, inner: Case) -> Case:
    """A case with another's value in the place of a read."""
    leaves, names = dict(case.leaves), {}
    for key, leaf in inner.leaves.items():
        same = next((k for k, known in leaves.items() if (known.kind, known.name) == (leaf.kind, leaf.name)
                     and known.relation.intersect_domain(inner.domain).is_equal(
                         leaf.relation.intersect_domain(inner.domain))), None)
        names[key] = same if same is not None else f"@{len(leaves)}"
        leaves[names[key]] = leaf

    def renamed(e: Expr) -> Expr:
        return Load(names[e.reference], e.dtype) if isinstance(e, Load) and e.reference in names else e

    def placed(e: Expr) -> Expr:
        return value if isinstance(e, Load) and e.reference == reference else e

    value = rebuild(inner.value, renamed)
    result = rebuild(case.value, placed)
    if sum(1 for _ in walk(result)) > LARGEST_VALUE:
        raise BudgetExceededError("a value is too large to be compared", where="tensorize/functions/expansion",
                                  witness=f"more than {LARGEST_VALUE} operations")
    return Case(domain=inner.domain, value=result, leaves=leaves)


def _with_numbers(system: Recurrences, equation: Equation, case: Case, at: isl.Map) -> Case:
    """Iterators and parameters as leaves."""
    leaves, names = dict(case.leaves), {}
    dims = [f"i{k}" for k in range(equation.domain.dim(isl.dim_type.set))]
    for e in walk(equation.value):
        if isinstance(e, IteratorRef | ParameterRef) and e not in names:
            parameters = [f"{OUTER}{at}" for at in range(system.depth)]
            if isinstance(e, ParameterRef):
                text = f"{system.prefix}{e.name}"
                parameters.append(text)
            else:
                place = len(equation.iterators) - 1 - equation.iterators[::-1].index(e.name)   # the innermost of a name
                text = equation.numbers[place]
            number = isl.Map.read_from_str(
                isl.DEFAULT_CONTEXT, f"[{', '.join(parameters)}] -> {{ [{', '.join(dims)}] -> [{text}] }}")
            names[e] = f"@{len(leaves)}"
            leaves[names[e]] = Leaf(kind=Kind.NUMBER, name="", relation=at.apply_range(number))

    def placed(e: Expr) -> Expr:
        return Load(names[e], e.dtype) if isinstance(e, IteratorRef | ParameterRef) and e in names else e

    return replace(case, value=rebuild(case.value, placed), leaves=leaves) if names else case


def normal(value: Expr) -> Expr:
    """The value without idle conversions, with constants in their final type, and `<` for `>`."""
    def change(e: Expr) -> Expr:
        match e:
            case Cast(operand=operand) if operand.dtype == e.dtype:
                return operand
            case Cast(operand=Literal(value=number)) if e.dtype.is_float and float(number) == number and _exact(
                    number, e.dtype.bits):
                return Literal(str(float(number)), float(number), e.dtype)
            case Binary(op=op) if op in TURNED:
                return Binary(TURNED[op], e.right, e.left, e.dtype)
            case Literal(value=number):
                return Literal(str(number), number, e.dtype)
        return e

    return rebuild(value, change)


def _exact(number: float, bits: int) -> bool:
    """Whether a floating type of so many bits holds a small whole number exactly."""
    return bits >= 32 and math.isfinite(number) and float(number).is_integer() and abs(number) < 1 << 24
