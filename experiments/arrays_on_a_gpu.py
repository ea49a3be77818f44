"""Kernels on arrays that lie in a GPU's memory, beside the same calls with NumPy arrays, which are copied.

    python experiments/arrays_on_a_gpu.py --results FILE
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import polysched
from polysched.errors import PolyschedError

SIZE, REPEATS = 2048, 20


@polysched.kernel(target="cuda")
def scaled(B: Any, A: Any, factor: Any) -> None:
    """B = factor A, turned."""
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            B[j, i] = factor * A[i, j]


@polysched.kernel(target="cuda")
def product(C: Any, A: Any, B: Any) -> None:
    """C = A B."""
    n, m = C.shape
    for i in range(n):
        for j in range(m):
            C[i, j] = 0.0
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def compared(place: Callable[[np.ndarray], Any], back: Callable[[Any], np.ndarray], size: int = SIZE,
             repeats: int = REPEATS) -> dict[str, Any]:
    """Results and times of both kernels on arrays that `place` makes and `back` brings to the CPU."""
    draw = np.random.default_rng(0)
    A, B = (draw.random((size, size), np.float32) for _ in range(2))
    kernels: dict[str, tuple[Any, tuple[Any, ...], np.ndarray]] = {
        "scaled": (scaled, (A, np.float32(3)), 3 * A.T), "product": (product, (A, B), A @ B)}
    told: dict[str, Any] = {"size": size}
    for name, (kernel, given, expected) in kernels.items():
        result = np.zeros((size, size), np.float32)
        there = [place(value) if isinstance(value, np.ndarray) else value for value in (result, *given)]
        seconds = {"in_place": median_seconds(lambda k=kernel, t=there: k(*t), repeats),
                   "copied": median_seconds(lambda k=kernel, r=result, g=given: k(r, *g), repeats)}
        for found in (back(there[0]), result):
            if not np.allclose(found, expected, rtol=1e-4):
                raise SystemExit(f"arrays_on_a_gpu: {name} is wrong by {np.abs(found - expected).max():g}")
        told[name] = {f"{way}_ms": 1e3 * took for way, took in seconds.items()}
    return told


def median_seconds(call: Callable[[], Any], repeats: int) -> float:
    """Of some calls, after one that compiles."""
    call()
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def main(words: Sequence[str] | None = None) -> int:
    """Run on torch's arrays; 3 where there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, metavar="FILE", help="where the record goes")
    given = parser.parse_args(words)
    import torch
    if not torch.cuda.is_available():
        print("arrays_on_a_gpu: nothing ran: PyTorch finds no GPU", file=sys.stderr)
        return 3
    try:
        told = compared(lambda array: torch.from_numpy(array).cuda(), lambda tensor: tensor.cpu().numpy())
    except PolyschedError as error:
        print(f"arrays_on_a_gpu: {error}", file=sys.stderr)
        return 1
    given.results.write_text(json.dumps({**told, "gpu": torch.cuda.get_device_name()}) + "\n", encoding="utf-8")
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
