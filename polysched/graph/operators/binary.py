"""Binary networks: signs packed into words, and products of them by exclusive or and counts of bits."""

from __future__ import annotations

import numpy as np

from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import FLOAT32, INT32, UINT32
from polysched.scop.expression import Expression, Tensor, axis, compute, where
from polysched.scop.expression import sum as sum_of
from polysched.scop.expression.tensors import Constant, Convert

WORD = 32
"""Bits of a word."""


def _pack_types(site: Site) -> tuple[TensorType, ...]:
    own, place = site.type(), site.axis(site.attribute("axis", -1))
    if int(own.shape[place]) % WORD:
        raise site.refusal(f"the axis is no multiple of {WORD}", witness=str(own))
    return (TensorType(UINT32, tuple(e // WORD if d == place else e for d, e in enumerate(own.shape))),)


def _pack(site: Site, x: Tensor) -> Tensor:
    place, bit = site.axis(site.attribute("axis", -1)), axis("bit", WORD)

    def element(*i: Expression) -> Expression:
        read = x[tuple(v * WORD + bit if d == place else v for d, v in enumerate(i))]
        amount = (WORD - 1 - bit).astype(UINT32)
        return sum_of(where(read > 0, _number(1) << amount, _number(0)), over=bit)
    return compute([extent_of(e) for e in site.output.shape], element, name="y", dtype=UINT32)


def _np_pack(site: Site, x: np.ndarray) -> np.ndarray:
    place = site.attribute("axis", -1) % x.ndim
    words = np.moveaxis(x > 0, place, -1)
    words = words.reshape(*words.shape[:-1], -1, WORD)
    bits = words.astype(np.uint32) << np.arange(WORD - 1, -1, -1, dtype=np.uint32)
    return np.moveaxis(bits.sum(axis=-1, dtype=np.uint32), -1, place)


def _dense_types(site: Site) -> tuple[TensorType, ...]:
    x, w = site.type(0), site.type(1)
    if x.rank != 2 or w.rank != 2 or x.shape[1] != w.shape[1] or x.dtype != UINT32 or w.dtype != UINT32:
        raise site.refusal("two matrices of packed rows of one length are wanted", witness=f"{x} and {w}")
    return (TensorType(FLOAT32, (x.shape[0], w.shape[0])),)


def _number(value: int) -> Expression:
    return Convert(Constant(value), UINT32)


def bit_count(v: Expression) -> Expression:
    """The number of bits that are set in a word, added in fields of 2, 4, 8 bits (Warren, Hacker's Delight, 5-1)."""
    pairs = v - ((v >> _number(1)) & _number(0x55555555))
    fours = (pairs & _number(0x33333333)) + ((pairs >> _number(2)) & _number(0x33333333))
    bytes_of = (fours + (fours >> _number(4))) & _number(0x0F0F0F0F)
    return ((bytes_of * _number(0x01010101)) >> _number(24)).astype(INT32)


def _dense(site: Site, x: Tensor, w: Tensor) -> Tensor:
    rows, columns = (extent_of(e) for e in site.output.shape)
    words = site.type().shape[1]
    k = axis("k", extent_of(words))
    different = compute((rows, columns), lambda i, j: sum_of(bit_count(x[i, k] ^ w[j, k]), over=k), name="different",
                        dtype=INT32)
    bits = extent_of(words * WORD)
    return compute((rows, columns), lambda i, j: (bits - different[i, j] * 2).astype(FLOAT32), name="y")


def _np_dense(site: Site, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    signs, weights = (np.unpackbits(np.ascontiguousarray(a).view(np.uint8), axis=-1).astype(np.int64) * 2 - 1
                      for a in (x, w))
    return (signs @ weights.T).astype(np.float32)


OPERATORS = (
    Operator(name="BinarizePack", kind=Kind.REDUCTION, types=_pack_types, reference=_np_pack, expression=_pack),
    Operator(name="BinaryDense", kind=Kind.OUTPUT_FUSABLE, types=_dense_types, reference=_np_dense, expression=_dense))
