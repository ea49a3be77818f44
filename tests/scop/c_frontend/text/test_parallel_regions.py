"""Places inside the parallel constructs of a file, and functions called there."""

from __future__ import annotations

import pytest

from polysched.scop.c_frontend.text import parallel_regions
from polysched.scop.c_frontend.text.parallel_regions import is_called_in_parallel, is_inside_parallel
from polysched.scop.c_frontend.text.text_scan import Scanner

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


class CountedTokens(list):
    """Tokens that count how often all of them are gone through."""

    passes = 0

    def __iter__(self):
        CountedTokens.passes += 1
        return super().__iter__()


@pytest.mark.parametrize("count", [3, 60])
def test_functions_are_read_once_each_however_many_call_each_other(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(text: str) -> Scanner:
        scanner = Scanner(text)
        scanner.tokens = CountedTokens(scanner.tokens)
        return scanner
    monkeypatch.setattr(parallel_regions, "Scanner", counted)
    text = "\n".join([*(f"void f{k}(void) {{ f{k + 1}(); }}" for k in range(count)), "void g(void) {",
                      *("#pragma omp parallel\n{" for _ in range(count)), "f0();", "}" * count, "}"])
    CountedTokens.passes = 0
    assert is_called_in_parallel(text, f"f{count}")
    assert not is_called_in_parallel(text, "g")
    assert CountedTokens.passes <= 3


@pytest.mark.parametrize("indent", ["", "  ", "\t"])
def test_a_loop_of_its_own_team_is_not_inside_of_it(indent: str) -> None:
    """The pragma belongs to the loop's region; indented ones lost their threads."""
    text = (f"void f(int n, double *x) {{\n{indent}#pragma omp parallel for\n"
            f"{indent}for (int i = 0; i < n; i++) x[i] = 0;\n}}\n")
    assert not is_inside_parallel(text, text.index("#"))
    assert is_inside_parallel(text, text.index("for (int"))
