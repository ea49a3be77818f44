"""Pictures of plans: boxes, colours, bytes, reasons."""

import xml.etree.ElementTree as ElementTree

import pytest

from polysched.graph import from_text
from polysched.graph.planning.drawing import svg_of_plan, traffic_of
from polysched.model.planned import planned
from polysched.pipeline.options import PipelineOptions
from tests.graph.passes.control_graphs import GRAPHS

SOFTMAX = from_text("""graph f(x: float32[4, 8]) {
  let a = Exp(x)
  let b = Neg(a)
  let c = Softmax(b; axis=1)
  let d = Tanh(c)
  return d
}""")


def texts(svg: str) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_kernels_stand_with_their_operators_and_differ_in_colour() -> None:
    plan = planned(SOFTMAX)
    root = ElementTree.fromstring(svg_of_plan(plan))
    boxes = list(root.iter("{http://www.w3.org/2000/svg}rect"))
    assert len(boxes) == len(plan.kernels)
    assert len({b.get("fill") for b in boxes}) == len(boxes)
    assert {"Exp", "Neg", "Tanh"} <= set(texts(svg_of_plan(plan)))


def test_bytes_that_fusion_saves_are_said() -> None:
    plan = planned(from_text("graph f(x: float32[4, 8]) { let a = Exp(x) let b = Neg(a) return b }"))
    traffic = traffic_of(plan)
    assert traffic is not None
    assert (traffic.moved, traffic.saved) == (256, 256)   # of a: written and read
    assert f"{traffic.moved} bytes moved, 256 saved by fusion" in texts(svg_of_plan(plan))


def test_an_open_size_has_no_bytes() -> None:
    plan = planned(GRAPHS["open scan"])
    assert traffic_of(plan) is None
    assert not any("bytes moved" in line for line in texts(svg_of_plan(plan)))


@pytest.mark.parametrize(("body", "why"), [
    ("let a = Exp(x) let b = Neg(a) let c = Tanh(a) return b, c", "2 nodes read the value"),
    ("let a = Exp(x) let b = Neg(a) return a, b", "the value is an output"),
    ("let a = Exp(x) let b = ReduceSum(a; keepdims=0) return b", "ReduceSum reads elements more than once"),
    ("let a = ReduceSum(x; keepdims=1) let b = Neg(a) return b", "an element of ReduceSum is no expression"),
    ("let a = Transpose(x) let b = Mul(a, a) return b", "Mul reads the value twice")])
def test_it_says_why_there_are_no_fewer_kernels(body: str, why: str) -> None:
    plan = planned(from_text(f"graph f(x: float32[4, 4]) {{ {body} }}"))
    assert any(why in reason for _, reason in plan.refused)
    assert any(why in line for line in texts(svg_of_plan(plan)))


def test_what_is_inside_a_loop_stands_in_its_box() -> None:
    assert "    Tanh" in texts(svg_of_plan(planned(GRAPHS["nested"])))


def test_names_are_escaped() -> None:
    plan = planned(from_text('graph f("<x>": float32[4]) { let "a & b" = Exp("<x>") return "a & b" }'))
    assert "a & b =" in texts(svg_of_plan(plan))


def test_kernels_side_by_side_are_one_box_before_others() -> None:
    graph = from_text("""graph f(x: float32[64, 256], a: float32[256, 64], b: float32[256, 64]) {
      let p = MatMul(x, a)
      let q = MatMul(x, b)
      return p, q
    }""")
    plan = planned(graph, options=PipelineOptions())
    svg = svg_of_plan(plan)
    assert {"2 side by side", "MatMul"} <= set(texts(svg))
    assert any(line.startswith("2 kernels in 1 parallel region,") for line in texts(svg))
    assert svg.count("<rect") == 2
    traffic = traffic_of(plan)
    assert traffic is not None
    assert traffic.moved == 4 * 2 * (64 * 256 + 256 * 64 + 64 * 64)   # each reads x
