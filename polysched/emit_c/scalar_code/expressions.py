"""Body expressions -> C text, with the C type and the order of evaluation of the expression tree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from polysched.emit_c.loop_ir.index import (
    Linear,
)
from polysched.emit_c.loop_ir.loops import PackedOperand, Temporary
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.scalar_code.c_text import CText, Level, binary, call, cast, conditional, unary
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.python_operators import python_call
from polysched.records import dataclass
from polysched.scop.body import (
    Address,
    Binary,
    Call,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Select,
    Unary,
    walk,
)
from polysched.scop.dtypes import BFLOAT16, FLOAT32, INT32, INT64, DType, Kind
from polysched.scop.scop import Access, Array, Scop, Statement

_FIELD = re.compile(r"\{\}")


@dataclass(frozen=True, kw_only=True)
class ExpressionPrinter:
    """Prints the expressions of one statement instance.

    Parameters
    ----------
    scop : where arrays are looked up.
    statement : whose accesses the loads name.
    iterators : the value of each iterator of the statement.
    index : prints linear forms.
    local_names : C names of the region-local arrays.
    packed : operands that are read from a panel instead of computed.
    temporaries : what is declared in the place of temporary arrays.
    """

    scop: Scop
    statement: Statement
    iterators: Mapping[str, Linear]
    index: IndexPrinter
    local_names: Mapping[str, str]
    packed: Mapping[Expr, PackedOperand] = field(default_factory=dict)
    temporaries: tuple[Temporary, ...] = ()

    def value(self, expr: Expr) -> CText:
        """The expression as a value of its C type."""
        if expr in self.packed:
            return self.panel_element(self.packed[expr])
        match expr:
            case Literal(text=text) if expr.dtype == BFLOAT16:
                return self._converted(CText(text), FLOAT32, BFLOAT16)
            case Literal(text=text):
                return CText(text, Level.UNARY if text.startswith("-") else Level.PRIMARY)
            case IteratorRef():
                return self._iterator(self.iterators[expr.name], expr.dtype)
            case ParameterRef(name=name):
                return self.index.spellings.get(name, CText(name))
            case Load() | Address():
                return self._place(expr)
            case Unary():
                return unary(expr.op, self.value(expr.operand))
            case Binary():
                return binary(expr.op, self.value(expr.left), self.value(expr.right))
            case Select():
                return conditional(self.value(expr.condition), self.value(expr.then), self.value(expr.otherwise))
            case Call():
                arguments = [self.value(a) for a in expr.arguments]
                operator = python_call(expr, arguments, self.index.macros) if self.scop.source is None else None
                return operator or call(expr.function, arguments)
            case Cast(operand=IteratorRef(name=name)) if expr.dtype == INT64:
                return self._iterator(self.iterators[name], INT64)
            case Cast():
                return self._converted(self.value(expr.operand), expr.operand.dtype, expr.dtype)

    def _place(self, expr: Load | Address) -> CText:
        if isinstance(expr, Load):
            return self.element(self.statement.access(expr.reference))
        place = unary("&", self.element(self.statement.access(expr.references[0])))
        return cast("void *", place) if expr.rows else place

    def _converted(self, value: CText, given: DType, wanted: DType) -> CText:
        """A conversion; bfloat16 is kept as its bits unless C source names the type, which not every compiler knows."""
        if self.scop.source is None and given == BFLOAT16 and wanted != BFLOAT16:
            value, given = call(self.index.macros.use("from_bfloat16"), [value]), FLOAT32
            return value if wanted == FLOAT32 else cast(wanted.c_name, value)
        if self.scop.source is None and wanted == BFLOAT16 and given != BFLOAT16:
            return call(self.index.macros.use("to_bfloat16"), [value])
        return cast(wanted.c_name, value)

    def element(self, access: Access) -> CText:
        """The array element that an access reaches."""
        operand = self.packed_access(access)
        if operand is not None:
            return self.panel_element(operand)
        temporary = next((t for t in self.temporaries if t.array == access.array), None)
        if temporary is not None:
            forms = [linear_form(s, self.iterators) for s in access.subscripts]
            if None in forms and temporary.is_whole:
                return CText(temporary.name + "".join(f"[{self.subscript(s)}]" for s in access.subscripts),
                             Level.POSTFIX)
            found = _all(forms)
            return temporary_element(temporary, temporary.subscripts(found), self.index)
        array = self.scop.array(access.array)
        return fill_element(element_template(array, len(access.subscripts), self.local_names),
                            [self.subscript(s) for s in access.subscripts])

    def packed_access(self, access: Access) -> PackedOperand | None:
        """The panel that an access alone was copied to."""
        return next((operand for value, operand in self.packed.items()
                     if isinstance(value, Load) and value.reference == access.reference), None)

    def panel_element(self, operand: PackedOperand) -> CText:
        """The element of a panel."""
        return CText(operand.name + "".join(f"[{self.index.form(form).text}]" for form in operand.subscripts),
                     Level.POSTFIX)

    def subscript(self, expr: Expr) -> CText:
        """An array subscript: linear where it can be, else the expression as written."""
        form = linear_form(expr, self.iterators)
        if form is not None:
            return self.index.form(form).text
        if all(e.dtype.kind is Kind.SIGNED for e in _without_loads(expr)):
            return self._widened(expr)
        return self.value(expr)

    def _iterator(self, form: Linear, dtype: DType) -> CText:
        """The value of an iterator, converted to the type it has in the source."""
        typed = self.index.form(form)
        if typed.dtype == dtype:
            return typed.text
        return cast(dtype.c_name, typed.text)

    def _widened(self, expr: Expr) -> CText:
        """A signed integer expression whose iterators stay `long`: the same value wherever C defines one."""
        match expr:
            case IteratorRef():
                return self.index.form(self.iterators[expr.name]).text
            case Unary():
                return unary(expr.op, self._widened(expr.operand))
            case Binary():
                form = linear_form(expr, self.iterators)
                if form is not None:
                    return self.index.form(form).text
                if expr.op in ("/", "%") and expr.dtype == INT32:   # of 64 bits they take much longer
                    return self.value(expr)
                return binary(expr.op, self._widened(expr.left), self._widened(expr.right))
            case _:
                return self.value(expr)


def temporary_element(temporary: Temporary, subscripts: tuple[Linear, ...], index: IndexPrinter) -> CText:
    """An element of a temporary's buffer."""
    return CText(temporary.name + "".join(f"[{index.form(form).text}]" for form in subscripts),
                 Level.POSTFIX if subscripts else Level.PRIMARY)


def _all(forms: list[Linear | None]) -> tuple[Linear, ...]:
    known: tuple[Linear, ...] = tuple(form for form in forms if form is not None)
    assert len(known) == len(forms), "only arrays with linear subscripts are contracted"
    return known


def element_template(array: Array, subscripts: int, local_names: Mapping[str, str]) -> str:
    """How an element is spelled: a template with one field per source subscript."""
    local = local_names.get(array.name)
    if local is not None:
        return local + "[{}]" * subscripts
    return array.c_element or array.name + "[{}]" * subscripts


def fill_element(template: str, subscripts: list[CText]) -> CText:
    """The element template with its subscripts; parentheses where a field is not between brackets."""
    pieces = _FIELD.split(template)
    text = pieces[0]
    for subscript, before, after in zip(subscripts, pieces[:-1], pieces[1:], strict=True):
        bracketed = before.endswith("[") and after.startswith("]")
        text += (subscript.code if bracketed else subscript.at(Level.PRIMARY)) + after
    simple = re.fullmatch(r"\*.*", text)
    return CText(text, Level.UNARY if simple else Level.POSTFIX)


def _without_loads(expr: Expr) -> list[Expr]:
    """The nodes of an expression whose type takes part in its integer arithmetic."""
    return [e for e in walk(expr) if not isinstance(e, Load)]
