"""Solutions of the encoding are all placements of loops that its rules admit, found again by enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from polysched.scop.scop import Scop
from polysched.tensorize import find_intrinsic
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.matching.assignment import Assignment
from polysched.tensorize.matching.bodies import assignments
from polysched.tensorize.matching.encoding import Choice, Encoding, Extents, groups
from polysched.tensorize.matching.facts import Fact, Numerics
from polysched.tensorize.software.fragment import fragments
from tests.tensorize.described import programs_of, unit

MMA = unit("mma", "int32_t Y[4][2], const int16_t X[4][2][2], const int16_t W[2][2][2]",
           "for (int m = 0; m < 4; m++) for (int n = 0; n < 2; n++) for (int k = 0; k < 2; k++) "
           "for (int l = 0; l < 2; l++) Y[m][n] += X[m][k][l] * W[k][l][n];")
ADD = unit("add", "int32_t Y[4], const int32_t X[4]", "for (int i = 0; i < 4; i++) Y[i] += X[i];")
WINDOW = unit("window", "int32_t Y[4], const int16_t X[6], const int16_t W[3]",
              "for (int i = 0; i < 4; i++) for (int r = 0; r < 3; r++) Y[i] += X[i + r] * W[r];")
TEXTS = {
    "convolution": ("int C[2][3][4], short A[2][2][6], short B[3][2][3]",
                    "for (int n = 0; n < 2; n++) for (int o = 0; o < 3; o++) for (int p = 0; p < 4; p++) "
                    "for (int c = 0; c < 2; c++) for (int r = 0; r < 3; r++) "
                    "C[n][o][p] += A[n][c][p + r] * B[o][c][r];"),
    "product": ("int C[3][5], short A[3][2], short B[2][5]",
                "for (int i = 0; i < 3; i++) for (int j = 0; j < 5; j++) for (int k = 0; k < 2; k++) "
                "C[i][j] += A[i][k] * B[k][j];"),
    "sum": ("int C[5], int A[3][5]", "for (int i = 0; i < 3; i++) for (int j = 0; j < 5; j++) C[j] += A[i][j];"),
    "one iteration": ("int C[1], short A[1], short B[1]", "for (int i = 0; i < 1; i++) C[i] += A[i] * B[i];")}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return programs_of(TEXTS, tmp_path_factory.mktemp("encoding"))


def encoding(scop: Scop, intrinsic: Intrinsic) -> Encoding:
    (fragment,) = fragments(scop)
    return Encoding(fragment, intrinsic, assignments(fragment, intrinsic, Numerics()))


def indexed(e: Encoding, assignment: Assignment, loop: str) -> set[str]:
    """The operands that a loop moves."""
    output = e.intrinsic.contraction.output.array
    moved = {o for o, x in assignment.operands if loop in e.fragment.loops_of(x)}
    return moved | ({output} if loop in e.fragment.loops_of(e.fragment.result) else set())


def enumerated(e: Encoding) -> Iterator[Choice]:
    """Every placement, tried."""
    output = e.intrinsic.contraction.output.array
    names = [loop.name for loop in e.fragment.loops if loop.extent > 1]
    for number, assignment in enumerate(e.assignments):
        fits = {(n, g): 0 < len(moved := indexed(e, assignment, n)) and moved <= group.indexes
                and (output in moved) == (output in group.indexes)
                for n in names for g, group in enumerate(e.groups)}
        for places in itertools.product((None, *range(len(e.groups))), repeat=len(names)):
            loops = [[n for n, p in zip(names, places, strict=True) if p == g] for g in range(len(e.groups))]
            inside = all(p is None or (fits[n, p] and n not in e.fixed_outside)
                         for n, p in zip(names, places, strict=True))
            filled = all(loops[g] or p is not None or not fits[n, g] or n in e.fixed_outside
                         for n, p in zip(names, places, strict=True) for g in range(len(e.groups)))
            reached = e.extents is Extents.ANY or all(
                not m or math.prod(e.fragment.loop(n).extent for n in m) >= (g.extent or 1)
                for m, g in zip(loops, e.groups, strict=True))
            if not assignment.facts and inside and filled and reached and any(loops):
                yield Choice(number, tuple(map(tuple, loops)))


CASES = [("convolution", MMA), ("product", MMA), ("sum", ADD), ("convolution", WINDOW)]


@pytest.mark.parametrize("extents", Extents)
@pytest.mark.parametrize(("name", "intrinsic"), CASES, ids=lambda c: getattr(c, "name", c))
def test_solutions_are_all_placements(name: str, intrinsic: Intrinsic, extents: Extents,
                                      programs: dict[str, Scop]) -> None:
    e = replace(encoding(programs[name], intrinsic), extents=extents)
    found = list(e.solutions())
    assert len(set(found)) == len(found)
    assert set(found) == set(enumerated(e))
    assert e.core() == ()
    assert list(e.solutions(limit=1)) == found[:1]


def test_loops_kept_outside_are_in_no_group(programs: dict[str, Scop]) -> None:
    e = replace(encoding(programs["convolution"], MMA), fixed_outside={"c": "because", "n": "because"})
    found = set(e.solutions())
    assert found == set(enumerated(e))
    assert found
    assert not any({"c", "n"} & {*m} for choice in found for m in choice.loops)


def test_what_was_refused_never_comes_again(programs: dict[str, Scop]) -> None:
    e = encoding(programs["convolution"], MMA)
    every = set(e.solutions())
    first = next(c for c in e.solutions() if "n" in c.loops[0] and "p" in c.loops[0])
    e.learn(first, frozenset({"n", "p"}))
    together = {c for c in every if {"n", "p"} <= {*c.loops[0]}}
    assert set(e.solutions()) == every - together
    exact = encoding(programs["convolution"], MMA)
    exact.learn(first, frozenset({"n", "p"}), exactly=(0,))
    same = {c for c in every if c.loops[0] == first.loops[0] and c.assignment == first.assignment}
    assert set(exact.solutions()) == every - same


def test_halves_of_a_loop_are_in_different_groups(programs: dict[str, Scop]) -> None:
    e = replace(encoding(programs["convolution"], MMA), halves=("c", "r"))
    assert not list(e.solutions()), "both are sums, for which there is one group"
    apart = replace(encoding(programs["convolution"], MMA), halves=("o", "p"))
    assert set(apart.solutions()) == {c for c in enumerated(apart) if any("o" in m for m in c.loops)
                                      and any("p" in m for m in c.loops)}


def test_hindered_assignments_have_no_solution_and_a_core(programs: dict[str, Scop]) -> None:
    free = encoding(programs["product"], MMA)
    facts = (Fact("a", "first", ""), Fact("b", "second", ""))
    bound = replace(free, assignments=tuple(replace(a, facts=facts[:1]) for a in free.assignments))
    assert list(bound.solutions()) == []
    assert bound.core() == facts[:1]
    mirrored = replace(free, mirrored=frozenset(range(len(free.assignments))))
    assert list(mirrored.solutions()) == []
    assert mirrored.core() == ()


def test_dimensions_that_index_the_same_operands_are_one_group() -> None:
    found = {g.name: (g.extent, g.indexes) for g in groups(MMA)}
    assert found == {"m": (4, frozenset("YX")), "n": (2, frozenset("YW")), "k*l": (4, frozenset("XW"))}
    assert [g.name for g in groups(WINDOW)] == ["i", "r"]
    assert [g.extent for g in groups(find_intrinsic("cblas_dgemm"))] == [None] * 3


def test_a_statement_with_one_iteration_is_one_execution(programs: dict[str, Scop]) -> None:
    found = list(encoding(programs["one iteration"], WINDOW).solutions())
    assert {choice.loops for choice in found} == {((), ())}
    assert len(found) == 2, "its factors may change places"
