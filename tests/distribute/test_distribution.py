"""A distributed program: every instance on one rank and in one step."""

from collections import Counter

import pytest

from polysched.distribute import Partition, distribute
from polysched.errors import BudgetExceededError
from polysched.scop.points import fix_parameters, points_of
from tests.distribute.programs import PROGRAMS, scop_of, sizes_of


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_parts_of_all_ranks_and_steps_are_the_program_once(name: str) -> None:
    made = distribute(scop_of(name), "i", partition=Partition(kind="cyclic", ranks=3))
    part, sizes, found = made.part, sizes_of(made.scop), Counter()
    steps = [()] if not made.steps else points_of(fix_parameters(made.step_set, sizes))
    for rank in range(3):
        for step in steps:
            known = {**sizes, "polysched_rank": rank, **{f"polysched_step{at}": s for at, s in enumerate(step)}}
            for statement in part.statements:
                found.update((statement.name, point) for point in points_of(fix_parameters(statement.domain, known)))
    wanted = {(s.name, p) for s in made.scop.statements for p in points_of(fix_parameters(s.domain, sizes))}
    assert set(found) == wanted
    assert set(found.values()) == {1}


def test_it_tells_itself() -> None:
    made = distribute(scop_of("jacobi"), "i")
    assert made.headline() == ("f along i (block): 1 loop of steps, 2 arrays in messages, 2 gathered")
    assert len(repr(made)) < 300
    assert "S0 runs at" in str(made)


def test_dependences_that_are_not_exact_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from polysched.dependence import analyse
    monkeypatch.setattr("polysched.distribute.distribution.analyse", lambda scop: replace(
        analyse(scop), by_memory=("A",), fallbacks=("flow dependences of `A` by memory",)))
    with pytest.raises(BudgetExceededError, match="were not found exactly"):
        distribute(scop_of("jacobi"), "i")
