"""Assignments in lanes and in scalar remainders: what is computed keeps the type that the program gives it."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

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
