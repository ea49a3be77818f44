"""The plain-C emulator of an instruction, generated from its text.

Parsing and printing instead of copying makes every conversion explicit and every signed addition, subtraction and
multiplication wrap through the unsigned type, so the C has no undefined behaviour and needs no compiler flag
(C11 6.5p5, 6.2.5p9).  The result is compiled below `exact_arithmetic.PRELUDE` with `-ffp-contract=off`.
"""

from __future__ import annotations

from collections.abc import Iterator

from polysched.errors import UnsupportedScopError
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
)
from polysched.scop.dtypes import DType, Kind
from polysched.tensorize.description.semantics import (
    C_NAMES,
    Item,
    Local,
    Loop,
    Semantics,
    Update,
    Variable,
    is_table_read,
    table_of,
)


def emulator_c(semantics: Semantics, *, name: str | None = None) -> str:
    """A `static` C function that does what the instruction does; operands are C arrays.

    Parameters
    ----------
    name : of the function; the text's own name when None.
    """
    parameters = [f"int {size}" for size in semantics.sizes]
    for operand in semantics.operands:
        constant = "" if operand.written or not operand.shape else "const "
        parameters.append(constant + declaration(operand))
    lines = [f"static void {name or semantics.name}({', '.join(parameters)})", "{"]
    lines += [f"    {line}" for line in _statements(semantics.body)]
    return "\n".join([*lines, "}", ""])


def body_c(semantics: Semantics) -> Iterator[str]:
    """The statements of the text, for a place where its operands are in scope."""
    return _statements(semantics.body)


def declaration(variable: Variable) -> str:
    """`int32_t C[16][16]`."""
    return f"{C_NAMES[variable.dtype.name]} {variable.name}" + "".join(f"[{e}]" for e in variable.shape)


def _statements(items: tuple[Item, ...]) -> Iterator[str]:
    for item in items:
        match item:
            case Local():
                initial = ""
                if item.value is not None:
                    text = expression_c(item.value)
                    initial = f" = {{{text}}}" if item.variable.shape else f" = {text}"
                yield f"{declaration(item.variable)}{initial};"
            case Loop():
                n, low = item.name, item.lower
                high = item.extent if item.upper is None else item.upper
                yield (f"for (int {n} = {high} - 1; {n} >= {low}; {n}--) {{" if item.descending
                       else f"for (int {n} = {low}; {n} < {high}; {n}++) {{")
                yield from (f"    {line}" for line in _statements(item.body))
                yield "}"
            case Update():
                yield f"{item.target} = ({C_NAMES[item.dtype.name]})({expression_c(item.value)});"


def expression_c(e: Expr) -> str:
    """A C11 expression with the value of `e`, free of undefined overflow."""
    match e:
        case Literal():
            return e.text
        case IteratorRef() | ParameterRef():
            return e.name
        case Load():
            return e.reference
        case Cast():
            return f"({C_NAMES[e.dtype.name]})({expression_c(e.operand)})"
        case Unary():
            return _wrapped(f"{e.op}{_as_unsigned(e.operand, e.dtype)}", e.dtype) if e.op == "-" and _wraps(e.dtype) \
                else f"{e.op}({expression_c(e.operand)})"
        case Binary():
            if e.op in ("+", "-", "*", "<<") and _wraps(e.dtype):
                right = f"({expression_c(e.right)})" if e.op == "<<" else _as_unsigned(e.right, e.dtype)
                return _wrapped(f"{_as_unsigned(e.left, e.dtype)} {e.op} {right}", e.dtype)
            return f"({expression_c(e.left)} {e.op} {expression_c(e.right)})"
        case Select():
            return f"({expression_c(e.condition)} ? {expression_c(e.then)} : {expression_c(e.otherwise)})"
        case Call():
            return _call_c(e)
        case Address():
            raise UnsupportedScopError("a description calls no function that reaches memory through a pointer",
                                       witness=", ".join(e.references))


def _call_c(e: Call) -> str:
    if is_table_read(e):
        return table_of(e) + "".join(f"[{expression_c(a)}]" for a in e.arguments)
    return f"{e.function}({', '.join(expression_c(a) for a in e.arguments)})"


def _wraps(dtype: DType) -> bool:
    return dtype.kind is Kind.SIGNED and dtype.bits >= 32


def _as_unsigned(e: Expr, dtype: DType) -> str:
    return f"(uint{dtype.bits}_t)({expression_c(e)})"


def _wrapped(text: str, dtype: DType) -> str:
    return f"(int{dtype.bits}_t)({text})"
