"""`polysched.compile` of graphs and of what is none."""

import numpy as np
import pytest

import polysched
from polysched.errors import UnsupportedGraphError, UsageError
from polysched.graph import from_text
from polysched.model.compiling import compile_graph

GRAPH = from_text("""graph f(x: float32[N, 6], s: int64[2]) {
  let y = Reshape(x, s)
  return y
}""")


def test_steering_values_are_given_when_it_is_compiled() -> None:
    model = compile_graph(GRAPH, sizes={"N": 2}, values={"s": np.array([3, 4])})
    assert model(x=np.arange(12, dtype=np.float32).reshape(2, 6))["y"].shape == (3, 4)


def test_values_that_decide_about_shapes_are_wanted_before_anything_is_compiled() -> None:
    with pytest.raises(UnsupportedGraphError, match="operand 1 decides about shapes and is not known"):
        compile_graph(GRAPH, sizes={"N": 2})


def test_a_graph_is_not_made_for_a_device() -> None:
    options = polysched.PipelineOptions(device="opencl")
    graph = from_text("graph f(x: float32[4]) {\n  let y = Relu(x)\n  return y\n}")
    with pytest.raises(UsageError, match="compiled models do not run on opencl"):
        compile_graph(graph, options=options)


def test_sizes_are_of_graphs() -> None:
    with pytest.raises(UsageError, match="sizes=, values= and likely= are of graphs"):
        polysched.compile(lambda x: x, sizes={"N": 2})
    with pytest.raises(UsageError, match="does not compile"):
        polysched.compile(3)
