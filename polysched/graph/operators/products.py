"""Matrix products, and those of binary networks: signs packed into words, by exclusive or and counts of bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, broadcast, one_type
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, FLOAT16, FLOAT32, INT32, UINT32
from polysched.scop.expression import Expression, Tensor, axis, compute, where
from polysched.scop.expression import sum as sum_of
from polysched.scop.expression.tensors import Constant, Convert


def _types(site: Site) -> tuple[TensorType, ...]:
    dtype = one_type(site, (0, 1))
    if dtype == BOOL:
        raise site.refusal("products of truth values", (0, 1), hint=Remedy.CONVERT)
    return (TensorType(dtype, product_shape(site, site.type(0), site.type(1))),)


def product_shape(site: Site, a: TensorType, b: TensorType) -> tuple[Size, ...]:
    """The shape of a product of matrices, vectors among them, over batches that broadcast.

    Raises
    ------
    UnsupportedGraphError : the shapes do not fit.
    """
    if a.rank == 0 or b.rank == 0:
        raise site.refusal("matrices or vectors are wanted", (0, 1), witness=f"{a} and {b}",
                           hint="multiply by a scalar with Mul, or give it dimensions by Unsqueeze")
    if a.shape[-1] != b.shape[-2 if b.rank > 1 else 0]:
        raise site.refusal("the inner extents differ", (0, 1), witness=f"{a} and {b}",
                           hint="the last extent of the first is the last but one of the second: Transpose or "
                                "Reshape one of them")
    batch = broadcast(site, [a.with_shape(a.shape[:-2]), b.with_shape(b.shape[:-2])])
    return (*batch, *a.shape[-2:-1], *(b.shape[-1:] if b.rank > 1 else ()))


def _matmul(site: Site, a: Tensor, b: Tensor) -> Tensor:
    short = site.output.dtype == FLOAT16
    product = matrix_product(site, a, b, lambda x, y: x.astype(FLOAT32) * y.astype(FLOAT32) if short else x * y,
                             name="wide" if short else "y")
    return compute(product.shape, lambda *i: product[i].astype(FLOAT16), name="y") if short else product


def matrix_product(site: Site, a: Tensor, b: Tensor, term: Callable[[Expression, Expression], Expression], *,
                   name: str = "y") -> Tensor:
    """The product of the first two operands.

    Parameters
    ----------
    term : what is added up, of an element of each operand.
    """
    left, right, result = site.type(0), site.type(1), site.output
    k = axis("k", extent_of(left.shape[-1]))

    def subscripts(own: TensorType, i: tuple[Expression, ...]) -> list[Expression]:
        lead = own.shape[:-2]
        return [0 * v if e == 1 else v for e, v in zip(lead, i[len(i) - len(lead):], strict=True)]

    def element(*i: Expression) -> Expression:
        tail = i[len(i) - (left.rank > 1) - (right.rank > 1):]
        batch = i[:len(i) - len(tail)]
        x = a[(*subscripts(left, batch), *(tail[:1] if left.rank > 1 else ()), k)]
        y = b[(*subscripts(right, batch), k, *(tail[-1:] if right.rank > 1 else ()))]
        return sum_of(term(x, y), over=k)
    return compute([extent_of(e) for e in result.shape], element, name=name)


def _np_matmul(site: Site, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "f":
        return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64))).astype(a.dtype)
    return np.asarray(np.matmul(a, b))


def _gemm_types(site: Site) -> tuple[TensorType, ...]:
    a, b = site.type(0), site.type(1)
    dtype = one_type(site, range(len(site.inputs)))
    if a.rank != 2 or b.rank != 2:
        raise site.refusal("two matrices are wanted", (0, 1), witness=f"{a} and {b}",
                           hint="Reshape both to two dimensions, or use MatMul")
    rows, depth = a.shape[::-1] if site.attribute("transA", 0) else a.shape
    other, columns = b.shape[::-1] if site.attribute("transB", 0) else b.shape
    if depth != other:
        raise site.refusal("the inner extents differ", (0, 1), witness=f"{a} and {b}",
                           hint="transpose one of them by transA or transB")
    factors = (site.attribute("alpha", 1.0), site.attribute("beta", 1.0))
    if dtype.is_integer and any(f != int(f) for f in factors):
        raise site.refusal(f"products of {dtype} times a fraction", ("alpha", "beta"), witness=str(factors),
                           hint="give whole numbers, or convert the operands to floats by Cast")
    result = TensorType(dtype, (rows, columns))
    if site.has(2) and broadcast(site, [result, site.type(2)]) != result.shape:
        raise site.refusal("the addend is larger than the product", 2, witness=str(site.type(2)),
                           hint=f"give it the shape {result}, or one that broadcasts to it")
    return (result,)


def _gemm(site: Site, build: Builder, a: str, b: str, c: str = "") -> str:
    dtype = site.type().numpy
    a = build.op("Transpose", a, perm=(1, 0)) if site.attribute("transA", 0) else a
    b = build.op("Transpose", b, perm=(1, 0)) if site.attribute("transB", 0) else b
    result = build.op("MatMul", a, b)
    alpha, beta = site.attribute("alpha", 1.0), site.attribute("beta", 1.0)
    if alpha != 1.0:
        result = build.op("Mul", result, build.constant(np.array(alpha, dtype)))
    if not c or beta == 0.0:   # an addend that counts nothing is not read: it may be no number
        return result
    addend = c if beta == 1.0 else build.op("Mul", c, build.constant(np.array(beta, dtype)))
    return build.op("Add", result, addend)


def _np_gemm(site: Site, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
    left = (a.T if site.attribute("transA", 0) else a).astype(np.float64)
    right = (b.T if site.attribute("transB", 0) else b).astype(np.float64)
    result = site.attribute("alpha", 1.0) * (left @ right)
    if c is not None and site.attribute("beta", 1.0) != 0:
        result = result + site.attribute("beta", 1.0) * c.astype(np.float64)
    return np.asarray(result).astype(a.dtype)


WORD = 32
"""Bits of a word."""


def _pack_types(site: Site) -> tuple[TensorType, ...]:
    own, place = site.type(), site.axis(site.attribute("axis", -1))
    if int(own.shape[place]) % WORD:
        raise site.refusal(f"the axis is no multiple of {WORD}", 0, witness=str(own),
                           hint=f"pad the axis to a multiple of {WORD}")
    return (TensorType(UINT32, tuple(e // WORD if d == place else e for d, e in enumerate(own.shape))),)


def _pack(site: Site, x: Tensor) -> Tensor:
    place, bit = site.axis(site.attribute("axis", -1)), axis("bit", WORD)

    def element(*i: Expression) -> Expression:
        read = x[tuple(v * WORD + bit if d == place else v for d, v in enumerate(i))]
        amount = (WORD - 1 - bit).astype(UINT32)
        return sum_of(where(read >= 0, _number(1) << amount, _number(0)), over=bit)
    return compute([extent_of(e) for e in site.output.shape], element, name="y", dtype=UINT32)


def _np_pack(site: Site, x: np.ndarray) -> np.ndarray:
    place = site.attribute("axis", -1) % x.ndim
    words = np.moveaxis(x >= 0, place, -1)
    words = words.reshape(*words.shape[:-1], -1, WORD)
    bits = words.astype(np.uint32) << np.arange(WORD - 1, -1, -1, dtype=np.uint32)
    return np.moveaxis(bits.sum(axis=-1, dtype=np.uint32), -1, place)


def _binary_types(site: Site) -> tuple[TensorType, ...]:
    x, w = site.type(0), site.type(1)
    if x.rank != 2 or w.rank != 2 or x.shape[1] != w.shape[1] or x.dtype != UINT32 or w.dtype != UINT32:
        raise site.refusal("two matrices of packed rows of one length are wanted", (0, 1), witness=f"{x} and {w}",
                           hint="pack both by BinarizePack, along their last axis")
    return (TensorType(FLOAT32, (x.shape[0], w.shape[0])),)


def _number(value: int) -> Expression:
    return Convert(Constant(value), UINT32)


def bit_count(v: Expression) -> Expression:
    """The number of bits that are set in a word, added in fields of 2, 4, 8 bits (Warren, Hacker's Delight, 5-1)."""
    pairs = v - ((v >> _number(1)) & _number(0x55555555))
    fours = (pairs & _number(0x33333333)) + ((pairs >> _number(2)) & _number(0x33333333))
    bytes_of = (fours + (fours >> _number(4))) & _number(0x0F0F0F0F)
    return ((bytes_of * _number(0x01010101)) >> _number(24)).astype(INT32)


def _binary(site: Site, x: Tensor, w: Tensor) -> Tensor:
    rows, columns = (extent_of(e) for e in site.output.shape)
    words = site.type().shape[1]
    k = axis("k", extent_of(words))
    different = compute((rows, columns), lambda i, j: sum_of(bit_count(x[i, k] ^ w[j, k]), over=k), name="different",
                        dtype=INT32)
    bits = extent_of(words * WORD)
    return compute((rows, columns), lambda i, j: (bits - different[i, j] * 2).astype(FLOAT32), name="y")


def _np_binary(site: Site, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    signs, weights = (np.unpackbits(np.ascontiguousarray(a).view(np.uint8), axis=-1).astype(np.int64) * 2 - 1
                      for a in (x, w))
    return (signs @ weights.T).astype(np.float32)


OPERATORS = (
    Operator(name="MatMul", kind=Kind.OUTPUT_FUSABLE, types=_types, reference=_np_matmul, expression=_matmul),
    Operator(name="Gemm", kind=Kind.OUTPUT_FUSABLE, types=_gemm_types, reference=_np_gemm, composition=_gemm),
    Operator(name="BinarizePack", kind=Kind.REDUCTION, types=_pack_types, reference=_np_pack, expression=_pack),
    Operator(name="BinaryDense", kind=Kind.OUTPUT_FUSABLE, types=_binary_types, reference=_np_binary,
             expression=_binary))
