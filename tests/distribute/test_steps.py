"""Loops of steps: as few as the dependences allow, and a refusal where none do."""

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import DependenceKind
from polysched.distribute import distribute
from polysched.distribute.owners import coordinates
from polysched.distribute.steps import find_steps
from polysched.errors import IllegalScheduleError
from polysched.scop import from_c_text
from tests.distribute.programs import PROGRAMS, scop_of

LOOPS = {"jacobi": 1, "lu": 1, "product": 0, "floyd": 1, "seidel": 1, "reverse": 1, "conditional": 1}


@pytest.mark.parametrize("name", LOOPS)
def test_the_number_of_loops(name: str) -> None:
    assert len(distribute(scop_of(name), "i").steps) == LOOPS[name]


@pytest.mark.parametrize("name", LOOPS)
def test_no_dependence_runs_backwards_and_what_passes_is_read_later(name: str) -> None:
    made = distribute(scop_of(name), "i")
    for pair in made.dependences.pairs:
        together, later = pair.relation, isl.Map.empty(pair.relation.get_space())
        for step in made.steps:
            source, sink = isl.Map.from_aff(step[pair.source]), isl.Map.from_aff(step[pair.sink])
            ahead = source.apply_range(isl.Map("{ [a] -> [b] : a < b }")).apply_range(sink.reverse())
            same = source.apply_range(sink.reverse())
            later = later.union(together.intersect(ahead))
            together = together.intersect(same)
        assert pair.relation.is_subset(later.union(together))
        if pair.kind is DependenceKind.FLOW:
            own = made.owners[pair.source].apply_range(made.owners[pair.sink].reverse())
            assert together.is_subset(own)


def test_the_steps_of_lu_are_its_pivots() -> None:
    made = distribute(scop_of("lu"), "i")
    (step,) = made.steps
    assert [str(step[s.name]).split("->")[-1].strip(" {}[]()") for s in made.scop.statements] == ["k", "j", "k"]


def test_values_from_the_mirrored_iteration_take_as_many_steps_as_the_loop() -> None:
    scop = from_c_text("void f(int n, double A[2 * n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) {\n"
                       "A[i] = A[i] + 1.0; A[n + i] = A[n - 1 - i] * A[i]; }\n#pragma endscop\n}\n")
    (step,) = find_steps(analyse(scop), coordinates(scop, "i"))
    for name, aff in step.items():
        steps = isl.Map.from_aff(aff).intersect_domain(scop.statement(name).domain).range()
        assert steps.is_equal(isl.Set("[n] -> { [s] : 0 <= s < n }"))


def test_a_refusal_names_the_value_and_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polysched.distribute.steps._best_step", lambda problem, parts: None)
    with pytest.raises(IllegalScheduleError, match="the value of A that S0 passes to S0 on another rank") as refused:
        distribute(scop_of("seidel"), "i")
    assert "S0[" in str(refused.value)
    assert set(PROGRAMS) >= set(LOOPS)
