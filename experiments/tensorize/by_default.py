"""Products of bytes as kernels with every default, beside PyTorch's: rates, first call, second size.

    python experiments/tensorize/by_default.py [--sizes 512 1024 2048] [--results FILE.jsonl]

Every variant runs in a process of its own, in blocks of calls that follow each other without anybody else's.  Blocks of
the variants alternate, and the median over blocks counts.  Results are compared with NumPy's, bit for bit, before any
time is taken; peers whose results are wrong are named.  PyTorch (extra `peers`) is left out where it is not installed,
and the record says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np

VARIANTS = ("loop nest", "numpy spelling", "torch._int_mm", "oneDNN linear")
TYPES = {"u8 x s8": (np.uint8, np.int8), "s8 x s8": (np.int8, np.int8)}
NEEDS_TORCH = ("torch._int_mm", "oneDNN linear")
ONLY_FOR = {"torch._int_mm": ("s8 x s8",), "oneDNN linear": ("u8 x s8",)}   # the operand types that they take
GIGA = 1e9


def loop_nest(C, A, B):  # type: ignore[no-untyped-def]
    """The product as plain loops."""
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0
            for k in range(K):
                C[i, j] += np.int32(A[i, k]) * np.int32(B[k, j])


def numpy_spelling(C, A, B):  # type: ignore[no-untyped-def]
    """The product as NumPy users write it."""
    C[:, :] = A.astype(np.int32) @ B.astype(np.int32)


def maker(variant: str) -> Callable[[np.ndarray, np.ndarray], Callable[[], np.ndarray]]:
    """What makes one call of a variant for operands; what a user does once, ahead of all calls, is done in it."""
    if variant in NEEDS_TORCH:
        return lambda a, b: _torch_call(variant, a, b)
    import polysched
    kernel = polysched.kernel(loop_nest if variant == "loop nest" else numpy_spelling)

    def made(a: np.ndarray, b: np.ndarray) -> Callable[[], np.ndarray]:
        c = np.empty((a.shape[0], b.shape[1]), np.int32)

        def call() -> np.ndarray:
            kernel(c, a, b)
            return c

        return call

    return made


def _torch_call(variant: str, a: np.ndarray, b: np.ndarray) -> Callable[[], np.ndarray]:
    """PyTorch's product; weights are packed once for oneDNN's linear, whose results are floats of whole numbers."""
    import torch
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    left, right = torch.from_numpy(a), torch.from_numpy(b)
    if variant == "torch._int_mm":
        return lambda: torch._int_mm(left, right).numpy()
    packed = torch.ops.onednn.qlinear_prepack(right.t().contiguous(), list(a.shape))
    scale, zero = torch.ones(b.shape[1]), torch.zeros(b.shape[1], dtype=torch.int64)
    return lambda: torch.ops.onednn.qlinear_pointwise(
        left, 1.0, 0, packed, scale, zero, None, 1.0, 0, torch.float32, "none", [], "").numpy()


def operands(types: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Bytes of every value, the same for all variants; small ones where floats have to hold the sums exactly."""
    chooser = np.random.default_rng(size)
    return tuple(chooser.integers(np.iinfo(t).min, np.iinfo(t).max, (size, size), endpoint=True).astype(t)
                 for t in TYPES[types])   # type: ignore[return-value]


def serve(variant: str, types: str, sizes: list[int], calls: int) -> None:
    """What a process of a variant does: says how long first calls take, then runs blocks when it is told a size."""
    import_everything(variant)
    ready: dict[int, Callable[[], np.ndarray]] = {}
    firsts, wrong = [], []
    make = maker(variant)
    for size in sizes:
        a, b = operands(types, size)
        started = time.perf_counter()
        ready[size] = make(a, b)
        result = ready[size]()
        firsts.append(time.perf_counter() - started)
        expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)
        if result.dtype == np.float32:   # a peer's, rounded to 24 bits
            expected = expected.astype(np.float32)
        if not np.array_equal(result, expected):
            wrong.append(size)
    if wrong and variant not in NEEDS_TORCH:
        raise SystemExit(f"{variant}, {types}: wrong results at {wrong}")
    print(json.dumps({"firsts": firsts, "wrong": wrong}), flush=True)
    for line in sys.stdin:
        call = ready[int(line)]
        call()
        started = time.perf_counter()
        for _ in range(calls):
            call()
        print((time.perf_counter() - started) / calls, flush=True)


def import_everything(variant: str) -> None:
    """First calls count from where a user's program has imported what it uses."""
    import_module("torch" if variant in NEEDS_TORCH else "polysched.kernel")


def started(variant: str, types: str, arguments: argparse.Namespace, folder: str) -> subprocess.Popen[str]:
    """The process of a variant, with a cache of its own that is empty."""
    command = [sys.executable, __file__, "--serve", variant, "--types", types, "--calls", str(arguments.calls),
               "--sizes", *map(str, arguments.sizes)]
    return subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env={**os.environ, "POLYSCHED_CACHE_DIR": folder})


def measured(types: str, arguments: argparse.Namespace) -> dict[str, object]:
    """All variants of one pair of types: the median seconds of a call, by size."""
    there = importlib.util.find_spec("torch") is not None
    names = [v for v in VARIANTS if (v not in NEEDS_TORCH or there) and types in ONLY_FOR.get(v, (types,))]
    record: dict[str, object] = {"types": types, "machine": platform.processor() or platform.machine(),
                                 "sizes": arguments.sizes, "left out": [v for v in VARIANTS if v not in names],
                                 "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory(prefix="polysched-by-default-") as folder:
        running = {v: started(v, types, arguments, f"{folder}/{at}") for at, v in enumerate(names)}
        said = {v: json.loads(p.stdout.readline()) for v, p in running.items() if p.stdout}
        record["first calls, seconds"] = {v: s["firsts"] for v, s in said.items()}
        record["wrong results"] = {v: s["wrong"] for v, s in said.items() if s["wrong"]}
        seconds: dict[str, dict[int, list[float]]] = {v: {n: [] for n in arguments.sizes} for v in names}
        for size in arguments.sizes:
            for _ in range(arguments.blocks):
                for variant, process in running.items():
                    assert process.stdin is not None
                    assert process.stdout is not None
                    print(size, file=process.stdin, flush=True)
                    seconds[variant][size].append(float(process.stdout.readline()))
        for process in running.values():
            process.communicate()
    record["seconds"] = {v: {n: statistics.median(s) for n, s in by.items()} for v, by in seconds.items()}
    return record


def lines_of(record: dict[str, object]) -> list[str]:
    """G operations per second, and what the loop nest reaches of the best of the others."""
    found = [f"{record['types']} (load {record['load']}, left out: {record['left out'] or 'nothing'}, "
             f"wrong results: {record['wrong results'] or 'none'})"]
    seconds: dict[str, dict[int, float]] = record["seconds"]   # type: ignore[assignment]
    for size in record["sizes"]:   # type: ignore[attr-defined]
        rates = ", ".join(f"{v} {2 * size ** 3 / by[size] / GIGA:.0f} GOP/s" for v, by in seconds.items())
        peers = [by[size] for v, by in seconds.items() if v in NEEDS_TORCH]
        ratio = f"; {min(peers) / seconds['loop nest'][size]:.2f} of the best peer" if peers else ""
        found.append(f"  {size}: {rates}{ratio}; numpy spelling takes "
                     f"{seconds['numpy spelling'][size] / seconds['loop nest'][size]:.2f} of the loop nest's time")
    firsts: dict[str, list[float]] = record["first calls, seconds"]   # type: ignore[assignment]
    found += [f"  {v}: first call {s[0]:.2f} s" + (f", second size {s[1]:.3f} s" if len(s) > 1 else "")
              for v, s in firsts.items() if v not in NEEDS_TORCH]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--blocks", type=int, default=15, help="per variant and size")
    parser.add_argument("--calls", type=int, default=5, help="per block, behind one that warms up")
    parser.add_argument("--results", type=Path, help="JSON lines are added to this file")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--types", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve, arguments.types, arguments.sizes, arguments.calls)
        return
    for types in TYPES:
        record = measured(types, arguments)
        print("\n".join(lines_of(record)), flush=True)
        if arguments.results:
            with arguments.results.open("a") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
