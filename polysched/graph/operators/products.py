"""Matrix products."""

from __future__ import annotations

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, broadcast, one_type
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, FLOAT16, FLOAT32
from polysched.scop.expression import Expression, Tensor, axis, compute
from polysched.scop.expression import sum as sum_of


def _types(site: Site) -> tuple[TensorType, ...]:
    dtype = one_type(site, (0, 1))
    if dtype == BOOL:
        raise site.refusal("products of truth values")
    return (TensorType(dtype, product_shape(site, site.type(0), site.type(1))),)


def product_shape(site: Site, a: TensorType, b: TensorType) -> tuple[Size, ...]:
    """The shape of a product of matrices, vectors among them, over batches that broadcast.

    Raises
    ------
    UnsupportedGraphError : the shapes do not fit.
    """
    if a.rank == 0 or b.rank == 0:
        raise site.refusal("matrices or vectors are wanted", witness=f"{a} and {b}")
    if a.shape[-1] != b.shape[-2 if b.rank > 1 else 0]:
        raise site.refusal("the inner extents differ", witness=f"{a} and {b}")
    batch = broadcast(site, [a.with_shape(a.shape[:-2]), b.with_shape(b.shape[:-2])])
    return (*batch, *a.shape[-2:-1], *(b.shape[-1:] if b.rank > 1 else ()))


def _matmul(site: Site, a: Tensor, b: Tensor) -> Tensor:
    left, right, result = site.type(0), site.type(1), site.output
    k = axis("k", extent_of(left.shape[-1]))
    short = result.dtype == FLOAT16

    def subscripts(own: TensorType, i: tuple[Expression, ...]) -> list[Expression]:
        lead = own.shape[:-2]
        return [0 * v if e == 1 else v for e, v in zip(lead, i[len(i) - len(lead):], strict=True)]

    def element(*i: Expression) -> Expression:
        tail = i[len(i) - (left.rank > 1) - (right.rank > 1):]
        batch = i[:len(i) - len(tail)]
        x = a[(*subscripts(left, batch), *(tail[:1] if left.rank > 1 else ()), k)]
        y = b[(*subscripts(right, batch), k, *(tail[-1:] if right.rank > 1 else ()))]
        return sum_of(x.astype(FLOAT32) * y.astype(FLOAT32) if short else x * y, over=k)
    product = compute([extent_of(e) for e in result.shape], element, name="wide" if short else "y")
    return compute(product.shape, lambda *i: product[i].astype(FLOAT16), name="y") if short else product


def _np_matmul(site: Site, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "f":
        return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64))).astype(a.dtype)
    return np.asarray(np.matmul(a, b))


def _gemm_types(site: Site) -> tuple[TensorType, ...]:
    a, b = site.type(0), site.type(1)
    dtype = one_type(site, range(len(site.inputs)))
    if a.rank != 2 or b.rank != 2:
        raise site.refusal("two matrices are wanted", witness=f"{a} and {b}")
    rows, depth = a.shape[::-1] if site.attribute("transA", 0) else a.shape
    other, columns = b.shape[::-1] if site.attribute("transB", 0) else b.shape
    if depth != other:
        raise site.refusal("the inner extents differ", witness=f"{a} and {b}")
    factors = (site.attribute("alpha", 1.0), site.attribute("beta", 1.0))
    if dtype.is_integer and any(f != int(f) for f in factors):
        raise site.refusal(f"products of {dtype} times a fraction", witness=str(factors))
    result = TensorType(dtype, (rows, columns))
    if site.has(2) and broadcast(site, [result, site.type(2)]) != result.shape:
        raise site.refusal("the addend is larger than the product", witness=str(site.type(2)))
    return (result,)


def _gemm(site: Site, build: Builder, a: str, b: str, c: str = "") -> str:
    dtype = site.type().numpy
    a = build.op("Transpose", a, perm=(1, 0)) if site.attribute("transA", 0) else a
    b = build.op("Transpose", b, perm=(1, 0)) if site.attribute("transB", 0) else b
    result = build.op("MatMul", a, b)
    alpha, beta = site.attribute("alpha", 1.0), site.attribute("beta", 1.0)
    if alpha != 1.0:
        result = build.op("Mul", result, build.constant(np.array(alpha, dtype)))
    if not c:
        return result
    addend = c if beta == 1.0 else build.op("Mul", c, build.constant(np.array(beta, dtype)))
    return build.op("Add", result, addend)


def _np_gemm(site: Site, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
    left = (a.T if site.attribute("transA", 0) else a).astype(np.float64)
    right = (b.T if site.attribute("transB", 0) else b).astype(np.float64)
    result = site.attribute("alpha", 1.0) * (left @ right)
    if c is not None:
        result = result + site.attribute("beta", 1.0) * c.astype(np.float64)
    return np.asarray(result).astype(a.dtype)


OPERATORS = (
    Operator(name="MatMul", kind=Kind.OUTPUT_FUSABLE, types=_types, reference=_np_matmul, expression=_matmul),
    Operator(name="Gemm", kind=Kind.OUTPUT_FUSABLE, types=_gemm_types, reference=_np_gemm, composition=_gemm))
