"""Branches are chosen and loops unrolled; what stacks as data says is refused."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.steering import steering_inputs
from polysched.graph.passes.control import resolve_control
from polysched.graph.passes.simple import bind
from tests.graph.passes.control_graphs import loops_in_loops
from tests.graph.passes.golden import behind

BRANCH = from_text("""graph f(c: bool[], x: float32[3]) {
  let y = If(c) {
    graph yes() {
      const one: float32[] = [1.0]
      let a = Add(x, one)
      return a
    }
    graph no() {
      return x
    }
  }
  return y
}""")
LOOP = from_text("""graph f(n: int64[], x: float32[2]) {
  const go: bool[] = [true]
  let y, all = Loop(n, go, x) {
    graph body(i, c, v) {
      let w = Add(v, x)
      let k = Identity(c)
      return k, w, v
    }
  }
  return y, all
}""")
SCAN = from_text("""graph f(s: float32[2], x: float32[3, 2]) {
  let last, all = Scan(s, x; num_scan_inputs=1, scan_input_directions=[1]) {
    graph body(v, row) {
      let w = Mul(v, row)
      return w, w
    }
  }
  return last, all
}""")


@pytest.mark.parametrize("condition", [True, False])
def test_a_branch_is_chosen(condition: bool) -> None:
    resolved = resolve_control(bind(BRANCH, values={"c": np.array(condition)}))
    assert [n.op for n in resolved.nodes] == (["Add", "Identity"] if condition else ["Identity"])
    x = {"x": np.arange(3, dtype=np.float32)}
    assert np.array_equal(interpret(resolved, x)["y"], interpret(BRANCH, {**x, "c": np.array(condition)})["y"])


def test_a_branch_and_a_loop_become_nodes() -> None:
    assert behind(resolve_control, """graph f(x: float32[2]) {
  const go: bool[] = [true]
  const n: int64[] = [2]
  let a = If(go) {
    graph yes() {
      let b = Exp(x)
      return b
    }
    graph no() {
      return x
    }
  }
  let y, rows = Loop(n, go, a) {
    graph body(i, c, v) {
      let w = Add(v, x)
      let k = Identity(c)
      return k, w, w
    }
  }
  return y, rows
}""") == """
  const go: bool[] = [true]
  const n: int64[] = [2]
  const c_0: int64[] = [0]
  const c_1: int64[] = [1]
  const c_2: int64[1] = [0]
  let b_0 = Exp(x)
  let a = Identity(b_0)
  let w_0 = Add(a, x)
  let k_0 = Identity(go)
  let w_1 = Add(w_0, x)
  let k_1 = Identity(k_0)
  let unsqueeze_0 = Unsqueeze(w_0, c_2)
  let unsqueeze_1 = Unsqueeze(w_1, c_2)
  let concat_0 = Concat(unsqueeze_0, unsqueeze_1; axis=0)
  let y = Identity(w_1)
  let rows = Identity(concat_0)
  return y, rows
"""


def test_a_loop_is_unrolled() -> None:
    x = {"x": np.array([1, 2], np.float32)}
    resolved = resolve_control(bind(LOOP, values={"n": np.array(3)}))
    wanted = interpret(LOOP, {**x, "n": np.array(3)})
    assert wanted["all"].tolist() == [[1, 2], [2, 4], [3, 6]]
    for name, value in interpret(resolved, x).items():
        assert np.array_equal(value, wanted[name])


def test_a_scan_is_unrolled() -> None:
    given = {"s": np.array([1, 2], np.float32), "x": np.arange(6, dtype=np.float32).reshape(3, 2)}
    wanted, found = interpret(SCAN, given), interpret(resolve_control(SCAN), given)
    assert wanted["all"].tolist() == [[4, 10], [8, 30], [0, 30]]
    for name, value in found.items():
        assert np.array_equal(value, wanted[name])


def test_what_depends_on_data_is_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="a number of iterations depends on data"):
        resolve_control(LOOP)
    with pytest.raises(UnsupportedGraphError, match="stacks values of no known type"):
        resolve_control(bind(LOOP, values={"n": np.array(0)}))


@pytest.mark.parametrize(("regions", "problem"), [
    ("If(go) { graph a() { return x } }", "1 operands and 1 regions do not fit"),
    ("If(go) { graph a() { return x } graph b(v) { return v } }", "the region takes 1 values and makes 1"),
    ("Loop(n) { graph a(i) { return i } }", "1 operands and 1 regions do not fit"),
    ("Loop(n, go, x) { graph a(i, c) { return c } }", "takes 2 values and makes 1, where 3 and at least 2 are wanted"),
    ("Scan(x) { graph a(v) { return v } }", "1 operands and 1 regions do not fit"),
    ("Scan(x; num_scan_inputs=1) { graph a() { return x } }", "the region takes 0 values and makes 1"),
    ("Scan(x, three; num_scan_inputs=2) { graph a(v, w) { return v } }", "over have different lengths"),
    ("Scan(n; num_scan_inputs=1) { graph a(v) { return v } }", "no axis that a scan goes over"),
    ("Loop(none, go) { graph a(i, c) { return c, x } }", "stacks values of no known type")])
def test_regions_that_do_not_fit_are_refused(regions: str, problem: str) -> None:
    graph = from_text(f"""graph f(x: float32[2]) {{
      const n: int64[] = [2]
      const none: int64[] = [0]
      const go: bool[] = [true]
      const three: float32[3] = [1.0, 2.0, 3.0]
      let y = {regions}
      return y
    }}""")
    for refused in (lambda: resolve_control(graph), lambda: interpret(graph, {"x": np.zeros(2, np.float32)})):
        with pytest.raises(UnsupportedGraphError, match=problem):
            refused()


def test_a_loop_that_changes_nothing_is_none() -> None:
    graph = from_text("""graph f(n: int64[], go: bool[], x: float32[2]) {
      let y = Loop(n, go, x) { graph a(i, c, v) { return c, v } }
      return y
    }""")
    resolved = resolve_control(bind(graph, values={"n": np.array(2 ** 40), "go": np.array(True)}))
    assert [n.op for n in resolved.nodes] == ["Identity"]


def test_conditions_steer() -> None:
    assert steering_inputs(BRANCH) == ("c",)
    assert steering_inputs(LOOP) == ("n",)


def test_conditions_need_not_steer() -> None:
    assert steering_inputs(BRANCH, control=False) == ()
    assert steering_inputs(LOOP, control=False) == ()


@pytest.mark.parametrize(("inner", "limit", "problem"), [
    ("Loop(m, go, v)", "float32[] = [inf]", "one element of int64"),
    ("Loop(m, go, v)", "int64[0] = []", "one element of int64"), ("Loop()", "int64[] = [1]", "do not fit")])
def test_a_wrong_loop_in_a_loop_is_refused(inner: str, limit: str, problem: str) -> None:
    graph = from_text(f"""graph f(x: float32[2]) {{
  const n: int64[] = [3]
  const go: bool[] = [true]
  const m: {limit}
  let y = Loop(n, go, x) {{
    graph b(i, c, v) {{
      let w = {inner} {{ graph d(j, e, u) {{ let t = Neg(u) return e, t }} }}
      return c, w
    }}
  }}
  return y
}}""")
    with pytest.raises(UnsupportedGraphError, match=problem):
        resolve_control(graph)


def test_loops_in_loops_are_run_where_unrolled_they_are_long() -> None:
    graph = resolve_control(loops_in_loops(10, 10))
    found = list(graph.walk())
    assert [n.op for n in found].count("Repeat") == 8
    assert [n.op for n in found].count("Neg") == 100   # the two innermost ones are unrolled
