"""The fast forms keep the errors that they state, compiled and in NumPy."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from polysched.graph import Graph, Node, TensorType
from polysched.model.compiling import compile_graph


def compiled(op: str, x: np.ndarray) -> np.ndarray:
    graph = Graph(name="fast", inputs=(("x", TensorType.of_array(x)),), nodes=(Node.of(op, ("x",), ("y",)),),
                  outputs=("y",))
    result: np.ndarray = compile_graph(graph)(x=x)["y"]
    return result


@pytest.mark.parametrize(("low", "high", "error"), [(-86, 86, 1e-6), (-1, 1, 1e-6)])
def test_the_exponential_keeps_its_relative_error(low: float, high: float, error: float) -> None:
    x = np.linspace(low, high, 20_000).astype(np.float32)
    wanted = np.exp(x.astype(np.float64))
    assert np.abs(compiled("FastExp", x) / wanted - 1).max() <= error


@pytest.mark.parametrize(("op", "function"), [("FastTanh", math.tanh), ("FastErf", math.erf)])
def test_tanh_and_erf_keep_their_absolute_error(op: str, function: Callable[[float], float]) -> None:
    x = np.linspace(-12, 12, 20_000).astype(np.float32)
    wanted = np.array([function(float(v)) for v in x])
    assert np.abs(compiled(op, x) - wanted).max() <= 1e-6


def test_what_is_no_number_stays_so_and_the_ends_are_cut() -> None:
    x = np.array([np.nan, np.inf, -np.inf, -200], np.float32)
    found = compiled("FastExp", x)
    assert np.isnan(found[0])
    assert 1e37 < found[1] < np.inf
    assert (np.abs(found[2:]) < 1e-36).all()
