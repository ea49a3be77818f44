"""Programs over `float`: what they call exists, and they have no constant of another type."""

from __future__ import annotations

import re

import pytest

from polysched.emit_c.vector_math.natives import NATIVES
from polysched.emit_c.vector_math.notation import PRIMITIVES, parse
from polysched.emit_c.vector_math.programs_f32 import PROGRAMS
from polysched.emit_c.vector_math.rare_lanes import RARELY
from polysched.emit_c.vector_math.register_tables import TABLES
from tests.emit_c.vector_math.programs import leads_to, value_of

KNOWN = {*PROGRAMS, *PRIMITIVES, *NATIVES, *RARELY, *TABLES}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_calls_what_there_is_and_never_itself(name: str) -> None:
    assert set(parse(name, PROGRAMS[name]).calls()) <= KNOWN
    assert name not in leads_to(name, PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_are_declared_before_their_use_and_once(name: str) -> None:
    made = parse(name, PROGRAMS[name])
    declared = [step for _, step, _ in made.steps]
    assert len(set(declared)) == len(declared)
    assert not set(declared) & set(made.parameters)
    for at, (_, _, expression) in enumerate(made.steps):
        later = set(declared[at:])
        assert not later & set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", expression))


@pytest.mark.parametrize("name", PROGRAMS)
def test_constants_are_floats_unless_values_are_wide(name: str) -> None:
    """A `double` beside a vector of `float` is an error of compilers, or computes twice as wide."""
    made = parse(name, PROGRAMS[name])
    wide = [e for kind, _, e in made.steps if (kind in "DJM" and "wide" in e) or kind == "D"]
    for expression in [*(e for kind, _, e in made.steps if kind in "RI" and e not in wide), made.result]:
        if "narrow(" not in expression and "wide_" not in expression:
            assert not re.findall(r"(?<![\w.])\d+\.\d*(?:e[-+]?\d+)?(?![\w.])", expression), expression


@pytest.mark.parametrize(("x", "value"), [(0.0, 1.0), (0.25, 1.2840254), (-0.34, 0.71177032)])
def test_the_polynomial_of_exp_near_zero(x: float, value: float) -> None:
    assert value_of("exp_near_0", PROGRAMS, x) == pytest.approx(value, rel=2e-7)
