"""Code travels as text and bytes, and never changes its arguments."""

import pickle

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.runtime.dataflow import FunctionCode, ModelCode, kernel_code
from polysched.scop import from_c_text
from polysched.scop.expression import build, placeholder, symbols
from polysched.scop.expression.operators import matmul


def product():
    m, n, k = symbols("m n k")
    return kernel_code(build(matmul(placeholder("a", (m, k), "float32"), placeholder("b", (k, n), "float32")),
                             name="product"))


def test_a_kernel_gives_new_arrays() -> None:
    code = pickle.loads(pickle.dumps(product()))
    assert code.key == product().key
    draw = np.random.default_rng(0)
    values = {p.name: draw.random((5, 5), dtype=np.float32) if p.is_array else 5 for p in code.passed}
    (written,) = (p.name for p in code.passed if p.written)
    before = values[written].copy()
    (found,) = code.load()(*(values[p.name] for p in code.passed))
    np.testing.assert_allclose(found, values["a"] @ values["b"], rtol=1e-5)
    assert values[written].tobytes() == before.tobytes()


def test_a_kernel_that_updates_starts_from_what_it_is_given() -> None:
    code = kernel_code(from_c_text("""void f(int n, double a[n], double s) {
#pragma scop
for (int i = 0; i < n; i++) a[i] += s;
#pragma endscop
}"""))
    (found,) = code.load()(3, np.ones(3)[::1], 2.5)
    assert found.tolist() == [3.5, 3.5, 3.5]
    (found,) = code.load()(3, np.arange(6.0)[::2], 1.0)   # gaps are copied away
    assert found.tolist() == [1.0, 3.0, 5.0]


@pytest.mark.parametrize(("arguments", "said"), [((3, np.ones(3)), "takes 3 arguments"),
                                                 ((3, np.ones(3, np.float32), 1.0), "array of <f8")])
def test_arguments_of_a_kernel_are_checked(arguments, said: str) -> None:
    code = kernel_code(from_c_text("""void f(int n, double a[n], double s) {
#pragma scop
for (int i = 0; i < n; i++) a[i] += s;
#pragma endscop
}"""))
    with pytest.raises(UsageError, match=said):
        code.load()(*arguments)


@pytest.mark.parametrize("value", [1, (1,), [1, 2]])
def test_a_function_gives_as_many_values_as_it_says(value) -> None:
    with pytest.raises(UsageError, match="a tuple of 2 values"):
        FunctionCode(function=lambda: value, results=2).load()()


def test_functions_are_told_apart() -> None:
    def function() -> int:
        return 1
    assert FunctionCode(function=function).key != FunctionCode(function=function).key


def test_a_model_is_compiled_where_it_runs() -> None:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [4, 3]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    code = pickle.loads(pickle.dumps(ModelCode(onnx=model.SerializeToString(), inputs=("x",), outputs=("y",))))
    assert code.results == 1
    given = np.arange(-6, 6, dtype=np.float32).reshape(4, 3)
    (found,) = code.load()(given)
    assert found.tolist() == np.maximum(given, 0).tolist()
    assert code.key != ModelCode(onnx=code.onnx, inputs=("z",), outputs=("y",)).key
