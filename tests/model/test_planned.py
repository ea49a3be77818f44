"""The plan of a graph as it is compiled."""

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.graph import from_text, interpret
from polysched.model.compiling import compile_graph
from polysched.model.planned import planned
from polysched.target import host

PRODUCT = from_text("""graph f(x: float32[8, 32], w: float32[32, 64]) {
  let a = MatMul(x, w)
  let y = Relu(a)
  return y, y
}""")


def test_an_output_that_is_given_twice_is_made_once() -> None:
    made = planned(PRODUCT)
    assert made.graph.outputs == ("y",)
    assert [n.op for k in made.kernels for n in k.fragment.nodes] == ["MatMul", "Relu"]


def test_a_target_changes_layouts_and_not_the_outputs() -> None:
    assert str(planned(PRODUCT, host()).type_of("y")) == str(planned(PRODUCT).type_of("y"))


SOFTMAX = from_text("""graph f(x: float32[9, 33]) {
  let y = Softmax(x; axis=-1)
  return y
}""")


def test_kernels_by_cost_are_compiled_and_right() -> None:
    inputs = {"x": np.linspace(-3, 3, 9 * 33, dtype=np.float32).reshape(9, 33)}
    model = compile_graph(SOFTMAX, fusion="cost")
    assert len(model.plan.kernels) == 1
    np.testing.assert_allclose(model.run(inputs)["y"], interpret(SOFTMAX, inputs)["y"], rtol=1e-5)
    with pytest.raises(UsageError, match="greedily or by cost"):
        compile_graph(SOFTMAX, fusion="best")
