"""Operators of the same data become one, before and after."""

from polysched.graph.passes.parallel import combine_parallel
from tests.graph.passes.golden import behind


def test_products_of_the_same_data_become_one() -> None:
    assert behind(combine_parallel, """graph f(x: float32[2, 2]) {
  const v: float32[2, 1] = [1.0, 2.0]
  const w: float32[2, 2] = [3.0, 4.0, 5.0, 6.0]
  let a = MatMul(x, v)
  let b = MatMul(x, w)
  let y = Add(a, b)
  return y
}""", 1e-6) == """
  const weights_0: float32[2, 3] = [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]
  const parts_0: int64[2] = [1, 2]
  let matmul_0 = MatMul(x, weights_0)
  let a, b = Split(matmul_0, parts_0; axis=-1)
  let y = Add(a, b)
  return y
"""


def test_convolutions_of_the_same_data_and_padding_become_one() -> None:
    assert behind(combine_parallel, """graph f(x: float32[1, 1, 4]) {
  const v: float32[1, 1, 2] = [1.0, 2.0]
  const w: float32[2, 1, 2] = [3.0, 4.0, 5.0, 6.0]
  const p: float32[1] = [1.0]
  const q: float32[2] = [2.0, 3.0]
  let a = Conv(x, v, p; pads=[1, 0])
  let b = Conv(x, w, q; pads=[1, 0])
  let c = Conv(x, w, q)
  return a, b, c
}""", 1e-6) == """
  const w: float32[2, 1, 2] = [3.0, 4.0, 5.0, 6.0]
  const q: float32[2] = [2.0, 3.0]
  const weights_0: float32[3, 1, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
  const bias_0: float32[3] = [1.0, 2.0, 3.0]
  const parts_0: int64[2] = [1, 2]
  let conv_0 = Conv(x, weights_0, bias_0; pads=[1, 0])
  let a, b = Split(conv_0, parts_0; axis=1)
  let c = Conv(x, w, q)
  return a, b, c
"""
