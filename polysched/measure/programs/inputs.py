"""Seeded input values that suit a kernel, and the memory that they stand in.

Random numbers alone make bad inputs: factorisations of a random matrix break down, recurrences overflow.
Each recipe here is one guess at values for which a numerical kernel is well conditioned; the caller takes the
first for which the untransformed code gives finite results that do not amplify rounding errors.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from polysched.records import dataclass
from polysched.target.target import BUFFER_ALIGNMENT_BYTES

NDArray = npt.NDArray[Any]

ALIGNMENT_BYTES = BUFFER_ALIGNMENT_BYTES
CANARY_BYTES = 4096
CANARY = 0xA5
RECIPES = ("dominant", "small", "mixed", "wide")
WHOLE = "whole"
"""Small whole numbers for floats, whose products and sums are exact; every value of a byte, its ends more often."""
SMALLEST_INTEGER, BEYOND_INTEGER = 1, 9
WIDTHS = (1, 10, 100, 1000)
"""Largest magnitudes of the recipe `wide`, each for a quarter of the values: programs often compare with one."""
LARGEST_WHOLE: Mapping[int, int] = {2: 300, 4: 40, 8: 40}
"""Of integers of so many bytes: a few thousand of their products fit an int."""

STORAGE_TYPES: Mapping[str, str] = {
    "bool": "uint8", "bfloat16": "uint16", "longdouble": "longdouble",
    **{name: name for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                               "float16", "float32", "float64")}}
FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", "longdouble"})
UNIT_ROUNDOFF: Mapping[str, float] = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24,
                                      "float64": 2.0**-53, "longdouble": 2.0**-64}


@dataclass(frozen=True, eq=False)
class GuardedArray:
    """An aligned array with a known pattern before and after it, so that stray writes are seen.

    Parameters
    ----------
    memory : the bytes with both guards.
    start : where in `memory` the array begins; the address is a multiple of `ALIGNMENT_BYTES`.
    values : the array itself, in the middle.
    dtype_name : the element type by polysched's name.
    """

    memory: NDArray
    start: int
    values: NDArray
    dtype_name: str

    def guards_intact(self) -> bool:
        """Whether nothing was written just outside the array."""
        before, after = self.memory[:self.start], self.memory[self.start + self.values.nbytes:]
        return bool((before == CANARY).all() and (after == CANARY).all())


def allocate(dtype_name: str, shape: tuple[int, ...]) -> GuardedArray:
    """Guarded memory for an array, filled with zeros; MemoryError when there is not enough."""
    storage = np.dtype(STORAGE_TYPES[dtype_name])
    byte_count = int(np.prod(shape, dtype=np.int64)) * storage.itemsize
    memory = np.empty(byte_count + 2 * CANARY_BYTES + ALIGNMENT_BYTES, dtype=np.uint8)
    start = CANARY_BYTES + (-(memory.ctypes.data + CANARY_BYTES)) % ALIGNMENT_BYTES
    memory[:start] = CANARY
    memory[start + byte_count:] = CANARY
    values = memory[start:start + byte_count].view(storage).reshape(shape)
    values[...] = 0
    return GuardedArray(memory, start, values, dtype_name)


def fill(array: NDArray, dtype_name: str, *, name: str, recipe: str, seed: int,
         index_extent: int | None = None) -> None:
    """Fill an array in place with values that depend on nothing but the arguments.

    Parameters
    ----------
    name : of the array; two arrays of one kernel get different values.
    recipe : one of RECIPES, or WHOLE.  Integers are negative in "mixed", "wide" and WHOLE only, zero in the last two.
    index_extent : the array is used as a subscript: values are 0 to `index_extent - 1`.
    """
    generator = np.random.default_rng([seed, zlib.crc32(name.encode())])
    if recipe == WHOLE and dtype_name in FLOATS:
        store(array, generator.integers(-8, 9, array.shape).astype(float), dtype_name)
    elif recipe == WHOLE and index_extent is None and dtype_name != "bool":
        array[...] = _whole_integers(generator, array.shape, np.iinfo(dtype_name))
    elif dtype_name in FLOATS:
        store(array, _float_values(generator, array.shape, recipe), dtype_name)
    elif index_extent is not None:
        array[...] = generator.integers(0, max(1, index_extent), size=array.shape)
    elif dtype_name == "bool":
        array[...] = generator.integers(0, 2, size=array.shape)
    else:
        array[...] = _small_integers(generator, array.shape, recipe, np.iinfo(dtype_name))


def set_elements(array: NDArray, elements: Iterable[tuple[Sequence[int], int]]) -> None:
    """Give single elements, by index, their values."""
    for index, value in elements:
        array[tuple(index)] = value


def _whole_integers(generator: np.random.Generator, shape: tuple[int, ...], kind: np.iinfo[Any]) -> NDArray:
    """Of bytes all values, a quarter of them at an end; else of both signs, and not large."""
    bits = int(kind.bits)
    if bits > 8:
        most = LARGEST_WHOLE[bits // 8]
        return generator.integers(0 if kind.min == 0 else -most, most + 1, shape)
    ends = generator.choice([int(kind.min), int(kind.max)], shape)
    return np.where(generator.random(shape) < 0.25, ends, generator.integers(kind.min, kind.max + 1, shape))


def _small_integers(generator: np.random.Generator, shape: tuple[int, ...], recipe: str,
                    kind: np.iinfo[Any]) -> NDArray:
    """From 1 to 8; `mixed`: of both signs; `wide`: of both signs and several magnitudes, and zeros among them."""
    if recipe == "wide":
        most = generator.choice([min(width, int(kind.max)) for width in WIDTHS], shape)
        return generator.integers(0 if kind.min == 0 else -most, most + 1)
    values = generator.integers(SMALLEST_INTEGER, BEYOND_INTEGER, size=shape)
    return values * generator.choice((-1, 1), shape) if recipe == "mixed" and kind.min < 0 else values


def _float_values(generator: np.random.Generator, shape: tuple[int, ...], recipe: str) -> NDArray:
    """Doubles by one recipe.

    `dominant` : positive, around 1; square matrices symmetric with a dominant diagonal, so positive definite.
    `small` : positive, at most 1/extent; square matrices close to the unit matrix.
    `mixed` : both signs, between -1 and 1; square matrices with a dominant diagonal.
    `wide` : both signs, of magnitudes up to 1000.
    """
    extent = max(shape, default=1)
    square = len(shape) == 2 and shape[0] == shape[1]
    if recipe == "dominant":
        values = generator.random(shape) + 0.5
    elif recipe == "small":
        values = generator.random(shape) / extent
    elif recipe == "mixed":
        values = generator.random(shape) * 2 - 1
    elif recipe == "wide":
        return np.asarray((generator.random(shape) * 2 - 1) * generator.choice(WIDTHS, shape))
    else:
        raise ValueError(f"no recipe {recipe!r}")
    if square:
        values = (values + values.T) / 2
        values[np.diag_indices(extent)] += 1.0 if recipe == "small" else 1.5 * extent
    return np.asarray(values)


def store(array: NDArray, values: NDArray, dtype_name: str) -> None:
    """Round doubles to the element type, in place; bfloat16 is rounded to nearest, ties to even."""
    if dtype_name == "bfloat16":
        bits = np.asarray(values, dtype=np.float32).view(np.uint32)
        array[...] = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    else:
        array[...] = values


def as_numbers(array: NDArray, dtype_name: str) -> NDArray:
    """The array as numbers that NumPy can calculate with: bfloat16 widened, everything else as it is."""
    if dtype_name == "bfloat16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def perturb(array: NDArray, dtype_name: str, *, name: str, seed: int, roundoffs: float) -> None:
    """Change every float by a random relative amount of at most `roundoffs` units of rounding, in place."""
    if dtype_name not in FLOATS:
        return
    generator = np.random.default_rng([seed, zlib.crc32(name.encode()), 1])
    step = roundoffs * UNIT_ROUNDOFF[dtype_name]
    flat = array.reshape(-1)
    for start in range(0, flat.size, 1 << 20):
        part = flat[start:start + (1 << 20)]
        wide = np.longdouble if dtype_name == "longdouble" else np.float64
        noise: NDArray = 1 + np.asarray(generator.uniform(-step, step, part.shape), dtype=wide)
        store(part, as_numbers(part, dtype_name) * noise, dtype_name)
