"""Softmax in blocks: what is rewritten, what it computes, how far it is from whole rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from polysched.graph import Graph, from_text, interpret
from polysched.graph.passes.registry import standard
from polysched.graph.planning import online_softmax as module
from polysched.graph.planning.online_softmax import online_softmax

CACHE_BYTES = 512   # rows of 8 floats are long beside it, and blocks have 4


@pytest.fixture(autouse=True)
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMITS", replace(module.LIMITS, online_rows=4, online_block_rows=8))


def attention(keys: int, mask: str = "") -> Graph:
    masked = "let z = Add(scaled, mask)" if mask else "let z = Identity(scaled)"
    return standard(from_text(f"""graph f(q: float32[2, 5, 3], k: float32[2, 3, {keys}], v: float32[2, {keys}, 3]
            {mask and ', mask: float32' + mask}) {{
      const scale: float32[1] = [0.5]
      let s = MatMul(q, k)
      let scaled = Mul(s, scale)
      {masked}
      let p = Softmax(z; axis=-1)
      let y = MatMul(p, v)
      return y
    }}"""))


def inputs_of(graph: Graph, seed: int = 1) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    return {n: (3 * draw.normal(size=t.extents)).astype(np.float32) for n, t in graph.inputs}


def bound(graph: Graph, inputs: dict[str, np.ndarray], blocks: int) -> np.ndarray:
    """What the module says, for weights and values in float64."""
    z = np.matmul(inputs["q"].astype(np.float64), inputs["k"]) * 0.5
    p = np.exp(z - z.max(-1, keepdims=True))
    weights = p / p.sum(-1, keepdims=True)
    return (blocks + 8) * 2.0 ** -24 * np.matmul(weights, np.abs(inputs["v"]))


def in_blocks(graph: Graph) -> bool:
    return any(n.op == "Max" for n in graph.nodes)


@pytest.mark.parametrize("keys", [8, 12, 64])
def test_blocks_compute_the_softmax_of_whole_rows(keys: int) -> None:
    graph = attention(keys)
    after, inputs = online_softmax(graph, CACHE_BYTES), inputs_of(graph)
    assert in_blocks(after)
    wide = {n: a.astype(np.float64) for n, a in inputs.items()}
    difference = np.abs(interpret(after, inputs)["y"] - interpret(graph, inputs)["y"])
    rounding = 4 * 2.0 ** -24 * np.abs(wide["v"]).max()   # of the interpreter's own sums over rows
    assert (difference <= bound(graph, inputs, keys // 4) + rounding).all()


@pytest.mark.parametrize("mask", ["[5, 12]", "[2, 1, 12]", "[12]", "[5, 1]"])
def test_masks_are_blocked_with_the_scores(mask: str) -> None:
    graph = attention(12, mask)
    after, inputs = online_softmax(graph, CACHE_BYTES), inputs_of(graph)
    inputs["mask"][..., :1] = -np.inf
    if inputs["mask"].shape[-1] > 1:
        inputs["mask"][..., 4:8] = -np.inf   # a whole block
    assert in_blocks(after)
    np.testing.assert_allclose(interpret(after, inputs)["y"], interpret(graph, inputs)["y"], rtol=1e-5, atol=1e-6)


def test_rows_that_are_masked_as_a_whole_stay_no_numbers() -> None:
    graph = attention(12, "[5, 12]")
    inputs = inputs_of(graph)
    inputs["mask"][2] = -np.inf
    with np.errstate(all="ignore"):
        found = interpret(online_softmax(graph, CACHE_BYTES), inputs)["y"]
    assert np.isnan(found[:, 2]).all()
    assert np.isfinite(np.delete(found, 2, axis=1)).all()


@pytest.mark.parametrize("keys", [4, 7, 11, 13])
def test_short_rows_and_those_without_a_divisor_stay(keys: int) -> None:
    graph = attention(keys)
    assert not in_blocks(online_softmax(graph, CACHE_BYTES))


def test_a_softmax_that_is_seen_or_along_another_dimension_stays() -> None:
    seen = standard(from_text("""graph f(x: float32[8, 12], v: float32[12, 3]) {
      let p = Softmax(x; axis=-1)
      let y = MatMul(p, v)
      return y, p
    }"""))
    other = standard(from_text("""graph f(x: float32[8, 12], v: float32[12, 3]) {
      let p = Softmax(x; axis=0)
      let y = MatMul(p, v)
      return y
    }"""))
    assert not in_blocks(online_softmax(seen, CACHE_BYTES))
    assert not in_blocks(online_softmax(other, CACHE_BYTES))


def test_scores_that_are_given_are_moved() -> None:
    graph = standard(from_text("""graph f(x: float32[5, 12], v: float32[12, 3]) {
      let p = Softmax(x; axis=-1)
      let y = MatMul(p, v)
      return y
    }"""))
    after, inputs = online_softmax(graph, CACHE_BYTES), inputs_of(graph)
    assert in_blocks(after)
    np.testing.assert_allclose(interpret(after, inputs)["y"], interpret(graph, inputs)["y"], rtol=1e-5, atol=1e-6)
