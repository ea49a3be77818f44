"""Parts of a program are a function where their equations are, whatever the words; what differs is said in words."""

from __future__ import annotations

import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.functions.function_match import FunctionMatches, match_function, proved_again
from polysched.tensorize.matching.facts import Numerics
from tests.tensorize.functions.replaced import region

NORM = """void my_norm(int n, const float *x, float *y, float e) {
    float s = 0;
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    for (int i = 0; i < n; i++) y[i] = x[i] / (s + e);
}"""
FUNCTION = LibraryFunction(name="my_norm", variants=(Variant(NORM),))
HEAD = "int m, int n, float X[m][n], float Y[m][n], float e, float t[n], float out[m]"
LOOP = "for (int i = 0; i < n; i++) "
SAME: dict[str, tuple[str, int]] = {   # and the loops around a call
    "as described": (f"float s = 0; {LOOP}s += X[0][i] * X[0][i]; {LOOP}Y[0][i] = X[0][i] / (s + e);", 0),
    "every row": (f"for (int r = 0; r < m; r++) {{ float s = 0; {LOOP}s += X[r][i] * X[r][i]; "
                  f"{LOOP}Y[r][i] = X[r][i] / (s + e); }}", 1),
    "through an array": (f"float s = 0; float q[64]; {LOOP}q[i] = X[0][i] * X[0][i]; {LOOP}s += q[i]; "
                         f"{LOOP}Y[0][i] = X[0][i] / (s + e);", 0),
    "backwards where no order counts": (f"float s = 0; {LOOP}s += X[0][i] * X[0][i]; "
                                        "for (int i = n - 1; i >= 0; i--) Y[0][i] = X[0][i] / (s + e);", 0),
    "a shifted loop": (f"float s = 0; for (int i = 3; i < n + 3; i++) s += X[0][i - 3] * X[0][i - 3]; "
                       f"{LOOP}Y[0][i] = X[0][i] / (s + e);", 0)}
OTHER = {
    "another sum": f"float s = 1; {LOOP}s += X[0][i] * X[0][i]; {LOOP}Y[0][i] = X[0][i] / (s + e);",
    "another order": f"float s = 0; for (int i = n - 1; i >= 0; i--) s += X[0][i] * X[0][i]; "
                     f"{LOOP}Y[0][i] = X[0][i] / (s + e);",
    "one element less": f"float s = 0; for (int i = 1; i < n; i++) s += X[0][i] * X[0][i]; "
                        f"{LOOP}Y[0][i] = X[0][i] / (s + e);",
    "another row": f"float s = 0; {LOOP}s += X[1][i] * X[1][i]; {LOOP}Y[0][i] = X[0][i] / (s + e);",
    "the sum of products of two": f"float s = 0; {LOOP}s += X[0][i] * Y[1][i]; {LOOP}Y[0][i] = X[0][i] / (s + e);",
    "the result is read on the way": f"float s = 0; {LOOP}s += X[0][i] * X[0][i]; {LOOP}X[0][i] = X[0][i] / (s + e);",
    "every second element": f"float s = 0; {LOOP}s += X[0][i] * X[0][i]; "
                            "for (int i = 0; i < n; i += 2) Y[0][i] = X[0][i] / (s + e);",
    "the sum lives on": f"out[0] = 0; {LOOP}out[0] += X[0][i] * X[0][i]; {LOOP}Y[0][i] = X[0][i] / (out[0] + e);"}


def found(body: str, function: LibraryFunction = FUNCTION, numerics: Numerics | None = None) -> FunctionMatches:
    dependences = analysed(from_c_text(region(HEAD, body)), for_instructions=True).dependences
    return match_function(dependences, function, numerics)


@pytest.mark.parametrize("name", SAME)
def test_other_words_for_the_same_equations_match(name: str) -> None:
    body, depth = SAME[name]
    (match,) = found(body).matches
    assert match.depth == depth
    assert match.outputs == ("Y",)
    assert proved_again(match)
    assert match.program_writes == {"y"}
    assert found(body).to_json()["matches"][0]["loops_around"] == depth


@pytest.mark.parametrize("name", OTHER)
def test_other_values_do_not_and_the_reason_is_told(name: str) -> None:
    made = found(OTHER[name])
    assert made.count == 0
    assert made.reasons


def test_a_function_that_reorders_needs_leave() -> None:
    function = LibraryFunction(name="my_norm", variants=(Variant(NORM),), reorders=True)
    body = SAME["as described"][0]
    assert found(body, function).count == 1
    made = found(body, function, Numerics(reassociate=False))
    assert made.count == 0
    assert "reorders float additions" in made.reasons[0]


def test_arrays_that_nothing_reads_are_dead() -> None:
    (match,) = found(SAME["through an array"][0]).matches
    assert set(match.dead) <= {"q", "s"}
    assert set(match.statements) == {s.name for s in match.scop.statements}
