"""Every scheduler on small programs whose best schedules are known from the literature."""

import re
from dataclasses import replace

import islpy as isl
import pytest

from polysched.dependence import analyse, violation
from polysched.errors import UsageError
from polysched.scheduling import ALGORITHMS, SchedulerOptions, pluto
from polysched.scheduling.solving import problem
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from tests.scop_builder import build_scop


def product() -> Scop:
    return build_scop(
        [("S0", "{ S0[i, j] : 0 <= i, j < N }", [], ["{ S0[i, j] -> C[i, j] }"]),
         ("S1", "{ S1[i, j, k] : 0 <= i, j, k < N }",
          ["{ S1[i, j, k] -> C[i, j] }", "{ S1[i, j, k] -> A[i, k] }", "{ S1[i, j, k] -> B[k, j] }"],
          ["{ S1[i, j, k] -> C[i, j] }"])],
        "{ S0[i, j] -> [i, j, 0, 0]; S1[i, j, k] -> [i, j, 1, k] }", context="{ : N > 0 }")


def jacobi() -> Scop:
    return build_scop(
        [("S0", "{ S0[t, i] : 0 <= t < T and 1 <= i < N - 1 }", ["{ S0[t, i] -> A[a] : i - 1 <= a <= i + 1 }"],
          ["{ S0[t, i] -> B[i] }"]),
         ("S1", "{ S1[t, i] : 0 <= t < T and 1 <= i < N - 1 }", ["{ S1[t, i] -> B[a] : i - 1 <= a <= i + 1 }"],
          ["{ S1[t, i] -> A[i] }"])],
        "{ S0[t, i] -> [t, 0, i]; S1[t, i] -> [t, 1, i] }", context="{ : N > 3 and T > 0 }")


def reversal() -> Scop:
    """The second loop reads the first one's result backwards: fusing them needs a reversal and a shift by N."""
    return build_scop(
        [("S0", "{ S0[i] : 0 <= i < N }", ["{ S0[i] -> A[i] }"], ["{ S0[i] -> B[i] }"]),
         ("S1", "{ S1[i] : 0 <= i < N }", ["{ S1[i] -> B[N - 1 - i] }"], ["{ S1[i] -> A[N - 1 - i] }"])],
        "{ S0[i] -> [0, i]; S1[i] -> [1, i] }", context="{ : N > 0 }")


PROGRAMS = {"product": product, "jacobi": jacobi, "reversal": reversal}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("fusion", ["none", "smart", "max", "typed"])
def test_every_schedule_is_legal(program: str, algorithm: str, fusion: str) -> None:
    dependences = analyse(PROGRAMS[program]())
    schedule = ALGORITHMS[algorithm](dependences, options=SchedulerOptions(fusion=fusion))
    assert violation(dependences, schedule.tree) is None
    assert schedule.algorithm == algorithm
    assert schedule.report.total_seconds > 0


def test_product_has_a_deep_band_with_two_parallel_loops() -> None:
    tree = pluto(analyse(product())).tree
    assert tree.plain_is_equal(isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, """
    { domain: "[N] -> { S0[i, j] : 0 <= i < N and 0 <= j < N; S1[i, j, k] : 0 <= i, j, k < N }",
      child: { sequence: [
        { filter: "[N] -> { S0[i, j] }", child: {
            schedule: "[N] -> [{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]",
            permutable: 1, coincident: [1, 1] } },
        { filter: "[N] -> { S1[i, j, k] }", child: {
            schedule: "[N] -> [{ S1[i, j, k] -> [(i)] }, { S1[i, j, k] -> [(j)] }, { S1[i, j, k] -> [(k)] }]",
            permutable: 1, coincident: [1, 1, 0] } } ] } }"""))


def test_jacobi_is_skewed_and_shifted() -> None:
    """The schedule of Bondhugula et al., PLDI 2008, section 3.4: (t, 2t + i) and (t, 2t + i + 1)."""
    band = pluto(analyse(jacobi())).tree.get_root().child(0)
    assert band.band_get_permutable()
    values = band.band_get_partial_schedule_union_map()
    assert values.is_equal(isl.UnionMap("{ S0[t, i] -> [t, 2t + i]; S1[t, i] -> [t, 2t + i + 1] }")
                           .intersect_domain(values.domain()))


def test_maximal_fusion_reverses_where_it_has_to() -> None:
    dependences = analyse(reversal())
    fused = pluto(dependences, options=SchedulerOptions(fusion="max"))
    band = fused.tree.get_root().child(0)
    values = band.band_get_partial_schedule_union_map()
    assert values.is_equal(isl.UnionMap("[N] -> { S0[i] -> [i + 1]; S1[i] -> [N - i] }")
                           .intersect_domain(values.domain()))
    assert band.band_member_get_coincident(0)
    assert any("negative coefficients" in rung for rung in fused.report.rungs)


def test_options_are_checked() -> None:
    with pytest.raises(UsageError, match="no fusion policy 'mini'"):
        SchedulerOptions(fusion="mini")
    with pytest.raises(UsageError, match="input dependences"):
        pluto(analyse(product()), options=SchedulerOptions(input_dependences=True))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_without_isl_operations_the_order_as_written_is_kept(algorithm: str) -> None:
    dependences = analyse(jacobi())
    schedule = ALGORITHMS[algorithm](dependences, options=SchedulerOptions(isl_operations=10))
    assert violation(dependences, schedule.tree) is None
    assert any("as written" in rung and "10 isl operations or 30 s" in rung for rung in schedule.report.rungs)


def test_without_solver_time_the_ladder_ends_as_written() -> None:
    dependences = analyse(jacobi())
    schedule = pluto(dependences, options=SchedulerOptions(solver_seconds=1e-12))
    assert violation(dependences, schedule.tree) is None
    assert schedule.report.rungs[0] == "non-negative coefficients ran out of 1e-12 solver seconds"
    assert schedule.report.rungs[-1].startswith("as written for S0, S1")


def test_one_limit_holds_for_all_integer_programs_of_a_schedule() -> None:
    dependences = analyse(jacobi())
    free = pluto(dependences)
    assert free.report.rungs == ()
    assert free.report.solves > 1
    schedule = pluto(dependences, options=SchedulerOptions(all_solver_seconds=1e-12))
    assert violation(dependences, schedule.tree) is None
    assert "ran out of 1e-12 solver seconds for all programs of the schedule" in schedule.report.rungs[0]


def test_a_report_says_what_the_analysis_left_out() -> None:
    schedule = pluto(analyse(jacobi(), isl_operations=10))
    assert re.match("flow dependences of `.*` by memory", schedule.report.rungs[0])


def test_isl_giving_up_is_a_rung() -> None:
    """isl's scheduler ends with the error `unable to carry dependences` on this program."""
    dependences = analyse(from_c_text("""
        void f(int n, unsigned A[2 * n + 3][2 * n + 2], unsigned B[n + 8][8], unsigned C[7], unsigned s_out[1]) {
        unsigned s = s_out[0];
        #pragma scop
        for (int i = 0; i <= n - 3; i += 3)
            A[2 * i][2 * i] -= 5u * A[i][i] + 3u * C[3];
        for (int i = 0; i <= 3; i++)
            B[-i + n + 3][i] += 3u * B[i + 2][2 * i + 1] + C[i + 2];
        for (int i = 0; i <= 3; i++) {
            s = 3u * s + B[i + 4][i + 1] + 5u * A[2][1];
            B[i + 2][i + 3] = 5u * C[2 * i] + 3u * s;
            B[-i + n + 3][i + 1] = 5u * s;
        }
        for (int i = 0; i <= n - 3; i++)
            s = 1 + 3u * A[2 * i + 1][i + 1];
        #pragma endscop
        s_out[0] = s;
        }"""))
    schedule = ALGORITHMS["isl"](dependences)
    assert violation(dependences, schedule.tree) is None
    assert schedule.report.rungs[0].startswith("as written: isl's scheduler gave up")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_program_without_statements_has_an_empty_schedule(algorithm: str) -> None:
    nothing = isl.UnionSet("{ }")
    empty = replace(jacobi(), statements=(), arrays=(), schedule=isl.Schedule.from_domain(nothing))
    assert ALGORITHMS[algorithm](analyse(empty)).tree.get_domain().is_empty()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_scheduler_calls_a_relaxed_reduction_parallel(algorithm: str) -> None:
    total = from_c_text("""
        void f(int n, double A[n][n], double s[1]) {
        #pragma scop
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                s[0] += A[i][j];
        #pragma endscop
        }""")
    tree = ALGORITHMS[algorithm](analyse(total, reductions="reassociate")).tree
    band = tree.get_root().child(0)
    assert not any(band.band_member_get_coincident(m) for m in range(band.band_n_member()))


@pytest.mark.parametrize("spent", ["operations", "seconds"])
def test_dependences_without_cones_are_replaced_by_supersets_and_reported(
        spent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "CONE_OPERATIONS", 10 if spent == "operations" else 100)
    monkeypatch.setattr(problem, "CONE_SECONDS", 0.0 if spent == "seconds" else 1e9)
    dependences = analyse(product())
    schedule = pluto(dependences)
    assert any(rung.startswith("supersets of ") for rung in schedule.report.rungs)
    assert violation(dependences, schedule.tree) is None
    monkeypatch.undo()
    assert not pluto(analyse(product())).report.rungs


def test_cones_that_have_cost_too_much_time_get_fewer_operations() -> None:
    count = problem.ConeCount()
    before = count.operations
    count.seconds = problem.CONE_SECONDS
    assert count.operations == before // 10
