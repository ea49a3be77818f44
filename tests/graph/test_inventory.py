"""TVM's inventory: every name is there, is built by hand, and computes what NumPy does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from polysched.graph import interpret
from polysched.graph.builder import GraphBuilder, Value
from polysched.graph.inventory import INVENTORY
from polysched.graph.operators.registry import OPERATORS
from polysched.model.compiling import compile_graph
from polysched.model.planned import planned
from tests.graph.samples import SAMPLES, read_plan

NAMES = {
    "add", "subtract", "multiply", "divide", "floor_divide", "mod", "floor_mod", "maximum", "minimum", "power",
    "left_shift", "right_shift", "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and",
    "bitwise_or", "bitwise_xor", "bitwise_not", "greater", "less", "equal", "not_equal", "greater_equal",
    "less_equal", "broadcast_to", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin",
    "sinh", "tan", "tanh", "exp", "erf", "log", "log2", "log10", "sqrt", "rsqrt", "sigmoid", "fast_exp",
    "fast_erf", "fast_tanh", "identity", "negative", "clip", "cast", "reinterpret", "elemwise_sum", "sign",
    "full", "full_like", "relu", "leaky_relu", "prelu", "pad", "space_to_batch_nd", "batch_to_space_nd",
    "nll_loss", "dense", "bias_add", "dilate", "flatten", "scale_shift_nchw", "scale_shift_nhwc", "pool_grad",
    "global_pool", "adaptive_pool", "adaptive_pool3d", "pool1d", "pool2d", "pool3d", "softmax", "log_softmax",
    "lrn", "binarize_pack", "binary_dense", "sum", "min", "max", "argmin", "argmax", "prod", "all", "any"}

BESIDE = {
    "Conv", "ConvTranspose", "MatMul", "Gemm", "BatchNormalization", "LayerNormalization", "RMSNormalization",
    "Attention", "LSTM", "GRU", "RNN", "HardSigmoid", "Gelu", "Resize", "Reshape", "Transpose", "Concat", "Split",
    "Slice", "Squeeze", "Expand", "Tile", "Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND",
    "Where", "CumSum", "OneHot", "TopK", "Einsum", "Range", "Shape", "QuantizeLinear", "DequantizeLinear",
    "QLinearConv", "MatMulInteger", "DynamicQuantizeLinear"}
"""What real models need beside the inventory, but for control flow, and for NonZero, which is an island."""

RNG = np.random.default_rng(3)
F = RNG.uniform(0.1, 0.9, (2, 3, 4, 4)).astype(np.float32)
M = RNG.uniform(-2, 2, (4, 6)).astype(np.float32)
WHOLE = RNG.integers(1, 9, (2, 6)).astype(np.int32)
B = np.array([[True, False], [True, True]])
W = RNG.uniform(-1, 1, (3, 6)).astype(np.float32)
C = np.array([1, 2, 3], np.float32)
V = RNG.uniform(-2, 2, (1, 2, 4, 4, 4)).astype(np.float32)
S = RNG.uniform(-1, 1, (4, 64)).astype(np.float32)
S[0, :3] = 0   # whose bit is set, as TOPI has it


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x).astype(np.float32)


def _lrn(x: np.ndarray) -> np.ndarray:
    """Squares of a channel and its neighbours."""
    squares = np.pad(x ** 2, ((0, 0), (1, 1), (0, 0), (0, 0)))
    near = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
    return x / (1.5 + 0.1 / 3 * near) ** 0.5


def _signs(x: np.ndarray) -> np.ndarray:
    return np.where(x >= 0, 1, -1).astype(np.int32)


def _packed(x: np.ndarray) -> np.ndarray:
    """One bit a sign, the first element in the highest."""
    bits = (x.reshape(len(x), -1, 32) >= 0).astype(np.uint64)
    return (bits << np.arange(31, -1, -1, dtype=np.uint64)).sum(-1).astype(np.uint32)


Case = tuple[str, list[np.ndarray], Callable[..., Value], Callable[..., Any]]


def plain(name: str, arrays: list[np.ndarray], wanted: Callable[..., Any], **options: Any) -> Case:
    return name, arrays, lambda g, *v: getattr(g, name)(*v, **options), wanted


CASES: list[Case] = [
    *(plain(name, [M, M[:1]], function) for name, function in {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum, "greater": np.greater, "less": np.less, "equal": np.equal, "not_equal": np.not_equal,
        "greater_equal": np.greater_equal, "less_equal": np.less_equal}.items()),
    *(plain(name, [WHOLE - 5, WHOLE[:1]], function) for name, function in {
        "floor_divide": np.floor_divide, "mod": np.fmod, "floor_mod": np.mod, "left_shift": np.left_shift,
        "right_shift": np.right_shift, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
        "bitwise_xor": np.bitwise_xor}.items()),
    *(plain(name, [B, ~B[:1]], function) for name, function in {
        "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}.items()),
    *(plain(name, [F], function) for name, function in {
        "acos": np.arccos, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh,
        "cos": np.cos, "cosh": np.cosh, "sin": np.sin, "sinh": np.sinh, "tan": np.tan, "tanh": np.tanh, "exp": np.exp,
        "log": np.log, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "fast_exp": np.exp, "fast_tanh": np.tanh, "identity": lambda x: x,
        "negative": np.negative, "sign": np.sign, "flatten": lambda x: x.reshape(2, 48)}.items()),
    plain("acosh", [F + 1], np.arccosh), plain("power", [F, F], np.power),
    plain("relu", [M], lambda x: np.maximum(x, 0)),
    plain("leaky_relu", [M], lambda x: np.where(x < 0, x * np.float32(0.1), x), alpha=0.1),
    plain("logical_not", [B], np.logical_not), plain("bitwise_not", [WHOLE], np.invert),
    plain("elemwise_sum", [M, M, M], lambda a, b, c: a + b + c), plain("cast", [M], lambda x: x.astype(np.int32),
                                                                      dtype="int32"),
    plain("reinterpret", [M], lambda x: x.view(np.int32), dtype="int32"),
    plain("full_like", [M], lambda x: np.full_like(x, 2), value=2),
    plain("clip", [M], lambda x: np.clip(x, -1, 1), low=-1, high=1),
    plain("broadcast_to", [M[:1]], lambda x: np.broadcast_to(x, (3, 6)), shape=(3, 6)),
    plain("pad", [M], lambda x: np.pad(x, ((1, 0), (0, 2))), before=(1, 0), behind=(0, 2)),
    plain("prelu", [F - 0.5, C], lambda x, s: np.where(x < 0, x * s[:, None, None], x)),
    plain("dense", [M, W], lambda x, w: x @ w.T), plain("bias_add", [F, C], lambda x, b: x + b[:, None, None]),
    plain("scale_shift_nchw", [F, C, C], lambda x, s, b: x * s[:, None, None] + b[:, None, None]),
    plain("scale_shift_nhwc", [F, F[0, 0, 0], F[0, 1, 0]], lambda x, s, b: x * s + b),
    plain("softmax", [M], lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
    plain("log_softmax", [M], lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True))),
    *(plain(name, [M], lambda x, f=f: f(x, axis=1), axis=1) for name, f in {
        "sum": np.sum, "min": np.min, "max": np.max, "prod": np.prod, "argmin": np.argmin,
        "argmax": np.argmax}.items()),
    plain("all", [B], lambda x: np.all(x)), plain("any", [B], lambda x: np.any(x, axis=0), axis=0),
    plain("global_pool", [F], lambda x: x.mean((2, 3), keepdims=True), pool_type="avg"),
    plain("adaptive_pool", [F], lambda x: x.reshape(2, 3, 2, 2, 4).mean((3, 4), keepdims=True)[..., 0],
          output_size=(2, 1), pool_type="avg"),
    plain("pool2d", [F], lambda x: x.reshape(2, 3, 2, 2, 2, 2).max((3, 5)), kernel=(2, 2), stride=(2, 2)),
    plain("pool1d", [F[0]], lambda x: x.reshape(3, 4, 2, 2).mean(3), kernel=(2,), stride=(2,), pool_type="avg"),
    plain("dilate", [M], lambda x: np.kron(x, np.array([[1, 0], [0, 0]], np.float32))[:-1, :-1], strides=(2, 2)),
    plain("space_to_batch_nd", [M], lambda x: np.concatenate([x[:, ::2], x[:, 1::2]]), block_shape=(2,)),
    plain("batch_to_space_nd", [M], lambda x: np.stack([x[:2], x[2:]], -1).reshape(2, 12), block_shape=(2,)),
    plain("nll_loss", [np.log(F[0, 0]), np.array([0, 3, 1, 2])], lambda x, t: -x[np.arange(4), t].mean()),
    plain("erf", [M], _erf), plain("fast_erf", [M], _erf),
    ("full", [M], lambda g, x: g.add(x, g.full((4, 6), "float32", 2.5)), lambda x: x + np.float32(2.5)),
    plain("lrn", [F], _lrn, size=3, alpha=0.1, beta=0.5, bias=1.5),
    plain("adaptive_pool3d", [V], lambda x: x.reshape(1, 2, 2, 2, 2, 2, 2, 2).max((3, 5, 7)), output_size=(2, 2, 2)),
    plain("pool3d", [V], lambda x: x.reshape(1, 2, 2, 2, 2, 2, 2, 2).mean((3, 5, 7)), kernel=(2, 2, 2),
          stride=(2, 2, 2), pool_type="avg"),
    plain("binarize_pack", [S], _packed),
    plain("binary_dense", [_packed(S), _packed(S[:3])], lambda a, b: _signs(S) @ _signs(S[:3]).T),
    plain("pool_grad", [np.ones((2, 3, 2, 2), np.float32), F], lambda d, x: (x == np.kron(
        x.reshape(2, 3, 2, 2, 2, 2).max((3, 5)), np.ones((1, 1, 2, 2)))).astype(np.float32), kernel=(2, 2),
          stride=(2, 2), padding=(0, 0, 0, 0))]


def built(case: Case) -> Any:
    """The graph of a case, its inputs, and what is wanted."""
    name, arrays, make, wanted = case
    g = GraphBuilder(name)
    values = [g.input(f"x{k}", a.dtype.name, a.shape) for k, a in enumerate(arrays)]
    return g.graph(y=make(g, *values)), {f"x{k}": a for k, a in enumerate(arrays)}, np.asarray(wanted(*arrays))


def test_every_name_has_a_case() -> None:
    assert {case[0] for case in CASES} == NAMES


def test_every_name_is_there_and_its_operators_are_in_the_registry() -> None:
    assert set(INVENTORY) == NAMES
    assert {op for entry in INVENTORY.values() for op in entry.operators} <= set(OPERATORS)


def test_what_real_models_need_is_there_compiled_and_has_a_reference() -> None:
    from onnx.defs import get_schema
    functions = {name for name in BESIDE if name not in OPERATORS}   # of ONNX, whose bodies are inlined
    assert all(get_schema(name).has_function or get_schema(name).has_context_dependent_function for name in functions)
    assert BESIDE - functions <= {case[0] for case in SAMPLES}   # compiled, beside their references, by test_registry
    assert {"If", "Loop", "Scan"} <= set(OPERATORS)
    assert "NonZero" not in OPERATORS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_name_computes_what_numpy_does(case: Case) -> None:
    graph, inputs, wanted = built(case)
    for found in (interpret(graph, inputs)["y"], read_plan(planned(graph), inputs)["y"]):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=3e-6, atol=1e-6)


def test_names_that_are_new_are_compiled() -> None:
    g = GraphBuilder("several")
    f, m = g.input("f", "float32", F.shape), g.input("m", "float32", (4, 64))
    signs = RNG.uniform(-1, 1, (4, 64)).astype(np.float32)
    words = g.binarize_pack(m)
    graph = g.graph(dense=g.binary_dense(words, words), grad=g.pool_grad(
        g.full((2, 3, 2, 2), "float32", 1), f, (2, 2), (2, 2), (0, 0, 0, 0)), dilated=g.dilate(f, (1, 1, 2, 1)),
        adapted=g.adaptive_pool(f, (3, 3)))
    found = compile_graph(graph, fusion="greedy").run({"f": F, "m": signs})
    rows = np.where(signs > 0, 1, -1)
    assert np.array_equal(found["dense"], rows @ rows.T)
    best = F == np.kron(F.reshape(2, 3, 2, 2, 2, 2).max((3, 5)), np.ones((1, 1, 2, 2)))
    assert np.array_equal(found["grad"], best)
    assert np.array_equal(found["dilated"][:, :, ::2], F)
    assert not found["dilated"][:, :, 1::2].any()
    assert np.array_equal(found["adapted"][:, :, 0, 0], F[:, :, :2, :2].max((2, 3)))
