"""The operators of a plan: work, bytes and cuts by hand."""

from polysched.graph import from_text
from polysched.mesh import MeshTarget, place, verify
from polysched.mesh.from_plan import of_plan
from polysched.model.planned import planned

LAYER = """
graph layer(x: float32[8, 16]) {
  const w: float32[16, 32] = zeros
  let h: float32[8, 32] = MatMul(x, w)
  let y: float32[8, 32] = Relu(h)
  let t: float32[32, 8] = Transpose(y)
  let z: float32[8, 8] = MatMul(y, t)
  return z
}
"""


def operators(text):
    return of_plan(planned(from_text(text)))


def test_a_layer_by_hand() -> None:
    weights = ", ".join(["0.0"] * 512)
    graph = operators(LAYER.replace("zeros", f"[{weights}]"))
    by_name = {o.name: o for o in graph.operators}
    first = by_name["y"]   # with the product, whose tiles the activation is computed in
    assert (first.work, first.extents, first.weights, first.result) == (
        2 * 8 * 32 * 16 + 8 * 32, (8, 32), 2048, 1024)
    last = by_name["z"]
    assert (last.work, last.extents, last.weights) == (2 * 8 * 8 * 32, (8, 8), 0)
    sent = {(m.source, m.sink): (m.bytes, m.cut) for m in graph.messages}
    assert sent["y", "t"] == (1024, "cells")
    assert sent["y", "z"] == (1024, "rows")
    assert sent["t", "z"] == (1024, "columns")
    placed = place(graph, MeshTarget(rows=4, columns=4))
    verify(placed)
    plan = planned(from_text(LAYER.replace("zeros", f"[{weights}]")))
    assert place(plan, MeshTarget(rows=4, columns=4)).rectangles == placed.rectangles


def test_a_reduction_needs_whole_rows() -> None:
    graph = operators("""
graph sums(x: float32[4, 6]) {
  let y: float32[4, 6] = Exp(x)
  let s: float32[1, 1] = ReduceMax(y)
  let z: float32[4, 6] = Div(y, s)
  return z
}
""")
    reduced = next(o for o in graph.operators if o.name == "s")
    assert (reduced.work, reduced.extents) == (24, (1, 1))
    assert {(m.source, m.sink): m.cut for m in graph.messages}["y", "s"] == "rows"


def test_a_batched_right_operand_is_not_shared_by_all_rows() -> None:
    graph = operators("""
graph attention(q: float32[2, 4, 8], k: float32[2, 8, 4]) {
  let a: float32[2, 4, 8] = Neg(q)
  let b: float32[2, 8, 4] = Neg(k)
  let s: float32[2, 4, 4] = MatMul(a, b)
  return s
}
""")
    assert {(m.source, m.sink): m.cut for m in graph.messages} == {("a", "s"): "rows", ("b", "s"): "rows"}
