"""A match holds for all sizes where the program is regular; anything else says what is missing."""

from __future__ import annotations

import pytest

from polysched.dependence.dependences import Dependences
from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.tensorize import Intrinsic, MatchOptions, match
from polysched.tensorize.matching.any_size import GeneralMatch, NotGeneralError, for_all_sizes
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.software.sizes import Size, is_general
from tests.tensorize.described import unit

DOT = unit("dot", "int32_t Y[4], const int16_t X[4][2], const int16_t W[4][2]",
           "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] += X[i][k] * W[i][k];")
ROW = unit("row", "int32_t Y[4], const int16_t X[4], const int16_t W[4]",
           "for (int i = 0; i < 4; i++) Y[i] += X[i] * W[i];")
WINDOW = unit("window", "int32_t Y[4], const int16_t X[5], const int16_t W[2]",
              "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] += X[i + k] * W[k];")
HEAD = "int n, int q, int C[n], short A[n][q], short B[n][q], int s"
ROWS = "for (int i = 0; i < n; i++) "
SUM = "for (int k = 0; k < q; k++) C[i] += A[i][k] * B[i][k];"


def found(head: str, body: str, intrinsic: Intrinsic = DOT, **options: bool) -> tuple[Match, Dependences]:
    """The cheapest match at sample sizes."""
    scop = from_c_text(f"void f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    dependences = analysed(scop, for_instructions=True).dependences
    matches = match(dependences.scop, intrinsic, MatchOptions(**options), dependences=dependences).matches
    assert matches
    return matches[0], dependences


def general(head: str, body: str, unknown: tuple[str, ...] = ("n", "q"), **options: bool) -> GeneralMatch:
    made, dependences = found(head, body, **options)
    return for_all_sizes(made, dependences, unknown)


def test_extents_are_numbers_of_the_running_program() -> None:
    made = general(HEAD, ROWS + SUM)
    assert made.unknown == ("n", "q")
    extents = {loop.name: loop.extent for loop in made.match.fragment.loops}
    assert is_general(extents["i"])
    assert isinstance(extents["k"], Size)
    assert extents["k"].text.endswith("q")
    assert made.match.fragment.is_box
    assert made.match.fragment.reached_always
    assert made.temporaries == {}
    assert [int(e) for e in extents.values()] == [19, 23], "their values are those of the sample"


def test_sizes_that_are_given_stay_numbers() -> None:
    made = general(HEAD, ROWS + SUM, ("q",))
    rows, columns = (loop.extent for loop in made.match.fragment.loops)
    assert not is_general(rows)
    assert is_general(columns)


@pytest.mark.parametrize("body", [
    ROWS + SUM, ROWS + "for (int k = 0; k < q - 1; k++) C[i] += A[i][k + 1] * B[n - 1 - i][k];",
    "s = 3; " + ROWS + SUM, ROWS + "C[i] = 1; " + ROWS + SUM, ROWS + SUM + ROWS + "s += C[i];",
    "for (int i = 2; i < n; i++) " + SUM])
def test_regular_programs_hold_for_all_sizes(body: str) -> None:
    assert general(HEAD, body).match.counts_padding() == ""


@pytest.mark.parametrize(("body", "why"), [
    (ROWS + SUM.replace("k < q", "2 * k < q"), ""),
    (ROWS + SUM.replace("k < q", "k < q && k <= i"), ""),
    (ROWS + SUM.replace("k < q", "k < q && k < 40 && k < 2 * n"), ""),
    (ROWS + SUM.replace("k < q", "k < q && k < 40 && k < 2 * n && k < 3 * n - 5 && k < 2 * q - 3 && k < n + 30"),
     "its iterations are a box at some sizes only"),
    (ROWS + SUM.replace("A[i]", "A[n / 2]"), ""),
    (ROWS + SUM.replace("B[i][k]", "B[(i * 3 + k) / 2 % 5][k]"), "subscripts of B"),
    (ROWS + "{ " + SUM + " s += C[i]; A[(i + 1) % n][0] = s; }", "loops stay around the instruction"),
    (ROWS + SUM + " s = C[0]; " + ROWS + "C[i] += C[0];", "")])
def test_what_holds_for_the_sample_only_is_refused_in_words(body: str, why: str) -> None:
    made, dependences = found(HEAD, body)
    if not why:
        assert for_all_sizes(made, dependences, ("n", "q")).match is not made
        return
    with pytest.raises(NotGeneralError, match=why):
        for_all_sizes(made, dependences, ("n", "q"))


def test_windows_and_partial_sums_need_no_sizes() -> None:
    head = "int n, int C[n], short A[n + 1], short B[2]"
    made, dependences = found(head, "for (int i = 0; i < n; i++) for (int k = 0; k < 2; k++) C[i] += A[i + k] * B[k];",
                              WINDOW)
    assert for_all_sizes(made, dependences, ("n",)).unknown == ("n",)
    one, pairs = found("int q, int C[1], short A[q], short B[q]",
                       "for (int k = 0; k < q; k++) C[0] += A[k] * B[k];", ROW, partial_sums=True)
    assert one.adds_at_the_end
    assert for_all_sizes(one, pairs, ("q",)).unknown == ("q",)


def test_operands_of_iterators_have_their_types_or_bounds() -> None:
    head = "int n, int C[n], short A[n][40], short B[n][40]"
    for value, bounded in (("(k & 7)", False), ("(short)(B[i][k] + n)", False), ("k", False), ("i", True)):
        made, dependences = found(head, ROWS + f"for (int k = 0; k < 40; k++) C[i] += A[i][k] * {value};")
        conditions = for_all_sizes(made, dependences, ("n",)).conditions.texts
        assert any("<= 18" in text for text in conditions) is bounded   # the sample has 19 rows
    made, dependences = found(head, ROWS + "for (int k = 0; k < 40; k++) C[i] += A[i][k] * (k + n);")
    with pytest.raises(NotGeneralError, match=r"the values of operand [XW] depend on the sizes"):
        for_all_sizes(made, dependences, ("n",))


def test_a_statement_that_goes_clears_the_same_elements_at_every_size() -> None:
    for first, same in ((ROWS, True), ("for (int i = 0; i < 19 && i < n; i++) ", False)):
        made, dependences = found(HEAD, first + "C[i] = 0; " + ROWS + SUM)
        if same:
            assert for_all_sizes(made, dependences, ("n", "q"), gone=["S0"]).unknown == ("n", "q")
            continue
        with pytest.raises(NotGeneralError, match="S0 clears other elements than S1 adds to, at some sizes"):
            for_all_sizes(made, dependences, ("n", "q"), gone=["S0"])
