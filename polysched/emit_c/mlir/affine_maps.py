"""Index expressions of the loop IR as expressions of the `affine` dialect, with their dimensions and symbols.

Source: MLIR's documentation, "'affine' Dialect": affine expressions, maps and sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from polysched.emit_c.loop_ir.index import (
    Comparison,
    Condition,
    Extreme,
    Linear,
    Quotient,
    Remainder,
    Variable,
    constant,
    of_atom,
    quotient,
)
from polysched.errors import UnsupportedScopError
from polysched.scop.scop import Access, Statement


class Operands:
    """The values that an affine map is applied to: loop variables as dimensions, parameters as symbols.

    Parameters
    ----------
    symbols : the names of the parameters.
    """

    def __init__(self, symbols: Iterable[str]) -> None:
        self.known = frozenset(symbols)
        self.dimensions: list[str] = []
        self.symbols: list[str] = []

    def name(self, variable: str) -> str:
        """`d0`, `s1`: what the map calls a variable."""
        used, letter = (self.symbols, "s") if variable in self.known else (self.dimensions, "d")
        if variable not in used:
            used.append(variable)
        return f"{letter}{used.index(variable)}"

    def head(self) -> str:
        """`(d0, d1)[s0]`: the arguments of the map."""
        dimensions = ", ".join(f"d{k}" for k in range(len(self.dimensions)))
        symbols = ", ".join(f"s{k}" for k in range(len(self.symbols)))
        return f"({dimensions})" + (f"[{symbols}]" if symbols else "")

    def applied(self) -> str:
        """`(%i, %j)[%n]`: what it is applied to."""
        dimensions = ", ".join(f"%{name}" for name in self.dimensions)
        symbols = ", ".join(f"%{name}" for name in self.symbols)
        return f"({dimensions})" + (f"[{symbols}]" if symbols else "")


def expression(form: Linear, operands: Operands) -> str:
    """A quasi-affine form.

    Raises
    ------
    UnsupportedScopError : it has a part that the dialect does not have there.
    """
    parts = [_scaled(_atom(atom, operands), factor) for atom, factor in form.terms]
    if form.constant or not parts:
        parts.append(str(form.constant))
    return " + ".join(parts)


def affine_map(forms: Sequence[Linear], symbols: Iterable[str]) -> str:
    """`affine_map<(d0)[s0] -> (d0 + 1)>(%i)[%n]`: a map with its operands."""
    operands = Operands(symbols)
    results = ", ".join(expression(form, operands) for form in forms)
    return f"affine_map<{operands.head()} -> ({results})>{operands.applied()}"


def bound(form: Linear, kind: str, symbols: Iterable[str]) -> str:
    """A bound of a loop: `max` of several values below, `min` above.

    Parameters
    ----------
    kind : `max` for a lower bound, `min` for an upper one.
    """
    if form.is_constant:
        return str(form.constant)
    arms = _arms(form, kind)
    return (f"{kind} " if len(arms) > 1 else "") + affine_map(arms, symbols)


def integer_set(condition: Condition, symbols: Iterable[str]) -> tuple[str, str]:
    """A conjunction as `affine_set<...>`, and the values that it is asked of.

    Raises
    ------
    UnsupportedScopError : it is a disjunction.
    """
    operands = Operands(symbols)
    constraints = ", ".join(_constraint(arm, operands) for arm in _conjunction(condition))
    values = ", ".join(f"%{name}" for name in (*operands.dimensions, *operands.symbols))
    return f"affine_set<{operands.head()} : ({constraints})>", values


def of_function(function: isl.Aff, iterators: Sequence[Linear]) -> Linear:
    """A quasi-affine function of the iterators of a statement, with forms in the place of these."""
    total = constant(_whole(function.get_constant_val()))
    for position, form in enumerate(iterators):
        total = total + form * _whole(function.get_coefficient_val(isl.dim_type.in_, position))
    for position in range(function.dim(isl.dim_type.param)):
        factor = _whole(function.get_coefficient_val(isl.dim_type.param, position))
        name = str(function.get_dim_name(isl.dim_type.param, position))
        total = total + of_atom(Variable(name)) * factor
    for position in range(function.dim(isl.dim_type.div)):
        factor = _whole(function.get_coefficient_val(isl.dim_type.div, position))
        if factor:
            inside = function.get_div(position)
            divisor = int(inside.get_denominator_val().to_python())
            numerator = of_function(inside.scale_val(inside.get_denominator_val()), iterators)
            total = total + quotient(numerator, divisor, truncates=False) * factor
    return total


def element_of(statement: Statement, reference: str, iterators: Sequence[Linear]) -> tuple[str, list[Linear]]:
    """The array of a reference and its subscripts.

    Parameters
    ----------
    iterators : the value of each iterator of the statement.

    Raises
    ------
    UnsupportedScopError : they are no quasi-affine functions, for instance data.
    """
    access = statement.access(reference)
    place = f"{access.array} in line {statement.line}"
    functions = _functions(access)
    if functions is None:
        raise UnsupportedScopError(f"an access of {statement.name} is no function", witness=place,
                                   hint="emit C instead")
    if any(len(pieces) != 1 for pieces in functions):
        raise UnsupportedScopError(f"an access of {statement.name} is in pieces", witness=place,
                                   hint="emit C instead")
    return access.array, [of_function(pieces[0], iterators) for pieces in functions]


def is_one_function(access: Access) -> bool:
    """Whether every subscript is one quasi-affine function."""
    functions = _functions(access)
    return functions is not None and all(len(pieces) == 1 for pieces in functions)


def _functions(access: Access) -> list[list[isl.Aff]] | None:
    """The functions that each subscript is in its pieces; None where it is data."""
    if not access.exact or not access.relation.is_single_valued():
        return None
    function = isl.PwMultiAff.from_map(access.relation)
    return [[piece for _, piece in function.get_pw_aff(position).coalesce().get_pieces()]
            for position in range(access.relation.dim(isl.dim_type.out))]


def _whole(value: isl.Val) -> int:
    if not value.is_int():
        raise UnsupportedScopError("an access has a fractional coefficient", witness=str(value))
    return int(value.to_python())


def _arms(form: Linear, kind: str) -> tuple[Linear, ...]:
    match form.terms:
        case ((Extreme(kind=own, arms=arms), 1),) if own == kind:
            return tuple(arm + form.constant for arm in arms)
        case _:
            return (form,)


def _atom(atom: object, operands: Operands) -> str:
    match atom:
        case Variable(name=name):
            return operands.name(name)
        case Quotient(numerator=numerator, divisor=divisor):
            return f"({expression(numerator, operands)}) floordiv {divisor}"
        case Remainder(numerator=numerator, divisor=divisor):
            return f"({expression(numerator, operands)}) mod {divisor}"
        case _:
            raise UnsupportedScopError("the affine dialect has no such index expression",
                                       witness=type(atom).__name__, hint="write the region without tiles")


def _scaled(text: str, factor: int) -> str:
    if factor == 1:
        return text
    return f"({text}) * {factor}" if " " in text else f"{text} * {factor}"


def _conjunction(condition: Condition) -> tuple[Condition, ...]:
    if isinstance(condition, Comparison):
        return (condition,)
    if condition.op != "&&":
        raise UnsupportedScopError("the affine dialect has no sets that are unions",
                                   witness=f"a condition of {len(condition.arms)} alternatives")
    return tuple(arm for inner in condition.arms for arm in _conjunction(inner))


def _constraint(condition: Condition, operands: Operands) -> str:
    assert isinstance(condition, Comparison)
    left, right = condition.left, condition.right
    difference = {"==": left - right, ">=": left - right, ">": left - right - 1, "<=": right - left,
                  "<": right - left - 1}[condition.op]
    return f"{expression(difference, operands)} {'==' if condition.op == '==' else '>='} 0"
