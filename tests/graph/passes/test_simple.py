"""Small passes: before and after, and the same values."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret, to_text
from polysched.graph.passes.simple import bind, fold_constants, with_types

BEFORE = """graph f(x: float32[N, 6], k: int64[1]) {
  const two: int64[1] = [2]
  let s = Shape(x)
  let dead = Exp(x)
  let axes = Sub(k, two)
  let y = ReduceSum(x, axes; keepdims=0)
  return y
}"""


def test_constants_are_folded() -> None:
    graph = bind(from_text(BEFORE), {"N": 3}, {"k": np.array([1])})
    folded = with_types(fold_constants(graph))
    assert to_text(folded) == """graph f(x: float32[3, 6]) {
  const axes: int64[1] = [-1]
  let y: float32[3] = ReduceSum(x, axes; keepdims=0)
  return y
}"""
    x = {"x": np.random.default_rng(0).normal(size=(3, 6)).astype(np.float32)}
    assert np.array_equal(interpret(folded, x)["y"], interpret(graph, x)["y"])


def test_derivatives_that_need_sizes_are_had_when_these_are_fixed() -> None:
    graph = from_text("""graph g(x: float32[1, 1, N], w: float32[1, 1, 2]) {
  let y = Conv(x, w)
  let dx, dw = Gradient(x, w; xs=["x", "w"], y="y")
  return dx, dw
}""")
    arrays = {"x": np.array([[[1, 2, 4]]], np.float32), "w": np.array([[[3, 5]]], np.float32)}
    found = interpret(bind(graph, {"N": 3}), arrays)
    assert found["dx"].ravel().tolist() == [3, 8, 5]
    assert found["dw"].ravel().tolist() == [3, 6]
    with pytest.raises(UnsupportedGraphError, match="derivatives wait for the sizes that they need"):
        interpret(graph, arrays)
    with pytest.raises(UnsupportedGraphError, match="the size N is not known"):
        bind(graph)


def test_symbols_that_are_not_there_are_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="no symbol or input 'M'") as refusal:
        bind(from_text(BEFORE), {"M": 3})
    assert "symbols: N" in str(refusal.value)


@pytest.mark.parametrize("value", [np.array([1.5]), np.array([[1]]), np.array([1, 2])])
def test_values_of_another_type_are_refused(value: np.ndarray) -> None:
    with pytest.raises(UnsupportedGraphError, match=r"the input 'k' is int64\[1\]"):
        bind(from_text(BEFORE), {"N": 3}, {"k": value})
