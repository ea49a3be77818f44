"""Statement bodies: typed expression trees and the small statements around them.

A body says *what* one statement instance computes; the Scop around it says when.  Arrays are reached
only through `Load` and `Assign.target`, which name an access of the statement by its reference; the
subscripts stand in the access.  Every expression carries the type in which C computes it, so a front
end for another language must make each conversion explicit with `Cast`.

The trees are plain frozen values: they compare and hash structurally and pickle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from polysched.records import dataclass
from polysched.scop.dtypes import DType

ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"})
ORDER = frozenset({"<", "<=", ">", ">="})
COMPARISON = ORDER | {"==", "!="}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""The comparison that holds of two values in the other order."""
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
"""The comparison of integers that holds where another does not; of floats NaN fails both."""
LOGICAL = frozenset({"&&", "||"})
UNARY = frozenset({"-", "+", "~", "!"})
OF_PARTS = "__builtin_complex"
"""A call of it is a complex number of two parts of one type, whichever that is; it cannot be declared."""


@dataclass(frozen=True)
class Literal:
    """A constant.

    Parameters
    ----------
    text : the C spelling, suffix included (`1.0f`, `0x10u`).
    value : the same as a Python number.
    dtype : the type that C gives the spelling.
    """

    text: str
    value: int | float
    dtype: DType


@dataclass(frozen=True)
class IteratorRef:
    """The value of one of the statement's own iterators, used as a number."""

    name: str
    dtype: DType


@dataclass(frozen=True)
class ParameterRef:
    """The value of a symbolic constant of the Scop (a size), used as a number."""

    name: str
    dtype: DType


@dataclass(frozen=True)
class Load:
    """The value of the array element that the access named `reference` reaches."""

    reference: str
    dtype: DType


@dataclass(frozen=True)
class Unary:
    """`op operand`, with op one of UNARY."""

    op: str
    operand: Expr
    dtype: DType

    def __post_init__(self) -> None:
        if self.op not in UNARY:
            raise ValueError(f"no unary operator {self.op!r}")


@dataclass(frozen=True)
class Binary:
    """`left op right` with the meaning of C (`/` and `%` truncate, `&&` does not evaluate its right in vain)."""

    op: str
    left: Expr
    right: Expr
    dtype: DType

    def __post_init__(self) -> None:
        if self.op not in ARITHMETIC | COMPARISON | LOGICAL:
            raise ValueError(f"no binary operator {self.op!r}")


@dataclass(frozen=True)
class Select:
    """`condition ? then : otherwise`; only the chosen side is evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr
    dtype: DType


@dataclass(frozen=True)
class Call:
    """A call of a pure function by its C name; `dtype` is the type of its result."""

    function: str
    arguments: tuple[Expr, ...]
    dtype: DType


@dataclass(frozen=True)
class Cast:
    """Conversion of a value to `dtype`, as `(T) operand` does in C."""

    operand: Expr
    dtype: DType


@dataclass(frozen=True)
class Address:
    """The address of an element, an argument through which a function reaches it and others behind it.

    Parameters
    ----------
    references : the accesses of what is reached, whose subscripts are those of the element.
    dtype : the type of an element.
    rows : the function takes a pointer to rows of elements.
    """

    references: tuple[str, ...]
    dtype: DType
    rows: bool = False


Expr: TypeAlias = Literal | IteratorRef | ParameterRef | Load | Unary | Binary | Select | Call | Cast | Address


@dataclass(frozen=True)
class Assign:
    """`target op= value`.

    Parameters
    ----------
    target : reference of the written access; its element type is `dtype`.
    value : the right-hand side.
    op : None for `=`; else an operator of ARITHMETIC: the new value is `(dtype)(old op value)`,
        computed in the common type of `dtype` and `value.dtype` (C11 6.5.16.2).
    read : reference of the access that reads the old value; None exactly when `op` is None.
    """

    target: str
    value: Expr
    dtype: DType
    op: str | None = None
    read: str | None = None

    def __post_init__(self) -> None:
        if (self.op is None) != (self.read is None):
            raise ValueError("a compound assignment names the access that reads the old value")
        if self.op is not None and self.op not in ARITHMETIC:
            raise ValueError(f"no compound assignment {self.op!r}=")


@dataclass(frozen=True)
class If:
    """A data-dependent condition inside one statement instance; its accesses are may-accesses."""

    condition: Expr
    then: tuple[BodyStatement, ...]
    otherwise: tuple[BodyStatement, ...] = ()


@dataclass(frozen=True)
class While:
    """A loop with a data-dependent condition inside one statement instance; all its writes are may-writes."""

    condition: Expr
    body: tuple[BodyStatement, ...]


@dataclass(frozen=True)
class Perform:
    """`target op= call`, or the call alone, of a function that reaches memory through pointers.

    Parameters
    ----------
    call : its arguments are values and addresses.
    target, dtype, op, read : as those of `Assign`; no target where the result is not used.
    """

    call: Call
    target: str | None = None
    dtype: DType | None = None
    op: str | None = None
    read: str | None = None


BodyStatement: TypeAlias = Assign | If | While | Perform


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands of an expression, left to right."""
    match expr:
        case Unary() | Cast():
            return (expr.operand,)
        case Binary():
            return (expr.left, expr.right)
        case Select():
            return (expr.condition, expr.then, expr.otherwise)
        case Call():
            return expr.arguments
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything below it, in pre-order."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def distinct(*expressions: Expr) -> Iterator[Expr]:
    """Every node of some expressions once, also where several places share it: as objects, not by their values."""
    seen: set[int] = set()
    left = list(reversed(expressions))
    while left:
        e = left.pop()
        if id(e) not in seen:
            seen.add(id(e))
            yield e
            left += reversed(children(e))


def written_out(expr: Expr) -> int:
    """The nodes of an expression, each as often as `walk` yields it, without going through all of them."""
    known: dict[int, int] = {}

    def of(e: Expr) -> int:
        if id(e) not in known:
            known[id(e)] = 1 + sum([of(child) for child in children(e)])
        return known[id(e)]

    return of(expr)


def rebuild(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Rewrite bottom-up: `change` sees each node after its operands were rewritten."""
    old = children(expr)
    new = tuple([rebuild(child, change) for child in old])
    if any(a is not b for a, b in zip(old, new, strict=True)):   # else the tree itself stays, uncopied
        expr = with_children(expr, new)
    return change(expr)


def rebuild_shared(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """As `rebuild`; a node that several places share is changed once, and they share what it becomes."""
    made: dict[int, Expr] = {}

    def of(e: Expr) -> Expr:
        if id(e) not in made:
            old = children(e)
            new = tuple([of(child) for child in old])
            same = all(a is b for a, b in zip(old, new, strict=True))
            made[id(e)] = change(e if same else with_children(e, new))
        return made[id(e)]

    return of(expr)


def with_children(expr: Expr, new: tuple[Expr, ...]) -> Expr:
    """The same node above other operands."""
    match expr:
        case Unary() | Cast():
            return replace(expr, operand=new[0])
        case Binary():
            return replace(expr, left=new[0], right=new[1])
        case Select():
            return replace(expr, condition=new[0], then=new[1], otherwise=new[2])
        case Call():
            return replace(expr, arguments=new)
        case _:
            return expr


def statement_expressions(body: tuple[BodyStatement, ...]) -> Iterator[Expr]:
    """The top-level expressions of a body (right-hand sides and conditions), in execution order."""
    for item in body:
        match item:
            case Assign():
                yield item.value
            case If():
                yield item.condition
                yield from statement_expressions(item.then)
                yield from statement_expressions(item.otherwise)
            case While():
                yield item.condition
                yield from statement_expressions(item.body)
            case Perform():
                yield item.call


def assignments(body: tuple[BodyStatement, ...]) -> Iterator[Assign]:
    """Every assignment of a body, in textual order; results of `Perform` are none."""
    for item in body:
        match item:
            case Assign():
                yield item
            case If():
                yield from assignments(item.then)
                yield from assignments(item.otherwise)
            case While():
                yield from assignments(item.body)


def unconditional_references(body: tuple[BodyStatement, ...]) -> Iterator[str]:
    """References of the accesses that every run of a body carries out, whatever its conditions are."""
    for item in body:
        match item:
            case Assign():
                yield from certain_loads(item.value)
                if item.read is not None:
                    yield item.read
                yield item.target
            case If() | While():
                yield from certain_loads(item.condition)
            case Perform():
                yield from certain_loads(item.call)
                yield from (r for r in (item.read, item.target) if r is not None)


def certain_loads(expr: Expr) -> Iterator[str]:
    """References of the loads that every evaluation of an expression carries out."""
    match expr:
        case Load():
            yield expr.reference
        case Binary(op=op) if op in LOGICAL:
            yield from certain_loads(expr.left)
        case Select():
            yield from certain_loads(expr.condition)
        case _:
            for child in children(expr):
                yield from certain_loads(child)


def branch_conditions(body: tuple[BodyStatement, ...]) -> Iterator[Expr]:
    """The conditions that decide what an instance computes, in execution order; not those of loops."""
    for item in body:
        match item:
            case Assign():
                yield from (e.condition for e in walk(item.value) if isinstance(e, Select))
            case If():
                yield item.condition
                yield from branch_conditions((*item.then, *item.otherwise))
            case While():
                yield from branch_conditions(item.body)


def references(body: tuple[BodyStatement, ...]) -> Iterator[str]:
    """Every access reference that a body uses, in evaluation order, repeats included."""
    for item in body:
        match item:
            case Assign():
                yield from (e.reference for e in walk(item.value) if isinstance(e, Load))
                if item.read is not None:
                    yield item.read
                yield item.target
            case If():
                yield from (e.reference for e in walk(item.condition) if isinstance(e, Load))
                yield from references(item.then)
                yield from references(item.otherwise)
            case While():
                yield from (e.reference for e in walk(item.condition) if isinstance(e, Load))
                yield from references(item.body)
            case Perform():
                yield from _performed(item)


def passed_references(body: tuple[BodyStatement, ...]) -> Iterator[str]:
    """The accesses behind the addresses that functions get: of elements that their subscripts do not name, too."""
    return (reference for top in statement_expressions(body) for e in walk(top) if isinstance(e, Address)
            for reference in e.references)


def performed_calls(body: tuple[BodyStatement, ...]) -> Iterator[Call]:
    """The calls of functions that are made for their effects."""
    for item in body:
        match item:
            case Perform():
                yield item.call
            case If():
                yield from performed_calls((*item.then, *item.otherwise))
            case While():
                yield from performed_calls(item.body)


def _performed(item: Perform) -> Iterator[str]:
    for e in walk(item.call):
        yield from (e.reference,) if isinstance(e, Load) else e.references if isinstance(e, Address) else ()
    yield from (reference for reference in (item.read, item.target) if reference is not None)
