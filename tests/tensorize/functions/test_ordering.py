"""Calls run where every conflict keeps its order: before, behind, or not at all."""

from __future__ import annotations

import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.functions.function_match import FunctionMatch, match_function
from polysched.tensorize.functions.ordering import Place, place
from tests.tensorize.functions.replaced import region

SUM = LibraryFunction(name="my_sum", variants=(Variant(
    "void my_sum(int n, float *y, const float *x) { for (int i = 0; i < n; i++) y[i] = y[i] + x[i]; }"),))
HEAD = "float A[8], float B[8], float C[8], float D[8]"
LOOP = "for (int i = 0; i < 8; i++) "


def matched(body: str) -> FunctionMatch:
    dependences = analysed(from_c_text(region(HEAD, body)), for_instructions=True).dependences
    found = match_function(dependences, SUM)
    assert found.matches, found.reasons
    return next(m for m in found.matches if m.outputs == ("C",))


@pytest.mark.parametrize(("body", "before", "behind"), [
    (LOOP + "C[i] = C[i] + A[i];", (), ()),
    (LOOP + "D[i] = B[i] * 2; " + LOOP + "C[i] = C[i] + A[i]; " + LOOP + "B[i] = C[i] * 3;", ("S0",), ("S2",)),
    (LOOP + "{ D[i] = B[i] * 2; C[i] = C[i] + A[i]; B[i] = C[i] * 3; }", ("S0",), ("S2",))])
def test_statements_of_a_shared_loop_run_before_and_behind(body: str, before: tuple[str, ...],
                                                           behind: tuple[str, ...]) -> None:
    assert place(matched(body)) == Place(before=before, behind=behind)


@pytest.mark.parametrize(("body", "array"), [
    (LOOP + "{ C[i] = C[i] + A[i]; A[7 - i] = C[i] * 3; }", "A"),
    (LOOP + "{ D[i] = C[7 - i] * 2; C[i] = C[i] + A[i]; }", "C")])
def test_a_conflict_between_iterations_ties_them(body: str, array: str) -> None:
    found = place(matched(body))
    assert isinstance(found, str)
    assert "has to stay behind" in found
    assert found.endswith(f"both access {array}")
