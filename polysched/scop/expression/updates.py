"""Updates: tensors written in place, under loops in the order that they are given.

`compute` describes what never changes.  Algorithms that overwrite what they read (a factorisation in place, a stencil
over time) are sequences of updates under loops, in the manner of Halide's update definitions and TVM's scans:

    k, i, j = axis("k", n), axis("i", k + 1, n), axis("j", k + 1, n)
    lu = build(loop(k, loop(i, update(A[i, k], A[i, k] / A[k, k]),
                               loop(j, update(A[i, j], A[i, j] - A[i, k] * A[k, j])))))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.expression.stages import with_extents
from polysched.scop.expression.tensors import (
    Axis,
    Expression,
    Operation,
    Read,
    Reduction,
    Scalar,
    Tensor,
    as_expression,
    walk,
)


@dataclass(frozen=True, eq=False)
class Update:
    """`target = value`; the value is converted to the target's type.

    Parameters
    ----------
    op : None, or the operator of `target op= value`.
    """

    target: Read
    value: Expression
    op: str | None = None


@dataclass(frozen=True, eq=False)
class Loop:
    """Steps repeated for every index of an axis, in its order."""

    axis: Axis
    body: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class When:
    """Steps where an affine condition on indices and sizes holds, others where it does not."""

    condition: Expression
    body: tuple[Step, ...]
    otherwise: tuple[Step, ...] = ()


Step: TypeAlias = "Update | Loop | When"


def update(target: Read, value: Scalar, *, op: str | None = None) -> Update:
    """Overwrite one element: `target = value`, or `target op= value`.

    Parameters
    ----------
    target : an element of an input, of a temporary, or of a stage: `A[i, j]`.
    value : may read anything, the target's tensor too; one reduction may stand at its root.
    op : `+`, `-`, `*` or `/`: the old value is combined with the new one.

    Raises
    ------
    UsageError : the target is no element of a tensor, or a reduction stands below the root or beside an `op`.
    """
    if not isinstance(target, Read):
        raise UsageError("only an element of a tensor can be updated", hint="update(A[i, j], value)")
    if op is not None and op not in ("+", "-", "*", "/"):
        raise UsageError(f"no update by the operator {op!r}", hint="one of + - * /, or none")
    expression = with_extents(as_expression(value))
    inner = list(walk(expression))[1:] if op is None else list(walk(expression))
    if any(isinstance(node, Reduction) for node in inner):
        raise UsageError(f"the update of {target.tensor.name} has a reduction inside its value",
                         hint="reduce into a temporary first, or write loop(k, update(target, operand, op='+'))")
    return Update(target, expression, op)


def loop(*axes_and_body: Axis | Step) -> Loop:
    """Repeat steps for every index of one axis or more: `loop(i, j, update(...), update(...))`.

    Raises
    ------
    UsageError : no axis, no step, an axis behind a step, or an axis without bounds.
    """
    count = next((n for n, item in enumerate(axes_and_body) if not isinstance(item, Axis)), len(axes_and_body))
    axes = [a for a in axes_and_body[:count] if isinstance(a, Axis)]
    if not axes:
        raise UsageError("a loop has no axis", hint="loop(i, j, update(...))")
    body = steps_of(axes_and_body[count:], f"the loop over {axes[-1].name}")
    for axis in axes:
        if axis.stop is None:
            raise UsageError(f"the axis {axis.name} of a loop has no bounds", hint=f'axis("{axis.name}", extent)')
    for axis in reversed(axes[1:]):
        body = (Loop(axis, body),)
    return Loop(axes[0], body)


def when(condition: Scalar, *body: Step, otherwise: Sequence[Step] = ()) -> When:
    """Steps where an affine condition holds; a condition on values belongs into `where` inside an update."""
    return When(as_expression(condition), steps_of(body, "a condition"), tuple(otherwise))


def steps_of(items: Sequence[object], where: str) -> tuple[Step, ...]:
    """The steps of a body, each checked to be one."""
    if not items:
        raise UsageError(f"{where} has no step", hint="give it updates, loops or conditions")
    for item in items:
        if not isinstance(item, (Update, Loop, When)):
            raise UsageError(f"{where} has a {type(item).__name__} among its steps",
                             hint="update(A[i, j], value), loop(k, ...) or when(condition, ...)")
    return tuple(item for item in items if isinstance(item, (Update, Loop, When)))


def expressions_of(step: Step) -> Iterator[Expression]:
    """Every expression of a step and of the steps inside it, in the order of their use."""
    match step:
        case Update():
            yield from (step.target, step.value)
        case Loop():
            yield from step.axis.bounds()
            for inner in step.body:
                yield from expressions_of(inner)
        case When():
            yield step.condition
            for inner in (*step.body, *step.otherwise):
                yield from expressions_of(inner)


def targets_of(step: Step) -> Iterator[Tensor]:
    """The tensors that a step writes."""
    if isinstance(step, Update):
        yield step.target.tensor
    else:
        for inner in step.body if isinstance(step, Loop) else (*step.body, *step.otherwise):
            yield from targets_of(inner)


def combined(step: Update) -> Expression:
    """The whole new value of an update, its operator written out."""
    return step.value if step.op is None else Operation(step.op, (step.target, step.value))
