"""Random primitives: those that are applied are legal by the dependences, and as many as were asked for."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from polysched.dependence import analyse
from polysched.dependence.legality import check_legal
from polysched.fuzz.hand_steps import TRIES_PER_STEP, random_step, random_steps
from polysched.scheduling import ALGORITHMS
from polysched.scheduling.primitives import loops
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.steps import loop_tree
from polysched.scop import from_c_text

TEXT = """
void f(int n, unsigned A[n][n], unsigned B[n])
{
#pragma scop
    for (int i = 1; i < n; i++) {
        for (int j = 1; j < n; j++)
            A[i][j] += A[i - 1][j] + A[i][j - 1];
        B[i] = A[i][0];
    }
    for (int i = 0; i < n; i++)
        B[i] *= 3;
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    return ALGORITHMS["original"](analyse(from_c_text(TEXT)))


def test_what_is_applied_is_legal(schedule: Schedule) -> None:
    for seed in range(12):
        found = random_steps(schedule, seed=seed, count=2)
        assert len(found.steps) <= 2
        check_legal(found.dependences, found.tree)


def test_nothing_is_applied_where_nothing_was_asked_for(schedule: Schedule) -> None:
    assert random_steps(schedule, seed=1, count=0) is schedule


def test_a_program_without_loops_stays() -> None:
    scop = from_c_text("void f(int A[1]) {\n#pragma scop\nA[0] = 1;\n#pragma endscop\n}\n")
    own = ALGORITHMS["original"](analyse(scop))
    assert random_steps(own, seed=3, count=4) is own


def test_every_primitive_is_tried_at_every_loop(schedule: Schedule) -> None:
    around = loops(loop_tree(schedule.tree))
    source = random.Random(5)
    drawn = Counter(type(random_step(schedule.scop, around, source)).__name__ for _ in range(800))
    assert len(drawn) == 19
    assert min(drawn.values()) > 15
    assert TRIES_PER_STEP > 1
