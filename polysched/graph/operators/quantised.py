"""Quantised operators, composed of conversions, products of bytes and scales.

`ByteMatMul` and `ByteConv` are what products of bytes become: their zero points are attributes, so that a kernel reads
bytes and instructions for sums of products of bytes can compute it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.families.narrow import narrowed
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.operators.products import matrix_product, product_shape
from polysched.graph.operators.windows import conv_shape, np_conv, padded_read, room_in, windows, zero
from polysched.graph.values.element_types import ELEMENT_TYPES, NarrowType, array_type
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import FLOAT16, FLOAT32, FLOAT64, INT32, UINT8, DType
from polysched.scop.expression import Expression, Tensor, axis, compute
from polysched.scop.expression import sum as sum_of


def _target(site: Site) -> DType:
    """The element type that is quantised to."""
    name = site.attribute("output_dtype")
    if site.has(2):
        return site.type(2).dtype
    if name is None:
        return UINT8
    if name not in ELEMENT_TYPES:
        raise site.refusal(f"elements of type {name} are not had", "output_dtype",
                           hint=f"give one of {', '.join(sorted(ELEMENT_TYPES))}")
    return ELEMENT_TYPES[name]


def _spread(site: Site) -> tuple[int, ...] | None:
    """The shape in which scales and zero points broadcast; None where each block has its own."""
    own, scale = site.type(), site.type(1)
    if scale.rank == 0 or scale.elements == 1:
        return (1,) * own.rank
    if scale.rank == 1:
        place = site.axis(site.attribute("axis", 1))
        if scale.shape[0] != own.shape[place]:
            raise site.refusal("a scale per place of the axis is wanted", 1, witness=f"{own} and {scale}",
                               hint=f"give it {own.shape[place]} numbers, or another axis")
        return tuple(int(scale.shape[0]) if d == place else 1 for d in range(own.rank))
    if scale.rank != own.rank or not site.attribute("block_size", 0):
        raise site.refusal("the scales do not fit", 1, witness=f"{own} and {scale}",
                           hint="give one number, one per place of the axis, or one per block with block_size")
    return None


def _aligned(site: Site, build: Builder, name: str) -> str:
    """Scales or zero points as an operand that broadcasts with the data."""
    shape = _spread(site)
    if shape is not None:
        return build.op("Reshape", name, build.constant(list(shape)))
    place, block = site.axis(site.attribute("axis", 1)), site.attribute("block_size", 0)
    own, count = site.type().shape, site.type(1).shape
    index = np.arange(int(own[place])) // block
    if int(count[place]) != -(-int(own[place]) // block):
        raise site.refusal("the blocks do not fit the data", "block_size",
                           witness=f"{site.type()} and {site.type(1)}",
                           hint="a block_size, rounded up, divides the extent of the axis into as many blocks as "
                                "there are scales")
    return build.op("Gather", name, build.constant(index), axis=place)


def _np_aligned(site: Site, array: np.ndarray) -> Any:
    shape = _spread(site)
    if shape is not None:
        return array.reshape(shape)
    place, block = site.axis(site.attribute("axis", 1)), site.attribute("block_size", 0)
    return np.take(array, np.arange(int(site.type().shape[place])) // block, axis=place)


def _quantise_types(site: Site) -> tuple[TensorType, ...]:
    own, dtype = site.type().dtype, _target(site)
    problem = f"{own} is quantised to {dtype}"
    if not own.is_float or isinstance(own, NarrowType):
        raise site.refusal(problem, 0, hint=Remedy.CONVERT)
    if dtype.is_float and not isinstance(dtype, NarrowType):
        raise site.refusal(problem, 2 if site.has(2) else "output_dtype",
                           hint="give a type of whole numbers, or of floats of 8 bits or fewer")
    if site.type(1).dtype != own:
        raise site.refusal("the scale has another element type than the data", (0, 1), hint=Remedy.AGREE)
    _divided_in(site)
    _spread(site)
    return (site.type().with_dtype(dtype),)


def _divided_in(site: Site) -> DType:
    """The element type in which data are divided by their scale."""
    own, precision = site.type().dtype, site.attribute("precision", 0)
    found = {0: own, **PRECISIONS}.get(precision)
    if found is None:
        raise site.refusal("data are divided by their scale in float16, float32 or float64", "precision",
                           witness=f"precision={precision}", hint="give 0, 1 (float32), 10 (float16) or 11 (float64)")
    return found


PRECISIONS: dict[int, DType] = {1: FLOAT32, 10: FLOAT16, 11: FLOAT64}
"""By ONNX's number of the type."""


def _quantise(site: Site, build: Builder, x: str, scale: str, zero: str = "") -> str:
    dtype, divided = _target(site), _divided_in(site)
    share = build.op("Div", *(name if divided == site.type().dtype else build.op("Cast", name, to=divided.name)
                              for name in (x, _aligned(site, build, scale))))
    if dtype.is_float:
        if zero:
            share = build.op("Add", share, build.op("Cast", _aligned(site, build, zero), to=divided.name))
        return build.op("Cast", share, to=dtype.name, saturate=site.attribute("saturate", 1))
    low, high = dtype.value_range()
    wide = build.op("Round", share)
    own = divided   # float32 has every byte and what is next to the ends; above 2**24 results are cut anyway
    if own != FLOAT32 or dtype.bits > 8:
        own, wide = FLOAT64, build.op("Cast", wide, to="float64")
    if zero:
        wide = build.op("Add", wide, build.op("Cast", _aligned(site, build, zero), to=own.name))
    ends = [build.constant(np.array(v, own.name)) for v in (low, high)]
    return build.op("Cast", build.op("Clip", wide, *ends), to=dtype.name)


def _np_quantise(site: Site, x: np.ndarray, scale: np.ndarray, zero: np.ndarray | None = None) -> Any:
    dtype = _target(site)
    divided = array_type(_divided_in(site))
    share = x.astype(divided) / _np_aligned(site, scale.astype(divided))
    offset = 0 if zero is None else _np_aligned(site, zero.astype(divided if dtype.is_float else np.float64))
    if dtype.is_float:
        return narrowed(site, share if zero is None else share + offset, dtype)
    return np.clip(np.rint(share).astype(np.float64) + offset, *dtype.value_range()).astype(array_type(dtype))


def _dequantise_types(site: Site) -> tuple[TensorType, ...]:
    if site.type().dtype.is_float and not isinstance(site.type().dtype, NarrowType):
        raise site.refusal(f"{site.type().dtype} is dequantised", 0,
                           hint="leave the node out, or quantise by QuantizeLinear before")
    if site.has(2) and site.type(2).dtype != site.type().dtype:
        raise site.refusal("the zero point has another element type than the data", (0, 2), hint=Remedy.AGREE)
    name = site.attribute("output_dtype", site.type(1).dtype.name)
    if name not in ELEMENT_TYPES:
        raise site.refusal(f"elements of type {name} are not had", "output_dtype",
                           hint=f"give one of {', '.join(sorted(ELEMENT_TYPES))}")
    _spread(site)
    return (site.type().with_dtype(ELEMENT_TYPES[name]),)


def _dequantise(site: Site, build: Builder, x: str, scale: str, zero: str = "") -> str:
    numpy = site.type(1).numpy
    exact = numpy.name if site.type().dtype.is_float else "int64"
    own = build.op("Cast", x, to=exact)
    if zero:
        own = build.op("Sub", own, build.op("Cast", _aligned(site, build, zero), to=exact))
    result = build.op("Mul", build.op("Cast", own, to=numpy.name), _aligned(site, build, scale))
    return build.op("Cast", result, to=site.output.dtype.name)


def _np_dequantise(site: Site, x: np.ndarray, scale: np.ndarray, zero: np.ndarray | None = None) -> Any:
    exact = scale.dtype if site.type().dtype.is_float else np.dtype(np.int64)
    own = x.astype(exact) - (0 if zero is None else _np_aligned(site, zero.astype(exact)))
    return np.asarray(own.astype(scale.dtype) * _np_aligned(site, scale)).astype(site.output.numpy)


def _int_matmul_types(site: Site) -> tuple[TensorType, ...]:
    for place in (0, 1):
        if site.type(place).dtype.bits != 8 or site.type(place).dtype.is_float:
            raise site.refusal(f"products of {site.type(place).dtype}", place,
                               hint="put a Cast or QuantizeLinear to int8 or uint8 ahead of it")
    return (TensorType(INT32, product_shape(site, site.type(0), site.type(1))),)


def _less_zero(site: Site, build: Builder, name: str, zero: str, rows: bool, rank: int) -> str:
    """An operand in int32 without its zero point, which may be one per row of the left operand."""
    own = build.op("Cast", name, to="int32")
    if not zero:
        return own
    offset = build.op("Cast", zero, to="int32")
    place = site.node.inputs.index(zero)
    if rows and site.type(place).rank == 1 and site.type(place).elements != 1 and rank > 1:
        offset = build.op("Unsqueeze", offset, build.constant([1]))
    return build.op("Sub", own, offset)


def _known_zero(site: Site, place: int) -> int | None:
    """A zero point that is known while compiling and is one number; 0 where it is left out; else nothing."""
    if not site.has(place):
        return 0
    known = site.known[place]
    if known is None or known.dtype == object or known.size == 0 or (known != known.flat[0]).any():
        return None
    return int(known.flat[0])


def _int_matmul(site: Site, build: Builder, a: str, b: str, a_zero: str = "", b_zero: str = "") -> str:
    right_zero, known = _known_zero(site, 3), _known_zero(site, 2)
    if right_zero is not None and (known is not None or (site.type(2).elements == 1 and site.type(1).rank == 2)):
        product = build.op("ByteMatMul", a, b, a_zero=known or 0, b_zero=right_zero)
        return product if known is not None else _less_columns(build, product, b, right_zero, a_zero)
    left = _less_zero(site, build, a, a_zero, True, site.type(0).rank)
    return build.op("MatMul", left, _less_zero(site, build, b, b_zero, False, site.type(1).rank))


def _less_columns(build: Builder, product: str, b: str, zero: int, a_zero: str) -> str:
    """A product without what the zero point of its left operand, known when it runs, adds to every column."""
    wide = build.op("Sub", build.op("Cast", b, to="int32"), build.constant(np.array(zero, np.int32)))
    columns = build.op("ReduceSum", wide, build.constant([0]), keepdims=0)
    offset = build.op("Reshape", build.op("Cast", a_zero, to="int32"), build.constant([1]))
    return build.op("Sub", product, build.op("Mul", columns, offset))


def _less(value: Expression, zero_point: int) -> Expression:
    """A byte without its zero point, in 32 bits."""
    wide = value.astype(INT32)
    return wide - zero_point if zero_point else wide


def _byte_matmul(site: Site, a: Tensor, b: Tensor) -> Tensor:
    left, right = site.attribute("a_zero", 0), site.attribute("b_zero", 0)
    return matrix_product(site, a, b, lambda x, y: _less(x, left) * _less(y, right))


def _np_byte_matmul(site: Site, a: np.ndarray, b: np.ndarray) -> Any:
    left, right = (v.astype(np.int32) - np.int32(site.attribute(n, 0)) for v, n in ((a, "a_zero"), (b, "b_zero")))
    return np.asarray(np.matmul(left, right))


def _byte_conv(site: Site, x: Tensor, w: Tensor) -> Tensor:
    weights, groups = site.type(1), site.attribute("group", 1)
    view, channels = windows(site, [int(e) for e in weights.shape[2:]]), extent_of(weights.shape[1])
    c, r = axis("c", channels), tuple(axis(f"r{d}", s) for d, s in enumerate(view.size))
    per_group, data, factor = int(weights.shape[0]) // groups, site.attribute("x_zero", 0), site.attribute("w_zero", 0)

    def element(n: Expression, k: Expression, *i: Expression) -> Expression:
        channel = c if groups == 1 else (k // per_group) * channels + c
        value = padded_read(site, view, i, r, lambda places: _less(x[(n, channel, *places)], data), zero(INT32))
        return sum_of(value * _less(w[(k, c, *r)], factor), over=(c, *r))
    return compute([extent_of(e) for e in site.output.shape], element, name="y")


def _np_byte_conv(site: Site, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    data, weights = (v.astype(np.int32) - np.int32(site.attribute(n, 0)) for v, n in ((x, "x_zero"), (w, "w_zero")))
    return np_conv(site, data, weights)


def _np_int_matmul(site: Site, a: np.ndarray, b: np.ndarray, a_zero: np.ndarray | None = None,
                   b_zero: np.ndarray | None = None) -> Any:
    left, right = a.astype(np.int32), b.astype(np.int32)
    if a_zero is not None:
        left = left - (a_zero.astype(np.int32)[:, None] if a_zero.ndim == 1 and a_zero.size > 1 and a.ndim > 1
                       else a_zero.astype(np.int32))
    if b_zero is not None:
        right = right - b_zero.astype(np.int32)
    return np.asarray(np.matmul(left, right))


def _q_matmul_types(site: Site) -> tuple[TensorType, ...]:
    shape = product_shape(site, site.type(0), site.type(3))
    return (TensorType(site.type(7).dtype, shape),)


def _q_matmul(site: Site, build: Builder, a: str, a_scale: str, a_zero: str, b: str, b_scale: str, b_zero: str,
              y_scale: str, y_zero: str) -> str:
    product = build.op("MatMulInteger", a, b, a_zero, b_zero)
    return _requantised(build, product, (a_scale, b_scale, y_scale), y_zero, site.type(7).dtype)


def _requantised(build: Builder, product: str, scales: tuple[str, str, str], zero: str, dtype: DType) -> str:
    """Products of integers in the result's scale, rounded and cut to its range."""
    wide = [build.op("Cast", s, to="float64") for s in scales]
    factor = build.op("Div", build.op("Mul", wide[0], wide[1]), wide[2])
    scaled = build.op("Round", build.op("Mul", build.op("Cast", product, to="float64"), factor))
    shifted = build.op("Add", scaled, build.op("Cast", zero, to="float64"))
    ends = [build.constant(np.array(v, np.float64)) for v in dtype.value_range()]
    return build.op("Cast", build.op("Clip", shifted, *ends), to=dtype.name)


def _np_requantised(product: np.ndarray, scales: tuple[np.ndarray, ...], zero: np.ndarray) -> Any:
    a, b, y = (s.astype(np.float64) for s in scales)
    info = np.iinfo(zero.dtype)
    return np.clip(np.rint(product * (a * b / y)) + zero, info.min, info.max).astype(zero.dtype)


def _np_q_matmul(site: Site, a: np.ndarray, a_scale: np.ndarray, a_zero: np.ndarray, b: np.ndarray,
                 b_scale: np.ndarray, b_zero: np.ndarray, y_scale: np.ndarray, y_zero: np.ndarray) -> Any:
    left = a.astype(np.int64) - a_zero.astype(np.int64)
    right = b.astype(np.int64) - b_zero.astype(np.int64)
    return _np_requantised(np.matmul(left, right), (a_scale, b_scale, y_scale), y_zero)


def _int_conv_types(site: Site) -> tuple[TensorType, ...]:
    for place in (0, 1):
        if site.type(place).dtype.bits != 8 or site.type(place).dtype.is_float:
            raise site.refusal(f"products of {site.type(place).dtype}", place,
                               hint="put a Cast or QuantizeLinear to int8 or uint8 ahead of it")
    return (TensorType(INT32, conv_shape(site, site.type(0), site.type(1))),)


def _int_conv(site: Site, build: Builder, x: str, w: str, x_zero: str = "", w_zero: str = "") -> str:
    known = _known_zero(site, 2), _known_zero(site, 3)
    if known[0] is not None and known[1] is not None:
        return build.op("ByteConv", x, w, **dict(site.node.attributes), x_zero=known[0], w_zero=known[1])
    data, weights = build.op("Cast", x, to="int32"), build.op("Cast", w, to="int32")
    if x_zero:
        data = build.op("Sub", data, build.op("Cast", x_zero, to="int32"))
    if w_zero:
        offset = build.op("Cast", w_zero, to="int32")
        place = site.node.inputs.index(w_zero)
        if site.type(place).elements != 1:
            offset = build.op("Unsqueeze", offset, build.constant(list(range(1, site.type(1).rank))))
        weights = build.op("Sub", weights, offset)
    return build.op("Conv", data, weights, **dict(site.node.attributes))


def _np_int_conv(site: Site, x: np.ndarray, w: np.ndarray, x_zero: np.ndarray | None = None,
                 w_zero: np.ndarray | None = None) -> np.ndarray:
    data, weights = x.astype(np.int32), w.astype(np.int32)
    if x_zero is not None:
        data = data - x_zero.astype(np.int32)
    if w_zero is not None:
        weights = weights - w_zero.astype(np.int32).reshape(-1, *(1,) * (w.ndim - 1))
    return np_conv(site, data, weights)


def _q_conv_types(site: Site) -> tuple[TensorType, ...]:
    if site.type(1).elements != 1 or site.type(6).elements != 1 or site.type(4).elements not in (
            1, site.type(3).shape[0]):
        raise site.refusal("one scale for data and results, and one or one per channel for the weights, are wanted",
                           (1, 4, 6), hint="give one number each, or for the weights one per output channel")
    return (TensorType(site.type(7).dtype, conv_shape(site, site.type(0), site.type(3))),)


def _q_conv(site: Site, build: Builder, x: str, x_scale: str, x_zero: str, w: str, w_scale: str, w_zero: str,
            y_scale: str, y_zero: str, bias: str = "") -> str:
    product = build.op("ConvInteger", x, w, x_zero, w_zero, **dict(site.node.attributes))
    rest = build.constant(list(range(1, site.type().rank - 1)))
    if bias:
        product = build.op("Add", product, build.op("Unsqueeze", bias, rest))
    if site.type(4).elements != 1:
        w_scale = build.op("Unsqueeze", w_scale, rest)
    return _requantised(build, product, (x_scale, w_scale, y_scale), y_zero, site.type(7).dtype)


def _np_q_conv(site: Site, *operands: np.ndarray) -> np.ndarray:
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = operands[:8]
    bias = operands[8] if len(operands) > 8 else None
    product = _np_int_conv(site, x, w, x_zero, w_zero)
    column = (-1, *(1,) * (x.ndim - 2))
    if bias is not None:
        product = product + bias.reshape(column)
    return np.asarray(_np_requantised(product, (x_scale, w_scale.reshape(column), y_scale), y_zero))


OPERATORS = (
    Operator(name="ByteMatMul", kind=Kind.OUTPUT_FUSABLE, types=_int_matmul_types, reference=_np_byte_matmul,
             expression=_byte_matmul),
    Operator(name="ByteConv", kind=Kind.OUTPUT_FUSABLE, types=_int_conv_types, reference=_np_byte_conv,
             expression=_byte_conv, room=room_in(2)),
    Operator(name="ConvInteger", kind=Kind.OUTPUT_FUSABLE, types=_int_conv_types, reference=_np_int_conv,
             composition=_int_conv),
    Operator(name="QLinearConv", kind=Kind.OUTPUT_FUSABLE, types=_q_conv_types, reference=_np_q_conv,
             composition=_q_conv),
    Operator(name="QuantizeLinear", kind=Kind.BROADCAST, types=_quantise_types, reference=_np_quantise,
             composition=_quantise, narrow=True),
    Operator(name="DequantizeLinear", kind=Kind.BROADCAST, types=_dequantise_types, reference=_np_dequantise,
             composition=_dequantise, narrow=True),
    Operator(name="MatMulInteger", kind=Kind.OUTPUT_FUSABLE, types=_int_matmul_types, reference=_np_int_matmul,
             composition=_int_matmul),
    Operator(name="QLinearMatMul", kind=Kind.OUTPUT_FUSABLE, types=_q_matmul_types, reference=_np_q_matmul,
             composition=_q_matmul))
