"""Grids of places in images, which matrices move.

ONNX's body of the function drops a batch of 1 and divides by 0 for an extent of 1, so that it is no way to compile it.
"""

from __future__ import annotations

import math

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.types import TensorType


def _types(site: Site) -> tuple[TensorType, ...]:
    own, wanted = site.type(), site.sizes(1)
    rank = len(wanted) - 2
    if rank not in (2, 3) or not own.dtype.is_float or own != own.with_shape((
            wanted[0], rank, rank + 1)):
        raise site.refusal("a matrix for each of a batch of images, or of volumes, is wanted", (0, 1),
                           witness=f"{own} for {list(wanted)}",
                           hint="give matrices [batch, 2, 3] for a size of 4 numbers, or [batch, 3, 4] for one of 5")
    if not all(e.is_constant and e.constant > 0 for e in wanted[2:]):
        raise site.refusal("the extents of an image are numbers above 0", 1, witness=str(list(wanted)),
                           hint="fix open ones by sizes=")
    site.check_table(math.prod(map(int, wanted[2:])) * (rank + 1))
    return (own.with_shape((wanted[0], *wanted[2:], rank)),)


def _places(site: Site) -> np.ndarray:
    """A row for each place of the image: its coordinates between -1 and 1, the last dimension first, and 1.

    The corner of an extent of 1 is at 1, as in ONNX Runtime; ONNX's body divides by 0 there, its reference has -1, and
    PyTorch 0.
    """
    extents, corners = [int(e) for e in site.output.shape[1:-1]], site.attribute("align_corners", 0)
    along = [np.linspace(-1 if n > 1 else 1, 1, n) if corners else (2 * np.arange(n) + 1) / n - 1 for n in extents]
    axes = np.meshgrid(*along, indexing="ij")
    return np.stack([*axes[::-1], np.ones_like(axes[0])], axis=-1).reshape(-1, len(extents) + 1)


def _affine_grid(site: Site, build: Builder, theta: str, _: str) -> str:
    places = build.constant(_places(site).astype(site.type().numpy))
    moved = build.op("MatMul", places, build.op("Transpose", theta, perm=(0, 2, 1)))
    return build.op("Reshape", moved, build.constant([0, *map(int, site.output.shape[1:])]))


def _np_affine_grid(site: Site, theta: np.ndarray, size: np.ndarray) -> np.ndarray:
    moved = _places(site) @ theta.astype(np.float64).transpose(0, 2, 1)
    return np.asarray(moved.reshape(len(theta), *(int(e) for e in size[2:]), len(size) - 2)).astype(theta.dtype)


OPERATORS = (Operator(name="AffineGrid", kind=Kind.OPAQUE, types=_types, reference=_np_affine_grid, steering=(1,),
                      composition=_affine_grid, sums=True),)
