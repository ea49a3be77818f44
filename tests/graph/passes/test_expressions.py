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


def test_transposes_around_a_change_of_shape_are_one() -> None:
    """Channels into blocks behind rows of channels, which so stay whole."""
    assert behind(simplify_expression, """graph f(x: float32[2, 3, 8]) {
  const p: int64[4] = [2, 2, 4, 3]
  let a = Transpose(x; perm=[0, 2, 1])
  let b = Reshape(a, p)
  let y = Transpose(b; perm=[0, 1, 3, 2])
  return y
}""") == """
  const c_0: int64[4] = [2, 3, 2, 4]
  let reshape_0 = Reshape(x, c_0)
  let y = Transpose(reshape_0; perm=[0, 2, 1, 3])
  return y
"""


@pytest.mark.parametrize(("shape", "perm", "between", "last"), [
    ((2, 3, 8), (0, 2, 1), (2, 2, 4, 3), (0, 1, 3, 2)), ((4, 6), (1, 0), (3, 8), (1, 0)),
    ((4, 6), (1, 0), (12, 2), (1, 0)), ((4, 6), (1, 0), (4, 6), (1, 0)),
    ((1, 4, 6), (2, 0, 1), (2, 3, 1, 4), (3, 2, 1, 0)), ((6, 1), (1, 0), (1, 2, 3), (2, 1, 0)),
    ((2, 3, 4, 5), (3, 1, 0, 2), (15, 8), (1, 0)), ((8, 3), (1, 0), (3, 2, 2, 2), (3, 1, 0, 2)),
    ((3, 4), (1, 0), (6, 2), (1, 0)), ((3, 4), (1, 0), (2, 6), (1, 0))])
def test_values_behind_transposes_around_a_change_of_shape(shape: tuple[int, ...], perm: tuple[int, ...],
                                                           between: tuple[int, ...], last: tuple[int, ...]) -> None:
    found = behind(simplify_expression, f"""graph f(x: float32{list(shape)}) {{
  const p: int64[{len(between)}] = {list(between)}
  let a = Transpose(x; perm={list(perm)})
  let b = Reshape(a, p)
  let c = Transpose(b; perm={list(last)})
  let d = Exp(c)
  return d
}}""")
    assert found.count("Transpose") == (2 if (shape, between) in (((4, 6), (4, 6)), ((3, 4), (6, 2))) else 1)


@pytest.mark.parametrize(("first", "between", "last"), [
    ("float16", "bfloat16", "float32"), ("float8_e5m2", "float16", "float8_e4m3fn"), ("int8", "int4", "int32")])
def test_conversions_through_narrow_types_stay(first: str, between: str, last: str) -> None:
    graph = from_text(f"""graph f(x: {first}[3]) {{
  let a = Cast(x; to="{between}")
  let y = Cast(a; saturate=0, to="{last}")
  return y
}}""")
    assert simplify_expression(graph).nodes == graph.nodes
