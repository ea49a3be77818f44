"""The workloads: each a plain operator, and the plain loop nest that the C compiler vectorises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from polysched.scop.body import Assign, Binary, Cast, Expr, Literal, Load, rebuild
from polysched.scop.dtypes import INT32, UINT8
from polysched.scop.expression import axis, build, compute, placeholder
from polysched.scop.expression import sum as total
from polysched.scop.interpreter import extents_of
from polysched.scop.scop import Scop
from polysched.tensorize import operators
from polysched.tensorize.operators import BATCH

Arrays = dict[str, np.ndarray]

BYTES = {"dtype": "uint8", "right_dtype": "int8", "accumulator": "int32"}
BF16 = {"dtype": "bfloat16", "accumulator": "float32"}
F32 = {"dtype": "float32", "accumulator": "float32"}
TYPES = {"bytes": BYTES, "bf16": BF16, "f32": F32}
PLAIN_PRODUCT = """void plain({c} *restrict C, const {a} *restrict A, const {b} *restrict B) {{
    #pragma omp parallel for
    for (long i = 0; i < {m}; i++)
        for (long j = 0; j < {n}; j++) {{
            {c} sum = 0;
            for (long k = 0; k < {k}; k++) sum += A[i * {k} + k] * B[j * {k} + k];
            C[i * {n} + j] = sum;
        }}
}}
"""
PLAIN_F32 = """void plain(float *restrict C, const float *restrict A, const float *restrict B) {{
    #pragma omp parallel for
    for (long i = 0; i < {m}; i++) {{
        for (long j = 0; j < {n}; j++) C[i * {n} + j] = 0;
        for (long k = 0; k < {k}; k++)
            for (long j = 0; j < {n}; j++) C[i * {n} + j] += A[i * {k} + k] * B[k * {n} + j];
    }}
}}
"""
PLAIN_BF16 = PLAIN_F32.replace("const float", "const bf16").replace(
    "A[i * {k} + k] * B[k * {n} + j]", "bf16_to_f32(A[i * {k} + k]) * bf16_to_f32(B[k * {n} + j])")
PLAIN_CONVOLUTION = """void plain(int32_t *restrict Y, const uint8_t *restrict X, const int8_t *restrict W) {{
    #pragma omp parallel for collapse(2)
    for (long k = 0; k < {k}; k++)
        for (long p = 0; p < {size}; p++) {{
            for (long q = 0; q < {size}; q++) Y[(k * {size} + p) * {size} + q] = 0;
            for (long c = 0; c < {c}; c++)
                for (long r = 0; r < {window}; r++)
                    for (long s = 0; s < {window}; s++)
                        for (long q = 0; q < {size}; q++)
                            Y[(k * {size} + p) * {size} + q] += X[(c * {wide} + p + r) * {wide} + q + s]
                                * W[((k * {c} + c) * {window} + r) * {window} + s];
        }}
}}
"""
PLAIN_CHANNELS_LAST = """void plain(int32_t *restrict Y, const uint8_t *restrict X, const int8_t *restrict W) {{
    #pragma omp parallel for collapse(2)
    for (long p = 0; p < {size}; p++)
        for (long q = 0; q < {size}; q++)
            for (long k = 0; k < {k}; k++) {{
                int32_t sum = 0;
                for (long r = 0; r < {window}; r++)
                    for (long s = 0; s < {window}; s++)
                        for (long c = 0; c < {c}; c++)
                            sum += X[((p + r) * {wide} + q + s) * {c} + c]
                                * W[((k * {window} + r) * {window} + s) * {c} + c];
                Y[(p * {size} + q) * {k} + k] = sum;
            }}
}}
"""


@dataclass(kw_only=True)
class Workload:
    """One row of the configuration.

    Parameters
    ----------
    plain : C of the function `plain`, whose arguments are pointers to `order`.
    constant : the array that is packed once, weights or the right factor.
    channels_last : inputs and results are; the plain loop nest gets the weights that way too.
    transposed : the plain loop nest gets B transposed, as a good one would have it.
    left_bits : unsigned bytes have values of so many bits, and with fewer than 8 the program says so; with 7 no pair of
        products leaves 16 bits.
    """

    scop: Scop
    operations: int
    plain: str
    order: tuple[str, ...]
    constant: str
    sizes: dict[str, int] = field(default_factory=dict)
    channels_last: bool = False
    transposed: bool = False
    left_bits: int = 8

    @property
    def result(self) -> str:
        """The array that is computed."""
        return self.order[0]

    def inputs(self) -> Arrays:
        """All arrays on 64-byte boundaries: bytes of every value, else small integers, whose float sums are exact."""
        chooser, values = np.random.default_rng(0), {"uint8": (0, 1 << self.left_bits), "int8": (-128, 128)}
        return {a.name: aligned(stored(chooser.integers(*values.get(a.dtype.name, (-4, 5)),
                                                        size=extents_of(a, self.sizes)), a.dtype.name))
                for a in self.scop.arrays}

    def for_plain(self, arrays: Arrays) -> Arrays:
        """The arrays as the plain loop nest wants them."""
        changed = dict(arrays)
        if self.transposed:
            changed["B"] = aligned(arrays["B"].T)
        if self.channels_last:
            changed["W"] = aligned(arrays["W"].transpose(0, 2, 3, 1))
        return changed


def product(row: Mapping[str, Any]) -> Workload:
    names = {"uint8": "uint8_t", "int8": "int8_t", "int32": "int32_t", "float32": "float", "bfloat16": "bf16"}
    types, sizes = TYPES[row["types"]], row["sizes"]
    plain = {"bytes": PLAIN_PRODUCT, "bf16": PLAIN_BF16, "f32": PLAIN_F32}[row["types"]]
    text = plain.format(c=names[types["accumulator"]], a=names[types["dtype"]],
                        b=names[types.get("right_dtype", types["dtype"])], **sizes)
    return Workload(scop=operators.gmm(**sizes, **types), operations=2 * sizes["m"] * sizes["n"] * sizes["k"],
                    plain=text, order=("C", "A", "B"), constant="B", transposed=plain is PLAIN_PRODUCT)


def convolution(row: Mapping[str, Any]) -> Workload:
    sizes = row["sizes"]
    return convolved(row, operators.c2d(**sizes, **BYTES), PLAIN_CONVOLUTION)


def channels_last(row: Mapping[str, Any]) -> Workload:
    """The convolution with the layout that oneDNN likes best: channels innermost in inputs and results."""
    channels_in, channels, size, window = (row["sizes"][n] for n in ("c", "k", "size", "window"))
    x = placeholder("X", (BATCH, size + window - 1, size + window - 1, channels_in), "uint8")
    w = placeholder("W", (channels, channels_in, window, window), "int8")
    c, r, s = axis("c", channels_in), axis("r", window), axis("s", window)
    scop = build(compute((BATCH, size, size, channels), lambda n, p, q, k: total(
        x[n, p + r, q + s, c].astype("int32") * w[k, c, r, s].astype("int32"), over=(c, r, s)), name="Y"), name="nhwc")
    return convolved(row, scop, PLAIN_CHANNELS_LAST)


def convolved(row: Mapping[str, Any], scop: Scop, plain: str) -> Workload:
    s = row["sizes"]
    return Workload(scop=scop, operations=2 * s["k"] * s["c"] * s["size"]**2 * s["window"]**2,
                    plain=plain.format(**s, wide=s["size"] + s["window"] - 1), order=("Y", "X", "W"), constant="W",
                    sizes={"batch": 1}, channels_last=plain is PLAIN_CHANNELS_LAST)


KINDS: dict[str, Callable[[Mapping[str, Any]], Workload]] = {
    f.__name__: f for f in (product, convolution, channels_last)}


def make(row: Mapping[str, Any]) -> Workload:
    """The workload of a row of the configuration."""
    made = KINDS[row["kind"]](row)
    bits = row.get("left_bits", 8)
    return replace(made, left_bits=bits, scop=made.scop if bits == 8 else bounded(made.scop, (1 << bits) - 1))


def bounded(scop: Scop, mask: int) -> Scop:
    """The program that says how large unsigned bytes are: `x & mask` where it reads `x`."""
    def change(e: Expr) -> Expr:
        return Binary("&", Cast(e, INT32), Literal(str(mask), mask, INT32), INT32) \
            if isinstance(e, Load) and e.dtype == UINT8 else e

    return replace(scop, statements=tuple(
        replace(s, body=tuple(replace(b, value=rebuild(b.value, change)) if isinstance(b, Assign) else b
                              for b in s.body)) for s in scop.statements))


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    """Values in an element type; bfloat16 as its upper 16 bits, rounded towards zero."""
    if dtype == "bfloat16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(dtype)


def aligned(values: np.ndarray) -> np.ndarray:
    """A contiguous copy on a 64-byte boundary."""
    memory = np.empty(values.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start: start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy
