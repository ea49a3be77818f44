"""Convolutions in other layouts, before and after."""

from polysched.graph.passes.channel_layout import alter_layout, convert_layout
from tests.graph.passes.golden import behind


def test_convert_layout() -> None:
    assert behind(convert_layout, """graph f(x: float32[1, 2, 4, 4]) {
  const w: float32[2, 2, 1, 1] = [1.0, 2.0, 3.0, 4.0]
  const v: float32[1, 2, 2, 1] = [1.0, 2.0, 3.0, 4.0]
  const b: float32[1, 2, 1, 1] = [1.0, 2.0]
  let a = Conv(x, w)
  let c = Add(a, b)
  let d = Relu(c)
  let y = Conv(d, v)
  return y
}""", 1e-6) == """
  const c_0: float32[1, 1, 1, 2] = [1.0, 2.0]
  const transpose_1: float32[1, 1, 2, 2] = [1.0, 3.0, 2.0, 4.0]
  const transpose_4: float32[2, 1, 2, 1] = [1.0, 3.0, 2.0, 4.0]
  const c_1: int64[4] = [1, 1, 3, 4]
  let transpose_0 = Transpose(x; perm=[0, 2, 3, 1])
  let channelslastconv_0 = ChannelsLastConv(transpose_0, transpose_1)
  let add_0 = Add(channelslastconv_0, c_0)
  let relu_0 = Relu(add_0)
  let channelslastconv_1 = ChannelsLastConv(relu_0, transpose_4)
  let y = Reshape(channelslastconv_1, c_1)
  return y
"""


def test_alter_layout() -> None:
    assert behind(lambda graph: alter_layout(graph, 2), """graph f(x: float32[1, 2, 4]) {
  const w: float32[4, 2, 1] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
  const v: float32[2, 4, 1] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
  const b: float32[4] = [1.0, 2.0, 3.0, 4.0]
  let a = Conv(x, w, b)
  let d = Relu(a)
  let y = Conv(d, v)
  return y
}""", 1e-6) == """
  const c_0: int64[4] = [1, 1, 2, 4]
  const c_8: int64[3] = [1, 4, 2]
  const transpose_1: float32[2, 1, 1, 2, 2] = [1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0]
  const reshape_2: float32[2, 2] = [1.0, 2.0, 3.0, 4.0]
  const transpose_4: float32[1, 2, 1, 2, 2] = [1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0]
  let reshape_0 = Reshape(x, c_0)
  let transpose_0 = Transpose(reshape_0; perm=[0, 1, 3, 2])
  let blockedconv_0 = BlockedConv(transpose_0, transpose_1, reshape_2)
  let relu_0 = Relu(blockedconv_0)
  let blockedconv_1 = BlockedConv(relu_0, transpose_4)
  let reshape_8 = Reshape(blockedconv_1, c_8)
  let y = Transpose(reshape_8; perm=[0, 2, 1])
  return y
"""
