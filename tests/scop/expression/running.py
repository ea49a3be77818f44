"""Runs the Scop of a tensor expression in the reference interpreter."""

from collections.abc import Mapping, Sequence

import numpy as np

from polysched.scop.expression import Tensor, build
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop, Storage


def run(outputs: Tensor | Sequence[Tensor], inputs: Mapping[str, np.ndarray | float],
        sizes: Mapping[str, int] | None = None) -> np.ndarray:
    """The first output of a tensor expression on these inputs."""
    results = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    scop = build(results)
    return run_scop(scop, inputs, sizes)[results[0].name]


def run_scop(scop: Scop, inputs: Mapping[str, np.ndarray | float],
             sizes: Mapping[str, int] | None = None) -> dict[str, np.ndarray]:
    """Every argument after the Scop ran; outputs start as a value that shows when it stays."""
    sizes = dict(sizes or {})
    arrays: dict[str, np.ndarray | float] = dict(inputs)
    for array in scop.arrays:
        if array.storage is Storage.ARGUMENT and array.name not in arrays:
            shape = tuple(e or 0 for e in extents_of(array, sizes))
            dtype = "uint16" if array.dtype.name == "bfloat16" else array.dtype.name
            arrays[array.name] = np.full(shape, 77, dtype)
    execute(scop, sizes, arrays, wrap_signed=True)
    return {name: np.asarray(a) for name, a in arrays.items()}


def random(rng: np.random.Generator, shape: Sequence[int], dtype: str = "float32") -> np.ndarray:
    """Small random elements of a type."""
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0 if dtype.startswith("u") else -5, 6, tuple(shape)).astype(dtype)
    return rng.standard_normal(tuple(shape)).astype(dtype)
