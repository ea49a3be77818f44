"""A pass before and after: the text, and the values by the interpreter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polysched.graph import Graph, from_text, interpret, to_text

FUSABLE = """graph f(x: float32[1, 1, 4], s: float32[1, 1, 4]) {
  const w: float32[1, 1, 3] = [1.0, 2.0, 3.0]
  const k: float32[] = [2.0]
  const ax: int64[1] = [2]
  let t = Exp(s)
  let c = Conv(x, w; pads=[1, 1])
  let r = Relu(c)
  let q = Mul(r, k)
  let d = Add(q, t)
  let e = Neg(d)
  let g = Abs(d)
  let h = Mul(e, g)
  let y = ReduceSum(h, ax; keepdims=0)
  return y
}"""
"""All nodes but the last become one kernel."""


def inputs_of(graph: Graph, seed: int = 5) -> dict[str, np.ndarray]:
    """Values for a graph's inputs; symbols are 3."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, its_type in graph.inputs:
        own = its_type.bound(dict.fromkeys(graph.symbols, 3))
        drawn = rng.uniform(-2, 2, own.extents) if own.dtype.is_float else rng.integers(0, 3, own.extents)
        found[name] = np.asarray(drawn).astype(own.numpy)
    return found


def same_values(before: Graph, after: Graph, tolerance: float = 0.0) -> None:
    """Both graphs compute the same."""
    inputs = inputs_of(before)
    wanted, found = interpret(before, inputs), interpret(after, inputs)
    assert list(found) == list(wanted)
    for name, value in wanted.items():
        assert found[name].dtype == value.dtype
        np.testing.assert_allclose(found[name], value, rtol=tolerance, atol=tolerance)


def behind(run: Callable[[Graph], Graph], before: str, tolerance: float = 0.0) -> str:
    """The body of a graph behind a pass, as text; it reads back, and it computes the same."""
    graph = from_text(before)
    made = run(graph)
    assert to_text(from_text(to_text(made))) == to_text(made)
    same_values(graph, made, tolerance)
    return body(made)


def body(graph: Graph) -> str:
    """The lines of a graph's text but the first and the last, with digests for long constants."""
    return "\n".join(["", *str(graph).splitlines()[1:-1], ""])
