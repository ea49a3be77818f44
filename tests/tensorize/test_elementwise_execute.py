"""Shipped instructions that assign, matched with their own loops and executed on random and corner values."""

from pathlib import Path

import pytest

from polysched.tensorize import find_intrinsic
from tests.tensorize.described import executes, matched, program

PROGRAMS = {   # unit: parameters, right-hand side
    "vpavgb": ("uint8_t o[67], uint8_t a[67], uint8_t b[67]", "(a[i] + b[i] + 1) / 2"),
    "vpavgw": ("uint16_t o[67], uint16_t a[67], uint16_t b[67]", "(1 + b[i] + a[i]) >> 1"),
    "vpmulhrsw": ("int16_t o[67], int16_t a[67], int16_t b[67]", "((a[i] * b[i] >> 14) + 1) >> 1"),
    "vpaddsw": ("int16_t o[67], int16_t a[67], int16_t b[67]",
                "a[i] + b[i] > 32767 ? 32767 : a[i] + b[i] < -32768 ? -32768 : a[i] + b[i]"),
    "vpmaxsd": ("int32_t o[67], int32_t a[67], int32_t b[67]", "b[i] <= a[i] ? a[i] : b[i]"),
    "vpcmpgtb": ("int8_t o[67], int8_t a[67], int8_t b[67]", "-(a[i] > b[i])"),
    "vcvtdq2ps": ("float o[67], int32_t a[67]", "a[i]"),
}


@pytest.mark.parametrize("unit", PROGRAMS)
def test_the_loop_of_an_instruction_is_computed_by_it(unit: str, tmp_path: Path) -> None:
    parameters, value = PROGRAMS[unit]
    scop = program(parameters, f"for (int i = 0; i < 67; i++) o[i] = {value};")
    executes(scop, matched(scop, find_intrinsic(unit)), tmp_path)


@pytest.mark.parametrize("value", ["(a[i] + b[i]) >> 1", "(a[i] + b[i] + 1) >> 2", "(a[i] - b[i] + 1) >> 1"])
def test_another_average_is_not_taken(value: str) -> None:
    scop = program(PROGRAMS["vpavgb"][0], f"for (int i = 0; i < 67; i++) o[i] = {value};")
    assert matched(scop, find_intrinsic("vpavgb")).count == 0
