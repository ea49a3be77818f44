"""The fifteen tensor operators of the AMOS evaluation as Scops; sizes are keyword arguments.

Inputs are f16 and sums f32 unless told otherwise, as for a 16x16x16 matrix unit; `batch` is a parameter of the Scop.
Source of the list: Zheng et al.,
ISCA 2022, table 6; the formulas are those of the operators' own papers: Yu and Koltun 2016 (dilated), Chollet 2017
(depthwise), Sabour et al. 2017 (capsules: several types of several dimensions), Yang et al. 2019 (a kernel per batch
element), Blelloch 1990 (prefix sums as a product with a triangular matrix).
"""

from __future__ import annotations

from collections.abc import Callable

from polysched.scop.expression import Expression, Symbol, Tensor, axis, build, compute, equal, placeholder, where
from polysched.scop.expression import sum as reduce_sum
from polysched.scop.scop import Scop

IN, OUT = "float16", "float32"
BATCH = Symbol("batch")


def _dot(a: Expression, b: Expression, accumulator: str) -> Expression:
    return a.astype(accumulator) * b.astype(accumulator)


def _built(name: str, result: Tensor) -> Scop:
    return build(result, name=name)


def gmv(*, m: int = 256, k: int = 256, dtype: str = IN, accumulator: str = OUT) -> Scop:
    """Matrix times vector."""
    a, x = placeholder("A", (m, k), dtype), placeholder("X", (k,), dtype)
    r = axis("k")
    return _built("gmv", compute((m,), lambda i: reduce_sum(_dot(a[i, r], x[r], accumulator), over=r), name="Y"))


def gmm(*, m: int = 256, n: int = 256, k: int = 256, dtype: str = IN, accumulator: str = OUT,
        right_dtype: str | None = None) -> Scop:
    """Matrix product."""
    a, b = placeholder("A", (m, k), dtype), placeholder("B", (k, n), right_dtype or dtype)
    r = axis("k")
    return _built("gmm", compute((m, n), lambda i, j: reduce_sum(_dot(a[i, r], b[r, j], accumulator), over=r),
                                 name="C"))


def c1d(*, k: int = 64, c: int = 64, size: int = 56, window: int = 3, dtype: str = IN,
        accumulator: str = OUT, right_dtype: str | None = None) -> Scop:
    """One-dimensional convolution."""
    x = placeholder("X", (BATCH, c, size + window - 1), dtype)
    w = placeholder("W", (k, c, window), right_dtype or dtype)
    rc, r = axis("c", c), axis("r", window)
    return _built("c1d", compute((BATCH, k, size), lambda n, k, p: reduce_sum(
        _dot(x[n, rc, p + r], w[k, rc, r], accumulator), over=(rc, r)), name="Y"))


def c2d(*, k: int = 64, c: int = 64, size: int = 56, window: int = 3, stride: int = 1,
        dilation: int = 1, dtype: str = IN, accumulator: str = OUT, right_dtype: str | None = None) -> Scop:
    """Two-dimensional convolution."""
    extent = (size - 1) * stride + (window - 1) * dilation + 1
    x = placeholder("X", (BATCH, c, extent, extent), dtype)
    w = placeholder("W", (k, c, window, window), right_dtype or dtype)
    rc, r, s = axis("c", c), axis("r", window), axis("s", window)
    return _built("c2d", compute((BATCH, k, size, size), lambda n, k, p, q: reduce_sum(
        _dot(x[n, rc, p * stride + r * dilation, q * stride + s * dilation], w[k, rc, r, s], accumulator),
        over=(rc, r, s)), name="Y"))


def c3d(*, k: int = 32, c: int = 32, size: int = 16, window: int = 3, dtype: str = IN,
        accumulator: str = OUT) -> Scop:
    """Three-dimensional convolution."""
    extent = size + window - 1
    x, w = placeholder("X", (BATCH, c, extent, extent, extent), dtype), placeholder("W", (k, c, *[window] * 3), dtype)
    rc, t, r, s = axis("c", c), axis("t", window), axis("r", window), axis("s", window)
    return _built("c3d", compute((BATCH, k, size, size, size), lambda n, k, d, p, q: reduce_sum(
        _dot(x[n, rc, d + t, p + r, q + s], w[k, rc, t, r, s], accumulator), over=(rc, t, r, s)), name="Y"))


def t2d(*, k: int = 64, c: int = 64, size: int = 28, window: int = 3, stride: int = 2,
        dtype: str = IN, accumulator: str = OUT, right_dtype: str | None = None) -> Scop:
    """Transposed convolution: zeros between the inputs and around them, then the flipped kernel slides over."""
    out = (size - 1) * stride + window
    x = placeholder("X", (BATCH, c, size, size), dtype)
    w = placeholder("W", (c, k, window, window), right_dtype or dtype)
    lead = window - 1

    def spread(n, ch, y, z):  # type: ignore[no-untyped-def]
        inside = [i >= lead for i in (y, z)] + [i < lead + (size - 1) * stride + 1 for i in (y, z)]
        condition = inside[0] & inside[1] & inside[2] & inside[3]
        if stride > 1:
            condition = condition & equal((y - lead) % stride, 0) & equal((z - lead) % stride, 0)
        return where(condition, x[n, ch, (y - lead) // stride, (z - lead) // stride], 0)

    extent = out + window - 1
    wide = compute((BATCH, c, extent, extent), spread, name="spread")
    rc, r, s = axis("c", c), axis("r", window), axis("s", window)
    return _built("t2d", compute((BATCH, k, out, out), lambda n, k, p, q: reduce_sum(
        _dot(wide[n, rc, p + r, q + s], w[rc, k, window - 1 - r, window - 1 - s], accumulator), over=(rc, r, s)),
        name="Y"))


def grp(*, groups: int = 4, k: int = 32, c: int = 32, size: int = 28, window: int = 3,
        dtype: str = IN, accumulator: str = OUT) -> Scop:
    """Grouped convolution."""
    x = placeholder("X", (BATCH, groups, c, size + window - 1, size + window - 1), dtype)
    w = placeholder("W", (groups, k, c, window, window), dtype)
    rc, r, s = axis("c", c), axis("r", window), axis("s", window)
    return _built("grp", compute((BATCH, groups, k, size, size), lambda n, g, k, p, q: reduce_sum(
        _dot(x[n, g, rc, p + r, q + s], w[g, k, rc, r, s], accumulator), over=(rc, r, s)), name="Y"))


def dil(*, dilation: int = 2, **sizes: int) -> Scop:
    """Dilated convolution."""
    return c2d(dilation=dilation, **sizes)  # type: ignore[arg-type]


def dep(*, channels: int = 64, multiplier: int = 16, size: int = 56, window: int = 3,
        dtype: str = IN, accumulator: str = OUT) -> Scop:
    """Depthwise convolution with a channel multiplier."""
    x = placeholder("X", (BATCH, channels, size + window - 1, size + window - 1), dtype)
    w = placeholder("W", (channels, multiplier, window, window), dtype)
    r, s = axis("r", window), axis("s", window)
    return _built("dep", compute((BATCH, channels, multiplier, size, size), lambda n, c, m, p, q: reduce_sum(
        _dot(x[n, c, p + r, q + s], w[c, m, r, s], accumulator), over=(r, s)), name="Y"))


def cap(*, types: int = 8, dimensions: int = 16, c: int = 32, size: int = 14, window: int = 3,
        dtype: str = IN, accumulator: str = OUT) -> Scop:
    """Capsule convolution: capsules of several types, each a vector."""
    x = placeholder("X", (BATCH, c, size + window - 1, size + window - 1), dtype)
    w = placeholder("W", (types, dimensions, c, window, window), dtype)
    rc, r, s = axis("c", c), axis("r", window), axis("s", window)
    return _built("cap", compute((BATCH, types, dimensions, size, size), lambda n, k, v, p, q: reduce_sum(
        _dot(x[n, rc, p + r, q + s], w[k, v, rc, r, s], accumulator), over=(rc, r, s)), name="Y"))


def bcv(*, k: int = 64, c: int = 64, size: int = 28, window: int = 3, dtype: str = IN,
        accumulator: str = OUT) -> Scop:
    """Batched convolution: every element of the batch has its own kernel."""
    x = placeholder("X", (BATCH, c, size + window - 1, size + window - 1), dtype)
    w = placeholder("W", (BATCH, k, c, window, window), dtype)
    rc, r, s = axis("c", c), axis("r", window), axis("s", window)
    return _built("bcv", compute((BATCH, k, size, size), lambda n, k, p, q: reduce_sum(
        _dot(x[n, rc, p + r, q + s], w[n, k, rc, r, s], accumulator), over=(rc, r, s)), name="Y"))


def gfc(*, groups: int = 4, k: int = 128, c: int = 128, dtype: str = IN,
        accumulator: str = OUT) -> Scop:
    """Grouped fully connected layer."""
    x, w = placeholder("X", (BATCH, groups, c), dtype), placeholder("W", (groups, k, c), dtype)
    rc = axis("c", c)
    return _built("gfc", compute((BATCH, groups, k), lambda n, g, k: reduce_sum(
        _dot(x[n, g, rc], w[g, k, rc], accumulator), over=rc), name="Y"))


def men(*, m: int = 256, n: int = 256, dtype: str = IN, accumulator: str = OUT) -> Scop:
    """Means of rows: their sums, scaled afterwards."""
    x = placeholder("X", (m, n), dtype)
    j = axis("j", n)
    total = compute((m,), lambda i: reduce_sum(x[i, j].astype(accumulator), over=j), name="total")
    return _built("men", compute((m,), lambda i: total[i] * (1.0 / n), name="Y"))


def var(*, m: int = 256, n: int = 256, dtype: str = IN, accumulator: str = OUT) -> Scop:
    """Variances of rows around given means."""
    x, mean = placeholder("X", (m, n), dtype), placeholder("mean", (m,), dtype)
    j = axis("j", n)

    def square(i: Expression) -> Expression:
        apart = (x[i, j] - mean[i]).astype(dtype)
        return _dot(apart, apart, accumulator)

    total = compute((m,), lambda i: reduce_sum(square(i), over=j), name="total")
    return _built("var", compute((m,), lambda i: total[i] * (1.0 / n), name="Y"))


def scn(*, m: int = 256, n: int = 256, dtype: str = IN, accumulator: str = OUT) -> Scop:
    """Prefix sums of rows: a product with the triangular matrix of ones."""
    x, ones = placeholder("X", (m, n), dtype), placeholder("T", (n, n), dtype)
    j = axis("j", n)
    return _built("scn", compute((m, n), lambda i, k: reduce_sum(_dot(x[i, j], ones[j, k], accumulator), over=j),
                                 name="Y"))


OPERATORS: dict[str, Callable[..., Scop]] = {
    f.__name__: f for f in (gmv, gmm, c1d, c2d, c3d, t2d, grp, dil, dep, cap, bcv, gfc, men, var, scn)
}
