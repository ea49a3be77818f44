"""What a region leaves alone neither kernels nor copies write: it may be read-only, or somebody else's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from polysched.emit_gpu.emission import emit_cuda
from polysched.gpu import GpuOptions
from polysched.pipeline.files import compiler_flags
from polysched.pipeline.options import PipelineOptions
from polysched.target import find_compiler
from tests.emit_gpu.emitted import needs_device, transformed
from tests.emit_gpu.test_races_and_bounds import complaints
from tests.gpu.mapped import mapped

APART = """void f(int n, float C[n][n], float D[n][n], float A[n][n], float B[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        if (i >= j) C[i][j] += A[i][k] * B[k][j];
        else D[i][j] += C[0][j] * A[i][k];
      }
#pragma endscop
}
"""
PROGRAMS = """
void choices(int n, int R[n], int a[n], int m[n]) {
#pragma scop
  for (int i = 0; i < n; i++) if (m[i] > 0) R[i] = a[i];
#pragma endscop
}
void halves(int n, int R[2][n], int a[n]) {
#pragma scop
  for (int i = 0; i < 2; i++) for (int j = 0; j < n / 2; j++) R[i][j] = a[j] + i;
#pragma endscop
}
void sums(int n, int R[2][n], int A[2][n], int m[n]) {
#pragma scop
  for (int i = 0; i < 2; i++) for (int j = 0; j < n; j++) if (m[j] > i) R[i][0] += A[i][j];
#pragma endscop
}
void products(int n, int R[n][n], int A[n][n], int B[n][n], int m[n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    if (m[i] > 0) R[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
MAIN = r"""
#define _GNU_SOURCE
#include <sys/mman.h>
enum { N = 2048, W = 64, PAGE = 1024 };   /* integers of a page */
static int *place(size_t at, size_t pages) {
  return mmap((void *)at, pages * PAGE * sizeof(int), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}
static int bad;
static void check(const char *name, int found, int wanted) {
  if (found != wanted) bad++, printf("%s: %d, not %d\n", name, found, wanted);
}
int main(int count, char **words) {
  const size_t first = count > 1 ? (size_t)1 << 45 : 0;   /* where `cuda_on_cpu` has the device's memory */
  int *r = place(first, 4), *a = place(first ? first + (1 << 20) : 0, 4), *b = place(first ? first + (2 << 20) : 0, 4);
  int *m = place(first ? first + (3 << 20) : 0, 2);
  (void)words;
  for (int k = 0; k < 4 * PAGE; k++) r[k] = -k, a[k] = k % 7 + 1, b[k] = k % 5 + 1;
  for (int k = 0; k < N; k++) m[k] = k < PAGE;
  mprotect(r + PAGE, PAGE * sizeof *r, PROT_READ);   /* the second half of a row, and of W x W / 2 elements */
  mprotect(r + 3 * PAGE, PAGE * sizeof *r, PROT_READ);
  choices(N, r, a, m);
  check("choices", r[5], a[5]), check("choices", r[PAGE + 5], -PAGE - 5);
  halves(N, (void *)r, a);
  check("halves", r[PAGE - 1], a[PAGE - 1]), check("halves", r[N + 3], a[3] + 1), check("halves", r[N - 1], 1 - N);
  for (int k = 0; k < N; k++) m[k] = k == 9;
  mprotect(r + 2 * PAGE, PAGE * sizeof *r, PROT_READ);   /* the second row */
  sums(N, (void *)r, (void *)a, m);
  check("sums", r[0], a[0] + a[9]), check("sums", r[N], a[0] + 1);
  for (int k = 0; k < W; k++) m[k] = k < W / 4;
  const int before = r[W + 1];
  int wanted = before;
  for (int k = 0; k < W; k++) wanted += a[W + k] * b[k * W + 1];
  products(W, (void *)r, (void *)a, (void *)b, m);
  check("products", r[W + 1], wanted);
  return bad;
}
"""


@pytest.mark.parametrize(("device", "held"), [("opencl", False), ("cuda", False), ("cuda", True)])
def test_read_only_memory(device: str, held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `held` the kernels work on the arrays themselves, as on those of CuPy."""
    if device == "opencl":
        needs_device()
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    source, program = tmp_path / "f.c", tmp_path / "f"
    source.write_text(PROGRAMS)
    made = transformed(source, PipelineOptions(device=device))
    source.write_text(made.text + MAIN)
    done = find_compiler(None).run(["-w", "-O1", "-D_GNU_SOURCE", str(source), "-o", str(program), "-lm",
                                    *compiler_flags(made.regions)], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(program), *["held"] * held], capture_output=True, text=True, timeout=100, check=False)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr


def test_items_store_only_what_they_may_write(tmp_path: Path) -> None:
    text = emit_cuda(mapped(APART)).program
    assert text.count("C_item = C[") == 1
    (tmp_path / "f.c").write_text(APART)
    assert complaints(tmp_path / "f.c", 9, gpu=GpuOptions(block=(4, 4))) == ""
