"""Results that iterations of different blocks share (`C[i + j]`), and operands that other iterations write."""

from pathlib import Path

import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tensorize import MatchOptions, find_intrinsic, match
from polysched.tensorize.choice import executes_here
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.matching.facts import Numerics
from tests.tensorize.compiled import call, compiled
from tests.tiers import and_campaign


def program(parameters: str, body: str) -> Scop:
    return from_c_text(f"#include <stdint.h>\nvoid f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


SCATTERED = program("int32_t Y[37][21], uint8_t X[19][13], int8_t W[19][13][21]", """
for (int i = 0; i < 19; i++)
  for (int r = 0; r < 19; r++)
    for (int c = 0; c < 13; c++)
      for (int q = 0; q < 21; q++)
        Y[i + r][q] += X[i][c] * W[r][c][q];""")


@pytest.mark.parametrize("name", and_campaign(["vpdpbusd"], ["tdpbusd"]))
def test_blocks_that_share_elements_are_added(name: str, tmp_path: Path) -> None:
    chooser = np.random.default_rng(3)
    x = chooser.integers(0, 256, (19, 13)).astype(np.uint8)
    w = chooser.integers(-128, 128, (19, 13, 21)).astype(np.int8)
    y = chooser.integers(-9, 9, (37, 21)).astype(np.int32)
    sums = np.zeros_like(y)
    for i in range(19):
        sums[i: i + 19] += np.einsum("c,rcq->rq", x[i].astype(np.int32), w.astype(np.int32))
    intrinsic = find_intrinsic(name)
    found = match(SCATTERED, intrinsic).with_mirrors
    assert found
    emulated = not executes_here(intrinsic)
    functions = [(zero, emit_match(m, f"m{i}_{zero}", EmissionOptions(emulated=emulated, zero=zero)))
                 for i, m in enumerate(found) for zero in (False, True)]
    library = compiled([f for _, f in functions], tmp_path)
    for zero, function in functions * 2:   # buffers stay for the next call
        arrays = {"Y": y.copy(), "X": x, "W": w}
        call(library, function, arrays)
        np.testing.assert_array_equal(arrays["Y"], sums if zero else sums + y)


def test_shared_elements_need_leave_to_reorder_float_additions() -> None:
    scop = program("float Y[40], float X[21], float W[19]", """
for (int i = 0; i < 21; i++)
  for (int r = 0; r < 19; r++)
    Y[i + r] += X[i] * W[r];""")
    unit = find_intrinsic("axpy_unit")
    assert match(scop, unit).count == 2
    strict = match(scop, unit, MatchOptions(numerics=Numerics(reassociate=False)))
    assert strict.count == 0
    assert "additions would change their order" in str(strict.explanations[0])


def test_a_loop_that_writes_operands_stays_around_the_nest() -> None:
    """Operands are packed before the nest runs, and rows run in blocks: a loop of the nest does not keep the order."""
    scop = program("float C[19][21], float A[21][21]", """
for (int i = 1; i < 19; i++)
  for (int j = 0; j < 21; j++)
    for (int k = 0; k < 21; k++)
      C[i][j] += A[k][j] * C[i - 1][k];""")
    found = match(scop, find_intrinsic("fma_f32_avx512"))
    assert {m.fragment.kept for m in found.matches} == {("i",)}
    assert match(scop, find_intrinsic("cblas_sgemv")).count == 1   # called once per row, in order
    within = program("float C[19][21], float A[21][21]", """
for (int i = 1; i < 19; i++)
  for (int j = 0; j < 21; j++)
    for (int k = 0; k < 21; k++)
      C[i][j] += A[k][j] * C[i][k];""")
    found = match(within, find_intrinsic("fma_f32_avx512"))
    assert found.count == 0
    assert "reads elements of C that its other iterations write" in str(found.explanations[0])


def test_saturating_sums_keep_their_order() -> None:
    clamp = "{0} > 2147483647LL ? 2147483647LL : {0} < -2147483648LL ? -2147483648LL : {0}"
    scop = program("int32_t C[40], uint8_t A[19][4], int8_t B[4][21]", f"""
for (int i = 0; i < 19; i++)
  for (int j = 0; j < 21; j++)
    for (int k = 0; k < 4; k++)
      C[i + j] = {clamp.format("(int64_t)C[i + j] + A[i][k] * B[k][j]")};""")
    found = match(scop, find_intrinsic("vpdpbusds"))
    assert found.count == 0
    assert "additions would change their order" in str(found.explanations[0])


@pytest.mark.parametrize("name", ["vpdpbusd", "tdpbusd"])
@pytest.mark.parametrize("guard", ["k <= i", "j <= i"])
def test_what_lies_outside_a_triangle_is_neither_read_nor_written(name: str, guard: str, tmp_path: Path) -> None:
    """At sizes that fill the instruction whole arrays would fit in place, but their other halves do not count."""
    nest = f"""
for (int i = 0; i < 64; i++)
  for (int j = 0; j < 64; j++)
    for (int k = 0; k < 64; k++)
      if ({guard}) C[i][j] += A[i][k] * B[k][j];"""
    scop = program("int32_t C[64][64], uint8_t A[64][64], int8_t B[64][64]", nest)
    intrinsic = find_intrinsic(name)
    found = match(scop, intrinsic).matches[0]
    function = emit_match(found, "triangle", EmissionOptions(emulated=not executes_here(intrinsic)))
    chooser = np.random.default_rng(2)
    a, b = chooser.integers(1, 9, (64, 64)).astype(np.uint8), chooser.integers(1, 9, (64, 64)).astype(np.int8)
    c = chooser.integers(1, 9, (64, 64)).astype(np.int32)
    left, right = a.astype(np.int32), b.astype(np.int32)
    wanted = c + (np.tril(left) @ right if guard == "k <= i" else np.tril(left @ right))
    call(compiled([function], tmp_path), function, {"A": a, "B": b, "C": c})
    np.testing.assert_array_equal(c, wanted)
    library = program("double C[9][9], double A[9][9], double B[9][9]", nest.replace("64", "9"))
    refused = match(library, find_intrinsic("cblas_dgemm"))
    assert refused.count == 0
    assert "computes whole rectangles of iterations" in str(refused.explanations[0])
