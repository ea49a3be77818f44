"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Softmax", ints(3)), "floating are wanted"),
    (sample("Softmax", floats(3), axis=1), "axis 1 of 1 dimensions"),
    (sample("BatchNormalization", floats(2, 3), floats(2), floats(3), floats(3), floats(3)), "a number per channel"),
    (sample("Dropout", floats(3), np.array(0.5, np.float32), np.array(True)), "training_mode is true"),
    (sample("LRN", floats(1, 3, 2)), "channels and a size"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


@pytest.mark.parametrize("row", [1, 7, 40])
def test_a_softmax_of_float16_rounds_where_the_function_body_of_onnx_does(row: int) -> None:
    graph = from_text(f"""graph f(x: float16[4, {row}]) {{
  let y = Softmax(x)
  return y
}}""")
    x = np.random.default_rng(3).normal(0, 4, (4, row)).astype(np.float16)
    x[0, 0], x[1] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        less = x.astype(np.float32) - x.max(axis=1, keepdims=True).astype(np.float32)
        powers = np.exp(less).astype(np.float16).astype(np.float32)
        total = powers.sum(axis=1, keepdims=True).astype(np.float16).astype(np.float32)
        wanted = (powers / total).astype(np.float16)
        found = interpret(expand_compositions(graph), {"x": x})["y"]
    np.testing.assert_array_equal(found, wanted)


def test_a_sum_that_float16_does_not_hold_makes_no_zeros() -> None:
    graph = from_text("""graph f(x: float16[70000]) {
  let y = Softmax(x)
  return y
}""")
    found = interpret(expand_compositions(graph), {"x": np.zeros(70000, np.float16)})["y"]
    np.testing.assert_array_equal(found, np.full(70000, 1 / 70000, np.float16))
