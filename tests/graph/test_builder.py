"""Graphs by hand: types at once, operators of Python, refusals where the mistake stands."""

from collections.abc import Callable

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError, UsageError
from polysched.graph import from_text, interpret, to_text
from polysched.graph.builder import GraphBuilder, Value


def test_a_graph_of_expressions() -> None:
    g = GraphBuilder("f")
    x = g.input("x", "float32", ("N", 4))
    w = g.constant(np.ones((4, 3), np.float32))
    y = g.tanh(2 * (x @ w) - 0.5) / 4
    assert str(y.type) == "float32[N, 3]"
    graph = g.graph(y=y)
    assert to_text(from_text(to_text(graph))) == to_text(graph)
    array = np.arange(8, dtype=np.float32).reshape(2, 4) / 8
    wanted = np.tanh(2 * (array @ np.ones((4, 3))) - 0.5) / 4
    np.testing.assert_allclose(interpret(graph, {"x": array})["y"], wanted, rtol=1e-6)


@pytest.mark.parametrize(("wrong", "error", "problem"), [
    (lambda g, x: x @ x, UnsupportedGraphError, "MatMul"),
    (lambda g, x: g.op("Frobnicate", x), UnsupportedGraphError, "no operator Frobnicate"),
    (lambda g, x: g.op("Exp", np.ones(3)), UsageError, "no value of this builder"),
    (lambda g, x: g.op("Exp", GraphBuilder().input("z", "float32", (2,))), UsageError, "no value of this builder"),
    (lambda g, x: g.input("x", "float32", (2,)), UsageError, "the name 'x' is taken"),
    (lambda g, x: g.input("z", "float33", (2,)), UsageError, "no element type float33"),
    (lambda g, x: g.input("z", (2,), "float32"), UsageError, "by its name, its element type and its shape"),
    (lambda g, x: g.input((2,), "z", "float32"), UsageError, "by its name, its element type and its shape"),
    (lambda g, x: g.input("z", "float32", "N"), UsageError, "by its name, its element type and its shape"),
    (lambda g, x: g.input("z", "float32", (2.5,)), UsageError, "by its name, its element type and its shape"),
    (lambda g, x: g.graph(), UsageError, "at least one output"),
    (lambda g, x: 1 if x < 3 else 2, UsageError, "no truth value"),
    (lambda g, x: g.frobnicate(x), AttributeError, "no operator frobnicate"),
])
def test_a_mistake_is_refused_where_it_stands(wrong: Callable[[GraphBuilder, Value], object], error: type[Exception],
                                              problem: str) -> None:
    g = GraphBuilder("f")
    x = g.input("x", "float32", (2, 3))
    with pytest.raises(error, match=problem):
        wrong(g, x)


def test_extents_of_numpy_are_numbers() -> None:
    g = GraphBuilder("f")
    assert str(g.input("x", "float32", (np.int64(2), "N", np.uint8(3))).type) == "float32[2, N, 3]"
