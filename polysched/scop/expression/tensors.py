"""The language of tensor expressions: tensors, axes, scalar expressions over them, and `compute`.

In the manner of TVM's tensor expressions and Halide's Funcs: a stage gives every element of a tensor as an
expression over the element's indices, and stages read earlier ones.

    M, N, K = symbols("M N K")
    A, B = placeholder("A", (M, K), "float32"), placeholder("B", (K, N), "float32")
    k = axis("k")
    C = compute((M, N), lambda i, j: sum(A[i, k] * B[k, j], over=k), name="C")

Types follow NumPy: a Python number takes the type of what it meets, two types meet as `numpy.promote_types`
says, `.astype` converts.  Nothing is computed here: a stage is a frozen tree until `build` makes its Scop.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import TypeAlias

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.dtypes import BY_NAME, DType

Scalar: TypeAlias = "Expression | int | float | bool"


@dataclass(frozen=True, eq=False)
class Expression:
    """A scalar expression; Python's operators build bigger ones.

    `==` compares identity, as for any value that hashes: use `equal` and `not_equal`.
    """

    def __add__(self, other: Scalar) -> Operation:
        return Operation("+", (self, as_expression(other)))

    def __radd__(self, other: Scalar) -> Operation:
        return Operation("+", (as_expression(other), self))

    def __sub__(self, other: Scalar) -> Operation:
        return Operation("-", (self, as_expression(other)))

    def __rsub__(self, other: Scalar) -> Operation:
        return Operation("-", (as_expression(other), self))

    def __mul__(self, other: Scalar) -> Operation:
        return Operation("*", (self, as_expression(other)))

    def __rmul__(self, other: Scalar) -> Operation:
        return Operation("*", (as_expression(other), self))

    def __truediv__(self, other: Scalar) -> Operation:
        return Operation("/", (self, as_expression(other)))

    def __rtruediv__(self, other: Scalar) -> Operation:
        return Operation("/", (as_expression(other), self))

    def __floordiv__(self, other: Scalar) -> Operation:
        return Operation("//", (self, as_expression(other)))

    def __rfloordiv__(self, other: Scalar) -> Operation:
        return Operation("//", (as_expression(other), self))

    def __mod__(self, other: Scalar) -> Operation:
        return Operation("%", (self, as_expression(other)))

    def __rmod__(self, other: Scalar) -> Operation:
        return Operation("%", (as_expression(other), self))

    def __pow__(self, other: Scalar) -> Operation:
        return Operation("**", (self, as_expression(other)))

    def __neg__(self) -> Operation:
        return Operation("neg", (self,))

    def __lt__(self, other: Scalar) -> Operation:
        return Operation("<", (self, as_expression(other)))

    def __le__(self, other: Scalar) -> Operation:
        return Operation("<=", (self, as_expression(other)))

    def __gt__(self, other: Scalar) -> Operation:
        return Operation(">", (self, as_expression(other)))

    def __ge__(self, other: Scalar) -> Operation:
        return Operation(">=", (self, as_expression(other)))

    def __and__(self, other: Scalar) -> Operation:
        return Operation("&", (self, as_expression(other)))

    def __or__(self, other: Scalar) -> Operation:
        return Operation("|", (self, as_expression(other)))

    def __xor__(self, other: Scalar) -> Operation:
        return Operation("^", (self, as_expression(other)))

    def __lshift__(self, other: Scalar) -> Operation:
        return Operation("<<", (self, as_expression(other)))

    def __rshift__(self, other: Scalar) -> Operation:
        return Operation(">>", (self, as_expression(other)))

    def __invert__(self) -> Operation:
        return Operation("~", (self,))

    def __bool__(self) -> bool:
        raise UsageError("an expression has no truth value while the stage is being described",
                         hint="use where(condition, a, b), and & | ~ instead of and, or, not")

    def astype(self, dtype: str | DType) -> Convert:
        """The value converted to another element type."""
        return Convert(self, as_dtype(dtype))

    def operands(self) -> tuple[Expression, ...]:
        """The direct sub-expressions."""
        return ()


@dataclass(frozen=True, eq=False)
class Constant(Expression):
    """A Python number: takes the type of what it meets."""

    value: int | float | bool


@dataclass(frozen=True, eq=False)
class Symbol(Expression):
    """A size that is not known yet: a parameter of the Scop."""

    name: str


@dataclass(frozen=True, eq=False)
class Axis(Expression):
    """An index that runs over `range(start, stop, step)`: of an element, of a reduction, or of a loop.

    Parameters
    ----------
    name : the iterator's name.
    stop : None when it is the extent of the dimension which the axis alone subscripts.
    start : the first index; 0 when None.
    step : a constant but 0; a negative one counts down.
    """

    name: str
    stop: Expression | None = None
    start: Expression | None = None
    step: int = 1

    def bounds(self) -> tuple[Expression, ...]:
        """The expressions that bound the axis."""
        return tuple(b for b in (self.start, self.stop) if b is not None)

    def is_plain(self) -> bool:
        """Whether the axis counts from 0 in steps of 1."""
        return self.start is None and self.step == 1


@dataclass(frozen=True, eq=False)
class Operation(Expression):
    """An operator of Python on one or two operands."""

    op: str
    arguments: tuple[Expression, ...]

    def operands(self) -> tuple[Expression, ...]:
        return self.arguments


@dataclass(frozen=True, eq=False)
class Function(Expression):
    """A function of math.h, `abs`, or an elementwise `minimum` or `maximum`."""

    name: str
    arguments: tuple[Expression, ...]

    def operands(self) -> tuple[Expression, ...]:
        return self.arguments


@dataclass(frozen=True, eq=False)
class Convert(Expression):
    """Conversion to an element type."""

    operand: Expression
    dtype: DType

    def operands(self) -> tuple[Expression, ...]:
        return (self.operand,)


@dataclass(frozen=True, eq=False)
class Conditional(Expression):
    """`then` where the condition holds, else `otherwise`; only the chosen side is read."""

    condition: Expression
    then: Expression
    otherwise: Expression

    def operands(self) -> tuple[Expression, ...]:
        return (self.condition, self.then, self.otherwise)


@dataclass(frozen=True, eq=False)
class Read(Expression):
    """One element of a tensor."""

    tensor: Tensor
    indices: tuple[Expression, ...]

    def operands(self) -> tuple[Expression, ...]:
        return self.indices


NAN_WINS = {"maximum": "max", "minimum": "min", "argmaximum": "argmax", "argminimum": "argmin"}
"""Reductions in which NaN is beyond all numbers, and those of the numbers alone."""


@dataclass(frozen=True, eq=False)
class Reduction(Expression):
    """A reduction over axes: `sum`, `prod`, `max`, `min`, `argmax` or `argmin`, or one of `NAN_WINS`."""

    kind: str
    operand: Expression
    axes: tuple[Axis, ...]
    dtype: DType | None = None

    def operands(self) -> tuple[Expression, ...]:
        return (self.operand,)


@dataclass(frozen=True, eq=False)
class Definition:
    """How the elements of a stage are computed: `value` over `axes`, one axis per dimension."""

    axes: tuple[Axis, ...]
    value: Expression


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor: an input (no definition) or the result of a stage.

    Parameters
    ----------
    name : the array's name.
    shape : extents, constants or expressions over symbols.
    dtype : the element type.
    definition : how its elements are computed; None for an input.
    temporary : a local array of the program, that updates write and read.
    """

    name: str
    shape: tuple[Expression, ...]
    dtype: DType
    definition: Definition | None = field(default=None, repr=False)
    temporary: bool = False

    def __getitem__(self, indices: Scalar | tuple[Scalar, ...]) -> Read:
        given = indices if isinstance(indices, tuple) else (indices,)
        if len(given) != len(self.shape):
            raise UsageError(f"{self.name} has {len(self.shape)} dimensions and is subscripted with {len(given)}")
        return Read(self, tuple(as_expression(i) for i in given))

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


def as_expression(value: Scalar) -> Expression:
    """An expression as it is, a number as a constant."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, (bool, int, float)):
        return Constant(value)
    raise UsageError(f"{type(value).__name__} is no scalar expression",
                     hint="subscript a tensor to read an element of it: A[i, j]")


def as_dtype(dtype: str | DType) -> DType:
    """An element type by its name."""
    if isinstance(dtype, DType):
        return dtype
    if dtype not in BY_NAME:
        raise UsageError(f"no element type is called {dtype}", hint=f"known are {', '.join(sorted(BY_NAME))}")
    return BY_NAME[dtype]


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything below it, in pre-order; definitions of tensors that are read are not entered."""
    yield expression
    for operand in expression.operands():
        yield from walk(operand)


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Rewrite bottom-up: `change` sees each node after its operands were rewritten."""
    def below(operand: Expression) -> Expression:
        return rebuilt(operand, change)

    match expression:
        case Operation():
            expression = Operation(expression.op, tuple(map(below, expression.arguments)))
        case Function():
            expression = Function(expression.name, tuple(map(below, expression.arguments)))
        case Convert():
            expression = Convert(below(expression.operand), expression.dtype)
        case Conditional():
            expression = Conditional(*map(below, expression.operands()))
        case Read():
            expression = Read(expression.tensor, tuple(map(below, expression.indices)))
        case Reduction():
            expression = Reduction(expression.kind, below(expression.operand), expression.axes, expression.dtype)
        case _:
            pass
    return change(expression)


def symbols(names: str) -> tuple[Symbol, ...]:
    """Symbolic sizes, by their names with spaces or commas between."""
    return tuple(Symbol(name) for name in names.replace(",", " ").split())


def axis(name: str, *bounds: Scalar) -> Axis:
    """An axis to reduce or to loop over, with the bounds of Python's `range`.

    `axis("k", stop)`, `axis("k", start, stop)` or `axis("k", start, stop, step)`; without bounds it takes the extent
    of the dimension which it alone subscripts.

    Raises
    ------
    UsageError : more than three bounds, or a step that is no constant or 0.
    """
    match bounds:
        case ():
            return Axis(name)
        case (stop,):
            return Axis(name, as_expression(stop))
        case (start, stop):
            return Axis(name, as_expression(stop), as_expression(start))
        case (start, stop, step) if isinstance(step, int) and step != 0:
            return Axis(name, as_expression(stop), as_expression(start), step)
        case (_, _, step):
            raise UsageError(f"the step of the axis {name} is {step!r}, not a constant but 0")
    raise UsageError(f"the axis {name} has {len(bounds)} bounds",
                     hint="axis(name, start, stop, step), as range has them")


def placeholder(name: str, shape: Sequence[Scalar], dtype: str | DType = "float32") -> Tensor:
    """An input tensor."""
    return Tensor(name, tuple(as_expression(e) for e in shape), as_dtype(dtype))


def temporary(name: str, shape: Sequence[Scalar] = (), dtype: str | DType = "float32") -> Tensor:
    """A local tensor that updates write before they read it; without a shape, a local variable: `s[()]`."""
    return Tensor(name, tuple(as_expression(e) for e in shape), as_dtype(dtype), temporary=True)


def scalar(name: str, dtype: str | DType = "float32") -> Read:
    """An input scalar, passed by value."""
    return placeholder(name, (), dtype)[()]


def axis_names(function: Callable[..., Scalar], rank: int) -> tuple[str, ...]:
    """What a stage's function calls its indices; `i0`, `i1`, ... when it takes them with a star."""
    parameters = list(inspect.signature(function).parameters.values())
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        named = [p.name for p in parameters if p.kind is not inspect.Parameter.VAR_POSITIONAL]
        return tuple(named + [f"i{d}" for d in range(len(named), rank)])
    if len(parameters) != rank:
        raise UsageError(f"the stage has {rank} dimensions and its function takes {len(parameters)} indices")
    return tuple(p.name for p in parameters)
