"""What schedulers start from: spaces of statements, active dependences as edges, and budgets for their cones."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.errors import UsageError
from polysched.scheduling.solving import problem as problems
from polysched.scheduling.solving.problem import ConeCount, initial_active, make_problem, without_upper_limits
from tests.scheduling.primitives.programs import product, two_loops


@pytest.mark.parametrize(("given", "left"), [
    ("[n] -> { : 1 <= n <= 100 }", "[n] -> { : n >= 1 }"),
    ("[n, m] -> { : n <= m <= 9 }", "[n, m] -> { : n <= m }"),
    ("[n] -> { : n = 7 }", "[n] -> { : n = 7 }"),
    ("[n] -> { : n <= 3 or n >= 5 }", "[n] -> { : }"),
])
def test_constants_above_single_parameters_are_left_out(given: str, left: str) -> None:
    read, expected = (isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text) for text in (given, left))
    assert without_upper_limits(read).is_equal(expected)
    assert read.is_subset(without_upper_limits(read))


def test_spaces_are_in_textual_order() -> None:
    made = make_problem(two_loops().dependences)
    assert list(made.spaces) == ["S0", "S1"]
    assert [space.depth for space in made.spaces.values()] == [1, 1]
    assert [space.parameter_count for space in made.spaces.values()] == [1, 1]


def test_equal_edges_are_one() -> None:
    made = make_problem(product().dependences)
    active = initial_active(made)
    assert len(active) > 1
    assert len(made.edges([*active, *active])) == len(made.edges(active))


def test_input_dependences_have_to_be_there() -> None:
    with pytest.raises(UsageError, match="none were computed") as refused:
        make_problem(product().dependences, input_dependences=True)
    assert "inputs=True" in refused.value.hint
    made = make_problem(analyse(product().scop, inputs=True), input_dependences=True)
    assert made.inputs
    assert not any(part.ordered for part in made.inputs)


def test_cones_beyond_the_budget_become_those_of_supersets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "CONE_OPERATIONS", 1)
    made = make_problem(two_loops().dependences)
    edges = made.edges(initial_active(made))
    assert made.cone_count.simplified == len(initial_active(made))
    for edge in edges:
        (cone,) = edge.cones
        assert all(row.equal for row in cone if any((*row.source, *row.sink))), "only forms that do not move"


def test_a_program_that_took_long_gets_less_for_each_further_relation() -> None:
    assert ConeCount().operations == 10 * ConeCount(seconds=1e9).operations
