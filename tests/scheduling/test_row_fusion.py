"""Nests that share more than the cache holds run row by row; nests that would lose by it do not."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.scheduling import SchedulerOptions
from polysched.scheduling.loop_tree import Band, Leaf, Node, Sequence, children, from_isl
from polysched.scheduling.pluto_scheduler import pluto
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
