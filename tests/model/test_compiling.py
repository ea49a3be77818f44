"""Graphs as compiled models, and what is refused."""

import numpy as np
import pytest

import polysched
from polysched.errors import UnsupportedGraphError, UsageError
from polysched.graph import from_text, interpret
from polysched.graph.builder import GraphBuilder
from polysched.model.compiling import compile_graph
from polysched.model.verification import check_loss

GRAPH = from_text("""graph f(x: float32[N, 6], s: int64[2]) {
  let y = Reshape(x, s)
  return y
}""")


def test_steering_values_are_given_when_it_is_compiled() -> None:
    model = compile_graph(GRAPH, sizes={"N": 2}, values={"s": np.array([3, 4])})
    assert model(x=np.arange(12, dtype=np.float32).reshape(2, 6))["y"].shape == (3, 4)


def test_values_that_decide_about_shapes_are_wanted_before_anything_is_compiled() -> None:
    with pytest.raises(UnsupportedGraphError, match="operand 1 decides about shapes and is not known"):
        compile_graph(GRAPH, sizes={"N": 2})


def test_a_graph_is_not_made_for_a_device() -> None:
    options = polysched.PipelineOptions(device="opencl")
    graph = from_text("graph f(x: float32[4]) {\n  let y = Relu(x)\n  return y\n}")
    with pytest.raises(UsageError, match="compiled models do not run on opencl"):
        compile_graph(graph, options=options)


FIRST, SECOND = (", ".join(str((k * 37 % 101 - 50) / 64) for k in range(n)) for n in (660, 140))
LAYERS = from_text(f"""graph g(x: float32[N, 33]) {{
  const w: float32[33, 20] = [{FIRST}]
  const v: float32[20, 7] = [{SECOND}]
  let y = MatMul(x, w)
  let r = Relu(y)
  let z = MatMul(r, v)
  return z, r
}}""")


@pytest.mark.parametrize(("stored", "most"), [("float16", 2**-9), ("bfloat16", 2**-7)])
@pytest.mark.parametrize("likely", [None, {"N": (1, 40)}])
def test_short_storage_has_float32_results_and_loses_little(stored: str, most: float, likely: dict | None) -> None:
    model = polysched.compile(LAYERS, stored=stored, likely=likely)
    wanted = polysched.compile(LAYERS)
    assert sum(a.nbytes for a in model.plan.graph.constants.values()) < 0.6 * sum(
        a.nbytes for a in wanted.plan.graph.constants.values())
    for rows in (1, 5, 64):
        given = {"x": np.random.default_rng(rows).standard_normal((rows, 33)).astype(np.float32)}
        found = model.run(given)
        assert {a.dtype for a in found.values()} == {np.dtype(np.float32)}
        for loss in check_loss(found, interpret(LAYERS, given), "the interpreter"):
            assert 0 < loss.relative < most


def test_storage_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="no storage as int8"):
        polysched.compile(LAYERS, stored="int8")
    with pytest.raises(UsageError, match="plans are measured of float32 models"):
        polysched.compile(LAYERS, sizes={"N": 2}, stored="float16", measure_plans=True)


def test_a_fill_too_large_to_be_folded_takes_no_memory() -> None:
    build = GraphBuilder("filled")
    x = build.input("x", "float32", (2, 5000))
    weights = build.op("ConstantOfShape", build.constant(np.array([5000, 5000], np.int64)), value=0.5)
    model = compile_graph(build.graph(y=x @ weights))
    assert model.plan.arena.bytes == 0
    value = np.arange(10_000, dtype=np.float32).reshape(2, 5000) / 10_000
    wanted = np.broadcast_to(0.5 * value.sum(axis=1, dtype=np.float64)[:, None], (2, 5000))
    np.testing.assert_allclose(model(x=value)["y"], wanted, rtol=1e-4, atol=1e-2)


def test_sizes_of_dead_values_are_not_guarded() -> None:
    graph = from_text("""graph f(x: int8[N]) {
  const c: int32[1] = [1048576]
  let s = Shape(x)
  let n = Cast(s; to="int32")
  let dead = Mul(n, c)
  let y = Neg(x)
  return y
}""")
    model = compile_graph(graph)
    assert model.plan.ranges == ()
    assert model(x=np.ones(4096, np.int8))["y"].sum() == -4096   # 4096 * 1048576 leaves int32
