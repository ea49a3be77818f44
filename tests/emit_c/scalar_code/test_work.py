"""Iterations of a nest: a number where bounds are, a product in C elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.emit_c.loop_ir.index import ToBoundary as Boundary
from polysched.emit_c.loop_ir.index import constant, of_atom, variable
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.text import linear_text
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.work import (
    constant_work,
    is_worth,
    lengths,
    loops_in_lanes,
    runs_as_much,
    whatever_the_alignment,
    work,
)
from polysched.scop.dtypes import INT32


def loop(*lines: str) -> For:
    made = parse_loops("\n".join(lines))
    assert isinstance(made, For)
    return made


def nest(*heads: str) -> For:
    return loop(*(f"{'    ' * k}for {head}:" for k, head in enumerate(heads)), f"{'    ' * len(heads)}S()")


def index() -> IndexPrinter:
    return IndexPrinter(parameters={"n": (INT32, (1, 1000))}, spellings={"n": CText("n")},
                        macros=HelperMacros(TakenNames(used=frozenset(), visible=frozenset())))


@pytest.mark.parametrize(("heads", "found"), [
    (("i in range(0, 10)",), ["10"]),
    (("i in range(3, n)",), ["n - 3"]),
    (("i in range(0, n)", "j in range(0, i)"), ["n", "n - 1"]),               # a triangle counts in full
    (("i in range(0, n)", "j in range(i, n)"), ["n", "n"]),
    (("i in range(0, n, 8)", "j in range(i, min(i + 8, n))"), ["n", "8"]),
    (("i in range(0, n)", "j in range(0, rem(i, 3))"), ["n"]),                 # of no known length
    (("i in range(rem(n, 3), 1024)",), ["-rem(n, 3) + 1024"]),
])
def test_lengths_along_a_path(heads: tuple[str, ...], found: list[str]) -> None:
    assert [linear_text(length) for length in lengths(nest(*heads))] == found


@pytest.mark.parametrize(("point", "found"), [
    ("i in range(64*t, min(n, 64*t + 64)", ["n"]),                              # tiles together, not 64 for each
    ("i in range(max(3, 64*t), min(n, 64*t + 64)", ["n - 3"]),
    ("i in range(64*t, 64*t + 64", ["quot(n - 1, 64) + 1", "64"]),              # whole tiles
])
def test_tiles_count_with_the_points_that_they_have_together(point: str, found: list[str]) -> None:
    made = nest("t in range(0, quot(n - 1, 64) + 1, mark='role=tile')", f"{point}, mark='role=point')")
    assert [linear_text(length) for length in lengths(made)] == found


@pytest.mark.parametrize("rest", [
    ("    for j in range(n - rem(n, 4), n):", "        S()"),
    ("    for j in range(min(n, 8*i + 8), 8*i + 8):", "        S()"),
    ("    with let(end, min(n, 8*i + 8)):", "        for j in range(end - rem(end - 8*i, 4), end):", "            S()"),
])
def test_a_rest_is_not_taken_for_the_nest(rest: tuple[str, ...]) -> None:
    """It has no iterations where n is a multiple of the vectors' length: no team would start for n = 1024."""
    made = loop("for i in range(0, n):", "    for j in range(0, 8):", "        S()", *rest)
    assert [linear_text(length) for length in lengths(made)] == ["n", "8"]


def test_the_deepest_path_counts() -> None:
    made = loop("for i in range(0, 4):", "    for j in range(0, 5):", "        S()", "    for j in range(0, 6):",
                "        for k in range(0, 2):", "            S()")
    assert constant_work(made) == 4 * 6 * 2


def test_a_name_for_one_value_is_looked_through() -> None:
    made = loop("for i in range(0, n):", "    with let(end, i + 8):", "        for j in range(i, end):",
                "            S()")
    assert [linear_text(length) for length in lengths(made)] == ["n", "8"]


def test_points_of_register_tiles_are_iterations() -> None:
    made = loop("for i in range(0, 12, 4):",
                "    with register_tile(loops=(loop(k, 0, 9), ), edges=(edge(j, 0, 8), )):",
                "        S()")
    assert constant_work(made) == 12 * 9 * 8


@pytest.mark.parametrize(("heads", "text"), [
    (("i in range(0, 10)", "j in range(0, 7)"), 70),
    (("i in range(7, 3)",), 0),
    (("i in range(0, n)",), "(double)n"),
    (("i in range(0, n)", "j in range(1, n)", "k in range(0, 3)"), "(double)n * (n - 1) * 3"),
])
def test_work_in_c(heads: tuple[str, ...], text: int | str) -> None:
    found = work(nest(*heads), index())
    assert (found if isinstance(found, int) else found.code) == text
    assert constant_work(nest(*heads)) == (text if isinstance(text, int) else None)


def test_loops_for_lanes() -> None:
    made = loop("for i in range(0, n, mark='role=loop parallel=1'):",
                "    for j in range(0, n, mark='role=loop simd=1'):", "        S()",
                "    for j in range(0, n):", "        S()",
                "    with register_tile(loops=(), edges=(edge(j, 0, 8, simd=True), )):", "        S()")
    assert loops_in_lanes(made) == 2


def test_alignment_does_not_count() -> None:
    bound = of_atom(Boundary("x[{}]", (constant(0),), 4, 64)) + variable("n")
    assert whatever_the_alignment(bound) == variable("n")


def test_a_quotient_is_not_divided_to_tell_whether_work_is_worth_it() -> None:
    printer = replace(index(), parameters={"n": (INT32, (1, 1000)), "q": (INT32, (0, 1000))},
                      quotients={"q": ("(long)n", "(long)s")})
    made = is_worth(nest("i in range(0, q + 1)", "j in range(0, n)"), 100, printer)
    assert str(made) == "(double)((long)n + 1 * (long)s) * n >= (double)(long)s * 100"
    assert str(is_worth(nest("i in range(0, n)", "j in range(0, 4)"), 100, printer)) == "(double)n * 4 >= 100"
    assert is_worth(nest("i in range(0, 50)", "j in range(0, 4)"), 100, printer) is True
    assert is_worth(nest("i in range(0, 5)", "j in range(0, 4)"), 100, printer) is False


PARALLEL = "i in range(0, n, mark='role=loop parallel=1')"


def test_what_the_deepest_statements_gain_is_compared() -> None:
    threads, none = loop(f"for {PARALLEL}:", "    for j in range(0, n): S(i, j)"), nest("i in range(0, n)")
    lanes = loop("for i in range(0, n):", "    for j in range(0, n, mark='role=point simd=1'): S(i, j)")
    both = loop(f"for {PARALLEL}:", "    for j in range(0, n, mark='role=point simd=1'): S(i, j)")
    alone = loop("for i in range(0, n):", "    for j in range(0, n): S(i, j)")
    assert runs_as_much(both, threads)
    assert runs_as_much(both, lanes)
    assert not runs_as_much(threads, lanes)
    assert not runs_as_much(alone, threads)
    assert runs_as_much(none, none)
