"""Plans of regions in the plan around them: names, memory, constants."""

import numpy as np

from polysched.graph import from_text
from polysched.graph.planning.steps import Either, Repetition
from polysched.graph.values.graph import Graph
from polysched.model.planned import planned
from tests.graph.passes.control_graphs import GRAPHS


def test_results_of_regions_stand_where_they_are_wanted() -> None:
    plan = planned(GRAPHS["swap"])
    (loop,) = plan.steps
    assert isinstance(loop, Repetition)
    assert plan.roots["y/body/w"] == loop.carried[0].next
    assert loop.body.copied == ((loop.carried[1].next, loop.carried[0].now),)


def test_a_view_around_a_region_is_read_where_it_stands() -> None:
    plan = planned(GRAPHS["view around"])
    step = next(s for s in plan.steps if isinstance(s, Either))
    assert plan.roots["v"] == "e"
    assert step.no.copied == (("y", "v"),)


def test_what_iterations_need_lives_until_the_loop_ends() -> None:
    graph = from_text("""graph f(n: int64[], x: float32[8]) {
  let a = Exp(x)
  let y = Loop(n, _, x) {
    graph body(i, c, v) {
      let w = Mul(v, a)
      let u = Tanh(w)
      let t = Cos(u)
      let r = Softmax(t; axis=0)
      let q = Softmax(r; axis=0)
      return c, q
    }
  }
  let z = Neg(y)
  return z
}""")
    plan = planned(graph)
    own = plan.lives["a"]
    for name, (start, end) in plan.lives.items():
        if name.startswith("y/body/"):
            assert own[0] < start <= end < own[1], name


def test_names_of_regions_are_those_of_nothing_else() -> None:
    text = """graph f(c: bool[], x: float32[3], "y/yes/a": float32[3]) {
  let y = If(c) {
    graph yes() {
      let a = Neg(x)
      return a
    }
    graph no() {
      let a = Add(x, "y/yes/a")
      return a
    }
  }
  return y
}"""
    plan = planned(from_text(text))
    assert "y'/yes/a" in plan.graph.types


def weighted(array: np.ndarray) -> Graph:
    """Both sides of a branch read one array."""
    return from_text("""graph f(c: bool[], x: float32[2, 3], v: float32[3, 3]) {
  let y = If(c) {
    graph yes() {
      let a = Einsum(x, v; equation="ab,bc->ac")
      return a
    }
    graph no() {
      let b = Einsum(x, v; equation="ab,cb->ac")
      return b
    }
  }
  return y
}""").but(inputs=GRAPHS["branch"].inputs, constants={"v": array})


def test_an_array_that_two_regions_read_is_there_once() -> None:
    array = np.arange(9, dtype=np.float32).reshape(3, 3)
    plan = planned(weighted(array))
    assert sum(np.array_equal(a, array) for a in plan.graph.constants.values()) == 1
