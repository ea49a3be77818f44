"""The text form: what is printed reads back as the same graph."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, to_text

TEXT = r'''graph mlp(x: float32[N, 4], "we/ird": int64[3*((N + 1) // 2) + 2]) {
  const b: float32[1] = [0.5]
  const c: float64[3] = [inf, nan, -inf]
  const d: bool[2] = [true, false]
  const e: int64[0] = []
  let y: float32[N, 4] = Add(x, b)
  let z: float32[N, 4], _ = Softmax(y, _, "we/ird"; axis=1, m="a\"b", p=[1.0, -2.0], q=[])
  let q = If(z) {
    graph then() {
      let w = Neg(y)
      return w
    }
    graph other() {
      return y
    }
  }
  return z, q
}'''


def test_the_text_is_a_fixed_point() -> None:
    assert to_text(from_text(TEXT)) == TEXT


def test_products_of_sizes_read_back() -> None:
    text = "graph f(x: float32[2*(M + 1)*(N), (((M)*(N)) // 2) + -3*(K)*(M)]) {\n  return x\n}"
    assert to_text(from_text(text)) == text


def test_truth_values_and_names_like_numbers_read_back() -> None:
    text = """graph f(nan.0: float32[2], infix: float32[2]) {
  let y = Odd(nan.0, infix; a=true, b=[inf, -1.0])
  return y
}"""
    assert to_text(from_text(text)) == text


def test_the_values_read_back_exactly() -> None:
    graph = from_text(TEXT)
    values = np.random.default_rng(1).normal(size=20).astype(np.float32)
    again = from_text(to_text(graph.but(constants={**graph.constants, "r": values})))
    assert np.array_equal(again.constants["r"], values)
    assert again.nodes[:2] == graph.nodes[:2]
    assert again.inputs == graph.inputs


def test_long_constants_read_back_beside_their_arrays() -> None:
    graph = from_text(TEXT)
    text = to_text(graph, most_elements=2)
    assert "sha256_" in text
    assert to_text(from_text(text, graph.constants)) == TEXT
    with pytest.raises(UnsupportedGraphError, match="only a digest of the constant 'c'"):
        from_text(text)


@pytest.mark.parametrize(("text", "wanted"), [
    ("graph f(x: float32[2]) {\n  let y = Exp(x\n  return y\n}", "line 3"),
    ("graph f(x: float33[2]) {\n  return x\n}", "an element type"),
    ("graph f() {\n  const a: int64[2] = [1]\n  return a\n}", "2 elements of 'a'"),
    ("graph f() {\n  return a\n} x", "the end"), ("", "graph is wanted")])
def test_what_is_no_graph_is_refused_with_its_place(text: str, wanted: str) -> None:
    with pytest.raises(UnsupportedGraphError) as refusal:
        from_text(text)
    assert wanted in str(refusal.value)
