"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.simple import with_types
from polysched.graph.planning.plan import plan
from tests.graph.samples import Sample, floats, graph_of, ints, read_plan, sample, truths


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Exp", ints(3)), "floating are wanted"),
    (sample("Not", floats(3)), "truth values are wanted"),
    (sample("Abs", truths(3)), "numbers are wanted"),
    (sample("BitwiseNot", floats(3)), "integers are wanted"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


def test_a_celu_of_negative_alpha_is_interpreted_as_compiled() -> None:
    graph, inputs = graph_of(sample("Celu", np.array([-1, -0.25, 0.5], np.float32), alpha=-0.5))
    wanted = [-0.5 * np.expm1(2), -0.5 * np.expm1(0.5), 0.5]   # max(0, x) + min(0, alpha (exp(x / alpha) - 1)), as ONNX
    for found in (interpret(graph, inputs), read_plan(plan(with_types(graph)), inputs)):
        np.testing.assert_allclose(found["y0"], wanted, rtol=1e-6)


@pytest.mark.parametrize("op", ["Selu", "Elu", "Celu", "LeakyRelu", "Relu", "PRelu"])
def test_zeros_keep_their_signs_and_nan_stays(op: str) -> None:
    x = np.array([-0.0, 0.0, np.nan, np.inf], np.float32)
    graph, inputs = graph_of(sample(op, x, *([np.full(4, 0.5, np.float32)] if op == "PRelu" else [])))
    found = read_plan(plan(with_types(graph)), inputs)["y0"]
    assert np.isnan(found).tolist() == [False, False, True, False]
    assert np.signbit(found)[:2].tolist() == [True, False]
