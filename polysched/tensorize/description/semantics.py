"""Reading an instruction's scalar C text into loops, operands and assignments.

The language is a small part of C11: one function whose parameters are the operands (arrays with constant extents,
or with extents that are earlier `int` parameters), `for` loops that count by one up or down, local variables and
arrays, assignments, and the functions of `exact_arithmetic`.  Signed integer arithmetic wraps; a parameter without
`const` is written.  Shape: Exo's instructions, whose specification is a loop body (Ikarashi et al., PLDI 2022, sec. 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

from pycparser import c_ast, c_parser

from polysched.errors import SourceSyntaxError
from polysched.scop.body import Binary, Call, Cast, Expr, IteratorRef, Literal, Load, Select, Unary
from polysched.scop.dtypes import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    LONGDOUBLE,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
    promote,
    usual_conversion,
)
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS

TYPES: dict[str, DType] = {
    "int8_t": INT8, "int16_t": INT16, "int32_t": INT32, "int64_t": INT64, "int": INT32, "bf16": BFLOAT16,
    "uint8_t": UINT8, "uint16_t": UINT16, "uint32_t": UINT32, "uint64_t": UINT64, "f16": FLOAT16,
    "float": FLOAT32, "double": FLOAT64,
}
C_NAMES: dict[str, str] = {dtype.name: name for name, dtype in TYPES.items() if name != "int"} | {
    BOOL.name: "_Bool", LONGDOUBLE.name: "long double"}   # of programs only: no instruction has such operands
_PRELUDE = "".join(f"typedef int {n};\n" for n in TYPES if n not in ("int", "float", "double"))


@dataclass(frozen=True)
class Affine:
    """`sum(coefficient * iterator) + constant`, terms sorted by name, no zero coefficient."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @cached_property
    def names(self) -> frozenset[str]:
        """The iterators with a coefficient."""
        return frozenset(name for name, _ in self.terms)

    def evaluate(self, values: Mapping[str, int]) -> int:
        return self.constant + sum(c * values[n] for n, c in self.terms)

    def __str__(self) -> str:
        parts = [n if c == 1 else f"{c}*{n}" for n, c in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)


@dataclass(frozen=True)
class Element:
    """One array reference `array[s0][s1]...`; `str` is the reference that `Load` uses."""

    array: str
    subscripts: tuple[Affine, ...] = ()

    @cached_property
    def names(self) -> frozenset[str]:
        """The iterators that choose the element."""
        return frozenset().union(*(s.names for s in self.subscripts)) if self.subscripts else frozenset()

    def __str__(self) -> str:
        return self.array + "".join(f"[{s}]" for s in self.subscripts)


@dataclass(frozen=True)
class Variable:
    """An operand or a local of the text.  An extent is a number or the name of an `int` parameter."""

    name: str
    dtype: DType
    shape: tuple[int | str, ...] = ()
    written: bool = False

    @property
    def elements(self) -> int:
        """Number of elements; only for constant extents."""
        total = 1
        for extent in self.shape:
            if isinstance(extent, str):
                raise ValueError(f"{self.name}: extent {extent} is symbolic")
            total *= extent
        return total


@dataclass(frozen=True)
class Local:
    """A declaration inside the text; `value` is the initial value of every element, if there is one."""

    variable: Variable
    value: Expr | None


@dataclass(frozen=True)
class Update:
    """`target = value`; compound assignments are spelled out."""

    target: Element
    dtype: DType
    value: Expr
    elements: tuple[Element, ...]

    def element(self, reference: str) -> Element:
        """The element that a `Load` of the value reads."""
        return next(e for e in self.elements if str(e) == reference)


@dataclass(frozen=True)
class Loop:
    """`for (name = 0; name < extent; name++)`, or from the top down."""

    name: str
    extent: int | str
    descending: bool
    body: tuple[Item, ...]


Item: TypeAlias = Local | Update | Loop


@dataclass(frozen=True)
class Semantics:
    """The parsed text of one instruction or library function.

    Parameters
    ----------
    name : of the C function.
    sizes : `int` parameters, in order; only library functions have some.
    operands : the other parameters, in order.
    body : what one execution does.
    """

    name: str
    sizes: tuple[str, ...]
    operands: tuple[Variable, ...]
    body: tuple[Item, ...]

    def operand(self, name: str) -> Variable:
        """The operand of this name; KeyError when there is none."""
        for operand in self.operands:
            if operand.name == name:
                return operand
        raise KeyError(name)


@lru_cache(maxsize=512)
def parse(text: str) -> Semantics:
    """Read the scalar text of an instruction.

    Raises
    ------
    SourceSyntaxError : the text is not C, or leaves the description language; the witness is the construct.
    """
    try:
        file = c_parser.CParser().parse(_PRELUDE + text, "<semantics>")
    except c_parser.ParseError as error:
        raise SourceSyntaxError("the semantics of an intrinsic is not C", witness=str(error)) from error
    functions = [item for item in file.ext if isinstance(item, c_ast.FuncDef)]
    if len(functions) != 1:
        raise SourceSyntaxError("the semantics of an intrinsic is exactly one function",
                                witness=f"{len(functions)} functions")
    return _Reader(functions[0]).read()


def _refuse(what: str, node: c_ast.Node) -> SourceSyntaxError:
    line = getattr(node.coord, "line", 0) - _PRELUDE.count("\n") if node.coord else 0
    return SourceSyntaxError(f"the description language has no {what}", where=f"semantics line {line}",
                             witness=type(node).__name__,
                             hint="constant for loops, assignments and the functions of exact_arithmetic")


class _Reader:
    """Turns one function definition into Semantics; keeps the names in scope while it walks."""

    def __init__(self, function: c_ast.FuncDef) -> None:
        self.function = function
        self.variables: dict[str, Variable] = {}
        self.sizes: list[str] = []
        self.iterators: list[str] = []

    def read(self) -> Semantics:
        declaration = self.function.decl
        for parameter in declaration.type.args.params if declaration.type.args else ():
            variable = self.variable(parameter)
            if not variable.shape and variable.dtype == INT32 and not isinstance(parameter.type, c_ast.PtrDecl) \
                    and _type_name(parameter) == "int":
                self.sizes.append(variable.name)
            else:
                self.variables[variable.name] = variable
        operands = tuple(self.variables.values())
        body = self.items(self.function.body)
        return Semantics(declaration.name, tuple(self.sizes), operands, body)

    def variable(self, node: c_ast.Decl) -> Variable:
        shape: list[int | str] = []
        kind = node.type
        while isinstance(kind, c_ast.ArrayDecl):
            shape.append(self.extent(kind.dim))
            kind = kind.type
        if not isinstance(kind, c_ast.TypeDecl):
            raise _refuse("pointer parameter", node)
        constant = "const" in (node.quals or []) or "const" in (kind.quals or [])
        dtype = TYPES.get(_type_name(node))
        if dtype is None:
            raise _refuse(f"type {_type_name(node)}", node)
        return Variable(node.name, dtype, tuple(shape), written=bool(shape) and not constant)

    def extent(self, node: c_ast.Node) -> int | str:
        if isinstance(node, c_ast.Constant):
            return int(node.value, 0)
        if isinstance(node, c_ast.ID) and node.name in self.sizes:
            return str(node.name)
        raise _refuse("such extent", node)

    def items(self, node: c_ast.Node) -> tuple[Item, ...]:
        if isinstance(node, c_ast.Compound):
            return tuple(item for child in node.block_items or () for item in self.items(child))
        if isinstance(node, c_ast.DeclList):
            return tuple(item for child in node.decls for item in self.items(child))
        if isinstance(node, c_ast.Decl):
            variable = self.variable(node)
            self.variables[variable.name] = variable
            initial = node.init.exprs[0] if isinstance(node.init, c_ast.InitList) else node.init
            return (Local(variable, None if initial is None else self.expression(initial)),)
        if isinstance(node, c_ast.For):
            return (self.loop(node),)
        if isinstance(node, c_ast.Assignment):
            return (self.update(node),)
        raise _refuse("such statement", node)

    def loop(self, node: c_ast.For) -> Loop:
        try:
            name = node.init.decls[0].name
            start, bound, step = node.init.decls[0].init, node.cond.right, node.next.op
            descending = step == "p--"
            if descending:
                if not (isinstance(bound, c_ast.Constant) and node.cond.op == ">=" and int(bound.value) == 0):
                    raise _refuse("such loop", node)
                extent: int | str = int(start.value, 0) + 1
            else:
                if not (step == "p++" and node.cond.op == "<" and int(start.value, 0) == 0):
                    raise _refuse("such loop", node)
                extent = self.extent(bound)
        except AttributeError as error:
            raise _refuse("such loop", node) from error
        self.iterators.append(name)
        body = self.items(node.stmt)
        self.iterators.pop()
        return Loop(name, extent, descending, body)

    def update(self, node: c_ast.Assignment) -> Update:
        target, elements = self.element(node.lvalue), []
        dtype = self.variables[target.array].dtype
        value = self.expression(node.rvalue)
        if node.op != "=":
            old = Load(str(target), dtype)
            value = Binary(node.op[:-1], old, value, usual_conversion(dtype, value.dtype))
            elements.append(target)
        elements += [self.element(e) for e in _references(node.rvalue, self.variables)]
        return Update(target, dtype, value, tuple(dict.fromkeys(elements)))

    def element(self, node: c_ast.Node) -> Element:
        subscripts: list[Affine] = []
        while isinstance(node, c_ast.ArrayRef):
            subscripts.insert(0, self.affine(node.subscript))
            node = node.name
        if not isinstance(node, c_ast.ID) or node.name not in self.variables:
            raise _refuse("such element", node)
        if len(subscripts) != len(self.variables[node.name].shape):
            raise _refuse(f"partial subscript of {node.name}", node)
        return Element(node.name, tuple(subscripts))

    def affine(self, node: c_ast.Node) -> Affine:
        if isinstance(node, c_ast.Constant):
            return Affine((), int(node.value, 0))
        if isinstance(node, c_ast.ID) and node.name in self.iterators:
            return Affine(((node.name, 1),), 0)
        if isinstance(node, c_ast.BinaryOp) and node.op in "+-*":
            left, right = self.affine(node.left), self.affine(node.right)
            if node.op == "*":
                if left.terms and right.terms:
                    raise _refuse("product of iterators in a subscript", node)
                linear, factor = (left, right.constant) if left.terms else (right, left.constant)
                return _combine(linear, factor, Affine(), 0)
            return _combine(left, 1, right, 1 if node.op == "+" else -1)
        raise _refuse("such subscript", node)

    def expression(self, node: c_ast.Node) -> Expr:
        match node:
            case c_ast.Constant():
                return _literal(node)
            case c_ast.ID() if node.name in self.iterators:
                return IteratorRef(node.name, INT32)
            case c_ast.ID() | c_ast.ArrayRef():
                element = self.element(node)
                return Load(str(element), self.variables[element.array].dtype)
            case c_ast.Cast():
                dtype = TYPES.get(_type_name(node.to_type))
                if dtype is None:
                    raise _refuse(f"type {_type_name(node.to_type)}", node)
                return Cast(self.expression(node.expr), dtype)
            case c_ast.UnaryOp():
                operand = self.expression(node.expr)
                return Unary(node.op, operand, INT32 if node.op == "!" else promote(operand.dtype))
            case c_ast.BinaryOp():
                left, right = self.expression(node.left), self.expression(node.right)
                return Binary(node.op, left, right, _result(node.op, left.dtype, right.dtype))
            case c_ast.TernaryOp():
                then, other = self.expression(node.iftrue), self.expression(node.iffalse)
                return Select(self.expression(node.cond), then, other, usual_conversion(then.dtype, other.dtype))
            case c_ast.FuncCall() if node.name.name in FUNCTIONS:
                arguments = tuple(self.expression(a) for a in node.args.exprs)
                return Call(node.name.name, arguments, FUNCTIONS[node.name.name].dtype)
        raise _refuse("such expression", node)


def _result(op: str, left: DType, right: DType) -> DType:
    if op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||"):
        return INT32
    return promote(left) if op in ("<<", ">>") else usual_conversion(left, right)


def _literal(node: c_ast.Constant) -> Literal:
    if node.type in ("float", "double"):
        return Literal(node.value, float(node.value.rstrip("fF")), FLOAT32 if node.value[-1] in "fF" else FLOAT64)
    return Literal(node.value, int(node.value.rstrip("uUlL"), 0), INT32)


def _type_name(node: c_ast.Node) -> str:
    while not isinstance(node, c_ast.IdentifierType):
        node = node.type
    return " ".join(node.names)


def _combine(left: Affine, a: int, right: Affine, b: int) -> Affine:
    total: dict[str, int] = {}
    for affine, factor in ((left, a), (right, b)):
        for name, coefficient in affine.terms:
            total[name] = total.get(name, 0) + factor * coefficient
    terms = tuple(sorted((n, c) for n, c in total.items() if c))
    return Affine(terms, a * left.constant + b * right.constant)


def _references(node: c_ast.Node, variables: Mapping[str, Variable]) -> Iterator[c_ast.Node]:
    """Array references and plain variables of an expression, left to right; subscripts are not entered."""
    if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.ID) and node.name in variables):
        yield node
    elif isinstance(node, c_ast.FuncCall):
        for argument in node.args.exprs:
            yield from _references(argument, variables)
    elif not isinstance(node, c_ast.ArrayRef):
        for _, child in node.children():
            yield from _references(child, variables)
