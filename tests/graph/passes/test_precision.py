"""Mixed precision, before and after."""

import numpy as np
import pytest

from polysched.graph import from_text, interpret
from polysched.graph.passes.precision import mixed_precision
from tests.graph.passes.golden import behind


def test_products_take_short_operands() -> None:
    assert behind(mixed_precision, """graph f(x: float32[2, 2]) {
  const w: float32[2, 2] = [1.0, 2.0, 3.0, 4.0]
  let a = MatMul(x, w)
  let b = Relu(a)
  let c = MatMul(b, w)
  let y = Erf(c)
  return y
}""", 1e-2) == """
  const c_0: float16[2, 2] = [1.0, 2.0, 3.0, 4.0]
  const c_1: float16[2, 2] = [1.0, 2.0, 3.0, 4.0]
  let cast_0 = Cast(x; to="float16")
  let matmul_0 = MatMul(cast_0, c_0)
  let relu_0 = Relu(matmul_0)
  let matmul_1 = MatMul(relu_0, c_1)
  let cast_3 = Cast(matmul_1; to="float32")
  let y = Erf(cast_3)
  return y
"""


def test_weights_are_stored_short() -> None:
    assert behind(lambda graph: mixed_precision(graph, "bfloat16"), """graph f(x: float32[2, 2]) {
  const w: float32[2, 2] = [1.0, 2.0, 3.0, 4.0]
  let y = MatMul(x, w)
  return y
}""", 1e-2) == """
  const c_0: uint16[2, 2] = [16256, 16384, 16448, 16512]
  const c_1: uint32[] = [16]
  let cast_0 = Cast(c_0; stored=1, to="uint32")
  let bitshift_0 = BitShift(cast_0, c_1; direction="LEFT")
  let bitcast_0 = BitCast(bitshift_0; to="float32")
  let y = MatMul(x, bitcast_0)
  return y
"""


@pytest.mark.parametrize("behind_the_product", [
    "const m: float32[2] = [0.0, -1e9]\n  let y = Add(p, m)",
    "const m: float32[2] = [-1e9, -1e9]\n  let s = Add(p, m)\n  let y = Softmax(s)",
    "const s: float32[] = [1e-9]\n  const t: float32[] = [1e9]\n  let u = Mul(p, s)\n  let y = Mul(u, t)"])
def test_what_meets_numbers_beyond_float16_stays_long(behind_the_product: str) -> None:
    graph = from_text(f"""graph f(x: float32[2, 2]) {{
  const w: float32[2, 2] = [1.0, 2.0, 3.0, 4.0]
  let p = MatMul(x, w)
  {behind_the_product}
  return y
}}""")
    x = {"x": np.array([[1, 2], [3, 4]], np.float32)}
    np.testing.assert_allclose(interpret(mixed_precision(graph), x)["y"], interpret(graph, x)["y"], rtol=1e-2)


def test_products_with_numbers_beyond_float16_stay_long() -> None:
    graph = from_text("""graph f(x: float32[2, 2]) {
  const w: float32[2, 2] = [1e6, 2.0, 3.0, 4.0]
  let y = MatMul(x, w)
  return y
}""")
    x = {"x": np.array([[1, 2], [3, 4]], np.float32)}
    np.testing.assert_array_equal(interpret(mixed_precision(graph), x)["y"], interpret(graph, x)["y"])
