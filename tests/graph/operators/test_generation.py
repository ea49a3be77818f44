"""What operators of this family refuse; ranges that are too long to be folded."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.samples import Sample, floats, graph_of, sample, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Range", np.float32(0), np.float32(np.nan), np.float32(1)), "numbers that are not finite"),
    (sample("Range", np.float32(0), np.float32(np.inf), np.float32(1)), "numbers that are not finite"),
    (sample("Range", whole(0), whole(5), whole(0)), "in steps of 0"),
    (sample("Range", np.float16(0), np.float16(5), np.float16(1), stash_type=10), "computed in float32 or float64"),
    (sample("Range", whole(-2 ** 63), whole(2 ** 63 - 1), whole(1)), "a dimension is longer"),
    (sample("Range", np.float32(-3e38), np.float32(3e38), np.float32(1)), "a dimension is longer"),
    (sample("Range", np.float64(0), np.float64(1), np.float64(5e-324)), "a dimension is longer"),
    (sample("EyeLike", floats(3, 3), dtype="string"), "elements of type string"),
    (sample("EyeLike", floats(3)), "a matrix is wanted"),
    (sample("ConstantOfShape", whole(2 ** 40, 2 ** 40)), "larger than a model may have"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


def test_a_range_against_its_step_is_empty_where_its_quotient_overflows() -> None:
    graph, _ = graph_of(sample("Range", np.float32(3e38), np.float32(-3e38), np.float32(1)), (0, 1, 2))
    assert infer(graph).types["y0"].extents == (0,)


def test_half_floats_are_counted_in_float32() -> None:
    graph, inputs = graph_of(sample("Range", np.float16(0), np.float16(1), np.float16(0.1)), (0, 1, 2))
    assert interpret(graph, inputs)["y0"].tolist() == [float(np.float16(i * np.float32(np.float16(0.1))))
                                                       for i in range(11)]   # 0.09998 goes into 1 ten times and a bit


@pytest.mark.parametrize(("dtype", "start", "limit", "step"), [
    ("int64", 7, -5, -3), ("int32", 1, 8, 3), ("int64", 0, 5, 1), ("float32", 1.0, -1.0, -0.3),
    ("float64", 0.0, 1.0, 0.1), ("float16", 0.0, 1.0, 0.1)])
def test_a_range_that_is_computed_has_the_numbers_of_one_that_is_folded(
        dtype: str, start: float, limit: float, step: float) -> None:
    graph = from_text(f"""graph f() {{
  const start: {dtype}[] = [{start}]
  const limit: {dtype}[] = [{limit}]
  const step: {dtype}[] = [{step}]
  let y = Range(start, limit, step)
  return y
}}""")
    computed = expand_compositions(graph)
    assert all(node.op != "Range" for node in computed.nodes)
    wanted, found = (interpret(each, {})[each.outputs[0]] for each in (graph, computed))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
