"""Derivatives of sums and products of many elements."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.passes.differentiation.gradients import differentiated
from tests.graph.passes.differentiation.test_derivatives import check


@pytest.mark.parametrize("line", [
    "CumSum(x, last)", "CumSum(x, first; reverse=1)", "CumSum(x, last; exclusive=1)", "ReduceProd(x, one)",
    "ReduceProd(x)", "ReduceProd(x, zero; keepdims=0)", 'Einsum(x, t; equation="ij,jk->ik")',
    'Einsum(x, t; equation="ij,jk->")', 'Einsum(x, v; equation="ij,j->ji")', 'Einsum(x, v; equation="...j,j")',
    'Einsum(x, t, v; equation="ij,jk,j->k")', 'Einsum(x, t; equation="ij,ab->a")'])
def test_rows_and_equations(line: str) -> None:
    check(f"""graph g(x: float64[2, 3], t: float64[3, 2], v: float64[3]) {{
  const one: int64[1] = [1]
  const zero: int64[1] = [0]
  const last: int64[] = [1]
  const first: int64[] = [0]
  let f = {line}
  let y = Mul(f, f)
  return y
}}""")


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_a_product_with_zeros(zeros: int) -> None:
    graph = differentiated(from_text("""graph g(x: float64[2, 2]) {
  let y = ReduceProd(x)
  let d = Gradient(x; xs=["x"], y="y")
  return d
}"""))
    x = np.array([[0.0 if p < zeros else p + 2.0 for p in range(4)]]).reshape(2, 2)
    wanted = [[np.prod(np.delete(x.ravel(), p)) for p in row] for row in ((0, 1), (2, 3))]
    assert interpret(graph, {"x": x})["d"].tolist() == wanted


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("zeros", [(), (2,), (0,), (1, 3), (0, 1, 2, 3, 4)])
def test_a_running_product_with_zeros(zeros: tuple[int, ...], exclusive: int, reverse: int) -> None:
    graph = differentiated(from_text(f"""graph g(x: float64[2, 5], w: float64[2, 5]) {{
  const last: int64[] = [1]
  let p = CumProd(x, last; exclusive={exclusive}, reverse={reverse})
  let y = Mul(p, w)
  let d = Gradient(x; xs=["x"], y="y")
  return d
}}"""))
    x, w = np.arange(2.0, 12).reshape(2, 5), np.array([[1.0, -2, 3, 5, -7], [2, 1, -1, 4, 3]])
    x[0, list(zeros)] = 0
    own, weights = (np.flip(v, 1) if reverse else v for v in (x, w))
    wanted = np.zeros((2, 5))
    for row, k, j in np.ndindex(2, 5, 5):
        factors = range(k + 1 - exclusive)
        wanted[row, j] += weights[row, k] * np.prod([own[row, i] for i in factors if i != j]) * (j in factors)
    np.testing.assert_allclose(interpret(graph, {"x": x, "w": w})["d"], np.flip(wanted, 1) if reverse else wanted)


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("call", ["CumProd(a, last", "Recurrence(a, b, last"])
def test_what_no_step_takes_has_no_gradient_beside_infinities(call: str, exclusive: int, reverse: int) -> None:
    graph = differentiated(from_text(f"""graph g(a: float32[1, 3], b: float32[1, 3], w: float32[1, 3]) {{
  const last: int64[] = [-1]
  let p = {call}; exclusive={exclusive}, reverse={reverse})
  let y = Mul(p, w)
  let d = Gradient(a; xs=["a"], y="y")
  return d
}}"""))
    own = np.array([[np.inf, np.nan, np.inf]], np.float32)
    found = interpret(graph, dict.fromkeys("abw", own))["d"][0, ::-1 if reverse else 1]
    unused = {0, 2} if call[0] == "R" and exclusive else {0} if call[0] == "R" else {2} if exclusive else set()
    assert [p for p in range(3) if found[p] == 0] == sorted(unused)


@pytest.mark.parametrize("x", [(2.0, 3.0, 5.0), (0.0, 3.0, 5.0), (0.0, 3.0, 0.0)])
def test_a_second_derivative_of_a_running_product(x: tuple[float, float, float]) -> None:
    graph = differentiated(from_text("""graph g(x: float64[3]) {
  const zero: int64[] = [0]
  let p = CumProd(x, zero)
  let d = Gradient(x; xs=["x"], y="p")
  let e = Gradient(x; xs=["x"], y="d")
  return e
}"""))
    a, b, c = x   # the sum of d is 1 + b + b c + a + a c + a b
    assert interpret(graph, {"x": np.array(x)})["e"].tolist() == [1 + c + b, 1 + c + a, b + a]


@pytest.mark.parametrize("attributes", [
    "group=1", "strides=[2, 1], pads=[1, 0, 0, 1]", "strides=[2, 3], output_padding=[1, 2]", "dilations=[2, 1]",
    "group=2, strides=[1, 2]", 'auto_pad="SAME_UPPER", strides=[2, 2]'])
def test_transposed_convolutions(attributes: str) -> None:
    channels = 4 if "group=2" in attributes else 2
    check(f"""graph g(x: float64[2, 4, 3, 2], w: float64[4, 2, 2, 3], b: float64[{channels}]) {{
  let c = ConvTranspose(x, w, b; {attributes})
  let y = Sin(c)
  return y
}}""")


@pytest.mark.parametrize("line", [
    "LpPool(x; kernel_shape=[2, 2])", "LpPool(x; kernel_shape=[2, 3], p=3, strides=[2, 1], pads=[0, 1, 1, 1])",
    "AveragePool(x; kernel_shape=[2, 3], strides=[2, 2], ceil_mode=1)", "LRN(x; size=2)", "LRN(x; size=3, alpha=0.5)",
    "AveragePool(x; kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1], ceil_mode=1, count_include_pad=1)"])
def test_windows_and_channels(line: str) -> None:
    check(f"""graph g(x: float64[1, 3, 4, 5]) {{
  let c = {line}
  let y = Mul(c, c)
  return y
}}""")


def test_a_diagonal_is_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="the derivative of a diagonal"):
        check("""graph g(x: float64[2, 2]) {
  let y = Einsum(x; equation="ii")
  return y
}""")
