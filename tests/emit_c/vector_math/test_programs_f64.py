"""Programs over `double`: what they call exists, nothing is declared twice, and no constant is a float."""

from __future__ import annotations

import math
import re

import pytest

from polysched.emit_c.vector_math.natives import NATIVES
from polysched.emit_c.vector_math.notation import PRIMITIVES, parse
from polysched.emit_c.vector_math.programs_f32 import PROGRAMS as SINGLE
from polysched.emit_c.vector_math.programs_f64 import PROGRAMS
from polysched.emit_c.vector_math.rare_lanes import RARELY
from tests.emit_c.vector_math.programs import leads_to, value_of

KNOWN = {*PROGRAMS, *PRIMITIVES, *NATIVES, *RARELY}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_calls_what_there_is_and_never_itself(name: str) -> None:
    assert set(parse(name, PROGRAMS[name]).calls()) <= KNOWN
    assert name not in leads_to(name, PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_are_declared_once_and_constants_are_doubles(name: str) -> None:
    made = parse(name, PROGRAMS[name])
    declared = [step for _, step, _ in made.steps]
    assert len(set(declared)) == len(declared)
    assert not re.findall(r"\d\.?\d*(?:e[-+]?\d+)?f\b", re.sub(r"0x\w+", "", PROGRAMS[name]))


def test_both_types_have_the_same_functions_of_the_c_library() -> None:
    public = {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "erf", "cbrt", "pow", "sin", "cos"}
    assert public <= set(PROGRAMS)
    assert public <= set(SINGLE)


@pytest.mark.parametrize("x", [-0.34, -1e-3, 0.0, 1e-9, 0.125, 0.34])
def test_the_tail_of_expm1(x: float) -> None:
    assert value_of("expm1_tail", PROGRAMS, x) + x == pytest.approx(math.expm1(x), rel=1e-15, abs=1e-300)
