"""How far floats of a term may be from the exact value: a bound by the number of roundings and by magnitudes.

Each operation on the way from an input to an output multiplies its contribution by `1 + d`, `|d| <= u`.  So the
computed value is that of inputs with up to `n` such factors, and `|computed - exact| <= gamma_n * M`.  `gamma_n` is
`n u / (1 - n u)`.  `M` is the term with absolute values of all inputs and constants, and sums for differences.  The
bound holds for any order of the sums, with fused multiply-adds or without, where nothing overflows or underflows.

Source: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, sections 3.1 and 3.4.
"""

from __future__ import annotations

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32, FLOAT64, DType
from polysched.scop.expression import absolute
from polysched.scop.expression.tensors import (
    Conditional,
    Constant,
    Definition,
    Expression,
    Operation,
    Read,
    Reduction,
    Tensor,
)
from polysched.search.rewriting.terms import constant_extent, stages

UNIT_ROUNDOFF: dict[DType, float] = {FLOAT32: 2.0**-24, FLOAT64: 2.0**-53}


@dataclass(frozen=True, eq=False)
class ErrorBound:
    """The bound of one term.

    Parameters
    ----------
    roundings : of a contribution to an element, at most.
    magnitude : the term that bounds what is rounded, element by element.
    """

    roundings: int
    magnitude: Tensor

    @property
    def share(self) -> float:
        """`gamma_n`: the error over the magnitude, at most."""
        rounded = self.roundings * UNIT_ROUNDOFF[self.magnitude.dtype]
        return rounded / (1 - rounded)

    def __str__(self) -> str:
        return f"at most {self.roundings} roundings: {self.share:.1e} of the magnitude"


def error_bound(output: Tensor) -> ErrorBound:
    """The bound of a term of sums, differences and products of floats.

    Raises
    ------
    UsageError : the term has another operation, another type, or a sum of a length that is not known.
    """
    counts: dict[Tensor, int] = {}
    made: dict[Tensor, Tensor] = {}
    for stage in stages(output):
        if stage.dtype not in UNIT_ROUNDOFF:
            raise UsageError(f"{stage.name} has no bound of roundings", witness=f"its type is {stage.dtype.name}")
        assert stage.definition is not None
        counts[stage] = _roundings(stage.definition.value, counts)
        made[stage] = Tensor(stage.name, stage.shape, stage.dtype, Definition(
            stage.definition.axes, _magnitude(stage.definition.value, made)))
    return ErrorBound(counts[output], made[output])


def _roundings(value: Expression, known: dict[Tensor, int]) -> int:
    match value:
        case Read():
            return known.get(value.tensor, 0)
        case Constant():
            return 1
        case Operation(op="neg"):
            return _roundings(value.arguments[0], known)
        case Operation(op="*"):
            return 1 + sum(_roundings(a, known) for a in value.arguments)
        case Operation(op="+" | "-"):
            return 1 + max(_roundings(a, known) for a in value.arguments)
        case Conditional():
            return max(_roundings(v, known) for v in (value.then, value.otherwise))
        case Reduction(kind="sum"):
            length = 1
            for axis in value.axes:
                length *= constant_extent(axis) or _unknown(axis.name)
            return length + _roundings(value.operand, known)
    raise _no_bound(value)


def _magnitude(value: Expression, made: dict[Tensor, Tensor]) -> Expression:
    match value:
        case Read():
            return Read(made[value.tensor], value.indices) if value.tensor in made else absolute(value)
        case Constant():
            return Constant(abs(value.value))
        case Operation(op="neg"):
            return _magnitude(value.arguments[0], made)
        case Operation(op="*" | "+" | "-"):
            return Operation("*" if value.op == "*" else "+", tuple(_magnitude(a, made) for a in value.arguments))
        case Conditional():
            return Conditional(value.condition, _magnitude(value.then, made), _magnitude(value.otherwise, made))
        case Reduction(kind="sum"):
            return Reduction("sum", _magnitude(value.operand, made), value.axes, value.dtype)
    raise _no_bound(value)


def _no_bound(value: Expression) -> UsageError:
    return UsageError("the term has an operation without a bound of roundings", witness=type(value).__name__,
                      hint="sums, differences and products of floats have one")


def _unknown(name: str) -> int:
    raise UsageError(f"the length of the sum over {name} is not known", hint="give its extent as a number")
