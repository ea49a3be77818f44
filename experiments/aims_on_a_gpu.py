"""Generated kernels on torch's arrays in a GPU's memory, each beside the peer that its aim names.

    python experiments/aims_on_a_gpu.py --results FILE
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import polysched
from polysched.errors import PolyschedError
from polysched.gpu import GpuOptions
from polysched.pipeline.options import PipelineOptions

PRODUCT_SIZE, STENCIL_SIZE, STENCIL_STEPS = 4096, 4096, 200
MLP = (1024, 1024, 4096)
"""Rows, inputs and outputs of a layer."""
REPEATS = 20
TIME_TILES = (4, 8, 16, 32)


def product(C: Any, A: Any, B: Any) -> None:
    """C = A B, summed in the type of C."""
    n, m = C.shape
    for i in range(n):
        for j in range(m):
            C[i, j] = 0.0
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def half_product(C: Any, A: Any, B: Any) -> None:
    """C = A B of halves, summed in single precision."""
    n, m = C.shape
    for i in range(n):
        for j in range(m):
            C[i, j] = 0.0
            for k in range(A.shape[1]):
                C[i, j] += np.float32(A[i, k]) * np.float32(B[k, j])


def layer(Y: Any, X: Any, W: Any, b: Any) -> None:
    """Y = GELU(X W + b)."""
    n, m = Y.shape
    for i in range(n):
        for j in range(m):
            Y[i, j] = b[j]
            for k in range(X.shape[1]):
                Y[i, j] += X[i, k] * W[k, j]
            Y[i, j] = np.float32(0.5) * Y[i, j] * (np.float32(1) + math.erf(Y[i, j] * np.float32(0.70710678)))


def steps_of_jacobi(A: Any, B: Any, steps: Any) -> None:
    """Steps of the mean of five neighbours."""
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = np.float32(0.2) * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = np.float32(0.2) * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where arrays lie.

    Parameters
    ----------
    torch : the module.
    place : from a NumPy array to one of the device.
    back : and back.
    wait : until the device has done what it was told.
    """

    torch: Any
    place: Callable[[np.ndarray], Any]
    back: Callable[[Any], np.ndarray]
    wait: Callable[[], None]


def on(function: Callable[..., None], **gpu: Any) -> Callable[..., Any]:
    """A function as a kernel for CUDA."""
    return polysched.kernel(options=PipelineOptions(device="cuda", gpu=GpuOptions(**gpu)))(function)


def beside(machine: Machine, own: dict[str, Callable[[], Any]], peer: Callable[[], Any] | None, aim: float,
           repeats: int) -> dict[str, Any]:
    """Median times of variants in turn with a peer; the best of them is what counts."""
    calls = {**own, **({} if peer is None else {"peer": peer})}
    for call in calls.values():
        call()
    machine.wait()
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            machine.wait()
            found[name].append(time.perf_counter() - began)
    medians = {name: statistics.median(taken) for name, taken in found.items()}
    best = min(own, key=lambda name: medians[name])
    told: dict[str, Any] = {"milliseconds": {name: 1e3 * took for name, took in medians.items()}, "best": best,
                            "aim": aim}
    if peer is not None:
        ratio = statistics.median(other / mine for mine, other in zip(found[best], found["peer"], strict=True))
        told |= {"times_as_fast": ratio, "reached": ratio >= aim}
    return told


def close(machine: Machine, name: str, result: Any, expected: np.ndarray, tolerance: float) -> None:
    """Refuse a wrong result.

    Raises
    ------
    SystemExit : with the difference.
    """
    found = machine.back(result).astype(np.float64)
    difference = float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-30))
    if not difference <= tolerance:
        raise SystemExit(f"aims_on_a_gpu: {name} is wrong by {difference:g} of the largest value")


def products(machine: Machine, size: int, repeats: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Single precision and halves beside cuBLAS, by torch's `matmul`; TF32 is off."""
    torch, draw = machine.torch, np.random.default_rng(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    given = [draw.random((size, size), np.float32) - np.float32(0.5) for _ in range(2)]
    expected = given[0].astype(np.float64) @ given[1].astype(np.float64)
    result, a, b = (machine.place(x) for x in (np.zeros((size, size), np.float32), *given))
    single = on(product)
    single(result, a, b)
    close(machine, "product of floats", result, expected, 1e-4)
    yield "product_float32", beside(machine, {"kernel": lambda: single(result, a, b)},
                                    lambda: torch.matmul(a, b), 0.7, repeats)
    halves = [x.astype(np.float16) for x in given]
    a, b = map(machine.place, halves)
    expected = halves[0].astype(np.float64) @ halves[1].astype(np.float64)
    kernels = {name: on(half_product, tensor_cores=("float16",), tensor_instruction=name) for name in ("mma", "wgmma")}
    own: dict[str, Callable[[], Any]] = {}
    for name, kernel in kernels.items():
        try:
            kernel(result, a, b)
        except PolyschedError as error:   # wgmma is for one architecture alone
            print(f"aims_on_a_gpu: no {name}: {error.problem}", file=sys.stderr)
            continue
        close(machine, f"product of halves by {name}", result, expected, 1e-3)
        own[name] = lambda kernel=kernel: kernel(result, a, b)
    if own:
        yield "product_float16", beside(machine, own, lambda: torch.matmul(a, b), 0.6, repeats)


def stencils(machine: Machine, size: int, steps: int, repeats: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Diamonds over time beside a launch per step, and beside PPCG's output where `ppcg` and `nvcc` are there."""
    start = np.random.default_rng(1).random((size, size), np.float32)
    each = on(steps_of_jacobi)
    arrays = [machine.place(x) for x in (start, start.copy())]
    each(*arrays, steps)
    expected = machine.back(arrays[0]).astype(np.float64)
    own: dict[str, Callable[[], Any]] = {}
    kernels = {f"diamonds_{tile}": on(steps_of_jacobi, time_tile=tile) for tile in TIME_TILES}
    for name, kernel in kernels.items():
        again = [machine.place(x) for x in (start, start.copy())]
        kernel(*again, steps)
        close(machine, f"jacobi in {name}", again[0], expected, 1e-5)
        own[name] = lambda kernel=kernel: kernel(*arrays, steps)
    told = beside(machine, own, lambda: each(*arrays, steps), 1.5, repeats)
    yield "jacobi_2d", told
    copied = [start.copy(), start.copy()]
    yield "jacobi_2d_beside_ppcg", beside_ppcg(size, steps, lambda: kernels[told["best"]](*copied, steps))


def beside_ppcg(size: int, steps: int, own: Callable[[], Any]) -> dict[str, Any]:
    """PPCG's own program for the same stencil, the best of five runs of both with their copies; else why not."""
    missing = [tool for tool in ("ppcg", "nvcc") if shutil.which(tool) is None]
    if missing:
        return {"aim": 1.2, "not_run": f"no {' and no '.join(missing)} on the PATH"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stencil.c").write_text(PPCG_PROGRAM.replace("STEPS", str(steps)).replace("SIZE", str(size)))
        for command in (["ppcg", "--target=cuda", "stencil.c"],
                        ["nvcc", "-O3", "-o", "stencil", "stencil_host.cu", "stencil_kernel.cu"], ["./stencil"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                return {"aim": 1.2, "not_run": f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-200:]}"}
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        own()
        taken.append(1e3 * (time.perf_counter() - began))
    ratio = float(done.stdout) / min(taken)
    return {"aim": 1.2, "milliseconds": {"ppcg": float(done.stdout), "kernel": min(taken)}, "times_as_fast": ratio,
            "reached": ratio >= 1.2}


PPCG_PROGRAM = """#include <stdio.h>
#include <time.h>
static float A[SIZE][SIZE], B[SIZE][SIZE];
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void run(void) {
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < SIZE - 1; i++)
      for (int j = 1; j < SIZE - 1; j++)
        B[i][j] = 0.2f * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
    for (int i = 1; i < SIZE - 1; i++)
      for (int j = 1; j < SIZE - 1; j++)
        A[i][j] = 0.2f * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
  }
#pragma endscop
}
int main(void) {
  double least = 1e30;
  for (int i = 0; i < SIZE; i++) for (int j = 0; j < SIZE; j++) A[i][j] = B[i][j] = (i * 7 + j) % 13;
  for (int k = 0; k < 5; k++) {
    double began = now();
    run();
    double took = now() - began;
    if (took < least) least = took;
  }
  printf("%g\\n", least);
  return 0;
}
"""


def layers(machine: Machine, shape: tuple[int, int, int], repeats: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """A layer with GELU in one launch beside `torch.compile` of the same; TF32 is off."""
    torch, draw = machine.torch, np.random.default_rng(2)
    rows, inputs, outputs = shape
    given = [draw.random(s, np.float32) - np.float32(0.5) for s in ((rows, inputs), (inputs, outputs), (outputs,))]
    result, x, w, b = (machine.place(v) for v in (np.zeros((rows, outputs), np.float32), *given))
    kernel = on(layer)
    kernel(result, x, w, b)
    summed = given[0].astype(np.float64) @ given[1] + given[2]
    expected = 0.5 * summed * (1 + np.vectorize(math.erf)(summed / math.sqrt(2)))
    close(machine, "layer with GELU", result, expected, 1e-4)
    compiled = torch.compile(lambda: torch.nn.functional.gelu(x @ w + b))
    yield "gelu_mlp", beside(machine, {"kernel": lambda: kernel(result, x, w, b)}, compiled, 0.7, repeats)


def aims(machine: Machine, *, size: int = PRODUCT_SIZE, stencil: tuple[int, int] = (STENCIL_SIZE, STENCIL_STEPS),
         mlp: tuple[int, int, int] = MLP, repeats: int = REPEATS) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every aim with what came out."""
    yield from products(machine, size, repeats)
    yield from stencils(machine, *stencil, repeats)
    yield from layers(machine, mlp, repeats)


def main(words: Sequence[str] | None = None) -> int:
    """Run on torch's arrays; 3 where there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, metavar="FILE", help="where the records go")
    given = parser.parse_args(words)
    import torch
    if not torch.cuda.is_available():
        print("aims_on_a_gpu: nothing ran: PyTorch finds no GPU", file=sys.stderr)
        return 3
    machine = Machine(torch=torch, place=lambda array: torch.from_numpy(array.copy()).cuda(),
                      back=lambda tensor: tensor.cpu().numpy(), wait=torch.cuda.synchronize)
    with given.results.open("w", encoding="utf-8") as file:
        for name, told in aims(machine):
            record = {"case": name, **told, "gpu": torch.cuda.get_device_name()}
            file.write(json.dumps(record) + "\n")
            file.flush()
            print(json.dumps(record))
    return 0


if __name__ == "__main__":
    sys.exit(main())
