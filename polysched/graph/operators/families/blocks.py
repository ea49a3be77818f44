"""Depth and space: blocks of places as channels, and channels as blocks of places; by affine reads, for any extents."""

from __future__ import annotations

import numpy as np

from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.types import TensorType
from polysched.scop.expression import Expression, Tensor, compute


def _block(site: Site) -> int:
    """The edge of a block, of data in batches of images."""
    size = int(site.required("blocksize"))
    if size < 1 or site.type().rank != 4:
        raise site.refusal("a block of at least 1 and data of four dimensions are wanted",
                           "blocksize" if size < 1 else 0,
                           witness=f"{size}, {site.type()}",
                           hint="give a block of at least 1, and data of batch, channels, height and width")
    return size


def _to_space_types(site: Site) -> tuple[TensorType, ...]:
    own, size = site.type(), _block(site)
    if int(own.shape[1]) % size ** 2:
        raise site.refusal("the channels are no multiple of a block's places", "blocksize",
                           witness=f"{own} by {size}", hint=f"give a block whose square divides {own.shape[1]}")
    n, c, h, w = own.shape
    return (own.with_shape((n, c // size ** 2, h * size, w * size)),)


def _to_space(site: Site, x: Tensor) -> Tensor:
    size, channels = _block(site), int(site.output.shape[1])
    by_columns = site.attribute("mode", "DCR") == "CRD"

    def element(n: Expression, c: Expression, h: Expression, w: Expression) -> Expression:
        place = (h - (h // size) * size) * size + (w - (w // size) * size)
        return x[(n, c * size ** 2 + place if by_columns else place * channels + c, h // size, w // size)]
    return compute([extent_of(e) for e in site.output.shape], element, name="y")


def _np_to_space(site: Site, x: np.ndarray) -> np.ndarray:
    size, (n, c, h, w) = _block(site), x.shape
    if site.attribute("mode", "DCR") == "CRD":
        parts = x.reshape(n, c // size ** 2, size, size, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        parts = x.reshape(n, size, size, c // size ** 2, h, w).transpose(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // size ** 2, h * size, w * size)


def _to_depth_types(site: Site) -> tuple[TensorType, ...]:
    own, size = site.type(), _block(site)
    n, c, h, w = own.shape
    if not c.is_constant:
        raise site.refusal("the number of channels is open", 0, witness=str(own), hint="fix the size by sizes=")
    if any((e % size) != 0 for e in (h, w)):
        raise site.refusal("the space is no multiple of the block", "blocksize", witness=f"{own} by {size}",
                           hint="give a divisor of height and width, or pad them")
    return (own.with_shape((n, c * size ** 2, h // size, w // size)),)


def _to_depth(site: Site, x: Tensor) -> Tensor:
    size, channels = _block(site), int(site.type().shape[1])
    by_columns = site.attribute("mode", "DCR") == "CRD"

    def element(n: Expression, k: Expression, h: Expression, w: Expression) -> Expression:
        channel = k // size ** 2 if by_columns else k - (k // channels) * channels
        place = k - channel * size ** 2 if by_columns else k // channels
        row = place // size
        return x[(n, channel, h * size + row, w * size + (place - row * size))]
    return compute([extent_of(e) for e in site.output.shape], element, name="y")


def _np_to_depth(site: Site, x: np.ndarray) -> np.ndarray:
    size, (n, c, h, w) = _block(site), x.shape
    order = (0, 1, 3, 5, 2, 4) if site.attribute("mode", "DCR") == "CRD" else (0, 3, 5, 1, 2, 4)
    parts = x.reshape(n, c, h // size, size, w // size, size).transpose(order)
    return parts.reshape(n, c * size ** 2, h // size, w // size)


OPERATORS = (
    Operator(name="DepthToSpace", kind=Kind.INJECTIVE, types=_to_space_types, reference=_np_to_space,
             expression=_to_space, words={"mode": ("DCR", "CRD")}),
    Operator(name="SpaceToDepth", kind=Kind.INJECTIVE, types=_to_depth_types, reference=_np_to_depth,
             expression=_to_depth, words={"mode": ("DCR", "CRD")}))
