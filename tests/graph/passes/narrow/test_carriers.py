"""Narrow types as bits: graphs before and after, and compiled ones beside the interpreter, which has ml_dtypes."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret, to_text
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.narrow.carriers import in_carriers, narrow_outputs
from polysched.graph.passes.registry import standard
from polysched.graph.values.element_types import is_narrow
from polysched.model.compiling import compile_graph
from polysched.scop.dtypes import BFLOAT16
from tests.graph.passes.golden import body, inputs_of

pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")

PLAIN = """graph g(x: float32[3]) {
  let y = Neg(x)
  return y
}"""


def test_a_graph_without_narrow_types_stays() -> None:
    graph = from_text(PLAIN)
    assert in_carriers(graph) is graph
    assert narrow_outputs(graph) == {}


def test_whole_numbers_of_four_bits_are_masked_and_signed() -> None:
    assert body(in_carriers(from_text("""graph g(x: int4[3]) {
  let y = Cast(x; to="int32")
  return y
}"""))) == """
  const c_0: uint8[] = [15]
  const c_1: int8[] = [8]
  let bitwiseand_0 = BitwiseAnd(x, c_0)
  let cast_0 = Cast(bitwiseand_0; to="int8")
  let bitwisexor_0 = BitwiseXor(cast_0, c_1)
  let sub_0 = Sub(bitwisexor_0, c_1)
  let y = Cast(sub_0; to="int32")
  return y
"""


def test_a_float_becomes_a_code_of_its_bits() -> None:
    assert body(in_carriers(from_text("""graph g(x: float32[N]) {
  let y = Cast(x; to="float8_e5m2", saturate=0)
  return y
}"""))) == """
  let bitcast_0 = BitCast(x; to="uint32")
  let y = NarrowCode(bitcast_0; saturate=0, to="float8_e5m2")
  return y
"""


def test_bfloat16_is_computed_in_float32() -> None:
    graph = from_text("""graph g(x: bfloat16[N], z: bfloat16[N]) {
  let y = Add(x, z)
  return y
}""")
    made = in_carriers(graph)
    assert [n.op for n in made.nodes] == (
        ["Cast", "BitShift", "BitCast", "Identity"] * 2 + ["Add", "BitCast", "NarrowCode"])
    assert [str(t) for _, t in made.inputs] == ["uint16[N]", "uint16[N]"]
    assert narrow_outputs(graph) == {"y": BFLOAT16}


def test_copies_stay_as_they_are() -> None:
    made = in_carriers(from_text("""graph g(x: float8_e4m3fn[2, 3], c: bool[2, 3]) {
  const perm: int64[2] = [3, 2]
  let t = Transpose(x; perm=[1, 0])
  let r = Reshape(x, perm)
  let b = Concat(t, r; axis=0)
  let w = Where(c, x, x)
  return b, w
}"""))
    assert [n.op for n in made.nodes] == ["Transpose", "Reshape", "Concat", "Where"]


GRAPHS = ["""graph g(x: float32[4, 6], s: float32[6]) {
  const z: int4[6] = [1, 0, -2, 3, 0, 7]
  let q = QuantizeLinear(x, s, z; axis=1)
  let d = DequantizeLinear(q, s, z; axis=1)
  return q, d
}""", """graph g(x: float16[4, 6], s: float16[]) {
  let q = QuantizeLinear(x, s; output_dtype="float8_e4m3fnuz", saturate=0)
  let t = Transpose(q; perm=[1, 0])
  let d = DequantizeLinear(t, s)
  return t, d
}""", """graph g(x: float4_e2m1fn[5], i: int64[2]) {
  const pads: int64[2] = [1, 2]
  let p = Pad(x, pads)
  let e = Gather(p, i)
  let y = Cast(e; to="float64")
  let z = CastLike(y, p)
  return p, y, z
}""", """graph g(x: bfloat16[3, 4], w: bfloat16[4, 2]) {
  let m = MatMul(x, w)
  let y = Softmax(m)
  let s = Shape(x)
  let f = ConstantOfShape(s; dtype="bfloat16", value=1.5)
  return y, f
}""", """graph g(x: uint2[7], n: int64[]) {
  const least: int64[] = [0]
  let c = Greater(n, least)
  let y = If(c) {
    graph yes() {
      let a = Cast(x; to="float8_e8m0fnu")
      return a
    }
    graph no() {
      let b = Cast(x; to="float8_e8m0fnu", round_mode="down")
      return b
    }
  }
  return y
}""", """graph g(x: bfloat16[4, 2], q: float8_e5m2[4]) {
  const n: int64[] = [3]
  const go: bool[] = [true]
  let y, r, s = Loop(n, go, x, q) {
    graph body(i, c, a, b) {
      const turned: int64[4] = [1, 2, 3, 0]
      let d = Identity(c)
      let e = Add(a, a)
      let f = Gather(b, turned)
      let g = Identity(f)
      return d, e, f, g
    }
  }
  return y, r, s
}"""]


@pytest.mark.parametrize("text", GRAPHS, ids=["int4", "float8", "float4", "bfloat16", "branch", "loop"])
def test_what_is_compiled_is_what_is_interpreted(text: str) -> None:
    graph = from_text(text)
    inputs = inputs_of(graph)
    wanted, found = interpret(graph, inputs), compile_graph(graph).run(inputs)
    for name, value in wanted.items():
        assert found[name].dtype == value.dtype
        np.testing.assert_allclose(found[name].astype(np.float64), value.astype(np.float64),
                                   rtol=2.0 ** -7 if value.dtype.name == "bfloat16" else 1e-6)


@pytest.mark.parametrize("text", GRAPHS)
def test_nothing_narrow_is_planned(text: str) -> None:
    made = standard(from_text(text))
    assert not any(is_narrow(t.dtype) for t in infer(made).types.values())


@pytest.mark.parametrize(("line", "problem"), [
    ("Add(x, x)", "elements of float8_e5m2 are stored and converted, not computed with"),
    ("Softmax(x)", "elements of float8_e5m2 are stored"), ("MatMul(x, x)", "elements of float8_e5m2 are stored"),
    ('Cast(x; to="float9")', "a conversion to float9"), ('BitCast(x; to="int4")', "the bits of float8_e5m2 as int4")])
def test_what_is_no_copy_and_no_conversion_is_refused(line: str, problem: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(from_text(f"graph g(x: float8_e5m2[2, 2]) {{\n  let y = {line}\n  return y\n}}"))


def test_the_text_of_narrow_constants_reads_back() -> None:
    text = to_text(from_text(GRAPHS[0]))
    assert "const z: int4[6] = [1, 0, -2, 3, 0, 7]" in text
    assert to_text(from_text(text)) == text
