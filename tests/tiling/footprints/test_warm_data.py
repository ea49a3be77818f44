"""Nests that run in turn in one loop find in the caches what the one before them touched."""

import pytest

from polysched.dependence import analyse
from polysched.scheduling import steps
from polysched.scheduling.primitives import Distribute
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_text
from polysched.target.target import Target
from polysched.tiling.planning.predict import Prediction, predict

TARGET = Target(vector_bits=256, vector_registers=16)

TWO_PRODUCTS = """
void f(int m, int n, double A[m][n], double x[n], double y[n], double r[m]) {
#pragma scop
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++)
            r[i] += A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] += A[%s][j] * r[i];
    }
#pragma endscop
}
"""


def predicted(*, apart: bool, n: int, row: str = "i") -> Prediction:
    scop = from_c_text(TWO_PRODUCTS % row)
    schedule = Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")
    if apart:
        schedule = steps.apply(schedule, Distribute(loop="i"))
    return predict(schedule.dependences, schedule.tree, target=TARGET, parameters={"m": 1500, "n": n})


def test_the_second_loop_finds_the_row_of_the_first() -> None:
    together, apart = predicted(apart=False, n=1500), predicted(apart=True, n=1500)
    matrix = 8 * 1500 * 1500
    assert apart.nests[1].traffic[-1] > matrix > 10 * together.nests[1].traffic[-1]
    assert together.nests[0].traffic == apart.nests[0].traffic
    assert (together.seconds or 0.0) < 0.9 * (apart.seconds or 0.0)


@pytest.mark.parametrize(("n", "row"), [(100_000_000, "i"), (1500, "m - 1 - i")])
def test_rows_too_long_for_every_cache_and_other_rows_are_loaded_again(n: int, row: str) -> None:
    assert min(predicted(apart=False, n=n, row=row).nests[1].traffic) > 8 * 1500 * n
