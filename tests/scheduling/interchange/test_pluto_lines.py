"""Pluto's lines, read and written."""

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.scheduling.interchange.pluto_lines import has_lines, read_lines, write_lines
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from tests.scop_builder import build_scop


@pytest.fixture(scope="module")
def scop() -> Scop:
    return build_scop(
        [("S0", "{ S0[t, i] : 0 <= t, i < N }", [], ["{ S0[t, i] -> A[t, i] }"]),
         ("S1", "{ S1[t, i] : 0 <= t, i < N }", ["{ S1[t, i] -> A[t, i] }"], ["{ S1[t, i] -> B[t, i] }"])],
        "{ S0[t, i] -> [t, i, 0]; S1[t, i] -> [t, i, 1] }")


LINES = "T(S1): (t, 2t + i, 0)\nT(S2): (t, 1 + 2t + i, 1)\n"
DATES = "[N] -> { S0[t, i] -> [t, 2t + i, 0]; S1[t, i] -> [t, 2t + i + 1, 1] }"


@pytest.mark.parametrize("text", [
    LINES, LINES.replace("S1", "S0").replace("S2", "S1"),
    "[pluto] compute_deps (isl)\n" + LINES + "loop types (loop, loop, scalar)\n\n",
    "T(S1): (t, 2*t+i, 0)\nT(S2): (t, 2*t+i+1, 1)"])
def test_lines_are_read(scop: Scop, text: str) -> None:
    assert has_lines(text)
    assert read_lines(text, scop).is_equal(isl.UnionMap(DATES))


def test_lines_are_written(scop: Scop) -> None:
    tree = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(
        isl.MultiUnionPwAff.from_union_map(isl.UnionMap(DATES).intersect_domain(scop.domain)))
    assert write_lines(tree, scop) == LINES


def test_tiles_round_trip(scop: Scop) -> None:
    dates = isl.UnionMap("[N] -> { S0[t, i] -> [32 * floor(t / 32), t, i, 0]; "
                         "S1[t, i] -> [32 * floor(t / 32), t, i, 1] }")
    tree = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(
        isl.MultiUnionPwAff.from_union_map(dates.intersect_domain(scop.domain)))
    again = read_lines(write_lines(tree, scop), scop)
    assert again.intersect_domain(scop.domain).is_equal(dates.intersect_domain(scop.domain))


@pytest.mark.parametrize(("text", "message"), [
    (LINES.replace("T(S2)", "T(S3)"), r"not of this program's statements\n  witness: T\(S3\) names none"),
    ("T(S1): (t, i)", "witness: S2 has no line"),
    (LINES.replace("2t", "q"), "`q \\+ i` is no affine function of S1's .*\n  witness: q is neither an iterator nor a"),
    (LINES.replace("2t", "t*t"), r"the row of S1 is not affine\n  witness: \(t, t\*t \+ i, 0\)"),
    (LINES + LINES, r"T\(S1\) has two lines"),
    (LINES + "and so on", "line 3: a line is not of the form"),
    (LINES.replace("2t + i, 0", ""), "`` is no affine function"),
])
def test_refusals(scop: Scop, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_lines(text, scop)


def test_a_row_in_pieces_is_refused(scop: Scop) -> None:
    pieces = isl.UnionMap("[N] -> { S0[t, i] -> [t] : t < 5; S0[t, i] -> [2t] : t >= 5; S1[t, i] -> [t] }")
    tree = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(
        isl.MultiUnionPwAff.from_union_map(pieces.intersect_domain(scop.domain)))
    with pytest.raises(UsageError, match="dimension 0 of S0 is not one affine function"):
        write_lines(tree, scop)


def test_a_row_that_is_whole_where_its_statement_runs() -> None:
    """isl writes half of an even iterator as `(i)/2`."""
    even = from_c_text("void f(int n, double a[n]) {\n#pragma scop\nfor (int i = 0; i < n; i += 2) a[i] = 1;\n"
                       "#pragma endscop\n}")
    dates = isl.UnionMap("[n] -> { S0[i] -> [floor(i / 2)] }").intersect_domain(even.domain)
    tree = isl.Schedule.from_domain(even.domain).insert_partial_schedule(isl.MultiUnionPwAff.from_union_map(dates))
    assert write_lines(tree, even) == "T(S1): (floor((i)/2))\n"
    assert read_lines(write_lines(tree, even), even).intersect_domain(even.domain).is_equal(dates)
