"""Convolutions and pooling in one to three dimensions as tensor expressions.

Layouts: input `[batch, channel, x...]`, weights `[out channel, in channel per group, r...]`, and for the
transposed convolution `[in channel, out channel per group, r...]`, as PyTorch's `conv` functions have them.
Names of iterators follow the convention n, k, y, x, c, r, s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.expression.functions import max as reduce_max
from polysched.scop.expression.functions import sum as reduce_sum
from polysched.scop.expression.functions import where
from polysched.scop.expression.operators import Accumulate, of_rank, same_size, widened
from polysched.scop.expression.stages import compute
from polysched.scop.expression.tensors import Axis, Constant, Convert, Expression, Operation, Tensor, axis

Element: TypeAlias = Callable[..., Expression]

WINDOW = {1: ("s",), 2: ("r", "s"), 3: ("q", "r", "s")}


def _per_dimension(value: int | Sequence[int], rank: int, what: str, least: int) -> tuple[int, ...]:
    """One number per spatial dimension."""
    numbers = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(numbers) != rank or any(n < least for n in numbers):
        raise UsageError(f"{what} is one number per dimension, each at least {least}", witness=str(value))
    return numbers


def _window(extents: Sequence[Expression]) -> tuple[Axis, ...]:
    return tuple(axis(n, e) for n, e in zip(WINDOW[len(extents)], extents, strict=True))


def _both(conditions: Sequence[Expression]) -> Expression | None:
    result: Expression | None = None
    for condition in conditions:
        result = condition if result is None else Operation("&", (result, condition))
    return result


def padded(x: Tensor, before: Sequence[int], place: Sequence[Expression], lead: tuple[Expression, ...],
           outside: float | Expression) -> Expression:
    """The element of `x` at a place that is shifted by its padding; `outside` where there is none.

    Parameters
    ----------
    before : elements of padding in front, per spatial dimension; 0 means that the dimension is not padded.
    place : positions in the padded input.
    lead : the indices of the dimensions before the spatial ones.
    """
    own = [p - b if b else p for p, b in zip(place, before, strict=True)]
    inside = _both([c for p, b, e in zip(own, before, x.shape[len(lead):], strict=True) if b
                    for c in (p >= 0, p < e)])
    element = x[(*lead, *own)]
    return element if inside is None else where(inside, element, outside)


def convolution(x: Tensor, w: Tensor, *, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                dilation: int | Sequence[int] = 1, groups: int = 1, accumulate: Accumulate = None,
                name: str = "Y") -> Tensor:
    """A convolution (cross-correlation) in one to three dimensions.

    `Y[n, k, y, x] = sum_{c, r, s} X[n, g C/G + c, y stride + r dilation - padding, ...] W[k, c, r, s]`, where g is
    the group of output channel k.

    Parameters
    ----------
    groups : input and output channels fall into this many groups; the channel extents are then constants.
    """
    rank = x.rank - 2
    if rank not in WINDOW:
        raise UsageError(f"a convolution has 1 to 3 spatial dimensions, the input {x.name} has {rank}")
    of_rank(w, rank + 2, "the weights")
    strides = _per_dimension(stride, rank, "the stride", 1)
    pads = _per_dimension(padding, rank, "the padding", 0)
    dilations = _per_dimension(dilation, rank, "the dilation", 1)
    per_group = _channels_per_group(x, w, groups)
    extents = [(size + 2 * p - d * (window - 1) - 1) // s + 1 for size, window, s, p, d in
               zip(x.shape[2:], w.shape[2:], strides, pads, dilations, strict=True)]
    c, window = axis("c", w.shape[1]), _window(w.shape[2:])

    def element(n: Axis, k: Axis, *place: Axis) -> Expression:
        channel: Expression = c if per_group is None else (k // per_group) * w.shape[1] + c
        steps = zip(place, strides, window, dilations, strict=True)
        value = padded(x, pads, [_scaled(p, s) + _scaled(r, d) for p, s, r, d in steps], (n, channel), 0)
        return reduce_sum(widened(value, accumulate) * widened(w[(k, c, *window)], accumulate), over=(c, *window))
    return compute((x.shape[0], w.shape[0], *extents), _named(element, rank), name=name)


def _scaled(index: Expression, factor: int) -> Expression:
    return index if factor == 1 else index * factor


def _named(element: Element, rank: int) -> Callable[..., Expression]:
    """The element's function with the spatial indices under their usual names."""
    if rank == 1:
        return lambda n, k, x: element(n, k, x)
    if rank == 2:
        return lambda n, k, y, x: element(n, k, y, x)
    return lambda n, k, z, y, x: element(n, k, z, y, x)


def _channels_per_group(x: Tensor, w: Tensor, groups: int) -> int | None:
    """Output channels of one group; None without groups."""
    if groups == 1:
        same_size(x.shape[1], w.shape[1], "the channels of the input and of the weights")
        return None
    inputs, per_group, outputs = x.shape[1], w.shape[1], w.shape[0]
    if not all(isinstance(e, Constant) for e in (inputs, per_group, outputs)):
        raise UsageError("a grouped convolution needs constant channel extents",
                         hint="the group of a channel is a quotient by a constant")
    assert isinstance(inputs, Constant)
    assert isinstance(per_group, Constant)
    assert isinstance(outputs, Constant)
    if groups < 1 or inputs.value != per_group.value * groups or int(outputs.value) % groups:
        raise UsageError(f"{groups} groups do not divide the channels",
                         witness=f"{inputs.value} in, {per_group.value} per group, {outputs.value} out")
    return int(outputs.value) // groups


def depthwise_convolution(x: Tensor, w: Tensor, *, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                          dilation: int | Sequence[int] = 1, accumulate: Accumulate = None, name: str = "Y") -> Tensor:
    """A convolution of each channel with a window of its own; weights `[channel, r...]`, channels may be symbolic."""
    rank = x.rank - 2
    if rank not in WINDOW:
        raise UsageError(f"a convolution has 1 to 3 spatial dimensions, the input {x.name} has {rank}")
    of_rank(w, rank + 1, "the weights of a depthwise convolution")
    same_size(x.shape[1], w.shape[0], "the channels of the input and of the weights")
    strides = _per_dimension(stride, rank, "the stride", 1)
    pads = _per_dimension(padding, rank, "the padding", 0)
    dilations = _per_dimension(dilation, rank, "the dilation", 1)
    extents = [(size + 2 * p - d * (window - 1) - 1) // s + 1 for size, window, s, p, d in
               zip(x.shape[2:], w.shape[1:], strides, pads, dilations, strict=True)]
    window = _window(w.shape[1:])

    def element(n: Axis, c: Axis, *place: Axis) -> Expression:
        steps = zip(place, strides, window, dilations, strict=True)
        value = padded(x, pads, [_scaled(p, s) + _scaled(r, d) for p, s, r, d in steps], (n, c), 0)
        return reduce_sum(widened(value, accumulate) * widened(w[(c, *window)], accumulate), over=window)
    return compute((x.shape[0], x.shape[1], *extents), _named(element, rank), name=name)


def transposed_convolution(x: Tensor, w: Tensor, *, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                           output_padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1,
                           accumulate: Accumulate = None, name: str = "Y") -> Tensor:
    """The transposed convolution, gathered: every output element sums the inputs that reach it.

    `Y[n, k, y, x] = sum_{c, r, s} X[n, c, (y + padding - r dilation) / stride, ...] W[c, k, r, s]` over the r and s for
    which the quotient is whole and inside the input.
    """
    rank = x.rank - 2
    if rank not in WINDOW:
        raise UsageError(f"a convolution has 1 to 3 spatial dimensions, the input {x.name} has {rank}")
    of_rank(w, rank + 2, "the weights")
    same_size(x.shape[1], w.shape[0], "the channels of the input and of the weights")
    strides = _per_dimension(stride, rank, "the stride", 1)
    pads = _per_dimension(padding, rank, "the padding", 0)
    dilations = _per_dimension(dilation, rank, "the dilation", 1)
    extra = _per_dimension(output_padding, rank, "the output padding", 0)
    extents = [(size - 1) * s - 2 * p + d * (window - 1) + o + 1 for size, window, s, p, d, o in
               zip(x.shape[2:], w.shape[2:], strides, pads, dilations, extra, strict=True)]
    c, window = axis("c", w.shape[0]), _window(w.shape[2:])

    def element(n: Axis, k: Axis, *place: Axis) -> Expression:
        numerators = [p + q - _scaled(r, d) for p, q, r, d in zip(place, pads, window, dilations, strict=True)]
        conditions: list[Expression] = []
        for numerator, s, size in zip(numerators, strides, x.shape[2:], strict=True):
            conditions += [numerator >= 0, numerator < size * s]
            if s > 1:
                conditions.append(Operation("==", (numerator % s, Constant(0))))
        reached = _both(conditions)
        assert reached is not None
        sources = [m // s if s > 1 else m for m, s in zip(numerators, strides, strict=True)]
        value = where(reached, x[(n, c, *sources)], 0)
        return reduce_sum(widened(value, accumulate) * widened(w[(c, k, *window)], accumulate), over=(c, *window))
    return compute((x.shape[0], w.shape[1], *extents), _named(element, rank), name=name)


@dataclass(frozen=True, eq=False)
class _Pooling:
    """The windows of a pooling over an input, and the shape of what comes out."""

    x: Tensor
    window: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    axes: tuple[Axis, ...]
    shape: tuple[Expression, ...]

    def element(self, reduce: Callable[[Expression], Expression], outside: float | Expression) -> Element:
        """The function of a stage that reduces the window at its place."""
        def value(n: Axis, c: Axis, *place: Axis) -> Expression:
            places = [_scaled(p, s) + r for p, s, r in zip(place, self.strides, self.axes, strict=True)]
            return reduce(padded(self.x, self.pads, places, (n, c), outside))
        return _named(value, len(self.window))


def _pooling(x: Tensor, window: int | Sequence[int], stride: int | Sequence[int] | None,
             padding: int | Sequence[int]) -> _Pooling:
    rank = x.rank - 2
    if rank not in WINDOW:
        raise UsageError(f"pooling has 1 to 3 spatial dimensions, the input {x.name} has {rank}")
    windows = _per_dimension(window, rank, "the window", 1)
    strides = windows if stride is None else _per_dimension(stride, rank, "the stride", 1)
    pads = _per_dimension(padding, rank, "the padding", 0)
    extents = tuple((size + (2 * p - w)) // s + 1 for size, w, s, p in
                    zip(x.shape[2:], windows, strides, pads, strict=True))
    return _Pooling(x, windows, strides, pads, _window([Constant(w) for w in windows]), (*x.shape[:2], *extents))


def max_pool(x: Tensor, window: int | Sequence[int], *, stride: int | Sequence[int] | None = None,
             padding: int | Sequence[int] = 0, name: str = "Y") -> Tensor:
    """The largest element of each window; padding never wins."""
    pool = _pooling(x, window, stride, padding)
    least = float("-inf") if x.dtype.is_float else x.dtype.value_range()[0]
    outside = Convert(Constant(least), x.dtype)
    return compute(pool.shape, pool.element(lambda value: reduce_max(value, over=pool.axes), outside), name=name)


def average_pool(x: Tensor, window: int | Sequence[int], *, stride: int | Sequence[int] | None = None,
                 padding: int | Sequence[int] = 0, name: str = "Y") -> Tensor:
    """The mean of each window; padding counts as zeros."""
    pool = _pooling(x, window, stride, padding)
    size = math.prod(pool.window)
    total = compute(pool.shape, pool.element(lambda value: reduce_sum(value, over=pool.axes), 0), name=f"{name}_sum")
    return compute(pool.shape, lambda *i: total[i] / size, name=name)
