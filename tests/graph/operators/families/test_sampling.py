"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.registry import standard
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("GridSample", floats(1, 2, 3, 3), floats(1, 2, 2, 3)), "a place per dimension of space"),
    (sample("GridSample", floats(1, 2, 3, 3), floats(2, 2, 2, 2)), "a place per dimension of space"),
    (sample("GridSample", floats(1, 2, 0, 3), floats(1, 2, 2, 2)), "of known extents are wanted"),
    (sample("GridSample", floats(1, 2, 2, 2, 2), floats(1, 2, 2, 2, 3), mode="cubic"), "more than two dimensions"),
    (sample("GridSample", floats(1, 2, 3, 3), floats(1, 2, 2, 2), mode="lanczos"), "the attribute mode is none of"),
    (sample("DeformConv", floats(1, 1, 3, 3), floats(1, 1, 2, 2), floats(1, 7, 2, 2)), "do not fit together"),
    (sample("DeformConv", floats(1, 1, 3), floats(1, 1, 2), floats(1, 4, 2)), "images and weights"),
    (sample("DeformConv", floats(1, 1, 3, 3), floats(1, 1, 2, 2), floats(1, 8, 2, 2), floats(2)),
     "a number per result channel"),
    (sample("DeformConv", floats(1, 1, 3, 3), floats(1, 1, 2, 2), floats(1, 8, 2, 2), None, floats(1, 3, 2, 2)),
     "the mask does not fit"),
    (sample("RoiAlign", floats(1, 1, 3, 3), floats(2, 4), np.array([0, 0])), "how many samples a bin has"),
    (sample("RoiAlign", floats(1, 1, 3, 3), floats(2, 5), np.array([0, 0]), sampling_ratio=1), "an image per region"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


NOWHERE = [np.nan, np.inf, -np.inf, 1e20, -1e20]


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_places_that_are_no_numbers_are_the_first_border_and_far_ones_end(mode: str, padding: str) -> None:
    places = np.zeros((1, 1, 6, 2), np.float32)
    places[0, 0, 1:, 0] = NOWHERE
    places[0, 0, 0] = -1, 0
    case = sample("GridSample", floats(1, 1, 3, 4), places, mode=mode, padding_mode=padding)
    graph, values = graph_of(case)
    for found in (interpret(graph, values), interpret(standard(graph), values)):
        y = found["y0"].ravel()
        assert np.isfinite(y).all()
        assert np.array_equal(y[:4], np.full(4, y[0]))


@pytest.mark.parametrize("place", [0, 3])
def test_offsets_and_regions_that_are_no_numbers_count_nothing(place: int) -> None:
    offsets, regions = np.zeros((1, 8, 1, 1), np.float32), np.array([[0, 0, 2, 2]] * 4, np.float32)
    offsets.flat[place] = regions[place, place] = np.nan
    deformed = sample("DeformConv", floats(1, 1, 2, 2), floats(1, 1, 2, 2), offsets)
    aligned = sample("RoiAlign", floats(1, 1, 3, 3), regions, np.zeros(4, np.int64), sampling_ratio=2)
    for case in (deformed, aligned):
        graph, values = graph_of(case)
        first, second = (interpret(g, values)["y0"] for g in (graph, standard(graph)))
        assert np.isfinite(first).all()
        np.testing.assert_allclose(first, second, rtol=1e-5)
