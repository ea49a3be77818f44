"""Sizes that only the running program knows: one function for all of them, proved, or the reason why there is none."""

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.target import find_compiler, host
from polysched.tensorize.decision import decide
from polysched.tensorize.options import TensorizeOptions
from tests.tensorize.compiled import AS_WRITTEN
from tests.tensorize.functions.replaced import openblas
from tests.tensorize.imagined_units import DESCRIBED
from tests.tiers import and_campaign

PRODUCT = """#include <stdint.h>
void product(int m, int n, int q, int32_t C[m][n], const {left} A[m][q], const {right} B[q][n])
{{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {{
            {start}
            for (int k = 0; k < q; k++)
                C[i][j] += A[i][k] * B[k][j];
        }}
#pragma endscop
}}
"""
NUMPY = {"uint8_t": np.uint8, "int8_t": np.int8, "int16_t": np.int16}


def with_instruction(name: str, **options: Any) -> PipelineOptions:
    """What the code computes is compared here, and not by the pipeline as well."""
    return PipelineOptions(tensorize=TensorizeOptions(intrinsic=name), verify_instructions="never",
                           **(AS_WRITTEN | options))


def loaded(text: str, folder: Path, level: str = "-O0") -> ctypes.CDLL:
    """A library; `-O1` has more warnings, and takes half as long again."""
    compiler = find_compiler()
    source, library = folder / "made.c", folder / "made.so"
    source.write_text(text)
    done = compiler.run([level, "-fwrapv", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *compiler.openmp_compile,
                         str(source), "-o", str(library), *compiler.openmp_link, "-lm"])
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize(("left", "right", "start", "intrinsic"), [
    ("uint8_t", "int8_t", "", "vpmaddwd"), ("int16_t", "int16_t", "C[i][j] = 0;", "vpmaddwd"),
    ("uint8_t", "int8_t", "C[i][j] = 0;", "vpdpbusd"), ("int8_t", "int8_t", "C[i][j] = 7;", "vpdpbusd"),
    ("uint8_t", "int8_t", "", "tdpbusd")])
def test_one_function_for_all_sizes(left: str, right: str, start: str, intrinsic: str, tmp_path: Path) -> None:
    """Around the edges of blocks, vectors and tiles, one after the other in the same buffers; too small ones, too."""
    path = tmp_path / "product.c"
    path.write_text(PRODUCT.format(left=left, right=right, start=start))
    done = transform_file(path, with_instruction(intrinsic))
    assert f"by {intrinsic} */" in done.text, done.regions[0].instructions
    assert "_fits((long)(m), (long)(n), (long)(q))" in done.text
    library = loaded(done.text, tmp_path, "-O1")
    chooser = np.random.default_rng(3)
    for m, n, q in ((37, 41, 43), (36, 48, 64), (1, 1, 1), (2, 3, 2), (7, 8, 9), (97, 16, 130), (12, 131, 2),
                    (37, 41, 42), (64, 64, 64), (5, 300, 1), (1, 64, 64), (131, 7, 259)):
        a, b = (np.frombuffer(chooser.bytes(rows * columns * np.dtype(NUMPY[t]).itemsize), NUMPY[t])
                .reshape(rows, columns) for rows, columns, t in ((m, q, left), (q, n, right)))
        c = chooser.integers(-(1 << 31), 1 << 31, (m, n)).astype(np.int32)
        expected = (0 if "= 0" in start else 7 if "= 7" in start else c.astype(np.int64)) + \
            a.astype(np.int64) @ b.astype(np.int64)
        library.product(m, n, q, *(ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)))
        np.testing.assert_array_equal(c, expected.astype(np.int32), err_msg=f"{m} {n} {q}")


def test_known_extents_stay_constants(tmp_path: Path) -> None:
    path = tmp_path / "rows.c"
    path.write_text("""#include <stdint.h>
void rows(int m, int32_t C[m][256], const uint8_t A[m][256], const int8_t B[256][256])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < 256; j++)
            for (int k = 0; k < 256; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""")
    done = transform_file(path, with_instruction("vpmaddwd"))
    assert "< 128; t_k++" in done.text   # pairs along k, no ends to be looked for
    library = loaded(done.text, tmp_path)
    chooser = np.random.default_rng(4)
    for m in (1, 2, 5, 6, 7, 64, 101):
        a = chooser.integers(0, 256, (m, 256)).astype(np.uint8)
        b = chooser.integers(-128, 128, (256, 256)).astype(np.int8)
        c = np.full((m, 256), 3, np.int32)
        library.rows(m, *(ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)))
        np.testing.assert_array_equal(c, 3 + a.astype(np.int32) @ b.astype(np.int32))


def test_sums_in_temporaries_get_memory_of_their_size(tmp_path: Path) -> None:
    path = tmp_path / "relu.c"
    path.write_text("""#include <stdint.h>
void relu(int m, int n, int q, int32_t D[m][n], const uint8_t A[m][q], const int8_t B[q][n], const int32_t bias[n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int32_t s = 0;
            for (int k = 0; k < q; k++)
                s += A[i][k] * B[k][j];
            D[i][j] = s + bias[j] > 0 ? s + bias[j] : 0;
        }
#pragma endscop
}
""")
    done = transform_file(path, with_instruction("vpmaddwd"))
    assert "by vpmaddwd */" in done.text, done.regions[0].instructions
    library = loaded(done.text, tmp_path)
    chooser = np.random.default_rng(4)
    for m, n, q in ((33, 17, 40), (6, 16, 64), (50, 50, 50)):
        a = chooser.integers(0, 256, (m, q)).astype(np.uint8)
        b = chooser.integers(-128, 128, (q, n)).astype(np.int8)
        bias, d = chooser.integers(-9, 9, n).astype(np.int32), np.full((m, n), 3, np.int32)
        library.relu(m, n, q, *(ctypes.c_void_p(x.ctypes.data) for x in (d, a, b, bias)))
        np.testing.assert_array_equal(d, np.maximum(a.astype(np.int32) @ b.astype(np.int32) + bias, 0))


@pytest.mark.parametrize(("change", "reason"), [
    (("j < n", "j < i"), ""),
    (("A[i][k]", "A[i][(n - 1) - k]"), ""),
    (("A[i][k]", "A[i + k][k]"), ""),
    (("A[i][k]", "A[(i + k) % n][k]"), "S0"),
    (("C[i][j]", "C[i + j][j]"), ""),
    (("C[i][j]", "C[i + i / 2][j]"), "subscripts of C are no sums of multiples of the loops"),
])
def test_what_holds_for_some_sizes_only_says_so(change: tuple[str, str], reason: str) -> None:
    text = """void f(int n, int C[2 * n][n], short A[2 * n][n], short B[n][n]) {
#pragma scop
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}"""
    decision = decide(from_c_text(text.replace(*change)), TensorizeOptions(intrinsic="vpmaddwd"), host())
    if reason:
        assert decision.program is None
        assert reason in " ".join(decision.reasons)
    else:
        assert decision.program is not None


CONVOLUTIONS = {
    "channels first": (
        "int32_t y[K][H][W], const uint8_t x[C][H + 2][W + 2], const int8_t w[K][C][3][3]",
        "y[k][i][j] += x[c][i + r][j + s] * w[k][c][r][s];"),
    "channels last, by twos": (
        "int32_t y[H][W][K], const uint8_t x[2 * H + 1][2 * W + 1][C], const int8_t w[3][3][C][K]",
        "y[i][j][k] += x[2 * i + r][2 * j + s][c] * w[r][s][c][k];"),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_of_any_size(name: str, tmp_path: Path) -> None:
    """Windows are copied element by element of an execution; sizes below, at and behind whole tiles."""
    parameters, body = CONVOLUTIONS[name]
    path = tmp_path / "conv.c"
    path.write_text(f"""#include <stdint.h>
void conv(int K, int C, int H, int W, {parameters})
{{
#pragma scop
    for (int k = 0; k < K; k++)
        for (int i = 0; i < H; i++)
            for (int j = 0; j < W; j++)
                for (int c = 0; c < C; c++)
                    for (int r = 0; r < 3; r++)
                        for (int s = 0; s < 3; s++)
                            {body}
#pragma endscop
}}
""")
    done = transform_file(path, with_instruction("vpmaddwd", scheduler="original", parallel=False))
    assert "by vpmaddwd */" in done.text, done.regions[0].instructions
    called, removed = re.subn(r"    if \(!\(\(double\)[^;]* >= \d+\)\) return 0;\n", "", done.text)
    assert removed == 1   # the work from which on it pays: small sizes shall take the instruction, too
    library, chooser = loaded(called, tmp_path), np.random.default_rng(5)
    last, step = "last" in name, 2 if "twos" in name else 1
    for out, channels, height, width in ((19, 5, 7, 33), (16, 4, 8, 16), (1, 2, 2, 2), (8, 16, 3, 17)):
        x = chooser.integers(0, 256, (channels, step * height + 3 - step, step * width + 3 - step)).astype(np.uint8)
        w = chooser.integers(-128, 128, (out, channels, 3, 3)).astype(np.int8)
        y = chooser.integers(-(1 << 31), 1 << 31, (out, height, width)).astype(np.int32)
        windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int64), (3, 3), axis=(1, 2))
        expected = y + np.einsum("cijrs,kcrs->kij", windows[:, ::step, ::step], w.astype(np.int64))
        if last:
            x, w, y = (np.ascontiguousarray(a) for a in (x.transpose(1, 2, 0), w.transpose(2, 3, 1, 0),
                                                         y.transpose(1, 2, 0)))
            expected = expected.transpose(1, 2, 0)
        library.conv(out, channels, height, width, *(ctypes.c_void_p(a.ctypes.data) for a in (y, x, w)))
        np.testing.assert_array_equal(y, expected.astype(np.int32), err_msg=f"{out} {channels} {height} {width}")


GEMM = """
void gemm(int m, int n, int q, double alpha, double beta, double C[m][n], const double A[m][q], const double B[{b}])
{{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            C[i][j] *= beta;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < q; k++)
                C[i][j] += alpha * A[i][k] * {element};
#pragma endscop
}}
"""


@pytest.mark.parametrize(("extents", "element", "words"), [
    ("q][n", "B[k][j]", "CblasNoTrans, CblasNoTrans, ps_size_m, ps_size_n, ps_size_q"),
    ("n][q", "B[j][k]", "CblasNoTrans, CblasTrans, ps_size_m, ps_size_n, ps_size_q")], ids=["plain", "transposed"])
def test_a_library_function_is_told_the_sizes(extents: str, element: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "gemm.c"
    path.write_text(GEMM.format(b=extents, element=element))
    done = transform_file(path, PipelineOptions(tensorize=TensorizeOptions(intrinsic="cblas_dgemm")))
    assert words in done.text, done.regions[0].instructions
    assert "_fits((long)(m), (long)(n), (long)(q))" in done.text
    assert "equals the statement" in " ".join(done.regions[0].instructions)
    compiler, source, made = find_compiler(), tmp_path / "made.c", tmp_path / "made.so"
    source.write_text(done.text)
    built = compiler.run(["-O1", "-w", "-shared", "-fPIC", *compiler.openmp_compile, str(source), "-o", str(made),
                          *compiler.openmp_link, *openblas("cblas_dgemm")])
    assert not built.returncode, built.stderr
    gemm, chooser = ctypes.CDLL(str(made)).gemm, np.random.default_rng(7)
    for m, n, q in ((1, 1, 1), (2, 3, 5), (37, 41, 43), (64, 2, 7)):
        a, b, c = (chooser.integers(-4, 5, shape).astype(np.float64)
                   for shape in ((m, q), (q, n) if "[k]" == element[1:4] else (n, q), (m, n)))
        expected = 0.5 * c - 2 * (a @ (b if b.shape == (q, n) and element == "B[k][j]" else b.T))
        gemm(m, n, q, ctypes.c_double(-2), ctypes.c_double(0.5), *(ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)))
        assert np.array_equal(c, expected), (m, n, q)


@pytest.mark.parametrize(("loops", "step"), and_campaign([
    ("for (int kk = 0; kk < q; kk += 16) for (int k = kk; k < kk + 16; k++) C[i][j] += A[i][k] * B[k][j];", 16)], [
    ("for (int k = 0; k < q; k += 4) { C[i][j] += A[i][k] * B[k][j]; C[i][j] += A[i][k + 1] * B[k + 1][j]; "
     "C[i][j] += A[i][k + 2] * B[k + 2][j]; C[i][j] += A[i][k + 3] * B[k + 3][j]; }", 4)]))
def test_sums_in_whole_steps_are_as_long_as_the_size_rounded_up(loops: str, step: int, tmp_path: Path) -> None:
    path = tmp_path / "steps.c"
    path.write_text(f"""#include <stdint.h>
void steps(int m, int n, int q, int32_t C[m][n], const uint8_t A[m][160], const int8_t B[160][n])
{{
#pragma scop
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {{ {loops} }}
#pragma endscop
}}
""")
    done = transform_file(path, with_instruction("vpmaddwd"))
    assert "by vpmaddwd */" in done.text, done.regions[0].instructions
    library = loaded(done.text, tmp_path)
    chooser = np.random.default_rng(5)
    for m, n, q in ((37, 41, 43), (36, 48, 64), (1, 1, 1), (7, 8, 15), (7, 8, 16), (7, 8, 17), (64, 64, 130)):
        a = chooser.integers(0, 256, (m, 160)).astype(np.uint8)
        b = chooser.integers(-128, 128, (160, n)).astype(np.int8)
        c = chooser.integers(-(1 << 31), 1 << 31, (m, n)).astype(np.int32)
        end = -(-q // step) * step
        expected = c.astype(np.int64) + a[:, :end].astype(np.int64) @ b[:end].astype(np.int64)
        library.steps(m, n, q, *(ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)))
        np.testing.assert_array_equal(c, expected.astype(np.int32), err_msg=f"{m} {n} {q}")


def test_a_loop_of_one_iteration_moves_nothing(tmp_path: Path) -> None:
    """An image of one channel, its loop written all the same."""
    path = tmp_path / "filters.c"
    path.write_text("""#include <stdint.h>
void filters(int h, int w, int k, int32_t Y[k][h][w], const uint8_t X[1][h + 2][w + 2], const int8_t W[k][1][3][3])
{
#pragma scop
    for (int o = 0; o < k; o++)
        for (int p = 0; p < h; p++)
            for (int q = 0; q < w; q++)
                for (int c = 0; c < 1; c++)
                    for (int r = 0; r < 3; r++)
                        for (int s = 0; s < 3; s++)
                            Y[o][p][q] += X[c][p + r][q + s] * W[o][c][r][s];
#pragma endscop
}
""")
    done = transform_file(path, with_instruction("vpdpbusd_m32bcst"))
    assert "by vpdpbusd_m32bcst */" in done.text, done.regions[0].instructions
    library, chooser = loaded(done.text, tmp_path), np.random.default_rng(5)
    for h, w, k in ((17, 33, 13), (16, 16, 12), (64, 80, 24)):
        x, weights = (np.frombuffer(chooser.bytes(size), kind) for size, kind in (
            ((h + 2) * (w + 2), np.uint8), (k * 9, np.int8)))
        y = chooser.integers(-(1 << 31), 1 << 31, (k, h, w)).astype(np.int32)
        windows = np.lib.stride_tricks.sliding_window_view(x.reshape(h + 2, w + 2).astype(np.int64), (3, 3))
        expected = y + np.einsum("pqrs,krs->kpq", windows, weights.reshape(k, 3, 3))
        library.filters(h, w, k, *(ctypes.c_void_p(a.ctypes.data) for a in (y, x, weights)))
        np.testing.assert_array_equal(y, expected.astype(np.int32), err_msg=f"{h} {w} {k}")


SHIFTED = """#include <stdint.h>
void shifted(int m, int32_t y[m + {size}], const uint8_t a[m + 90][64], const int8_t x[64])
{{
#pragma scop
    for (int i = -m; i < m; i++)
        for (int k = 0; k < 64; k++)
            y[i + 90] += a[i + 90][k] * x[k];
#pragma endscop
}}
"""


def test_sizes_are_tried_at_which_accesses_stay_inside(tmp_path: Path) -> None:
    path = tmp_path / "shifted.c"
    path.write_text(SHIFTED.format(size=90))
    done = transform_file(path, PipelineOptions(tensorize=TensorizeOptions(intrinsic="vpdpbusd_vector")))
    found = done.regions[0].instructions
    assert any("equals the statement at i " in line for line in found), found
    library, chooser = loaded(done.text, tmp_path), np.random.default_rng(7)
    for m in (90, 67, 41, 3):
        a, x = chooser.integers(0, 256, (m + 90, 64)).astype(np.uint8), chooser.integers(-128, 128, 64).astype(np.int8)
        y = chooser.integers(-999, 999, m + 90).astype(np.int32)
        expected = y + np.where(np.abs(np.arange(m + 90) - 89.5) < m, a.astype(np.int64) @ x.astype(np.int64), 0)
        library.shifted(m, *(ctypes.c_void_p(v.ctypes.data) for v in (y, a, x)))
        np.testing.assert_array_equal(y, expected.astype(np.int32), err_msg=str(m))


@pytest.mark.parametrize("size", [-90, 80])
def test_accesses_that_always_leave_their_arrays_are_refused(size: int, tmp_path: Path) -> None:
    path = tmp_path / "shifted.c"
    path.write_text(SHIFTED.format(size=size).replace("i = -m", "i = 0"))
    with pytest.raises(UnsupportedScopError, match="could not be compared") as refused:
        transform_file(path, PipelineOptions(tensorize=TensorizeOptions(intrinsic="vpdpbusd_vector")))
    assert "some access leaves its array at every size" in str(refused.value)
    assert "__builtin_assume" in str(refused.value)


SLANTED = """#include <stdint.h>
void slanted(int n, int q, int32_t C[n][n], const uint8_t A[n][q], const int8_t B[q][n])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = {first}; j < {last}; j++)
            for (int k = {start}; k < {end}; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""


@pytest.mark.parametrize(("first", "last", "start", "end"), [
    ("0", "i + 1", "0", "q"), ("i", "n", "0", "q"), ("0", "i", "0", "q"), ("i + 3", "n", "0", "q"),
    ("0", "n", "0", "(i < q ? i + 1 : q)"), ("0", "n", "0", "(j + 5 < q ? j + 5 : q)"), ("0", "n", "i", "q")])
@pytest.mark.parametrize("intrinsic", ["vpdpbusd", "vpmaddwd"])
def test_triangles_of_any_size(intrinsic: str, first: str, last: str, start: str, end: str, tmp_path: Path) -> None:
    """Results outside are neither read nor written; elements of operands outside count as zeros."""
    path = tmp_path / "slanted.c"
    path.write_text(SLANTED.format(first=first, last=last, start=start, end=end))
    done = transform_file(path, with_instruction(intrinsic))
    assert f"by {intrinsic} */" in done.text, done.regions[0].instructions
    library, chooser = loaded(done.text, tmp_path), np.random.default_rng(11)
    for n, q in ((37, 41), (64, 64), (3, 70), (16, 200), (97, 33), (130, 131), (2, 2), (1, 9)):
        a, b = (np.frombuffer(chooser.bytes(n * q), kind) for kind in (np.uint8, np.int8))
        a, b = a.reshape(n, q).astype(np.int64), b.reshape(q, n).astype(np.int64)
        c = chooser.integers(-(1 << 31), 1 << 31, (n, n)).astype(np.int32)
        i, j, k = np.ogrid[:n, :n, :q]
        at = {"0": 0, "n": n, "i": i, "i + 1": i + 1, "i + 3": i + 3}
        inside = (j >= at[first]) & (j < at[last]) & (k >= at[start]) & (k < q)
        inside = inside & (k < (np.minimum(i + 1, q) if "i <" in end else np.minimum(j + 5, q) if "j" in end else q))
        expected = c + np.einsum("ik,kj,ijk->ij", a, b, inside.astype(np.int64))
        given = [c, a.astype(np.uint8), b.astype(np.int8)]
        library.slanted(n, q, *(ctypes.c_void_p(x.ctypes.data) for x in given))
        np.testing.assert_array_equal(c, expected.astype(np.int32), err_msg=f"{n} {q}")


LANES = "for (int i = 0; i < 8; i++)"


UNITS = {   # parameters and body of a unit | the statement of a program, and what NumPy makes of it
    "every second element read": ("int32_t O[8], const int16_t A[16]", f"{LANES} O[i] = A[2 * i];",
                                  "c[i] = q[2 * i + 1];", lambda c, q, w: q[1:2 * len(c):2]),
    "one element of eight read": ("int32_t O[8], const int16_t A[8], const int16_t B[8]",
                                  f"{LANES} O[i] += A[i] * B[0];", "c[i] += q[i] * q[2];", None),
    "half of the lanes written": ("int32_t O[8], const int16_t A[8]", "for (int i = 0; i < 4; i++) O[i] += A[i];",
                                  "c[i] += q[i];", lambda c, q, w: c + q[:len(c)]),
    "every second lane written": ("int32_t O[16], const int16_t A[8]", f"{LANES} O[2 * i + 1] += A[i];",
                                  "c[i] += q[3 * i];", lambda c, q, w: c + q[:3 * len(c):3]),
    "five of eight added": ("int32_t O[8], const int16_t A[8][8]",
                            f"{LANES} for (int k = 0; k < 5; k++) O[i] += A[i][k];",
                            "for (int k = m - 1; k >= 0; k--) c[i] += w[k][i];", lambda c, q, w: c + w.sum(0)),
    "strides in a window": ("int32_t O[4], const int16_t A[12]",
                            "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) O[i] += A[2 * i + 3 * k];",
                            "for (int k = 0; k < 4; k++) c[i] += q[2 * i + 3 * k];",
                            lambda c, q, w: c + sum(q[3 * k:3 * k + 2 * len(c):2] for k in range(4))),
    "downwards": ("int32_t O[8], const int16_t A[8]", "for (int i = 7; i >= 0; i--) O[i] = A[i] < 0 ? 0 : A[i];",
                  "c[i] = q[i] > 0 ? q[i] : 0;", lambda c, q, w: np.maximum(q[:len(c)], 0)),
}


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("downwards", [False, True])
def test_units_that_leave_parts_of_operands_at_any_size(name: str, downwards: bool, tmp_path: Path) -> None:
    """What is not read or written may lie anywhere; loops of the program may run downwards."""
    parameters, body, statement, wanted = UNITS[name]
    names = "".join(p.split("[")[0][-1] for p in parameters.split(","))
    file = tmp_path / "units.py"
    file.write_text(DESCRIBED.format(parameters=parameters, body=body, names=names))
    loop = "for (int i = n - 1; i >= 0; i--)" if downwards else "for (int i = 0; i < n; i++)"
    path = tmp_path / "program.c"
    path.write_text("#include <stdint.h>\n#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
                    "void program(int n, int m, int32_t c[n], const int16_t q[4 * n + 12], "
                    f"const int16_t w[m][n]) {{\n#pragma scop\n{loop} {{ {statement} }}\n#pragma endscop\n}}\n")
    wanted_unit = TensorizeOptions(intrinsic="unit", files=(str(file),))
    done = transform_file(path, PipelineOptions(tensorize=wanted_unit, verify_instructions="never"))
    assert "by unit */" in done.text, done.regions[0].instructions
    library, chooser = loaded(done.text, tmp_path), np.random.default_rng(13)
    for n, m in ((1, 1), (2, 3), (8, 8), (37, 10), (64, 5), (101, 33)):
        q, w = (chooser.integers(-(1 << 15), 1 << 15, shape).astype(np.int16) for shape in (4 * n + 12, (m, n)))
        c = chooser.integers(-(1 << 31), 1 << 31, n).astype(np.int32)
        wide = [x.astype(np.int64) for x in (c, q, w)]
        expected = wide[0] + wide[1][:n] * wide[1][2] if wanted is None else wanted(*wide)
        library.program(n, m, *(ctypes.c_void_p(x.ctypes.data) for x in (c, q, w)))
        np.testing.assert_array_equal(c, expected.astype(np.int32), err_msg=f"{n} {m}")


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 100])
def test_shipped_elementwise_instructions_of_any_size(n: int, tmp_path: Path) -> None:
    path = tmp_path / "average.c"
    path.write_text("""#include <stdint.h>
void average(int n, uint8_t o[n], const uint8_t a[n], const uint8_t b[n]) {
#pragma scop
    for (int i = 0; i < n; i++)
        o[i] = (a[i] + b[i] + 1) >> 1;
#pragma endscop
}
""")
    done = transform_file(path, with_instruction("vpavgb"))
    assert "by vpavgb */" in done.text, done.regions[0].instructions
    library, chooser = loaded(done.text, tmp_path), np.random.default_rng(17)
    o, a, b = (chooser.integers(0, 256, n).astype(np.uint8) for _ in range(3))
    library.average(n, *(ctypes.c_void_p(x.ctypes.data) for x in (o, a, b)))
    np.testing.assert_array_equal(o, (a.astype(np.int32) + b + 1) >> 1)
