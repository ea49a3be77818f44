"""What becomes one kernel."""

import numpy as np
import pytest

from polysched.graph import Graph, Node, from_text, to_text
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.simple import with_types
from polysched.graph.planning.expressions import has_stages, is_epilogue
from polysched.graph.planning.partition import fragment_of, partition
from polysched.graph.values.sizes import Size

GRAPH = with_types(from_text("""graph f(x: float32[3, 4], w: float32[4, 4]) {
  const half: float32[] = [0.5]
  const axes: int64[1] = [1]
  let a = Mul(x, half)
  let b = MatMul(a, w)
  let t = Transpose(b)
  let c = Exp(t)
  let d = Add(c, x2)
  const x2: float32[3] = [1.0, 2.0, 3.0]
  let e = Neg(d)
  let r = ReduceSum(d, axes)
  return e, r
}"""))
INFERRED = infer(GRAPH)


def test_a_result_and_an_operand_that_are_left_out_are_no_value() -> None:
    types = dict(from_text("graph f(x: float32[4], z: float32[1, 2, 4]) {\n  return x\n}").inputs)
    graph = with_types(Graph(name="f", inputs=tuple(types.items()), outputs=("m", "y"), constants={
        "most": np.array(1, np.float32)}, nodes=(
            Node.of("MaxPool", ("z",), ("m", ""), {"kernel_shape": (2,)}), Node.of("Clip", ("x", "", "most"), ("c",)),
            Node.of("Neg", ("c",), ("y",)))))
    assert [[n.op for n in g.nodes] for g in partition(graph, infer(graph))] == [["MaxPool"], ["Clip", "Neg"]]


def test_elementwise_chains_are_joined_and_shared_values_are_computed_once() -> None:
    assert [[n.op for n in g.nodes] for g in partition(GRAPH, INFERRED)] == [
        ["Mul"], ["MatMul"], ["Transpose", "Exp", "Add"], ["Neg"], ["ReduceSum"]]


def test_equal_groups_have_equal_texts() -> None:
    groups = partition(GRAPH, INFERRED)
    fragment, inputs, sizes = fragment_of(GRAPH, groups[2], INFERRED)
    assert (inputs, sizes) == (("b", "x2"), ())
    assert to_text(fragment) == """graph kernel(x0: float32[3, 4], x1: float32[3]) {
  let v2 = Transpose(x0)
  let v3 = Exp(v2)
  let v5 = Add(v3, x1)
  return v5
}"""
    assert fragment_of(GRAPH, groups[4], INFERRED)[0].constants["c0"].tolist() == [1]


def test_sizes_that_are_open_have_canonical_names() -> None:
    texts = set()
    for name in ("batch size", "N"):
        graph = with_types(from_text("graph f(x: float32[2*N, 4]) {\n  let y = Exp(x)\n  return y\n}"))
        graph = graph.but(inputs=(("x", graph.inputs[0][1].bound({"N": Size.symbol(name)})),), types={})
        inferred = infer(graph)
        fragment, _, sizes = fragment_of(with_types(graph), partition(graph, inferred)[0], inferred)
        assert sizes == (Size.symbol(name),)
        texts.add(to_text(fragment))
    assert len(texts) == 1


def test_a_product_of_open_sizes_is_one_size_of_a_fragment() -> None:
    graph = from_text("graph f(x: float32[6*N*(M + 1), M]) {\n  let y = Exp(x)\n  return y\n}")
    inferred = infer(graph)
    fragment, _, sizes = fragment_of(with_types(graph), partition(graph, inferred)[0], inferred)
    assert [str(s) for s in sizes] == ["(M + 1)*N", "M"]
    assert str(fragment.inputs[0][1]) == "float32[6*n0, n1]"


EPILOGUE = """graph f(x: float32[1, 2, 4, 4], w: float32[3, 2, 1, 1], z: float32[1, 3, 4, 4]) {{
  let c = Conv(x, w)
  {}
  return y
}}"""


@pytest.mark.parametrize(("lines", "groups"), [
    ("let y = Relu(c)", ["Conv Relu"]), ("let s = Sigmoid(c) let y = Mul(c, s)", ["Conv Sigmoid Mul"]),
    ("let r = Neg(z) let s = Add(c, r) let y = Relu(s)", ["Conv Neg Add Relu"]),
    ("let d = Conv(z, v) let y = Add(c, d)", ["Conv", "Conv Add"]),
    ("let s = Neg(c) let t = Transpose(s) let y = Exp(t)", ["Conv", "Neg Transpose Exp"]),
    ("let a = Add(c, z) let q = Mul(a, a) let r = Tanh(q) let y = Mul(a, r)", ["Conv Add Mul Tanh Mul"]),
    ("let a = Neg(z) let q = Exp(a) let t = Transpose(q; perm=[0, 1, 3, 2]) let y = Add(a, t)",
     ["Conv", "Neg", "Exp Transpose Add"]),
    ("let a = Add(c, z) let q = Exp(a) let m = ReduceSum(a) let y = Mul(q, m)", ["Conv Add", "ReduceSum", "Exp Mul"]),
    ("let m = ReduceSum(c) let y = Mul(c, m)", ["Conv", "ReduceSum", "Mul"])])
def test_elementwise_operators_stand_behind_a_sum_of_products(lines: str, groups: list[str]) -> None:
    text = EPILOGUE.format(lines.replace(" let", "\n  let")).replace("{\n", "{\n  const v: float32[3, 3, 1, 1] = ["
                                                                     + ", ".join("1" * 9) + "]\n", 1)
    graph = with_types(from_text(text))
    found = partition(graph, inferred := infer(graph))
    assert sorted(" ".join(n.op for n in g.nodes) for g in found) == sorted(groups)
    for group in found:
        if len(group.nodes) > 1:
            fragment, _, _ = fragment_of(graph, group, inferred)
            assert is_epilogue(fragment) == (group.nodes[0].op == "Conv")
            assert not has_stages(fragment) or group.nodes[0].op != "Conv"
