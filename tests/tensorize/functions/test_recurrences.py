"""Equations name for every read the instance or element that enumeration of the program finds."""

from __future__ import annotations

import itertools

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.scop.body import Binary, Cast
from polysched.scop.points import pairs_of, points_of
from polysched.tensorize.functions.recurrences import (
    Around,
    Recurrences,
    later_iterations,
    loops_around,
    recurrences,
    same_iterations,
    tiling_map,
)
from tests.tensorize.preparing.kept import program

ARRAYS = "int A[6], int B[6], int C[6][4]"
PREFIXES = """for (int i = 0; i < 6; i++) { int s = B[i]; for (int k = 0; k < 4; k++) s += C[i][k]; A[i] = s; }"""


def system(body: str, *, depth: int = 0) -> Recurrences:
    dependences = analyse(program(ARRAYS, body))
    return recurrences(dependences, [s.name for s in dependences.scop.statements], depth=depth, prefix="_f_")


def test_every_read_has_its_source_once() -> None:
    found = system("for (int i = 1; i < 6; i++) { A[i] = A[i - 1] + B[i]; B[i] = A[5 - i]; }")
    written: dict[tuple[str, int], tuple[str, tuple[int, ...]]] = {}
    wanted: dict[tuple[str, int, str], tuple[str | None, tuple[int, ...]]] = {}
    for i in range(1, 6):
        for name, reads, target in (("S0", [("A", i - 1), ("B", i)], ("A", i)), ("S1", [("A", 5 - i)], ("B", i))):
            for array, at in reads:
                source = written.get((array, at))
                wanted[name, i, array] = (None, (at,)) if source is None else source
            written[target] = (name, (i,))
    seen = {}
    for name, equation in found.equations.items():
        for sources in equation.sources.values():
            for source in sources:
                for (i,), place in pairs_of(source.relation):
                    key = (name, i, source.array)
                    assert key not in seen, "sources are of disjoint instances"
                    seen[key] = (source.statement, place)
    assert seen == wanted


def test_final_values_are_those_that_nothing_overwrites() -> None:
    found = system("for (int i = 0; i < 6; i++) for (int k = 0; k < 4; k++) A[i] = B[k] + i;")
    assert points_of(found.equations["S0"].final) == [(i, 3) for i in range(6)]
    assert [e.name for e in found.finals("A")] == ["S0"]
    assert found.finals("B") == []
    assert found.written == ("A",)
    assert found.recursive == frozenset()


def test_loops_around_become_parameters() -> None:
    found = system(PREFIXES, depth=1)
    assert found.iterations.is_equal(isl.Set("[_outer0] -> { : 0 <= _outer0 < 6 }"))
    sums = found.equations["S1"]
    assert sums.outer_names == ("i",)
    assert sums.numbers == ("_outer0", "i0")
    assert sums.domain.is_equal(isl.Set("[_outer0] -> { [k] : 0 <= _outer0 < 6 and 0 <= k < 4 }"))
    assert found.recursive == {"S1"}
    (own,) = [s.relation for many in sums.sources.values() for s in many if s.statement == "S1"]
    assert own.is_equal(isl.Map("[_outer0] -> { [k] -> [k - 1] : 0 <= _outer0 < 6 and 0 < k < 4 }"))
    (row,) = [s.relation for many in sums.sources.values() for s in many if s.array == "C"]
    assert row.is_equal(isl.Map("[_outer0] -> { [k] -> [_outer0, k] : 0 <= _outer0 < 6 and 0 <= k < 4 }"))


def test_values_have_the_type_of_their_element() -> None:
    scop = program("short A[4], int B[4]", "for (int i = 0; i < 4; i++) A[i] += B[i];")
    equation = recurrences(analyse(scop), ["S0"]).equations["S0"]
    assert isinstance(equation.value, Cast)
    assert equation.value.dtype.name == "int16"
    assert isinstance(equation.value.operand, Binary)
    assert len(equation.sources) == 2


AROUNDS = [(Around(), Around()), (Around((0,)), Around((1,))), (Around((1, 0)), Around((0, 1))),
           (Around((), ((0, 2),)), Around((), ((1, 2),))), (Around((1,), ((0, 3),)), Around((0,), ((1, 3),)))]


def iteration(around: Around, point: tuple[int, ...]) -> tuple[int, ...]:
    return (*(point[at] for at in around.whole), *(point[at] // size for at, size in around.tiles))


@pytest.mark.parametrize(("source", "sink"), AROUNDS)
def test_iterations_of_the_loops_around_are_compared_as_numbers(source: Around, sink: Around) -> None:
    everything = isl.Map("{ S[i, j] -> T[k, l] : 0 <= i < 5 and 0 <= j < 4 and 0 <= k < 4 and 0 <= l < 5 }")
    points = list(itertools.product(itertools.product(range(5), range(4)), itertools.product(range(4), range(5))))
    same = {(a, b) for a, b in points if iteration(source, a) == iteration(sink, b)}
    later = {(a, b) for a, b in points if iteration(source, a) > iteration(sink, b)}
    assert set(pairs_of(same_iterations(everything, source, sink))) == same
    assert set(pairs_of(later_iterations(everything, source, sink))) == later


def test_places_in_tiles_are_instances() -> None:
    tiles = tiling_map(2, Around((), ((1, 4),)))
    fixed = tiles.intersect_params(isl.Set("[_outer0] -> { : _outer0 = 3 }"))
    assert set(pairs_of(fixed.project_out(isl.dim_type.param, 0, 1).intersect_domain(
        isl.Set("{ [i, j] : i = 7 }")))) == {((7, j), (7, 12 + j)) for j in range(4)}
    assert tiling_map(1, Around()).is_equal(isl.Map("{ [i] -> [i] }"))


def test_loops_around_follow_the_values_from_statement_to_statement() -> None:
    body = ("for (int i = 0; i < 6; i++) A[i] = 0; for (int k = 0; k < 4; k++) for (int i = 0; i < 6; i++) "
            "A[i] += C[i][k];")
    dependences = analyse(program(ARRAYS, body))
    found = loops_around(dependences, ["S0", "S1"], "S1", Around((1,)))
    assert found == {"S0": Around((0,)), "S1": Around((1,))}
    assert Around((1,), ((0, 2),)).depth == 2
