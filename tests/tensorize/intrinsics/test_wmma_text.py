"""The text of WMMA: every operand of the assembly is named once, with as many registers as the manual says."""

from __future__ import annotations

import re

import pytest

from polysched.tensorize import find_intrinsic
from polysched.tensorize.intrinsics.nvidia_mma import COLUMN, WMMA_BY_NAME

REGISTERS = {"mma_16x16x16": 8, "mma_16x16x16_bf16": 4, "mma_16x16x8_tf32": 4, "mma_16x16x16_s8": 2,
             "mma_16x16x16_u8": 2}
"""Of an operand; PTX ISA, 9.7.14.4.1."""


def numbers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"%(\d+)", text)]


@pytest.mark.parametrize("name", REGISTERS)
def test_the_registers_of_the_manual(name: str) -> None:
    count, own = REGISTERS[name], WMMA_BY_NAME[name]
    assert sorted(numbers(own.load("a", "x", "p", "s"))) == list(range(count + 2))
    assert sorted(numbers(own.load("c", "x", "p", "s"))) == list(range(10))
    assert sorted(numbers(own.store("x", "p", "s"))) == list(range(10))
    product = numbers(own.product("c", "a", "b"))
    assert product[:8] == product[-8:] == list(range(8))
    assert product[8:-8] == list(range(8, 8 + 2 * count))


@pytest.mark.parametrize("name", REGISTERS)
def test_the_described_instruction_is_this_text(name: str) -> None:
    intrinsic, own = find_intrinsic(name), WMMA_BY_NAME[name]
    assert intrinsic.template == own.product("{C}.v", "{A}.v", "{B}.v")
    assert f"v[{REGISTERS[name]}]" in intrinsic.operand("A").register.c_type
    assert intrinsic.operand("C").register.c_type == ("struct { int v[8]; }" if name[-2:] in ("s8", "u8")
                                                      else "struct { float v[8]; }")


def test_half_precision_names_the_types_of_sums_alone() -> None:
    assert WMMA_BY_NAME["mma_16x16x16"].operation == "f32.f32"
    assert WMMA_BY_NAME["mma_16x16x16_s8"].operation == "s32.s8.s8.s32"


def test_a_layout_is_that_of_load_and_product() -> None:
    own = WMMA_BY_NAME["mma_16x16x16_s8"]
    assert "wmma.load.b.sync.aligned.col.m16n16k16.s8" in own.load("b", "x", "p", "s", COLUMN)
    assert "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32" in own.product("c", "a", "b", COLUMN)
