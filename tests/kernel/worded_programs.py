"""Block programs in words that Triton has with another meaning: division, NaNs, small types."""

import numpy as np

import polysched.scop.block_frontend.language as bl


def divided(x, y, out, B=8):
    n, m = out.shape
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    a = bl.load(bl.block(x, (n, m), (at, 0), (B, B)))
    b = bl.load(bl.block(y, (n, m), (at, 0), (B, B)), other=1)
    bl.store(bl.block(out, (n, m), (at, 0), (B, B)), a // b)


def rest(x, y, out, B=8):
    n, m = out.shape
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    a = bl.load(bl.block(x, (n, m), (at, 0), (B, B)))
    a %= bl.load(bl.block(y, (n, m), (at, 0), (B, B)), other=1)
    bl.store(bl.block(out, (n, m), (at, 0), (B, B)), a + (bl.arange(0, B) - 5) % 3)


def places(x, y, out, B=8):
    n, m = out.shape
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    total = bl.load(bl.block(x, (n, m), (at, 0), (B, B)))
    for k in range(0, m, 2):
        total += bl.load(bl.block(y, (n, m), (at, (k - 5) // 3), (B, B)))
    bl.store(bl.block(out, (n, m), (at, 0), (B, B)), total)


def larger(x, y, out, B=8):
    n, m = out.shape
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    a = bl.load(bl.block(x, (n, m), (at, 0), (B, B)))
    b = bl.load(bl.block(y, (n, m), (at, 0), (B, B)))
    bl.store(bl.block(out, (n, m), (at, 0), (B, B)), bl.maximum(a, b) - bl.minimum(a, b))


def rows(x, y, out, B=8):
    n, m = out.shape
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    a = bl.load(bl.block(x, (n, m), (at, 0), (B, B)))
    bl.store(bl.block(out, (n, m), (at, 0), (B, None)), bl.sum(a, 1))
    bl.store(bl.block(out, (n, m), (at, 1), (B, None)), bl.max(a, axis=1))
    bl.store(bl.block(out, (n, m), (at, 2), (B, None)), bl.min(a, 1))


def functions(x, y, out, B=8):
    n, m = out.shape
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    a = bl.abs(bl.load(bl.block(x, (n, m), (at, 0), (B, B)), other=1)) + 1
    bl.store(bl.block(out, (n, m), (at, 0), (B, B)), bl.exp(a) + bl.log(a) * bl.sqrt(a))


EVERY = [(function, kind) for function, kinds in (
    (divided, (np.int8, np.int32, np.int64)), (rest, (np.int8, np.int64, np.float32)), (places, (np.int32,)),
    (larger, (np.int8, np.float16, np.float32)), (rows, (np.int8, np.float16, np.float64)),
    (functions, (np.float16, np.float64))) for kind in kinds]
