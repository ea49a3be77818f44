"""Reductions under conditions on data, in lanes and on threads: which loops get them, and right results."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.scop import from_c_text
from polysched.target import CLANG_NAMES, find_compiler
from tests.emit_c.compiled import load
from tests.emit_c.nodes import lane_parts, on_threads, reductions

CLANG = next((name for name in CLANG_NAMES if shutil.which(name)), "clang")
LOOP = "for (int i = 0; i < n; i++)"
ROWS = "for (int i = 0; i < 2; i++) for (int j = 0; j < n; j++)"
# Bodies over `T A[2][n], B[n], C[n], r[2], s[1], *p; int m[2], k[n]; long q[1]`, all of them with partial results.
PROGRAMS = {
    "along a row": f"{ROWS} if (A[i][j] > 0) r[i] += A[i][j];",
    "behind a pointer": f"{LOOP} if (p[i] > 0) r[0] += p[i];",
    "into a pointer that is set before": f"p[0] = 0; {LOOP} if (B[i] > 0) p[0] += B[i];",
    "differences and sums": f"{LOOP} if (B[i] > 0) r[0] -= B[i]; else r[0] += 2;",
    "a product": f"{LOOP} if (B[i] > 2) r[0] *= C[i];",
    "a comparison": f"{LOOP} m[0] += B[i] > 1;",
    "several comparisons": f"{LOOP} m[0] += B[i] > 1 && !(C[i] < 0);",
    "a mean": f"{LOOP} if (B[i] > C[i]) {{ q[0]++; r[0] += B[i]; }}",
    "a choice": f"{LOOP} r[0] += B[i] > 1 ? B[i] : C[i];",
    "two sums": f"{LOOP} if (B[i] > 1) r[0] += B[i]; else s[0] += B[i];",
    "conditions in one another":
        f"{LOOP} if (B[i] > 1) {{ if (C[i] > 0) r[0] += B[i]; else s[0] -= C[i]; }} else m[0] += 3;",
    "a maximum by choice": f"{LOOP} if (C[i] > 1) r[0] = B[i] > r[0] ? B[i] : r[0];",
    "a minimum under two conditions": f"{LOOP} if (C[i] > 1 && B[i] < r[0]) r[0] = B[i];",
    "a maximum beside a sum": f"{LOOP} if (C[i] > 1) {{ if (B[i] > r[0]) r[0] = B[i]; }} else s[0] += B[i];",
    "the old value by choice": f"{LOOP} r[0] = B[i] > 1 ? r[0] + B[i] : r[0];",
    "bits": f"{LOOP} if (B[i] > 0) m[0] |= k[i]; else s[0] += 1;",
    "all bits": f"{LOOP} if (B[i] > 0 || C[i] > 0) m[0] &= k[i];",
}
REFUSED = {
    "an element that may not exist": f"{LOOP} if (B[i] > 0) p[0] += B[i];",
    "a load that may not exist": f"{LOOP} if (B[i] > 0) r[0] += p[i];",
    "a condition on the sum": f"{LOOP} if (r[0] < 9) r[0] += B[i];",
    "two elements of one array": f"{LOOP} if (B[i] > 0) r[0] += B[i]; else r[1] += B[i];",
    "a division that may trap": f"{LOOP} if (k[i] != 0) m[0] += 9 / k[i];",
}
KINDS = {"float": np.float32, "double": np.float64, "int": np.int32}


def source(body: str, kind: str) -> tuple[str, str]:
    """The head of a function and all of it."""
    arrays = ", ".join(f"{kind} {name}" for name in (
        "A[restrict 2][n]", "B[restrict n]", "C[restrict n]", "r[restrict 2]", "s[restrict 1]", "*restrict p"))
    head = f"void f(int n, {arrays}, int m[restrict 2], int k[restrict n], long q[restrict 1])\n{{\n"
    return head, f"{head}#pragma scop\n{body}\n#pragma endscop\n}}\n"


def emitted(text: str, vector_bits: int, *, parallel: bool) -> CSource:
    return polysched.optimize(from_c_text(text), polysched.PipelineOptions(
        reassociate=True, vector_bits=vector_bits, parallel=parallel)).source


def results(library: ctypes.CDLL, kind: str, n: int) -> list[np.ndarray]:
    random = np.random.default_rng(n)
    sizes = [(2, n), n, n, 2, 1, max(n, 1)]
    arrays = [(random.standard_normal(size) * 3).astype(KINDS[kind]) for size in sizes]
    arrays += [random.integers(0, 99, size).astype(np.int32) for size in (2, n)] + [np.zeros(1, np.int64)]
    library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
    return arrays


def compare(new: ctypes.CDLL, old: ctypes.CDLL, kind: str, sizes: set[int]) -> None:
    for n in sorted(sizes):
        for changed, expected in zip(results(new, kind, n), results(old, kind, n), strict=True):
            if expected.dtype.kind == "i":
                np.testing.assert_array_equal(changed, expected, err_msg=f"n = {n}")
            else:
                tolerance = 2e-4 if kind == "float" else 1e-12
                np.testing.assert_allclose(changed, expected, rtol=tolerance, atol=10 * tolerance, err_msg=f"n = {n}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_results(program: str, kind: str, tmp_path: Path) -> None:
    head, text = source(PROGRAMS[program], kind)
    old = load(text, tmp_path)
    bits = KINDS[kind]().itemsize * 8
    for vector_bits, flags in ((128, ()), (256, ("-mavx2", "-mfma")), (512, ("-march=native",))):
        region = emitted(text, vector_bits, parallel=False)
        assert lane_parts(region.loops), region.text
        step = 4 * vector_bits // bits
        sizes = {0, 1, 2, *(lanes + d for lanes in (step // 2, step, 2 * step) for d in (-1, 0, 1)), 131}
        compare(load(f"{head}{region.text}}}\n", tmp_path, flags=("-O2", *flags)), old, kind, sizes)


@pytest.mark.parametrize("program", ["along a row", "a mean", "two sums", "a maximum beside a sum"])
def test_results_on_threads_and_by_clang(program: str, tmp_path: Path) -> None:
    for kind in KINDS:
        head, text = source(PROGRAMS[program], kind)
        old, region = load(text, tmp_path), emitted(text, 512, parallel=True)
        assert on_threads(region.loops) or reductions(region.loops)
        assert lane_parts(region.loops)
        sizes = {1, 63, 64, 65, 40009}
        for cc in (None, *((CLANG,) if kind == "float" and shutil.which(CLANG) else ())):
            made = load(f"{head}{region.text}}}\n", tmp_path, flags=("-O2", "-march=native"), cc=cc)
            compare(made, old, kind, sizes)


@pytest.mark.parametrize("program", REFUSED)
def test_refused(program: str) -> None:
    assert not lane_parts(emitted(source(REFUSED[program], "int")[1], 256, parallel=False).loops)


@pytest.mark.parametrize("kind", ["float", "double"])
def test_lanes_without_the_condition_keep_zeros_and_their_signs(kind: str, tmp_path: Path) -> None:
    """The sum of negative zeros is one, also where most of what is read is left out, NaN among it."""
    head, text = source(f"{LOOP} if (B[i] <= 0) r[0] += B[i];", kind)
    new = load(f"{head}{emitted(text, 256, parallel=False).text}}}\n", tmp_path, flags=("-O2", "-mavx2", "-mfma"))
    dtype = KINDS[kind]
    values = np.resize(np.array([-0.0, np.nan, np.inf, -0.0, 3.0], dtype), 75)
    arrays = [np.zeros((2, 75), dtype), values, values, np.array([-0.0, 0.0], dtype), np.zeros(1, dtype), values,
              np.zeros(2, np.int32), np.zeros(75, np.int32), np.zeros(1, np.int64)]
    new.f(ctypes.c_int(75), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
    assert arrays[3][0] == 0
    assert np.signbit(arrays[3][0])

UNWRITTEN = {   # bodies over R[n], of which the first half is picked from, and s[0], which nothing picks
    "a sum": f"{LOOP} if (m[i] < 0) s[0] += A[i];",
    "the largest": f"{LOOP} if (m[i] < 0) s[0] = A[i] > s[0] ? A[i] : s[0];",
    "a histogram": f"{LOOP} R[k[i]] += A[i];",
}
PARAMETERS = ("(int n, float R[restrict n], float s[restrict 1], float A[restrict n], "
              "float B[restrict n], int m[restrict n], int k[restrict n])")
TRIED = """
int main(void) {
  enum { N = 2048 };
  static float A[N], B[2][N];
  static int m[N], k[N];
  for (int i = 0; i < N; i++) A[i] = i % 7 - 3, B[0][i] = B[1][i] = i % 5;
  for (int i = 0; i < N; i++) m[i] = i < 1000 ? i % 9 : 0, k[i] = i * 7 % 900;
  for (int p = 0; p < COUNT; p++) {
    float *memory[2];
    for (int q = 0; q < 2; q++) {
      memory[q] = mmap(0, 4 * N * sizeof(float), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      for (int i = 0; i < 4 * N; i++) memory[q][i] = 5;
      mprotect(memory[q] + N / 2, 3 * N * sizeof(float), PROT_READ);
      const int child = fork();
      if (!child) (q ? changed : written)[p](N, memory[q], memory[q] + N, A, B[q], m, k), _exit(0);
      int end;
      waitpid(child, &end, 0);
      if (end) printf("%d %s\\n", p, q ? "writes more" : "is no case");
    }
    if (memcmp(memory[0], memory[1], N * sizeof(float))) printf("%d differs\\n", p);
  }
}
"""


def test_what_no_condition_picks_is_never_written(tmp_path: Path) -> None:
    """Elements that the program leaves alone lie in read-only memory."""
    text = "".join(f"#include <{name}.h>\n" for name in ("stdio", "string", "unistd", "sys/mman", "sys/wait"))
    for at, body in enumerate(UNWRITTEN.values()):
        scop = f"void f{PARAMETERS} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        made = emitted(scop, 256, parallel=at % 2 == 0).text
        text += f"static void w{at}{PARAMETERS} {{ {body} }}\nstatic void c{at}{PARAMETERS} {{\n{made}}}\n"
    text += f"enum {{ COUNT = {len(UNWRITTEN)} }};\n" + "".join(
        f"static void (*{name}[]){PARAMETERS} = {{{', '.join(f'{name[0]}{at}' for at in range(len(UNWRITTEN)))}}};\n"
        for name in ("written", "changed"))
    (tmp_path / "tried.c").write_text(text + TRIED)
    compiler = find_compiler()
    built = compiler.run(["-O1", "-w", "-std=gnu11", *compiler.openmp_compile, "tried.c", "-o", "tried",
                          *compiler.openmp_link], folder=tmp_path)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(tmp_path / "tried")], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "", [list(UNWRITTEN)[int(line.split()[0])] for line in done.stdout.splitlines()]
