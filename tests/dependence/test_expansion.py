"""Which temporaries get copies per iteration, and that the program stays the same."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl
import numpy as np
import pytest

from polysched.dependence import analyse, coalescing, expansion
from polysched.dependence.dependences import Dependence
from polysched.dependence.expansion import expand_temporaries, is_affordable
from polysched.errors import BudgetExceededError
from polysched.scop import from_c_text
from polysched.scop.budget import with_budget
from polysched.scop.interpreter import execute

BLUR = """
void f(int n, double A[restrict n][n], double B[restrict n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      double s = 0;
      for (int p = -1; p <= 1; p++)
        s += A[i + p][j];
      B[i][j] = s / 3;
    }
#pragma endscop
}
"""
SWEEPS = """
void f(int n, double A[restrict n][n], double B[restrict n][n])
{
  double y1, y2;
#pragma scop
  for (int i = 0; i < n; i++) {
    y1 = 0; y2 = 1;
    for (int j = 0; j < n; j++) { B[i][j] = A[i][j] + 0.5 * y1 + 0.25 * y2; y2 = y1; y1 = B[i][j]; }
  }
  for (int j = 0; j < n; j++) {
    y1 = 0;
    for (int i = n - 1; i >= 0; i--) { B[i][j] += 0.5 * y1; y1 = A[i][j]; }
  }
#pragma endscop
}
"""
CASES = {
    "accumulator": (BLUR, {"s": ("i", "j")}),
    "one purpose after the other": (SWEEPS, {"y1_2": ("i",), "y1": ("j",), "y2": ("i",)}),
    "carried from iteration to iteration": ("""
void f(int n, double A[restrict n])
{
#pragma scop
  double s = 0;
  for (int i = 0; i < n; i++) { A[i] = A[i] + s; s = A[i]; }
#pragma endscop
}
""", {}),
    "read after the region": ("""
double f(int n, double A[restrict n])
{
  double s;
#pragma scop
  for (int i = 0; i < n; i++) { s = A[i]; A[i] = s * s; }
#pragma endscop
  return s;
}
""", {"s_copy": ("i",)}),
    "its address is taken": ("""
double f(int n, double A[restrict n])
{
  double s, *p = &s;
#pragma scop
  for (int i = 0; i < n; i++) { s = A[i]; A[i] = s * s; }
#pragma endscop
  return *p;
}
""", {"s_copy": ("i",)}),
    "written under a condition": ("""
void f(int n, double A[restrict n], double B[restrict n])
{
#pragma scop
  double s = 0;
  for (int i = 0; i < n; i++) { if (A[i] > 0) s = A[i]; B[i] = s; }
#pragma endscop
}
""", {}),
    "a row per iteration": ("""
void f(int n, double A[restrict n][n], double B[restrict n][n])
{
#pragma scop
  double t[n];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) t[j] = A[i][j];
    for (int j = 0; j < n; j++) B[i][j] = t[n - 1 - j];
  }
#pragma endscop
}
""", {"t": ("i",)}),
    "counting down": ("""
void f(int n, double A[restrict n], double B[restrict n])
{
#pragma scop
  for (int i = n - 1; i >= 0; i--) { double s = A[i]; B[i] = s * s; }
#pragma endscop
}
""", {"s": ("i",)}),
}


@pytest.mark.parametrize("case", CASES)
def test_expanded_loops(case: str) -> None:
    text, expected = CASES[case]
    expansion = expand_temporaries(analyse(from_c_text(text)))
    assert {a.name: a.loops for a in expansion.arrays} == expected


@pytest.mark.parametrize("case", CASES)
def test_the_expanded_program_computes_the_same(case: str) -> None:
    scop = from_c_text(CASES[case][0])
    expanded = expand_temporaries(analyse(scop)).dependences.scop
    results = []
    for program in (scop, expanded):
        random = np.random.default_rng(7)
        arrays = {a.name: random.random((5,) * len(a.extents)) for a in scop.arrays if a.extents and not a.is_temporary}
        arrays |= {a.name: np.zeros(()) for a in program.arrays if not a.extents and a.storage.value != "local"}
        execute(program, {"n": 5}, arrays)
        results.append({name: value for name, value in arrays.items() if value.ndim})
    for name, value in results[0].items():
        np.testing.assert_array_equal(results[1][name], value)


PRODUCT = """
void f(int n, double A[restrict n][n], double B[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++) s += A[i][k] * A[k][j];
      B[i][j] = s;
    }
#pragma endscop
}
"""
DOOLITTLE = PRODUCT.replace("double s = 0;", "double s = B[i][j];").replace(
    "A[i][k] * A[k][j]", "B[i][k] * B[k][j]").replace("k < n", "k < j && k < i").replace(
        "B[i][j] = s;", "B[i][j] = s / 2;")


@pytest.mark.parametrize(("text", "statements"), [(PRODUCT, ["S0", "S1"]), (DOOLITTLE, ["S1", "S2"])])
def test_an_accumulator_moves_to_its_result(text: str, statements: list[str]) -> None:
    expansion = expand_temporaries(analyse(from_c_text(text)))
    assert expansion.moved == (("s", "B"),)
    assert [s.name for s in expansion.dependences.scop.statements] == statements
    assert all(a.name != "s" for a in expansion.dependences.scop.arrays)


@pytest.mark.parametrize(("old", "new"), [
    ("B[i][j] = s;", "B[i][j] = B[i][j] + s;"),           # the old element is read after the scalar is written
    ("A[i][k] * A[k][j]", "B[j][i] * A[k][j]"),            # this element is read meanwhile too
    ("B[i][j] = s;", "B[i][j] = s; A[i][j] = s;"),         # the scalar is read after its result is written: into A then
    ("B[i][j] = s;", "B[i][i] = s;"),                      # several end in one element, one at a time
    ("double s", "float s"),                               # rounds differently
])
def test_what_the_program_computes_is_kept(old: str, new: str) -> None:
    text = PRODUCT.replace(old, new)
    scop = from_c_text(text)
    expansion = expand_temporaries(analyse(scop))
    if "float" in new or "B[i][j] +" in new or "B[j][i]" in new:
        assert expansion.moved == ()
    results = []
    for program in (scop, expansion.dependences.scop):
        random = np.random.default_rng(3)
        arrays = {name: random.random((6, 6)) for name in "AB"}
        execute(program, {"n": 6}, arrays)
        results.append(arrays)
    for name in "AB":
        np.testing.assert_array_equal(results[0][name], results[1][name])


def test_short_loops_around_an_accumulator_are_written_out() -> None:
    scop = expand_temporaries(analyse(from_c_text(BLUR))).dependences.scop
    assert [s.name for s in scop.statements] == ["S0", "S1_0", "S1_1", "S1_2", "S2"]
    assert {s.depth for s in scop.statements} == {2}


@pytest.mark.parametrize("loop", ["int p = 0; p < n; p++", "int p = 0; p < 40; p++", "int p = 0; p < 3 && p < i; p++"])
def test_other_loops_are_not(loop: str) -> None:
    text = BLUR.replace("int p = -1; p <= 1; p++", loop).replace("A[i + p][j]", "A[i][j] * p")
    assert len(expand_temporaries(analyse(from_c_text(text))).dependences.scop.statements) == 3


def test_the_iterations_are_independent_afterwards() -> None:
    """Every pair on the accumulator stays in one iteration of both loops; before, the outer loop was ordered."""
    def crosses(pairs: Iterable[Dependence]) -> bool:
        return any(not p.relation.is_subset(p.relation.equate(isl.dim_type.in_, 0, isl.dim_type.out, 0))
                   for p in pairs if p.array == "s")

    before = analyse(from_c_text(BLUR))
    assert crosses(before.pairs)
    assert not crosses(expand_temporaries(before).dependences.pairs)


def test_loops_up_to_parameters_are_found_too_long_without_going_through_their_points() -> None:
    scop = from_c_text("""
void f(int n, int m, int P[n], unsigned char Q[n][m], unsigned char R[m][n + 3])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int acc = 0;
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n + 3; k++)
        acc += Q[i][j] * R[j][k];
    P[i] = acc;
  }
#pragma endscop
}
""")
    dependences = analyse(scop)
    expanded = with_budget(2_000_000, lambda: expand_temporaries(dependences))
    assert expanded is not None
    assert [s.name for s in expanded.dependences.scop.statements] == ["S0", "S1"]


def test_one_long_loop_around_an_accumulator_leaves_the_short_ones_alone() -> None:
    """Seventeen statements from each loop of `i` would not bring the sums into registers: the loop of `j` stays."""
    scop = from_c_text("""void f(int n, int h[n][17], int W[17][17]) {
#pragma scop
  for (int t = 0; t < n; t++) {
    int s[17];
    for (int i = 0; i < 17; i++) {
      s[i] = t;
      for (int j = 0; j < 17; j++) s[i] += h[t][j] * W[i][j];
    }
    for (int i = 0; i < 17; i++) h[t][i] = s[i] >> 5;
  }
#pragma endscop
}""")
    assert len(expand_temporaries(analyse(scop)).dependences.scop.statements) == len(scop.statements) == 3


def test_a_rewrite_that_takes_too_long_to_analyse_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    scop = from_c_text(BLUR)
    given = analyse(scop)

    def spent(*_: object, **__: object) -> None:
        raise BudgetExceededError("the flow dependences need more than 3 isl operations")

    monkeypatch.setattr(expansion, "analyse", spent)
    monkeypatch.setattr(coalescing, "analyse", spent)
    assert expansion._coalesced(expansion._written_out(given, frozenset()), frozenset()) == (given, ())


@pytest.mark.parametrize("counter", ["int", "long"])
def test_copies_from_a_types_smallest_value_on_are_too_many(counter: str) -> None:
    scop = from_c_text("""
double g(double);
void f(TYPE s, TYPE e, int *p, double b[restrict e])
{
#pragma polysched pure g
#pragma scop
  for (TYPE x = s; x < e; x++) { double t = g(x); if (t < 1) p[x] = 1; }
#pragma endscop
}
""".replace("TYPE", counter))
    expanded = expand_temporaries(analyse(scop)).dependences.scop
    (copies,) = (a for a in expanded.arrays if a.name == "t")
    assert len(copies.extents) == 1
    assert not is_affordable(expanded, "t")
