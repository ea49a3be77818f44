"""A match counts what it computes, says what it takes for granted, and refuses padding that would count."""

from __future__ import annotations

import json

import pytest

from polysched.tensorize import Intrinsic, find_intrinsic
from polysched.tensorize.matching.mapping import Match
from tests.tensorize.described import matched, programs_of, unit

HEAD = "int32_t Y[4], const int16_t X[4][2], const int16_t W[4][2]"
DOT = unit("dot", HEAD, "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] += X[i][k] * W[i][k];")
ABOVE = unit("above", HEAD, "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] += X[i][k] >= W[i][k];")
FLOATS = unit("floats", "float Y[4], const float X[4]", "for (int i = 0; i < 4; i++) Y[i] += X[i];")
LOOPS = "for (int i = 0; i < {}; i++) for (int k = 0; k < {}; k++) "
TEXTS: dict[str, tuple[str, str, Intrinsic]] = {
    "even": ("int C[8], short A[8][6], short B[8][6]", LOOPS.format(8, 6) + "C[i] += A[i][k] * B[i][k];", DOT),
    "odd": ("int C[7], short A[7][5], short B[7][5]", LOOPS.format(7, 5) + "C[i] += A[i][k] * B[i][k];", DOT),
    "above": ("int C[7], short A[7][6], short B[7][6]", LOOPS.format(7, 6) + "C[i] += A[i][k] >= B[i][k];", ABOVE),
    "above, odd": ("int C[8], short A[8][5], short B[8][5]", LOOPS.format(8, 5) + "C[i] += A[i][k] >= B[i][k];", ABOVE),
    "kept": ("int C[3][4], short A[4][2], short B[4][2]",
             "for (int t = 0; t < 3; t++) { for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) "
             "C[t][i] += A[i][k] * B[i][k]; A[0][0] = C[t][1]; }", DOT),
    "floats": ("float C[8], float A[3][8]",
               "for (int k = 0; k < 3; k++) for (int i = 0; i < 8; i++) C[i] += A[k][i];", FLOATS)}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Match, ...]]:
    scops = programs_of({n: (a, b) for n, (a, b, _) in TEXTS.items()}, tmp_path_factory.mktemp("mapping"))
    return {n: matched(s, TEXTS[n][2]).matches for n, s in scops.items()}


def by_loops(matches: tuple[Match, ...], *loops: str) -> Match:
    """The match with these loops inside, one string per group."""
    return next(m for m in matches if tuple("".join(x) for x in m.loops) == loops)


def test_executions_cover_the_padding(found: dict[str, tuple[Match, ...]]) -> None:
    even, odd = by_loops(found["even"], "i", "k"), by_loops(found["odd"], "i", "k")
    assert (even.executions, even.utilisation) == (2 * 3, 1.0)
    assert odd.executions == 2 * 3
    assert odd.utilisation == 35 / (6 * 8)
    assert even.outer == odd.outer == ()
    assert [odd.extent(g) for g in range(2)] == [4, 2]
    assert [odd.fused_extent(g) for g in range(2)] == [7, 5]


def test_a_match_costs_at_least_its_executions(found: dict[str, tuple[Match, ...]]) -> None:
    for matches in found.values():
        for match in matches:
            least = match.executions * match.intrinsic.cost.issue_cycles * match.fragment.times
            assert match.cost_cycles >= least
        costs = [m.cost_cycles for m in matches]
        assert costs == sorted(costs), "the cheapest comes first"


def test_padding_of_a_sum_counts_where_zeros_add_something(found: dict[str, tuple[Match, ...]]) -> None:
    assert all(m.counts_padding() == "" for m in (*found["even"], *found["odd"]))
    whole = by_loops(found["above"], "i", "k")
    assert whole.counts_padding() == "", "rows that are padding are not stored"
    assert not [m for m in found["above, odd"] if m.loops[1] == ("k",)]


def test_matches_inside_kept_loops_count_all_their_iterations(found: dict[str, tuple[Match, ...]]) -> None:
    match = by_loops(found["kept"], "i", "k")
    assert match.fragment.kept == ("t",)
    assert match.executions == 1
    assert match.to_json()["executions"] == 3
    assert str(match).endswith("; in every iteration of t")


def test_what_is_taken_for_granted_of_floats_is_listed(found: dict[str, tuple[Match, ...]]) -> None:
    assert all(m.assumptions == () for m in found["even"])
    for match in found["floats"]:
        assert not match.adds_at_the_end
        assert not match.starts_anew
        assert match.written == {"Y"}


def test_a_match_is_plain_values_and_words(found: dict[str, tuple[Match, ...]]) -> None:
    for matches in found.values():
        assert len({m.signature for m in matches}) == len(matches)
        for match in matches:
            values = json.loads(json.dumps(match.to_json()))
            assert set(values["mapping"]) == {g.name for g in match.groups}
            assert values["utilisation"] <= 1
            assert values["layouts"].keys() == match.contents.keys()
            assert str(match).startswith(match.fragment.statement.name)
    assert str(by_loops(found["even"], "i", "k")) == "S0: i <- i, k <- k; X = A[i][k], W = B[i][k]"


def test_a_function_takes_what_it_can_address(tmp_path_factory: pytest.TempPathFactory) -> None:
    texts = {n: (f"double C[4][5], double A[8][{columns}], double B[6][5]",
                 "for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) for (int k = 0; k < 6; k++) "
                 f"C[i][j] += A[{subscripts}] * B[k][j];")
             for n, columns, subscripts in (("rows", 6, "i][k"), ("columns", 9, "k][2 * i"), ("steps", 12, "i][2 * k"))}
    for name, scop in programs_of(texts, tmp_path_factory.mktemp("function")).items():
        made = matched(scop, find_intrinsic("cblas_dgemm"))
        if name == "rows":
            assert made.matches[0].cannot_be_called() == ""
            assert made.matches[0].executions == 1
        else:
            assert made.count == 0, name
