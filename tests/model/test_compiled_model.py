"""Compiled models against the interpreter."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import polysched
from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret

GRAPH = from_text("""graph mlp(x: float32[N, 5], w: float32[5, 7], "b/1": float32[7]) {
  const axes: int64[1] = [1]
  let a = Gemm(x, w, "b/1")
  let c = Relu(a)
  let m = ReduceMax(c, axes)
  let d = Sub(c, m)
  let e = Exp(d)
  let s = ReduceSum(e, axes)
  let y = Div(e, s)
  let t = Transpose(y)
  let u = Concat(t, t; axis=0)
  return y, u, c, c
}""")


MEANS = from_text("""graph means(x: float32[N, 3, H, W]) {
  let y = GlobalAveragePool(x)
  let m = ReduceMean(x; keepdims=0)
  let z = Sub(y, m)
  return y, z
}""")


def test_a_mean_over_open_extents() -> None:
    model = polysched.compile(MEANS, islands="refuse")
    for shape in ((1, 3, 1, 1), (2, 3, 5, 7), (3, 3, 1, 33)):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        found = model(x=x)
        for name, value in interpret(MEANS, {"x": x}).items():
            np.testing.assert_allclose(found[name], value, rtol=1e-6, atol=1e-6)


def inputs(rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(rows)
    return {"x": rng.normal(size=(rows, 5)).astype(np.float32), "w": rng.normal(size=(5, 7)).astype(np.float32),
            "b/1": rng.normal(size=7).astype(np.float32)}


@pytest.fixture(scope="module")
def model() -> polysched.model.CompiledModel:
    return polysched.compile(GRAPH, sizes={"N": 3})


def test_it_computes_what_the_interpreter_does(model: polysched.model.CompiledModel) -> None:
    given = inputs(3)
    for _ in range(2):
        found, wanted = model.run(given), interpret(GRAPH, given)
        assert list(found) == ["y", "u", "c"]
        for name, value in found.items():
            np.testing.assert_allclose(value, wanted[name], rtol=1e-5, atol=1e-6)


def test_arrays_that_are_not_contiguous_are_copied(model: polysched.model.CompiledModel) -> None:
    given = inputs(3)
    strided = {**given, "w": np.asfortranarray(given["w"])}
    np.testing.assert_array_equal(model.run(strided)["y"], model.run(given)["y"])


def test_calls_of_several_threads_take_turns(model: polysched.model.CompiledModel) -> None:
    given = [{**inputs(3), "x": np.full((3, 5), n, np.float32)} for n in range(40)]
    wanted = [model.run(g)["y"] for g in given]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda g: model.run(g)["y"], given))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("reduction", ["max", "min"])
def test_a_scatter_keeps_nan(reduction: str) -> None:
    graph = from_text(f"""graph f(x: float32[4], u: float32[4]) {{
      const i: int64[4] = [0, 1, 2, 3]
      let y = ScatterElements(x, i, u; reduction="{reduction}")
      return y
    }}""")
    given = {"x": np.array([1, np.nan, 5, 2], np.float32), "u": np.array([np.nan, 1, 2, 5], np.float32)}
    np.testing.assert_array_equal(polysched.compile(graph).run(given)["y"], interpret(graph, given)["y"])


NODES = {
    "ReduceMax": "ReduceMax(x, a)", "ReduceMin": "ReduceMin(x, a; keepdims=0)", "of channels": "ReduceMax(x, c)",
    "of all": "ReduceMin(x)", "ArgMax": "ArgMax(x; axis=3)", "ArgMin": "ArgMin(x; axis=1)",
    "the last ArgMax": "ArgMax(x; axis=2, select_last_index=1)", "Hardmax": "Hardmax(x; axis=3)",
    "MaxPool": "MaxPool(x; kernel_shape=[3, 3], pads=[1, 1, 1, 1])", "GlobalMaxPool": "GlobalMaxPool(x)",
    "MaxPool of large windows": "MaxPool(x; kernel_shape=[5, 7], strides=[1, 2], pads=[2, 3, 2, 3])",
    "Softmax": "Softmax(x; axis=3)", "LogSoftmax": "LogSoftmax(x; axis=1)", "ReduceLogSumExp": "ReduceLogSumExp(x, a)"}


@pytest.mark.parametrize("channels", [3, 16])
@pytest.mark.parametrize("node", NODES)
def test_what_is_no_number_counts_as_in_numpy(node: str, channels: int) -> None:
    graph = from_text(f"""graph f(x: float32[2, {channels}, 6, 19]) {{
      const a: int64[1] = [3]
      const c: int64[2] = [1, 2]
      let y = {NODES[node]}
      return y
    }}""")
    compiled = polysched.compile(graph)
    for seed in range(4):
        draw = np.random.default_rng(seed)
        x = draw.normal(size=(2, channels, 6, 19)).astype(np.float32)
        x[draw.random(x.shape) < (0, 0.003, 0.05, 1)[seed]] = np.nan
        found, wanted = compiled.run({"x": x})["y"], interpret(graph, {"x": x})["y"]
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=f"seed {seed}")


def test_it_says_what_it_is(model: polysched.model.CompiledModel) -> None:
    assert repr(model).startswith("<CompiledModel mlp: ")
    assert "polysched_model_run" in model.c_source


def test_arguments_that_do_not_fit_are_refused(model: polysched.model.CompiledModel) -> None:
    with pytest.raises(UnsupportedGraphError, match="the model has no input 'z'"):
        model.run({**inputs(3), "z": np.zeros(1)})
    with pytest.raises(UnsupportedGraphError, match="the input 'w' is missing"):
        model(x=inputs(3)["x"])
    with pytest.raises(UnsupportedGraphError, match=r"the input 'x' is float32\[3, 5\]"):
        model.run(inputs(4))
