"""The dynamic check of the order: what it accepts, and every way in which it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polysched.errors import IllegalScheduleError
from polysched.measure.programs.execution_order import (
    BEGIN,
    END,
    ITERATION,
    Conflict,
    check_expected,
    check_order,
    conflicts,
    execution_of,
    expected_order,
)
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

STENCIL = """
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        A[i] = A[i - 1] + B[i];
#pragma endscop
}
"""
SIZES = {"n": 4}


@pytest.fixture(scope="module")
def stencil() -> Scop:
    return from_c_text(STENCIL)


def report(instances: list[int]) -> list[int]:
    return [number for i in instances for number in (0, 1, i)]


def test_conflicts_are_the_direct_ones(stencil: Scop) -> None:
    first, second, third = (("S0", (i,)) for i in (1, 2, 3))
    assert conflicts(stencil, SIZES) == {Conflict(first, second, ("A", (1,))), Conflict(second, third, ("A", (2,)))}


def test_a_may_write_does_not_hide_the_write_before_it() -> None:
    scop = from_c_text("""
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        A[0] = 1.0;
        if (B[i] > 0.0)
            A[0] = 2.0;
        B[i] = A[0];
    }
#pragma endscop
}
""")
    names = {(c.earlier[0], c.later[0]) for c in conflicts(scop, {"n": 1}) if c.element[0] == "A"}
    assert names == {("S0", "S1"), ("S0", "S2"), ("S1", "S2")}


def test_the_original_order_is_right(stencil: Scop) -> None:
    check_order(stencil, SIZES, execution_of(report([1, 2, 3]), ["S0"]))


def test_independent_iterations_of_a_parallel_loop_are_right() -> None:
    scop = from_c_text(STENCIL.replace("A[i - 1]", "2 *"))
    records = [BEGIN, 1, 1]
    for i in (3, 1, 2):
        records += [ITERATION, 1, 1, 0, 1, i]
    check_order(scop, SIZES, execution_of([*records, END, 1, 1], ["S0"]))


def unordered(kind: int) -> list[int]:
    records = [BEGIN, 1, kind]
    for i in (1, 2, 3):
        records += [ITERATION, 1, kind, 0, 1, i]
    return [*records, END, 1, kind]


@pytest.mark.parametrize(("records", "problem", "witness"), [
    (report([1, 3]), "leaves an instance out", r"S0\[2\]"),
    (report([1, 2, 2, 3]), "runs an instance too often", r"S0\[2\]"),
    (report([1, 2, 3, 4]), "or one that does not exist", r"S0\[4\]"),
    (report([2, 1, 3]), "runs two dependent instances in the wrong order", r"S0\[1\] before S0\[2\], for A\[1\]"),
    (unordered(1), "in different iterations of a parallel loop", r"S0\[1\] before S0\[2\], for A\[1\]"),
    (unordered(2), "in different iterations of a simd loop", r"S0\[1\] before S0\[2\], for A\[1\]"),
])
def test_refusals(stencil: Scop, records: list[int], problem: str, witness: str) -> None:
    with pytest.raises(IllegalScheduleError, match=rf"the emitted code of f .*{problem}.*\n  witness: {witness} "
                                                   r"\(with n=4\)\n  hint: this is a fault of polysched"):
        check_order(stencil, SIZES, execution_of(records, ["S0"]))


def test_a_loop_that_is_parallel_and_simd_reports_twice(stencil: Scop) -> None:
    records = [BEGIN, 1, 1, BEGIN, 1, 2]
    for i in (1, 2):
        records += [ITERATION, 1, 1, ITERATION, 1, 2, 0, 1, i]
    execution = execution_of([*records, END, 1, 2, END, 1, 1, 0, 1, 3], ["S0"])
    assert execution.paths == (((0, 1), (1, 1)), ((0, 2), (1, 2)), ())
    with pytest.raises(IllegalScheduleError, match="different iterations of a parallel loop"):
        check_order(stencil, SIZES, execution)


@pytest.fixture
def two_loops() -> Callable[[list[int]], None]:
    scop = from_c_text(STENCIL)
    return lambda records: check_order(scop, SIZES, execution_of(records, ["S0"]))


def test_two_executions_of_one_loop_are_ordered(two_loops: Callable[[list[int]], None]) -> None:
    records = []
    for i in (1, 2, 3):
        records += [BEGIN, 1, 1, ITERATION, 1, 1, 0, 1, i, END, 1, 1]
    two_loops(records)


SUM = """
void f(int n, unsigned s[1], unsigned B[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        s[0] += B[i];
#pragma endscop
}
"""


def test_updates_of_a_relaxed_reduction_may_run_in_any_order_but_not_at_the_same_time() -> None:
    scop = from_c_text(SUM)
    backwards = execution_of(report([3, 2, 1, 0]), ["S0"])
    check_expected(expected_order(scop, SIZES, relaxed=["S0"]), backwards)
    with pytest.raises(IllegalScheduleError, match="in the wrong order"):
        check_expected(expected_order(scop, SIZES), backwards)
    parallel = [BEGIN, 1, 1, *(n for i in (3, 2, 1, 0) for n in (ITERATION, 1, 1, 0, 1, i)), END, 1, 1]
    with pytest.raises(IllegalScheduleError, match="different iterations of a parallel loop"):
        check_expected(expected_order(scop, SIZES, relaxed=["S0"]), execution_of(parallel, ["S0"]))


def test_partial_results_may_only_be_those_of_a_reduction() -> None:
    def in_parts(position: int) -> list[int]:
        return [BEGIN, 1, 3, *(n for k in range(3) for n in (ITERATION, 1, 3, position, 1, k)), END, 1, 3]

    summing = from_c_text("void f(int n, int a[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[0] += i;\n"
                          "#pragma endscop\n}\n")
    check_expected(expected_order(summing, {"n": 3}), execution_of(in_parts(0), ["S0"]))
    chain = from_c_text("void f(int n, int a[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[0] = i - a[0];\n"
                        "#pragma endscop\n}\n")
    with pytest.raises(IllegalScheduleError, match="different iterations of a partly reduced loop"):
        check_expected(expected_order(chain, {"n": 3}), execution_of(in_parts(0), ["S0"]))
