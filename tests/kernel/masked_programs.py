"""Block programs whose programs are apart, or not, by their masks."""

import polysched.scop.block_frontend.language as bl


def masked_apart(x, out, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    lanes = bl.arange(0, BLOCK * 2)
    own = bl.load(bl.block(x, (n,), (at,), (BLOCK * 2,)))
    bl.store(bl.block(out, (n,), (at,), (BLOCK * 2,)), own, mask=lanes < BLOCK)


def masked_one_too_far(x, out, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    lanes = bl.arange(0, BLOCK * 2)
    own = bl.load(bl.block(x, (n,), (at,), (BLOCK * 2,)))
    bl.store(bl.block(out, (n,), (at,), (BLOCK * 2,)), own, mask=lanes <= BLOCK)


def masked_by_data(x, out, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    own = bl.load(bl.block(x, (n,), (at,), (BLOCK * 2,)))
    bl.store(bl.block(out, (n,), (at,), (BLOCK * 2,)), own, mask=own > 0)


def only_first(x, out, BLOCK=8):
    n = out.shape[0]
    p = bl.program_id(0, bl.cdiv(n, BLOCK))
    lanes = bl.arange(0, BLOCK)
    own = bl.load(bl.block(x, (n,), (0,), (BLOCK,)))
    bl.store(bl.block(out, (n,), (0,), (BLOCK,)), own, mask=(p + 0 * lanes) < 1)


def axis_unused(x, out, BLOCK=8):
    n, m = x.shape
    i = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    j = bl.program_id(1, bl.cdiv(m, BLOCK)) * BLOCK
    own = bl.load(bl.block(x, (n, m), (i, j), (BLOCK, BLOCK)))
    bl.store(bl.block(out, (n,), (i,), (BLOCK,)), bl.sum(own, 1))


def masked_read(out, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    lanes = bl.arange(0, BLOCK * 2)
    own = bl.load(bl.block(out, (n,), (at,), (BLOCK * 2,)), mask=lanes < BLOCK)
    bl.store(bl.block(out, (n,), (at,), (BLOCK * 2,)), own + 1, mask=lanes < BLOCK)


def shifted_extent(x, out, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    own = bl.load(bl.block(x, (n,), (at - 1,), (BLOCK,)))
    bl.store(bl.block(out, (n,), (at - 1,), (BLOCK,)), own)


def either(x, out, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    lanes = bl.arange(0, BLOCK * 2)
    own = bl.load(bl.block(x, (n,), (at,), (BLOCK * 2,)))
    bl.store(bl.block(out, (n,), (at,), (BLOCK * 2,)), own, mask=(lanes < 4) | (lanes > 13))


def complement(x, out, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    lanes = bl.arange(0, BLOCK * 2)
    own = bl.load(bl.block(x, (n,), (at,), (BLOCK * 2,)))
    bl.store(bl.block(out, (n,), (at,), (BLOCK * 2,)), own, mask=~(lanes >= BLOCK))


APART = (masked_apart, only_first, masked_read, shifted_extent, either, complement)
TOGETHER = (masked_one_too_far, masked_by_data, axis_unused)
