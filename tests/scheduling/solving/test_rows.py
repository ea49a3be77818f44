"""One row of a schedule: the least one of each mode on small programs, and rows that are given."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.solving.integer_program import Infeasible, SolveCount
from polysched.scheduling.solving.problem import initial_active, make_problem
from polysched.scheduling.solving.rows import (
    FEAUTRIER,
    NEGATIVE,
    NON_NEGATIVE,
    Group,
    Row,
    RowMode,
    StatementRow,
    coefficients,
    find_row,
    missing_directions,
)
from tests.scheduling.primitives.programs import product, stencil, two_loops


def group_of(schedule: Schedule, found: tuple[tuple[int, ...], ...] = ()) -> Group:
    problem = make_problem(schedule.dependences)
    names = tuple(problem.spaces)
    return Group(statements=tuple(problem.spaces.values()), components=tuple((n,) for n in names),
                 edges=problem.edges(initial_active(problem)), found=dict.fromkeys(names, found))


def row_of(schedule: Schedule, mode: RowMode, found: tuple[tuple[int, ...], ...] = ()) -> Row | Infeasible:
    made = find_row(group_of(schedule, found), mode, SchedulerOptions(), SolveCount())
    assert isinstance(made, Row | Infeasible)
    return made


def test_the_first_row_of_a_product_carries_nothing() -> None:
    made = row_of(product(), NON_NEGATIVE)
    assert isinstance(made, Row)
    assert made.of["S0"] == StatementRow((1, 0, 0), (0,), 0)
    assert made.costs[0] == (0, 0), "no distance at all"


def test_further_rows_are_linearly_independent() -> None:
    made = row_of(product(), NON_NEGATIVE, ((1, 0, 0),))
    assert isinstance(made, Row)
    assert made.of["S0"].iterators == (0, 1, 0)


def test_a_stencil_is_skewed() -> None:
    made = row_of(stencil(), NON_NEGATIVE, ((1, 0),))
    assert isinstance(made, Row)
    assert made.of["S0"].iterators == (1, 1)


def test_a_consumer_is_shifted_behind_its_producer() -> None:
    made = row_of(two_loops(), NON_NEGATIVE)
    assert isinstance(made, Row)
    assert made.of["S1"].iterators == made.of["S0"].iterators == (1,)
    assert made.of["S1"].constant - made.of["S0"].constant == 1


def test_a_row_of_feautriers_carries_something_or_is_none() -> None:
    made = row_of(product(), FEAUTRIER)
    assert isinstance(made, Row)
    assert made.of["S0"].iterators[2] >= 1, "only k carries a dependence"
    edgeless = Group(statements=group_of(product()).statements, components=(("S0",),), edges=(), found={"S0": ()})
    assert isinstance(find_row(edgeless, FEAUTRIER, SchedulerOptions(), SolveCount()), Infeasible)


def test_what_the_solver_was_asked_is_counted() -> None:
    count = SolveCount()
    find_row(group_of(product()), NEGATIVE, SchedulerOptions(), count)
    assert count.solves == 1
    assert count.variables > 3


def test_directions_that_are_missing() -> None:
    (space,) = group_of(product()).statements
    assert len(missing_directions(space, ())) == 3
    assert len(missing_directions(space, ((1, 0, 0), (1, 1, 0)))) == 1
    assert missing_directions(space, ((1, 0, 0), (0, 1, 0), (0, 0, 1))) == ()


def test_rows_by_name() -> None:
    (space,) = group_of(product()).statements
    assert coefficients(space, {"i": 1, "k": -2, "N": 3, "1": 4}) == StatementRow((1, 0, -2), (3,), 4)
    with pytest.raises(UsageError, match="S0 has no iterator or parameter 'x'") as refused:
        coefficients(space, {"x": 1})
    assert "i, j, k, N" in refused.value.hint
