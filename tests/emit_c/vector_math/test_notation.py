"""The notation of programs over vectors: lines, calls, and names that get a prefix."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_math.notation import PRIMITIVES, Form, parse, primitive, type_letters
from polysched.scop.dtypes import FLOAT32, FLOAT64, DType

TWO_LINES = """
    R z = x * x;
    I e = bits(z) + 1;
    scale(z, real(e)) + __builtin_fabsf(x)
"""


def test_a_program_has_steps_and_a_result() -> None:
    made = parse("square", TWO_LINES)
    assert made.steps == (("R", "z", "x * x"), ("I", "e", "bits(z) + 1"))
    assert made.result == "scale(z, real(e)) + __builtin_fabsf(x)"
    assert made.calls() == ("bits", "scale", "real"), "builtins are the compiler's"


@pytest.mark.parametrize(("text", "parameters"), [
    ("x + 1.0f", ("x",)),
    ("x * y", ("x", "y")),
    ("R y = x * x;\ny + 1.0f", ("x",)),
])
def test_the_second_parameter_is_y_unless_a_line_declares_it(text: str, parameters: tuple[str, ...]) -> None:
    assert parse("p", text).parameters == parameters


@pytest.mark.parametrize("line", ["z = x * x;", "R z = x * x", "Q z = x;", "R z x;"])
def test_a_line_that_declares_nothing_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="square: no declaration: "):
        parse("square", f"{line}\nx")


def test_own_names_get_a_prefix_and_calls_their_macros() -> None:
    made = parse("square", TWO_LINES)
    assert made.spelled(made.result, {"scale": "m_scale(R, ", "real": "m_real(R, "}, "p_") == (
        "m_scale(R, p_z, m_real(R, p_e)) + __builtin_fabsf(p_x)")
    assert made.spelled("1.0e3f + x1 + x", {}, "p_") == "1.0e3f + x1 + p_x", "neither parts of numbers nor of names"


def test_types_of_a_text() -> None:
    assert type_letters(["((I)(v))", "(R){0}"]) == frozenset("IR")
    assert type_letters(["RING(D1, K_)"]) == frozenset()


def test_every_primitive_has_all_bits_but_the_sign_of_its_type() -> None:
    for name in PRIMITIVES:
        for dtype in (FLOAT32, FLOAT64):
            parameters, bodies = primitive(name, dtype)
            assert parameters == PRIMITIVES[name][0]
            assert "{top}" not in bodies[0]
    assert "0x7FFFFFFF)" in primitive("fabs", FLOAT32)[1][0]
    assert "0x7FFFFFFFFFFFFFFFL)" in primitive("fabs", FLOAT64)[1][0]


@pytest.mark.parametrize(("name", "dtype", "count"), [
    ("to_real", FLOAT32, 1), ("to_real", FLOAT64, 2), ("wide_to_real", FLOAT32, 2), ("real", FLOAT64, 1)])
def test_what_converts_64_bits_has_a_second_body(name: str, dtype: DType, count: int) -> None:
    assert len(primitive(name, dtype)[1]) == count


def test_letters_stand_for_types_of_as_many_lanes() -> None:
    types = VectorTypes(TakenNames(used=frozenset(), visible=frozenset()))
    single, double = (Form(types=types, dtype=dtype, lanes=4) for dtype in (FLOAT32, FLOAT64))
    assert single.c_type("I") != double.c_type("I")
    assert single.c_type("D") == double.c_type("R") == double.c_type("D")
    assert double.c_type("I") == double.c_type("J")
