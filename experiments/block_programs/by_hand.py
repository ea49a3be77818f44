"""The block programs as OpenCL kernels written by hand, for a device that runs a program as one work item.

The kernels have the programs' own tiles.  Their host code uses the same functions for buffers, copies and launches as
the generated one, so that only the kernels differ.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polysched.emit_gpu.opencl_runtime import RUNTIME
from polysched.measure.processes.building import compile_shared
from polysched.target import find_compiler

C_TYPES = {"float64": "double", "int64": "long"}


@dataclass(frozen=True, kw_only=True)
class ByHand:
    """A kernel.

    Parameters
    ----------
    text : of the kernel `by_hand`; its arguments are those of the program, then the sizes.
    sizes : from the arguments.
    programs : how many there are along each axis, from the sizes and the constants.
    result : the array that comes back.
    """

    text: str
    sizes: Callable[[Mapping[str, Any]], dict[str, int]]
    programs: Callable[..., tuple[int, ...]]
    result: str


PRODUCT = """
  double total[BM][BN];
  const long rows = min((long)BM, M - i), columns = min((long)BN, N - j);
  for (int r = 0; r < BM; r++) for (int c = 0; c < BN; c++) total[r][c] = 0.0;
  for (long k = 0; k < K; k += BK) {
    const long deep = min((long)BK, K - k);
    for (long r = 0; r < rows; r++)
      for (long d = 0; d < deep; d++)
        for (long c = 0; c < columns; c++)
          total[r][c] += A[(i + r) * K + k + d] * B[(k + d) * N + j + c];
  }
"""

VECTOR_ADD = """
__kernel void by_hand(__global const double *restrict x, __global const double *restrict y,
                      __global double *restrict out, long n) {
  const long first = get_global_id(0) * BLOCK, end = min(n, first + BLOCK);
  for (long i = first; i < end; i++) out[i] = x[i] + y[i];
}
"""

SOFTMAX = """
__kernel void by_hand(__global const double *restrict X, __global double *restrict Y, long M, long N) {
  __global const double *x = X + get_global_id(0) * N;
  __global double *y = Y + get_global_id(0) * N;
  double largest = -INFINITY, total = 0.0;
  for (long j = 0; j < N; j++) largest = fmax(largest, x[j]);
  for (long j = 0; j < N; j++) { y[j] = exp(x[j] - largest); total += y[j]; }
  for (long j = 0; j < N; j++) y[j] /= total;
}
"""

MATMUL = """
__kernel void by_hand(__global const double *restrict A, __global const double *restrict B, __global double *restrict C,
                      long M, long N, long K) {
  const long j = get_global_id(0) * BN, i = get_global_id(1) * BM;
""" + PRODUCT + """
  for (long r = 0; r < rows; r++) for (long c = 0; c < columns; c++) C[(i + r) * N + j + c] = total[r][c];
}
"""

LAYER_NORM = """
__kernel void by_hand(__global const double *restrict X, __global const double *restrict weight,
                      __global const double *restrict bias, __global double *restrict Y, double count, double epsilon,
                      long M, long N) {
  __global const double *x = X + get_global_id(0) * N;
  __global double *y = Y + get_global_id(0) * N;
  double mean = 0.0, variance = 0.0;
  for (long j = 0; j < N; j++) mean += x[j];
  mean /= count;
  for (long j = 0; j < N; j++) variance += (x[j] - mean) * (x[j] - mean);
  const double scale = 1.0 / sqrt(variance / count + epsilon);
  for (long j = 0; j < N; j++) y[j] = (x[j] - mean) * scale * weight[j] + bias[j];
}
"""

ATTENTION = """
__kernel void by_hand(__global const double *restrict Q, __global const double *restrict K,
                      __global const double *restrict V, __global double *restrict out, double scale, long S) {
  const long i = get_global_id(0) * BM, rows = min((long)BM, S - i);
  double total[BM][D], largest[BM], weight[BM], score[BM][BN];
  for (int r = 0; r < BM; r++) {
    largest[r] = -INFINITY;
    weight[r] = 0.0;
    for (int d = 0; d < D; d++) total[r][d] = 0.0;
  }
  for (long j = 0; j < S; j += BN) {
    const long columns = min((long)BN, S - j);
    for (long r = 0; r < rows; r++) {
      double most = largest[r];
      for (long c = 0; c < columns; c++) {
        double own = 0.0;
        for (int d = 0; d < D; d++) own += Q[(i + r) * D + d] * K[(j + c) * D + d];
        score[r][c] = own * scale;
        most = fmax(most, score[r][c]);
      }
      const double shrink = exp(largest[r] - most);
      largest[r] = most;
      weight[r] *= shrink;
      for (int d = 0; d < D; d++) total[r][d] *= shrink;
      for (long c = 0; c < columns; c++) {
        const double power = exp(score[r][c] - most);
        weight[r] += power;
        for (int d = 0; d < D; d++) total[r][d] += power * V[(j + c) * D + d];
      }
    }
  }
  for (long r = 0; r < rows; r++) for (int d = 0; d < D; d++) out[(i + r) * D + d] = total[r][d] / weight[r];
}
"""

DROPOUT = """
__kernel void by_hand(__global const double *restrict x, __global double *restrict out, long key, long limit,
                      double keep, long n) {
  const long first = get_global_id(0) * BLOCK, end = min(n, first + BLOCK);
  for (long i = first; i < end; i++) {
    ulong a = i & 0xFFFFFFFFul, b = (ulong)i >> 32, c = 0, d = 0, low = key, high = 0;
    for (int r = 0; r < ROUNDS; r++) {   /* 64 bits: mul_hi of 32 bits does not become vector code on PoCL */
      const ulong wide = a * 0xD2511F53ul, other = c * 0xCD9E8D57ul;
      a = ((other >> 32) ^ b ^ low) & 0xFFFFFFFFul;
      b = other & 0xFFFFFFFFul;
      c = ((wide >> 32) ^ d ^ high) & 0xFFFFFFFFul;
      d = wide & 0xFFFFFFFFul;
      low += 0x9E3779B9ul;
      high += 0xBB67AE85ul;
    }
    out[i] = a < (ulong)limit ? x[i] / keep : 0.0;
  }
}
"""

GROUPED_MATMUL = """
__kernel void by_hand(__global const double *restrict As, __global const double *restrict Bs,
                      __global double *restrict Cs, __global const long *restrict sizes, long G, long M, long N,
                      long K) {
  const long j = get_global_id(0) * BN, i = get_global_id(1) * BM, g = get_global_id(2);
  __global const double *A = As + g * M * K, *B = Bs + g * K * N;
""" + PRODUCT + """
  const long inside = min(rows, sizes[g] - i);
  for (long r = 0; r < inside; r++)
    for (long c = 0; c < columns; c++) Cs[(g * M + i + r) * N + j + c] = total[r][c];
}
"""


def _over(size: int, edge: int) -> int:
    return -(-size // edge)


KERNELS = {
    "vector_add": ByHand(text=VECTOR_ADD, sizes=lambda v: {"n": len(v["x"])}, result="out",
                         programs=lambda n, BLOCK: (_over(n, BLOCK),)),
    "softmax": ByHand(text=SOFTMAX, sizes=lambda v: dict(zip("MN", v["X"].shape, strict=True)), result="Y",
                      programs=lambda M, N, COLUMNS: (M,)),
    "matmul": ByHand(text=MATMUL, sizes=lambda v: {"M": len(v["A"]), "N": v["B"].shape[1], "K": len(v["B"])},
                     result="C", programs=lambda M, N, K, BM, BN, BK: (_over(N, BN), _over(M, BM))),
    "layer_norm": ByHand(text=LAYER_NORM, sizes=lambda v: dict(zip("MN", v["X"].shape, strict=True)), result="Y",
                         programs=lambda M, N, COLUMNS: (M,)),
    "attention": ByHand(text=ATTENTION, sizes=lambda v: {"S": len(v["Q"])}, result="out",
                        programs=lambda S, BM, BN, D: (_over(S, BM),)),
    "dropout": ByHand(text=DROPOUT, sizes=lambda v: {"n": len(v["x"])}, result="out",
                      programs=lambda n, BLOCK, ROUNDS: (_over(n, BLOCK),)),
    "grouped_matmul": ByHand(
        text=GROUPED_MATMUL, result="C", programs=lambda G, M, N, K, BM, BN, BK: (_over(N, BN), _over(M, BM), G),
        sizes=lambda v: {"G": len(v["A"]), "M": v["A"].shape[1], "N": v["B"].shape[2], "K": v["B"].shape[1]})}


def compiled(name: str, values: Mapping[str, Any], constants: Mapping[str, int], folder: Path) -> Callable[[], None]:
    """A call of the kernel on these arguments: copies to the device, a launch, the result back.

    Raises
    ------
    CompileError : the host's compiler refused it; no OpenCL headers, for instance.
    """
    own = KERNELS[name]
    sizes = own.sizes(values)
    counts = own.programs(**sizes, **constants)
    text = _host(own, values, sizes, constants, counts)
    library = compile_shared(text, name=f"by_hand_{name}", folder=folder, compiler=find_compiler(),
                             flags=("-O2", "-w", "-lOpenCL"), openmp=False)
    arrays = [v for v in values.values() if isinstance(v, np.ndarray)]
    function = ctypes.CDLL(str(library.path)).by_hand_on_host
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
    return lambda: function(*pointers)


def _host(own: ByHand, values: Mapping[str, Any], sizes: Mapping[str, int], constants: Mapping[str, int],
          counts: tuple[int, ...]) -> str:
    """The host's C for these sizes; the kernel takes them as arguments."""
    defines = "".join(f"#define {n} {v}\n" for n, v in constants.items())
    program = "".join(f'  "{line}\\n"\n' for line in (
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + defines + own.text).splitlines())
    arrays = {n: v for n, v in values.items() if isinstance(v, np.ndarray)}
    before, sets, behind = [], [], []
    for position, (name, value) in enumerate((*values.items(), *sizes.items())):
        if name in arrays and position < len(values):
            rows, row = len(value), value.size // len(value)
            kind = C_TYPES[value.dtype.name]
            before.append(f"  cl_mem {name}_device = polysched_device_allocate({rows}, {row}, sizeof({kind}));")
            if name == own.result:
                behind.append(f"  polysched_device_read({name}_device, {name}, 0, {rows}, {row}, sizeof({kind}));")
            if name != own.result or "rows" in values:   # rows beyond a group's own keep what they were
                before.append(f"  polysched_device_write({name}_device, {name}, 0, {rows}, {row}, sizeof({kind}));")
            behind.append(f"  polysched_device_release({name}_device);")
            sets.append(f"  polysched_device_set(&kernels[0], {position}, sizeof(cl_mem), &{name}_device);")
            continue
        kind, number = ("double", repr(value)) if isinstance(value, float) else ("long", str(int(value)))
        sets.append(f"  polysched_device_set(&kernels[0], {position}, sizeof({kind}), &({kind}){{{number}}});")
    reads = [line for line in behind if "_read(" in line]
    releases = [line for line in behind if "_read(" not in line]
    launch = (f"  polysched_device_launch(&kernels[0], {len(counts)}, (const long[]){{{', '.join(map(str, counts))}}}, "
              f"(const size_t[]){{{', '.join(['1'] * len(counts))}}});")
    formal = ", ".join(f"{C_TYPES[v.dtype.name]} *{n}" for n, v in arrays.items())
    lines = ["  static polysched_device_program program;", "  cl_kernel kernels[1];",
             '  static const char *const names[] = {"by_hand"};',
             "  polysched_device_build(&program, kernels, 1, program_text, names);", *before, *sets, launch, *reads,
             *releases, "  polysched_device_end(kernels, 1);"]
    return (f"{RUNTIME}static const char program_text[] =\n{program};\n__attribute__((visibility(\"default\"))) "
            f"void by_hand_on_host({formal}) {{\n"
            + "\n".join(lines) + "\n}\n")
