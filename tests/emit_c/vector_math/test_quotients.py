"""Quotients by a reciprocal are those of division, bit for bit."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_math import VectorMath
from polysched.scop import from_c_text
from polysched.scop.dtypes import BY_NAME
from tests.emit_c.compiled import load

NATIVE = ("-O2", "-march=native")
CORNERS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -3.0, 1e-30, 1e30)


def hardest(divisor: int, bits: int) -> list[int]:
    """Dividends, as integers of so many bits, whose quotients lie next to the middle of two numbers."""
    inverse = pow(1 << bits, -1, divisor)
    near = [e * inverse % divisor for e in (*range(-6, 0), *range(1, 7))]
    return [x for start in near for x in (start, start + divisor) if 1 << (bits - 1) <= x < 1 << bits]


def exact_cases(dtype: type[np.floating]) -> list[tuple[np.floating, np.ndarray]]:
    """Divisors, each with dividends."""
    random = np.random.default_rng(5)
    bits = np.finfo(dtype).nmant + 1
    largest = float(np.finfo(dtype).max)
    any_numbers = random.integers(0, 2**63, 4096).astype(np.uint64).view(dtype)
    edges = np.array([f * 2.0**e for e in (-79, -78, -77, 49, 50, 51, -126, 120) for f in (1, -1.999999)])
    near = np.concatenate([edges, [largest, 5e-324 if bits == 53 else 1e-45], CORNERS]).astype(dtype)
    least = 1 << (bits - 1)
    odd = [int(random.integers(least, 2 * least)) | 1 for _ in range(60)] + [2 * least - 1, least + 1]
    cases = [(dtype(y), np.concatenate([np.array(hardest(y, bits), dtype), any_numbers[:64], near])) for y in odd]
    scales = [s * 2.0**e for e in (-140, -126, -41, -40, 0, 40, 41, 126) for s in (1.75, -1.25)]
    with np.errstate(over="ignore"):
        return cases + [(dtype(s), np.concatenate([any_numbers, near])) for s in (*scales, *CORNERS)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_quotient_is_that_of_a_division(dtype: type[np.floating], tmp_path: Path) -> None:
    element = BY_NAME[np.dtype(dtype).name]
    lanes = 512 // element.bits
    taken = TakenNames(used=frozenset(), visible=frozenset())
    types = VectorTypes(taken)
    math = VectorMath(taken, types)
    found = math.quotient(element, lanes)
    assert found is not None
    macro, kinds = found
    c = element.c_name
    text = "\n".join([*types.declarations.values(), *math.definitions(),
                      f"void divide(long n, const {c} *a, const {c} *s, {c} *q) {{",
                      f"  for (long k = 0; k < n; k += {lanes})",
                      f"    *({kinds[0]} *)&q[k] = {macro}({', '.join(kinds)}, *({kinds[0]} *)&a[k], *s);", "}\n"])
    library = load(text, tmp_path, flags=NATIVE)
    for divisor, dividends in exact_cases(dtype):
        padded = np.resize(dividends, -(-len(dividends) // lanes) * lanes)
        quotients, by = np.empty_like(padded), np.array([divisor])
        library.divide(ctypes.c_long(len(padded)), *(ctypes.c_void_p(a.ctypes.data) for a in (padded, by, quotients)))
        with np.errstate(all="ignore"):
            expected = padded / divisor
        same = (quotients == expected) & (np.signbit(quotients) == np.signbit(expected))
        wrong = ~(same | (np.isnan(quotients) & np.isnan(expected)))
        assert not wrong.any(), (divisor, padded[wrong][:3], quotients[wrong][:3], expected[wrong][:3])


@pytest.mark.parametrize(("divider", "lanes", "gains"), [
    (256, 16, True), (256, 8, False), (128, 8, True), (512, 16, False), (256, 32, False)])
def test_vectors_that_a_core_divides_at_once_are_divided(divider: int, lanes: int, gains: bool) -> None:
    taken = TakenNames(used=frozenset(), visible=frozenset())
    math = VectorMath(taken, VectorTypes(taken), 512, divider)
    assert (math.quotient(BY_NAME["float32"], lanes) is not None) is gains
    assert math.unused(VectorTypes(taken)).divider_bits == divider


@pytest.mark.parametrize(("statement", "element", "shared"), [
    ("y[i][j] = x[i][j] / s[i];", "float", True),
    ("y[i][j] /= s[i];", "double", True),
    ("y[i][j] = (x[i][j] + y[i][j]) / 9.0;", "double", True),
    ("y[i][j] = x[i][j] / 8.0;", "double", False),
    ("y[i][j] = s[i] / x[i][j];", "float", False),
    ("y[i][j] = x[i][j] / y[i][j];", "float", False),
    ("y[i][j] = y[i][j] / y[i][0];", "float", False),
])
def test_loops_that_divide_by_one_number(statement: str, element: str, shared: bool, tmp_path: Path) -> None:
    head = f"void f(int n, {element} x[restrict 3][n], {element} y[restrict 3][n], {element} s[restrict 3])\n{{\n"
    loops = f"  for (int i = 0; i < 3; i++)\n    for (int j = 0; j < n; j++)\n      {statement}\n"
    text = f"{head}#pragma scop\n{loops}#pragma endscop\n}}\n"
    made = polysched.optimize(from_c_text(text), polysched.PipelineOptions(vector_bits=512, scheduler="original")).text
    assert ("polysched_quotient" in made) is shared, made
    ours, original = load(f"{head}{made}}}\n", tmp_path, flags=NATIVE), load(text, tmp_path)
    for n in (1, 15, 16, 17, 40):
        random = np.random.default_rng(n)
        arrays = [random.standard_normal(shape).astype("f" if element == "float" else "d")
                  for shape in ((3, n), (3, n), 3)]
        results = []
        for library in (original, ours):
            copies = [a.copy() for a in arrays]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in copies))
            results.append(copies[1])
        np.testing.assert_array_equal(*results)
