"""Compositions become other operators under the names that were bound."""

from polysched.graph import from_text, to_text
from polysched.graph.passes.expansion import expand_compositions


def test_a_product_with_an_addend() -> None:
    graph = from_text("""graph f(a: float32[2, 3], b: float32[3, 4], c: float32[4]) {
  let y = Gemm(a, b, c)
  return y
}""")
    assert to_text(expand_compositions(graph)) == """graph f(a: float32[2, 3], b: float32[3, 4], c: float32[4]) {
  let matmul_0 = MatMul(a, b)
  let y = Add(matmul_0, c)
  return y
}"""


def test_a_result_that_is_an_operand_becomes_a_view() -> None:
    graph = from_text("""graph f(a: float32[2]) {
  const p: int64[2] = [0, 0]
  let y = Pad(a, p)
  return y
}""")
    assert [n.op for n in expand_compositions(graph).nodes] == ["Identity"]
