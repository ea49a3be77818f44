"""The workloads: each a plain operator, and the plain loop nest that the C compiler vectorises."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from polysched.scop.expression import axis, build, compute, placeholder
from polysched.scop.expression import sum as total
from polysched.scop.scop import Scop
from polysched.tensorize import operators
from polysched.tensorize.operators import BATCH

BYTES = {"dtype": "uint8", "right_dtype": "int8", "accumulator": "int32"}
BF16 = {"dtype": "bfloat16", "accumulator": "float32"}
F32 = {"dtype": "float32", "accumulator": "float32"}
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


@dataclass
class Workload:
    """One row of the table."""

    name: str
    scop: Scop
    operations: int
    plain: str
    sizes: dict[str, int] = field(default_factory=dict)
    constant: str = ""                  # array that is packed once
    channels_last: bool = False         # X and Y are; the baseline gets W that way too
    transposed_plain: bool = False      # the baseline gets B transposed, as a good loop nest would have it


def product(name: str, n: int, types: dict[str, str], plain: str) -> Workload:
    names = {"uint8": "uint8_t", "int8": "int8_t", "int32": "int32_t", "float32": "float", "bfloat16": "bf16"}
    c, a = names[types["accumulator"]], names[types["dtype"]]
    text = plain.format(c=c, a=a, b=names[types.get("right_dtype", types["dtype"])], m=n, n=n, k=n)
    return Workload(name, operators.gmm(m=n, n=n, k=n, **types), 2 * n**3, text, constant="B",
                    transposed_plain=plain is PLAIN_PRODUCT)


def convolution(name: str, channels_in: int, channels: int, size: int, window: int) -> Workload:
    scop = operators.c2d(k=channels, c=channels_in, size=size, window=window, **BYTES)
    text = PLAIN_CONVOLUTION.format(k=channels, c=channels_in, size=size, window=window, wide=size + window - 1)
    return Workload(name, scop, 2 * channels * channels_in * size * size * window * window, text, {"batch": 1}, "W")


def channels_last(name: str, channels_in: int, channels: int, size: int, window: int) -> Workload:
    """The convolution with the layout that oneDNN likes best: channels innermost in inputs and results."""
    x = placeholder("X", (BATCH, size + window - 1, size + window - 1, channels_in), "uint8")
    w = placeholder("W", (channels, channels_in, window, window), "int8")
    c, r, s = axis("c", channels_in), axis("r", window), axis("s", window)
    scop = build(compute((BATCH, size, size, channels), lambda n, p, q, k: total(
        x[n, p + r, q + s, c].astype("int32") * w[k, c, r, s].astype("int32"), over=(c, r, s)), name="Y"), name="nhwc")
    text = PLAIN_CHANNELS_LAST.format(k=channels, c=channels_in, size=size, window=window, wide=size + window - 1)
    return Workload(name, scop, 2 * channels * channels_in * size * size * window * window, text, {"batch": 1}, "W",
                    channels_last=True)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "int8 product 1024": lambda: product("int8 product 1024", 1024, BYTES, PLAIN_PRODUCT),
    "bf16 product 1024": lambda: product("bf16 product 1024", 1024, BF16, PLAIN_BF16),
    "f32 product 1024": lambda: product("f32 product 1024", 1024, F32, PLAIN_F32),
    "int8 conv 3x3 64@56": lambda: convolution("int8 conv 3x3 64@56", 64, 64, 56, 3),
    "int8 conv 1x1 64@56": lambda: convolution("int8 conv 1x1 64@56", 64, 64, 56, 1),
    "int8 conv 3x3 nhwc": lambda: channels_last("int8 conv 3x3 nhwc", 64, 64, 56, 3),
    "int8 conv 1x1 nhwc": lambda: channels_last("int8 conv 1x1 nhwc", 64, 64, 56, 1),
}


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bfloat16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(dtype)
