"""Nests that share more than the cache holds run row by row; nests that would lose by it do not."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.dependence.expansion import expand_temporaries
from polysched.scheduling import SchedulerOptions
from polysched.scheduling.pluto_scheduler import pluto
from polysched.scheduling.tree.loop_tree import Band, Leaf, Node, Sequence, children, from_isl
from polysched.scop import from_c_text

HEAD = ("void f(int n, float A[n][n], float B[n][n], float C[n][n], float D[n][n], float v[n], float w[n]) {\n"
        "#pragma scop\n")


def loops(text: str, *, cache_bytes: int = 1 << 20, fusion: str = "smart") -> int:
    """The number of outermost loops of the schedule."""
    scop = from_c_text(f"{HEAD}{text}\n#pragma endscop\n}}\n")
    tree = from_isl(pluto(analyse(scop), options=SchedulerOptions(fusion=fusion, cache_bytes=cache_bytes)).tree)
    return outermost(tree.root)


def outermost(node: Node) -> int:
    if isinstance(node, Band):
        return 1
    if isinstance(node, Leaf):
        return 0
    return sum(outermost(child) for child in (
        [child for _, child in node.branches] if isinstance(node, Sequence) else children(node)))


NORM = """
for (int i = 0; i < n; i++) v[i] = 0.0f;
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) v[i] += A[i][j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = A[i][j] / v[i];
"""
CHAIN = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < 2; k++) B[i][j] += A[i][j];
for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) C[i][j] = B[i][j] - B[i][j - 1];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < 2; k++) D[i][j] += C[i][j];
"""
RECURRENCE = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < 2; k++) B[i][j] += A[i][j];
for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) B[i][j] += B[i][j - 1];
"""
PRODUCT = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) D[i][j] = C[i][j] + v[j];
"""
DOWN = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = A[i][j];
for (int j = 0; j < n; j++) for (int i = 1; i < n; i++) for (int k = 0; k < 2; k++) B[i][j] += B[i - 1][j];
"""
SHIFTED = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < 2; k++) B[i][j] += A[i][j];
for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = B[i - 1][j] + B[i][j];
"""


@pytest.mark.parametrize("text", [NORM, CHAIN])
def test_rows_are_fused(text: str) -> None:
    assert loops(text) == 1


def test_what_the_cache_holds_stays_apart() -> None:
    assert loops(NORM, cache_bytes=1 << 30) > 1


def test_no_row_is_larger_than_the_cache() -> None:
    assert loops(NORM, cache_bytes=1 << 10) > 1


@pytest.mark.parametrize("text", [PRODUCT, DOWN, SHIFTED, RECURRENCE])
def test_nests_that_would_lose_stay_apart(text: str) -> None:
    assert loops(text) == 2


def test_the_policy_none_fuses_no_rows() -> None:
    assert loops(NORM, fusion="none") == 3


def test_a_group_without_a_predecessor_moves_to_its_successor() -> None:
    """The second sum starts without anything before it, and between nests that are fused."""
    between = NORM.replace("v[i]", "w[i]").replace("A[i][j]", "B[i][j]").replace("B[i][j] = B", "C[i][j] = B")
    assert loops(NORM + between) == 1


def test_no_nest_is_fused_around_another_that_stays() -> None:
    """The last nest reads what the first and the recurrence between them write."""
    between = RECURRENCE + """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = A[i][j] + 2.0f * B[i][j];
"""
    assert loops("for (int i = 0; i < n; i++) v[i] = A[i][0];" + between) >= 2


DEEP_HEAD = ("void f(int n, double a[n][n][n], double out[n][n][n], double w[n], double v[n][n], double s[n][n], "
             "double t[n][n]) {\n#pragma scop\n")
ROW_SUMS = """
for (int o = 0; o < n; o++) for (int i = 0; i < n; i++) {
  double inv = 1.0 / v[o][i];
  s[o][i] = 0.0;
  t[o][i] = 0.0;
  for (int k = 0; k < n; k++) {
    s[o][i] += a[o][i][k];
    t[o][i] += a[o][i][k] * w[k];
  }
  for (int k = 0; k < n; k++) out[o][i][k] = (a[o][i][k] - s[o][i]) * t[o][i] * inv;
}
"""
SYRK = """
for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) v[i][j] = v[i][j] * 2.0;
for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < n; k++) v[i][j] += s[i][k] * s[j][k];
"""


def deep(text: str) -> Node:
    scop = from_c_text(f"{DEEP_HEAD}{text}\n#pragma endscop\n}}\n")
    dependences = expand_temporaries(analyse(scop)).dependences
    return from_isl(pluto(dependences, options=SchedulerOptions()).tree).root


def innermost(node: Node) -> int:
    """The number of loops without loops below."""
    below = sum(innermost(child) for child in (
        [child for _, child in node.branches] if isinstance(node, Sequence) else children(node)))
    return below or int(isinstance(node, Band))


def test_two_loops_are_shared_where_an_iteration_of_one_is_too_much_for_the_cache() -> None:
    """Values of the depth of the shared loops come to the loops that read them; the two sums are one loop there."""
    tree = deep(ROW_SUMS)
    assert outermost(tree) == 1
    assert innermost(tree) == 2


def test_sums_that_read_different_elements_stay_apart() -> None:
    assert innermost(deep(ROW_SUMS.replace("a[o][i][k] * w[k]", "out[o][i][k] * w[k]"))) == 3


def test_a_matrix_that_every_iteration_of_a_shared_loop_uses_again_is_left_to_tiles() -> None:
    assert outermost(deep(SYRK)) == 2
