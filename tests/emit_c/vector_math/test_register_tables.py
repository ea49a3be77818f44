"""Tables that one register holds: their values, and the choice between a program by a table and one without."""

from __future__ import annotations

import re

import numpy as np

from polysched.emit_c.vector_math.programs_f32 import PROGRAMS
from polysched.emit_c.vector_math.register_tables import BY_REGISTER, TABLE_BITS, TABLES, by_register, table_definition


def test_sixteen_powers_of_two_fill_the_register() -> None:
    text = "\n".join(table_definition("m"))
    (listed,) = re.findall(r"= \{(.*?)\};", text)
    values = [float(number.rstrip("f")) for number in listed.split(", ")]
    assert len(values) * 32 == TABLE_BITS
    np.testing.assert_array_equal(np.float32(values), np.exp2(np.arange(16) / 16).astype(np.float32))
    assert all(number.endswith("f") for number in listed.split(", "))


def test_the_macro_is_one_definition() -> None:
    *continued, last = table_definition("m")
    assert continued[0].startswith("#define m(R, t)")
    assert all(line.endswith("\\") for line in continued)
    assert not last.endswith("\\")


def test_programs_by_a_table_exist_and_use_it() -> None:
    for (name, _), other in BY_REGISTER.items():
        assert name in PROGRAMS
        assert any(f"{table}(" in PROGRAMS[other] for table in TABLES)


def test_the_table_is_for_avx_512_only() -> None:
    assert by_register("m", "RI", "wide", "RIK", "other", "R") == [
        "#if defined(__AVX512VL__)", "#define m(R, I, x_) wide(R, I, K, x_)", "#else",
        "#define m(R, I, x_) other(R, x_)", "#endif"]
