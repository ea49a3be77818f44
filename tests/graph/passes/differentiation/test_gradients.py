"""ONNX's Gradient as nodes of a graph."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.passes.differentiation.gradients import differentiated
from polysched.model import compile_graph

BODY = """graph g(a: float32[3], b: float32[3], k: int64[1]) {
  let c = Add(a, b)
  let d = Mul(c, a)
"""
A, B = np.array([1, 2, 3], np.float32), np.array([5, 7, 11], np.float32)
GIVEN = {"a": A, "b": B, "k": np.zeros(1, np.int64)}


def asked(*lines: str) -> str:
    """A graph with gradients, whose first result it returns."""
    first = lines[-1].split("=")[0].removeprefix("let ").strip()
    return BODY + "".join(f"  {line}\n" for line in lines) + f"  return {first}\n}}"


def test_a_graph_without_gradients_stays() -> None:
    graph = from_text(BODY + "  return d\n}")
    assert differentiated(graph) is graph


def test_a_compiled_gradient() -> None:
    graph = differentiated(from_text(asked('let p, q = Gradient(a, b; xs=["a", "b"], y="d")')))
    for found in (interpret(graph, GIVEN), compile_graph(graph).run(GIVEN)):
        assert np.array_equal(found["p"], 2 * A + B)
        assert np.array_equal(found["q"], A)


def test_by_what_lies_between_and_with_values_that_do_not_count() -> None:
    between = differentiated(from_text(asked('let p = Gradient(c, a; xs=["c"], zs=["a"], y="d")')))
    assert np.array_equal(interpret(between, GIVEN)["p"], A)


def test_at_other_values_than_those_named() -> None:
    graph = differentiated(from_text(asked("let e = Neg(a)", 'let p = Gradient(e, b; xs=["a"], zs=["b"], y="d")')))
    assert np.array_equal(interpret(graph, GIVEN)["p"], -2 * A + B)


def test_a_gradient_of_a_gradient() -> None:
    graph = differentiated(from_text(asked('let p = Gradient(a, b; xs=["a"], zs=["b"], y="d")',
                                           'let q = Gradient(a, b; xs=["a"], zs=["b"], y="p")')))
    assert np.array_equal(interpret(graph, GIVEN)["q"], np.full(3, 2, np.float32))


def test_what_does_not_depend_has_the_derivative_0() -> None:
    graph = differentiated(from_text(asked('let p = Gradient(b, a; xs=["b"], zs=["a"], y="a")')))
    assert np.array_equal(interpret(graph, GIVEN)["p"], np.zeros(3, np.float32))


@pytest.mark.parametrize(("line", "problem"), [
    ('let p = Gradient(a; xs=["a", "b"], y="d")', "a value for each of xs and zs"),
    ('let p = Gradient(a; xs=["a"], y="z")', "the value 'z' is not bound"),
    ('let p = Gradient(k; xs=["k"], y="d")', r"the gradient of float32\[3\] by int64\[1\]")])
def test_refusals(line: str, problem: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=problem):
        differentiated(from_text(asked(line)))


def test_an_operator_without_a_derivative() -> None:
    text = BODY.replace("Mul(c, a)", 'BitCast(c; to="float32")')
    text += '  let p = Gradient(a; xs=["a"], y="d")\n  return p\n}'
    with pytest.raises(UnsupportedGraphError, match="the derivative of BitCast is not had"):
        differentiated(from_text(text))
