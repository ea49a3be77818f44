"""The loops on threads, as they are told, are those that the text has pragmas for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polysched.emit_c.teams import teams
from polysched.pipeline import Optimized, optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from tests.emit_c.nodes import lengths, on_threads, reductions, shape, tiles

KERNELS = Path(__file__).parents[1] / "kernels"
SUM = ("void f(long n, long s[1], long x[n]) {\n#pragma scop\nfor (long i = 0; i < n; i++) s[0] += x[i];\n"
       "#pragma endscop\n}\n")
PRODUCT = """void f(double C[{n}][{n}], double A[{n}][{n}], double B[{n}][{n}]) {{
#pragma scop
for (int i = 0; i < {n}; i++) for (int j = 0; j < {n}; j++) for (int k = 0; k < {n}; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""
SOLUTIONS = {
    "dots": "for (int i = n - 1; i >= 0; i--) for (int j = 0; j < m; j++) { for (int k = i + 1; k < n; k++) "
            "X[i][j] -= U[i][k] * X[k][j]; X[i][j] /= U[i][i]; }",
    "rows": "for (int i = n - 1; i >= 0; i--) { for (int k = i + 1; k < n; k++) for (int j = 0; j < m; j++) "
            "X[i][j] -= U[i][k] * X[k][j]; for (int j = 0; j < m; j++) X[i][j] /= U[i][i]; }",
    "columns": "for (int j = 0; j < m; j++) for (int i = n - 1; i >= 0; i--) { for (int k = i + 1; k < n; k++) "
               "X[i][j] -= U[i][k] * X[k][j]; X[i][j] /= U[i][i]; }",
    "updates": "for (int k = n - 1; k >= 0; k--) { for (int j = 0; j < m; j++) X[k][j] /= U[k][k]; "
               "for (int i = 0; i < k; i++) for (int j = 0; j < m; j++) X[i][j] -= U[i][k] * X[k][j]; }",
}


def solution(order: str) -> str:
    """U X = B for many right-hand sides, B in the place of X."""
    return ("void f(int n, int m, double U[n][n], double X[n][m]) {\n#pragma scop\n"
            f"{SOLUTIONS[order]}\n#pragma endscop\n}}\n")


def pragmas_of(made: Optimized) -> set[str]:
    """Those for loops, without what a branch around them tests instead of a clause."""
    return {re.sub(r"( simd| if\(.*)", "", line.strip().removeprefix("#pragma omp ")) for line in made.text.splitlines()
            if "#pragma omp parallel for" in line}


@pytest.mark.parametrize("kernel", ["gemm", "mvt", "gramschmidt", "jacobi_1d", "trisolv", "correlation"])
def test_what_is_told_is_what_the_text_has(kernel: str) -> None:
    made = optimize(KERNELS / f"{kernel}.c")
    told = {re.sub(r"( simd| if\(.*)", "", team.pragma) for team in teams(made.source)}
    assert bool(told) == ("#pragma omp parallel" in made.text)
    assert {pragma for pragma in told if pragma.startswith("parallel")} <= pragmas_of(made)
    assert not teams(made.source, threads=False)


@pytest.mark.parametrize("order", list(SOLUTIONS))
def test_right_hand_sides_beside_each_other_run_on_threads(order: str) -> None:
    """Columns depend on nothing of each other, in whatever order the loops come, and rows stay in vectors."""
    made = optimize(from_c_text(solution(order)), PipelineOptions(vector_bits=512))
    (team,) = teams(made.source)
    assert team.variable == "j_tile"
    assert [loop.variable for loop in on_threads(made.source.loops)] == ["j_tile"]
    assert f"#pragma omp {team.pragma.partition(' if(')[0]}" in made.text
    assert 8 in lengths(made.source.loops)
    assert any("parallel" in step for step in made.steps())


def test_a_sum_in_parts_is_told() -> None:
    made = optimize(from_c_text(SUM))
    (team,) = teams(made.source)
    assert len(reductions(made.source.loops)) == 1
    assert "a part of the reduction per thread" in team.pragma
    assert "band 0: tiles off, in parts on threads" in made.steps()


def test_a_loop_with_too_little_to_do_is_not_said_to_run_on_threads() -> None:
    made = optimize(from_c_text(PRODUCT.format(n=24)), PipelineOptions(tile=32))
    assert "#pragma omp" not in made.text
    assert not teams(made.source)
    assert "band 0: tiles 32x32x32, on one thread" in made.steps()
    alone = optimize(from_c_text(PRODUCT.format(n=240)), PipelineOptions(tile=32, parallel=False))
    assert "band 0: tiles 32x32x32" in alone.steps()
    several = optimize(from_c_text(PRODUCT.format(n=240)), PipelineOptions(tile=32))
    assert "band 0: tiles 32x32x32, member 0 parallel" in several.steps()


def test_rows_that_become_the_lanes_of_one_vector_start_no_team() -> None:
    made = optimize(from_c_text(
        "void f(int m, double s[8], double A[8][m]) {\n#pragma scop\nfor (int i = 0; i < 8; i++) "
        "for (int k = 0; k < m; k++) s[i] += A[i][k];\n#pragma endscop\n}\n"), PipelineOptions(vector_bits=512))
    assert {shape(tile)[0] for tile in tiles(made.source.loops)} == {8}
    assert "#pragma omp parallel" not in made.text
    assert not teams(made.source)
