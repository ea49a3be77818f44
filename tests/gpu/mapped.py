"""Programs as mappings, for the tests of the device rooms."""

from __future__ import annotations

from polysched.gpu import GpuMapping, GpuOptions, HostLoop, Launch, map_to_device
from polysched.gpu.decide import WITH_CUDA
from polysched.gpu.mapping import HostNode
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.target.gpus import Gpu

SCALE = ("void f(int n, double A[n][n], double B[n][n]) {\n#pragma scop\n"
         "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      A[i][j] = 2 * B[j][i];\n"
         "#pragma endscop\n}\n")
PRODUCT = ("void f(int n, float C[n][n], float A[n][n], float B[n][n]) {\n#pragma scop\n"
           "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) {\n      C[i][j] = 0;\n"
           "      for (int k = 0; k < n; k++)\n        C[i][j] += A[i][k] * B[k][j];\n    }\n"
           "#pragma endscop\n}\n")
STENCIL = ("void f(int t, int n, double a[n], double b[n]) {\n#pragma scop\n"
           "  for (int s = 0; s < t; s++) {\n"
           "    for (int i = 1; i < n - 1; i++)\n      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;\n"
           "    for (int i = 1; i < n - 1; i++)\n      a[i] = b[i];\n  }\n#pragma endscop\n}\n")
WAVEFRONT = ("void f(int n, double a[n][n]) {\n#pragma scop\n"
             "  for (int i = 1; i < n; i++)\n    for (int j = 1; j < n; j++)\n"
             "      a[i][j] = a[i - 1][j] + a[i][j - 1];\n#pragma endscop\n}\n")
CHAIN = ("void f(int n, double a[n]) {\n#pragma scop\n  for (int i = 1; i < n; i++)\n    a[i] = a[i - 1] * a[i];\n"
         "#pragma endscop\n}\n")


def mapped(text: str, scheduler: str = "original", *, pure: tuple[str, ...] = (), points: tuple[int, ...] = (1,),
           shared: bool = True, block: tuple[int, ...] = (), gpus: tuple[Gpu, ...] = WITH_CUDA) -> GpuMapping:
    """The mapping of a program in the order of one scheduler; a work item has one point unless others are given."""
    dependences = analysed(from_c_text(text, pure=pure)).dependences
    return map_to_device(scheduled(dependences, PipelineOptions(scheduler=scheduler)),
                         options=GpuOptions(points=points, shared=shared, block=block), gpus=gpus)


def shape(node: HostNode) -> str:
    """For instance `for(2; 1)`: dimensions of launches, in loops of the host."""
    match node:
        case Launch():
            return str(len(node.coordinates))
        case HostLoop():
            return f"for({shape(node.body)})"
        case _:
            return "; ".join(map(shape, node.parts))
