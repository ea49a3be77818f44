"""The same program at sizes at which it can be run: fewer iterations with remainders, or some elements."""

from __future__ import annotations

from math import prod

import pytest

from polysched.emit_c.alternatives.smaller_programs import (
    MOST_OF_FEWER,
    can_be_sampled,
    matched_at,
    replaced_statements,
    sizes_to_try,
    smaller_program,
    some_elements,
    work_of,
)
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.program import TensorizedProgram
from tests.emit_c.alternatives.matched_programs import integers


def extents(program: TensorizedProgram) -> dict[str, int]:
    return {loop.name: loop.extent for loop in program.match.fragment.loops}


def test_a_few_executions_and_a_remainder() -> None:
    large = integers(400, 300)
    fewer = smaller_program(large, Numerics())
    assert fewer is not None
    found = extents(fewer)
    assert found["i"] % 4, "the last execution is not whole"
    assert found["i"] > 4
    assert prod(found.values()) <= MOST_OF_FEWER
    assert fewer.match.signature == large.match.signature


@pytest.mark.parametrize("most", [200, 2000, 20000])
def test_as_much_work_as_that_in_whole_executions(most: int) -> None:
    made = smaller_program(integers(400, 300), Numerics(), most_work=most)
    assert made is not None
    assert work_of(made) <= most
    assert extents(made)["i"] % 4 == 0 or extents(made)["i"] < 4


def test_what_is_small_already_leaves_one_iteration_out() -> None:
    made = smaller_program(integers(5, 3), Numerics())
    assert made is not None
    assert extents(made)["i"] < 5


def test_work_and_statements() -> None:
    assert work_of(integers()) == 20 * 9
    assert replaced_statements(integers()) == ["S0"]
    assert can_be_sampled(integers())


def test_code_of_known_sizes_has_no_others_to_try() -> None:
    assert sizes_to_try(integers(), most_work=1 << 20) == []


def test_the_match_at_its_own_sizes() -> None:
    made = integers()
    again = matched_at(made, Numerics(), made.match.fragment.sizes)
    assert again is not None
    assert again.match.signature == made.match.signature


def test_some_elements_have_all_their_iterations() -> None:
    found = integers(100, 9).match
    made = some_elements(found.fragment.scop, found)
    (statement,) = made.statements
    rows = statement.domain
    assert rows.is_strict_subset(found.fragment.statement.domain)
    assert rows.count_val().to_python() % 9 == 0
    assert rows.dim_min_val(0).to_python() == 0
    assert rows.dim_max_val(0).to_python() == 99
