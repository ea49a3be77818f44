"""The builder of compositions."""

from polysched.graph.operators.builder import Builder


def test_nodes_and_constants_have_names_of_their_own() -> None:
    count = iter(range(9))
    builder = Builder(lambda stem: f"{stem}{next(count)}")
    axes = builder.constant([1, -1])
    first, second = builder.ops("Split", 2, "x", axes, axis=0)
    assert builder.constants[axes].dtype == "int64"
    assert builder.nodes[0].outputs == (first, second)
    assert builder.nodes[0].attribute("axis") == 0
    assert builder.op("Exp", first) == builder.nodes[1].outputs[0]
