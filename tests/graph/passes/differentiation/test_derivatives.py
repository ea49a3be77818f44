"""Derivatives by rules, beside differences of the values of the interpreter in float64."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.passes.differentiation.gradients import differentiated
from polysched.graph.values.graph import Graph

STEP = 1e-5


def by_differences(graph: Graph, arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    """The derivative of the sum of the first output by an input, from its values on both sides."""
    result = np.zeros(arrays[name].shape)
    for place in np.ndindex(result.shape):
        found = []
        for step in (STEP, -STEP):
            moved = arrays[name].copy()
            moved[place] += step
            found.append(interpret(graph, {**arrays, name: moved})[graph.outputs[0]].sum())
        result[place] = (found[0] - found[1]) / (2 * STEP)
    return result


def check(text: str, low: float = -2.0) -> Graph:
    """The gradient of `y`, weighted so that no derivative cancels, by every input of floats."""
    graph = from_text(text)
    by = [name for name, its_type in graph.inputs if its_type.dtype.is_float]
    listed = ", ".join(f'"{name}"' for name in by)
    outputs = ", ".join(f"d{name}" for name in by)
    asked = text.replace("  return y\n", f'  let {outputs} = Gradient({", ".join(by)}; xs=[{listed}], y="y")\n'
                                         f"  return {outputs}\n")
    rng = np.random.default_rng(1)
    arrays = {name: rng.uniform(low, 2, its_type.extents) if its_type.dtype.is_float else
              rng.integers(0, 2, its_type.extents).astype(its_type.numpy) for name, its_type in graph.inputs}
    made = differentiated(from_text(asked))
    assert all(node.op != "Gradient" for node in made.nodes)
    found = interpret(made, arrays)
    for name in by:
        assert found[f"d{name}"].shape == arrays[name].shape
        assert np.allclose(found[f"d{name}"], by_differences(graph, arrays, name), rtol=1e-5, atol=1e-6), name
    return made


@pytest.mark.parametrize("op", ["Exp", "Log", "Sqrt", "Reciprocal", "Sin", "Cos", "Tanh", "Sigmoid", "Softplus", "Erf",
                                "Abs", "Relu", "Celu", "Swish", "Tan", "Sinh", "Cosh", "Atan", "Asinh", "Atanh", "Asin",
                                "Acos", "Acosh", "LeakyRelu", "Elu", "Gelu", "Neg", "Identity", "Softmax",
                                "LogSoftmax"])
def test_functions_of_one_operand(op: str) -> None:
    small = "  let x = Mul(g, half)\n" if op in ("Atanh", "Asin", "Acos") else "  let x = Sub(g, less)\n"
    check(f"""graph g(g: float64[2, 3], w: float64[2, 3]) {{
  const half: float64[] = [0.3]
  const less: float64[] = [{-1 if op == "Acosh" else 0}]
{small}  let f = {op}(x)
  let y = Mul(f, w)
  return y
}}""", low=0.1 if op in ("Log", "Sqrt", "Reciprocal", "Acosh") else -2.0)


@pytest.mark.parametrize(("op", "low"), [("Add", -2), ("Sub", -2), ("Mul", -2), ("Div", 0.3), ("Pow", 0.3),
                                         ("Max", -2), ("Min", -2), ("Sum", -2)])
def test_operands_that_broadcast(op: str, low: float) -> None:
    check(f"""graph g(a: float64[2, 1, 3], b: float64[4, 1], w: float64[2, 4, 3]) {{
  let f = {op}(a, b)
  let y = Mul(f, w)
  return y
}}""", low)


@pytest.mark.parametrize("line", [
    "MatMul(x, v)", "MatMul(v, t)", "MatMul(x, t)", "Gemm(x, t, u; transA=1, transB=1)", "ReduceSum(x, i1; keepdims=0)",
    "ReduceSum(x)", "ReduceMean(x, i0)", "ReduceMax(x, i1)", "ReduceMin(x, i0; keepdims=0)", "ReduceL2(x, i1)",
    "Reshape(x, flat)", "Unsqueeze(x, i1)", "Transpose(x; perm=[1, 0])", "Concat(x, x; axis=1)", "Clip(x, low, high)",
    "Slice(x, i1, i2, i1)", "Gather(x, many; axis=1)", "Gather(x, i0)", "Where(less, x, low)", "Expand(v, wide)",
    "BatchNormalization(x, v, v, v, p)", "Flatten(x)", "Cast(x; to=\"float64\")", "HardSigmoid(x)"])
def test_other_operators(line: str) -> None:
    made = check(f"""graph g(x: float64[2, 3], t: float64[3, 2], v: float64[3]) {{
  const u: float64[3] = [1, 2, 3]
  const p: float64[3] = [0.5, 1, 2]
  const i0: int64[1] = [0]
  const i1: int64[1] = [1]
  const i2: int64[1] = [3]
  const flat: int64[2] = [3, -1]
  const many: int64[2, 2] = [2, 0, -1, 2]
  const wide: int64[2] = [4, 3]
  const low: float64[] = [-0.5]
  const high: float64[] = [0.7]
  let less = Less(x, low)
  let f = {line}
  let s = Mul(f, f)
  let e = Sin(s)
  let y = Mul(e, f)
  return y
}}""")
    assert made.outputs == ("dx", "dt", "dv")


@pytest.mark.parametrize("attributes", [
    "", "strides=[2, 1], pads=[1, 0, 1, 2]", "dilations=[2, 1]", 'auto_pad="SAME_UPPER", strides=[3, 2]',
    "group=2, pads=[1, 1, 1, 1]"])
def test_convolutions(attributes: str) -> None:
    inner = 1 if "group" in attributes else 2
    check(f"""graph g(x: float64[2, 2, 5, 6], w: float64[4, {inner}, 2, 3], b: float64[4]) {{
  let c = Conv(x, w, b; {attributes or "group=1"})
  let y = Sin(c)
  return y
}}""")


@pytest.mark.parametrize("line", ["MaxPool(x; kernel_shape=[2, 2])", "GlobalAveragePool(x)",
                                  "AveragePool(x; kernel_shape=[2, 3], pads=[1, 1, 0, 0])",
                                  "MaxPool(x; kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 0])"])
def test_pools(line: str) -> None:
    check(f"""graph g(x: float64[1, 2, 4, 5]) {{
  let c = {line}
  let y = Mul(c, c)
  return y
}}""")


def test_parts_of_a_split() -> None:
    check("""graph g(x: float64[6]) {
  const sizes: int64[3] = [1, 3, 2]
  let a, b, c = Split(x, sizes; axis=0)
  let s = Sin(b)
  let t = ReduceSum(c)
  let y = Mul(s, t)
  return y
}""")


def test_a_result_of_another_type_than_what_lies_between() -> None:
    text = """graph g(x: float64[2, 3]) {
  let a = Cast(x; to="float32")
  let b = Gelu(a)
  let c = Cast(b; to="float64")
  let d = Softplus(c)
  let e = ReduceMax(d)
  let f = Mul(e, d)
  let h = Cast(f; to="float32")
  let i = LeakyRelu(h)
  let y = Cast(i; to="float64")
  let dx = Gradient(x; xs=["x"], y="y")
  return dx
}"""
    x = np.array([[-1, 0.5, 2], [1.5, -0.25, 1]])
    rounded, wide = (interpret(differentiated(from_text(t)), {"x": x})["dx"] for t in (
        text, text.replace("float32", "float64")))
    assert np.allclose(rounded, wide, rtol=1e-5)


@pytest.mark.parametrize("line", ["ReduceMean(x)", "ReduceMean(x, i1)", "ReduceMean(x, i1; keepdims=0)",
                                  "ReduceMean(x; keepdims=0)"])
def test_a_mean_over_open_sizes(line: str) -> None:
    graph = differentiated(from_text(f"""graph g(x: float32[N, M]) {{
  const i1: int64[1] = [-1]
  let m = {line}
  let y = Mul(m, m)
  let d = Gradient(x; xs=["x"], y="y")
  return d
}}"""))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    over = 1 if "i1" in line else None
    wanted = np.broadcast_to(2 * x.mean(over, keepdims=True) / (3 if "i1" in line else 6), x.shape)
    assert np.allclose(interpret(graph, {"x": x})["d"], wanted)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
def test_a_softmax_of_an_older_operator_set_is_over_all_axes_behind(op: str, axis: int) -> None:
    check(f"""graph g(x: float64[2, 3, 2], w: float64[2, 3, 2]) {{
  let f = {op}(x; axis={axis}, flatten=1)
  let y = Mul(f, w)
  return y
}}""")


@pytest.mark.parametrize("bounds", ["low, high", "low", "_, high", "high, low"])
def test_bounds_have_the_gradients_of_what_they_cut(bounds: str) -> None:
    check(f"""graph g(x: float64[3, 4], u: float64[], v: float64[1], w: float64[3, 4]) {{
  const by: float64[] = [0.1]
  const few: float64[] = [-0.4]
  let a = Mul(u, by)
  let low = Add(a, few)
  let b = Mul(v, by)
  let high = Sub(b, few)
  let f = Clip(x, {bounds})
  let y = Mul(f, w)
  return y
}}""")


def test_a_rule_refuses_in_words() -> None:
    with pytest.raises(UnsupportedGraphError, match="the derivative of a slice of unknown bounds"):
        differentiated(from_text("""graph g(x: float64[N]) {
  const one: int64[1] = [1]
  const six: int64[1] = [6]
  let y = Slice(x, one, six)
  let d = Gradient(x; xs=["x"], y="y")
  return d
}"""))
