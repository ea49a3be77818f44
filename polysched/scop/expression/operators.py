"""Common operators as tensor expressions: products, pooling, normalisation, elementwise.

Every function takes tensors (or stages) and returns the tensor of its last stage.  `accumulate` is
the type in which a sum is kept, for short operands; the result has that type.  Convolutions are in
`convolutions`.

Layouts are row-major with the batch first (NCHW).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polysched.errors import UsageError
from polysched.scop.dtypes import DType
from polysched.scop.expression.evaluation import size_of
from polysched.scop.expression.functions import exp, sqrt
from polysched.scop.expression.functions import max as reduce_max
from polysched.scop.expression.functions import sum as reduce_sum
from polysched.scop.expression.stages import compute
from polysched.scop.expression.tensors import Axis, Constant, Convert, Expression, Scalar, Tensor, as_dtype, axis

Accumulate = str | DType | None


def widened(value: Expression, accumulate: Accumulate) -> Expression:
    """An operand in the type of the sum that it goes into."""
    return value if accumulate is None else Convert(value, as_dtype(accumulate))


def same_size(left: Expression, right: Expression, what: str) -> None:
    """Refuse two extents that are not equal for all sizes."""
    if not size_of(left).is_equal(size_of(right)):
        raise UsageError(f"{what} differ", witness=f"{size_of(left)} and {size_of(right)}",
                         hint="use the same symbol or constant for both")


def of_rank(tensor: Tensor, rank: int, what: str) -> None:
    """Refuse a tensor of another rank."""
    if tensor.rank != rank:
        raise UsageError(f"{what} has {rank} dimensions, {tensor.name} has {tensor.rank}")


def matmul(a: Tensor, b: Tensor, *, transpose_a: bool = False, transpose_b: bool = False, accumulate: Accumulate = None,
           name: str = "C") -> Tensor:
    """The matrix product `C[i, j] = sum_k A[i, k] B[k, j]`, of transposed operands on request."""
    of_rank(a, 2, "the left factor")
    of_rank(b, 2, "the right factor")
    rows, depth = a.shape[::-1] if transpose_a else a.shape
    other_depth, columns = b.shape[::-1] if transpose_b else b.shape
    same_size(depth, other_depth, "the inner extents of the product")
    k = axis("k", depth)

    def element(i: Axis, j: Axis) -> Expression:
        left = a[k, i] if transpose_a else a[i, k]
        right = b[j, k] if transpose_b else b[k, j]
        return reduce_sum(widened(left, accumulate) * widened(right, accumulate), over=k)
    return compute((rows, columns), element, name=name)


def batched_matmul(a: Tensor, b: Tensor, *, accumulate: Accumulate = None, name: str = "C") -> Tensor:
    """`C[n, i, j] = sum_k A[n, i, k] B[n, k, j]`."""
    of_rank(a, 3, "the left factor")
    of_rank(b, 3, "the right factor")
    same_size(a.shape[0], b.shape[0], "the batch extents")
    same_size(a.shape[2], b.shape[1], "the inner extents of the product")
    k = axis("k", a.shape[2])
    return compute((a.shape[0], a.shape[1], b.shape[2]), lambda n, i, j: reduce_sum(
        widened(a[n, i, k], accumulate) * widened(b[n, k, j], accumulate), over=k), name=name)


def softmax(x: Tensor, *, name: str = "Y") -> Tensor:
    """Softmax over the last dimension: largest value, exponentials, their sum, quotients."""
    lead, last = x.shape[:-1], x.shape[-1]
    m, k = axis("m", last), axis("k", last)
    largest = compute(lead, lambda *i: reduce_max(x[(*i, m)], over=m), name=f"{name}_max")
    power = compute(x.shape, lambda *i: exp(x[i] - largest[i[:-1]]), name=f"{name}_exp")
    total = compute(lead, lambda *i: reduce_sum(power[(*i, k)], over=k), name=f"{name}_sum")
    return compute(x.shape, lambda *i: power[i] / total[i[:-1]], name=name)


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, *, epsilon: float = 1e-5, name: str = "Y") -> Tensor:
    """Layer normalisation over the last dimension with scale and shift.

    Source: Ba, Kiros, Hinton, "Layer Normalization", 2016, equation 4; the variance is the biased one.
    """
    of_rank(gamma, 1, "the scale")
    of_rank(beta, 1, "the shift")
    lead, last = x.shape[:-1], x.shape[-1]
    same_size(last, gamma.shape[0], "the last extent and that of the scale")
    same_size(last, beta.shape[0], "the last extent and that of the shift")
    m, k = axis("m", last), axis("k", last)
    count = Convert(last, x.dtype)
    total = compute(lead, lambda *i: reduce_sum(x[(*i, m)], over=m), name=f"{name}_sum")
    mean = compute(lead, lambda *i: total[i] / count, name=f"{name}_mean")
    square = compute(lead, lambda *i: reduce_sum((x[(*i, k)] - mean[i]) * (x[(*i, k)] - mean[i]), over=k),
                     name=f"{name}_square")
    scale = compute(lead, lambda *i: 1.0 / sqrt(square[i] / count + epsilon), name=f"{name}_scale")
    return compute(x.shape, lambda *i: (x[i] - mean[i[:-1]]) * scale[i[:-1]] * gamma[i[-1]] + beta[i[-1]], name=name)


def transpose(x: Tensor, permutation: Sequence[int] | None = None, *, name: str = "Y") -> Tensor:
    """The tensor with its dimensions permuted as `numpy.transpose` does; reversed by default."""
    order = tuple(permutation) if permutation is not None else tuple(reversed(range(x.rank)))
    if sorted(order) != list(range(x.rank)):
        raise UsageError(f"{order} is no permutation of the {x.rank} dimensions of {x.name}")
    place = [order.index(d) for d in range(x.rank)]
    return compute(tuple(x.shape[d] for d in order), lambda *i: x[tuple(i[p] for p in place)], name=name)


def elementwise(function: Callable[..., Scalar], *operands: Tensor, name: str = "Y") -> Tensor:
    """A function of the elements of tensors, which broadcast as in NumPy: an extent of constant 1 stretches."""
    rank = max(t.rank for t in operands)
    shape = [_broadcast([t.shape[t.rank - rank + d] for t in operands if t.rank - rank + d >= 0]) for d in range(rank)]

    def element(*indices: Axis) -> Scalar:
        reads = []
        for tensor in operands:
            own = zip(indices[rank - tensor.rank:], tensor.shape, strict=True)
            reads.append(tensor[tuple(Constant(0) if _is_one(extent) else i for i, extent in own)])
        return function(*reads)
    return compute(shape, element, name=name)


def _is_one(extent: Expression) -> bool:
    return bool(size_of(extent).is_equal(size_of(Constant(1))))


def _broadcast(extents: list[Expression]) -> Expression:
    """The common extent of one dimension."""
    wide = [e for e in extents if not _is_one(e)]
    for other in wide[1:]:
        same_size(wide[0], other, "extents that must broadcast")
    return wide[0] if wide else Constant(1)
