"""Sets of statements that a function may compute: with all that they need, loop by loop around."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.tensorize.functions.groups import calls, groups, least_live
from tests.tensorize.preparing.kept import program

ARRAYS = "float x[8], float y[8], float z[8], float w[8]"
CHAIN = ("for (int i = 0; i < 8; i++) y[i] = expf(x[i]); for (int i = 0; i < 8; i++) z[i] = y[i] + fmaxf(x[i], 0); "
         "for (int i = 0; i < 8; i++) { float t = z[i]; w[i] = t * 2; }")


def dependences(body: str) -> Dependences:
    return analyse(program(ARRAYS, body))


def test_a_statement_stands_with_all_that_it_reads_and_with_its_neighbours() -> None:
    found = list(groups(dependences(CHAIN)))
    assert len(set(found)) == len(found)
    assert found[0] == ("S0", "S1", "S2", "S3"), "the largest first"
    assert [len(g) for g in found] == sorted((len(g) for g in found), reverse=True)
    assert {("S0",), ("S1",), ("S2",), ("S3",), ("S0", "S1"), ("S2", "S3"), ("S1", "S2", "S3")} <= set(found)
    assert ("S0", "S2") not in found
    assert ("S1", "S0") not in found, "textual order"


def test_statements_that_data_choose_are_in_no_set() -> None:
    found = list(groups(dependences("for (int i = 0; i < 8; i++) { y[i] = x[i]; "
                                      "if (x[i] > 0) z[i] = y[i]; w[i] = y[i]; }")))
    assert all("S1" not in names for names in found)
    assert ("S0", "S2") in found


def test_arrays_that_somebody_reads_behind_the_statements() -> None:
    made = dependences(CHAIN)
    assert least_live(made, ["S0"]) == ["y"]
    assert least_live(made, ["S2", "S3"]) == ["w"]
    assert "t" in least_live(made, ["S2"])
    assert least_live(made, ["S0", "S1"]) == ["y", "z"]


def test_functions_that_have_other_spellings_do_not_count() -> None:
    scop = dependences(CHAIN).scop
    assert calls(scop, ["S0", "S1"]) == {"expf"}
    assert calls(scop, ["S1"]) == frozenset()
