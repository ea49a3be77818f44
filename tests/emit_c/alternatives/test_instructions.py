"""Regions with a statement by an instruction: the file compiles, runs, and keeps the results of the original."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.target import find_compiler
from polysched.tensorize.options import TensorizeOptions
from tests.tiers import and_campaign

TWO_PRODUCTS = """#include <stdint.h>
#ifdef SOMETHING
#include <no_such_header.h>
#endif
#define OUT int32_t
void chain(int n, OUT D[n][n], OUT C[n][n], uint8_t A[n][n], int8_t B[n][n], int32_t bias[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = bias[j];
            OUT s = 0;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
            for (int k = 0; k < n; k++)
                s += A[k][i] * B[j][k];
            D[i][j] = s > C[i][j] ? s : C[i][j];
        }
#pragma endscop
}
"""


def loaded(text: str, folder: Path, name: str) -> ctypes.CDLL:
    compiler = find_compiler()
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    done = compiler.run(["-O1", "-fwrapv", "-w", "-shared", "-fPIC", *compiler.openmp_compile, str(source), "-o",
                         str(library), *compiler.openmp_link, "-lm"])
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("intrinsic", and_campaign(["arm_usdot"], ["vpdpbusd"]))
def test_two_products_in_one_nest(intrinsic: str, tmp_path: Path) -> None:
    """Instructions that nothing here executes run as plain C; sizes that the code is not made for take the rest."""
    path = tmp_path / "chain.c"
    path.write_text(TWO_PRODUCTS)
    done = transform_file(path, PipelineOptions(
        tensorize=TensorizeOptions(intrinsic=intrinsic, sizes={"n": 37}), verify_instructions="never"))
    assert done.text.count(f"by {intrinsic} */") == 2
    assert done.text.index("POLYSCHED_EXACT_ARITHMETIC") < done.text.index("#define OUT")
    assert [line for line in done.regions[0].steps() if "instruction: " in line]
    before, after = loaded(TWO_PRODUCTS, tmp_path, "before"), loaded(done.text, tmp_path, "after")
    chooser = np.random.default_rng(2)
    for n in (37, 36):
        inputs = [chooser.integers(0, 255, (n, n), endpoint=True).astype(np.uint8),
                  chooser.integers(-128, 127, (n, n), endpoint=True).astype(np.int8),
                  chooser.integers(-9, 9, n).astype(np.int32)]
        results = []
        for library in (before, after):
            d, c = np.full((n, n), 7, np.int32), np.full((n, n), 7, np.int32)
            library.chain(n, *(ctypes.c_void_p(x.ctypes.data) for x in (d, c, *inputs)))
            results.append((d, c))
        np.testing.assert_array_equal(results[0], results[1])


def test_a_sum_in_a_variable_declared_ahead(tmp_path: Path) -> None:
    """The memory that stands for the variable has its name in a block of its own."""
    text = """void f(short a[8][16], short b[16], int c[8])
{
    int i, k, sum;
#pragma scop
    for (i = 0; i < 8; i++) {
        sum = 5;
        for (k = 0; k < 16; k++)
            sum += a[i][k] * b[k];
        c[i] = sum / 2;
    }
#pragma endscop
}
"""
    path = tmp_path / "sum.c"
    path.write_text(text)
    done = transform_file(path, PipelineOptions(
        tensorize=TensorizeOptions(intrinsic="rvv_vwmacc_i16"), verify_instructions="never"))
    assert "by rvv_vwmacc_i16 */" in done.text
    a, b = np.arange(128, dtype=np.int16).reshape(8, 16), np.arange(-8, 8, dtype=np.int16)
    c = np.zeros(8, np.int32)
    loaded(done.text, tmp_path, "sum").f(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)))
    np.testing.assert_array_equal(c, np.trunc((a.astype(np.int32) @ b + 5) / 2).astype(np.int32))


def test_no_instruction_leaves_the_region_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "chain.c"
    path.write_text(TWO_PRODUCTS)
    plain = transform_file(path, PipelineOptions(tensorize=None))
    floats = TensorizeOptions(intrinsic="fma_f64_avx512", sizes={"n": 37})
    none = transform_file(path, PipelineOptions(tensorize=floats))
    assert plain.text == none.text
    assert any("fma_f64_avx512" in line for line in none.regions[0].steps())


def test_a_product_becomes_a_library_call(tmp_path: Path) -> None:
    text = """void product(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
"""
    path = tmp_path / "product.c"
    path.write_text(text)
    done = transform_file(path, PipelineOptions(tensorize=TensorizeOptions(intrinsic="cblas_dgemm", sizes={"n": 37})))
    assert "cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 37, 37, 37, 1, A, 37, B, 37, 0, C, 37);" in done.text
    assert done.text.startswith("#include <stdint.h>\n#include <cblas.h>\n")
    assert "emulator" not in "".join(done.regions[0].instructions)
