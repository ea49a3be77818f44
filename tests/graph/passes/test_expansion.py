"""Compositions become other operators under the names that were bound."""

import numpy as np
import pytest

from polysched.graph import from_text, interpret, to_text
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


@pytest.mark.parametrize("node", [
    "GlobalAveragePool(x)", "ReduceMean(x)", "ReduceL2(x)", "ReduceLogSum(x)", "AveragePool(x; kernel_shape=[2000])",
    "LpPool(x; kernel_shape=[700])", "LpNormalization(x)", "LRN(x; size=2, alpha=1.0)",
    "InstanceNormalization(x, s, s)",
    "BatchNormalization(x, s, s, s, s; training_mode=1)"])
def test_what_float16_does_not_hold_on_the_way_is_float32(node: str) -> None:
    graph = from_text(f"""graph f(x: float16[1, 2, 5000], s: float16[2]) {{
  let y = {node}
  return y
}}""")
    x = np.tile(np.array([300, 500], np.float16), (1, 2, 2500))
    values = {"x": x, "s": np.ones(2, np.float16)}
    found, wanted = (interpret(g, values)["y"] for g in (expand_compositions(graph), graph))
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(found, wanted, rtol=2e-3)
    assert found.dtype == np.float16
