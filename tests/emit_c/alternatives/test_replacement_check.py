"""Two functions of the same arrays: the statement as written, and the code with the instruction; run side by side."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c.alternatives.checked_values import Equality
from polysched.emit_c.alternatives.replacement_check import OWN_NAMES, free_entry, region_check, replacement_check
from polysched.scop import from_c_text
from polysched.tensorize.program import TensorizedProgram
from tests.emit_c.alternatives.matched_programs import floats, integers
from tests.emit_c.compiled import load


@pytest.mark.parametrize("whole", [False, True])
def test_both_functions_compute_the_same(whole: bool, tmp_path: Path) -> None:
    made = integers()
    check = region_check(made, made.match.fragment.scop, entry="e", parallel=False, emulated=True) if whole else (
        replacement_check(made, entry="e", parallel=False, emulated=True))
    original, replaced = (load(text, tmp_path, strict=False) for text in (check.original_text, check.replaced_text))
    random = np.random.default_rng(1)
    A, x = random.integers(-99, 99, (20, 9)).astype(np.int16), random.integers(-99, 99, 9).astype(np.int16)
    results = [np.arange(20, dtype=np.int32) for _ in range(2)]
    for function, y in zip((original.original_e, replaced.replaced_e), results, strict=True):
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (y, A, x)))
    np.testing.assert_array_equal(results[0], np.arange(20) + A.astype(np.int32) @ x)
    np.testing.assert_array_equal(*results)
    assert ctypes.c_int.in_dll(replaced, "skipped_e").value == 0


@pytest.mark.parametrize(("program", "equality"), [(integers, Equality.BITS), (floats, Equality.NUMBERS)])
def test_what_the_match_promises(program: Callable[[], TensorizedProgram], equality: Equality) -> None:
    made = program()
    check = replacement_check(made, entry="e", parallel=False, emulated=True)
    assert check.equality is equality
    assert (check.statement, check.instruction) == (made.match.fragment.statement.name, made.match.intrinsic.name)
    assert check.sizes == "i 20 x k 9"
    assert [a.name for a in check.arrays] == ["y", "A", "x"]
    assert not check.sampled


def test_a_sampled_original_computes_some_elements_only(tmp_path: Path) -> None:
    check = replacement_check(integers(200, 9), entry="s", parallel=False, emulated=True, sampled=True)
    assert check.sampled
    A, x, y = np.ones((200, 9), np.int16), np.ones(9, np.int16), np.zeros(200, np.int32)
    load(check.original_text, tmp_path, strict=False).original_s(*(ctypes.c_void_p(a.ctypes.data) for a in (y, A, x)))
    assert set(y.tolist()) == {0, 9}
    assert y[0] == y[-1] == 9, "both ends of the result"


def test_the_timed_function_calls_the_code(tmp_path: Path) -> None:
    check = replacement_check(integers(), entry="t", parallel=False, emulated=True)
    library = load(check.replaced_text, tmp_path, strict=False)
    library.timed_t.restype = ctypes.c_double
    A, x, y = np.ones((20, 9), np.int16), np.ones(9, np.int16), np.zeros(20, np.int32)
    assert library.timed_t(*(ctypes.c_void_p(a.ctypes.data) for a in (y, A, x))) >= 0
    assert y.tolist() == [27] * 20, "three calls"


@pytest.mark.parametrize("word", OWN_NAMES)
def test_names_of_a_check_are_never_the_programs(word: str) -> None:
    scop = from_c_text(f"int {word}_e;\nvoid f(int n, float x[n]) {{\n#pragma scop\n  for (int i = 0; i < n; i++) "
                       "x[i] = 1;\n#pragma endscop\n}\n")
    assert free_entry("e", scop) == "e_"
    assert free_entry("d", scop) == "d"
