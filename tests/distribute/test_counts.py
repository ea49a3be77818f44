"""Instances and replicas, counted in sets and one by one."""

import pytest

from polysched.distribute import distribute
from polysched.distribute.counts import InstanceCount, count_instances
from tests.distribute.programs import executors_of, scop_of, sizes_of


@pytest.mark.parametrize("steps", [2, 5])
@pytest.mark.parametrize("name", ["jacobi", "seidel", "conditional"])
def test_sets_and_a_walk_count_the_same(name: str, steps: int) -> None:
    made = distribute(scop_of(name), "i", time_tile=steps)
    runs = [ranks for own in executors_of(made, 3).values() for ranks in own.values()]
    found = count_instances(made, 3, sizes_of(made.scop))
    assert found == InstanceCount(program=len(runs), replicas=sum(len(ranks) - 1 for ranks in runs))
    assert found.share > 0


def test_a_step_each_has_no_replicas() -> None:
    made = distribute(scop_of("jacobi"), "i")
    assert count_instances(made, 3, {"n": 50, "t": 20}) == InstanceCount(program=2 * 48 * 48 * 20, replicas=0)


def test_nothing_to_run() -> None:
    made = distribute(scop_of("jacobi"), "i", time_tile=2)
    assert count_instances(made, 3, {"n": 2, "t": 20}) == InstanceCount(program=0, replicas=0)
    assert InstanceCount(program=0, replicas=0).share == 0.0


def test_one_rank_has_no_replicas() -> None:
    made = distribute(scop_of("jacobi"), "i", time_tile=8)
    assert count_instances(made, 1, {"n": 50, "t": 20}).replicas == 0
