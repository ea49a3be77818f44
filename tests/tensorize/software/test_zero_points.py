"""Zero points of quantised products are taken out of the product, exactly, and added behind it."""

from pathlib import Path

import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.emission import EmissionOptions, emit_match
from tests.tensorize.compiled import call, compiled
from tests.tensorize.test_real_instructions_execute import require

M, N, K = 7, 19, 21


def quantised(product: str, offsets: str = "int32_t za, int32_t zb") -> Scop:
    return from_c_text(f"""#include <stdint.h>
void f(int32_t C[{M}][{N}], uint8_t A[{M}][{K}], int8_t B[{K}][{N}], {offsets}) {{
#pragma scop
    for (int i = 0; i < {M}; i++)
        for (int j = 0; j < {N}; j++)
            for (int k = 0; k < {K}; k++)
                C[i][j] += {product};
#pragma endscop
}}
""")


FORMS = {
    "both": quantised("(A[i][k] - za) * (B[k][j] - zb)"),
    "constants": quantised("(A[i][k] - 128) * (B[k][j] + 3)"),
    "one": quantised("(A[i][k] - za) * B[k][j]"),
    "the other, exchanged": quantised("(zb + B[k][j]) * A[i][k]"),
    "per channel": quantised("(A[i][k] - za) * (B[k][j] - zb[j])", f"int32_t za, int32_t zb[{N}]"),
}


def filled(scop: Scop, seed: int) -> dict[str, np.ndarray]:
    chooser = np.random.default_rng(seed)
    arrays = {"C": chooser.integers(-(2**31), 2**31 - 1, (M, N)).astype(np.int32),
              "A": chooser.integers(0, 255, (M, K), endpoint=True).astype(np.uint8),
              "B": chooser.integers(-128, 127, (K, N), endpoint=True).astype(np.int8)}
    for name in ("za", "zb"):
        if name in {a.name for a in scop.arrays}:
            shape = (N,) if scop.array(name).extents else ()
            arrays[name] = np.asarray(chooser.integers(-200, 200, shape), np.int32)
    return arrays


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["vpdpbusd", "tdpbusd", "emulated"])
def test_the_result_is_the_programs_bit_for_bit(form: str, name: str, tmp_path: Path) -> None:
    emulated = name == "emulated"
    if not emulated:
        require(name)
    scop = FORMS[form]
    found = match(scop, find_intrinsic("arm_usdot" if emulated else name)).with_mirrors
    assert found
    assert all(m.to_json()["zero_points"] for m in found)
    functions = [emit_match(m, f"match_{at}", EmissionOptions(emulated=emulated, parallel=at % 2 == 0))
                 for at, m in enumerate(found)]
    library = compiled(functions, tmp_path)
    for at, (m, function) in enumerate(zip(found, functions, strict=True)):
        arrays = filled(scop, at)
        expected = {k: v.copy() for k, v in arrays.items()}
        execute(scop, {}, expected)
        call(library, function, arrays)
        np.testing.assert_array_equal(arrays["C"], expected["C"], err_msg=str(m))


def plain(a: str, b: str, text: str, sizes: tuple[str, str, str] = (f"[{M}][{N}]", f"[{M}][{K}]", f"[{K}][{N}]"),
          ) -> Scop:
    c_size, a_size, b_size = sizes
    return from_c_text(f"""#include <stdint.h>
void f(int32_t C{c_size}, {a} A{a_size}, {b} B{b_size}) {{
#pragma scop
{text}
#pragma endscop
}}
""")


PRODUCT = (f"for (int i = 0; i < {M}; i++) for (int j = 0; j < {N}; j++) for (int k = 0; k < {K}; k++) "
           "C[i][j] += A[i][k] * B[k][j];")
WINDOWS = ("for (int y = 0; y < 3; y++) for (int x = 0; x < 2; x++) for (int o = 0; o < 17; o++) "
           "for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++) "
           "for (int c = 0; c < 5; c++) C[y][x][o] += A[y + r][x + s][c] * B[r][s][c][o];")
CONVOLUTION = ("[3][2][17]", "[5][4][5]", "[3][3][5][17]")
PLAIN = [
    ("vpdpbusd", plain("int8_t", "int8_t", PRODUCT)),
    ("vpdpbusd", plain("uint8_t", "uint8_t", PRODUCT)),
    ("arm_usdot", plain("int8_t", "int8_t", PRODUCT)),
    ("vpdpwssd", plain("uint16_t", "uint16_t", PRODUCT)),
    ("vpdpwssd", plain("uint16_t", "int16_t", PRODUCT)),
    ("vpdpbusd", plain("int8_t", "int8_t", PRODUCT.replace("+= A[i][k] *", "= C[i][j] - -(int32_t)A[i][k] *"))),
    ("vpdpbusd", plain("int8_t", "int8_t", PRODUCT.replace("B[k][j]", "B[j][k]"),
                       (f"[{M}][{N}]", f"[{M}][{K}]", f"[{N}][{K}]"))),
    ("vpdpbusd", plain("int8_t", "int8_t", WINDOWS, CONVOLUTION)),
    ("vpdpbusd", plain("uint8_t", "uint8_t", WINDOWS, CONVOLUTION)),
]


@pytest.mark.parametrize("case", range(len(PLAIN)))
def test_operands_of_one_sign_are_moved_by_half_of_their_range(case: int, tmp_path: Path) -> None:
    name, scop = PLAIN[case]
    found = match(scop, find_intrinsic(name)).matches[:3]
    assert found
    assert all(m.to_json()["zero_points"] for m in found)
    functions = [emit_match(m, f"match_{at}", EmissionOptions(emulated=True, parallel=at % 2 == 0))
                 for at, m in enumerate(found)]
    library = compiled(functions, tmp_path)
    chooser = np.random.default_rng(case)
    for m, function in zip(found, functions, strict=True):
        arrays = {a.name: _corners(chooser, a.dtype.name, [int(e.max_val().get_num_si()) for e in a.extents])
                  for a in scop.arrays}
        expected = {k: v.copy() for k, v in arrays.items()}   # of sizes that the interpreter runs at once
        execute(scop, {}, expected, wrap_signed=True)
        call(library, function, arrays)
        np.testing.assert_array_equal(arrays["C"], expected["C"], err_msg=str(m))


def _corners(chooser: np.random.Generator, dtype: str, shape: list[int]) -> np.ndarray:
    """Ends of the range and zero, and as many values between them."""
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max])
    between = chooser.integers(info.min, info.max, shape, endpoint=True)
    return np.where(chooser.random(shape) < 0.5, chooser.choice(ends, shape), between).astype(dtype)


def test_bytes_that_saturate_are_not_moved() -> None:
    """Pairs of products of moved bytes exceed 16 bits; those of values known to be smaller need not be moved."""
    assert match(plain("int8_t", "int8_t", PRODUCT), find_intrinsic("vpmaddubsw")).count == 0
    small = match(plain("int8_t", "int8_t", PRODUCT.replace("A[i][k]", "(A[i][k] & 63)")), find_intrinsic("vpmaddubsw"))
    assert small.count
    assert not any(m.to_json()["zero_points"] for m in small.matches)


@pytest.mark.parametrize("product", [
    "(A[i][k] - za[k]) * B[k][j]",           # it changes within the sum
    "(A[i][k] - za[0]) * (int64_t)B[k][j]",  # another width
    "(za[0] - A[i][k]) * B[k][j]",           # the element is subtracted
])
def test_what_is_no_zero_point_is_no_match(product: str) -> None:
    found = match(quantised(product, f"int32_t za[{K}]"), find_intrinsic("vpdpbusd"))
    assert found.count == 0
    assert found.explanations


def test_saturating_sums_have_no_correction_behind_them() -> None:
    assert match(FORMS["one"], find_intrinsic("vpdpbusds")).count == 0
