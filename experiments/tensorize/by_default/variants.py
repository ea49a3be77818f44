"""One variant of a workload in a process of its own: `python variants.py REQUEST`, a request as JSON.

It says how long importing, the first call and the first call of every further size took, and at which sizes its
results are other than NumPy's.  Then it runs a block of calls whenever it is told a size, and says the seconds of a
call.  PyTorch's variants need NumPy and PyTorch alone, so that another interpreter can run them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[], np.ndarray]
Arrays = tuple[np.ndarray, ...]

CHANNELS, WINDOW = 64, 3   # of the convolution, in and out; its image has SIZE + WINDOW - 1 points a side
SHIFT = 8                  # of its requantisation
PEERS = ("torch._int_mm", "oneDNN linear", "oneDNN qconv2d")


def loop_nest(C: Any, A: Any, B: Any) -> None:
    """The product as plain loops."""
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0
            for k in range(K):
                C[i, j] += np.int32(A[i, k]) * np.int32(B[k, j])


def numpy_spelling(C: Any, A: Any, B: Any) -> None:
    """The product as NumPy users write it."""
    C[:, :] = A.astype(np.int32) @ B.astype(np.int32)


def one_nest(Y: Any, X: Any, W: Any, bias: Any) -> None:
    """Convolution, bias, ReLU and requantisation to unsigned bytes as one nest, channels last."""
    P, Q, K = Y.shape
    R, S, C, _ = W.shape
    for p in range(P):
        for q in range(Q):
            for k in range(K):
                t = bias[k]
                for r in range(R):
                    for s in range(S):
                        for c in range(C):
                            t += np.int32(X[p + r, q + s, c]) * np.int32(W[r, s, c, k])
                t = max(t, 0)
                t = (t + 128) >> 8
                Y[p, q, k] = min(t, 255)


def one_nest_of_7_bits(Y: Any, X: Any, W: Any, bias: Any) -> None:
    """The same where the program says that its image has values below 128."""
    P, Q, K = Y.shape
    R, S, C, _ = W.shape
    for p in range(P):
        for q in range(Q):
            for k in range(K):
                t = bias[k]
                for r in range(R):
                    for s in range(S):
                        for c in range(C):
                            t += (np.int32(X[p + r, q + s, c]) & 127) * np.int32(W[r, s, c, k])
                t = max(t, 0)
                t = (t + 128) >> 8
                Y[p, q, k] = min(t, 255)


KERNELS = {"loop nest": loop_nest, "NumPy spelling": numpy_spelling, "one nest": one_nest,
           "one nest of 7 bits": one_nest_of_7_bits}


def operands(kind: str, types: str, size: int) -> Arrays:
    """Bytes of every value, or unsigned ones below 128, the same for all variants; a bias for the convolution."""
    chooser = np.random.default_rng(size)

    def filled(dtype: str, *shape: int) -> np.ndarray:
        low, high = {"u8": (0, 256), "u7": (0, 128), "s8": (-128, 128)}[dtype]
        return chooser.integers(low, high, shape).astype(np.int8 if dtype == "s8" else np.uint8)

    left, right = types.split(" x ")
    if kind == "product":
        return filled(left, size, size), filled(right, size, size)
    side = size + WINDOW - 1
    bias = chooser.integers(-5000, 5000, CHANNELS).astype(np.int32)
    return filled(left, side, side, CHANNELS), filled(right, WINDOW, WINDOW, CHANNELS, CHANNELS), bias


def expected(kind: str, arrays: Arrays, result: np.ndarray, *, ties_up: bool) -> np.ndarray:
    """What NumPy computes in doubles, which hold all sums exactly.

    Parameters
    ----------
    result : of the variant; floats are rounded to their 24 bits.
    ties_up : halves are rounded up, as by a shift; else to even, as oneDNN does.
    """
    if kind == "product":
        a, b = (x.astype(np.float64) for x in arrays)
        return (a @ b).astype(result.dtype)
    image, weights, bias = arrays
    seen = np.lib.stride_tricks.sliding_window_view(image.astype(np.float64), (WINDOW, WINDOW), axis=(0, 1))
    sums = np.tensordot(seen, weights.astype(np.float64), axes=((2, 3, 4), (2, 0, 1))) + bias
    scaled = np.maximum(sums, 0) / (1 << SHIFT)
    return np.minimum(np.floor(scaled + 0.5) if ties_up else np.rint(scaled), 255).astype(np.uint8)


def maker(variant: str) -> Callable[[Arrays], Call]:
    """What makes one call of a variant for operands; what a user does once, ahead of all calls, is done in it."""
    if variant in PEERS:
        import torch
        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
        return {"torch._int_mm": int_mm, "oneDNN linear": linear, "oneDNN qconv2d": qconv2d}[variant]
    import polysched.kernel
    kernel = polysched.kernel.kernel(KERNELS[variant])

    def made(arrays: Arrays) -> Call:
        if len(arrays) == 2:
            result = np.empty((arrays[0].shape[0], arrays[1].shape[1]), np.int32)
        else:
            side = arrays[0].shape[0] - WINDOW + 1
            result = np.empty((side, side, CHANNELS), np.uint8)

        def call() -> np.ndarray:
            kernel(result, *arrays)
            return result

        return call

    return made


def int_mm(arrays: Arrays) -> Call:
    """PyTorch's product of signed bytes."""
    import torch
    left, right = map(torch.from_numpy, arrays)
    return lambda: torch._int_mm(left, right).numpy()


def linear(arrays: Arrays) -> Call:
    """oneDNN's product through PyTorch, weights packed once; results are floats of whole numbers."""
    import torch
    left, right = map(torch.from_numpy, arrays)
    packed = torch.ops.onednn.qlinear_prepack(right.t().contiguous(), list(left.shape))
    scale, zero = torch.ones(right.shape[1]), torch.zeros(right.shape[1], dtype=torch.int64)
    return lambda: torch.ops.onednn.qlinear_pointwise(
        left, 1.0, 0, packed, scale, zero, None, 1.0, 0, torch.float32, "none", [], "").numpy()


def qconv2d(arrays: Arrays) -> Call:
    """oneDNN's convolution with bias, ReLU and requantisation, channels last, weights packed once."""
    import torch
    image, weights, bias = (torch.from_numpy(a) for a in arrays)
    seen = image.permute(2, 0, 1).unsqueeze(0)   # the same memory, as NCHW
    scales, zeros = torch.ones(CHANNELS), torch.zeros(CHANNELS, dtype=torch.int32)
    one, none = [1, 1], [0, 0]
    packed = torch.ops.onednn.qconv_prepack(weights.permute(3, 2, 0, 1).contiguous(), scales, 1.0, 0, one, none, one, 1,
                                            list(seen.shape))
    floats = bias.to(torch.float32)

    def call() -> np.ndarray:
        found = torch.ops.onednn.qconv2d_pointwise(seen, 1.0, 0, packed, scales, zeros, floats, one, none, one, 1,
                                                   float(1 << SHIFT), 0, torch.uint8, "relu", [], "")
        return found[0].permute(1, 2, 0).numpy()

    return call


def serve(request: dict[str, Any]) -> None:
    """Say what first calls take and what is wrong, then run blocks of calls."""
    kind, variant = request["kind"], request["variant"]
    started = time.perf_counter()
    make = maker(variant)
    imported = time.perf_counter() - started
    ready: dict[int, Call] = {}
    firsts, wrong = [], []
    for size in request["sizes"]:
        arrays = operands(kind, request["types"], size)
        started = time.perf_counter()
        ready[size] = make(arrays)
        result = ready[size]()
        firsts.append(time.perf_counter() - started)
        if not np.array_equal(result, expected(kind, arrays, result, ties_up=variant not in PEERS)):
            wrong.append(size)
    print(json.dumps({"imported": imported, "firsts": firsts, "wrong": wrong}), flush=True)
    for line in sys.stdin:
        call = ready[int(line)]
        call()
        started = time.perf_counter()
        for _ in range(request["calls"]):
            call()
        print((time.perf_counter() - started) / request["calls"], flush=True)


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
