"""Common subexpressions, before and after."""

import numpy as np
import pytest

from polysched.graph import from_text, interpret
from polysched.graph.passes.common import common_subexpressions
from tests.graph.passes.golden import behind


def test_common_subexpressions() -> None:
    assert behind(common_subexpressions, """graph f(c: bool[], x: float32[3]) {
  const k: float32[] = [2.0]
  const l: float32[] = [2.0]
  let a = Mul(x, k)
  let b = Mul(x, l)
  let y = If(c) {
    graph yes() {
      let d = Mul(x, k)
      let e = Add(d, b)
      return e
    }
    graph no() {
      let f = Neg(x)
      let g = Neg(x)
      let h = Mul(f, g)
      return h
    }
  }
  let z = Add(a, y)
  return z
}""") == """
  const k: float32[] = [2.0]
  let a = Mul(x, k)
  let y = If(c) {
    graph yes() {
      let e = Add(a, a)
      return e
    }
    graph no() {
      let f = Neg(x)
      let h = Mul(f, f)
      return h
    }
  }
  let z = Add(a, y)
  return z
"""


def test_attributes_that_only_compare_equal_differ() -> None:
    assert behind(common_subexpressions, """graph f(x: float32[1]) {
  const s: int64[1] = [1]
  let a = ConstantOfShape(s; dtype="float32", value=0.0)
  let b = ConstantOfShape(s; dtype="float32", value=-0.0)
  let c = Div(x, a)
  let d = Div(x, b)
  let y = Sub(c, d)
  return y
}""") == """
  const s: int64[1] = [1]
  let a = ConstantOfShape(s; dtype="float32", value=0.0)
  let b = ConstantOfShape(s; dtype="float32", value=-0.0)
  let c = Div(x, a)
  let d = Div(x, b)
  let y = Sub(c, d)
  return y
"""


def test_constants_that_differ_between_the_elements_that_are_looked_at_first_stay_two() -> None:
    one, other = np.zeros(1000, np.float32), np.zeros(1000, np.float32)
    other[7], same = 1, np.zeros(1000, np.float32)
    negative = -one
    graph = from_text("""graph f(x: float32[1000]) {
  let a = Add(x, k0)
  let b = Add(a, k1)
  let c = Add(b, k2)
  let d = Add(c, k3)
  return d
}""").but(constants={"k0": one, "k1": other, "k2": same, "k3": negative})
    assert set(common_subexpressions(graph).constants) == {"k0", "k1", "k3"}


def test_constants_of_narrow_types_with_the_same_bytes_stay_two() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    one = np.array([-1, 2], ml_dtypes.int4)
    graph = from_text("""graph f(x: float32[2]) {
  let a = Cast(k; to="float32")
  let b = Cast(l; to="float32")
  let c = Add(x, a)
  let y = Add(c, b)
  return y
}""").but(constants={"k": one, "l": np.array([15, 2], ml_dtypes.uint4)})
    x = {"x": np.zeros(2, np.float32)}
    assert interpret(common_subexpressions(graph), x)["y"].tolist() == interpret(graph, x)["y"].tolist() == [14, 4]
