"""The fifteen operators on a 16x16x16 matrix unit: AMOS's counts and the sound ones come out of the rules."""

import pytest

from polysched.records import whole
from polysched.tensorize import Extents, MatchOptions, Rule, find_intrinsic, match
from polysched.tensorize.operators import OPERATORS

AMOS = {"gmv": 1, "gmm": 1, "c1d": 6, "c2d": 35, "c3d": 180, "t2d": 7, "grp": 35, "dil": 35, "dep": 11, "cap": 105,
        "bcv": 11, "gfc": 1, "men": 1, "var": 1, "scn": 1}
SOUND = AMOS | {"c1d": 9, "c2d": 49, "c3d": 225, "t2d": 49, "grp": 49, "dil": 49, "dep": 21, "cap": 147, "bcv": 21}
UNIT = find_intrinsic("mma_16x16x16")


@pytest.mark.parametrize("name", OPERATORS)
def test_counts(name: str) -> None:
    scop = OPERATORS[name]()
    narrow = match(scop, UNIT, MatchOptions(rule=Rule.AMOS))
    sound = match(scop, UNIT)
    assert (narrow.count, sound.count) == (AMOS[name], SOUND[name])
    assert not sound.refused
    found = {(m.loops, whole(m.assignment.operands)) for m in sound.matches}
    mirrored = {(m.loops, whole(m.assignment.operands)) for m in narrow.matches}
    assert len(found) == sound.count
    assert len(mirrored) == narrow.count


def test_c2d_with_batch_one_and_extents_that_fill_the_unit() -> None:
    options = MatchOptions(rule=Rule.AMOS, extents=Extents.REACH)
    assert match(OPERATORS["c2d"](), UNIT, options, sizes={"batch": 1}).count == 20


def test_loops_of_one_iteration_are_dropped_by_the_exact_rule() -> None:
    found = match(OPERATORS["c2d"](), UNIT, sizes={"batch": 1})
    assert found.count == 3 * 7
    assert all("n" in m.outer for m in found.matches)


def test_a_limit_stops_the_enumeration() -> None:
    assert match(OPERATORS["c2d"](), UNIT, MatchOptions(limit=1)).total == 1
