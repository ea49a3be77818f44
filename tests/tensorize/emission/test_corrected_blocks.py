"""Sums that are corrected by zero points, as they start or afterwards, are the program's at every size."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.target import host
from polysched.tensorize import Intrinsic, match
from polysched.tensorize.description.intrinsic import Cost, Isa, LoadMode, Operand, Register
from polysched.tensorize.emission.any_size import GeneralCode, emit_for_all_sizes
from polysched.tensorize.emission.correction import is_constant
from polysched.tensorize.emission.function import EmissionOptions
from polysched.tensorize.joining import with_joined
from polysched.tensorize.matching.any_size import for_all_sizes
from polysched.tensorize.program import tensorize
from tests.tensorize.compiled import compiled_for_all_sizes
from tests.tensorize.emission.native import LANES, SIZES, VECTOR

BYTES = Register(c_type="__attribute__((vector_size(4))) signed char", count=16,
                 load="__builtin_memcpy(&{register}, {pointer}, 4);")
MIXED = Intrinsic(   # unsigned by signed bytes, as `vpdpbusd`, on every machine
    name="mixed", isa=Isa(name="mine", machine="any", manual="none"), section="none",
    template=f"{{Y}} += (int){{X}} * __builtin_convertvector({{W}}, {VECTOR});",
    cost=Cost(issue_cycles=1, latency_cycles=4), semantics="void mixed(int32_t Y[4], const uint8_t X[1], "
    "const int8_t W[4]) { for (int i = 0; i < 4; i++) Y[i] += X[0] * W[i]; }",
    operands=(Operand(name="Y", register=LANES),
              Operand(name="X", register=Register(c_type="unsigned char", load="{register} = *({pointer});", count=16),
                      mode=LoadMode.BROADCAST),
              Operand(name="W", register=BYTES)))
TEXT = """void f(int m, int n, int q, int C[m][n], signed char A[m][q], signed char B[q][n]) {
#pragma scop
for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
  C[i][j] = 0;
  for (int k = 0; k < q; k++) C[i][j] += A[i][k] * B[k][j];
}
#pragma endscop
}
"""
SHIFTED = TEXT.replace("A[i][k] * B[k][j]", "(A[i][k] - 7) * (B[k][j] + 3)").replace(
    "signed char A", "unsigned char A")
ENDED = """void f(int m, int n, int q, short O[m][n], signed char A[q][m], signed char B[q][n]) {
#pragma scop
for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
  int t = 0;
  for (int k = 0; k < q; k++) t += A[k][i] * B[k][j];
  O[i][j] = t >> 4;
}
#pragma endscop
}
"""


def code(text: str, name: str, *, zero: bool) -> GeneralCode:
    dependences = analysed(from_c_text(text), for_instructions=True).dependences
    found = match(dependences.scop, MIXED, dependences=dependences).matches[0]
    made = tensorize(found, dependences=dependences)
    assert found.assignment.correction is not None
    assert is_constant(found.assignment.correction)
    general = for_all_sizes(found, dependences, ("m", "n", "q"), gone=made.gone)
    return emit_for_all_sizes(general, found, name, EmissionOptions(target=host(), zero=zero, unroll=(3, 2)),
                              least_work=1)


@pytest.mark.parametrize(("text", "left", "right", "dtype"), [(TEXT, 0, 0, np.int8), (SHIFTED, -7, 3, np.uint8)])
@pytest.mark.parametrize("zero", [True, False])
def test_every_size_is_that_of_numpy(text: str, left: int, right: int, dtype: type, zero: bool,
                                     tmp_path: Path) -> None:
    made = code(text, "f", zero=zero)
    assert "f_sums" in made.emitted.text
    assert ("f_correct" in made.emitted.text) is not zero   # from zero on, blocks start with what is added
    library, ran = compiled_for_all_sizes([made], tmp_path), 0
    for m, n, q in SIZES:
        sizes = [ctypes.c_long(x) for x in (m, n, q)]
        if not library.f_fits(*sizes):
            continue
        chooser, ends = np.random.default_rng(m * n + q), np.iinfo(dtype)
        c = chooser.integers(-99, 99, (m, n)).astype(np.int32)
        a = chooser.integers(ends.min, ends.max, (m, q), endpoint=True).astype(dtype)
        b = chooser.integers(-128, 127, (q, n), endpoint=True).astype(np.int8)
        wanted = (0 if zero else c) + (a.astype(np.int32) + left) @ (b.astype(np.int32) + right)
        arrays = {"C": c, "A": a, "B": b}
        library.f(*(ctypes.c_void_p(arrays[x].ctypes.data) for x in made.emitted.arrays), *sizes)
        np.testing.assert_array_equal(c, wanted, err_msg=f"{m} {n} {q}")
        ran += 1
    assert ran >= len(SIZES) - 1


def test_an_end_has_corrected_sums_wherever_these_would_lie(tmp_path: Path) -> None:
    dependences = analysed(from_c_text(ENDED), for_instructions=True).dependences
    lying, ran = set(), 0
    for number, found in enumerate(match(dependences.scop, MIXED, dependences=dependences).with_mirrors):
        made = tensorize(found, dependences=dependences)
        program = with_joined(replace(made, general=for_all_sizes(found, dependences, ("m", "n", "q"), gone=made.gone)))
        if program.general is None or program.joined is None:
            continue
        ended = emit_for_all_sizes(program.general, found, "f", EmissionOptions(
            target=host(), zero=program.zero, joined=program.joined), least_work=1)
        lying.add(ended.emitted.plan.place("Y").packed)
        assert "f_sums" in ended.emitted.text
        (tmp_path / str(number)).mkdir()
        library = compiled_for_all_sizes([ended], tmp_path / str(number))
        for m, n, q in SIZES:
            sizes = [ctypes.c_long(x) for x in (m, n, q)]
            if not library.f_fits(*sizes):
                continue
            chooser = np.random.default_rng(m * n + q)
            a, b = (chooser.integers(-128, 127, shape, endpoint=True).astype(np.int8) for shape in ((q, m), (q, n)))
            arrays = {"O": np.zeros((m, n), np.int16), "A": a, "B": b}
            library.f(*(ctypes.c_void_p(arrays[x].ctypes.data) for x in ended.emitted.arrays), *sizes)
            wanted = ((a.T.astype(np.int32) @ b.astype(np.int32)) >> 4).astype(np.int16)
            np.testing.assert_array_equal(arrays["O"], wanted, err_msg=f"{number}: {m} {n} {q}")
            ran += 1
    assert lying == {False, True}
    assert ran >= len(SIZES)
