"""Fronts of shapes by hand, and allocations against all combinations."""

import itertools

import pytest

from polysched.errors import PlacementError
from polysched.mesh import MeshTarget, Message, Operator
from polysched.mesh.shapes import allocate, front, fronts, shape_of
from tests.mesh.random_graphs import random_graph

MESH = MeshTarget(rows=4, columns=4, compute=100.0, memory=1 << 20)


def test_a_shape_has_the_time_and_the_memory_of_its_largest_part() -> None:
    operator = Operator(name="a", work=600, extents=(6, 10), weights=100, result=60)
    inputs = [Message(source="x", sink="a", bytes=60, cut="rows"),
              Message(source="x", sink="a", bytes=50, cut="columns")]
    shape = shape_of(operator, inputs, MESH, 4, 3)     # 2 of 6 rows, 4 of 10 columns
    assert shape.seconds == pytest.approx(600 * 8 / 60 / 100)
    assert shape.memory == 40 + 8 + 2 * (20 + 20)


def test_a_front_has_no_shape_that_another_one_beats() -> None:
    for graph in (random_graph(seed, 6) for seed in range(5)):
        for operator, inputs in zip(graph.operators, graph.inputs, strict=True):
            kept = front(operator, inputs, MESH)
            m, n = operator.extents
            every = [shape_of(operator, inputs, MESH, h, w)
                     for h, w in itertools.product(range(1, min(4, m) + 1), range(1, min(4, n) + 1))]
            for shape in every:
                assert any(k.cores <= shape.cores and k.seconds <= shape.seconds and k.memory <= shape.memory
                           for k in kept)
            for a, b in itertools.permutations(kept, 2):
                assert not (a.cores <= b.cores and a.seconds <= b.seconds and a.memory <= b.memory)


def test_what_fits_nowhere_is_refused_with_its_bytes() -> None:
    operator = Operator(name="big", work=1, extents=(2, 2), weights=5 << 20)
    with pytest.raises(PlacementError, match=r"operator big: .*\n  witness: on 1x2 cores each needs"):
        front(operator, [], MESH)


@pytest.mark.parametrize("cores", [4, 7, 12, 40])
def test_an_allocation_is_the_best_of_all_combinations(cores) -> None:
    choices = fronts(random_graph(3, 4), MESH)
    every = [c for c in itertools.product(*choices) if sum(s.cores for s in c) <= cores]
    best = min(max(s.seconds for s in c) for c in every)
    found = allocate(choices, cores)
    assert found is not None
    assert sum(s.cores for s in found) <= cores
    assert max(s.seconds for s in found) == best


def test_too_few_cores_are_no_allocation() -> None:
    assert allocate(fronts(random_graph(3, 4), MESH), 3) is None
