"""One function per match: its arguments, its buffers that stay between calls, and operands that are packed once."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.target import host
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.emission.function import operand_sources
from tests.tensorize.compiled import call, compiled
from tests.tensorize.described import program
from tests.tensorize.emission.native import FOUR, expected, matrices, product

TURNED = {"m": 5, "n": 7, "k": 3}


def test_a_buffer_that_is_kept_is_packed_by_its_own_function_only(tmp_path: Path) -> None:
    (found, *_) = match(product(**TURNED, turned=True), FOUR).matches
    kept = next(o for o in ("X", "W") if operand_sources(found, o) == ["B"])
    function = emit_match(found, "kept", EmissionOptions(target=host(), keep=(kept,)))
    assert function.plan.place(kept).packed
    (preparation,) = function.preparations
    assert preparation == f"kept_prepare_{kept}(B)"
    library = compiled([function], tmp_path)
    given = matrices(**TURNED, turned=True)
    getattr(library, f"kept_prepare_{kept}")(ctypes.c_void_p(given["B"].ctypes.data))
    wanted = expected(given, turned=True)
    given["B"][...] = 0   # what was packed is what counts
    call(library, function, given)
    np.testing.assert_array_equal(given["C"], wanted)


def test_buffers_of_one_call_do_not_reach_the_next(tmp_path: Path) -> None:
    (found, *_) = match(product(**TURNED, turned=True), FOUR).matches
    function = emit_match(found, "again", EmissionOptions(target=host()))
    library = compiled([function], tmp_path)
    for seed in range(3):
        given = matrices(**TURNED, turned=True)
        given["A"] += seed
        wanted = expected(given, turned=True)
        call(library, function, given)
        np.testing.assert_array_equal(given["C"], wanted)


def test_the_result_comes_first_and_every_array_once() -> None:
    scop = program("int C[8], int A[8]", "for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) "
                                         "C[i] += A[i] * A[k];")
    for found in match(scop, FOUR).with_mirrors:
        function = emit_match(found, "own", EmissionOptions(target=host()))
        assert function.arrays == ("C", "A")
        assert function.written == ("C",)
        assert function.preparations == ()
        assert "void own(int32_t *C, const int32_t *A)" in function.text
        assert (repr(function), str(function)) == ("<Emitted of own by four>", function.text)


def test_only_the_emulator_comes_with_plain_c_of_the_instruction() -> None:
    (found, *_) = match(product(5, 7, 3), FOUR).matches
    real, emulated = (emit_match(found, "f", EmissionOptions(emulated=e, target=host())) for e in (False, True))
    assert real.emulator == ""
    assert emulated.emulator.startswith("static void emulated_four(")
    assert real.unit == real.shared + real.text
    assert emulated.prelude == emulated.shared + emulated.emulator
    assert "emulated_four(" in emulated.text
    assert "emulated_four(" not in real.text


def test_a_library_function_is_called_elsewhere() -> None:
    scop = program("double C[4][4], double A[4][4], double B[4][4]", "for (int i = 0; i < 4; i++) "
                   "for (int j = 0; j < 4; j++) for (int k = 0; k < 4; k++) C[i][j] += A[i][k] * B[k][j];")
    (found, *_) = match(scop, find_intrinsic("cblas_dgemm")).matches
    with pytest.raises(UsageError, match="cblas_dgemm is a library function"):
        emit_match(found, "f")
