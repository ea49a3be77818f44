"""Matrix products, `einsum` and reductions of NumPy as pending reductions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from polysched.scop.construction import values
from polysched.scop.construction.promotion import promote_types, sum_type
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BOOL, INT64, DType
from polysched.scop.python_frontend.operands import (
    ONE,
    ZERO,
    ArrayValue,
    Indices,
    Pending,
    broadcast_shape,
    is_one,
    same_extent,
    stretched,
)


def matrix_product(region: Region, left: ArrayValue, right: ArrayValue) -> Pending:
    """`left @ right` as NumPy has it: vectors, matrices, and stacks of matrices, which broadcast.

    Raises
    ------
    CannotExpress : a scalar operand, or inner extents that are never equal.
    """
    if not left.shape or not right.shape:
        raise CannotExpress("`@` of a scalar", "use `*`")
    depth = left.shape[-1]
    other_depth = right.shape[-2] if len(right.shape) > 1 else right.shape[0]
    if not same_extent(region, depth, other_depth):
        raise CannotExpress("the inner extents of the product differ")
    stack = broadcast_shape(region, [left.shape[:-2], right.shape[:-2]])
    rows = left.shape[-2:-1]
    columns = right.shape[-1:] if len(right.shape) > 1 else ()
    dtype = promote_types(left.dtype, right.dtype)

    def element(out: Indices, inner: Indices) -> Value:
        batch, place = out[:len(stack)], out[len(stack):]
        row, column = place[:len(rows)], place[len(rows):]
        a = left.element((*stretched(batch, left.shape[:-2]), *row, inner[0]))
        b = right.element((*stretched(batch, right.shape[:-2]), inner[0], *column))
        return values.arithmetic("*", a, b)
    return Pending("sum", (*stack, *rows, *columns), (depth,), dtype, element, left.sources | right.sources)


def einsum(region: Region, subscripts: str, operands: Sequence[ArrayValue]) -> Pending | ArrayValue:
    """`numpy.einsum` with literal subscripts, explicit or implicit.

    Raises
    ------
    CannotExpress : subscripts that do not fit the operands, or an ellipsis.
    """
    inputs, output = _einsum_letters(subscripts, operands)
    extents = _einsum_extents(region, subscripts, inputs, operands)
    if any(c not in extents for c in output) or len(set(output)) != len(output):
        raise CannotExpress(f"the output of {subscripts!r} has a letter that no operand has, or one twice")
    reduced = [c for c in dict.fromkeys("".join(inputs)) if c not in output]
    dtype = reduce(promote_types, (o.dtype for o in operands))

    def element(out: Indices, inner: Indices) -> Value:
        place = dict(zip(output, out, strict=True)) | dict(zip(reduced, inner, strict=True))
        factors = [o.element(stretched(tuple(place[c] for c in letters), o.shape))
                   for letters, o in zip(inputs, operands, strict=True)]
        return values.cast(reduce(partial(values.arithmetic, "*"), factors), dtype)
    shape = tuple(extents[c] for c in output)
    sources = frozenset[str]().union(*(o.sources for o in operands))
    if not reduced:
        return ArrayValue(shape, dtype, lambda out: element(out, ()), sources)
    return Pending("sum", shape, tuple(extents[c] for c in reduced), dtype, element, sources)


def _einsum_letters(subscripts: str, operands: Sequence[ArrayValue]) -> tuple[list[str], str]:
    """The letters of every operand and of the output: those that stand once, in order, where no arrow says it.

    Raises
    ------
    CannotExpress : subscripts that do not fit the operands, or an ellipsis.
    """
    text = subscripts.replace(" ", "")
    if "." in text:
        raise CannotExpress("an ellipsis in the subscripts of einsum", "write a letter per dimension")
    inputs_text, arrow, output = text.partition("->")
    inputs = inputs_text.split(",")
    if len(inputs) != len(operands) or any(len(i) != len(o.shape) for i, o in zip(inputs, operands, strict=False)):
        raise CannotExpress(f"the subscripts {subscripts!r} do not fit the operands",
                            "one letter per dimension, one group per operand")
    if not arrow:
        output = "".join(sorted(c for c in set(inputs_text) - {","} if inputs_text.count(c) == 1))
    return inputs, output


def _einsum_extents(region: Region, subscripts: str, inputs: Sequence[str],
                    operands: Sequence[ArrayValue]) -> dict[str, Value]:
    """The extent of every letter; one stretches to the extents of other operands.

    Raises
    ------
    CannotExpress : a letter has extents that are never equal.
    """
    extents: dict[str, Value] = {}
    for letters, operand in zip(inputs, operands, strict=True):
        for letter, extent in zip(letters, operand.shape, strict=True):
            known = extents.setdefault(letter, extent)
            if is_one(known):
                extents[letter] = extent
            elif not is_one(extent) and not same_extent(region, known, extent):
                raise CannotExpress(f"the extents of {letter} in {subscripts!r} differ")
    return extents


def result_dtype(kind: str, dtype: DType) -> DType:
    """The type of NumPy's reduction over elements of a type."""
    if kind in ("argmax", "argmin"):
        return INT64
    if kind in ("sum", "prod"):
        return sum_type(dtype)
    return dtype


def _reduced_axes(rank: int, axes: tuple[int, ...] | None) -> tuple[int, ...]:
    """The axes counted from the front; all of them where none is said.

    Raises
    ------
    CannotExpress : the array does not have one, or one is said twice.
    """
    chosen = tuple(range(rank)) if axes is None else tuple(a + rank if a < 0 else a for a in axes)
    if any(not 0 <= a < rank for a in chosen) or len(set(chosen)) != len(chosen):
        raise CannotExpress(f"the array has no axis {axes}: it has {rank} dimensions")
    return chosen


def _require_elements(region: Region, kind: str, extents: Sequence[Value]) -> None:
    """Take for granted that what a reduction without a neutral element runs over is not empty.

    Raises
    ------
    CannotExpress : it always is.
    """
    for value in extents:
        extent = value.affine
        assert extent is not None
        if not region.require(extent.ge_set(values.affine_constant(1)), kind="shapes",
                              text=f"{kind} is not taken over nothing"):
            raise CannotExpress(f"{kind} over an empty array")


def reduction(region: Region, kind: str, operand: ArrayValue, *, axes: tuple[int, ...] | None = None,
              keepdims: bool = False, dtype: DType | None = None) -> Pending:
    """A reduction of NumPy over some axes of an array, or over all.

    Raises
    ------
    CannotExpress : an axis that the array does not have; a maximum over what is always empty.
    """
    rank = len(operand.shape)
    chosen = _reduced_axes(rank, axes)
    if kind not in ("sum", "prod"):
        _require_elements(region, kind, [operand.shape[a] for a in chosen])
    kept = [d for d in range(rank) if d not in chosen]
    shape = tuple(ONE if d in chosen else operand.shape[d] for d in range(rank)) if keepdims else tuple(
        operand.shape[d] for d in kept)

    def element(out: Indices, inner: Indices) -> Value:
        place: list[Value] = [ZERO] * rank
        for position, d in enumerate(chosen):
            place[d] = inner[position]
        for position, d in enumerate(kept):
            place[d] = out[d if keepdims else position]
        value = operand.element(tuple(place))
        return values.cast(value, INT64) if value.dtype == BOOL and kind in ("sum", "prod") else value
    return Pending(kind, shape, tuple(operand.shape[d] for d in chosen), dtype or result_dtype(kind, operand.dtype),
                   element, operand.sources)
