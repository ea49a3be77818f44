"""The workloads: inputs, operations and bytes, and the definition of each in NumPy (which is also a peer)."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polysched.measure.programs.inputs import allocate

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One row of the configuration.

    Parameters
    ----------
    shapes : of every array by name; those in `results` are computed, the others are inputs.
    in_place : inputs that the computation overwrites.
    scale : inputs are uniform in +-scale.
    """

    name: str
    kind: str
    dtype: str
    sizes: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]
    results: tuple[str, ...]
    flop_count: int
    bytes_moved: int
    in_place: tuple[str, ...] = ()
    scales: Mapping[str, float] = field(default_factory=dict)

    def inputs(self) -> Arrays:
        """Aligned arrays: inputs from a seed, results zero."""
        arrays = {}
        for name, shape in self.shapes.items():
            array = arrays[name] = allocate(self.dtype, shape).values
            if name not in self.results or name in self.in_place:
                random = np.random.default_rng(zlib.crc32(f"{self.name}/{name}".encode()))
                array[...] = random.uniform(-1, 1, shape) * self.scales.get(name, 0.5)
        return arrays


def make(parameters: Mapping[str, Any]) -> Workload:
    """The workload of a row."""
    shapes, results, flop_count, in_place, scales = KINDS[parameters["kind"]](parameters["sizes"])
    size = np.dtype(parameters["dtype"]).itemsize
    moved = size * sum(math.prod(s) * (2 if n in in_place else 1) for n, s in shapes.items())
    return Workload(name=parameters["name"], kind=parameters["kind"], dtype=parameters["dtype"],
                    sizes=parameters["sizes"], shapes=shapes, results=results, flop_count=flop_count,
                    bytes_moved=moved, in_place=in_place, scales=scales)


Described = tuple[dict[str, tuple[int, ...]], tuple[str, ...], int, tuple[str, ...], dict[str, float]]


def product(s: Mapping[str, int]) -> Described:
    m, n, k = s["M"], s["N"], s["K"]
    return {"C": (m, n), "A": (m, k), "B": (k, n)}, ("C",), 2 * m * n * k, (), {}


def batched_product(s: Mapping[str, int]) -> Described:
    b, m, n, k = s["BATCH"], s["M"], s["N"], s["K"]
    return {"C": (b, m, n), "A": (b, m, k), "B": (b, k, n)}, ("C",), 2 * b * m * n * k, (), {}


def convolution(s: Mapping[str, int]) -> Described:
    n, k, h, r = s["N"], s["K"], s["H"], s["R"]
    wide = h + r - 1
    return {"Y": (n, h, h), "X": (k, wide, wide), "W": (n, k, r, r)}, ("Y",), 2 * n * k * h * h * r * r, (), {}


def depthwise(s: Mapping[str, int]) -> Described:
    k, h, r = s["K"], s["H"], s["R"]
    wide = h + r - 1
    return {"Y": (k, h, h), "X": (k, wide, wide), "W": (k, r, r)}, ("Y",), 2 * k * h * h * r * r, (), {}


def softmax(s: Mapping[str, int]) -> Described:
    shape = (s["M"], s["N"])
    return {"Y": shape, "X": shape}, ("Y",), 4 * s["M"] * s["N"], (), {"X": 4.0}


def layer_norm(s: Mapping[str, int]) -> Described:
    shape, row = (s["M"], s["N"]), (s["N"],)
    return {"Y": shape, "X": shape, "gamma": row, "beta": row}, ("Y",), 8 * s["M"] * s["N"], (), {"X": 4.0}


def gelu(s: Mapping[str, int]) -> Described:
    m, n, k = s["M"], s["N"], s["K"]
    return {"Y": (m, n), "X": (m, k), "W": (k, n), "bias": (n,)}, ("Y",), 2 * m * n * k, (), {"W": 0.06}


def lstm(s: Mapping[str, int]) -> Described:
    b, h = s["BATCH"], s["H"]
    shapes: dict[str, tuple[int, ...]] = {"h_new": (b, h), "c_new": (b, h), "x": (b, h), "h": (b, h), "c": (b, h),
                                          "Wx": (h, 4 * h), "Wh": (h, 4 * h), "bias": (4 * h,)}
    return shapes, ("h_new", "c_new"), 2 * b * (2 * h) * (4 * h), (), {"Wx": 0.05, "Wh": 0.05}


def jacobi(s: Mapping[str, int]) -> Described:
    shape = (s["N"], s["N"])
    return {"a": shape, "b": shape}, ("a", "b"), 10 * s["STEPS"] * (s["N"] - 2) ** 2, ("a", "b"), {}


def heat(s: Mapping[str, int]) -> Described:
    shape = (s["N"],) * 3
    return {"a": shape, "b": shape}, ("a", "b"), 30 * s["STEPS"] * (s["N"] - 2) ** 3, ("a", "b"), {}


KINDS: dict[str, Callable[[Mapping[str, int]], Described]] = {
    f.__name__: f for f in (product, batched_product, convolution, depthwise, softmax, layer_norm, gelu, lstm, jacobi,
                            heat)}
