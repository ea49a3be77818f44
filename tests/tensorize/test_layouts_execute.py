"""Layouts that matches derive: windows instead of copies, ragged results in place, fused loops; all within bounds."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.interpreter import extents_of
from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.tensorize import Match, find_intrinsic, match, operators
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission import EmissionOptions, emit_match, make_plan
from polysched.tensorize.emission.copy_plan import Axis, Coordinate, CopyPlan
from polysched.tensorize.matching.operand_layout import LoadMode
from tests.tensorize.compiled import call, compiled
from tests.tensorize.test_real_instructions_execute import require

BYTES = {"dtype": "uint8", "right_dtype": "int8", "accumulator": "int32"}


def windowed(name: str, **sizes: int) -> Match:
    """The match of a convolution that reads rows of the image: lanes take q, the reduction takes c."""
    left, right = ("int8", "uint8") if name == "vpdpbusd" else ("uint8", "int8")   # its lanes are signed
    scop = operators.c2d(**sizes, dtype=left, right_dtype=right, accumulator="int32")
    found = match(scop, find_intrinsic(name), sizes={"batch": 2}).with_mirrors
    return next(m for m in found if {m.loops[g] for g in range(len(m.groups))} >= {("c",), ("q",)})


@pytest.mark.parametrize(("name", "operand"), [("tdpbsud", "B"), ("tdpbusd", "A"), ("vpdpbusd", "B")])
def test_a_convolution_copies_every_element_once(name: str, operand: str) -> None:
    plan = make_plan(windowed(name, k=32, c=64, size=14, window=3), emulated=False)
    place = plan.place(operand)
    image = 2 * 64 * 16 * 16
    assert place.packed
    assert image <= place.elements < 1.3 * image   # nine times as many as blocks


def test_strided_windows_need_tile_registers() -> None:
    """Lanes that are two elements apart cannot be loaded as one vector, rows of a tile can."""
    image = 2 * 64 * 29 * 29
    for name, operand, once in (("tdpbusd", "A", True), ("vpdpbusd", "B", False)):
        strided = windowed(name, k=16, c=64, size=14, window=3, stride=2)
        assert (make_plan(strided, emulated=False).place(operand).elements < 2 * image) == once


def test_the_padding_of_a_copy_is_recognised() -> None:
    tight = CopyPlan(coordinates=(Coordinate(count=8, step=1),), start=0,
                     axes=(Axis(name="t", coordinate=0, weight=4, extent=2),
                           Axis(name="d", coordinate=0, weight=1, extent=4)))
    assert not tight.is_padded(0)
    assert tight.elements == 8
    assert tight.strides == (4, 1)
    loose = CopyPlan(coordinates=(Coordinate(count=7, step=1),), axes=tight.axes, start=0)
    assert loose.is_padded(0)


def test_fused_loops_of_which_an_operand_knows_one_have_no_single_step(tmp_path: Path) -> None:
    """x[i] under the fused index i * 16 + j moves every sixteenth step: it is packed, not loaded as a vector."""
    require("mul_add_f32_avx512")
    scop = from_c_text("""void f(float c[32][16], float x[32], float b[32][16]) {
#pragma scop
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 16; j++)
            c[i][j] += x[i] * b[i][j];
#pragma endscop
}
""")
    found = match(scop, find_intrinsic("mul_add_f32_avx512")).with_mirrors
    fused = [m for m in found if m.loops[0] == ("i", "j")]
    assert fused
    chooser = np.random.default_rng(0)
    for at, m in enumerate(fused):
        layout = next(v for v in m.layouts if v.array == "x")
        assert layout.mode is LoadMode.PACKED
        function = emit_match(m, "f")
        arrays = {"c": np.zeros((32, 16), np.float32), "x": chooser.integers(-9, 9, 32).astype(np.float32),
                  "b": chooser.integers(-9, 9, (32, 16)).astype(np.float32)}
        call(compiled([function], tmp_path, f"match_{at}"), function, arrays)
        np.testing.assert_array_equal(arrays["c"], arrays["x"][:, None] * arrays["b"])


@pytest.mark.parametrize("name", ["fma_f32_avx2", "fma_f32_avx512"])
def test_a_buffer_may_hold_one_element(name: str, tmp_path: Path) -> None:
    """A computed factor that all lanes share, of a loop that runs once."""
    require(name)
    scop = from_c_text("""void f(float c[9], float a[9][1], float b[1]) {
#pragma scop
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 1; k++)
            c[i] += a[i][k] * -b[k];
#pragma endscop
}
""")
    a, c = np.arange(9, dtype=np.float32).reshape(9, 1), np.ones(9, np.float32)
    for at, m in enumerate(match(scop, find_intrinsic(name)).with_mirrors):
        function = emit_match(m, f"one_{at}")
        arrays = {"c": c.copy(), "a": a, "b": np.array([3], np.float32)}
        call(compiled([function], tmp_path, f"one_{at}"), function, arrays)
        np.testing.assert_array_equal(arrays["c"], c - 3 * a[:, 0])


@pytest.mark.parametrize("emulated", [True, False])
def test_sums_that_start_at_zero_do_not_read_the_result(emulated: bool, tmp_path: Path) -> None:
    if not emulated:
        require("vpdpbusd")
    found = match(operators.gmm(m=19, n=35, k=1100, **BYTES), find_intrinsic("vpdpbusd"))
    chooser = np.random.default_rng(1)
    a = chooser.integers(0, 255, (19, 1100), endpoint=True).astype(np.uint8)
    b = chooser.integers(-128, 127, (1100, 35), endpoint=True).astype(np.int8)
    for at, m in enumerate(found.with_mirrors):
        function = emit_match(m, "f", EmissionOptions(zero=True, emulated=emulated))
        c = np.full((19, 35), 12345, np.int32)
        call(compiled([function], tmp_path, f"match_{at}"), function, {"A": a, "B": b, "C": c})
        np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32), err_msg=str(m))


def sanitized(scop: Scop, sizes: dict[str, int], name: str, folder: Path) -> str:
    """What the address sanitizer says about every match; every array is an allocation of its own."""
    found = match(scop, find_intrinsic(name), sizes=sizes)
    functions = [emit_match(m, f"match_{i}", EmissionOptions(parallel=False)) for i, m in enumerate(found.matches[:8])]
    lines = [functions[0].prelude, *(f.text for f in functions), "int main(void) {"]
    for array in scop.arrays:
        kind, count = C_NAMES[array.dtype.name], int(np.prod(extents_of(array, sizes)))
        lines.append(f"    {kind} *{array.name} = calloc({count}, sizeof({kind}));")
    lines += [f"    {f.name}({', '.join(f.arrays)});" for f in functions]
    lines += ["    return 0;", "}"]
    (folder / "all.c").write_text("\n".join(lines))
    compiler = find_compiler()
    done = compiler.run(["-O0", "-w", "-std=gnu11", "-fsanitize=address,undefined", *functions[0].flags,
                         str(folder / "all.c"), "-o", str(folder / "all"), "-lm"])
    if done.returncode:
        pytest.skip(f"no address sanitizer: {done.stderr.splitlines()[-1] if done.stderr else ''}")
    ran = subprocess.run([str(folder / "all")], capture_output=True, text=True, check=False,
                         env={"ASAN_OPTIONS": "detect_leaks=0"})
    return ran.stderr


@pytest.mark.parametrize(("m", "n", "k"), [(1, 2, 3), (34, 70, 21), (65, 129, 131)])
@pytest.mark.parametrize("name", ["vpdpbusd", "tdpbusd"])
def test_products_stay_within_their_arrays(name: str, m: int, n: int, k: int, tmp_path: Path) -> None:
    require(name)
    assert not sanitized(operators.gmm(m=m, n=n, k=k, **BYTES), {}, name, tmp_path)


@pytest.mark.parametrize("name", ["vpdpbusd", "tdpbusd", "tdpbsud"])
@pytest.mark.parametrize("options", [{}, {"stride": 2}, {"dilation": 2}])
def test_convolutions_stay_within_their_arrays(name: str, options: dict[str, int], tmp_path: Path) -> None:
    require(name)
    scop = operators.c2d(k=20, c=6, size=9, window=3, **options, **BYTES)
    assert not sanitized(scop, {"batch": 2}, name, tmp_path)
