"""Statements that read the same in the same iteration, streams a few iterations apart, and those that do not."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.scheduling.fusion.shared_reads import in_one_nest, share_reads, share_streams
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.solving.problem import initial_active, make_problem
from polysched.scheduling.solving.rows import NON_NEGATIVE
from polysched.scheduling.solving.search import Search, find_band
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

HEAD = "void f(int n, double A[restrict n], double B[restrict n], double s[restrict n], double d[restrict n]) {"


def program(first: str, second: str) -> Scop:
    return from_c_text(f"{HEAD}\n#pragma scop\n for (int i = 2; i < n - 2; i++) {{\n  {first};\n  {second};\n }}\n"
                       "#pragma endscop\n}")


def shared(first: str, second: str, most: int = 3) -> tuple[bool, bool]:
    """Whether the two statements share reads, and streams."""
    search = Search(problem=make_problem(analyse(program(first, second))), options=SchedulerOptions(max_shift=most),
                    modes=(NON_NEGATIVE,))
    names, found = ("S0", "S1"), {"S0": (), "S1": ()}
    band = find_band(search, (("S0",), ("S1",)), initial_active(search.problem), found)
    assert band is not None
    assert band.names == names
    return share_reads(search, ("S0",), band, found), share_streams(search, ("S0",), band, found)


@pytest.mark.parametrize(("first", "second", "expected"), [
    ("s[i] = A[i]", "d[i] = A[i] * 2", (True, True)),
    ("s[i] = A[i]", "d[i] = A[i - 2]", (False, True)),   # the stream is near, the iteration another
    ("s[i] = A[i]", "d[i] = B[i]", (False, False)),
    ("s[i] = A[0]", "d[i] = A[0]", (True, False))])      # one element for all iterations is no stream
def test_what_two_statements_share(first: str, second: str, expected: tuple[bool, bool]) -> None:
    assert shared(first, second) == expected


def test_a_stream_further_away_than_loops_are_shifted() -> None:
    assert shared("s[i] = A[i]", "d[i] = A[i - 2]", most=1) == (False, False)


def test_one_nest_has_all_loops_around_both() -> None:
    assert in_one_nest(program("s[i] = A[i]", "d[i] = A[i]"), ("S0", "S1"))
    deeper = program("s[i] = A[i]", "for (int j = 0; j < n; j++) d[i] += A[j]")
    assert not in_one_nest(deeper, ("S0", "S1"))
    assert in_one_nest(deeper, ("S1",))
