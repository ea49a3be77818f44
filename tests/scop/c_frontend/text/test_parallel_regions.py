"""Places inside the parallel constructs of a file, and functions called there."""

from __future__ import annotations

import pytest

from polysched.scop.c_frontend.text.parallel_regions import is_called_in_parallel, is_inside_parallel

TEAMS = """
static void deep(void) { }
static void helper(int i) { deep(); if (i) return; }
static void other(void) { for (int i = 0; i < 3; i++) helper(i); }
static void alone(void) { /* #pragma omp parallel */ }
int main(void) {
  alone();
#pragma omp parallel
  {
    INSIDE; other();
  }
#pragma omp simd
  for (int i = 0; i < 9; i++) { LANES; }
#pragma omp parallel for \\
    schedule(static)
  for (int i = 0; i < 9; i++)
    ROWS;
  BEHIND;
}
"""


@pytest.mark.parametrize(("word", "inside"), [
    ("INSIDE", True), ("LANES", False), ("ROWS", True), ("BEHIND", False), ("alone();", False)])
def test_places_inside_parallel_constructs(word: str, inside: bool) -> None:
    assert is_inside_parallel(TEAMS, TEAMS.index(word)) is inside


@pytest.mark.parametrize(("function", "called"), [
    ("other", True), ("helper", True), ("deep", True), ("alone", False), ("main", False)])
def test_functions_that_parallel_constructs_call(function: str, called: bool) -> None:
    assert is_called_in_parallel(TEAMS, function) is called
