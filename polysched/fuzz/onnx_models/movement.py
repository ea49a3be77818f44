"""Ways to draw nodes that move elements: shapes, slices, pads, gathered and scattered elements, in all versions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polysched.fuzz.onnx_models.drawing import NUMBERS, Known, ModelDrawing

ALL = (*NUMBERS, "bool")
FAR = 2 ** 31 - 1


def _filled(known: Known) -> bool:
    return 0 not in known.shape


def reshaped(d: ModelDrawing) -> None:
    """Other shapes; extents of 0, which are kept or are none, and one that follows."""
    x = d.value(dtypes=ALL, ranks=(0, 1, 2, 3, 4))
    own = d.known[x].shape
    if d.chance(0.3):
        d.add("Flatten", x, axis=d.draw.randint(-len(own) if d.since(11) else 0, len(own)), exact=True)
        return
    shape = _factors(d, int(np.prod(own, dtype=int)))
    if d.chance(0.4) and 0 not in shape:
        shape[d.draw.randrange(len(shape))] = -1
    if d.chance(0.3) and _filled(d.known[x]):
        shape = [0 if k < len(own) and e == own[k] else e for k, e in enumerate(shape)]
    zeros = 1 if 0 in shape and -1 not in shape and d.since(14) and 0 in own else None
    d.add("Reshape", x, d.constant(shape), allowzero=zeros, exact=True)


def _factors(d: ModelDrawing, total: int) -> list[int]:
    """Up to four numbers whose product is a number."""
    factors = []
    for _ in range(d.draw.randint(0, 3)):
        factors.append(d.draw.choice([f for f in range(1, max(total, 1) + 1) if total % f == 0][:8]))
        total = total // factors[-1]
    return [*factors, total]


def turned(d: ModelDrawing) -> None:
    """Dimensions in another order."""
    x = d.value(dtypes=ALL, ranks=(1, 2, 3, 4))
    rank = d.known[x].rank
    d.add("Transpose", x, perm=d.draw.sample(range(rank), rank) if d.chance(0.8) else None, exact=True)


def with_units(d: ModelDrawing) -> None:
    """Dimensions of extent 1, more of them or fewer; axes are attributes before operator set 13."""
    if d.chance(0.5):
        x = d.value(lambda k: 1 in k.shape, dtypes=ALL, ranks=(1, 2, 3, 4))
        shape = d.known[x].shape
        units = [k - (len(shape) if d.since(11) and d.chance(0.4) else 0) for k, e in enumerate(shape) if e == 1]
        if not units or d.chance(0.3):
            d.add("Squeeze", x, exact=True)
            return
        op, axes = "Squeeze", d.draw.sample(units, d.draw.randint(1, len(units)))
    else:
        x = d.value(dtypes=ALL, ranks=(0, 1, 2, 3))
        rank, more = d.known[x].rank, d.draw.randint(1, 2)
        low = -1 if d.since(11) and d.chance(0.4) else 1
        op, axes = "Unsqueeze", [a if low > 0 else a - rank - more for a in d.draw.sample(range(rank + more), more)]
    if d.since(13):
        d.add(op, x, d.constant(axes), exact=True)
    else:
        d.add(op, x, axes=axes, exact=True)


def cut(d: ModelDrawing) -> None:
    """Slices in either direction, with bounds far outside; axes and steps given or not."""
    x = d.value(dtypes=ALL)
    shape = d.known[x].shape
    axes = sorted(d.draw.sample(range(len(shape)), d.draw.randint(1, len(shape))))
    steps = [d.draw.choice((1, 1, 2, 3, -1, -2)) if d.since(10) else 1 for _ in axes]
    bounds = [_bounds(d, shape[axis], stride) for axis, stride in zip(axes, steps, strict=True)]
    starts, ends = [first for first, _ in bounds], [last for _, last in bounds]
    if not d.since(10):
        d.add("Slice", x, axes=axes if axes != list(range(len(axes))) or d.chance(0.5) else None, starts=starts,
              ends=ends, exact=True)
        return
    dtype = d.draw.choice(("int64", "int32"))
    operands = [d.constant(v, dtype) for v in (starts, ends, axes, steps)]
    if set(steps) == {1}:
        operands = operands[:2] if axes == list(range(len(axes))) and d.chance(0.5) else operands[:3]
    elif axes == list(range(len(axes))) and d.chance(0.3):
        operands[2] = ""
    d.add("Slice", x, *operands, exact=True)


def _bounds(d: ModelDrawing, extent: int, stride: int) -> tuple[int, int]:
    """Where a slice of a dimension begins and ends."""
    first, last = sorted((d.draw.randint(0, extent), d.draw.randint(0, extent)))
    if stride < 0:
        return last, d.draw.choice((first, -extent - 1, -FAR)) - (first == 0)
    if d.chance(0.4):
        return first - extent if first < extent else first, d.draw.choice((last, FAR))
    return first, last


def joined(d: ModelDrawing) -> None:
    """Several values along a dimension."""
    x = d.value(dtypes=ALL)
    own = d.known[x]
    axis = d.draw.randrange(own.rank)
    others = [d.operand(own.dtype, [d.draw.randint(1, 4) if k == axis else e for k, e in enumerate(own.shape)])
              for _ in range(d.draw.randint(0, 3))]
    d.add("Concat", x, *others, axis=axis - own.rank if d.since(11) and d.chance(0.3) else axis, exact=True)


def parts(d: ModelDrawing) -> None:
    """Parts along a dimension: as many as there are results, of given sizes, or the last one smaller."""
    x = d.value(dtypes=ALL)
    own = d.known[x]
    axis = d.draw.randrange(own.rank)
    extent = own.shape[axis]
    count = d.draw.randint(1, max(1, min(3, extent)))
    bounds = sorted(d.draw.randint(0, extent) for _ in range(count - 1))
    sizes = [b - a for a, b in zip([0, *bounds], [*bounds, extent], strict=True)]
    if d.since(18) and d.chance(0.5):
        d.add("Split", x, results=count, axis=axis, num_outputs=count, exact=True)
    elif d.since(13):
        d.add("Split", x, d.constant(sizes), results=count, axis=axis, exact=True)
    elif extent % count == 0 and d.chance(0.4):
        d.add("Split", x, results=count, axis=axis, exact=True)
    else:
        d.add("Split", x, results=count, axis=axis, split=sizes, exact=True)


def padded(d: ModelDrawing) -> None:
    """Borders of every mode; negative ones cut; some axes alone from operator set 18 on."""
    x = d.value(lambda k: min(k.shape) > 2, dtypes=NUMBERS if d.since(11) else ("float32", "float64"))
    own = d.known[x]
    mode = d.draw.choice(("constant", "constant", "edge", "reflect", *(["wrap"] if d.since(19) else [])))
    axes = sorted(d.draw.sample(range(own.rank), d.draw.randint(1, own.rank)))
    some = d.since(18) and d.chance(0.4)
    low = -1 if mode == "constant" else 0
    widths = [d.draw.randint(low, 2) for _ in range(2 * (len(axes) if some else own.rank))]
    if not d.since(11):
        d.add("Pad", x, pads=widths, mode=mode, value=1.5 if d.chance(0.5) else None, exact=True)
        return
    operands = [x, d.constant(widths), d.constant(d.draw.randint(1, 3), own.dtype) if d.chance(0.5) else ""]
    if some:
        operands.append(d.constant([a - own.rank if d.chance(0.3) else a for a in axes]))
    elif not operands[-1]:
        operands.pop()
    d.add("Pad", *operands, mode=mode, exact=True)


def repeated(d: ModelDrawing) -> None:
    """Repetitions, and broadcasts to shapes of more or of fewer dimensions."""
    x = d.value(dtypes=ALL, ranks=(1, 2, 3))
    own = d.known[x]
    if d.chance(0.5) or not d.has("Expand"):
        d.add("Tile", x, d.constant([d.draw.randint(0 if d.may_be_empty else 1, 3) for _ in own.shape]), exact=True)
        return
    shape = [d.draw.randint(1, 3) if e == 1 else d.draw.choice((e, 1)) for e in own.shape]
    d.add("Expand", x, d.constant([2, *shape] if d.chance(0.3) else shape[d.draw.randint(0, 1):]), exact=True)


def gathered(d: ModelDrawing) -> None:
    """Elements at places; places may be data, of any rank, and count from behind."""
    x = d.value(_filled, dtypes=ALL)
    own = d.known[x]
    axis = d.draw.randrange(own.rank)
    extent, low = own.shape[axis], -own.shape[axis] if d.since(11) else 0
    op = d.pick("Gather", "GatherElements", "GatherND")
    dtype = d.draw.choice(("int64", "int32"))
    if op == "Gather":
        d.add(op, x, d.operand(dtype, d.extents(d.draw.randint(0, 2)), low, extent), axis=axis, exact=True)
    elif op == "GatherElements":
        shape = [d.draw.randint(1, 4) if k == axis else d.draw.randint(1, e) for k, e in enumerate(own.shape)]
        d.add(op, x, d.operand(dtype, shape, low, extent), axis=axis, exact=True)
    else:
        batch = d.draw.randint(0, own.rank - 1) if d.since(12) else 0
        depth = d.draw.randint(1, own.rank - batch)
        lead = (*own.shape[:batch], *(d.draw.randint(1, 3) for _ in range(d.draw.randint(0, 2))))
        places = [d.array("int64", lead, -e, e) for e in own.shape[batch:batch + depth]]
        index = np.stack(places, -1)
        d.add(op, x, d.given(index) if d.chance(0.4) else d.constant(index), batch_dims=batch or None, exact=True)


def scattered(d: ModelDrawing) -> None:
    """Elements in place of others, or combined with them; no place is written twice unless the order is no matter."""
    x = d.value(_filled)
    own = d.known[x]
    op = d.pick("Scatter", "ScatterElements", "ScatterND")
    modes = ["none", *(["add", "mul"] if d.since(16) else []), *(["max", "min"] if d.since(18) else [])]
    mode = d.draw.choice(modes) if op != "Scatter" else "none"
    exact = not own.is_float or mode in ("none", "max", "min")
    if op == "ScatterND":
        depth = d.draw.randint(1, own.rank)
        count = int(np.prod(own.shape[:depth]))
        flat = d.rng.permutation(count)[:d.draw.randint(1, min(count, 5))]
        index = np.stack(np.unravel_index(flat, own.shape[:depth]), -1).astype("int64")
        updates = d.operand(own.dtype, (len(flat), *own.shape[depth:]))
        d.add(op, x, d.constant(index), updates, reduction=mode if mode != "none" else None, exact=exact)
        return
    axis = d.draw.randrange(own.rank)
    shape = [d.draw.randint(1, e) for e in own.shape]
    places = np.argsort(d.rng.random([own.shape[k] if k == axis else e for k, e in enumerate(shape)]), axis)
    index = np.take(places, range(shape[axis]), axis)
    if mode != "none" and d.chance(0.5):
        index = d.array("int64", shape, 0, own.shape[axis])
    if d.since(11) and d.chance(0.4):
        index = np.where(d.rng.random(index.shape) < 0.5, index - own.shape[axis], index)
    d.add(op, x, d.constant(index), d.operand(own.dtype, shape), axis=axis, exact=exact,
          reduction=mode if mode != "none" else None)


def blocks(d: ModelDrawing) -> None:
    """Channels as places, and places as channels."""
    size = d.draw.randint(1, 3)
    n, c, h, w = (d.draw.randint(1, 3) for _ in range(4))
    dtype = d.draw.choice(("float32", "float64", "float32", "float16"))
    if d.chance(0.5):
        x = d.given(d.array(dtype, (n, c * size * size, h, w)))
        d.add("DepthToSpace", x, blocksize=size, exact=True,
              mode=d.draw.choice(("DCR", "CRD")) if d.since(11) and d.chance(0.7) else None)
    else:
        d.add("SpaceToDepth", d.given(d.array(dtype, (n, c, h * size, w * size))), blocksize=size, exact=True,
              mode=d.draw.choice(("DCR", "CRD")) if d.since(28) and d.chance(0.7) else None)


def filled(d: ModelDrawing) -> None:
    """One value in a shape, and a range of numbers."""
    import onnx
    if d.chance(0.5):
        dtype = d.draw.choice(("int64", "int32", "float32", "float64", "int16"))
        step = d.draw.choice((1, 2, -1, 3))
        d.add("Range", *(d.constant(v, dtype) for v in (1, 1 + step * d.draw.randint(0, 6), step)), exact=True)
        return
    value = onnx.numpy_helper.from_array(np.array([2], d.draw.choice(ALL))) if d.chance(0.7) else None
    d.add("ConstantOfShape", d.constant(np.array(d.extents(d.draw.randint(0, 3)), "int64")), value=value, exact=True)


def diagonals(d: ModelDrawing) -> None:
    """Ones on a diagonal, and what is on one side of it."""
    import onnx
    if d.chance(0.5):
        element = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(d.draw.choice(NUMBERS)))
        d.add("EyeLike", d.value(ranks=(2,), dtypes=ALL), k=d.draw.randint(-2, 2),
              dtype=element if d.chance(0.5) else None, exact=True)
        return
    x = d.value(ranks=(2, 3), dtypes=ALL)
    diagonal = [d.constant(d.draw.randint(-3, 3))] if d.chance(0.7) else []
    d.add("Trilu", x, *diagonal, upper=d.draw.choice((None, 0, 1)), exact=True)


def counted(d: ModelDrawing) -> None:
    """Shapes, whole or in part, and numbers of elements."""
    x = d.value(dtypes=ALL)
    rank = d.known[x].rank
    if d.chance(0.3):
        d.add("Size", x, exact=True)
        return
    bounds = d.draw.randint(-rank, rank), d.draw.randint(-rank, rank)
    some = d.since(15) and d.chance(0.6)
    d.add("Shape", x, start=bounds[0] if some else None, end=bounds[1] if some and d.chance(0.6) else None, exact=True)


def unit_vectors(d: ModelDrawing) -> None:
    """Vectors with one element that is another one, along any axis."""
    depth, dtype = d.draw.randint(2, 5), d.draw.choice(("float32", "int32", "int64", "float64"))
    index = d.operand(d.draw.choice(("int64", "int32", "float32")), d.extents(d.draw.randint(1, 2)), -depth, depth)
    if d.known[index].is_float:
        index = (d.add("Floor", index, exact=True) or [index])[0]
    d.add("OneHot", index, d.constant(depth if d.chance(0.5) else [depth]), d.operand(dtype, (2,)), exact=True,
          axis=d.draw.choice((None, 0, -1)))


def chosen(d: ModelDrawing) -> None:
    """Reversed parts of rows, marked rows, and the middle."""
    op = d.pick("Compress", "ReverseSequence", "CenterCropPad", "Concat")
    x = d.value(_filled, dtypes=NUMBERS, ranks=(2, 3))
    own = d.known[x]
    if op == "ReverseSequence":
        time, batch = d.draw.sample((0, 1), 2)
        d.add(op, x, d.operand("int64", (own.shape[batch],), 1, own.shape[time] + 1), time_axis=time,
              batch_axis=batch, exact=True)
    elif op == "CenterCropPad":
        axes = d.draw.sample(range(own.rank), d.draw.randint(1, own.rank))
        d.add(op, x, d.constant([d.draw.randint(1, 6) for _ in axes]), axes=axes, exact=True)
    elif op == "Compress":
        axis = d.draw.randrange(own.rank)
        d.add(op, x, d.constant(d.array("bool", (own.shape[axis],)), "bool"), axis=axis, exact=True)


WAYS: tuple[Callable[[ModelDrawing], None], ...] = (
    reshaped, turned, with_units, cut, cut, joined, parts, padded, padded, repeated, gathered, gathered, scattered,
    blocks, filled, diagonals, counted, unit_vectors, chosen)
"""All ways of this family."""
