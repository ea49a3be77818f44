"""A builder knows the types and values of what it makes."""

from polysched.graph import from_text
from polysched.graph.evaluation.typed_builder import TypedBuilder
from polysched.graph.passes.names import fresh_names


def test_types_and_values_are_known_at_once() -> None:
    graph = from_text("graph f(x: float32[N, 6]) {\n  const two: int64[1] = [2]\n  let y = Exp(x)\n  return y\n}")
    build = TypedBuilder(graph, fresh_names(graph))
    doubled = build.op("Mul", "two", build.constant([3]))
    made = build.op("ReduceSum", "x", build.constant([1]), keepdims=0)
    assert build.inference.known[doubled].tolist() == [6]
    assert str(build.inference.types[made]) == "float32[N]"
    assert [node.op for node in build.nodes] == ["Mul", "ReduceSum"]
    assert set(build.constants) == {"two", "c_0", "c_1"}
