"""Orders of tile loops that differ by exchanged twins have the same best tile, and only one of them is searched."""

from dataclasses import replace
from itertools import permutations

import pytest

from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference
from polysched.tiling.footprints.twin_loops import twin_classes
from polysched.tiling.planning.tile_problem import tile_problem
from polysched.tiling.planning.tile_search import choose_tile
from tests.tiling.planning.test_tile_search import SMALL


def reference(array: str, *rows: tuple[int, ...]) -> Reference:
    return Reference(array=array, element_bytes=8, coefficients=rows, spans=(0,) * len(rows),
                     reach=(64,) * len(rows), reads=True, writes=array == "C", statements=("S",))


def nest(*references: Reference, extents: tuple[int, ...] = (64, 64, 64, 64)) -> Nest:
    return Nest(loops=("b", "h", "t", "i"), extents=extents, references=references, parameters={}, deepest=("S",),
                free=(True,) * 4, constant=(True,) * 4)


B, H, T, I = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))  # noqa: E741
TURNED = nest(reference("C", B, H, T, I), reference("A", B, T, H, I))


def classes(of: Nest) -> tuple[int, ...]:
    return twin_classes(of, (1, 1, 1, 8), apart={3})


def test_loops_over_dimensions_before_the_last_are_twins() -> None:
    assert classes(TURNED) == (0, 0, 0, 3)


def test_what_tells_loops_apart() -> None:
    assert classes(replace(TURNED, extents=(64, 32, 64, 64))) == (0, 1, 0, 3)
    assert classes(replace(TURNED, row_independent=(True, True, False, True))) == (0, 0, 2, 3)
    assert classes(nest(reference("C", B, H, T, I), reference("A", B, I))) == (0, 1, 1, 3)
    assert classes(nest(reference("C", B, H, T, I), reference("A", B, H, T))) == (0, 0, 2, 3)   # t shares lines of A
    assert twin_classes(TURNED, (1, 2, 1, 8), apart={0, 3}) == (0, 1, 2, 3)


@pytest.mark.parametrize("of", [
    TURNED, nest(reference("C", B, H, T, I), reference("A", I, B), reference("A", I, H), reference("A", I, T))])
def test_no_order_that_was_left_out_is_better(of: Nest) -> None:
    assert classes(of) == (0, 0, 0, 3)
    problem = tile_problem(of, SMALL, shape=None, innermost=3, level=2, parallel=(), wavefront=False, threads=1)
    assert len({order.index(3) for order in problem.orders}) == len(problem.orders) <= 4
    everything = replace(problem, orders=tuple(permutations(range(4))))
    assert choose_tile(problem) == choose_tile(everything) is not None
