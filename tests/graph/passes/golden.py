"""A pass before and after: the text, and the values by the interpreter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polysched.graph import Graph, from_text, interpret, to_text


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


def golden(run: Callable[[Graph], Graph], before: str, after: str, tolerance: float = 0.0) -> None:
    """The body of a graph after a pass is a text, it reads back, and it computes the same."""
    graph = from_text(before)
    made = run(graph)
    assert to_text(from_text(to_text(made))) == to_text(made)
    same_values(graph, made, tolerance)
    assert body(made) == [line.strip() for line in after.strip().splitlines()]


def body(graph: Graph) -> list[str]:
    """The lines of a graph's text but the first and the last, with digests for long constants."""
    return [line.strip() for line in str(graph).splitlines()[1:-1]]
