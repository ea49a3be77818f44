"""Products of dequantised bytes on the bytes, before and after."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.passes.integer_products import integer_products
from polysched.graph.values.graph import Graph
from tests.graph.passes.golden import behind

SCALES = """  const s: float32[] = [0.5]
  const z: uint8[] = [3]
  const t: float32[] = [0.25]
"""


def text(nodes: str, x: str = "uint8[2, 3]", w: str = "int8[3, 2]", more: str = "") -> str:
    return f"""graph f(x: {x}, w: {w}) {{
{SCALES}{more}  let a = DequantizeLinear(x, s, z)
{nodes}  return y
}}"""


def operators(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def test_a_product_of_bytes_is_scaled_behind() -> None:
    assert behind(integer_products, text("  let b = DequantizeLinear(w, t)\n  let y = MatMul(a, b)\n"), 1e-6) == """
  const s: float32[] = [0.5]
  const t: float32[] = [0.25]
  const c_1: uint8[] = [3]
  const c_2: int64[0] = []
  const c_3: int64[0] = []
  let matmulinteger_0 = MatMulInteger(x, w, c_1)
  let reshape_0 = Reshape(s, c_2)
  let reshape_1 = Reshape(t, c_3)
  let cast_0 = Cast(matmulinteger_0; to="float32")
  let mul_0 = Mul(reshape_0, reshape_1)
  let y = Mul(cast_0, mul_0)
  return y
"""


CHANNELS = "  const p: float32[2] = [0.25, 2.0]\n  const q: int8[2] = [1, 1]\n"


@pytest.mark.parametrize(("nodes", "x", "w", "more"), [
    ("  let b = DequantizeLinear(w, p, q; axis=1)\n  let y = MatMul(a, b)\n", "uint8[4, 2, 3]", "int8[3, 2]", CHANNELS),
    ("  let b = DequantizeLinear(w, p; axis=0)\n  let v = Transpose(b; perm=[1, 0])\n  let y = MatMul(a, v)\n",
     "uint8[2, 3]", "int8[2, 3]", CHANNELS),
    ("  let b = DequantizeLinear(w, p; axis=0)\n  let y = Gemm(a, b, p; transA=1, transB=1, alpha=0.5, beta=2.0)\n",
     "uint8[3, 2]", "int8[2, 3]", CHANNELS),
    ("  let b = DequantizeLinear(w, p; axis=0)\n  let y = Conv(a, b, p; pads=[1, 1], strides=[2])\n", "uint8[2, 3, 7]",
     "int8[2, 3, 3]", CHANNELS),
    ("  let b = DequantizeLinear(w, t)\n  let y = MatMul(a, b)\n", "uint8[3]", "int8[3]", ""),
    ("  let b = DequantizeLinear(w, t)\n  let v = Reshape(a, o)\n  let y = MatMul(v, b)\n", "uint8[6]", "int8[3, 2]",
     "  const o: int64[2] = [2, 3]\n")])
def test_scales_per_channel_views_and_biases_are_kept(nodes: str, x: str, w: str, more: str) -> None:
    before = text(nodes, x, w, more)
    assert "Integer" in behind(integer_products, before, 1e-5)


@pytest.mark.parametrize(("nodes", "x", "w", "more"), [
    ("  let b = DequantizeLinear(w, p; axis=0)\n  let y = MatMul(a, b)\n", "uint8[3, 2]", "int8[2, 3]", CHANNELS),
    ("  let b = DequantizeLinear(w, p, q; axis=1)\n  let y = MatMul(a, b)\n", "uint8[2, 3]", "int8[3, 2]",
     CHANNELS.replace("[1, 1]", "[1, 2]")),
    ("  let b = DequantizeLinear(w, t)\n  let y = MatMul(a, b)\n", "uint8[1, 40000]", "int8[40000, 1]", ""),
    ("  let b = DequantizeLinear(w, t)\n  let y = MatMul(a, b)\n", "uint8[2, 3]", "int32[3, 2]", "")])
def test_what_is_left_as_it_is(nodes: str, x: str, w: str, more: str) -> None:
    graph = from_text(text(nodes, x, w, more))
    assert operators(integer_products(graph)) == operators(graph)


def test_a_long_sum_of_known_weights_fits_where_they_are_small() -> None:
    graph = from_text(text("  let b = DequantizeLinear(w, t)\n  let y = MatMul(a, b)\n", "uint8[1, 40000]",
                           "int8[40000, 1]"))
    weights = np.ones((40000, 1), np.int8)
    known = graph.but(inputs=graph.inputs[:1], constants={**graph.constants, "w": weights})
    made = integer_products(known)
    assert "MatMulInteger" in operators(made)
    given = {"x": np.full((1, 40000), 255, np.uint8)}
    assert interpret(made, given)["y"] == 40000 * 252 * 0.125


def test_an_addend_that_counts_nothing_is_not_read() -> None:
    nodes = "  let b = DequantizeLinear(w, t)\n  let y = Gemm(a, b, p; beta=0.0)\n"
    made = operators(integer_products(from_text(text(nodes, more=CHANNELS))))
    assert "MatMulInteger" in made
    assert "Add" not in made


def test_a_product_of_one_operand_is_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="operand 1 is missing"):
        integer_products(from_text("graph f(x: float32[1, 1, 5, 5]) {\n  let y = Conv(x)\n  return y\n}"))
