"""How much an iteration does: accesses and operations, long ones as several; light ones have to be more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.target import Costs, Target
from polysched.tiling.tree.light_iterations import DIVISION, LIGHTEST, USUAL, team_iterations, times_as_many, work_of

HEAD = "#include <math.h>\nvoid f(int n, float x[n], float y[n], float z[n]) {\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"


def program(body: str) -> Scop:
    return from_c_text(f"{HEAD}for (int i = 0; i < n; i++) {body}{TAIL}")


@pytest.mark.parametrize(("body", "work"), [
    ("x[i] = y[i];", 2),
    ("x[i] = 3;", 1),
    ("x[i] += y[i];", 4),                    # reads its target, and adds
    ("x[i] = y[i] * z[i] + 1;", 3 + 2),
    ("x[i] = -y[i];", 2 + 1),
    ("x[i] = y[i] / z[i];", 3 + DIVISION),
    ("x[i] = sqrtf(y[i]);", 2 + USUAL),
    ("x[i] = y[i] > 0 ? y[i] : z[i];", 4 + 2),
])
def test_what_counts(body: str, work: int) -> None:
    scop = program(body)
    assert work_of(scop, scop.statements[0]) == work


def test_variables_and_temporaries_are_no_memory() -> None:
    scop = program("{ float t = y[i]; x[i] = t; }")
    assert [work_of(scop, s) for s in scop.statements] == [1, 1]


def test_light_iterations_are_wanted_more_often_within_limits() -> None:
    light, heavy = program("x[i] = 3;"), program("x[i] = sqrtf(y[i]) * sqrtf(z[i]);")
    assert times_as_many(light, ["S0"]) == LIGHTEST
    assert times_as_many(heavy, ["S0"]) == 1.0
    assert times_as_many(light, []) == LIGHTEST, "nothing is as light as can be"


def test_statements_of_a_loop_add_up() -> None:
    scop = program("{ x[i] = y[i]; z[i] = y[i]; }")
    both, one = times_as_many(scop, ["S0", "S1"]), times_as_many(scop, ["S0"])
    assert 1.0 <= both <= one <= LIGHTEST


@pytest.mark.parametrize(("dearer", "longer"), [(1.0, 1), (4.0, 4), (0.25, 0.25)])
def test_loops_that_are_worth_a_team_are_as_long_as_it_costs(dearer: float, longer: float) -> None:
    shipped = Costs()
    target = Target(costs=replace(shipped, team_start_seconds=dearer * shipped.team_start_seconds,
                                  barrier_seconds=dearer * shipped.barrier_seconds))
    assert team_iterations(target) == longer * team_iterations(Target())
