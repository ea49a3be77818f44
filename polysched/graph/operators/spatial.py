"""Space and batch: blocks of space as batches and back; elements with room between and around them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.moves import Move, Place, whole
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.expression import Expression, Tensor, compute, where
from polysched.scop.expression.tensors import Constant, Convert


def _block(site: Site, ends: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The block, and what is added or cut in front of and behind every dimension of space."""
    block = tuple(site.required("block_shape"))
    pairs = tuple(site.attribute(ends, (0,) * (2 * len(block))))
    if not block or min(block) < 1 or len(pairs) != 2 * len(block) or min(pairs) < 0:
        raise site.refusal(f"a block of at least 1 and two numbers of {ends} per dimension of space are wanted",
                           ("block_shape", ends),
                           witness=f"{block}, {pairs}")
    if site.type().rank <= len(block):
        raise site.refusal("a batch and as many dimensions as the block has are wanted", 0, witness=str(site.type()),
                           hint=f"give it at least {len(block) + 1} dimensions")
    return block, pairs[::2], pairs[1::2]


def _to_batch_types(site: Site) -> tuple[TensorType, ...]:
    own, (block, before, behind) = site.type(), _block(site, "paddings")
    space = [e + b + a for e, b, a in zip(own.shape[1:], before, behind, strict=False)]
    if any(int(e) % k for e, k in zip(space, block, strict=True)):
        raise site.refusal("the padded space is no multiple of the block", ("block_shape", "paddings"),
                           witness=f"{own} by {block}", hint="pad to multiples of the block")
    rest = own.shape[1 + len(block):]
    return (own.with_shape((own.shape[0] * math.prod(block), *(e // k for e, k in zip(space, block, strict=True)),
                            *rest)),)


def _to_batch(site: Site, build: Builder, x: str) -> str:
    """Pad, name the places in a block, bring them to the front."""
    own, (block, before, behind) = site.type(), _block(site, "paddings")
    rank, count = own.rank, len(block)
    rest = [0] * (rank - count - 1)
    value = build.constant(np.array(site.attribute("pad_value", 0), own.numpy))
    padded = build.op("Pad", x, build.constant([0, *before, *rest, 0, *behind, *rest]), value)
    batch, *extents = (int(e) for e in site.output.shape)
    parts = [v for e, k in zip(extents, block, strict=False) for v in (e, k)]
    named = build.op("Reshape", padded, build.constant([batch // math.prod(block), *parts, *extents[count:]]))
    order = (*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(2 * count + 1, rank + count))
    moved = build.op("Transpose", named, perm=order)
    return build.op("Reshape", moved, build.constant([batch, *extents]))


def _np_to_batch(site: Site, x: np.ndarray) -> np.ndarray:
    block, before, behind = _block(site, "paddings")
    width = [(0, 0), *zip(before, behind, strict=True), *[(0, 0)] * (x.ndim - len(block) - 1)]
    padded = np.pad(x, width, constant_values=site.attribute("pad_value", 0))
    cuts = [padded[(slice(None), *(slice(p, None, k) for p, k in zip(place, block, strict=True)))]
            for place in np.ndindex(*block)]
    return np.concatenate(cuts)


def _to_space_types(site: Site) -> tuple[TensorType, ...]:
    own, (block, before, behind) = site.type(), _block(site, "crops")
    if int(own.shape[0]) % math.prod(block):
        raise site.refusal("the batch is no multiple of the block", "block_shape", witness=f"{own} by {block}",
                           hint=f"give a block whose product divides {own.shape[0]}")
    space = [e * k - b - a for e, k, b, a in zip(own.shape[1:], block, before, behind, strict=False)]
    return (own.with_shape((own.shape[0] // math.prod(block), *space, *own.shape[1 + len(block):])),)


def _to_space(site: Site, build: Builder, x: str) -> str:
    """Name the places in a block, bring them back, cut."""
    own, (block, before, _) = site.type(), _block(site, "crops")
    rank, count = own.rank, len(block)
    batch, *extents = own.extents
    named = build.op("Reshape", x, build.constant([*block, batch // math.prod(block), *extents]))
    order = (count, *(d for k in range(count) for d in (count + 1 + k, k)), *range(2 * count + 1, rank + count))
    moved = build.op("Transpose", named, perm=order)
    space = [e * k for e, k in zip(extents, block, strict=False)]
    whole = build.op("Reshape", moved, build.constant([batch // math.prod(block), *space, *extents[count:]]))
    ends = [b + int(e) for b, e in zip(before, site.output.shape[1:], strict=False)]
    axes = build.constant([1 + k for k in range(count)])
    return build.op("Slice", whole, build.constant(list(before)), build.constant(ends), axes)


def _np_to_space(site: Site, x: np.ndarray) -> np.ndarray:
    block, before, behind = _block(site, "crops")
    count = len(block)
    batch = x.shape[0] // math.prod(block)
    space = [e * k for e, k in zip(x.shape[1:], block, strict=False)]
    result = np.empty((batch, *space, *x.shape[1 + count:]), x.dtype)
    for number, place in enumerate(np.ndindex(*block)):
        at = (slice(None), *(slice(p, None, k) for p, k in zip(place, block, strict=True)))
        result[at] = x[number * batch:(number + 1) * batch]
    cut = (slice(None), *(slice(b, e - a) for b, a, e in zip(before, behind, space, strict=True)))
    return result[cut]


def _strides(site: Site) -> tuple[int, ...]:
    strides = tuple(site.required("strides"))
    if len(strides) != site.type().rank or any(s < 1 for s in strides):
        raise site.refusal("a stride of at least 1 per dimension is wanted", "strides", witness=str(strides),
                           hint=f"give {site.type().rank} numbers of at least 1")
    return strides


def _dilate_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if any(e == 0 for e in own.shape):
        raise site.refusal("nothing is dilated", 0, witness=str(own))
    return (own.with_shape([(e - 1) * s + 1 for e, s in zip(own.shape, _strides(site), strict=True)]),)


def _dilate(site: Site, x: Tensor) -> Tensor:
    own, strides = site.type(), _strides(site)
    between = Convert(Constant(site.attribute("value", 0)), own.dtype)

    def element(*i: Expression) -> Expression:
        places = [v if s == 1 else v // s for v, s in zip(i, strides, strict=True)]
        hit: Expression | None = None
        for v, s in zip(i, strides, strict=True):
            if s > 1:
                own_hit = (v - (v // s) * s) < 1
                hit = own_hit if hit is None else hit & own_hit
        return x[tuple(places)] if hit is None else where(hit, x[tuple(places)], between)
    return compute([extent_of(e) for e in site.output.shape], element, name="y", dtype=own.dtype)


def _np_dilate(site: Site, x: np.ndarray) -> Any:
    result = np.full(site.outputs[0].extents, site.attribute("value", 0), x.dtype)
    result[tuple(slice(None, None, s) for s in _strides(site))] = x
    return result


def _counts(site: Site) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The elements in front of and behind every dimension."""
    before, behind = (tuple(site.required(name)) for name in ("before", "behind"))
    if len(before) != site.type().rank or len(behind) != len(before) or min((*before, *behind), default=0) < 0:
        raise site.refusal("before and behind have a number of at least 0 per dimension", ("before", "behind"),
                           witness=f"{before}, {behind}", hint=f"give {site.type().rank} numbers of at least 0 each")
    return before, behind


def _constant_types(site: Site) -> tuple[TensorType, ...]:
    own, value, (before, behind) = site.type(), site.type(1), _counts(site)
    if value != own.with_shape(()):
        raise site.refusal("the value is one element of the type of the data", 1, witness=f"{value} in {own}",
                           hint=f"give one element of {own.dtype}, without dimensions")
    return (own.with_shape([e + b + a for e, b, a in zip(own.shape, before, behind, strict=True)]),)


def _constant_moves(site: Site) -> tuple[tuple[Move, ...], ...]:
    """The data, and the value in front of and behind each dimension; every element is written once."""
    own, (before, behind) = site.type(), _counts(site)
    target = tuple(Place.of(b, (d, 1)) for d, b in enumerate(before))
    around = []
    for d, (first, last) in enumerate(zip(before, behind, strict=True)):
        for start, count in ((Size(), first), (own.shape[d] + first, last)):
            loops = (*own.shape[:d], Size(count), *site.output.shape[d + 1:])
            places = (*target[:d], Place.of(start, (d, 1)), *whole(own.rank)[d + 1:])
            around += [Move(1, loops, (), places)] if count else []
    return ((*around, Move(0, own.shape, whole(own.rank), target)),)


def _reference(site: Site, x: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.pad(x, tuple(zip(*_counts(site), strict=True)), constant_values=value[()]) if x.ndim else x


OPERATORS = (
    Operator(name="SpaceToBatchND", kind=Kind.INJECTIVE, types=_to_batch_types, reference=_np_to_batch,
             composition=_to_batch),
    Operator(name="BatchToSpaceND", kind=Kind.INJECTIVE, types=_to_space_types, reference=_np_to_space,
             composition=_to_space),
    Operator(name="Dilate", kind=Kind.INJECTIVE, types=_dilate_types, reference=_np_dilate, expression=_dilate),
    Operator(name="PadConstant", kind=Kind.INJECTIVE, types=_constant_types, reference=_reference,
             moves=_constant_moves))
