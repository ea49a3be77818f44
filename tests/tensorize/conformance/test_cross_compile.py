"""The C of every shipped instruction goes through a compiler of its own machine, where that is here."""

from dataclasses import replace

import pytest

from polysched.tensorize.conformance.cross_compile import cross_compile
from polysched.tensorize.registry import INTRINSICS

OWN = [name for name, intrinsic in INTRINSICS.items() if not intrinsic.library]
IN_ASSEMBLY = {   # what the compiler has to have written
    "mma_16x16x16": "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32",
    "mma_16x16x16_bf16": "m16n16k16.f32.bf16.bf16.f32",
    "mma_16x16x8_tf32": "m16n16k8.f32.tf32.tf32.f32", "mma_16x16x16_s8": "m16n16k16.s32.s8.s8.s32",
    "mma_16x16x16_u8": "m16n16k16.s32.u8.u8.s32", "mma_16x8x16": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma_16x8x8_tf32": "m16n8k8.row.col.f32.tf32.tf32.f32", "mma_16x8x16_s8": "m16n8k16.row.col.s32.s8.s8.s32",
    "gemmini_matmul": ".insn r 0x7b, 0x3, 4", "tdpbusd": "tdpbusd", "vpdpbusd": "vpdpbusd",
    "vpmaddwd": "vpmaddwd", "arm_sdot": "sdot", "vpavgb": "vpavgb", "vpmulhrsw": "vpmulhrsw", "vpopcntd": "vpopcntd",
    "vpermb": "vpermb", "vpackssdw": "vpackssdw", "vpackuswb": "vpackuswb", "vpshufb": "vpshufb",
    "arm_sqrdmulh_16": "sqrdmulh", "compare_exchange_ub_avx2": "vpmaxub", "butterfly_i16_avx2": "vpsubw",
    "complex_f32_avx2": "vfmaddsub", "complex_i32_avx2": "vpmulld",
}


@pytest.mark.parametrize("name", OWN)
def test_the_c_of_an_instruction_compiles(name: str) -> None:
    result = cross_compile(INTRINSICS[name])
    if not result.command:
        pytest.skip(str(result))
    assert result.compiles, str(result)
    assert IN_ASSEMBLY.get(name, "") in result.assembly


def test_a_compiler_that_refuses_says_why() -> None:
    result = cross_compile(replace(INTRINSICS["vpdpbusd"], template="{C} = no_such_name;"))
    if not result.command:
        pytest.skip(str(result))
    assert not result.compiles
    assert "no_such_name" in result.reason


def test_where_there_is_no_public_compiler_the_reason_says_so() -> None:
    assert str(cross_compile(INTRINSICS["davinci_cube"])) == (
        "davinci_cube: not compiled (there is no public compiler for davinci)")
