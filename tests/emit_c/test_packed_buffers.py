"""The buffers of operands as a user is told about them, and which operands get one by hand."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import CSource, EmitOptions, emit, splice
from polysched.emit_c.packed_buffers import buffer_text
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.schedules import pluto_of

TARGET = Target(vector_bits=128, vector_registers=16, cores=2)
SIZES = {"n": 67, "m": 101, "l": 35}
BODY = """#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++) C[i][j] += -A[i][k] * B[k][j];
#pragma endscop
"""
HEAD = "float C[n][m], float A[n][l], float B[l][m]"


def emitted(*, fixed: bool, packed: tuple[str, ...] | None = None, sizes: tuple[int, ...] = (16, 48, 8)) -> CSource:
    text = f"void f(int n, int m, int l, {HEAD}) {{\n{BODY}}}\n"
    if fixed:
        text = "".join(f"#define {n} {v}\n" for n, v in SIZES.items()) + text.replace("int n, int m, int l, ", "")
    tiled = tile(pluto_of(text), TilingOptions(target=TARGET, sizes=sizes, packed=packed))
    return emit(tiled, options=EmitOptions(vector_bits=128, packing=True if packed is None else packed))


def test_what_is_told_is_what_the_c_declares() -> None:
    source = emitted(fixed=True)
    shared, own = source.packed
    assert (shared.value, shared.arrays, shared.shared, shared.in_lanes) == ("B[k][j]", ("B",), True, True)
    assert (own.value, own.arrays, own.shared, own.in_lanes) == ("-A[i][k]", ("A",), False, False)
    assert f"float {own.name}_memory[{']['.join(own.extents)}]" in source.text
    assert own.bytes == 4 * int(own.extents[0]) * int(own.extents[1])
    assert f"float (*{shared.name})[{']['.join(shared.extents[1:])}]" in source.text
    declared = re.search(rf"{shared.name}\)[^\n]*aligned_alloc\(64, \((\d+)ul((?: \* \d+)*)", source.text)
    assert declared is not None
    assert shared.bytes == int(declared[1]) * np.prod([int(f) for f in declared[2].split("*")[1:]])
    assert shared.around == ()
    assert own.around[0] == shared.reused_by == "i_tile"


def test_sizes_that_parameters_decide_are_a_product() -> None:
    shared, own = emitted(fixed=False).packed
    assert shared.bytes is None
    assert shared.extents[:shared.outer_count] == ("(m - 1) / 48 + 1", "(l - 1) / 8 + 1")
    size = f"{shared.part_bytes} B x ((m - 1) / 48 + 1) x ((l - 1) / 8 + 1)"
    assert f"({size}, aligned to 64" in buffer_text(shared)
    assert "filled for each thread in every iteration of i_tile" in buffer_text(own)


@pytest.mark.parametrize("packed", [(), ("A",), ("B",), ("A", "B")])
@pytest.mark.parametrize("fixed", [False, True])
def test_only_named_arrays_are_packed_and_the_result_stays(packed: tuple[str, ...], fixed: bool,
                                                           tmp_path: Path) -> None:
    source = emitted(fixed=fixed, packed=packed)
    assert {array for buffer in source.packed for array in buffer.arrays} == set(packed)
    assert source.scop.source is not None
    text = splice(source.scop.source.text, [source])
    function = load(text, tmp_path).f
    n, m, k = SIZES.values()
    generator = np.random.default_rng(7)
    a, b = (generator.integers(-9, 9, shape).astype(np.float32) for shape in ((n, k), (k, m)))
    c = np.zeros((n, m), np.float32)
    function(*([] if fixed else map(ctypes.c_int, SIZES.values())), *(
        x.ctypes.data_as(ctypes.c_void_p) for x in (c, a, b)))
    assert np.array_equal(c, -a @ b)


@pytest.mark.parametrize("packed", [(), ("B",)])
def test_the_model_counts_only_the_copies_that_are_made(packed: tuple[str, ...]) -> None:
    text = f"void f(int n, int m, int l, {HEAD}) {{\n{BODY}}}\n"
    (band,) = tile(pluto_of(text), TilingOptions(target=TARGET, packed=packed)).bands
    assert band.plan is not None
    assert band.plan.shape is not None
    assert band.plan.shape.packed == frozenset(packed)
