"""Registers of Advanced SIMD and SVE: C types and loads by element, as the Arm C language extensions spell them."""

from __future__ import annotations

import pytest

from polysched.tensorize.intrinsics.arm_registers import neon, neon_repeat, sve


@pytest.mark.parametrize(("element", "lanes", "c_type"), [
    ("s8", 16, "int8x16_t"), ("u8", 16, "uint8x16_t"), ("s16", 8, "int16x8_t"), ("s32", 4, "int32x4_t"),
    ("u32", 4, "uint32x4_t"), ("f32", 4, "float32x4_t"), ("bf16", 8, "bfloat16x8_t")])
def test_full_registers(element: str, lanes: int, c_type: str) -> None:
    register = neon(element, lanes)
    assert register.c_type == c_type
    assert register.store == f"vst1q_{element}((void *)({{pointer}}), {{register}});"
    assert register.zero == f"{{register}} = vdupq_n_{element}(0);"
    assert f"vld1q_{'u16' if element == 'bf16' else element}(" in register.load


def test_short_floats_are_loaded_as_the_numbers_they_lie_as() -> None:
    assert "vreinterpretq_bf16_u16(vld1q_u16(" in neon("bf16", 8).load


@pytest.mark.parametrize(("element", "c_type"), [("s8", "int8x16_t"), ("u8", "uint8x16_t"), ("bf16", "bfloat16x8_t")])
def test_repeated_words(element: str, c_type: str) -> None:
    register = neon_repeat(element, 8 if element == "bf16" else 16)
    assert register.c_type == c_type
    assert f"vreinterpretq_{element}_u32(vdupq_n_u32(" in register.load


@pytest.mark.parametrize(("element", "bits", "c_type"), [
    ("s8", 8, "svint8_t"), ("u8", 8, "svuint8_t"), ("s32", 32, "svint32_t"), ("u32", 32, "svuint32_t")])
def test_scalable_registers_have_all_lanes_active(element: str, bits: int, c_type: str) -> None:
    register = sve(element)
    assert register.c_type == c_type
    assert f"svld1_{element}(svptrue_b{bits}()" in register.load


def test_other_elements_have_no_register() -> None:
    with pytest.raises(KeyError):
        neon("f64", 2)
