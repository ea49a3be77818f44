"""Which rank runs what, and between which instances nothing is exchanged."""

import islpy as isl

from polysched.distribute import distribute
from polysched.scop.points import fix_parameters, pairs_of
from tests.distribute.programs import scop_of


def test_a_rank_without_coordinates_runs_nothing() -> None:
    made = distribute(scop_of("jacobi"), "i", time_tile=4)
    for statement in made.scop.statements:
        executed = made.shares.executed(statement, made.partition.own_names)
        known = {"n": 9, "t": 3, "polysched_first": 9, "polysched_end": 8}
        assert fix_parameters(executed, known).is_empty()
        assert not fix_parameters(executed, {**known, "polysched_end": 10}).is_empty()


def test_steps_of_one_tile_are_the_same_step() -> None:
    made = distribute(scop_of("jacobi"), "i", time_tile=4)
    same = made.shares.same_step("S0", "S1")
    both = same.intersect_domain(isl.Set("[n, t] -> { S0[k, 1, 1] : 0 <= k < 4 }")).intersect_range(
        isl.Set("[n, t] -> { S1[k, 1, 1] : 0 <= k < 4 }"))
    found = {(a[0], b[0]) for a, b in pairs_of(fix_parameters(both, {"n": 5, "t": 4}))}
    assert found == {(a, b) for a in range(4) for b in range(4) if a // 2 == b // 2}
