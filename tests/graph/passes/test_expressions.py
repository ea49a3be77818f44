"""Simplify expression: before and after, and rules that must not fit."""

import pytest

from polysched.graph import from_text
from polysched.graph.passes.expressions import simplify_expression
from tests.graph.passes.golden import behind


def test_simplify_expression() -> None:
    assert behind(simplify_expression, """graph f(x: float32[2, 1, 3]) {
  const p: int64[2] = [3, 2]
  const q: int64[1] = [-1]
  const one: float32[] = [1.0]
  let a = Transpose(x; perm=[2, 1, 0])
  let b = Transpose(a; perm=[1, 2, 0])
  let c = Transpose(b; perm=[1, 0, 2])
  let d = Reshape(c, p)
  let e = Reshape(d, q)
  let w = Cast(e; to="float64")
  let n = Cast(w; to="float32")
  let y = Mul(n, one)
  return y
}""") == """
  const c_0: int64[1] = [6]
  let y = Reshape(x, c_0)
  return y
"""


@pytest.mark.parametrize(("first", "between", "last"), [
    ("float16", "bfloat16", "float32"), ("float8_e5m2", "float16", "float8_e4m3fn"), ("int8", "int4", "int32")])
def test_conversions_through_narrow_types_stay(first: str, between: str, last: str) -> None:
    graph = from_text(f"""graph f(x: {first}[3]) {{
  let a = Cast(x; to="{between}")
  let y = Cast(a; saturate=0, to="{last}")
  return y
}}""")
    assert simplify_expression(graph).nodes == graph.nodes
