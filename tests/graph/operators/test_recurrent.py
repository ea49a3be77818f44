"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.samples import Sample, floats, graph_of, sample, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("RNN", floats(3, 2, 2), floats(1, 3, 3), floats(1, 3, 3)), "the weights do not fit"),
    (sample("LSTM", floats(3, 2, 2), floats(1, 12, 2), floats(1, 12, 3), activations=("Tanh", "Odd", "Tanh")),
     "the activations Tanh, Odd, Tanh"),
    (sample("GRU", floats(3, 2, 2), floats(1, 9, 2), floats(1, 9, 3), floats(1)), "the biases, the states"),
    (sample("RNN", floats(0, 2, 2), floats(1, 3, 2), floats(1, 3, 3)), "there are no steps"),
    (sample("GRU", floats(3, 2, 2), floats(1, 9, 2), floats(1, 9, 3), None, whole(3, 2, 1)), "a length per sequence"),
    (sample("RNN", floats(3, 2, 2), floats(1, 3, 2), floats(1, 3, 3), activations=("Elu",), activation_beta=(1.0,)),
     "more parameters of activations"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


@pytest.mark.parametrize(("line", "states"), [
    ('RNN(x, w, r, b; direction="reverse")', 1), ('GRU(x, w, r, b, l, h; direction="bidirectional")', 2),
    ("GRU(x, w, r, _, _, h; linear_before_reset=1, clip=0.5)", 1), ("LSTM(x, w, r; layout=1)", 1),
    ('LSTM(x, w, r, b, l, h, c, p; direction="bidirectional", layout=1)', 2),
    ('LSTM(x, w, r, b, l; direction="reverse")', 1)])
def test_a_recurrence_of_open_length_and_batch_is_a_loop(line: str, states: int) -> None:
    gates, first, directions = {"R": 1, "G": 3, "L": 4}[line[0]], "layout=1" in line, states
    state = f"float32[N, {directions}, 3]" if first else f"float32[{directions}, N, 3]"
    results = "y, yh, yc" if line[0] == "L" else "y, yh"
    order = "N, T" if first else "T, N"
    graph = from_text(f"""graph f(x: float32[{order}, 2], w: float32[{directions}, {3 * gates}, 2],
        r: float32[{directions}, {3 * gates}, 3], b: float32[{directions}, {6 * gates}], l: int32[N], h: {state},
        c: {state}, p: float32[{directions}, 9]) {{
  let {results} = {line}
  return {results}
}}""")
    made, rng = expand_compositions(graph), np.random.default_rng(1)
    assert sum(n.op == "Repeat" for n in made.nodes) == directions
    for size in ({"T": 1, "N": 1}, {"T": 4, "N": 3}):
        shapes = {n: t.bound(size).extents for n, t in graph.inputs}
        given = {n: rng.normal(size=s).astype(np.float32) for n, s in shapes.items()}
        given["l"] = rng.integers(0, size["T"] + 1, shapes["l"]).astype(np.int32)
        found = interpret(made, given)
        for name, value in interpret(graph, given).items():
            np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)


def test_a_recurrence_of_a_million_steps_is_refused_at_once() -> None:
    x = np.zeros((1 << 20, 1, 2), np.float32)
    graph, _ = graph_of(sample("LSTM", x, floats(1, 8, 2), floats(1, 8, 2)))
    with pytest.raises(UnsupportedGraphError, match="1048576 steps is too long to be unrolled") as refusal:
        expand_compositions(graph)
    assert "node 'y0' (LSTM)" in str(refusal.value)
    assert "Loop or Scan" in str(refusal.value)


def test_steps_of_both_directions_count() -> None:
    x = np.zeros((2049, 1, 2), np.float32)
    graph, _ = graph_of(sample("RNN", x, floats(2, 3, 2), floats(2, 3, 3), direction="bidirectional"))
    with pytest.raises(UnsupportedGraphError, match=r"(?s)4098 steps is too long .*both directions"):
        expand_compositions(graph)
