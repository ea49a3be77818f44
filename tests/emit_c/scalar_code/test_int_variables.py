"""Loops that compute with their variable, which is an `int` where it is proven to fit."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

HEAD = "void f(int n, float x[restrict n], int last[restrict 2])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
INTS = {
    "twice the last negative": "last[0] = -1; for (int i = 0; i < n; i++) if (x[i] < 0) last[0] = 2 * i;",
    "from the end": "last[0] = -1; for (int i = n - 1; i >= 0; i--) if (x[i] < 0) last[0] = n - i;",
    "the one before, too": "last[1] = 0; for (int i = 0; i < n; i++) if (x[i] < 0) last[1] = 2 * i - last[1];",
}
LONGS = {
    "only a subscript": "last[0] = -1; for (int i = 0; i < n; i++) if (x[i] < 0) last[0] = n;",
    # The value behind the last one may be n + 2.
    "steps of three": "last[0] = -1; for (int i = 0; i < n; i += 3) if (x[i] < 0) last[0] = i;",
    # n + 3 may be more than an int holds.
    "a bound that may not fit": "for (int i = 0; i < n; i++) if (x[i] < 0) last[0] = i + 7; "
                                "for (long i = 0; i < (long)n + 3; i++) if (last[0] > 9) last[1] = (int)i;",
}


def _text(body: str) -> str:
    options = polysched.PipelineOptions(vector_bits=256, tile="off")
    return polysched.optimize(from_c_text(HEAD + body + TAIL), options).text


@pytest.mark.parametrize("case", INTS)
def test_a_variable_that_is_computed_with_is_an_int(case: str, tmp_path: Path) -> None:
    text = _text(INTS[case])
    assert "for (int i" in text, text
    assert "(int)" not in text, text
    new = load(HEAD.replace("#pragma scop\n", "") + text + "}\n", tmp_path)
    old = load(HEAD + INTS[case] + TAIL, tmp_path)
    for n in (0, 1, 2, 3, 7, 8, 9, 100):
        x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
        results = []
        for library in (new, old):
            last = np.array([11, 12], dtype=np.int32)
            library.f(ctypes.c_int(n), ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(last.ctypes.data))
            results.append(last)
        np.testing.assert_array_equal(*results, err_msg=str(n))


@pytest.mark.parametrize("case", LONGS)
def test_other_variables_are_longs(case: str) -> None:
    text = _text(LONGS[case])
    assert "for (long i = " in text, text
