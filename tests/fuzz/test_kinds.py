"""The kinds of programs: what a campaign asks of each."""

from __future__ import annotations

import pytest

from polysched.fuzz.contractions import contraction
from polysched.fuzz.drawing import random_configurations
from polysched.fuzz.generator import Shape, generate
from polysched.fuzz.instruction_drawing import contraction_configurations
from polysched.fuzz.kinds import AFFINE, CONTRACTIONS, PROGRAM_KINDS
from polysched.fuzz.program import Program, Statement, walk
from polysched.measure.programs.inputs import RECIPES, WHOLE


@pytest.mark.parametrize("seed", [0, 5, 91])
def test_a_kind_gives_the_programs_and_configurations_of_its_number(seed: int) -> None:
    affine, contractions = PROGRAM_KINDS[AFFINE], PROGRAM_KINDS[CONTRACTIONS]
    small = Shape(statements=1, depth=1)
    assert affine.program(seed, small) == generate(seed, shape=small)
    assert affine.configurations(seed) == random_configurations(seed)
    assert contractions.program(seed, small) == contraction(seed)
    assert contractions.configurations(seed) == contraction_configurations(seed)


def test_inputs_suit_what_is_compared() -> None:
    """Sums of contractions are compared exactly although instructions change their order: whole numbers."""
    assert set(PROGRAM_KINDS) == {AFFINE, CONTRACTIONS}
    assert PROGRAM_KINDS[CONTRACTIONS].recipe == WHOLE
    assert PROGRAM_KINDS[AFFINE].recipe in RECIPES
    assert all(c.tolerance for seed in range(20) for c in PROGRAM_KINDS[CONTRACTIONS].configurations(seed))


def test_python_is_asked_of_programs_that_it_can_say() -> None:
    def is_said(program: Program) -> bool:
        statements = [n for n in walk(program.body) if isinstance(n, Statement)]
        return not any(s.clamp or t.cast or t.zeros != (0, 0) or t.distance for s in statements for t in s.terms)

    assert not all(is_said(PROGRAM_KINDS[CONTRACTIONS].program(seed, Shape())) for seed in range(20))
    for name, kind in PROGRAM_KINDS.items():
        if kind.in_python:
            assert all(is_said(kind.program(seed, Shape(products=0.0))) for seed in range(20)), name
