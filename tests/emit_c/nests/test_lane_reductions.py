"""Reductions in vector lanes: which loops get partial results, and that the results are right."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.nodes import lane_parts

SIZES = (1, 15, 16, 17, 31, 32, 33, 75)
# Body over `n`, `T A[n]`, `T B[n]`, `T *r`; the type; whether the user has to allow it.
PROGRAMS = {
    "sum of doubles": ("for (int i = 0; i < n; i++) r[0] += A[i] * B[i];", "double", True),
    "difference of floats": ("for (int i = 0; i < n; i++) r[0] = r[0] - A[i];", "float", True),
    "product of doubles": ("for (int i = 0; i < n; i++) r[0] *= A[i];", "double", True),
    "sum of ints": ("for (int i = 0; i < n; i++) r[0] += A[i] * 3;", "int", False),
    "maximum": ("for (int i = 0; i < n; i++) r[0] = A[i] > r[0] ? A[i] : r[0];", "double", False),
    "minimum": ("for (int i = 0; i < n; i++) r[0] = A[i] < r[0] ? A[i] : r[0];", "float", False),
    "maximum, or NaN": ("for (int i = 0; i < n; i++) r[0] = A[i] > r[0] || A[i] != A[i] ? A[i] : r[0];", "float",
                        False),
    "maximum, or NaN outside": (
        "for (int i = 0; i < n; i++) r[0] = A[i] != A[i] ? A[i] : A[i] > r[0] ? A[i] : r[0];", "float", False),
    "minimum, or NaN": ("for (int i = 0; i < n; i++) r[0] = r[0] < A[i] || r[0] != r[0] ? r[0] : A[i];", "double",
                        False),
    "exclusive or": ("for (int i = 0; i < n; i++) r[0] ^= A[i];", "int", False),
    "and": ("for (int i = 0; i < n; i++) r[0] &= A[i] + 7;", "int", False),
    "backwards": ("for (int i = 0; i < n; i++) r[0] += A[n - 1 - i] * B[i];", "double", True),
    "with a store": ("for (int i = 0; i < n; i++) { B[i] = 2 * A[i]; r[0] += B[i]; }", "int", False),
    "two at once": ("for (int i = 0; i < n; i++) { r[0] += A[i]; B[0] ^= A[i]; }", "int", False),
    "a local accumulator": ("int s = 0; for (int i = 0; i < n; i++) s += A[i] * B[i]; r[0] = s;", "int", False),
}
REFUSED = {
    "somebody reads the sum on the way": "for (int i = 0; i < n; i++) { r[0] += A[i]; B[i] = r[0]; }",
    "the value depends on the sum": "for (int i = 0; i < n; i++) r[0] += A[i] * r[0];",
    "another element of the array": "for (int i = 2; i < n; i++) B[1] += B[i - 2];",
    "data decides where": "for (int i = 0; i < n; i++) r[A[i] & 1] += 1;",
}
IN_ORDER = {
    "one of two": ("for (int i = 0; i < n; i++) r[0] += A[i] > 0.5 ? A[i] : B[i];", "double"),
    "by branches": ("for (int i = 0; i < n; i++) if (A[i] > B[i]) r[0] += A[i]; else r[0] += B[i];", "float"),
    "an assignment": ("for (int i = 0; i < n; i++) r[0] = r[0] + (A[i] > 0.5 ? A[i] : B[i]);", "double"),
    "a choice of sums": ("for (int i = 0; i < n; i++) r[0] = A[i] > 0.5 ? r[0] + A[i] : B[i] + r[0];", "float"),
    "a difference": ("for (int i = 0; i < n; i++) r[0] -= A[i] != B[i] ? B[i] : 3.0;", "double"),
    "a product": ("for (int i = 0; i < n; i++) r[0] *= A[i] < 1 ? A[i] : 1;", "double"),
    "a float of doubles": ("for (int i = 0; i < n; i++) r[0] += A[i] > 0.1 ? A[i] * 1.1 : B[i];", "float"),
    "two sums": ("for (int i = 0; i < n; i++) { r[0] += A[i] > 0.5 ? A[i] : B[i]; }\n"
                 "for (int i = 0; i < n; i++) r[1] += A[i] < 0.5 ? A[i] : B[i];", "double"),
    "a local sum": ("T s = r[1]; for (int i = 0; i < n; i++) s += A[i] > 0.5 ? A[i] : B[i]; r[0] = s;", "double"),
    "with a store": ("for (int i = 0; i < n; i++) { r[0] += A[i] > 0.5 ? A[i] : B[i]; B[i] = A[i] + 1; }", "double"),
}
LEFT_IN_ORDER = {
    "nothing is chosen": "for (int i = 0; i < n; i++) r[0] += A[i];",
    "a product may be rounded with the sum": "for (int i = 0; i < n; i++) r[0] += (A[i] > 0.5 ? A[i] : 2) * B[i];",
    "an assignment that chooses nothing": "for (int i = 0; i < n; i++) r[0] = r[0] + A[i];",
    "a branch that leaves the sum": "for (int i = 0; i < n; i++) r[0] = A[i] > 0.5 ? r[0] + A[i] : r[0];",
    "the choice depends on the sum": "for (int i = 0; i < n; i++) r[0] += r[0] > 3 ? A[i] : B[i];",
    "elements apart": "for (int i = 0; 2 * i < n; i++) r[0] += A[2 * i] > 0.5 ? A[2 * i] : B[2 * i];",
}


def source(body: str, kind: str) -> str:
    head = f"void f(int n, {kind} A[restrict n], {kind} B[restrict n], {kind} r[restrict 2])"
    return f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def emitted(text: str, *, reassociate: bool, vector_bits: int = 256) -> CSource:
    return polysched.optimize(from_c_text(text), polysched.PipelineOptions(
        reassociate=reassociate, vector_bits=vector_bits, parallel=False)).source


@pytest.mark.parametrize("program", PROGRAMS)
def test_only_what_any_order_gives_the_same_is_reordered_unasked(program: str) -> None:
    body, kind, needs_leave = PROGRAMS[program]
    assert bool(lane_parts(emitted(source(body, kind), reassociate=False).loops)) is not needs_leave
    assert lane_parts(emitted(source(body, kind), reassociate=True).loops)


@pytest.mark.parametrize("program", REFUSED)
def test_refused(program: str) -> None:
    assert not lane_parts(emitted(source(REFUSED[program], "int"), reassociate=True).loops)


@pytest.mark.parametrize("program", PROGRAMS)
def test_results(program: str, tmp_path: Path) -> None:
    body, kind, inexact = PROGRAMS[program]
    text = source(body, kind)
    region = emitted(text, reassociate=True)
    head = text[:text.index("#pragma scop")]
    new, old = load(f"{head}{region.text}}}\n", tmp_path), load(text, tmp_path)
    dtype = {"double": np.float64, "float": np.float32, "int": np.int32}[kind]
    for n in SIZES:
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [(random.random(size) * 3 - 1 if inexact or kind != "int" else random.integers(-9, 9, size)
                       ).astype(dtype) for size in (n, n, 2)]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        for changed, expected in zip(*results, strict=True):
            np.testing.assert_allclose(changed, expected, rtol=1e-4 if kind == "float" else 1e-12, atol=1e-5)
            if not inexact:
                np.testing.assert_array_equal(changed, expected)


@pytest.mark.parametrize("program", IN_ORDER)
@pytest.mark.parametrize("vector_bits", [128, 512])
def test_addends_of_sums_in_order_are_computed_in_lanes(program: str, vector_bits: int, tmp_path: Path) -> None:
    body, kind = IN_ORDER[program]
    text = source(body.replace("T ", f"{kind} "), kind)
    region = emitted(text, reassociate=False, vector_bits=vector_bits)
    parts = lane_parts(region.loops)
    assert parts
    assert all(part.in_order for part in parts)
    head = text[:text.index("#pragma scop")]
    new, old = (load(t, tmp_path) for t in (f"{head}{region.text}}}\n", text))
    dtype = {"double": np.float64, "float": np.float32}[kind]
    for n in range(20):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [(random.random(size) * 3 - 1).astype(dtype) for size in (n, n, 2)]
            for array in arrays[:2]:
                array[n // 2:n // 2 + 1] = [np.nan, np.inf, -0.0, np.finfo(dtype).max][n % 4]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        for changed, expected in zip(*results, strict=True):
            np.testing.assert_array_equal(changed.view(f"u{dtype().itemsize}"), expected.view(f"u{dtype().itemsize}"))


@pytest.mark.parametrize("program", ["maximum, or NaN", "maximum, or NaN outside", "minimum, or NaN"])
@pytest.mark.parametrize("vector_bits", [128, 256, 512])
def test_nan_in_any_place_is_the_extremum(program: str, vector_bits: int, tmp_path: Path) -> None:
    body, kind, _ = PROGRAMS[program]
    text = source(body, kind)
    region = emitted(text, reassociate=False, vector_bits=vector_bits)
    assert lane_parts(region.loops)
    dtype = {"double": np.float64, "float": np.float32}[kind]
    library = load(f"{text[:text.index('#pragma scop')]}{region.text}}}\n", tmp_path)
    for n in (1, 7, 16, 33, 75):
        numbers = np.random.default_rng(n).normal(size=n).astype(dtype)
        for place in (None, "r", *range(n)):
            given, result = numbers.copy(), np.full(2, -np.inf if program.startswith("max") else np.inf, dtype)
            if place is not None:
                (result if place == "r" else given)[0 if place == "r" else place] = np.nan
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in (given, given.copy(), result)))
            wanted = getattr(np, program[:3])(numbers) if place is None else np.nan
            np.testing.assert_array_equal(result[0], wanted, err_msg=f"{place} of {n}")


@pytest.mark.parametrize("program", LEFT_IN_ORDER)
def test_sums_in_order_that_stay_as_they_are(program: str) -> None:
    assert not lane_parts(emitted(source(LEFT_IN_ORDER[program], "double"), reassociate=False).loops)
