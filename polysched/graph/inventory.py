"""TVM's inventory of operators (TE and TOPI), name by name: how the registry's operators make each.

    INVENTORY["relu"].make(g, x)        # the same as g.relu(x) of a `GraphBuilder`

Types and layouts are TOPI's: data `[batch, channel, x...]`, dense weights `[out, in]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.records import dataclass

if TYPE_CHECKING:
    from polysched.graph.builder import GraphBuilder, Value


@dataclass(frozen=True)
class Entry:
    """One name of the inventory.

    Parameters
    ----------
    name : TVM's.
    operators : names in the registry that stand behind it.
    make : the value that it makes, from a builder, values and options.
    """

    name: str
    operators: tuple[str, ...]
    make: Callable[..., Value]


def _plain(name: str, op: str, **fixed: Any) -> Entry:
    """A name that is one operator; options become attributes."""
    def make(g: GraphBuilder, *values: Value, **options: Any) -> Value:
        return g.op(op, *values, **{**fixed, **options})
    return Entry(name, (op,), make)


def _reduction(name: str, op: str) -> Entry:
    def make(g: GraphBuilder, x: Value, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Value:
        axes = [] if axis is None else [g.whole([axis] if isinstance(axis, int) else axis)]
        return g.op(op, x, *axes, keepdims=int(keepdims))
    return Entry(name, (op,), make)


def _position(name: str, op: str) -> Entry:
    def make(g: GraphBuilder, x: Value, axis: int | None = None, keepdims: bool = False) -> Value:
        flat = g.op("Reshape", x, g.whole([-1])) if axis is None else x
        return g.op(op, flat, axis=axis or 0, keepdims=int(keepdims))
    return Entry(name, (op,), make)


def _pool(name: str, rank: int) -> Entry:
    def make(g: GraphBuilder, x: Value, kernel: Sequence[int], stride: Sequence[int] | None = None,
             padding: Sequence[int] | None = None, pool_type: str = "max", **options: Any) -> Value:
        attributes = {"kernel_shape": tuple(kernel), "strides": tuple(stride or (1,) * rank),
                      "pads": tuple(padding or (0,) * 2 * rank), **options}
        return g.op("MaxPool" if pool_type == "max" else "AveragePool", x, **attributes)
    return Entry(name, ("MaxPool", "AveragePool"), make)


def _pool_grad(g: GraphBuilder, grad: Value, x: Value, kernel: Sequence[int], stride: Sequence[int],
               padding: Sequence[int], pool_type: str = "max", **options: Any) -> Value:
    return g.op("PoolGrad", grad, x, mode=pool_type, kernel_shape=tuple(kernel), strides=tuple(stride),
                pads=tuple(padding), **options)


def _global_pool(g: GraphBuilder, x: Value, pool_type: str = "max") -> Value:
    return g.op("GlobalMaxPool" if pool_type == "max" else "GlobalAveragePool", x)


def _adaptive(g: GraphBuilder, x: Value, output_size: Sequence[int], pool_type: str = "max") -> Value:
    return g.op("AdaptivePool", x, output_size=tuple(output_size), mode=pool_type)


def _broadcast_to(g: GraphBuilder, x: Value, shape: Sequence[int]) -> Value:
    return g.op("Expand", x, g.whole(shape))


def _clip(g: GraphBuilder, x: Value, low: float, high: float) -> Value:
    return g.op("Clip", x, g.number(low, x), g.number(high, x))


def _full(g: GraphBuilder, shape: Sequence[int], dtype: str, value: float) -> Value:
    return g.op("Expand", g.constant(np.array(value, dtype)), g.whole(shape))


def _prelu(g: GraphBuilder, x: Value, slope: Value, axis: int = 1) -> Value:
    return g.op("PRelu", x, g.op("AlignedAt", slope, x, axis=axis))


def _pad(g: GraphBuilder, x: Value, before: Sequence[int], behind: Sequence[int] | None = None,
         value: float = 0, mode: str = "constant") -> Value:
    widths = g.whole([*before, *(before if behind is None else behind)])
    return g.op("Pad", x, widths, g.number(value, x), mode=mode)


def _flatten(g: GraphBuilder, x: Value) -> Value:
    return g.op("Flatten", x, axis=1)


def _lrn(g: GraphBuilder, x: Value, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 2.0) -> Value:
    """TVM's and ONNX's alpha agree: both divide it by the size."""
    return g.op("LRN", x, size=size, alpha=alpha, beta=beta, bias=bias)


def _nd(name: str, op: str, ends: str) -> Entry:
    def make(g: GraphBuilder, x: Value, block_shape: Sequence[int], pairs: Sequence[int] | None = None,
             **options: Any) -> Value:
        given = {ends: tuple(pairs)} if pairs is not None else {}
        return g.op(op, x, block_shape=tuple(block_shape), **given, **options)
    return Entry(name, (op,), make)


_UNARY = {"acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh",
          "cos": "Cos", "cosh": "Cosh", "sin": "Sin", "sinh": "Sinh", "tan": "Tan", "tanh": "Tanh", "exp": "Exp",
          "erf": "Erf", "log": "Log", "log2": "Log2", "log10": "Log10", "sqrt": "Sqrt", "rsqrt": "Rsqrt",
          "sigmoid": "Sigmoid", "fast_exp": "FastExp", "fast_erf": "FastErf", "fast_tanh": "FastTanh",
          "identity": "Identity", "negative": "Neg", "sign": "Sign", "relu": "Relu", "leaky_relu": "LeakyRelu",
          "logical_not": "Not", "bitwise_not": "BitwiseNot", "full_like": "FullLike"}
_BINARY = {"add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "floor_divide": "FloorDiv",
           "floor_mod": "Mod", "maximum": "Max", "minimum": "Min", "power": "Pow", "logical_and": "And",
           "logical_or": "Or", "logical_xor": "Xor", "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr",
           "bitwise_xor": "BitwiseXor", "greater": "Greater", "less": "Less", "equal": "Equal",
           "not_equal": "NotEqual", "greater_equal": "GreaterOrEqual", "less_equal": "LessOrEqual",
           "elemwise_sum": "Sum", "dense": "Dense", "nll_loss": "NllLoss", "binary_dense": "BinaryDense"}
_REDUCED = {"sum": "ReduceSum", "min": "ReduceMin", "max": "ReduceMax", "prod": "ReduceProd", "all": "ReduceAll",
            "any": "ReduceAny"}
_WITH_OPTIONS = (
    _plain("mod", "Mod", fmod=1), _plain("left_shift", "BitShift", direction="LEFT"),
    _plain("right_shift", "BitShift", direction="RIGHT"), _plain("bias_add", "BiasAdd"),
    Entry("cast", ("Cast",), lambda g, x, dtype: g.op("Cast", x, to=dtype)),
    Entry("reinterpret", ("BitCast",), lambda g, x, dtype: g.op("BitCast", x, to=dtype)),
    Entry("dilate", ("Dilate",), lambda g, x, strides, value=0: g.op("Dilate", x, strides=tuple(strides), value=value)),
    _plain("scale_shift_nchw", "ScaleShift", axis=1), _plain("scale_shift_nhwc", "ScaleShift", axis=3),
    _plain("softmax", "Softmax", axis=-1), _plain("log_softmax", "LogSoftmax", axis=-1),
    _plain("binarize_pack", "BinarizePack"), _position("argmin", "ArgMin"), _position("argmax", "ArgMax"),
    _pool("pool1d", 1), _pool("pool2d", 2), _pool("pool3d", 3), Entry("pool_grad", ("PoolGrad",), _pool_grad),
    Entry("global_pool", ("GlobalMaxPool", "GlobalAveragePool"), _global_pool),
    Entry("adaptive_pool", ("AdaptivePool",), _adaptive), Entry("adaptive_pool3d", ("AdaptivePool",), _adaptive),
    Entry("broadcast_to", ("Expand",), _broadcast_to), Entry("clip", ("Clip",), _clip),
    Entry("full", ("Expand",), _full), Entry("prelu", ("PRelu", "AlignedAt"), _prelu), Entry("pad", ("Pad",), _pad),
    Entry("flatten", ("Flatten",), _flatten), Entry("lrn", ("LRN",), _lrn),
    _nd("space_to_batch_nd", "SpaceToBatchND", "paddings"), _nd("batch_to_space_nd", "BatchToSpaceND", "crops"))

INVENTORY: dict[str, Entry] = {entry.name: entry for entry in (
    *(_plain(name, op) for name, op in (_UNARY | _BINARY).items()),
    *(_reduction(name, op) for name, op in _REDUCED.items()), *_WITH_OPTIONS)}
