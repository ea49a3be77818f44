"""NVIDIA's MMA fragments: our loads and stores per lane against the index formulas of the PTX manual.

The C of loads and stores runs here lane after lane; in between, the registers are read by the manual's formulas (PTX
ISA, "Matrix Fragments for mma.m16n8k8" and "mma.m16n8k16"), multiplied, and written back by them.
"""

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from polysched.target import find_compiler
from polysched.tensorize import find_intrinsic
from polysched.tensorize.conformance.conformance import fill_in

LANES = 32
UNITS = {"mma_16x8x16": np.uint16, "mma_16x8x16_bf16": np.uint16, "mma_16x8x8_tf32": np.uint32,
         "mma_16x8x16_s8": np.int8, "mma_16x8x16_u8": np.uint8}


def left_place(name: str, lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of A's fragment."""
    group, thread = lane >> 2, lane % 4
    if name.endswith("tf32"):
        return group + 8 * (i in (1, 3)), thread + 4 * (i >= 2)
    if name.endswith("8"):
        return group + 8 * (i >= 4), thread * 4 + (i & 3)
    return (group if i < 2 or 4 <= i < 6 else group + 8), thread * 2 + (i & 1) + 8 * (i >= 4)


def right_place(name: str, lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of B's fragment."""
    group, thread = lane >> 2, lane % 4
    if name.endswith("tf32"):
        return thread + 4 * i, group
    if name.endswith("8"):
        return thread * 4 + i, group
    return thread * 2 + (i & 1) + 8 * (i >= 2), group


def result_place(lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of the accumulator's fragment."""
    return (lane >> 2) + 8 * (i >= 2), (lane % 4) * 2 + (i & 1)


def source(name: str) -> str:
    """C functions that load and store one lane's fragments."""
    intrinsic = find_intrinsic(name)
    lines = ["static int ps_lane;", "static int __nvvm_read_ptx_sreg_laneid(void) { return ps_lane; }"]
    for operand in intrinsic.operands:
        register = operand.register
        for verb, text in (("load", register.load), ("store", register.store)):
            c = fill_in(text, register="(*held)", pointer="memory", stride="stride") if text else ""
            lines.append(f"void {verb}_{operand.name}(int lane, void *memory, long stride, void *fragment) {{ "
                         f"{register.c_type} *held = fragment; ps_lane = lane; {c} (void)held; }}")
    return "\n".join(lines)


@pytest.mark.parametrize("name", UNITS)
def test_lanes_hold_what_the_manual_says(name: str, tmp_path: Path) -> None:
    intrinsic, element = find_intrinsic(name), UNITS[name]
    (tmp_path / "lanes.c").write_text(source(name))
    compiler = find_compiler()
    done = compiler.run(["-O1", "-w", "-shared", "-fPIC", "-fno-strict-aliasing", str(tmp_path / "lanes.c"), "-o",
                         str(tmp_path / "lanes.so")])
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(tmp_path / "lanes.so"))
    k = int(re.fullmatch(r"mma_16x8x(\d+).*", name)[1])
    chooser = np.random.default_rng(1)
    a, b = (chooser.integers(0, 100, shape).astype(element) for shape in ((16, k + 8), (k, 8 + 8)))  # rows lie apart
    accumulator = np.float32 if intrinsic.output.dtype.is_float else np.int32
    c = chooser.integers(0, 1000, (16, 8 + 8)).astype(accumulator)
    before, wanted = c.copy(), c.copy()
    wanted[:, :8] += a[:, :k].astype(accumulator) @ b[:, :8].astype(accumulator)

    def fragment(operand: str, memory: np.ndarray, lane: int, count: int) -> np.ndarray:
        held = np.zeros(count, memory.dtype)
        getattr(library, f"load_{operand}")(lane, ctypes.c_void_p(memory.ctypes.data), ctypes.c_long(memory.strides[0]),
                                            ctypes.c_void_p(held.ctypes.data))
        return held

    left, right, sums = np.zeros((16, k)), np.zeros((k, 8)), np.zeros((16, 8))
    for lane in range(LANES):
        for i, x in enumerate(fragment("A", a, lane, 16 * k // LANES)):
            left[left_place(name, lane, i)] = x
        for i, x in enumerate(fragment("B", b, lane, k * 8 // LANES)):
            right[right_place(name, lane, i)] = x
        for i, x in enumerate(fragment("C", c, lane, 4)):
            sums[result_place(lane, i)] = x
    product = sums + left @ right
    for lane in range(LANES):
        held = np.array([product[result_place(lane, i)] for i in range(4)], accumulator)
        library.store_C(lane, ctypes.c_void_p(c.ctypes.data), ctypes.c_long(c.strides[0]),
                        ctypes.c_void_p(held.ctypes.data))
    np.testing.assert_array_equal(c, wanted)
    np.testing.assert_array_equal(c[:, 8:], before[:, 8:])   # nothing beside the tile is touched


@pytest.mark.parametrize("name", UNITS)
def test_the_assembly_names_every_register_once(name: str) -> None:
    """D, A, B, C in the manual's order: mma.sync D, A, B, C with C in D's registers."""
    intrinsic = find_intrinsic(name)
    text = intrinsic.template
    braces = re.findall(r"\{([%\d, ]+)\}", text.replace("{{", "{").replace("}}", "}"))
    numbers = [[int(n) for n in re.findall(r"%(\d+)", group)] for group in braces]
    counts = [int(re.search(r"v\[(\d+)\]", intrinsic.operand(x).register.c_type)[1]) for x in "CAB"]
    assert [len(group) for group in numbers] == [counts[0], counts[1], counts[2], counts[0]]
    assert numbers[0] == numbers[3] == [0, 1, 2, 3]
    assert numbers[1] + numbers[2] == list(range(4, 4 + counts[1] + counts[2]))
    inputs = re.findall(r'"r"\(\{([AB])\}\.v\[(\d+)\]\)', text)
    assert [(x, int(i)) for x, i in inputs] == [(x, i) for x, n in zip("AB", counts[1:], strict=True) for i in range(n)]
