"""Gathers and scatters: what they refuse, while compiling and while running."""

import numpy as np
import pytest

import polysched
from polysched.errors import UnsupportedGraphError, UsageError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, ints, sample, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Gather", floats(3), floats(3)), "indices of float32"),
    (sample("Gather", floats(3), whole(1), axis=1), "axis 1 of 1 dimensions"),
    (sample("GatherElements", floats(3, 2), ints(3, 3)), "do not fit the data"),
    (sample("GatherND", floats(3), ints(3, 2)), "do not fit the data"),
    (sample("ScatterElements", floats(3), whole(1), floats(2)), "do not fit the data"),
    (sample("ScatterElements", floats(3), whole(1), floats(1), reduction="odd"), "the reduction odd"),
    (sample("ScatterND", floats(3), ints(3, 1), floats(3, 1)), "do not fit the data"),
    (sample("OneHot", ints(3), whole(3), floats(3)), "two values are wanted"),
    (sample("Gather", floats(), whole(0)), "axis 0 of 0 dimensions"),
    (sample("Trilu", floats(3)), "matrices are wanted")])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(graph)


@pytest.mark.parametrize("case", [
    sample("Gather", floats(3, 2), whole(3), axis=0), sample("Gather", floats(3, 2), whole(1, -3, 0), axis=1),
    sample("Gather", floats(0), whole(0)), sample("GatherElements", floats(3, 2), np.array([[0, 2]]), axis=1),
    sample("GatherND", floats(3, 2), np.array([[2, 2]])), sample("GatherND", floats(3, 2), np.array([[-4, 1]])),
    sample("GatherND", floats(2, 3), np.array([[1], [3]]), batch_dims=1),
    sample("ScatterElements", floats(3), whole(3), floats(1)),
    sample("ScatterND", floats(3, 2), np.array([[0, -3]]), floats(1))], ids=lambda c: c[0])
def test_an_index_outside_that_is_known_is_refused_before_anything_is_compiled(case: Sample) -> None:
    graph, _ = graph_of(case, (1,))
    with pytest.raises(UnsupportedGraphError, match="an index is outside the dimension"):
        infer(graph)


@pytest.mark.parametrize("case", [
    sample("Gather", floats(3, 2), ints(2, dtype="int64"), axis=0),
    sample("ScatterElements", floats(3, 2), ints(2, 2, dtype="int64"), floats(2, 2))], ids=lambda c: c[0])
def test_an_index_outside_is_refused_when_it_is_met(case: Sample) -> None:
    graph, inputs = graph_of(case)
    model = polysched.compile(graph)
    for index in (-4, 3, 2 ** 40):
        with pytest.raises(UsageError, match="outside the dimension"):
            model.run({**inputs, "x1": np.full_like(inputs["x1"], index)})
    for index in (-3, 2):
        model.run({**inputs, "x1": np.full_like(inputs["x1"], index)})
