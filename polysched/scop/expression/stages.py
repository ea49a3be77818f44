"""`compute`: one stage of a tensor expression, checked and with at most one reduction, at its root."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polysched.errors import UsageError
from polysched.scop.dtypes import DType
from polysched.scop.expression.evaluation import size_of, type_of
from polysched.scop.expression.tensors import (
    Axis,
    Definition,
    Expression,
    Read,
    Reduction,
    Scalar,
    Tensor,
    as_dtype,
    as_expression,
    axis_names,
    rebuilt,
    walk,
)


def compute(shape: Sequence[Scalar], function: Callable[..., Scalar], *, name: str = "stage",
            dtype: str | DType | None = None) -> Tensor:
    """Describe a stage: every element as an expression over its indices.

    A reduction at the root becomes an initialisation and an update; one inside a larger expression
    becomes a stage of its own, over the indices that it uses.

    Parameters
    ----------
    shape : the extents; constants, symbols, or affine expressions of them.
    function : takes one index per dimension (or `*indices`) and returns the element.
    name : the array's name; made unique when the Scop is built.
    dtype : the element type; the value is converted to it.  That of the value by default.

    Raises
    ------
    UsageError : subscripts, axes or types do not fit; the message says which.
    """
    extents = tuple(as_expression(e) for e in shape)
    for extent in extents:
        size_of(extent)
    axes = tuple(Axis(n, e) for n, e in zip(axis_names(function, len(extents)), extents, strict=True))
    value = with_extents(as_expression(function(*axes)))
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is not None and type_of(value if isinstance(value, Reduction) else hoisted(value, axes, name)) != wanted:
        value = _converted(value, wanted)
    return _stage(name, axes, value)


def _converted(value: Expression, dtype: DType) -> Expression:
    if isinstance(value, Reduction) and value.kind in ("sum", "prod") and value.dtype is None:
        return Reduction(value.kind, value.operand, value.axes, dtype)
    return value.astype(dtype)


def _stage(name: str, axes: tuple[Axis, ...], value: Expression) -> Tensor:
    """A tensor over axes; reductions below the root of the value become stages before it."""
    if isinstance(value, Reduction):
        value = Reduction(value.kind, hoisted(value.operand, axes, name), value.axes, value.dtype)
    else:
        value = hoisted(value, axes, name)
    bound = {*axes, *(value.axes if isinstance(value, Reduction) else ())}
    for node in walk(value):
        if isinstance(node, Axis) and node not in bound:
            raise UsageError(f"the axis {node.name} is used in {name} without being reduced over",
                             hint=f"write sum(..., over={node.name})")
    return Tensor(name, tuple(_extent(a) for a in axes), type_of(value), Definition(axes, value))


def hoisted(value: Expression, outer: tuple[Axis, ...], name: str) -> Expression:
    """The value with every reduction in it replaced by an element of a stage that computes it."""
    def change(node: Expression) -> Expression:
        if not isinstance(node, Reduction):
            return node
        used = _axes_in(node)
        free = tuple(a for a in outer if a in used) + tuple(
            a for a in used if a not in outer and a not in node.axes)
        return Read(_stage(f"{name}_{node.kind}", free, node), free)

    return rebuilt(value, change)


def _axes_in(reduction: Reduction) -> list[Axis]:
    """Every axis that a reduction mentions, in its own extents too, in order of first use."""
    found: dict[Axis, None] = {}
    for node in walk(reduction):
        if isinstance(node, Axis):
            found.setdefault(node)
    for own in reduction.axes:
        found.update((n, None) for bound in own.bounds() for n in walk(bound) if isinstance(n, Axis))
    return list(found)


def _extent(axis: Axis) -> Expression:
    """An extent that holds every index of an axis."""
    assert axis.stop is not None
    if any(isinstance(node, Axis) for bound in axis.bounds() for node in walk(bound)):
        raise UsageError(f"the reduction over {axis.name}, whose extent depends on another axis, encloses a reduction "
                         "that needs an array over it", hint="describe the inner reduction as a stage of its own")
    return axis.stop if axis.step > 0 or axis.start is None else axis.start + 1


def with_extents(value: Expression) -> Expression:
    """The value with an extent on every axis: that of the dimensions which the axis alone subscripts."""
    missing = [a for node in walk(value) if isinstance(node, Reduction) for a in node.axes if a.stop is None]
    known = {a: Axis(a.name, _inferred_extent(a, value)) for a in missing}

    def change(node: Expression) -> Expression:
        if isinstance(node, Axis):
            return known.get(node, node)
        if isinstance(node, Reduction):
            return Reduction(node.kind, node.operand, tuple(known.get(a, a) for a in node.axes), node.dtype)
        return node

    return rebuilt(value, change) if known else value


def _inferred_extent(axis: Axis, value: Expression) -> Expression:
    candidates = [(node.tensor, d) for node in walk(value) if isinstance(node, Read)
                  for d, index in enumerate(node.indices) if index is axis]
    if not candidates:
        raise UsageError(f"the extent of the axis {axis.name} is unknown: it subscripts no dimension alone",
                         hint=f'say it: axis("{axis.name}", extent)')
    tensor, dimension = candidates[0]
    size = size_of(tensor.shape[dimension])
    for other, place in candidates[1:]:
        if not size.is_equal(size_of(other.shape[place])):
            raise UsageError(
                f"the axis {axis.name} subscripts dimensions of different extents",
                witness=f"dimension {dimension} of {tensor.name} and dimension {place} of {other.name}",
                hint=f'say which is meant: axis("{axis.name}", extent)')
    return tensor.shape[dimension]
