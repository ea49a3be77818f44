"""Winograd's F(2x2, 3x3): four outputs of a 3x3 convolution by 16 products instead of 36.

    Y = A^T ((G g G^T) * (B^T d B)) A        for each tile of 2x2 outputs, summed over the channels

Source: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016, section 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32, FLOAT64
from polysched.scop.expression import axis, equal, where
from polysched.scop.expression import sum as sum_over
from polysched.scop.expression.tensors import Axis, Constant, Expression, Operation, Read, Tensor
from polysched.search.rewriting.terms import (
    axes_in,
    constant_extent,
    factors,
    of_one_type,
    plain_sum,
    stage_over,
    substituted,
)

OUTPUTS = 2
WINDOW = 3
TILE = OUTPUTS + WINDOW - 1
"""Elements of a tile of the image, along each dimension."""


Pair = tuple[Axis, Axis]
"""An axis of the output and one of the window, at whose sum an image is read."""


@dataclass(frozen=True)
class Convolution:
    """What the rule needs to know of a stage that is a convolution of windows of 3x3.

    Parameters
    ----------
    image, kernel : what is multiplied.
    places : per dimension the axis of the output and that of the window; the image is read at their sum.
    channels : the other axes that are summed over.
    image_first : the order of the product.
    """

    image: Read
    kernel: Read
    places: tuple[Pair, Pair]
    channels: tuple[Axis, ...]
    image_first: bool


def winograd(stage: Tensor) -> Iterator[Tensor]:
    """A 3x3 convolution with even extents, of floats, by transformed tiles; stride and dilation 1."""
    found = convolution(stage)
    if found is None:
        return
    assert stage.definition is not None
    (y, r), (x, s) = found.places
    rows, columns = (axis(f"{a.name}t", (constant_extent(a) or 0) // OUTPUTS) for a in (y, x))
    a, b = axis("a", TILE), axis("b", TILE)
    weights = _transformed(f"{stage.name}_weights", found.kernel, (r, s), (WINDOW, WINDOW), (a, b), _of_weights, ())
    moved = substituted(found.image, {y: rows * OUTPUTS, x: columns * OUTPUTS})
    tiles = _transformed(f"{stage.name}_image", moved, (r, s), (TILE, TILE), (a, b), _of_image, (rows, columns))
    left, right = (tiles, weights) if found.image_first else (weights, tiles)
    products = sum_over(left * right, over=found.channels) if found.channels else left * right
    tile_of = {y: rows, x: columns}
    outer = [tile_of.get(own, own) for own in stage.definition.axes]
    multiplied = stage_over(f"{stage.name}_tiles", (*outer, a, b), products)
    p = axis("p", OUTPUTS)
    half = stage_over(f"{stage.name}_rows", (*outer, p, b), _of_output(p, [
        multiplied[(*outer, k, b)] for k in range(TILE)]))
    at: Mapping[Axis, Expression] = {y: y // OUTPUTS, x: x // OUTPUTS}
    place = [at.get(own, own) for own in stage.definition.axes]
    yield stage_over(stage.name, stage.definition.axes, _of_output(x % OUTPUTS, [
        half[(*place, y % OUTPUTS, k)] for k in range(TILE)]))


def convolution(stage: Tensor) -> Convolution | None:
    """The convolution that a stage is; None where it is none that the rule knows."""
    found = plain_sum(stage)
    if found is None or stage.dtype not in (FLOAT32, FLOAT64):
        return None
    assert stage.definition is not None
    parts = [f for f in factors(found.operand) if isinstance(f, Read)]
    if len(parts) != len(factors(found.operand)) or len(parts) != 2 or not of_one_type(parts):
        return None
    for image, kernel in (parts, parts[::-1]):
        places = _places(image, stage.definition.axes, found.axes)
        if places is not None and _fits(kernel, places):
            windows = {window for _, window in places}
            return Convolution(image=image, kernel=kernel, places=places, image_first=image is parts[0],
                               channels=tuple(c for c in found.axes if c not in windows))
    return None


def _places(image: Read, outer: Sequence[Axis], summed: Sequence[Axis]) -> tuple[Pair, Pair] | None:
    """The two pairs of axes at whose sums an image is read; None where another index is no axis alone of its own."""
    pairs = [_pair(index, outer, summed) for index in image.indices if not isinstance(index, Axis)]
    places = [pair for pair in pairs if pair is not None]
    used = [*(a for pair in places for a in pair), *(i for i in image.indices if isinstance(i, Axis))]
    if len(pairs) != 2 or len(places) != 2 or len(set(used)) != len(used):
        return None
    return places[0], places[1]


def _pair(index: Expression, outer: Sequence[Axis], summed: Sequence[Axis]) -> Pair | None:
    """An axis of the output, of even extent, and one of a window of three, if an index is their sum."""
    if not isinstance(index, Operation) or index.op != "+":
        return None
    outs = [i for i in index.arguments if isinstance(i, Axis) and i in outer]
    windows = [i for i in index.arguments if isinstance(i, Axis) and i in summed]
    if len(outs) != 1 or len(windows) != 1 or constant_extent(windows[0]) != WINDOW:
        return None
    extent = constant_extent(outs[0])
    return None if not extent or extent % OUTPUTS else (outs[0], windows[0])


def _fits(kernel: Read, places: tuple[Pair, Pair]) -> bool:
    """Whether a kernel has one place for each axis of the window, and is the same for all outputs of a plane."""
    outputs = {out for out, _ in places}
    return (all(isinstance(i, Axis) for i in kernel.indices) and not axes_in(kernel) & outputs
            and all(kernel.indices.count(window) == 1 for _, window in places))


Transform = Callable[[Expression, Sequence[Expression]], Expression]


def _transformed(name: str, value: Expression, windows: tuple[Axis, Axis], sizes: tuple[int, int],
                 made: tuple[Axis, Axis], transform: Transform, extra: tuple[Axis, ...]) -> Expression:
    """`T x T^T` of the last two places of a value, as two stages, read at all axes."""
    kept = [*(a for a in _ordered(value) if a not in windows and a not in extra), *extra]
    a, b = made
    column = axis("c", sizes[1])
    half = stage_over(f"{name}_half", (*kept, a, column), transform(a, [
        substituted(value, {windows[0]: Constant(k), windows[1]: column}) for k in range(sizes[0])]))
    whole = stage_over(name, (*kept, a, b), transform(b, [half[(*kept, a, k)] for k in range(sizes[1])]))
    return whole[(*kept, a, b)]


def _ordered(value: Expression) -> list[Axis]:
    """The axes of a value in order of first use."""
    found: dict[Axis, None] = {}
    for index in value.operands():
        found.update((a, None) for a in sorted(axes_in(index), key=lambda a: a.name))
    return list(found)


def _of_weights(row: Expression, g: Sequence[Expression]) -> Expression:
    """G: the rows (1, 0, 0), (1/2, 1/2, 1/2), (1/2, -1/2, 1/2), (0, 0, 1)."""
    return _row(row, [g[0], (g[0] + g[1] + g[2]) * 0.5, (g[0] - g[1] + g[2]) * 0.5, g[2]])


def _of_image(row: Expression, d: Sequence[Expression]) -> Expression:
    """B^T: the rows (1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)."""
    return _row(row, [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]])


def _of_output(row: Expression, m: Sequence[Expression]) -> Expression:
    """A^T: the rows (1, 1, 1, 0), (0, 1, -1, -1)."""
    return _row(row, [m[0] + m[1] + m[2], m[1] - m[2] - m[3]])


def _row(row: Expression, rows: Sequence[Expression]) -> Expression:
    """The row of a matrix that an index names."""
    result = rows[-1]
    for number in reversed(range(len(rows) - 1)):
        result = where(equal(row, number), rows[number], result)
    return result


__all__ = ["Convolution", "convolution", "winograd"]
