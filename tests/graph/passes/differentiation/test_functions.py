"""Derivatives of further elementwise operators, beside those of torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from polysched.graph import from_text, interpret
from polysched.graph.passes.differentiation.gradients import differentiated
from polysched.model.compiling import compile_graph

X = np.array([[-3.5, -3.0, -1.25, -0.5, -0.0], [0.25, 0.5, 1.0, 3.0, 4.5]], np.float32)


def derivative(line: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The derivative of a line by `x` and `z`, interpreted and compiled."""
    graph = differentiated(from_text(f"""graph g(x: float32[2, 5], z: float32[5]) {{
  let y = {line}
  let dx, dz = Gradient(x, z; xs=["x", "z"], y="y")
  return dx, dz
}}"""))
    given = {"x": X, "z": np.arange(1, 6, dtype=np.float32)}
    return interpret(graph, given), compile_graph(graph).run(given)


@pytest.mark.parametrize(("line", "by_torch"), [
    ("Selu(x)", lambda f, x, z: f.selu(x)), ("Softsign(x)", lambda f, x, z: f.softsign(x)),
    ("HardSwish(x)", lambda f, x, z: f.hardswish(x)), ("Mish(x)", lambda f, x, z: f.mish(x)),
    ("Shrink(x; lambd=0.5)", lambda f, x, z: f.hardshrink(x, 0.5)),
    ("ThresholdedRelu(x; alpha=1.0)", lambda f, x, z: f.threshold(x, 1.0, 0.0)),
    ('Gelu(x; approximate="tanh")', lambda f, x, z: f.gelu(x, approximate="tanh")),
    ("Gelu(x)", lambda f, x, z: f.gelu(x)), ("PRelu(x, z)", lambda f, x, z: x.where(x >= 0, x * z)),
    ("Mod(x, z; fmod=1)", lambda f, x, z: x.fmod(z)), ("Mod(x, z)", lambda f, x, z: x.remainder(z)),
    ("Max(x, z)", lambda f, x, z: x.maximum(z)), ("Min(x, z)", lambda f, x, z: x.minimum(z)),
    ("Mean(x, z)", lambda f, x, z: (x + z) / 2), ("Log2(z)", lambda f, x, z: z.log2()),
    ("Log10(z)", lambda f, x, z: z.log10()), ("Rsqrt(z)", lambda f, x, z: z.rsqrt()),
    ("Floor(x)", lambda f, x, z: x.floor()), ("Round(x)", lambda f, x, z: x.round())])
def test_it_is_that_of_torch(line: str, by_torch: Callable[..., Any]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, z = torch.tensor(X, requires_grad=True), torch.arange(1.0, 6.0, requires_grad=True)
    by_torch(torch.nn.functional, x, z).sum().backward()
    for found in derivative(line):
        for name, own in (("dx", x), ("dz", z)):
            wanted = np.zeros(own.shape) if own.grad is None else own.grad.numpy()
            np.testing.assert_allclose(found[name], wanted, rtol=1e-5, atol=1e-6, err_msg=name)


def test_the_largest_of_many_share_where_they_are_equal() -> None:
    graph = differentiated(from_text("""graph g(a: float64[3], b: float64[3], c: float64[3]) {
  let y = Max(a, b, c)
  let p, q, r = Gradient(a, b, c; xs=["a", "b", "c"], y="y")
  return p, q, r
}"""))
    found = interpret(graph, {"a": np.array([1.0, 2, 3]), "b": np.array([1.0, 5, 3]), "c": np.array([0.0, 5, 3])})
    assert found["p"].tolist() == [0.5, 0, 1 / 3]
    assert found["r"].tolist() == [0, 0.5, 1 / 3]
