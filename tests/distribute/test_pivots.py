"""Statements that pass one row to all others are split at that row."""

import numpy as np

from polysched.dependence import analyse
from polysched.distribute.owners import coordinates
from polysched.distribute.pivots import pivots, split_at
from polysched.scop.interpreter import execute
from tests.distribute.programs import scop_of


def test_the_row_of_floyd_is_found_and_the_parts_compute_the_same() -> None:
    scop = scop_of("floyd")
    dependences = analyse(scop)
    found = list(pivots(dependences, coordinates(scop, "i")))
    assert found
    for statement, row in found:
        split = split_at(scop, statement, row)
        assert 2 <= len(split.statements) <= 3
        before, after = (np.random.default_rng(3).uniform(0, 9, (6, 6)) for _ in range(2))
        execute(scop, {"n": 6}, {"A": before})
        execute(split, {"n": 6}, {"A": after})
        np.testing.assert_array_equal(before, after)


def test_names_and_references_stay_unique() -> None:
    scop = scop_of("floyd")
    statement, row = next(pivots(analyse(scop), coordinates(scop, "i")))
    split = split_at(scop, statement, row)
    references = [a.reference for s in split.statements for a in s.accesses]
    assert len(set(references)) == len(references)


def test_programs_without_such_rows_have_none() -> None:
    scop = scop_of("jacobi")
    assert not list(pivots(analyse(scop), coordinates(scop, "i")))
