"""Ways to draw nodes over windows: convolutions and pools with groups, strides, dilations, uneven pads, `auto_pad`,
`ceil_mode`; resizing; normalisations over channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polysched.fuzz.onnx_models.drawing import ModelDrawing

ROUGH = (*("float32",) * 6, "float64")
SPACE = {1: (5, 8, 9, 17), 2: (4, 5, 7, 9), 3: (3, 4, 5)}
"""Extents of one to three dimensions."""


def image(d: ModelDrawing, channels: int, dtype: str = "float32", rank: int | None = None) -> str:
    """An input with channels and one to three dimensions behind them."""
    rank = rank or d.draw.choice((1, 2, 2, 2, 3))
    batch = 0 if d.may_be_empty and d.chance(0.3) else d.draw.randint(1, 2)
    return d.given(d.array(dtype, (batch, channels, *(d.draw.choice(SPACE[rank]) for _ in range(rank)))))


def window(d: ModelDrawing, space: Sequence[int], *, pads: bool = True, most: int = 3) -> dict[str, Any]:
    """Attributes of windows that fit a space."""
    rank = len(space)
    size = [d.draw.randint(1, min(most, e)) for e in space]
    dilations = [d.draw.randint(1, 2) if (k - 1) * 2 < e else 1 for k, e in zip(size, space, strict=True)]
    strides = [d.draw.randint(1, 3) for _ in range(rank)]
    how: dict[str, Any] = {"kernel_shape": size, "strides": strides if d.chance(0.7) else None,
                           "dilations": dilations if d.chance(0.5) else None}
    if d.chance(0.25):
        how |= {"auto_pad": d.draw.choice(("SAME_UPPER", "SAME_LOWER", "VALID")), "dilations": None}
    elif pads and d.chance(0.7):
        how["pads"] = [d.draw.randint(0, k - 1) for k in (*size, *size)]
    return how


def convolution(d: ModelDrawing) -> None:
    """A convolution; its weights are constants or inputs, and the bias may be left out."""
    groups, dtype = d.draw.choice((1, 1, 1, 2, 3)), d.draw.choice(ROUGH)
    per_group, maps = d.draw.randint(1, 4), d.draw.randint(1, 3) * groups
    x = image(d, groups * per_group, dtype)
    how = window(d, d.known[x].shape[2:])
    operands = [x, d.operand(dtype, (maps, per_group, *how["kernel_shape"]), -1, 1)]
    if d.chance(0.5):
        operands.append(d.operand(dtype, (maps,)))
    how["kernel_shape"] = how["kernel_shape"] if d.chance(0.7) else None
    made = d.add("Conv", *operands, group=groups if groups > 1 or d.chance(0.3) else None, **how)
    if made and d.chance(0.4):
        _behind(d, made[0])


def _behind(d: ModelDrawing, x: str) -> None:
    """What follows a convolution in networks: a normalisation, an activation, a residual."""
    own = d.known[x]
    if d.chance(0.4) and d.since(9):
        x = (d.add("BatchNormalization", x, *(d.constant(d.array(own.dtype, (own.shape[1],), 0.5, 1.5), own.dtype)
                                            for _ in range(4))) or [x])[0]
    if d.chance(0.4):
        x = (d.add("Add", x, d.operand(own.dtype, own.shape)) or [x])[0]
    if d.chance(0.6):
        d.add("Relu", x)


def transposed_convolution(d: ModelDrawing) -> None:
    """A transposed convolution with what it may add at the end, or with the shape of its result."""
    groups, dtype = d.draw.choice((1, 1, 2)), "float32"
    per_group, maps = d.draw.randint(1, 3), d.draw.randint(1, 3)
    x = image(d, groups * per_group, dtype, rank=d.draw.choice((1, 2, 2)))
    how = window(d, d.known[x].shape[2:])
    strides, size = how["strides"] or [1] * len(how["kernel_shape"]), how["kernel_shape"]
    if how.get("auto_pad") == "VALID" or any(s > k for s, k in zip(strides, size, strict=True)):
        how.pop("auto_pad", None)   # what is between windows would be padding: ONNX's text and types differ there
    if d.chance(0.4):
        how["output_padding"] = [d.draw.randint(0, s - 1) for s in strides]
    elif d.chance(0.3):
        how["output_shape"] = _result(d, d.known[x].shape[2:], strides, size, how["dilations"])
        how.pop("pads", None)
    operands = [x, d.operand(dtype, (groups * per_group, maps, *size), -1, 1)]
    if d.chance(0.5):
        operands.append(d.operand(dtype, (maps * groups,)))
    d.add("ConvTranspose", *operands, group=groups if groups > 1 else None, **how)


def _result(d: ModelDrawing, space: Sequence[int], strides: Sequence[int], size: Sequence[int],
            dilations: Sequence[int] | None) -> list[int]:
    """The shape of a transposed convolution, or a little less."""
    reach = [(k - 1) * q + 1 for k, q in zip(size, dilations or [1] * len(size), strict=True)]
    full = [(e - 1) * s + k for e, s, k in zip(space, strides, reach, strict=True)]
    return [d.draw.randint(max(1, f - 2), f) for f in full]


SINCE = {"MaxPool": (10, 10), "AveragePool": (10, 19), "LpPool": (18, 18)}
"""The first operator sets whose pools have `ceil_mode` and dilations."""


def pool(d: ModelDrawing) -> None:
    """The largest element, the mean or the norm of windows; rounded up or down, with borders counted or not."""
    op = d.draw.choice(("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool"))
    dtype = d.draw.choice(("int8", "uint8", *ROUGH)) if op == "MaxPool" and d.since(12) else "float32"
    x = image(d, d.draw.randint(1, 3), dtype)
    how = window(d, d.known[x].shape[2:])
    if any(s > k for s, k in zip(how["strides"] or (1,), how["kernel_shape"], strict=False)):
        how.pop("auto_pad", None)   # the padding would be negative: ONNX Runtime and the references differ
    rounds, dilates = map(d.since, SINCE[op])
    how |= {"dilations": how["dilations"] if dilates else None, "ceil_mode": 1 if rounds and d.chance(0.4) else None}
    d.add(op, x, exact=op == "MaxPool", **how, **_of_pool(d, op))


def _of_pool(d: ModelDrawing, op: str) -> dict[str, Any]:
    """What one kind of pool has."""
    if op == "AveragePool":
        return {"count_include_pad": d.draw.choice((None, None, 1))}
    if op == "LpPool":
        return {"p": d.draw.choice((None, 1, 2, 3))}
    if not d.since(8) or d.chance(0.7):
        return {}
    return {"results": 2, "storage_order": d.draw.choice((None, None, 1))}


def whole_pool(d: ModelDrawing) -> None:
    """One element per channel."""
    op = d.draw.choice(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"))
    d.add(op, image(d, d.draw.randint(1, 3), "float32" if op == "GlobalMaxPool" else d.draw.choice(ROUGH)),
          p=d.draw.randint(1, 3) if op == "GlobalLpPool" and d.chance(0.6) else None)


def normalised(d: ModelDrawing) -> None:
    """Numbers of one mean and one variance: of channels, of groups, of rows."""
    op = d.pick("BatchNormalization", "InstanceNormalization", "GroupNormalization", "LayerNormalization",
                "RMSNormalization")
    dtype, channels = d.draw.choice(ROUGH), d.draw.choice((1, 2, 4, 6))
    x = image(d, channels, dtype)
    shape, epsilon = d.known[x].shape, 0.01 if d.chance(0.6) else None

    def numbers(*extents: int) -> str:
        return d.operand(dtype, extents, 0.5, 1.5)
    if op in ("BatchNormalization", "InstanceNormalization"):
        count = 4 if op == "BatchNormalization" else 2
        d.add(op, x, *(numbers(channels) for _ in range(count)), epsilon=epsilon)
    elif op == "GroupNormalization":
        groups = d.draw.choice([g for g in (1, 2, 3) if channels % g == 0])
        count = channels if d.since(21) else groups
        d.add(op, x, numbers(count), numbers(count), shape=shape, num_groups=groups, epsilon=epsilon)
    else:
        axis = d.draw.randint(1, len(shape) - 1)
        bias = [numbers(*shape[axis:])] if op == "LayerNormalization" and d.chance(0.5) else []
        d.add(op, x, numbers(*shape[axis:]), *bias, axis=axis if d.chance(0.5) else axis - len(shape),
              epsilon=epsilon)


def scaled(d: ModelDrawing) -> None:
    """Numbers over a norm of their neighbours."""
    op = d.pick("LRN", "LpNormalization", "MeanVarianceNormalization")
    x = image(d, d.draw.choice((1, 2, 4, 6)), "float32" if op == "LRN" else d.draw.choice(ROUGH))
    if op == "LRN":
        d.add(op, x, size=d.draw.choice((1, 3, 5)), alpha=d.draw.choice((None, 0.3)), beta=d.draw.choice((None, 0.5)),
              bias=d.draw.choice((None, 2.0)))
    elif op == "LpNormalization":
        d.add(op, x, axis=d.draw.choice((None, 1, -2)), p=d.draw.choice((None, 1, 2)))
    else:
        d.add(op, x, axes=d.draw.choice((None, [0, 2])) if d.known[x].rank == 4 else [0, 2])


def resized(d: ModelDrawing) -> None:
    """Images of another size, by scales or by sizes, in every mode of coordinates."""
    x = image(d, d.draw.randint(1, 2), "float32", rank=d.draw.choice((1, 2, 2)))
    scales = [1.0, 1.0, *(d.draw.choice((0.5, 1.0, 1.5, 2.0, 3.0)) for _ in d.known[x].shape[2:])]
    mode, larger = d.draw.choice(("nearest", "linear")), [max(s, 1) for s in scales]
    if d.since(11):
        _resized(d, x, scales)
    elif d.since(10):
        d.add("Resize", x, d.constant(scales, "float32"), mode=mode)
    elif d.since(9):
        d.add("Upsample", x, d.constant(larger, "float32"), mode=mode)
    else:
        d.add("Upsample", x, scales=larger, mode=mode)


def _resized(d: ModelDrawing, x: str, scales: Sequence[float]) -> None:
    """The newer operator, by scales or by sizes of all axes or of some."""
    shape, how = d.known[x].shape, _how_resized(d, d.known[x].rank)
    none, empty = (d.constant(np.zeros(0), "float32") if not d.since(13) else "" for _ in range(2))
    if d.chance(0.5):
        if how["coordinate_transformation_mode"] == "align_corners":   # of lengths that are no whole numbers
            how["coordinate_transformation_mode"] = None
        d.add("Resize", x, none, d.constant(scales, "float32"), **how)
        return
    sizes = [*shape[:2], *(d.draw.randint(1, 9) for _ in shape[2:])]
    if d.since(18) and d.chance(0.5):
        how["axes"] = list(range(2, len(shape)))
        sizes = sizes[2:]
        how["keep_aspect_ratio_policy"] = d.draw.choice((None, "stretch", "not_larger", "not_smaller"))
    d.add("Resize", x, none, empty, d.constant(sizes), **how)


def _how_resized(d: ModelDrawing, rank: int) -> dict[str, Any]:
    """How elements between elements are made."""
    modes = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    mode = d.draw.choice(("nearest", "linear", "cubic" if rank == 4 else "linear"))
    how: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": d.draw.choice((None, *modes))}
    if mode == "nearest":
        how["nearest_mode"] = d.draw.choice((None, "floor", "ceil", "round_prefer_ceil"))
    elif mode == "cubic" and d.chance(0.6):
        how |= {"cubic_coeff_a": -0.5, "exclude_outside": d.draw.choice((None, 1))}
    return how


def sampled(d: ModelDrawing) -> None:
    """Elements at places in between, and columns as images."""
    op = d.pick("GridSample", "Col2Im", "GlobalMaxPool")
    if op == "GridSample":
        x = image(d, d.draw.randint(1, 2), "float32", rank=2)
        modes = ("linear", "nearest", "cubic") if d.since(20) else ("bilinear", "nearest", "bicubic")
        grid = d.operand("float32", (d.known[x].shape[0], 3, 4, 2), -1.2, 1.2)
        mode, padding = d.draw.choice(modes), d.draw.choice((None, "zeros", "border", "reflection"))
        if mode.endswith("cubic") and padding == "border":   # onnx's reference and ONNX Runtime differ there
            padding = "zeros"
        d.add(op, x, grid, mode=mode, padding_mode=padding, align_corners=d.draw.choice((None, 1)))
    elif op == "Col2Im":
        h, w = d.draw.randint(3, 6), d.draw.randint(3, 6)
        how = window(d, (h, w))
        size, strides = how["kernel_shape"], how["strides"] or [1, 1]
        dilations, pads = how["dilations"] or [1, 1], how.get("pads") or [0] * 4
        counts = [(e + pads[k] + pads[k + 2] - dilations[k] * (size[k] - 1) - 1) // strides[k] + 1
                  for k, e in enumerate((h, w))]
        x = d.given(d.array("float32", (1, 2 * size[0] * size[1], counts[0] * counts[1])))
        d.add(op, x, d.constant([h, w]), d.constant(size), strides=strides, dilations=dilations, pads=pads)


WAYS: tuple[Callable[[ModelDrawing], None], ...] = (
    convolution, convolution, convolution, transposed_convolution, transposed_convolution, pool, pool, pool,
    whole_pool, normalised, scaled, resized, resized, sampled)
"""All ways of this family."""
