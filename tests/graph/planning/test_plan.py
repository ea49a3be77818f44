"""Plans: steps, views, outputs that are something else, too."""

import numpy as np

from polysched.graph import from_text, interpret
from polysched.model.planned import planned
from tests.graph.samples import read_plan

GRAPH = from_text("""graph f(x: float32[2, 3]) {
  const s: int64[1] = [6]
  let a = Exp(x)
  let b = Reshape(a, s)
  let c = Identity(x)
  let d = Concat(b, b; axis=0)
  let e = Neg(a)
  return b, a, c, d, e
}""")


def test_views_cost_nothing_and_shared_outputs_are_copied() -> None:
    plan = planned(GRAPH)
    assert plan.roots["b"] == "a"
    assert dict(plan.copied) == {"a": "a", "c": "x"}
    assert (len(plan.kernels), len(plan.steps), plan.arena.bytes) == (2, 3, 0)
    assert "d = copy(b, b)" in str(plan)


def test_a_plan_computes_the_graph() -> None:
    inputs = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    wanted, found = interpret(GRAPH, inputs), read_plan(planned(GRAPH), inputs)
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-6)
