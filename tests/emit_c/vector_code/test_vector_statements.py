"""Assignments in lanes and in scalar remainders: what is computed keeps the type that the program gives it."""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

HELD = """void f(int n, float R[n], int m[n], float a[n], float s[1]) {
#pragma scop
  for (int i = 0; i < n; i++) BODY
#pragma endscop
}
"""


@pytest.mark.parametrize(("body", "masked"), [
    ("if (m[i]) R[i] = sqrtf(a[i]);", False), ("if (m[i]) R[i] += expf(a[i]);", False),
    ("for (int k = 0; k < n; k++) if (m[k]) R[i] = a[k];", False),
    ("if (m[i]) R[i] = expf(a[i]); else R[i] = 0;", True), ("{ R[i] = 1; if (m[i]) R[i] = expf(a[i]); }", True)])
def test_no_old_value_is_written_back_that_may_be_another_threads(body: str, masked: bool) -> None:
    text = "float expf(float);\n" + HELD.replace("BODY", body)
    made = polysched.optimize(from_c_text(text), polysched.PipelineOptions(tile="off", vector_bits=256)).source.text
    assert ("mask" in made) is masked, made


def test_a_function_is_computed_in_lanes_and_written_in_those_that_hold(tmp_path: Path) -> None:
    """Elements that the condition leaves alone are never written: here their page is read-only."""
    text = "float expf(float);\n" + HELD.replace("BODY", "if (m[i] && a[i] > -1) R[i] = expf(a[i]);")
    made = polysched.optimize(from_c_text(text), polysched.PipelineOptions(tile="off", vector_bits=256)).source.text
    assert "polysched_exp_f32" in made
    assert "[7]) R[" in made
    whole = "float expf(float);\nvoid f(int n, float R[n], int m[n], float a[n], float s[1]) {\n" + made + "}\n"
    f, page = load(whole, tmp_path, strict=False).f, mmap.PAGESIZE
    area = mmap.mmap(-1, 2 * page)
    result = np.frombuffer(area, np.float32)
    result[:] = 7
    count = page // 4
    n, m, a = 2 * count, np.arange(2 * count) % 3 == 0, np.linspace(-2, 2, 2 * count, dtype=np.float32)
    m[count:] = False
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(result.ctypes.data + page), ctypes.c_size_t(page), mmap.PROT_READ) == 0
    f(n, *(ctypes.c_void_p(v.ctypes.data) for v in (result, m.astype(np.int32), a, np.zeros(1, np.float32))))
    np.testing.assert_allclose(result, np.where(m & (a > -1), np.exp(a), np.float32(7)), rtol=2e-7)


UPDATES = {
    "unsigned into long": ("int64_t", "s[0] += (uint32_t)a[i];", "int32_t"),
    "unsigned into double": ("double", "s[0] += (uint32_t)a[i];", "int32_t"),
    "float into double": ("double", "s[0] += (float)a[i];", "int32_t"),
    "wide into float into double": ("double", "s[0] += (float)a[i];", "int64_t"),
    "unsigned short sum": ("int64_t", "s[0] -= (uint32_t)(a[i] * 3);", "int16_t"),
    "same type": ("uint32_t", "s[0] += (uint32_t)a[i];", "int32_t"),
}
DTYPES = {"int64_t": np.int64, "double": np.float64, "int32_t": np.int32, "int16_t": np.int16, "uint32_t": np.uint32}


@pytest.mark.parametrize("case", UPDATES)
def test_a_conversion_that_changes_values_stays_in_an_update(case: str, tmp_path: Path) -> None:
    result, update, element = UPDATES[case]
    head = f"#include <stdint.h>\nvoid f(long n, {result} s[1], const {element} *a) {{\n"
    text = f"{head}#pragma scop\n  for (long i = 0; i < n; i++) {update}\n#pragma endscop\n}}\n"
    made = polysched.optimize(from_c_text(text), polysched.PipelineOptions(tile="off"))
    old, new = load(text, tmp_path, strict=False), load(head + made.text + "}\n", tmp_path, strict=False)
    dtype = DTYPES[element]
    largest = np.iinfo(dtype).max
    for n in (1, 3, 8, 37):
        a = np.resize(np.array([-1, largest, -largest, 7, largest - 2, -5], dtype), n)
        results = [np.zeros(1, DTYPES[result]) for _ in range(2)]
        for library, sums in zip((old, new), results, strict=True):
            library.f(ctypes.c_long(n), ctypes.c_void_p(sums.ctypes.data), ctypes.c_void_p(a.ctypes.data))
        np.testing.assert_array_equal(*results, err_msg=f"{n}: {made.text}")
