"""Schedulers by name: each gives a legal schedule that says who made it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polysched.dependence.legality import check_legal
from polysched.scheduling.algorithms import ALGORITHMS
from polysched.scheduling.schedule import Schedule
from tests.scheduling.primitives.programs import product, stencil, two_loops


@pytest.mark.parametrize("program", [product, stencil, two_loops])
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_schedules_are_legal_and_signed(name: str, program: Callable[[], Schedule]) -> None:
    given = program().dependences
    made = ALGORITHMS[name](given)
    assert isinstance(made, Schedule)
    check_legal(given, made.tree, what=name)
    assert made.algorithm == name
    assert made.dependences is given
    assert made.steps == ()


def test_the_names_are_those_of_the_command_line() -> None:
    assert {"pluto", "feautrier", "isl", "original"} <= set(ALGORITHMS)
