"""Control flow on data becomes `Branch` and `Repeat`, whose regions see nothing around them."""

import re
from typing import Any

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret, to_text
from polysched.graph.operators.control import CLOSED, repeated
from polysched.graph.passes.control import resolve_control
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import bind
from polysched.graph.values.graph import Graph
from tests.graph.passes.control_graphs import GRAPHS, inputs_of


@pytest.mark.parametrize("name", GRAPHS)
def test_closing_changes_no_value(name: str) -> None:
    graph = GRAPHS[name]
    for made in (resolve_control(graph), standard(graph)):
        for inputs in inputs_of(name):
            wanted, found = interpret(graph, inputs), interpret(made, inputs)
            for output, value in wanted.items():
                np.testing.assert_allclose(found[output], value, rtol=1e-5, err_msg=f"{name} {output}")


@pytest.mark.parametrize("name", GRAPHS)
def test_closed_regions_see_nothing_around_them(name: str) -> None:
    nodes = [n for n in resolve_control(GRAPHS[name]).walk() if n.regions]
    assert nodes
    for node in nodes:
        assert node.op in CLOSED
        assert not any(region.free for region in node.regions)


def test_the_text_of_a_closed_graph_reads_back() -> None:
    made = resolve_control(GRAPHS["swap"])
    assert to_text(from_text(to_text(made))) == to_text(made)


def test_what_iterations_hand_on_unchanged_is_captured() -> None:
    node = next(n for n in resolve_control(GRAPHS["fixed"]).nodes if n.regions)
    assert len(repeated(node).carried) == 1
    assert repeated(node).captured == ("x",)


def test_rows_that_nothing_uses_are_not_stacked() -> None:
    graph = GRAPHS["stacked"]
    less = resolve_control(graph.but(outputs=("y",), nodes=tuple(
        n if not n.regions else type(n)(op=n.op, inputs=n.inputs, outputs=n.outputs[:1], regions=n.regions)
        for n in graph.nodes)))
    assert next(repeated(n) for n in less.nodes if n.regions).stacked == ()


def refused(graph: Graph, **values: Any) -> str:
    with pytest.raises(UnsupportedGraphError) as caught:
        resolve_control(bind(graph, values={n: np.array(v) for n, v in values.items()}))
    return str(caught.value)


def test_refusals_say_what_is_asked_and_why_not() -> None:
    grows = from_text("""graph f(n: int64[], x: float32[2]) {
  let y = Loop(n, _, x) {
    graph body(i, c, v) {
      let w = Concat(v, v; axis=0)
      return c, w
    }
  }
  return y
}""")
    assert "a number of iterations depends on data, and it is not compiled: an iteration changes the type of a value " \
        "that the loop carries" in refused(grows)
    sides = from_text("""graph f(c: bool[], x: float32[2]) {
  let y = If(c) {
    graph yes() {
      let w = Concat(x, x; axis=0)
      return w
    }
    graph no() {
      return x
    }
  }
  return y
}""")
    assert "which type a result has depends on data" in refused(sides)
    stacks = from_text("""graph f(n: int64[], x: float32[2]) {
  let y, s = Loop(n, _, x) {
    graph body(i, c, v) {
      let w = Neg(v)
      return c, w, v
    }
  }
  return y, s
}""")
    assert "how many rows a loop stacks depends on data" in refused(stacks)
    cuts = from_text("""graph f(n: int64[], x: float32[9]) {
  const zero: int64[1] = [0]
  let y = Loop(n, _, x) {
    graph body(i, c, v) {
      let e = Unsqueeze(i, zero)
      let w = Slice(v, zero, e)
      let s = ReduceSum(w; keepdims=0)
      let t = Sub(v, s)
      return c, t
    }
  }
  return y
}""")
    assert "not compiled" in refused(cuts)


def test_a_loop_without_end_is_refused() -> None:
    graph = from_text("""graph f(go: bool[], x: float32[2]) {
  let y = Loop(_, go, x) {
    graph body(i, c, v) {
      const on: bool[] = [true]
      let w = Neg(v)
      return on, w
    }
  }
  return y
}""")
    assert "too long to unroll" in refused(graph, go=True)
    resolve_control(graph)   # it may not begin


@pytest.mark.parametrize(("inputs", "limit", "first", "made", "why"), [
    ("n: int32[]", "n", "_", "c", r"a number of iterations is one element of int64"),
    ("n: int64[2]", "n", "_", "c", r"a number of iterations is one element of int64"),
    ("n: int64[], b: float32[]", "n", "b", "c", r"a condition is one element of bool"),
    ("n: int64[]", "n", "_", "v", r"a condition is one element of bool"),
    ("b: bool[0]", "_", "b", "c", r"a condition is one element of bool")])
def test_what_ends_a_loop_is_one_element_of_its_type(inputs: str, limit: str, first: str, made: str, why: str) -> None:
    graph = from_text(f"""graph f({inputs}, x: float32[3]) {{
  let y = Loop({limit}, {first}, x) {{
    graph body(i, c, v) {{
      let w = Neg(v)
      return {made}, w
    }}
  }}
  return y
}}""")
    assert re.search(why, refused(graph))


@pytest.mark.parametrize("condition", ["float32[]", "bool[2]", "bool[0]"])
def test_a_branch_is_decided_by_one_truth_value(condition: str) -> None:
    graph = from_text(f"""graph f(c: {condition}, x: float32[3]) {{
  let y = If(c) {{
    graph yes() {{
      let a = Neg(x)
      return a
    }}
    graph no() {{
      return x
    }}
  }}
  return y
}}""")
    assert "a condition is one element of bool" in refused(graph)
    dtype, shape = condition[:-1].split("[")
    known = np.zeros([int(e) for e in shape.split(",") if e], dtype)
    assert "a condition is one element of bool" in refused(graph, c=known)
