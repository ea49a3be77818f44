"""Sums of signed integers in another order overflow nowhere: partial results may leave the range of the type.

The addends are the steps of a walk through the whole range of the type, which the program's own order never leaves and
any other order does.  Compilers' sanitizers end a program at the first signed overflow.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import islpy as isl
import pytest

import polysched
from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit
from polysched.scheduling import original
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_text
from polysched.target import Compiler, find_compiler
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import STRICT
from tests.emit_c.nodes import tiles
from tests.scop_builder import tree_of

HEAD = """void {name}(int n, int m, T x[restrict n], T y[restrict n], T A[restrict m][m], T B[restrict m][m],
       T C[restrict m][m], int b[restrict n], T h[restrict m], T r[restrict 4],
       T u[restrict 512], T v[restrict 512])
"""
N, M = 20_003, 37
LARGE_U = "for (int i = 0; i < 512; i++) u[i] = v[i] = LARGE;"
# Body, and how the arguments begin; `walk(a, count, stride)` sets elements that sum up to something in the range.
PROGRAMS = {
    "sum": ("for (int i = 0; i < n; i++) r[0] += x[i];", "walk(x, n, 1);"),
    "difference": ("for (int i = 0; i < n; i++) r[0] = r[0] - x[i];", "walk(x, n, 1);"),
    "difference and sum": ("for (int i = 0; i < n; i++) r[0] = r[0] - x[i] + y[i];", "walk(x, n, 1);"),
    "a local sum": ("T s = 0; for (int i = 0; i < n; i++) s += x[i]; r[0] = s;", "walk(x, n, 1);"),
    "backwards": ("for (int i = 0; i < n; i++) r[0] += x[n - 1 - i];", "walk(x + n - 1, n, -1);"),
    "dot product": ("for (int i = 0; i < n; i++) r[0] += x[i] * y[i];",
                    "walk(x, n, 1); for (int i = 0; i < n; i++) y[i] = 1;"),
    "sum under a condition": ("for (int i = 0; i < n; i++) if (b[i] >= 0) r[0] += x[i];", "walk(x, n, 1);"),
    "chosen addends": ("for (int i = 0; i < n; i++) r[0] += b[i] >= 0 ? x[i] : 0;", "walk(x, n, 1);"),
    "a store beside it": ("for (int i = 0; i < n; i++) { y[i] = x[i] / 2; r[0] += x[i]; }", "walk(x, n, 1);"),
    "product": ("for (int i = 0; i < n; i++) r[0] *= x[i];", "for (int i = 0; i < n; i++) x[i] = 3;"),
    "maximum": ("for (int i = 0; i < n; i++) r[0] = x[i] > r[0] ? x[i] : r[0];", "walk(x, n, 1);"),
    "count": ("for (int i = 0; i < n; i++) r[0] += 1;", "r[0] = -9;"),
    "matrix product": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) for (int k = 0; k < m; k++)"
        " C[i][j] += A[i][k] * B[k][j];",
        "for (int i = 0; i < m; i++) walk(A[i], m, 1); for (int i = 0; i < m * m; i++) B[0][i] = 1;"),
    "row sums": ("for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) h[i] += A[i][j];",
                 "for (int i = 0; i < m; i++) walk(A[i], m, 1);"),
    "row sums of strided rows": ("for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) h[i] += A[j][i];",
                                 "for (int i = 0; i < m; i++) walk(A[0] + i, m, m);"),
    "column sums": ("for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) h[j] += A[i][j];",
                    "for (int j = 0; j < m; j++) walk(A[0] + j, m, m);"),
    "sum of a matrix": ("for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) r[0] += A[i][j];",
                        "walk(A[0], m * m, 1);"),
    "histogram": ("for (int i = 0; i < n; i++) h[b[i]] += x[i];", "walk(x, n, 1);"),
    "convolution": (
        "for (int i = 0; i < n - 8; i++) for (int k = 0; k < 8; k++) y[i] += x[i + k] * h[k];",
        "for (int i = 0; i < n; i++) x[i] = LARGE; for (int k = 0; k < 8; k++) h[k] = k % 2 ? -1 : 1;"),
    "running sum": ("for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i];", "walk(x + 1, n - 1, 1);"),
    "stencil": ("for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i] + x[i + 1];",
                "for (int i = 0; i < n; i++) x[i] = i % 2 ? LARGE : -LARGE;"),
}
# Vectors compute lanes that C would skip.
WRITTEN = "for (int i = 0; i < 512; i++) v[i] ^= 1;"
SKIPPED = {
    "sides of a choice": ("for (int i = 0; i < 512; i++) v[i] = u[i] < 0 ? u[i] + u[i] : u[i];", LARGE_U),
    "sides of a branch": (
        "for (int i = 0; i < 512; i++) if (u[i] < 0) v[i] = -(u[i] * 7 - v[i]); else v[i] = u[i];", LARGE_U),
    "an update in a branch": (f"for (int i = 0; i < 512; i++) if (u[i] < 0) v[i] += u[i]; {WRITTEN}", LARGE_U),
    "a condition in a branch": (
        f"for (int i = 0; i < 512; i++) if (u[i] < 0) {{ if (u[i] + v[i] < 8) v[i] = 3; }} {WRITTEN}", LARGE_U),
    "the right side of a condition": (
        "for (int i = 0; i < 512; i++) v[i] = u[i] < 0 && u[i] * 3 < 8 ? u[i] : 0;", LARGE_U),
    "the larger of two sums": (
        "for (int i = 0; i < 512; i++) v[i] = u[i] - v[i] > 7 ? u[i] - v[i] : 7;", LARGE_U),
}
MAIN = """
#include <stdlib.h>
#include <string.h>
#define BITS (8 * sizeof(T) - 1)
#define LARGE ((T)(((1ul << BITS) - 1) / 5 * 4))
enum {{ n = {n}, m = {m} }};
static T x[n], y[n], A[m][m], B[m][m], C[m][m], h[m], r[4], u[512], v[512], results[2][4 + n + m + m * m + 512];
static int b[n];
static void walk(T *to, long count, long stride) {{
  long at = 0, most = (long)((1ul << BITS) - 1);
  for (long i = 0; i < count; i++) {{
    long next = i == count - 1 ? 3 : at > 0 ? at - most : at + most - rand() % 100;
    to[i * stride] = (T)(next - at);
    at = next;
  }}
}}
int main(void) {{
  for (int way = 0; way < 2; way++) {{
    srand(1);
    memset(x, 0, sizeof x), memset(y, 0, sizeof y), memset(C, 0, sizeof C), memset(b, 0, sizeof b);
    memset(h, 0, sizeof h), memset(r, 0, sizeof r), memset(v, 0, sizeof v);
    {begin}
    (way ? changed : written)(n, m, x, y, A, B, C, b, h, r, u, v);
    memcpy(results[way], r, sizeof r), memcpy(results[way] + 4, y, sizeof y);
    memcpy(results[way] + 4 + n, h, sizeof h), memcpy(results[way] + 4 + n + m, C, sizeof C);
    memcpy(results[way] + 4 + n + m + m * m, v, sizeof v);
  }}
  return memcmp(results[0], results[1], sizeof results[0]) != 0;
}}
"""
# gcc brings a library that says where; clang's is a package of its own, and without it the program is killed.
TRAPS = {"gcc": ("-fsanitize=signed-integer-overflow", "-fno-sanitize-recover=signed-integer-overflow"),
         "clang": ("-fsanitize=signed-integer-overflow", "-fsanitize-trap=signed-integer-overflow")}


def compilers() -> list[Compiler]:
    """The machine's gcc and clang."""
    found = [c for name in ("gcc", "clang", "clang-19") if (c := _compiler(name)) is not None]
    return list({c.kind: c for c in found}.values())


def _compiler(name: str) -> Compiler | None:
    try:
        return find_compiler(name)
    except polysched.errors.PolyschedError:
        return None


def source(body: str, kind: str, name: str = "written") -> str:
    text = f"{HEAD.format(name=name)}{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    return text.replace("T ", f"{kind} ")


def assert_same_without_overflow(scop_text: str, region: str, kind: str, begin: str, folder: Path, compiler: Compiler,
                                 flags: Sequence[str] = ("-O1",)) -> None:
    """Run the program as it was written and as it was changed; every signed overflow ends it."""
    head = HEAD.format(name="changed").replace("T ", f"{kind} ")
    text = f"{scop_text}{head}{{\n{region}}}\n#define T {kind}\n{MAIN.format(n=N, m=M, begin=begin)}"
    path, binary = folder / f"{compiler.kind}.c", folder / compiler.kind
    path.write_text(text)
    strict = [f for f in STRICT if f != "-Werror"] if compiler.kind == "gcc" else ["-w"]
    done = compiler.run([*flags, *TRAPS[compiler.kind], *strict, *compiler.openmp_compile, str(path), "-o", str(binary),
                         *compiler.openmp_link, "-lm"], folder=folder)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    ran = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, f"{ran.returncode} {ran.stderr}\n{region}"


SOME = ("sum", "difference and sum", "dot product", "product", "count", "row sums")


@pytest.mark.parametrize(("program", "kind"), [
    *((p, "int") for p in PROGRAMS), *((p, kind) for p in SOME for kind in ("long", "short"))])
def test_no_signed_overflow_that_the_source_has_not(program: str, kind: str, tmp_path: Path) -> None:
    body, begin = PROGRAMS[program]
    text = source(body.replace("T ", f"{kind} "), kind)
    region = polysched.optimize(from_c_text(text), polysched.PipelineOptions(vector_bits=256)).text
    for compiler in compilers():
        assert_same_without_overflow(text, region, kind, begin, tmp_path, compiler)


@pytest.mark.parametrize("program", ["matrix product", "column sums", "stencil", "running sum"])
def test_a_schedule_with_the_order_of_the_source_computes_as_the_source(program: str) -> None:
    scop = from_c_text(source(PROGRAMS[program][0], "int"))
    for reductions in ("keep", "exact"):
        tiled = tile(original(analyse(scop, reductions=reductions)), TilingOptions(parallel=False))
        assert "unsigned int" not in emit(tiled, options=EmitOptions(vector_bits=256, openmp=False)).text


@pytest.mark.parametrize("kind", ["int", "long"])
@pytest.mark.parametrize("program", SKIPPED)
def test_lanes_that_c_would_skip_do_not_overflow(program: str, kind: str, tmp_path: Path) -> None:
    body, begin = SKIPPED[program]
    text = source(body, kind)
    made = polysched.optimize(from_c_text(text), polysched.PipelineOptions(vector_bits=256, parallel=False))
    assert tiles(made.source.loops)
    for compiler in compilers():
        assert_same_without_overflow(text, made.text, kind, begin, tmp_path, compiler)


# A schedule, and how the sums and their addends begin: with the last addend first they overflow.
BACKWARDS = {
    "matrix product": ("S0[i, j, k] -> [i, -k, j]",
                       "for (int i = 0; i < m * m; i++) B[0][i] = 1, C[0][i] = LARGE;"
                       "for (int i = 0; i < m; i++) A[i][0] = -LARGE, A[i][m - 1] = LARGE;"),
    "column sums": ("S0[i, j] -> [-i, j]",
                    "for (int j = 0; j < m; j++) h[j] = LARGE, A[0][j] = -LARGE, A[m - 1][j] = LARGE;"),
    "row sums": ("S0[i, j] -> [i, -j]",
                 "for (int i = 0; i < m; i++) h[i] = LARGE, A[i][0] = -LARGE, A[i][m - 1] = LARGE;"),
    "row sums of strided rows": ("S0[i, j] -> [-j, i]",
                                 "for (int i = 0; i < m; i++) h[i] = LARGE, A[0][i] = -LARGE, A[m - 1][i] = LARGE;"),
}


@pytest.mark.parametrize("kind", ["int", "long"])
@pytest.mark.parametrize("program", BACKWARDS)
def test_a_schedule_that_turns_the_updates(program: str, kind: str, tmp_path: Path) -> None:
    order, begin = BACKWARDS[program]
    text = source(PROGRAMS[program][0], kind)
    dependences = analyse(from_c_text(text), reductions="exact")
    sizes = ", ".join(p.name for p in dependences.scop.parameters)
    tree = tree_of(isl.UnionMap(f"[{sizes}] -> {{ {order} }}"), dependences.scop.domain)
    tiled = tile(Schedule(dependences=dependences, tree=tree, algorithm="original"), TilingOptions(parallel=False))
    region = emit(tiled, options=EmitOptions(vector_bits=256, openmp=False)).text
    for compiler in compilers():
        assert_same_without_overflow(text, region, kind, begin, tmp_path, compiler)


def test_the_memory_of_a_region_without_iterations(tmp_path: Path) -> None:
    """Sizes of panels stand ahead of the question whether there is anything to do."""
    head = "void f(int n, int m, float A[restrict 64][64], float B[restrict 64][64], float C[restrict 64][64])"
    body = ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < n; k++)"
            " C[i][j] += A[i][k] * B[k][j];")
    large = polysched.PipelineOptions(assumed=(("n", 4096), ("m", 4096)))   # so that there are panels
    region = polysched.optimize(from_c_text(f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"), large).text
    assert "aligned_alloc" in region
    path, binary, compiler = tmp_path / "sizes.c", tmp_path / "sizes", compilers()[0]
    path.write_text(f"{head} {{\n{region}}}\nstatic float A[64][64];\nint main(void) {{\n"
                    "  int sizes[] = {-2147483647 - 1, -1, 0};\n  for (int i = 0; i < 9; i++)\n"
                    "    f(sizes[i / 3], sizes[i % 3], A, A, A);\n  return 0;\n}\n")
    done = compiler.run(["-O1", "-w", *TRAPS[compiler.kind], *compiler.openmp_compile, str(path), "-o", str(binary),
                         *compiler.openmp_link, "-lm"], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
