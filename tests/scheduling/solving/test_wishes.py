"""Strategies against their programs: names that do not exist, statements that cannot be apart, rows nobody used."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.scheduling.solving.wishes import require_known_names, require_separable, unused_rows
from polysched.scheduling.strategy import Dimension, Strategy
from tests.scheduling.primitives.programs import product, two_loops


@pytest.mark.parametrize(("strategy", "problem"), [
    (Strategy(vectorize={"S7": "i"}), "a statement 'S7' that the program lacks"),
    (Strategy(vectorize={"S0": "x"}), "S0 has no iterator 'x'"),
    (Strategy(weights={"S0": {"x": 2}}, dimensions=(Dimension(cost=("weights",)),)), "S0 has no iterator 'x'"),
    (Strategy(dimensions=(Dimension(rows={"S0": {"M": 1}}),)), "S0 has no iterator or parameter 'M'"),
    (Strategy(dimensions=(Dimension(forbidden={"S0": ({"N": 1},)}),)), "S0 has no iterator 'N'"),
])
def test_names_that_the_program_lacks(strategy: Strategy, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        require_known_names(product().scop, strategy)
    assert refused.value.hint.startswith("it has ")


def test_names_that_it_has() -> None:
    require_known_names(product().scop, Strategy(
        vectorize={"S0": "j"}, weights={"S0": {"i": 2}}, dimensions=(
            Dimension(rows={"S0": {"i": 1, "N": 1, "1": 3}}),
            Dimension(cost=("weights",), forbidden={"S0": ({"k": 1},)}))))


def test_statements_on_a_circle_cannot_be_apart() -> None:
    order = [("S0", "S1"), ("S1", "S2"), ("S2", "S0")]
    strategy = Strategy(apart=(("S0", "S2"),))
    with pytest.raises(UsageError, match="S0 and S2 cannot be apart") as refused:
        require_separable(two_loops().scop, strategy, [("S0", "S1", "S2")], order)
    assert refused.value.witness == "S0 -> S1 -> S2 -> S0"
    require_separable(two_loops().scop, strategy, [("S0",), ("S1",), ("S2",)], order)


def test_rows_that_nothing_asked_for_are_told() -> None:
    strategy = Strategy(dimensions=(Dimension(rows={"S0": {"i": 1}}), Dimension(rows={"S0": {"j": 1}, "S1": {"j": 1}})))
    assert unused_rows(strategy, {"S0": {0, 1}, "S1": {1}}) == []
    (one, other) = unused_rows(strategy, {"S0": {0, 2}})
    assert one == "the row given for S0 at dimension 1 was not used: S0 has rows at 0, 2 only"
    assert other.endswith("S1 has rows at no dimension only")
