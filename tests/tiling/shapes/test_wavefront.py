"""Tile loops for threads: no reordering or skew turns a dependence around, and what shall be parallel carries none."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import pytest

from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import multi_union_pw_aff
from polysched.tiling.shapes.wavefront import expose_parallelism, rows_at_one_time, skew
from polysched.tiling.tree.loops import Loop
from polysched.tiling.tree.position import Position, inside, is_independent

NAMES = ("a", "b", "c")


def at(distances: Sequence[tuple[int, ...]], sizes: Sequence[int], *, relaxed: bool = False) -> Position:
    """A place with all dependences of these distances in a box."""
    names = NAMES[:len(sizes)]
    box = " and ".join(f"0 <= {name} < {n}" for name, n in zip(names, sizes, strict=True))
    whole = isl.UnionSet(f"{{ S[{', '.join(names)}] : {box} }}")
    pairs = isl.UnionMap.empty(whole.get_space())
    for distance in distances:
        moved = ", ".join(f"{name} + {d}" for name, d in zip(names, distance, strict=True))
        pairs = pairs.union(isl.UnionMap(f"{{ S[{', '.join(names)}] -> S[{moved}] }}"))
    pairs = pairs.intersect_domain(whole).intersect_range(whole)
    nothing = isl.UnionMap.empty(whole.get_space())
    return Position(domain=whole, dependences=nothing if relaxed else pairs, unordered=pairs if relaxed else nothing)


def loops(functions: Sequence[str], depth: int) -> tuple[Loop, ...]:
    return tuple(Loop(
        function=isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, f"{{ S[{', '.join(NAMES[:depth])}] -> [({f})] }}"),
        mark=LoopMark(role=Role.TILE, member=k)) for k, f in enumerate(functions))


def texts(found: Sequence[Loop]) -> list[str]:
    return [str(loop.function.get_pw_aff_list().get_at(0)).split("[(")[1].split(")]")[0] for loop in found]


def is_legal(position: Position, found: Sequence[Loop]) -> bool:
    """Whether every dependence goes forward in the order of the loops."""
    places = isl.UnionMap.from_multi_union_pw_aff(multi_union_pw_aff(tuple(loop.function for loop in found)))
    moved = isl.Map.from_union_map(position.dependences.apply_domain(places).apply_range(places))
    return bool(moved.is_subset(isl.Map.lex_lt(moved.get_space().range())))


def parallel(position: Position, found: Sequence[Loop]) -> list[bool]:
    """Per loop, whether its iterations are independent in one iteration of all the loops around it."""
    answers = []
    for loop in found:
        answers.append(is_independent(position, loop.function))
        position = inside(position, loop.function)
    return answers


CASES = [
    ([(1, 0), (0, 1)], (4, 5), 1, ["a + b", "b"]),
    ([(1, 0)], (4, 5), 1, ["b", "a"]),
    ([(0, 1)], (4, 5), 1, ["a", "b"]),
    ([(0, 0)], (4, 5), 1, ["a", "b"]),
    ([(1, 1)], (4, 5), 1, ["a + b", "b"]),
    ([(1, 0, 0), (0, 1, 0), (0, 0, 1)], (4, 5, 3), 1, ["a + b", "b", "c"]),
    ([(1, 0, 0), (0, 1, 0), (0, 0, 1)], (4, 5, 3), 2, ["a + b + c", "b", "c"]),
    ([(1, 0, 0), (0, 1, 0)], (4, 5, 3), 1, ["c", "a", "b"]),
    ([(1, 0, 0), (0, 1, 0)], (4, 5, 3), 2, ["c", "a + b", "b"]),
    ([(2, 1, 3), (0, 1, 1)], (6, 5, 4), 2, ["a + b + c", "b", "c"]),
    ([(1, 0, 0), (0, 1, 0)], (4, 1, 3), 1, ["c", "a", "b"]),     # one tile of b goes inside
    ([(1, 0), (0, 1)], (4, 1), 1, ["a", "b"])]


@pytest.mark.parametrize(("distances", "sizes", "degrees", "expected"), CASES)
def test_orders_and_skews(distances: list[tuple[int, ...]], sizes: tuple[int, ...], degrees: int,
                          expected: list[str]) -> None:
    position = at([d for d in distances if any(d)], sizes)
    found = expose_parallelism(position, loops(NAMES[:len(sizes)], len(sizes)), degrees=degrees)
    assert sorted(texts(found)) == sorted(expected)
    assert texts(found)[:2] == expected[:2]
    assert not any(any(d) for d in distances) or is_legal(position, found)
    several = sum(n > 1 for n in sizes)
    assert sum(parallel(position, found)[:degrees + 1]) >= min(degrees, several - 1)


def test_a_named_member_is_the_one_that_runs_in_parallel() -> None:
    position = at([(1, 0, 0), (0, 1, 0), (0, 0, 1)], (4, 5, 3))
    found = expose_parallelism(position, loops(NAMES, 3), member=2)
    assert texts(found) == ["a + c", "c", "b"]
    assert is_legal(position, found)
    assert parallel(position, found)[1]
    free = expose_parallelism(at([(1, 0, 0)], (4, 5, 3)), loops(NAMES, 3), member=2)
    assert texts(free) == ["c", "a", "b"]


def test_updates_of_a_relaxed_reduction_are_not_skewed() -> None:
    position = at([(1, -1), (0, 1)], (4, 5), relaxed=True)
    assert texts(expose_parallelism(position, loops("ab", 2))) == ["a", "b"]


def test_a_skew_keeps_the_marks_of_the_loops_inside() -> None:
    found = skew(loops(NAMES, 3), degrees=2)
    assert [loop.mark.role for loop in found] == [Role.WAVEFRONT, Role.TILE, Role.TILE]
    assert [loop.mark.member for loop in found] == [0, 1, 2]


@pytest.mark.parametrize(("distances", "functions", "expected"), [
    ([(1, 1), (1, -1), (1, 0)], ("a - b", "a + b"), ["a", "a + b"]),
    ([(1, 1), (1, -1), (2, 0)], ("b", "a"), ["b", "a"]),
    ([(1, 0)], ("a", "b"), ["a", "b"])])
def test_rows_at_one_time(distances: list[tuple[int, ...]], functions: tuple[str, str], expected: list[str]) -> None:
    position = at(distances, (6, 7))
    found = rows_at_one_time(position, loops(functions, 2))
    assert texts(found) == expected
    if found[0] is not loops(functions, 2)[0] and expected != list(functions):
        assert is_legal(position, found)
        assert parallel(position, found)[1]
