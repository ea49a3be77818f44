"""Index expressions -> C text whose arithmetic cannot overflow.

Loop variables are `long`, but for those of `int_variables.py`.  A sum of `int` parameters alone is computed in `int`
only where the parameters' values prove that it fits; otherwise its first operand is cast to `long`.  Unsigned
parameters are cast always.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import reduce

import islpy as isl

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import (
    Atom,
    Choice,
    Comparison,
    Condition,
    Extreme,
    Linear,
    Product,
    Quotient,
    Remainder,
    SourceOperation,
    ToBoundary,
    Variable,
    constant,
)
from polysched.emit_c.scalar_code.c_text import CText, Level, binary, call, cast, conditional, joined
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.records import dataclass
from polysched.scop.dtypes import INT32, INT64, DType, Kind
from polysched.scop.plain_c import number_in_c
from polysched.scop.scop import Scop

Range = tuple[int, int]
_INT_RANGE = INT32.value_range()
MOST_IN_A_ROW = LIMITS.most_nested_arms


@dataclass(frozen=True)
class TypedText:
    """Text of an integer expression, its C type (INT32 or INT64), and the values it can take when in INT32."""

    text: CText
    dtype: DType
    values: Range


@dataclass(frozen=True, kw_only=True)
class IndexPrinter:
    """Prints linear forms and conditions.

    Parameters
    ----------
    parameters : type and possible values per parameter and per loop variable that is an `int`; every other variable is
        a `long` loop variable.
    spellings : how C spells a parameter's value.
    macros : where needed helper macros are asked for.
    quotients : dividend and divisor of parameters that are quotients.
    """

    parameters: Mapping[str, tuple[DType, Range]]
    spellings: Mapping[str, CText]
    macros: HelperMacros
    quotients: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def form(self, form: Linear) -> TypedText:
        """The form as C text."""
        pieces = [(self._atom(atom), factor) for atom, factor in form.terms]
        pieces.sort(key=lambda p: (p[1] < 0, p[0].dtype != INT64))
        if not pieces:
            return self._constant(form.constant)
        total = self._scaled(*pieces[0])
        for piece, factor in pieces[1:]:
            scaled = self._scaled(piece, abs(factor))
            total = self._sum("-" if factor < 0 else "+", total, scaled)
        if form.constant:
            if total.text.code.startswith("-") and form.constant > 0:
                return self._sum("-", self._constant(form.constant), self.form(_negated(form)))
            total = self._sum("-" if form.constant < 0 else "+", total, self._constant(abs(form.constant)))
        return total

    def bound(self, form: Linear) -> CText:
        """The form without its type."""
        return self.form(form).text

    def condition(self, condition: Condition) -> CText:
        """The condition as C text."""
        if isinstance(condition, Comparison):
            condition = _without_unit(condition)
            return binary(condition.op, self.form(condition.left).text, self.form(condition.right).text)
        arms = [self.condition(arm) for arm in condition.arms]
        return joined(condition.op, arms)

    def pays(self, length: Linear, least: int) -> CText:
        """Whether a length of at least 0 is long enough for an effort; quotients are not divided for it.

            n / s + 1 >= 100   ->   n >= 99 * s
        """
        quotient = self.quotient_in(length) if least > length.constant else None
        if quotient is None:
            return self.condition(Comparison(">=", length, constant(least)))
        return CText(f"{quotient[0]} >= {least - length.constant} * {quotient[1]}", Level.RELATIONAL)

    def quotient_in(self, length: Linear) -> tuple[str, str] | None:
        """Dividend and divisor where a length is a parameter that is a quotient, and a constant."""
        match length.terms:
            case ((Variable(name=name), 1),):
                return self.quotients.get(name)
        return None

    def _constant(self, value: int) -> TypedText:
        small = _INT_RANGE[0] < value <= _INT_RANGE[1]
        if abs(value) > INT64.value_range()[1]:   # the bound of an unsigned size that no `long` reaches
            return TypedText(CText(number_in_c(value)), INT64, (value, value))
        text = CText(f"{value}" if small else f"{value}L", Level.UNARY if value < 0 else Level.PRIMARY)
        return TypedText(text, INT32 if small else INT64, (value, value))

    def _atom(self, atom: Atom) -> TypedText:
        match atom:
            case Variable(name=name):
                return self._variable(name)
            case Quotient():
                return self._quotient(atom)
            case Remainder():
                numerator = self.form(atom.numerator)
                return TypedText(binary("%", numerator.text, CText(str(atom.divisor))), numerator.dtype,
                                 (-atom.divisor, atom.divisor))
            case SourceOperation():
                return self._source_operation(atom)
            case Extreme():
                return self._extreme(atom)
            case ToBoundary():
                return self._to_boundary(atom)
            case Product():
                left, right = self.form(atom.left), _as_long(self.form(atom.right))
                return TypedText(binary("*", left.text, right.text), INT64, INT64.value_range())
            case Choice():
                sides = [self.form(atom.then), self.form(atom.otherwise)]
                text = conditional(self.condition(atom.condition), sides[0].text, sides[1].text)
                return TypedText(text, _wider(*sides), _hull(*sides))

    def _variable(self, name: str) -> TypedText:
        dtype, values = self.parameters.get(name, (INT64, INT64.value_range()))
        text = self.spellings.get(name, CText(name))
        if dtype.kind is not Kind.SIGNED:
            return TypedText(cast(INT64.c_name, text), INT64, values)
        return TypedText(text, INT32 if dtype.bits <= 32 else INT64, values)

    def _quotient(self, atom: Quotient) -> TypedText:
        numerator = self.form(atom.numerator)
        values = (numerator.values[0] // atom.divisor, numerator.values[1] // atom.divisor)
        divisor = CText(str(atom.divisor))
        if atom.truncates:
            return TypedText(binary("/", numerator.text, divisor), numerator.dtype, values)
        return TypedText(call(self.macros.use("floordiv"), [numerator.text, divisor]), numerator.dtype, values)

    def _source_operation(self, atom: SourceOperation) -> TypedText:
        operand = self.form(atom.operand)
        most = atom.number if atom.op in ("%", "&") else max(map(abs, operand.values))
        return TypedText(binary(atom.op, operand.text, CText(str(atom.number))), operand.dtype, (-most, most))

    def _extreme(self, atom: Extreme) -> TypedText:
        macro = self.macros.use(atom.kind)
        arms = [self.form(arm) for arm in atom.arms]
        return TypedText(_nested(macro, [arm.text for arm in arms]), _wider(*arms), _hull(*arms))

    def _to_boundary(self, atom: ToBoundary) -> TypedText:
        element = atom.template.format(*(self.form(s).text.code for s in atom.subscripts))
        boundary = CText(str(atom.boundary_bytes))
        past = binary("%", cast("unsigned long", CText(f"&{element}", Level.UNARY)), boundary)
        left = binary("/", binary("-", boundary, past), CText(str(atom.element_bytes)))
        return TypedText(cast(INT64.c_name, left), INT64, (1, atom.boundary_bytes // atom.element_bytes))

    def _scaled(self, piece: TypedText, factor: int) -> TypedText:
        if factor == 1:
            return piece
        ends = sorted((piece.values[0] * factor, piece.values[1] * factor))
        values = (ends[0], ends[1])
        piece = _as_long(piece) if not _fits(values) else piece
        if factor == -1:
            return TypedText(CText(f"-{piece.text.at(Level.UNARY)}", Level.UNARY), piece.dtype, values)
        return TypedText(binary("*", CText(str(factor)), piece.text), piece.dtype, values)

    def _sum(self, op: str, left: TypedText, right: TypedText) -> TypedText:
        low, high = right.values if op == "+" else (-right.values[1], -right.values[0])
        values = (left.values[0] + low, left.values[1] + high)
        if INT64 not in (left.dtype, right.dtype) and not _fits(values):
            left = _as_long(left)
        return TypedText(binary(op, left.text, right.text), _wider(left, right), values)


def _without_unit(condition: Comparison) -> Comparison:
    """`n + t >= i + t + 1` as `n > i`, `i + 1 <= n` as `i < n`, and `18 >= i` as `i <= 18`."""
    left, right = condition.left, condition.right
    if {atom for atom, _ in left.terms} & {atom for atom, _ in right.terms}:
        difference = left - right
        left = Linear(tuple((a, c) for a, c in difference.terms if c > 0), max(difference.constant, 0))
        right = Linear(tuple((a, -c) for a, c in difference.terms if c < 0), max(-difference.constant, 0))
        condition = Comparison(condition.op, left, right)
    if left.is_constant and not right.is_constant:
        left, right = right, left
        condition = Comparison({"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(condition.op, "=="), left, right)
    if condition.op == ">=" and right.constant == 1 and right.terms:
        return Comparison(">", left, right - 1)
    if condition.op == "<=" and left.constant == 1 and left.terms:
        return Comparison("<", left - 1, right)
    return condition


def _nested(macro: str, arms: list[CText]) -> CText:
    """The extreme of all arms; of many in halves, as each call of the macro repeats what stands in it."""
    if len(arms) <= MOST_IN_A_ROW:
        return reduce(lambda left, right: call(macro, [left, right]), arms)
    middle = (len(arms) + 1) // 2
    return call(macro, [_nested(macro, arms[:middle]), _nested(macro, arms[middle:])])


def _negated(form: Linear) -> Linear:
    return Linear(tuple((atom, -factor) for atom, factor in form.terms), 0)


def _fits(values: Range) -> bool:
    return _INT_RANGE[0] <= values[0] and values[1] <= _INT_RANGE[1]


def _as_long(piece: TypedText) -> TypedText:
    if piece.dtype == INT64:
        return piece
    if piece.text.code.isdecimal():
        return replace(piece, text=CText(piece.text.code + "L"), dtype=INT64)
    return TypedText(cast(INT64.c_name, piece.text), INT64, piece.values)


def _wider(*pieces: TypedText) -> DType:
    return INT64 if any(p.dtype == INT64 for p in pieces) else INT32


def _hull(*pieces: TypedText) -> Range:
    return min(p.values[0] for p in pieces), max(p.values[1] for p in pieces)


def parameter_spellings(scop: Scop) -> dict[str, CText]:
    """How C spells each parameter."""
    return {p.name: CText(p.spelling) if p.spelling.isidentifier() else CText(p.spelling, Level.POSTFIX)
            for p in scop.parameters}


def parameter_quotients(scop: Scop) -> dict[str, tuple[str, str]]:
    """Dividend and divisor of the parameters that are quotients."""
    return {p.name: p.quotient for p in scop.parameters if p.quotient is not None}


def _finite(value: isl.Val, otherwise: int) -> int:
    """An integer bound; isl gives infinity for some bounds that exist, behind a modulo for instance."""
    return value.to_python() if value.is_int() else otherwise


def parameter_ranges(scop: Scop, context: isl.Set) -> dict[str, tuple[DType, Range]]:
    """The type and the possible values of each parameter, from its declaration and the context."""
    ranges: dict[str, tuple[DType, Range]] = {}
    names = [context.get_dim_name(isl.dim_type.param, i) for i in range(context.dim(isl.dim_type.param))]
    for parameter in scop.parameters:
        low, high = parameter.dtype.value_range()
        if parameter.name not in names:
            ranges[parameter.name] = parameter.dtype, (low, high)
            continue
        as_set = isl.Set.from_params(context)
        line = as_set.move_dims(isl.dim_type.set, 0, isl.dim_type.param, names.index(parameter.name), 1)
        line = line.project_out(isl.dim_type.param, 0, line.dim(isl.dim_type.param))
        if line.dim_has_lower_bound(isl.dim_type.set, 0):
            low = max(low, _finite(line.dim_min_val(0), low))
        if line.dim_has_upper_bound(isl.dim_type.set, 0):
            high = min(high, _finite(line.dim_max_val(0), high))
        ranges[parameter.name] = parameter.dtype, (low, high)
    return ranges
