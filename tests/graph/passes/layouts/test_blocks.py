"""Values with channels in blocks: which nodes follow a convolution, and that results stay."""

from dataclasses import replace

import numpy as np
import pytest

from polysched.graph import from_text, interpret
from polysched.graph.passes.channel_layout import alter_layout
from polysched.graph.passes.layouts import blocks
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import with_types
from polysched.graph.values.graph import Graph
from polysched.model.verification import differences, random_inputs

START = """graph f(x: float32[2, 3, 6, 5], other: float32[2, 4, 6, 5]) {{
  let a = Conv(x, w, b; pads=[1, 1, 1, 1])
  {}
  return y
}}"""
CONSTANTS = {"w": (4, 3, 3, 3), "b": (4,), "d": (4, 1, 3, 2), "p": (8, 4, 1, 1), "c": (1, 4, 1, 1), "i": (1, 1, 6, 5),
             "e": (4, 6, 5), "g": (4, 2, 1, 1), "o": (1,), "q": (6, 4, 1, 1), "v": (4, 6, 1, 1), "h": (2, 4, 1, 1),
             "k": (4, 4, 1, 1), "t1": (2, 1, 1, 1)}


def blocked(*lines: str, wide: int = 0) -> Graph:
    """A graph behind a convolution, in blocks of 2 channels, compared with itself before."""
    graph = from_text(START.format("\n  ".join(lines)))
    rng = np.random.default_rng(3)
    constants = {n: rng.normal(size=s).astype(np.float32) for n, s in CONSTANTS.items()}
    constants |= {"s1": np.array([2, 4, 30]), "s2": np.array([2, 2, 2, 30]), "c2": np.array([[[2.0]]], np.float32)}
    constants |= {"s3": np.array([2, 1, 4, 30])}
    constants |= {"i2": np.array([2, 3]), "i3": np.array([-1]), "i1": np.array([2, 1])}
    before = standard(graph.but(constants={n: a for n, a in constants.items() if any(n in k.inputs
                                                                                    for k in graph.nodes)}))
    after = alter_layout(before, 2, wide=wide)
    arrays = random_inputs(graph)
    found = differences(interpret(after, arrays), interpret(before, arrays))
    assert all(d.place is None for d in found)
    return after


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize("line", [
    "let y = Relu(a)", "let y = Add(a, c)", "let y = Mul(a, i)", "let y = Sub(e, a)", "let y = Div(a, o)",
    "let y = MaxPool(a; kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])",
    "let y = AveragePool(a; kernel_shape=[2, 2], pads=[1, 0, 0, 0])", "let y = Concat(a, a; axis=1)",
    "let y = Concat(a, a; axis=-1)", "let y = ReduceSum(a, i3)", "let y = Gather(a, i2; axis=2)",
    "let y = Gather(a, i2; axis=-1)",
    "let y = Conv(a, d; group=4, strides=[2, 1], dilations=[1, 2])"])
def test_one_node_follows(line: str) -> None:
    graph = blocked(line)
    assert ops(graph)[-2:] == ["Transpose", "Reshape"]
    assert ops(graph).count("Transpose") == 1


@pytest.mark.parametrize("view", ["let n = Reshape(a, s1)", "let n = Unsqueeze(a, i3)",
                                  "let m = Unsqueeze(a, i3)\n  let n = Squeeze(m, i3)"])
def test_other_spatial_dimensions_are_in_blocks_too(view: str) -> None:
    graph = blocked(view, "let r = Relu(n)", "let y = Mul(r, c2)")
    assert ops(graph)[-2:] == ["Transpose", "Reshape"]
    assert ops(graph).count("Transpose") == 1


def test_other_channels_or_images_are_plain() -> None:
    assert ops(blocked("let n = Reshape(a, s2)", "let y = Relu(n)"))[-1] == "Relu"


def test_a_view_of_fewer_dimensions_has_its_channels_elsewhere() -> None:
    """Where it broadcasts, its images are channels of the result."""
    graph = blocked("let n = Reshape(a, s1)", "let m = Reshape(other, s3)", "let r = Conv(m, t1)", "let y = Add(r, n)")
    assert ops(graph)[-1] == "Add"


def test_a_sum_over_images_needs_no_copy_back() -> None:
    graph = blocked("let y = ReduceMean(a, i2)")
    assert "Transpose" not in ops(graph)


def test_a_separable_convolution_stays_in_blocks() -> None:
    graph = blocked("let r = Relu(a)", "let s = Conv(r, d; group=4, pads=[1, 0, 1, 1])", "let t = HardSwish(s)",
                    "let u = Conv(t, p)", "let m = ReduceMean(u, i2)", "let y = Mul(u, m)")
    assert [op for op in ops(graph) if op != "Reshape"] == [
        "Pad", "BlockedConv", "Relu", "Pad", "BlockedDepthwise", "HardSwish", "BlockedConv", "ReduceSum", "Div", "Mul",
        "Transpose"]
    assert graph.nodes[-1].outputs == ("y",)


def test_a_plain_operand_is_no_reason_for_a_copy() -> None:
    graph = blocked("let y = Add(a, other)")
    assert ops(graph)[-1] == "Add"
    assert ops(graph).count("Transpose") == 1


@pytest.mark.parametrize("line", ["let y = Conv(a, g; group=2)", "let y = ReduceSum(a, i2; keepdims=0)"])
def test_other_nodes_read_the_plain_form(line: str) -> None:
    graph = blocked(line)
    assert ops(graph).count("Transpose") == 1
    assert not ops(graph)[-1].startswith("Blocked")


@pytest.mark.parametrize(("line", "copies"), [
    ("let y = Softmax(a; axis=1)", 1), ("let y = ReduceSum(a, i1; keepdims=0)", 0), ("let y = ReduceMax(a, i1)", 0)])
def test_sums_over_channels(line: str, copies: int) -> None:
    assert ops(blocked(line)).count("Transpose") == copies


def test_few_or_odd_channels_and_single_places_stay() -> None:
    graph = from_text("""graph f(x: float32[1, 3, 4, 4], z: float32[1, 4, 1, 1]) {
  const w: float32[3, 3, 1, 1] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  const v: float32[2, 4, 1, 1] = [1, 2, 3, 4, 5, 6, 7, 8]
  let a = Conv(x, w)
  let b = Conv(z, v)
  return a, b
}""")
    assert ops(alter_layout(graph, 2)) == ["Conv", "Conv"]


def test_blocks_are_wide_where_the_channels_allow_it() -> None:
    graph = with_types(blocked("let r = Relu(a)", "let s = Conv(r, d; group=4)", "let t = Conv(s, q)",
                               "let u = Conv(t, v)", "let y = ReduceMean(u, i2)", wide=4))
    widths = [graph.type_of(n.outputs[0]).extents[-1] for n in graph.nodes if n.op.startswith("Blocked")]
    assert widths == [4, 4, 2, 4], "6 channels are no number of blocks of 4"


def test_values_in_different_blocks_are_joined_and_added_in_the_plain_form() -> None:
    joined = blocked("let s = Conv(a, q)", "let y = Concat(a, s; axis=1)", wide=4)
    assert ops(joined)[-1] == "Concat"
    added = blocked("let s = Conv(a, h)", "let t = Concat(s, s; axis=1)", "let y = Add(a, t)", wide=4)
    assert ops(added)[-1] == "Add"


@pytest.mark.parametrize(("lines", "image"), [
    (("let u = Relu(t)", "let y = Conv(u, d; group=4, pads=[1, 0, 1, 1])"), True),
    (("let u = Sigmoid(t)", "let m = Mul(t, u)", "let y = Conv(m, d; group=4, pads=[1, 0, 1, 1])"), True),
    (("let u = Sigmoid(t)", "let m = Conv(u, d; group=4, pads=[1, 0, 1, 1])", "let y = Add(m, t)"), False),
    (("let y = Conv(t, d; group=4, auto_pad=\"SAME_UPPER\")",), True),
    (("let u = Relu(t)", "let y = Conv(u, d; group=4)"), False),
    (("let u = Conv(t, d; group=4, pads=[1, 0, 1, 1])", "let y = Add(u, t)"), False),
    (("let y = Concat(t, t; axis=1)",), False)])
def test_an_image_is_made_where_it_is_only_padded(lines: tuple[str, ...], image: bool,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LIMITS", replace(blocks.LIMITS, shortest_padded_row=5))
    graph = with_types(blocked("let t = Conv(a, k)", *lines))
    (points,) = [n for n in graph.nodes if n.op == "BlockedConv" and graph.constants[n.inputs[1]].shape[2:-2] in (
        (1,), (1, 1))]
    assert graph.type_of(points.outputs[0]).rank == (5 if image else 4)
    monkeypatch.setattr(blocks, "LIMITS", replace(blocks.LIMITS, shortest_padded_row=6))
    rows = with_types(blocked("let t = Conv(a, k)", *lines))
    assert any(rows.type_of(n.outputs[0]).rank == 4 for n in rows.nodes if n.op == "BlockedConv"), "rows are too short"


@pytest.mark.parametrize(("attributes", "pools"), [
    ("kernel_shape=[5, 5], pads=[2, 2, 2, 2]", 2), ("kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]", 1),
    ("kernel_shape=[3, 4], strides=[1, 2], pads=[1, 3, 2, 0], dilations=[2, 1]", 1),
    ("kernel_shape=[6, 5], strides=[1, 2], pads=[4, 1, 0, 4]", 2),
    ("kernel_shape=[3, 3], ceil_mode=1, strides=[2, 2]", 1)])
def test_large_windows_have_their_largest_elements_dimension_by_dimension(attributes: str, pools: int) -> None:
    graph = blocked(f"let y = MaxPool(a; {attributes})")
    assert ops(graph).count("MaxPool") == pools
    assert all(not any(n.attribute("pads", ())) for n in graph.nodes if n.op == "MaxPool")
