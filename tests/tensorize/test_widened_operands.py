"""Operands that are functions of one element are copied like arrays: converted on the way, each element once."""

from pathlib import Path

import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.interpreter import extents_of
from polysched.tensorize import find_intrinsic, match, operators
from polysched.tensorize.emission import EmissionOptions, emit_match, make_plan
from tests.tensorize.compiled import call, compiled
from tests.tensorize.test_real_instructions_execute import unavailable

PRODUCT = """#include <stdint.h>
void product(int32_t C[{m}][{n}], {left} A[{m}][{k}], int8_t B[{k}][{n}]) {{
#pragma scop
    for (int i = 0; i < {m}; i++)
        for (int j = 0; j < {n}; j++)
            for (int k = 0; k < {k}; k++)
                C[i][j] += {factor} * B[k][j];
#pragma endscop
}}
"""
EMULATED = bool(unavailable("vpmaddwd"))


@pytest.mark.parametrize("left", ["uint8_t", "int8_t"])
@pytest.mark.parametrize("factor", ["A[i][k]", "(A[i][k] - 7)", "(A[i][k] > 100 ? 100 : A[i][k])"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 7, 3), (13, 17, 9), (24, 32, 66)])
def test_products_of_widened_bytes(left: str, factor: str, m: int, n: int, k: int, tmp_path: Path) -> None:
    scop = from_c_text(PRODUCT.format(left=left, factor=factor, m=m, n=n, k=k))
    found = match(scop, find_intrinsic("vpmaddwd")).with_mirrors
    assert found
    emitted = [emit_match(way, f"way_{i}", EmissionOptions(emulated=EMULATED)) for i, way in enumerate(found)]
    assert all(f.plan.place(o).copy is not None for f in emitted for o in "AB" if f.plan.place(o).packed)
    library = compiled(emitted, tmp_path)
    chooser = np.random.default_rng(7)
    a = chooser.integers(-128, 127, (m, k), endpoint=True).astype(left[:-2])
    b = chooser.integers(-128, 127, (k, n), endpoint=True).astype(np.int8)
    wide = a.astype(np.int32)
    value = {"A[i][k]": wide, "(A[i][k] - 7)": wide - 7}.get(factor, np.minimum(wide, 100))
    for function in emitted:
        c = chooser.integers(-1000, 1000, (m, n)).astype(np.int32)
        wanted = c + value @ b.astype(np.int32)
        call(library, function, {"A": a, "B": b, "C": c})
        np.testing.assert_array_equal(c, wanted, err_msg=str(function.plan.match))


def test_windows_of_widened_bytes_are_copied_once(tmp_path: Path) -> None:
    scop = operators.c2d(k=20, c=6, size=9, window=3, dtype="uint8", right_dtype="int8", accumulator="int32")
    found = match(scop, find_intrinsic("vpmaddwd"), sizes={"batch": 2}).with_mirrors
    shapes = {a.name: tuple(extents_of(a, {"batch": 2})) for a in scop.arrays}
    image = np.prod(shapes["X"])
    plans = [make_plan(way, emulated=EMULATED) for way in found]
    assert EMULATED or min(p.elements for plan in plans for p in plan.places
                           if p.packed and p.operand != "C" and p.elements >= image) < 2 * image
    emitted = [emit_match(way, f"way_{i}", EmissionOptions(emulated=EMULATED)) for i, way in enumerate(found[::3])]
    library = compiled(emitted, tmp_path)
    chooser = np.random.default_rng(8)
    x = chooser.integers(0, 255, shapes["X"], endpoint=True).astype(np.uint8)
    w = chooser.integers(-128, 127, shapes["W"], endpoint=True).astype(np.int8)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int32), (3, 3), axis=(2, 3))
    wanted = np.einsum("ncpqrs,kcrs->nkpq", windows, w.astype(np.int32))
    for function in emitted:
        y = np.zeros(shapes["Y"], np.int32)
        call(library, function, {"X": x, "W": w, "Y": y})
        np.testing.assert_array_equal(y, wanted, err_msg=str(function.plan.match))
