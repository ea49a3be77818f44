"""Every second or third element of memory, picked out of whole vectors."""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c import splice
from polysched.emit_c.register_tiles.strided_reads import cover
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

SHUFFLE = "__builtin_shufflevector"
FILTERS = {
    2: "y[i] += c[k] * x[2 * i + k];",
    3: "y[i] += c[k] * x[3 * i + k];",
    -2: "y[i] += c[k] * x[2 * (n - 1 - i) + k];",
    -3: "y[i] += c[k] * x[3 * (n - 1 - i) + k];",
}
TYPES = [("float", np.float32), ("double", np.float64), ("int", np.int32), ("short", np.int16)]


@pytest.mark.parametrize("lanes", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("step", [2, 3])
def test_vectors_hold_every_element_and_nothing_outside(step: int, lanes: int) -> None:
    found = cover(step, lanes)
    assert min(found.offsets) == 0
    assert max(found.offsets) + lanes - 1 == (lanes - 1) * step
    assert [found.offsets[vector] + lane for vector, lane in found.lanes] == list(range(0, lanes * step, step))


def test_lanes_do_not_collide_where_they_need_not() -> None:
    assert [cover(step, lanes).collisions for step, lanes in ((2, 4), (2, 8), (2, 16), (3, 8))] == [0, 0, 0, 0]


def filter_of(step: int, element: str) -> str:
    return (f"void f(int n, int m, {element} y[restrict n], {element} c[restrict m], "
            f"{element} x[restrict {abs(step)} * (n - 1) + m]) {{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
            f"    for (int k = 0; k < m; k++)\n      {FILTERS[step]}\n#pragma endscop\n}}\n")


def spliced(text: str, options: polysched.PipelineOptions) -> str:
    return splice(text, [polysched.optimize(from_c_text(text), options).source])


class Guarded:
    """An array that ends where readable memory ends, or begins where it begins."""

    def __init__(self, values: np.ndarray, *, at_end: bool) -> None:
        page = mmap.PAGESIZE
        inside = -(-max(values.nbytes, 1) // page) * page
        self.memory = mmap.mmap(-1, inside + 2 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for fence in (start, start + page + inside):
            assert ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(fence), page, 0) == 0
        self.address = start + page + (inside - values.nbytes if at_end else 0)
        ctypes.memmove(self.address, values.ctypes.data, values.nbytes)


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize(("element", "dtype"), TYPES)
@pytest.mark.parametrize("step", FILTERS)
def test_rows_that_lie_apart_go_in_lanes(step: int, element: str, dtype: type, bits: int, tmp_path: Path) -> None:
    """Bit for bit: every row adds in its own order; and nothing is read before or behind the array.

    Sums of integers go in lanes along `k`, where neighbours are read.
    """
    text = filter_of(step, element)
    made = spliced(text, polysched.PipelineOptions(vector_bits=bits))
    gathered = [line for line in made.splitlines() if SHUFFLE in line and "_of_" not in line]   # no halves of a sum
    assert bool(gathered) is (element in ("float", "double")), made
    original, ours = load(text, tmp_path, strict=False).f, load(made, tmp_path).f
    random = np.random.default_rng(abs(step))
    for n, m in ((0, 3), (1, 1), (7, 5), (16, 2), (33, 3), (70, 4), (129, 33)):
        x = (random.standard_normal(max(0, abs(step) * (n - 1) + m)) * 100).astype(dtype)
        c, start = (random.standard_normal(size).astype(dtype) for size in (m, n))
        results = []
        for function in (original, ours):
            for at_end in (True, False):
                y, fenced = start.copy(), Guarded(x, at_end=at_end)
                function(n, m, *(ctypes.c_void_p(address) for address in
                                 (y.ctypes.data, c.ctypes.data, fenced.address)))
                results.append(y.tobytes())
        assert len(set(results)) == 1, (n, m)


COMPLEX = """void f(int n, {element} a[restrict n][2], {element} b[restrict n][2], {element} s[restrict 2]) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    s[0] += a[i][0] * b[i][0] - a[i][1] * b[i][1];
    s[1] += a[i][0] * b[i][1] + a[i][1] * b[i][0];
  }}
#pragma endscop
}}
"""


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize(("element", "dtype"), TYPES[:2])
def test_sums_over_pairs_go_in_lanes(element: str, dtype: type, bits: int, tmp_path: Path) -> None:
    """Whole numbers, whose sums are exact in any order."""
    text = COMPLEX.format(element=element)
    made = spliced(text, polysched.PipelineOptions(vector_bits=bits, reassociate=True))
    assert SHUFFLE in made, made
    ours = load(made, tmp_path).f
    for n in (0, 1, 15, 64, 131):
        random = np.random.default_rng(n)
        a, b = (random.integers(-9, 9, (n, 2)).astype(dtype) for _ in "ab")
        s = np.zeros(2, dtype)
        fenced = [Guarded(v, at_end=True) for v in (a, b)]
        ours(n, *(ctypes.c_void_p(f.address) for f in fenced), ctypes.c_void_p(s.ctypes.data))
        product = (a[:, 0] + 1j * a[:, 1]) @ (b[:, 0] + 1j * b[:, 1])
        assert (s[0], s[1]) == (product.real, product.imag)


def test_what_lies_further_apart_or_is_no_one_number_is_read_one_by_one() -> None:
    far = filter_of(3, "float").replace("3 * i", "4 * i").replace("3 * (n", "4 * (n")
    unknown = COMPLEX.format(element="float").replace("[2],", "[n],")
    for text in (far, unknown):
        assert SHUFFLE not in polysched.optimize(
            from_c_text(text), polysched.PipelineOptions(vector_bits=256, reassociate=True)).text
