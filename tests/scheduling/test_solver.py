"""The integer programs, Farkas cones, linear algebra and component order below the schedulers."""

import random
from itertools import pairwise, product

import islpy as isl
import pytest

from polysched.scheduling.fusion.components import ordered_components
from polysched.scheduling.solving.farkas import cones
from polysched.scheduling.solving.integer_program import (
    Infeasible,
    IntegerProgram,
    OutOfBudget,
    SolveCount,
    Solved,
    solve,
)
from polysched.scheduling.solving.linear_algebra import null_space, rank


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


def test_cones_are_the_non_negative_forms() -> None:
    """On {(i, j): 0 <= i < N, j = i + 1}: j - i - 1 is zero, N - j is not negative, i - j is negative."""
    relation = isl.Map("[N] -> { S[i] -> T[j] : 0 <= i < N and j = i + 1 }")
    (cone,) = cones(relation, isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[], params=["N"]))

    def holds(constant: int, parameter: int, source: int, sink: int) -> bool:
        values = [r.constant * constant + r.parameters[0] * parameter + r.source[0] * source + r.sink[0] * sink
                  for r in cone]
        return all(v == 0 if r.equal else v >= 0 for v, r in zip(values, cone, strict=True))

    assert holds(-1, 0, -1, 1)
    assert holds(1, 0, 1, -1)
    assert holds(0, 1, 0, -1)
    assert holds(-1, 1, -1, 0)
    assert not holds(0, 0, 1, -1)
    assert not holds(-2, 0, -1, 1)


def test_null_space_and_rank() -> None:
    assert null_space((), 2) == ((1, 0), (0, 1))
    assert null_space(((1, 1, 0),), 3) == ((-1, 1, 0), (0, 0, 1))
    assert null_space(((2, 0), (0, 3)), 2) == ()
    assert rank([(1, 2), (2, 4)], 2) == 1
    rng = random.Random(3)
    for _ in range(50):
        rows = tuple(tuple(rng.randint(-3, 3) for _ in range(4)) for _ in range(rng.randint(0, 4)))
        basis = null_space(rows, 4)
        assert len(basis) + rank(rows, 4) == 4
        assert all(sum(a * b for a, b in zip(r, n, strict=True)) == 0 for r in rows for n in basis)


def test_components_are_ordered_and_keep_the_text_order_where_free() -> None:
    edges = [("d", "b"), ("b", "c"), ("c", "b"), ("e", "a")]
    assert ordered_components(("a", "b", "c", "d", "e"), edges) == [("d",), ("b", "c"), ("e",), ("a",)]
    chain = tuple(f"s{i}" for i in range(3000))
    found = ordered_components(chain, [*pairwise(chain), (chain[-1], chain[0])])
    assert found == [chain]


@pytest.mark.parametrize(("largest", "coefficient"), [(1 << 70, 1), (3, 1 << 62), (1 << 40, 1 << 40)])
def test_numbers_beyond_the_solver_are_not_tried(largest: int, coefficient: int) -> None:
    program = IntegerProgram()
    program.add_row({program.variable(0, largest): coefficient}, 1)
    outcome = solve(program)
    assert isinstance(outcome, OutOfBudget)
    assert "64 bits" in str(outcome)
