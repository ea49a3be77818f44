"""Integer programs: the lexicographic optimum, contradictions and budgets as values."""

import random
from itertools import product

import pytest

from polysched.scheduling.solving.integer_program import (
    Infeasible,
    IntegerProgram,
    OutOfBudget,
    SolveCount,
    Solved,
    solve,
)


def enumerate_optimum(program: IntegerProgram) -> tuple[int, ...] | None:
    """The lexicographic optimum of the tiers by trying every point; None when there is none."""
    best = None
    for point in product(*(range(least, largest + 1) for least, largest in program.bounds)):
        def value(terms, point=point):  # type: ignore[no-untyped-def]
            return sum(c * point[v] for v, c in dict(terms).items())

        if any(value(t) != r if equal else value(t) < r for (t, equal), r in program.rows.items()):
            continue
        if any(all(value(e) == 0 for e in some) for some in program.disjunctions):
            continue
        key = tuple(value(t) for t in program.tiers)
        best = key if best is None else min(best, key)
    return best if program.feasible else None


@pytest.mark.parametrize("seed", range(30))
def test_optimum_is_that_of_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    program = IntegerProgram()
    variables = [program.variable(rng.randint(-2, 0), rng.randint(1, 3)) for _ in range(4)]

    def terms() -> dict[int, int]:
        return {v: rng.randint(-2, 2) for v in rng.sample(variables, 3)}

    for _ in range(rng.randint(1, 4)):
        program.add_row(terms(), rng.randint(-2, 2), equal=rng.random() < 0.2)
    program.add_some_nonzero([terms(), terms()])
    program.tiers = [terms(), terms(), terms()]
    outcome = solve(program)
    expected = enumerate_optimum(program)
    if expected is None:
        assert isinstance(outcome, Infeasible)
        return
    assert isinstance(outcome, Solved)
    assert tuple(sum(c * outcome.values[v] for v, c in t.items()) for t in program.tiers) == expected


def test_tiers_too_large_for_one_objective_are_solved_in_turn() -> None:
    program = IntegerProgram()
    x, y, z = (program.variable(0, 1 << 40) for _ in range(3))
    program.add_row({x: 1, y: 1}, 5)
    program.add_row({y: 1, z: 1}, 7)
    program.tiers = [{x: 1}, {y: 1}, {z: 1}]
    outcome = solve(program)
    assert isinstance(outcome, Solved)
    assert [outcome.values[v] for v in (x, y, z)] == [0, 5, 2]


def test_contradictions_and_budgets_are_values() -> None:
    program = IntegerProgram()
    x = program.variable(0, 3)
    program.add_row({x: 1}, 4)
    count = SolveCount()
    assert isinstance(solve(program, count=count), Infeasible)
    assert (count.solves, count.variables, count.rows) == (1, 1, 1)
    constant = IntegerProgram()
    constant.add_row({}, 1)
    assert isinstance(solve(constant), Infeasible)


def test_a_hard_program_runs_out_of_budget() -> None:
    rng = random.Random(1)
    program = IntegerProgram()
    variables = program.variables(60, 0, 1)
    for _ in range(12):
        weights = {v: rng.randint(1, 1000) for v in variables}
        program.add_row(weights, sum(weights.values()) // 2, equal=True)
    program.tiers = [dict.fromkeys(variables, 1)]
    assert isinstance(solve(program, deterministic_seconds=0.01), OutOfBudget)


@pytest.mark.parametrize(("largest", "coefficient"), [(1 << 70, 1), (3, 1 << 62), (1 << 40, 1 << 40)])
def test_numbers_beyond_the_solver_are_not_tried(largest: int, coefficient: int) -> None:
    program = IntegerProgram()
    program.add_row({program.variable(0, largest): coefficient}, 1)
    outcome = solve(program)
    assert isinstance(outcome, OutOfBudget)
    assert "64 bits" in str(outcome)
