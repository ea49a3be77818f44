"""Fragments as Scops."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text
from polysched.graph.planning.expressions import scop_of
from polysched.scop.interpreter import execute


def test_a_chain_is_one_statement() -> None:
    scop = scop_of(from_text("""graph k(x: float32[2, 3], b: float32[3]) {
      const h: float32[] = [0.5]
      let t = Transpose(x)
      let u = Transpose(t)
      let v = Mul(u, h)
      let w = Add(v, b)
      return w
    }"""))
    assert len(scop.statements) == 1
    x, b, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones(3, np.float32), np.zeros((2, 3), np.float32)
    execute(scop, {}, {"x": x, "b": b, "y0": y})
    assert np.array_equal(y, x / 2 + 1)


def test_symbols_are_parameters() -> None:
    scop = scop_of(from_text("graph k(x: float32[N, 3]) {\n  let y = Exp(x)\n  return y\n}"))
    assert [p.name for p in scop.parameters] == ["N"]


def test_an_operator_without_an_expression_is_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="no tensor expression"):
        scop_of(from_text("graph k(x: float32[2]) {\n  let y = Shape(x)\n  return y\n}"))
