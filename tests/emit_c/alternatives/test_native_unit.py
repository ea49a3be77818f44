"""A unit by its instructions where the processor has them, by its text elsewhere: one function."""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_c.alternatives.native_unit import chosen_c, chosen_name, has_native_code
from polysched.tensorize import find_intrinsic
from polysched.tensorize.description.intrinsic import LoadMode
from tests.emit_c.alternatives.matched_programs import LANES


def test_units_of_machines_that_compilers_name() -> None:
    assert has_native_code(find_intrinsic("fma_f32_avx2"))
    assert not has_native_code(LANES), "only its text"
    assert not has_native_code(find_intrinsic("gemmini_matmul")), "no test at run time is known"


def test_operands_of_aligned_memory_or_scratchpads_have_none() -> None:
    given = find_intrinsic("fma_f32_avx2")
    first, *others = given.operands
    assert not has_native_code(replace(given, operands=(replace(first, alignment_bytes=64), *others)))
    assert not has_native_code(replace(given, operands=(replace(first, mode=LoadMode.SCRATCHPAD), *others)))


def test_one_function_asks_the_processor() -> None:
    given = find_intrinsic("fma_f32_avx2")
    text = chosen_c(given)
    name = chosen_name(given)
    assert name == "fma_f32_avx2_chosen"
    assert f"static void {name}(" in text
    native, own = text.index("fma_f32_avx2_native("), text.rindex("fma_f32_avx2(C, A, B);")
    assert native < own
    assert text.count("#ifndef POLYSCHED_CHOSEN_FMA_F32_AVX2") == 1
    assert text.count("#if") == text.count("#endif")


def test_what_is_configured_stands_around_the_instruction() -> None:
    given = replace(find_intrinsic("fma_f32_avx2"), configure="BEGIN();", finish="END();")
    text = chosen_c(given)
    assert text.index("BEGIN();") < text.index("_mm256_fmadd_ps") < text.index("END();")
