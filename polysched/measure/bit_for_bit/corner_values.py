"""Values that find wrong instructions: random bits, the corners of a type, small numbers, and mixtures of these.

Large arrays repeat a block of values whose length has no small divisor, so that rows differ.
"""

from __future__ import annotations

import zlib

import numpy as np

from polysched.measure.programs.inputs import FLOATS, STORAGE_TYPES, NDArray, store

BLOCK_ELEMENTS = 65521   # a prime
WAYS = ("random", "corners", "mixed", "small")
SMALL = WAYS.index("small")
SMALLEST, BEYOND = -3, 4
FLOAT_CORNERS = {   # zeros, ones, denormals, the ends of the normal range, infinities, a NaN
    "float32": (0, 0x80000000, 0x3F800000, 0xBF800000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x80800000, 0x7F7FFFFF,
                0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800001),
    "float64": (0, 1 << 63, 0x3FF << 52, 0xBFF << 52, 1, (1 << 52) - 1, 1 << 52, 0x7FEFFFFFFFFFFFFF, 0x7FF << 52,
                0xFFF << 52, 0x7FF8 << 48, (0x3FF << 52) + 1),
    "bfloat16": (0, 0x8000, 0x3F80, 0xBF80, 1, 0x8001, 0x7F, 0x80, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x3F81),
    "float16": (0, 0x8000, 0x3C00, 0xBC00, 1, 0x8001, 0x3FF, 0x400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x3C01)}


def fill(array: NDArray, dtype_name: str, *, name: str, values: str, most: int, way: str, seed: int) -> None:
    """Fill an array in place; the same arguments give the same values.

    Parameters
    ----------
    values : `any`, `whole` (at most `most` in magnitude), `positive` (1 to 7) or `index` (below `most`).
    way : one of WAYS.
    """
    generator = np.random.default_rng([seed, zlib.crc32(name.encode())])
    count = min(array.size, BLOCK_ELEMENTS)
    block = np.empty(count, np.dtype(STORAGE_TYPES[dtype_name]))
    match values:
        case "any" if dtype_name != "longdouble":
            block[...] = _any(generator, count, dtype_name, way)
        case "index":
            _put(block, generator.integers(0, max(1, most), count), dtype_name)
        case "positive":
            _put(block, generator.integers(1, 8, count), dtype_name)
        case _:
            _put(block, _whole(generator, count, dtype_name, most or 8, way), dtype_name)
    array.reshape(-1)[...] = np.resize(block, array.size)


def _put(block: NDArray, numbers: NDArray, dtype_name: str) -> None:
    if dtype_name in FLOATS:
        store(block, numbers.astype(np.float64), dtype_name)
    else:
        block[...] = numbers.astype(block.dtype)


def _whole(generator: np.random.Generator, count: int, dtype_name: str, most: int, way: str) -> NDArray:
    """Whole numbers of both signs where the type has them."""
    least = 0 if dtype_name.startswith("uint") or dtype_name == "bool" else -most
    most = 1 if dtype_name == "bool" else most
    if way == "corners":
        return np.asarray(generator.choice([least, 0, 1, most], count))
    return np.asarray(generator.integers(least, most + 1, count))


def _any(generator: np.random.Generator, count: int, dtype_name: str, way: str) -> NDArray:
    """Every value of a type that there is."""
    if dtype_name == "bool":
        return np.asarray(generator.integers(0, 2, count, dtype=np.uint8))
    kind = np.dtype(STORAGE_TYPES[dtype_name])
    raw = generator.integers(0, 256, (count, kind.itemsize), dtype=np.uint8).view(kind).reshape(-1)
    if way == "random":
        return raw
    corners = np.asarray(generator.choice(_corners(dtype_name, kind), count))
    if way == "corners":
        return corners
    small = np.empty(count, kind)
    _put(small, generator.integers(0 if kind.kind == "u" and dtype_name != "bfloat16" else SMALLEST, BEYOND, count),
         dtype_name)
    if way == "small":
        return small
    chosen = generator.integers(0, 3, count)
    return np.asarray(np.where(chosen == 0, raw, np.where(chosen == 1, corners, small)))


def _corners(dtype_name: str, kind: np.dtype) -> NDArray:
    """The ends of a type and their neighbours, halves, zero and one."""
    if dtype_name in FLOAT_CORNERS:
        return np.array(FLOAT_CORNERS[dtype_name], dtype=f"u{kind.itemsize}").view(kind)
    limits = np.iinfo(kind)
    found = {limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, limits.max // 2, limits.max // 2 + 1}
    found |= {-1} if limits.min < 0 else set()
    return np.array(sorted(found), dtype=kind)
