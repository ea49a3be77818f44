"""Small uses of every operator, and a second reading of plans: copies by NumPy, kernels by the interpreter of Scops."""

from __future__ import annotations

from typing import Any

import numpy as np

from polysched.graph import Graph, Node, TensorType
from polysched.graph.operators.moves import moved
from polysched.graph.planning.expressions import scop_of
from polysched.graph.planning.partition import PADDED
from polysched.graph.planning.plan import Plan
from polysched.graph.planning.steps import Kernel, Together, walked
from polysched.scop.interpreter import execute

RNG = np.random.default_rng(7)


def floats(*shape: int, low: float = -2.0, high: float = 2.0, dtype: str = "float32") -> np.ndarray:
    return RNG.uniform(low, high, shape).astype(dtype)


def ints(*shape: int, low: int = -9, high: int = 9, dtype: str = "int32") -> np.ndarray:
    return RNG.integers(low, high, shape).astype(dtype)


def truths(*shape: int) -> np.ndarray:
    return RNG.integers(0, 2, shape).astype(bool)


def whole(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


Sample = tuple[str, list[np.ndarray | None], dict[str, Any], int]


def sample(op: str, *operands: np.ndarray | None, results: int = 1, **attributes: Any) -> Sample:
    return op, list(operands), attributes, results


def grams(**changes: Any) -> dict[str, Any]:
    """Attributes of TfIdfVectorizer: two tokens, three pairs of which two are equal, one triple."""
    return {"mode": "TFIDF", "min_gram_length": 1, "max_gram_length": 3, "max_skip_count": 2, "ngram_counts": (0, 2, 8),
            "ngram_indexes": (4, 0, 2, 1, 3, 0), "pool_int64s": (1, 2, 0, 1, 2, 2, 0, 1, 1, 0, 2),
            "weights": (0.5, 2.0, -1.0, 3.0, 1.5), **changes}


SAMPLES: list[Sample] = [
    *(sample(op, floats(3, 4)) for op in (
        "Exp", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Erf", "Floor", "Ceil", "Round", "Abs",
        "Neg", "Sign", "Reciprocal", "Relu", "Sigmoid", "Softplus", "Softsign", "Elu", "Celu", "Selu", "LeakyRelu",
        "ThresholdedRelu", "HardSigmoid", "HardSwish", "Mish", "Swish", "Gelu", "Shrink", "IsNaN", "IsInf")),
    *(sample(op, floats(3, 4, low=0.1, high=0.9)) for op in ("Log", "Sqrt", "Asin", "Acos", "Atanh")),
    sample("Acosh", floats(4, low=1.1, high=3.0)), sample("Gelu", floats(5), approximate="tanh"),
    sample("IsInf", np.array([1, np.inf, -np.inf, np.nan], np.float32), detect_negative=0),
    sample("HardSigmoid", np.array([np.nan, np.inf, -np.inf, 0], np.float32)),
    sample("Not", truths(5)), sample("BitwiseNot", ints(5, dtype="uint8", low=0)),
    *(sample(op, ints(7)) for op in ("Abs", "Neg", "Sign")),
    *(sample(op, floats(2, 3, 4), floats(3, 1)) for op in (
        "Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")),
    *(sample(op, ints(20), np.array([0, -1, 3, -3, 7] * 4, np.int32)) for op in ("Div", "Mod")),
    sample("Mod", ints(9), ints(9, low=1), fmod=1), sample("Mod", floats(9), floats(9, low=0.5), fmod=1),
    sample("Div", np.array([-2 ** 31, 5], np.int32), np.array([-1, 0], np.int32)),
    sample("Max", np.array([np.nan, 1], np.float32), np.array([1, np.nan], np.float32)),
    *(sample(op, floats(3), floats(2, 3), floats(1)) for op in ("Sum", "Mean", "Max", "Min")),
    *(sample(op, ints(6), ints(6)) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal")),
    *(sample("BitShift", ints(6, low=0, dtype="uint8"), np.array([0, 1, 7, 8, 200, 3], np.uint8), direction=d)
      for d in ("LEFT", "RIGHT")),
    *(sample(op, truths(2, 3), truths(3)) for op in ("And", "Or", "Xor", "Equal")),
    sample("Pow", floats(4, low=0.1), floats(4)), sample("Pow", ints(4, low=0), ints(4, low=0, high=3)),
    *(sample("Pow", np.array([50000, -70000, 7], np.int32), np.array(exponent, np.int32)) for exponent in (2, 3)),
    sample("Where", truths(3), floats(2, 3), floats(2, 1)),
    sample("Clip", floats(6), np.array(-0.5, np.float32), np.array(0.5, np.float32)),
    sample("Clip", ints(6), None, np.array(2, np.int32)),
    *(sample("Cast", floats(5), to=t) for t in ("float64", "float16", "int32", "int8", "bool")),
    sample("Cast", truths(5), to="float32"), sample("CastLike", floats(5), ints(2)),
    sample("Identity", floats(2, 2)), sample("Reshape", floats(2, 6), whole(3, -1)),
    sample("Reshape", floats(2, 6), whole(0, 2, 3)), sample("Flatten", floats(2, 3, 4), axis=2),
    sample("Squeeze", floats(1, 3, 1), whole(-1)), sample("Squeeze", floats(1, 3, 1)),
    sample("Unsqueeze", floats(3), whole(0, -1)), sample("Transpose", floats(2, 3, 4), perm=(2, 0, 1)),
    sample("Transpose", floats(2, 3)), sample("Expand", floats(3, 1), whole(2, 1, 4)),
    sample("Concat", floats(2, 3), floats(2, 1), axis=-1),
    sample("Split", floats(5, 2), whole(2, 3), results=2), sample("Split", floats(2, 5), results=2, axis=1),
    sample("Slice", floats(6, 5), whole(4, 1), whole(-100, 4), whole(0, 1), whole(-2, 1)),
    sample("Slice", floats(6, 5), whole(1), whole(1000)), sample("Tile", floats(2, 3), whole(2, 2)),
    sample("Pad", floats(2, 3), whole(1, 0, 0, 2), np.array(7, np.float32)),
    sample("Pad", floats(2, 3), whole(0, -1, 1, 0)),
    sample("PadConstant", floats(2, 3), np.array(7, np.float32), before=(1, 0), behind=(0, 2)),
    *(sample("Pad", floats(2, 4), whole(1, 2, 1, 3), mode=m) for m in ("edge", "reflect", "wrap")),
    *(sample("Pad", floats(3, 2), whole(7, 0, 8, 5), mode=m) for m in ("edge", "reflect", "wrap")),
    sample("Pad", floats(1, 2), whole(3, 0, 2, 1), mode="reflect"),
    *(sample(op, floats(2, 3, 4, low=0.1), whole(1), keepdims=k) for k in (0, 1) for op in (
        "ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare",
        "ReduceLogSum", "ReduceLogSumExp")),
    *(sample("OpenMean", floats(2, 3, 4, dtype=d), *a, keepdims=k) for d in ("float32", "float64") for k in (0, 1)
      for a in ((), (whole(1, -1),))),
    sample("ReduceSum", floats(2, 3)), sample("ReduceSum", ints(2, 3), whole(0, -1), keepdims=0),
    sample("ReduceMax", truths(2, 3), whole(1)), sample("ReduceSum", floats(2, 3), noop_with_empty_axes=1),
    sample("ReduceSum", floats(2, 0, 3), whole(1)), sample("ReduceMax", floats(2, 0, 3), whole(1)),
    sample("ReduceSum", floats(2, 9, dtype="float16"), whole(1)),
    *(sample(op, ints(3, 6, high=3, low=0), axis=1, keepdims=k, select_last_index=s)
      for op in ("ArgMax", "ArgMin") for k in (0, 1) for s in (0, 1)),
    sample("MatMul", floats(2, 3), floats(3, 4)), sample("MatMul", floats(2, 1, 2, 3), floats(2, 3, 2)),
    sample("MatMul", floats(3), floats(2, 3, 4)), sample("MatMul", floats(2, 3), floats(3)),
    sample("MatMul", ints(2, 3), ints(3, 2)),
    sample("MatMul", floats(2, 3, dtype="float16"), floats(3, 2, dtype="float16")),
    sample("Gemm", floats(3, 2), floats(4, 3), floats(4), alpha=0.5, beta=2.0, transA=1, transB=1),
    sample("Gemm", floats(2, 3), floats(3, 4)),
    sample("Gather", floats(3, 4), np.array([[0, -1], [2, 1]], np.int64), axis=1),
    sample("Gather", floats(3, 4), np.array(-1, np.int32)), sample("Gather", floats(5), whole(4, 4)),
    sample("GatherElements", floats(3, 4), ints(2, 4, low=-3, high=3, dtype="int64")),
    sample("GatherElements", floats(3, 4), ints(3, 2, low=-4, high=4), axis=1),
    sample("GatherND", floats(2, 3, 4), np.array([[0, -1], [1, 2]], np.int64)),
    sample("GatherND", floats(2, 3, 4), np.array([[1], [-1]], np.int64), batch_dims=1),
    *(sample("ScatterElements", floats(3, 4), np.array([[1, -1, 1]], np.int64), floats(1, 3), axis=1, reduction=r)
      for r in ("none", "add", "mul", "max", "min")),
    *(sample("ScatterND", ints(4, 3), np.array([[1], [1], [-1]], np.int64), ints(3, 3), reduction=r)
      for r in ("none", "add", "mul", "max", "min")),
    sample("OneHot", np.array([0, -1, 2], np.int64), whole(3), floats(2), axis=0),
    sample("OneHot", np.array([[1.0, 7.0]], np.float32), whole(3), ints(2)),
    *(sample("Trilu", floats(2, 3, 4), whole(k), upper=u) for k in (0, -1, 2) for u in (0, 1)),
    sample("Conv", floats(1, 2, 5, 4), floats(3, 2, 3, 2), floats(3), pads=(1, 0, 2, 1), strides=(2, 1)),
    sample("Conv", floats(2, 4, 6), floats(4, 2, 3), group=2, dilations=(2,)),
    sample("Conv", floats(1, 2, 5), floats(2, 1, 3), group=2, auto_pad="SAME_UPPER", strides=(2,)),
    sample("Conv", floats(1, 1, 4, 4, 4), floats(1, 1, 2, 2, 2)),
    sample("Conv", floats(1, 2, 5, dtype="float16"), floats(2, 2, 3, dtype="float16"), floats(2, dtype="float16")),
    sample("ConvTranspose", floats(1, 2, 3, 3), floats(2, 2, 3, 3), floats(2), strides=(2, 2), pads=(1, 1, 1, 1)),
    sample("ConvTranspose", floats(1, 4, 3), floats(4, 1, 2), group=2, output_padding=(1,), strides=(2,)),
    sample("ConvTranspose", floats(1, 1, 3), floats(1, 2, 3), dilations=(2,), output_shape=(6,)),
    sample("MaxPool", floats(1, 2, 5, 5), kernel_shape=(2, 3), strides=(2, 2), pads=(0, 1, 1, 1)),
    sample("MaxPool", ints(1, 2, 6, dtype="uint8", low=0), kernel_shape=(3,), ceil_mode=1, strides=(2,),
           dilations=(2,)),
    *(sample("AveragePool", floats(1, 2, 5, 5), kernel_shape=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1),
             count_include_pad=c, ceil_mode=m) for c in (0, 1) for m in (0, 1)),
    sample("SumPool", floats(1, 1, 4), kernel_shape=(2,)),
    *(sample("LpPool", floats(1, 2, 5), kernel_shape=(2,), p=p) for p in (1, 2, 3)),
    sample("GlobalAveragePool", floats(1, 2, 3, 3)), sample("GlobalMaxPool", floats(1, 2, 3)),
    *(sample("GlobalLpPool", floats(1, 2, 3, 2), p=p) for p in (1, 2, 3)),
    *(sample(op, floats(2, 3, 4), axis=a, **more) for op in ("Softmax", "LogSoftmax", "Hardmax")
      for a, more in ((-1, {}), (0, {}), (1, {"flatten": 1}))),
    *(sample(op, floats(0, 3), axis=0) for op in ("Softmax", "LogSoftmax")),
    sample("BatchNormalization", floats(2, 3, 4), floats(3), floats(3), floats(3), floats(3, low=0.5)),
    sample("InstanceNormalization", floats(2, 3, 4), floats(3), floats(3)),
    sample("LayerNormalization", floats(2, 3, 4), floats(3, 4), floats(4), axis=1),
    sample("LayerNormalization", floats(2, 3, 4), floats(1), epsilon=0.1),
    sample("GroupNormalization", floats(2, 4, 3), floats(4), floats(4), num_groups=2),
    sample("GroupNormalization", floats(2, 4, 3), floats(2), floats(2), num_groups=2),
    sample("MeanVarianceNormalization", floats(2, 3, 4), axes=(0, 2)),
    sample("LpNormalization", floats(2, 3), p=1, axis=0), sample("LpNormalization", floats(2, 3)),
    *(sample("LRN", floats(1, 5, 2), size=s, alpha=0.1) for s in (2, 3)), sample("ChannelSum", floats(1, 4, 2), size=3),
    sample("Dropout", floats(2, 3), np.array(0.5, np.float32), np.array(False), results=2),
    sample("QuantizeLinear", floats(2, 3, low=-300, high=300), np.array(2, np.float32), np.array(128, np.uint8)),
    sample("QuantizeLinear", floats(2, 3), floats(3, low=0.1, high=0.2), ints(3, dtype="int8"), axis=-1),
    sample("QuantizeLinear", floats(4, 2), floats(2, 2, low=0.1), axis=0, block_size=2),
    sample("QuantizeLinear", floats(64), np.array(0.0137, np.float32), precision=11),
    sample("QuantizeLinear", floats(64, dtype="float16"), np.array(0.0137, np.float16), precision=1),
    sample("DequantizeLinear", ints(2, 3, dtype="int8"), np.array(0.5, np.float32), np.array(3, np.int8)),
    sample("DequantizeLinear", ints(4, 2, dtype="int32"), floats(2, 2), axis=0, block_size=2),
    sample("MatMulInteger", ints(2, 3, dtype="uint8", low=0), ints(3, 2, dtype="int8"), np.array([1, 2], np.uint8),
           np.array(3, np.int8)),
    sample("QLinearMatMul", ints(2, 3, dtype="uint8", low=0), np.array(0.1, np.float32), np.array(3, np.uint8),
           ints(3, 2, dtype="int8"), np.array(0.2, np.float32), np.array(0, np.int8), np.array(0.05, np.float32),
           np.array(10, np.uint8)),
    *(sample("BitShift", np.array([-5, 5, -5, 5, 7], np.int32), np.array([33, 33, -1, -1, 1], np.int32), direction=d)
      for d in ("LEFT", "RIGHT")),
    *(sample(op, floats(2, 5), np.array(a, np.int32), exclusive=e, reverse=r) for op in ("CumSum", "CumProd")
      for a in (0, -1) for e in (0, 1) for r in (0, 1)),
    sample("Einsum", floats(2, 3), floats(3, 4), equation="ij,jk->ki"), sample("Einsum", floats(3, 3), equation="ii"),
    sample("Einsum", floats(2, 3), floats(2, 3), equation="ij,ij->"), sample("Einsum", floats(3, 3), equation="ii->i"),
    sample("Einsum", floats(2, 3, 4), floats(2, 4, 2), equation="...ij,...jk->...ik"),
    sample("Einsum", floats(2, 3), equation="ij->ji"), sample("Einsum", floats(4, 2), floats(3), equation="ab,c"),
    *(sample("Resize", floats(1, 1, 3, 4), None, np.array([1, 1, 1.5, 2], np.float32), mode=m,
             coordinate_transformation_mode=c) for m in ("nearest", "linear", "cubic")
      for c in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")),
    sample("Resize", floats(1, 1, 4, 4), None, None, whole(3, 2), axes=(2, 3), mode="linear", antialias=1),
    sample("Resize", floats(4, 4), None, None, whole(7, 8), mode="nearest", keep_aspect_ratio_policy="not_larger",
           nearest_mode="ceil"),
    sample("Resize", floats(4, 4), np.array([0.2, 0.3, 1.1, 0.8], np.float32), None, whole(3, 3), mode="linear",
           coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0),
    sample("Resize", floats(4, 4), None, np.array([0.8, 0.8], np.float32), mode="cubic", exclude_outside=1),
    sample("Upsample", floats(1, 1, 2, 3), np.array([1, 1, 2, 3], np.float32)),
    *(sample("Hardmax", floats(2, 3, 2, 2), axis=a, flatten=1) for a in (0, 2)),
    *(sample("Upsample", floats(1, 1, 3, 4), np.array([1, 1, 1.5, 0.6], np.float32), mode=m)
      for m in ("nearest", "linear")),
    sample("Resize", floats(0, 2, 3), None, np.array([1, 2, 0.5], np.float32)),
    *(sample(op, floats(3, 2, 2), floats(d, g * 3, 2), floats(d, g * 3, 3), floats(d, 2 * g * 3), results=2,
             direction=n) for op, g in (("RNN", 1), ("GRU", 3), ("LSTM", 4))
      for d, n in ((1, "forward"), (1, "reverse"), (2, "bidirectional"))),
    sample("GRU", floats(2, 3, 2), floats(1, 6, 2), floats(1, 6, 2), results=2, layout=1, linear_before_reset=1),
    sample("LSTM", floats(2, 3, 2), floats(1, 8, 2), floats(1, 8, 2), None, None, floats(1, 3, 2), floats(1, 3, 2),
           floats(1, 6), results=3, clip=1.0),
    *(sample(op, floats(3, 2, 2), floats(2, g * 3, 2), floats(2, g * 3, 3), None, whole(2, 3), results=2,
             direction="bidirectional") for op, g in (("RNN", 1), ("GRU", 3), ("LSTM", 4))),
    sample("LSTM", floats(2, 2, 2), floats(2, 8, 2), floats(2, 8, 2), results=3, direction="bidirectional",
           activations=("HardSigmoid", "ScaledTanh", "Softsign", "Sigmoid", "Affine", "ThresholdedRelu"),
           activation_alpha=(0.3, 0.9, 0.7, 0.1), activation_beta=(0.4, 0.8, 0.2)),
    sample("RNN", floats(2, 2, 2), floats(1, 3, 2), floats(1, 3, 3), activations=("Elu",), activation_alpha=(0.5,)),
    sample("AlignedAt", floats(3), floats(2, 3, 4), axis=1), sample("AlignedAt", floats(3), floats(2, 3), axis=-1),
    sample("BitCast", floats(2, 3), to="int32"), sample("BitCast", ints(3, dtype="int8"), to="uint8"),
    sample("BitCast", np.array([True, False, True]), to="uint8"),
    *(sample("NarrowCode", floats(9, low=-600, high=600).view("uint32"), to=to, saturate=s) for to, s in (
        ("float8_e4m3fn", 0), ("float8_e5m2fnuz", 1), ("float4_e2m1fn", 1), ("bfloat16", 1))),
    sample("NarrowCode", floats(5, dtype="float64").view("uint64"), to="float8_e4m3fnuz"),
    sample("NarrowCode", floats(5).view("uint32"), to="float8_e8m0fnu", round_mode="nearest"),
    *(sample("TopK", ints(3, 6, low=0, high=4), whole(k), results=2, axis=a, largest=g)
      for k, a in ((2, 1), (3, 0), (0, -1)) for g in (0, 1)),
    sample("Rank", floats(2, 5), axis=0, largest=0),
    *(sample("Subscripts", floats(2, 3, 2), axis=a) for a in (0, -2)),
    sample("ByteMatMul", ints(2, 3, dtype="uint8", low=0), ints(3, 2, dtype="int8"), a_zero=3, b_zero=-2),
    sample("ByteMatMul", ints(2, 2, 3, dtype="int8"), ints(3, dtype="int8")),
    sample("ByteConv", ints(1, 4, 5, dtype="uint8", low=0), ints(6, 2, 2, dtype="int8"), x_zero=3, w_zero=1, group=2,
           pads=(1, 1), strides=(2,)),
    sample("MatMulInteger", ints(2, 3, dtype="uint8", low=0), ints(3, 2, dtype="int8"), np.array(7, np.uint8)),
    sample("ConvInteger", ints(1, 2, 5, dtype="uint8", low=0), ints(3, 2, 2, dtype="int8"), np.array(3, np.uint8),
           np.array(1, np.int8), pads=(1, 1)),
    sample("ConvInteger", ints(1, 2, 5, dtype="uint8", low=0), ints(3, 2, 2, dtype="int8"), np.array(3, np.uint8),
           ints(3, dtype="int8"), pads=(1, 1)),
    sample("QLinearConv", ints(1, 2, 5, dtype="uint8", low=0), np.array(0.1, np.float32), np.array(3, np.uint8),
           ints(3, 2, 2, dtype="int8"), floats(3, low=0.1), ints(3, dtype="int8"), np.array(0.2, np.float32),
           np.array(10, np.uint8), ints(3)),
    *(sample(op, floats(7, low=0.1)) for op in ("Log2", "Log10", "Rsqrt")),
    *(sample("FloorDiv", *o) for o in ((floats(6), floats(6, low=0.5)), (ints(20), np.array([0, -1, 3, -3, 7] * 4,
                                                                                             np.int32)))),
    sample("NotEqual", ints(9, high=2), ints(9, high=2)), sample("NotEqual", truths(4), truths(4)),
    *(sample(op, truths(3, 4), whole(1), keepdims=k) for op in ("ReduceAll", "ReduceAny") for k in (0, 1)),
    sample("BinarizePack", floats(2, 64)), sample("BinarizePack", ints(32, 3), axis=0),
    sample("BinaryDense", ints(2, 3, low=0, high=2 ** 31, dtype="uint32"),
           ints(4, 3, low=0, high=2 ** 31, dtype="uint32")),
    sample("SpaceToBatchND", floats(2, 3, 4, 2), block_shape=(2, 2), paddings=(1, 0, 0, 2), pad_value=1),
    sample("SpaceToBatchND", floats(1, 6), block_shape=(3,)),
    *(sample("DepthToSpace", floats(2, 8, 2, 3), blocksize=2, mode=m) for m in ("DCR", "CRD")),
    sample("SpaceToDepth", floats(2, 3, 4, 6), blocksize=2),
    sample("SpaceToDepth", floats(2, 3, 4, 6), blocksize=2, mode="CRD"),
    sample("BatchToSpaceND", floats(8, 2, 3, 2), block_shape=(2, 2), crops=(1, 0, 0, 2)),
    sample("BatchToSpaceND", floats(6, 2), block_shape=(3,)),
    sample("Dilate", floats(2, 3), strides=(3, 1), value=0.5), sample("Dilate", ints(2, 3), strides=(2, 3)),
    sample("Dense", floats(2, 3), floats(4, 3), floats(4)), sample("Dense", ints(2, 3), ints(4, 3)),
    sample("BiasAdd", floats(2, 3, 4), floats(3)), sample("BiasAdd", floats(2, 3), floats(3), axis=-1),
    sample("ScaleShift", floats(1, 2, 3, 3), floats(2), floats(2)),
    sample("ScaleShift", floats(1, 3, 3, 2), floats(2), floats(2), axis=3),
    sample("FullLike", floats(2, 3), value=1.5), sample("FullLike", ints(2, 3), value=7),
    *(sample("NllLoss", floats(3, 4), np.array([1, -100, 3], np.int64), w, reduction=r)
      for w in (None, floats(4, low=0.5)) for r in ("mean", "sum", "none")),
    sample("NllLoss", floats(2, 3, 2), np.array([[0, 2], [1, 1]], np.int32), floats(3), ignore_index=1),
    *(sample("AdaptivePool", floats(1, 2, 4, 6), output_size=s, mode=m) for s in ((2, 3), (3, 4), (1, 1))
      for m in ("avg", "max")), sample("AdaptivePool", floats(1, 1, 3, 4, 5), output_size=(2, 2, 5)),
    *(sample("PoolGrad", floats(1, 2, 2, 3), floats(1, 2, 5, 6), mode=m, kernel_shape=(3, 2), strides=(2, 2),
             pads=p) for m in ("avg", "max") for p in ((0, 0, 0, 0), (1, 0, 0, 1))),
    sample("PoolGrad", floats(1, 1, 4), floats(1, 1, 6), mode="avg", kernel_shape=(3,), count_include_pad=1),
    sample("MaxPool", floats(1, 2, 5, 5), results=2, kernel_shape=(2, 3), strides=(2, 2), pads=(0, 1, 1, 1)),
    sample("MaxPool", floats(2, 1, 3, 4), results=2, kernel_shape=(2, 2), storage_order=1),
    sample("FastExp", floats(9, low=-30, high=30)), sample("FastTanh", floats(9, low=-9, high=9)),
    sample("FastErf", floats(9, low=-5, high=5)), sample("FastExp", np.array([np.nan, np.inf, -np.inf], np.float32)),
    sample("ChannelsLastConv", floats(1, 5, 4, 2), floats(3, 2, 2, 3), floats(3), pads=(1, 0, 2, 1), strides=(2, 1)),
    sample("ChannelsLastConv", floats(2, 6, 2), floats(3, 2, 4)),
    sample("BlockedConv", floats(1, 2, 5, 4, 2), floats(3, 2, 3, 2, 2, 2), floats(3, 2), pads=(1, 0, 2, 1)),
    sample("BlockedConv", floats(1, 1, 6, 2), floats(2, 1, 3, 2, 3), strides=(2,)),
    sample("BlockedDepthwise", floats(1, 3, 5, 4, 2), floats(3, 3, 2, 2), floats(3, 2), pads=(1, 0, 2, 1)),
    sample("BlockedDepthwise", floats(2, 1, 6, 3), floats(1, 3, 3), strides=(2,), dilations=(2,)),
    sample("Shape", floats(2, 3), start=1), sample("Size", floats(2, 3)), sample("EyeLike", floats(2, 3), k=1),
    sample("ConstantOfShape", whole(2, 1), value=3, dtype="int32"),
    sample("Range", whole(1), whole(8), whole(3)), sample("Range", np.array(1, np.float32), np.array(-1, np.float32),
                                                          np.array(-0.5, np.float32)),
    sample("DFT", floats(2, 7, 1)), sample("DFT", floats(2, 6, 3, 2), None, np.array(1)),
    sample("DFT", floats(5, 1, dtype="float64"), np.array(8), onesided=1),
    sample("DFT", floats(2, 9, 1), np.array(4), onesided=1),
    *(sample("DFT", floats(2, n, 2), *o, inverse=1, onesided=1)
      for n, o in ((4, ()), (3, (np.array(5),)), (5, (np.array(6),)))),
    sample("STFT", floats(2, 11, 1), np.array(3), None, np.array(4)),
    sample("STFT", floats(1, 9, 2), np.array(2), floats(5), onesided=0),
    sample("MelWeightMatrix", np.array(4), np.array(16), np.array(8192), np.array(0.0, np.float32),
           np.array(4096.0, np.float32)),
    *(sample("AffineGrid", floats(n, len(e), len(e) + 1), np.array([n, 2, *e]), align_corners=a)
      for n, e in ((1, (3, 4)), (2, (1, 5)), (2, (2, 1, 3))) for a in (0, 1)),
    *(sample("GridSample", floats(2, 3, 4, 5), floats(2, 3, 2, 2, low=-1.6, high=1.6), mode=m, padding_mode=p,
             align_corners=a) for m in ("nearest", "linear", "cubic") for p in ("zeros", "border", "reflection")
      for a in (0, 1)),
    sample("GridSample", floats(1, 2, 3, 4, 2), floats(1, 2, 1, 3, 3)), sample(
        "GridSample", floats(1, 1, 1, 3), floats(1, 2, 2, 2), padding_mode="reflection", align_corners=1),
    sample("DeformConv", floats(1, 4, 5, 4), floats(4, 2, 3, 2), floats(1, 24, 2, 3), floats(4), floats(1, 12, 2, 3),
           group=2, offset_group=2, pads=(1, 0, 0, 1), dilations=(1, 2), strides=(2, 1)),
    sample("DeformConv", floats(1, 1, 3, 3), floats(1, 1, 2, 2), floats(1, 8, 2, 2)),
    *(sample("RoiAlign", floats(2, 2, 6, 7), floats(3, 4, low=-2, high=9), np.array([1, 0, 1]), output_height=2,
             output_width=3, sampling_ratio=2, spatial_scale=0.7, mode=m, coordinate_transformation_mode=c)
      for m in ("avg", "max") for c in ("half_pixel", "output_half_pixel")),
    sample("Col2Im", floats(2, 8, 6), whole(4, 5), whole(2, 2), strides=(2, 2), pads=(0, 1, 0, 0)),
    sample("Col2Im", ints(1, 3, 4), whole(6), whole(3), dilations=(1,)),
    sample("Col2Im", floats(1, 8, 8), whole(3, 3, 3), whole(2, 2, 2)),
    sample("MaxUnpool", floats(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]]), kernel_shape=(2, 2), strides=(2, 2)),
    sample("MaxUnpool", floats(1, 1, 2), np.array([[[1, 2]]]), whole(1, 1, 5), kernel_shape=(2,), strides=(2,)),
    sample("Compress", floats(3, 4), np.array([True, False, True]), axis=-1),
    sample("Compress", floats(2, 3), np.array([False, True, True, False, True])),
    *(sample("TensorScatter", floats(2, 3, 5, 2), floats(2, 3, 2, 2), i, mode=m) for m, i in (
        ("linear", whole(1, 3)), ("circular", whole(4, 0)), ("linear", None))),
    sample("TensorScatter", ints(3, 4), ints(3, 2), whole(2, 0, 1), axis=1),
    sample("ReverseSequence", floats(4, 3), whole(4, 2, 1)),
    sample("ReverseSequence", ints(2, 5, 2), whole(0, 3), batch_axis=0, time_axis=1),
    *(sample("Det", floats(2, n, n)) for n in (1, 2, 3, 4)), sample("Det", floats(2, 2, dtype="float64")),
    *(sample("Adam", np.array(0.1, np.float32), np.array(t), *(floats(n) for n in (3, 2) * 2),
             *(floats(n, low=0.1) for n in (3, 2) * 2), results=6, norm_coefficient=0.01, norm_coefficient_post=0.02)
      for t in (0, 3)),
    sample("Adagrad", np.array([0.1], np.float32), np.array([2]), floats(2, 3), floats(2, 3), floats(2, 3, low=0.1),
           results=2, decay_factor=0.1, norm_coefficient=0.01),
    *(sample("Momentum", np.array(0.1, np.float32), np.array(t), floats(4), floats(4), floats(4), results=2, alpha=0.9,
             beta=0.8, norm_coefficient=0.01, mode=m) for t in (0, 1) for m in ("standard", "nesterov")),
    sample("Binarizer", floats(3, 4), threshold=0.5), *(sample("Binarizer", ints(9), threshold=t)
                                                       for t in (-1e10, -0.5, 3.0, 1e10)),
    sample("ArrayFeatureExtractor", floats(3, 4), whole(3, 0)), sample("ArrayFeatureExtractor", floats(4),
                                                                       whole(-1, 2, 1)),
    sample("BatchNormalization", floats(2, 3, 4), floats(3), floats(3), floats(3), floats(3, low=0.5), results=3,
           training_mode=1, momentum=0.8),
    sample("Dropout", floats(2, 3), np.array(0, np.float32), np.array(True), results=2),
    *(sample("TfIdfVectorizer", ints(*shape, low=0, high=3, dtype=kind), **grams(mode=mode, max_skip_count=skipped))
      for shape, kind, mode, skipped in (((9,), "int32", "TF", 0), ((2, 7), "int64", "IDF", 1),
                                         ((3, 5), "int32", "TFIDF", 9))),
    sample("TfIdfVectorizer", ints(2, 2, low=0, high=3), **grams(min_gram_length=3, weights=())),
    *(sample("Recurrence", floats(2, 3), floats(2, 3), np.array(a, np.int32), exclusive=e, reverse=r)
      for a, e, r in ((0, 0, 0), (-1, 0, 1), (0, 1, 1), (-1, 1, 0))),
]


def graph_of(case: Sample, steering: tuple[int, ...] = ()) -> tuple[Graph, dict[str, np.ndarray]]:
    """A graph of one node, and arrays for its inputs; operands that decide about shapes are constants."""
    op, operands, attributes, results = case
    names = ["" if o is None else f"x{place}" for place, o in enumerate(operands)]
    arrays = {n: o for n, o in zip(names, operands, strict=True) if o is not None}
    constants = {n: a for n, a in arrays.items() if int(n[1:]) in steering}
    inputs = {n: a for n, a in arrays.items() if n not in constants}
    outputs = [f"y{place}" for place in range(results)]
    graph = Graph(name="sample", inputs=tuple((n, TensorType.of_array(a)) for n, a in inputs.items()),
                  nodes=(Node.of(op, names, outputs, attributes),), outputs=tuple(outputs), constants=constants)
    return graph, inputs


def read_plan(plan: Plan, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of a plan without C: kernels by the interpreter of Scops, copies by NumPy's subscripts."""
    memory: dict[str, np.ndarray] = {**inputs, **plan.graph.constants}

    def value(name: str) -> np.ndarray:
        own = plan.type_of(name)
        if own.elements == 0:
            return np.zeros(own.extents, own.numpy)   # nothing makes it
        return memory[plan.roots[name]].view(own.numpy).reshape(own.extents)
    for step in (s for s in walked(plan.steps) if not isinstance(s, Together)):
        made = step.outputs if isinstance(step, Kernel) else (step.output,)
        for name in made:
            if not isinstance(step, Kernel) or step.fragment.nodes[-1].op != PADDED:   # its border stands there
                memory[name] = np.zeros(plan.type_of(name).extents, plan.type_of(name).numpy)
        if isinstance(step, Kernel):
            scop = scop_of(step.fragment)
            arrays = [a.name for a in scop.arrays][:len(step.inputs) + len(made)]
            given = {a: value(n) for a, n in zip(arrays, (*step.inputs, *made), strict=True)}
            passed: Any = {a: v[()] if not v.ndim and a not in arrays[len(step.inputs):] else v
                           for a, v in given.items()}
            execute(scop, {}, passed, wrap_signed=True)
            for a, name in zip(arrays[len(step.inputs):], made, strict=True):
                memory[name] = given[a]
        else:
            memory[step.output] = moved(step.moves, [value(n) if n else np.empty(0) for n in step.inputs],
                                        plan.type_of(step.output).extents)
    for name, its_type in plan.graph.types.items():
        if its_type.elements == 0:
            memory.setdefault(plan.roots[name], np.zeros(its_type.extents, its_type.numpy))
    return {name: value(name) for name in plan.graph.outputs}
