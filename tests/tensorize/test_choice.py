"""The choice of an instruction follows the cost model, and constant operands are packed once."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.tensorize import find_intrinsic, match, operators
from polysched.tensorize.choice import choose, executes_here
from polysched.tensorize.emission import EmissionOptions, emit_match
from tests.tensorize.compiled import call, compiled

BYTES = {"dtype": "uint8", "right_dtype": "int8", "accumulator": "int32"}


def test_a_matrix_unit_is_preferred_for_large_products_and_a_vector_for_a_row() -> None:
    both = [find_intrinsic("tdpbusd"), find_intrinsic("vpdpbusd")]
    large = choose(operators.gmm(m=256, n=256, k=256, **BYTES), intrinsics=both)
    row = choose(operators.gmm(m=1, n=256, k=256, **BYTES), intrinsics=both)
    assert large is not None
    assert large.intrinsic.name == "tdpbusd"
    assert row is not None
    assert row.intrinsic.name == "vpdpbusd"


def test_the_sum_is_looked_at_before_what_clears_its_result() -> None:
    """The absolute value of 0 clears a result, and costs less than any product."""
    scop = operators.gmm(m=64, n=64, k=64, **BYTES)
    both = [find_intrinsic("vpabsd"), find_intrinsic("vpdpbusd")]
    assert match(scop, both[0]).matches
    for considered in (both, both[::-1]):
        chosen = choose(scop, intrinsics=considered)
        assert chosen is not None
        assert chosen.intrinsic.name == "vpdpbusd"


def test_nothing_matches_another_type() -> None:
    scop = operators.gmm(dtype="float64", accumulator="float64")
    assert choose(scop, intrinsics=[find_intrinsic("vpdpbusd")]) is None


def test_library_functions_are_not_executed_here() -> None:
    assert not executes_here(find_intrinsic("gemmini_matmul"))


@pytest.mark.parametrize("emulated", [True, False])
def test_a_constant_operand_is_packed_once(emulated: bool, tmp_path: Path) -> None:
    if not emulated and not executes_here(find_intrinsic("vpdpbusd")):
        pytest.skip("no AVX-512 VNNI here")
    found = match(operators.gmm(m=9, n=21, k=10, **BYTES), find_intrinsic("vpdpbusd"))
    function = emit_match(found.matches[0], "product", EmissionOptions(emulated=emulated, keep=("B",)))
    library = compiled([function], tmp_path)
    chooser = np.random.default_rng(1)
    b = chooser.integers(-128, 127, (10, 21), endpoint=True).astype(np.int8)
    library.product_prepare_B(ctypes.c_void_p(b.ctypes.data))
    nothing = np.zeros_like(b)   # what the call is given for B is not read any more
    for _ in range(2):
        a = chooser.integers(0, 255, (9, 10), endpoint=True).astype(np.uint8)
        c = np.zeros((9, 21), np.int32)
        call(library, function, {"A": a, "B": nothing, "C": c})
        np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
