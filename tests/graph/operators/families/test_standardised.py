"""Normalisations by means and deviations: exact where the mean is large, over open extents, and what they refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("LayerNormalization", ints(2, 3), ints(3)), "elements of int32, floating are wanted"),
    (sample("LayerNormalization", floats(2, 3), floats(2)), "the shapes do not broadcast"),
    (sample("LayerNormalization", floats(1, 3), floats(2, 3)), "does not broadcast to the data"),
    (sample("LayerNormalization", floats(2, 3), floats(3), stash_type=7), "statistics of the type 7"),
    (sample("LayerNormalization", floats(2, 3), floats(3), axis=2), "axis 2 of 2 dimensions"),
    (sample("GroupNormalization", floats(2, 4, 3), floats(4), floats(4), num_groups=3), "make up equal groups"),
    (sample("GroupNormalization", floats(2, 4, 3), floats(4), floats(4)), "num_groups is missing"),
    (sample("GroupNormalization", floats(2, 4, 3), floats(4), floats(3), num_groups=2), "a number per channel"),
    (sample("MeanVarianceNormalization", floats(2, 3)), "axis 2 of 2 dimensions")])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


@pytest.mark.parametrize("line", [
    "LayerNormalization(x, s)", "LayerNormalization(x, s, b; axis=1)", "GroupNormalization(x, g, g; num_groups=2)",
    "MeanVarianceNormalization(x; axes=[0, 2])", "MeanVarianceNormalization(x; axes=[])"])
def test_a_large_mean_loses_no_digits_and_extents_may_be_open(line: str) -> None:
    """The mean of squares less the square of the mean is wrong in the first digit here."""
    graph = from_text(f"""graph f(x: float32[N, 4, T, 3], s: float32[3], b: float32[4, 1, 3], g: float32[4]) {{
  let y = {line}
  return y
}}""")
    rng = np.random.default_rng(0)
    given = {"x": rng.normal(1000, 1, (2, 4, 5, 3)).astype(np.float32), "s": np.ones(3, np.float32),
             "b": np.zeros((4, 1, 3), np.float32), "g": np.ones(4, np.float32)}
    found, wanted = (interpret(g, given)["y"] for g in (expand_compositions(graph), graph))
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


def test_short_floats_are_rounded_between_the_stages_and_statistics_are_stashed() -> None:
    graph = from_text("""graph f(x: float16[2, 8], s: float16[8], b: float16[8]) {
  let y, m, i = LayerNormalization(x, s, b)
  return y, m, i
}""")
    rng = np.random.default_rng(0)
    given = {name: rng.normal(size=t.extents).astype(np.float16) for name, t in graph.inputs}
    wanted, found = interpret(graph, given), interpret(expand_compositions(graph), given)
    x = given["x"].astype(np.float32)
    normal = ((x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)).astype(np.float16)
    assert wanted["y"].tolist() == (normal * given["s"] + given["b"]).tolist() == found["y"].tolist()
    assert wanted["m"].dtype == found["m"].dtype == found["i"].dtype == np.float32
