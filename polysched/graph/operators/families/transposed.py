"""Transposed convolutions: what a convolution's gradient by its data is, with padding cut off at both ends.

Weights: `[in channel, out channel per group, r...]`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.operators.windows import per_dimension, zero
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.expression import Expression, Tensor, axis, compute, where
from polysched.scop.expression import sum as sum_of

Numbers = tuple[int, ...]


def _numbers(site: Site, name: str, default: Numbers) -> Numbers:
    """An attribute of as many numbers as its default has."""
    found = tuple(site.attribute(name, default))
    if len(found) != len(default):
        raise site.refusal(f"the attribute {name} has {len(default)} numbers", name, witness=str(found),
                           hint=f"give {len(default)} numbers")
    return found


def transposed_windows(site: Site) -> tuple[Numbers, Numbers, Numbers, Numbers, tuple[Size, ...]]:
    """Window, strides, dilations, padding in front, and extents of the result of a transposed convolution."""
    x, w = site.type(0), site.type(1)
    rank = x.rank - 2
    size = tuple(int(e) for e in w.shape[2:])
    strides, dilations = per_dimension(site, "strides", rank), per_dimension(site, "dilations", rank)
    extra = _numbers(site, "output_padding", (0,) * rank)
    wanted = tuple(map(Size.of, _numbers(site, "output_shape", (0,) * rank)))
    pads = _numbers(site, "pads", (0,) * (2 * rank))
    full = [(e - 1) * s + d * (k - 1) + 1 + o for e, s, d, k, o in zip(
        x.shape[2:], strides, dilations, size, extra, strict=True)]
    mode, asked = site.attribute("auto_pad", "NOTSET"), site.attribute("output_shape") is not None
    if not asked and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted, asked = tuple(e * s for e, s in zip(x.shape[2:], strides, strict=True)), True
    if asked:
        total = [max(int(f - o), 0) for f, o in zip(full, wanted, strict=True)]
        front = tuple(t // 2 if mode == "SAME_UPPER" else t - t // 2 for t in total)
        return size, strides, dilations, front, wanted
    pads = pads if mode in ("NOTSET", "") else (0,) * (2 * rank)
    shape = tuple(f - b - a for f, b, a in zip(full, pads[:rank], pads[rank:], strict=True))
    if any(e.is_constant and e.constant < 0 for e in shape):
        raise site.refusal("more padding is cut off than the result has", "pads", witness=str(x),
                           hint="give smaller pads, or a larger output_padding")
    return size, strides, dilations, pads[:rank], shape


def _transposed_types(site: Site) -> tuple[TensorType, ...]:
    x, w, groups = site.type(0), site.type(1), site.attribute("group", 1)
    dtype = one_type(site, range(len(site.inputs)))
    if x.rank < 3 or w.rank != x.rank or groups < 1 or w.shape[0] != x.shape[1] or int(w.shape[0]) % groups:
        raise site.refusal("data and weights do not fit together", (0, 1), witness=f"{x} and {w} in {groups} groups",
                           hint="data have batch, channels and space; weights have the data's channels, output "
                                "channels over group, and space")
    if not w.shape[1].is_constant:
        raise site.refusal("the number of output channels is open", 1, witness=str(w), hint="fix the size by sizes=")
    if tuple(site.attribute("kernel_shape", size := tuple(map(int, w.shape[2:])))) != size:
        raise site.refusal("kernel_shape is not that of the weights", "kernel_shape", witness=str(w),
                           hint=f"leave it out, or give {list(size)}")
    if site.has(2) and site.type(2).shape != (w.shape[1] * groups,):
        raise site.refusal("a bias per output channel is wanted", 2, witness=str(site.type(2)),
                           hint=f"give it {w.shape[1] * groups} numbers, one per output channel")
    return (TensorType(dtype, (x.shape[0], w.shape[1] * groups, *transposed_windows(site)[4])),)


def _transposed_conv(site: Site, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    own, weights, groups = site.type(), site.type(1), site.attribute("group", 1)
    size, strides, dilations, front, _extents = transposed_windows(site)
    inputs, outputs = int(own.shape[1]) // groups, int(weights.shape[1])
    c = axis("c", inputs)
    r = tuple(axis(f"r{d}", s) for d, s in enumerate(size))

    def element(n: Expression, k: Expression, *i: Expression) -> Expression:
        reached: Expression | None = None
        places: list[Expression] = []
        for p, q, s, d, f, e in zip(i, r, strides, dilations, front, own.shape[2:], strict=True):
            from_front = p + f - (q if d == 1 else q * d)
            condition = (from_front >= 0) & (from_front < extent_of(e) * s)
            if s > 1:
                condition = condition & ((from_front - (from_front // s) * s) < 1)
            reached = condition if reached is None else reached & condition
            places.append(from_front // s if s > 1 else from_front)
        channel = c if groups == 1 else (k // outputs) * inputs + c
        out = k if groups == 1 else k - (k // outputs) * outputs
        assert reached is not None
        return sum_of(where(reached, x[(n, channel, *places)], zero(own.dtype)) * w[(channel, out, *r)], over=(c, *r))
    shape = [extent_of(e) for e in site.output.shape]
    total = compute(shape, element, name="y" if bias is None else "total")
    return total if bias is None else compute(shape, lambda *i: total[i] + bias[i[1]], name="y")


def _np_transposed(site: Site, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    size, strides, dilations, front, extents = transposed_windows(site)
    groups, outputs = site.attribute("group", 1), w.shape[1]
    inputs = x.shape[1] // groups
    result = np.zeros((x.shape[0], outputs * groups, *(int(e) for e in extents)), np.float64)
    for place in itertools.product(*(range(e) for e in x.shape[2:])):
        for r in itertools.product(*(range(k) for k in size)):
            target = tuple(p * s + q * d - f for p, q, s, d, f in zip(place, r, strides, dilations, front, strict=True))
            if any(not 0 <= t < e for t, e in zip(target, result.shape[2:], strict=True)):
                continue
            for g in range(groups):
                own: Any = slice(g * inputs, (g + 1) * inputs)
                made: Any = (slice(None), slice(g * outputs, (g + 1) * outputs), *target)
                taken: Any = (slice(None), own, *place)
                weight: Any = (own, slice(None), *r)
                result[made] += x[taken].astype(np.float64) @ w[weight].astype(np.float64)
    if bias is not None:
        result += bias.reshape(-1, *(1,) * (x.ndim - 2))
    return result.astype(x.dtype)


OPERATORS = (
    Operator(name="ConvTranspose", kind=Kind.OUTPUT_FUSABLE, types=_transposed_types, reference=_np_transposed,
             expression=_transposed_conv, words={"auto_pad": ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")}),)
