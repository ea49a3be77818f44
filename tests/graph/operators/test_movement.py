"""What operators of this family refuse; slices of open extents."""

import itertools

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer, site_of
from polysched.graph.operators.movement import slice_ranges
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Reshape", floats(2, 3), whole(4, 2)), "another number of elements"),
    (sample("Reshape", floats(2, 3), whole(-1, -1)), "at most one extent"),
    (sample("Reshape", floats(2, 3), whole(4, -1)), "another number of elements"),
    (sample("Squeeze", floats(2, 1), whole(0)), "is not 1 is squeezed"),
    (sample("Transpose", floats(2, 3), perm=(0, 0)), "an axis occurs twice"),
    (sample("Concat", floats(2, 3), floats(3, 2), axis=0), "differ beside the axis"),
    (sample("Concat", floats(2), floats(2)), "the attribute axis is missing"),
    (sample("Concat", floats(), floats(), axis=0), "axis 0 of 0 dimensions"),
    (sample("Expand", floats(3), np.array(3)), "a vector of sizes"),
    (sample("Split", floats(5), whole(2, 2), results=2), "do not make up the extent"),
    (sample("Slice", floats(5), whole(0), whole(5), whole(0), whole(0)), "do not fit together"),
    (sample("Tile", floats(5), whole(1, 2)), "repetitions per dimension"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


MOST = np.iinfo(np.int64).max
STARTS_AND_ENDS = (0, 2, -1, -3, MOST, -MOST, -MOST - 1)


def by_the_text(length: int, start: int, end: int, step: int) -> list[int]:
    """The places of a slice as ONNX's text of the operator has them."""
    first, last = (v + length if v < 0 else v for v in (start, end))
    if step > 0:
        return list(range(min(max(first, 0), length), min(max(last, 0), length), step))
    return list(range(min(max(first, 0), length - 1), min(max(last, -1), length - 1), step))


@pytest.mark.parametrize("step", [1, 3, -1, -2])
def test_slices_far_outside_are_those_of_onnx(step: int) -> None:
    """By ONNX's text, and by ONNX Runtime: where a start is far in front and the step negative, NumPy takes nothing."""
    assert by_the_text(5, -10, -100, -1) == [0]
    for length, start, end in itertools.product((0, 1, 5), (-100, -6, -5, -1, 0, 3, 9), (-100, -6, -5, -2, 0, 4, 9)):
        graph = from_text(f"""graph f(x: int64[{length}]) {{
  const s: int64[1] = [{start}]
  const e: int64[1] = [{end}]
  const a: int64[1] = [0]
  const t: int64[1] = [{step}]
  let y = Slice(x, s, e, a, t)
  return y
}}""")
        inferred, wanted = infer(graph), by_the_text(length, start, end, step)
        site = site_of(graph.nodes[0], inferred.types, {**graph.constants, **inferred.known}, results=True)
        first, extent, _ = slice_ranges(site)[0]
        assert [int(first) + step * i for i in range(int(extent))] == wanted
        assert interpret(graph, {"x": np.arange(length)})["y"].tolist() == wanted


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -3])
def test_slices_of_open_extents_are_those_of_onnx_where_they_have_room(step: int) -> None:
    taken = 0
    for start, end in itertools.product(STARTS_AND_ENDS, STARTS_AND_ENDS):
        graph = from_text(f"""graph f(x: float32[N]) {{
  const s: int64[1] = [{start}]
  const e: int64[1] = [{end}]
  const a: int64[1] = [0]
  const t: int64[1] = [{step}]
  let y = Slice(x, s, e, a, t)
  return y
}}""")
        try:
            inferred = infer(graph)
        except UnsupportedGraphError:   # of a negative extent
            continue
        site = site_of(graph.nodes[0], inferred.types, {**graph.constants, **inferred.known}, results=True)
        first, extent, _ = slice_ranges(site)[0]
        room = OPERATORS["Slice"].room
        assert room is not None
        assert all(abs(r.constant) <= MOST for r in room(site)), "C has a literal for it"
        for length in range(6):
            size = {"N": length}
            if all(int(r.bound(size)) >= 0 for r in room(site)):
                wanted = by_the_text(length, start, end, step)
                assert [int(first.bound(size)) + step * i for i in range(int(extent.bound(size)))] == wanted
                taken += 1
    assert taken > 50
