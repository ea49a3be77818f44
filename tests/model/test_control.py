"""Control flow on data in the driver of a model: every way is compared with the interpreter."""

from pathlib import Path

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.graph import from_text, interpret
from polysched.model import compile_graph
from polysched.pipeline.options import PipelineOptions
from tests.graph.passes.control_graphs import GRAPHS, inputs_of


@pytest.mark.parametrize("name", GRAPHS)
def test_the_driver_computes_what_the_interpreter_does(name: str) -> None:
    model = compile_graph(GRAPHS[name])
    for inputs in inputs_of(name):
        wanted, found = interpret(GRAPHS[name], inputs), model.run(inputs)
        for output, value in wanted.items():
            np.testing.assert_allclose(found[output], value, rtol=1e-4, err_msg=f"{name} {output}")


def test_the_plan_shows_branches_and_loops() -> None:
    text = str(compile_graph(GRAPHS["nested"]).plan)
    assert "y = loop n times" in text
    assert "= if c" in text
    assert "3 branches and loops" in text


def test_plans_by_cost_have_control_flow_too() -> None:
    model = compile_graph(GRAPHS["swap"], fusion="cost")
    for inputs in inputs_of("swap"):
        for output, value in interpret(GRAPHS["swap"], inputs).items():
            np.testing.assert_allclose(model.run(inputs)[output], value, rtol=1e-4)


def test_an_index_outside_in_an_iteration_is_said() -> None:
    graph = from_text("""graph f(n: int64[], x: float32[3]) {
  let y = Loop(n, _, x) {
    graph body(i, c, v) {
      let a = Gather(v, i; axis=0)
      let w = Add(v, a)
      return c, w
    }
  }
  return y
}""")
    model = compile_graph(graph)
    x = np.ones(3, np.float32)
    assert model(n=np.array(3), x=x)["y"].tolist() == interpret(graph, {"n": np.array(3), "x": x})["y"].tolist()
    with pytest.raises(UsageError, match="an index is outside"):
        model(n=np.array(4), x=x)


def test_a_saved_model_has_control_flow(tmp_path: Path) -> None:
    model = compile_graph(GRAPHS["nested"], options=PipelineOptions())
    library, header, weights = model.save(tmp_path / "nested.so")
    assert all(path.is_file() for path in (library, header, weights))
    folder = model.write_source(tmp_path / "source", "nested")
    assert "for (;" in (folder / "driver.c").read_text()


def test_weights_that_a_region_reads_are_kept_once() -> None:
    w = np.arange(9, dtype=np.float32).reshape(3, 3)
    graph = from_text("""graph f(c: bool[], x: float32[2, 3], v: float32[3, 3]) {
  let y = If(c) {
    graph yes() {
      let a = Mul(v, v)
      return a
    }
    graph no() {
      let b = Add(v, v)
      return b
    }
  }
  let z = MatMul(x, y)
  return z
}""")
    model = compile_graph(graph.but(inputs=graph.inputs[:2], constants={"v": w}))
    assert not any(np.array_equal(a, w) for a in model.plan.graph.constants.values())   # folded in both sides
    for c in (True, False):
        x = {"c": np.array(c), "x": np.ones((2, 3), np.float32)}
        np.testing.assert_allclose(model.run(x)["z"], interpret(graph, {**x, "v": w})["z"])
