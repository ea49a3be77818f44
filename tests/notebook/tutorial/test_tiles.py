from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.notebook.tutorial.answers import State, check
from polysched.notebook.tutorial.tiles import FewerMisses, FootprintOf, LargestCube, misses
from polysched.scheduling import original
from polysched.target.target import CacheLevel
from tests.notebook.tutorial.programs_asked_about import program, steps

CACHE = CacheLevel(level=1, size_bytes=1024, line_bytes=64, ways=16)


@pytest.fixture(scope="module")
def transposed():
    return program("int n, double a[restrict n][n], double b[restrict n][n]",
                   "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[j][i] = a[i][j];")


def test_a_footprint_counts_an_element_once(transposed):
    question = FootprintOf(scop=steps(), array="a", edges=(2, 3), corner=(0, 1), sizes={"T": 9, "n": 9})
    assert check(5, question).state is State.RIGHT
    assert check(6, question).hint == "the tile reaches a[0 to 4]; count an element once"
    at_the_end = FootprintOf(scop=transposed, array="b", edges=(4, 4), corner=(6, 0), sizes={"n": 8})
    assert check(8, at_the_end).state is State.RIGHT
    assert check(5, FootprintOf(scop=transposed, array="c", edges=(1, 1), corner=(0, 0), sizes={"n": 8})
                 ).text == "S0 does not touch c"


def test_the_largest_cube_fits_and_the_next_does_not(transposed):
    question = LargestCube(scop=transposed, capacity_bytes=1024, sizes={"n": 40})
    assert check(8, question).state is State.RIGHT
    assert check(7, question).text == "a tile with edge 8 fits, too"
    assert check(9, question).hint == "the cache has 1024"
    assert check(0, question).state is State.WRONG


def test_tiles_miss_less_on_a_simulated_cache(transposed):
    start = original(analyse(transposed))
    question = FewerMisses(start=start, loops=("i", "j"), sizes={"n": 32}, cache=CACHE, most=0.5)
    before = misses(start, {"n": 32}, CACHE)
    verdict = check((8, 8), question)
    assert verdict.state is State.RIGHT
    assert f"{before} without" in verdict.text
    assert check((32, 32), question).text == f"{before} misses with these tiles, {before} without: 100%"
    for answer in ((8,), 8, (8, "8"), (0, 8)):
        assert check(answer, question).state is State.WRONG
