"""Padding in the four modes of ONNX, and cutting by negative pads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType


def _pads(site: Site) -> tuple[list[int], list[int]]:
    """What is added in front of and behind every dimension; negative where elements are cut."""
    rank, pads = site.type().rank, site.numbers(1)
    axes = site.axes(site.numbers(3), about=3) if site.has(3) else tuple(range(rank))
    if len(pads) != 2 * len(axes):
        raise site.refusal("two numbers per padded dimension are wanted", 1, witness=str(pads),
                           hint=f"give {2 * len(axes)} numbers: in front of every dimension, then behind every one")
    before, behind = [0] * rank, [0] * rank
    for place, axis in enumerate(axes):
        before[axis], behind[axis] = pads[place], pads[len(axes) + place]
    return before, behind


def _pad_types(site: Site) -> tuple[TensorType, ...]:
    own, (before, behind) = site.type(), _pads(site)
    mode = site.attribute("mode", "constant")
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise site.refusal(f"padding of the mode {mode!r}", "mode", hint="give constant, edge, reflect or wrap")
    shape = [e + b + a for e, b, a in zip(own.shape, before, behind, strict=True)]
    cut = [max(-b, 0) + max(-a, 0) for b, a in zip(before, behind, strict=True)]
    if any((e.constant if e.is_constant else LIMITS.largest_open_extent) < c
           for e, c in zip(own.shape, cut, strict=True)):
        raise site.refusal("more is cut than there is", 1, witness=str(own), hint="give fewer negative pads")
    return (own.with_shape(shape),)


def _pad(site: Site, build: Builder, x: str, *_: str) -> str:
    """Cut what is negative, then pad what is left, one part in front of and one behind each dimension."""
    before, behind = _pads(site)
    rank, mode = site.type().rank, site.attribute("mode", "constant")
    shape = list(site.type().shape)
    cut = [d for d in range(rank) if before[d] < 0 or behind[d] < 0]
    if cut:
        starts = build.constant([max(-before[d], 0) for d in cut])
        ends = build.constant([-max(-behind[d], 0) or 2 ** 31 - 1 for d in cut])
        x = build.op("Slice", x, starts, ends, build.constant(cut))
        for d in cut:
            shape[d] = shape[d] - max(-before[d], 0) - max(-behind[d], 0)
    if mode == "constant" and any((*before, *behind)):
        return _with_value(site, build, x, before, behind)
    for axis in range(rank):
        front, back = max(before[axis], 0), max(behind[axis], 0)
        if front or back:
            parts = _padding(site, build, x, axis, (front, back), mode, shape)
            x = build.op("Concat", *parts, axis=axis)
            shape[axis] = shape[axis] + front + back
    return x if site.node.inputs[0] != x else build.op("Identity", x)


def _with_value(site: Site, build: Builder, x: str, before: Sequence[int], behind: Sequence[int]) -> str:
    """One value around what was cut."""
    value = site.node.inputs[2] if site.has(2) else build.constant(np.zeros((), site.type().numpy))
    return build.op("PadConstant", x, build.op("Reshape", value, build.constant([])),
                    before=tuple(max(b, 0) for b in before), behind=tuple(max(b, 0) for b in behind))


def _padding(site: Site, build: Builder, x: str, axis: int, counts: tuple[int, int], mode: str,
             shape: list[Size]) -> list[str]:
    """The parts in front, in the middle and behind."""
    if not shape[axis].is_constant:
        front, back = _ends(build, x, axis, counts, mode, len(shape))
        return [*front, x, *back]
    extent, rank = int(shape[axis]), len(shape)
    if extent == 0:
        raise site.refusal(f"nothing to pad from in the mode {mode}", "mode",
                           hint="use the mode constant, or data with elements")

    def piece(of: str, first: int, length: int, step: int) -> str:
        behind = first + step * length
        end = behind if behind >= 0 else -extent - 1
        return build.op("Slice", of, *(build.constant([v]) for v in (first, end, axis, step)))

    def repeated(of: str, times: int) -> str:
        return build.op("Tile", of, build.constant([times if d == axis else 1 for d in range(rank)]))

    def part(start: int, count: int) -> list[str]:
        period = _period(extent, mode)
        if mode != "edge" and count > LIMITS.most_padding_periods * period:
            tail = [piece(x, extent - 2, extent - 2, -1)] if period > extent else []
            whole = build.op("Concat", x, *tail, axis=axis) if tail else x
            first = start % period
            return [piece(repeated(whole, -(-(first + count) // period)), first, count, 1)]
        runs = _runs(start, count, extent, mode)
        return [piece(x, first, length, step) if step else repeated(piece(x, first, 1, 1), length)
                for first, length, step in runs]
    return [*part(-counts[0], counts[0]), x, *part(extent, counts[1])]


def _ends(build: Builder, x: str, axis: int, counts: tuple[int, int], mode: str, rank: int
          ) -> tuple[list[str], list[str]]:
    """What is in front of and behind an open extent, all of it from one run of elements.

    That there are as many of them is tested when the model runs, as of every slice.
    """
    front, back = counts

    def piece(first: int, end: int, step: int) -> str:
        return build.op("Slice", x, *(build.constant([v]) for v in (first, end, axis, step)))

    def repeated(of: str, times: int) -> str:
        return build.op("Tile", of, build.constant([times if d == axis else 1 for d in range(rank)]))
    if mode == "edge":
        made = (repeated(piece(0, 1, 1), front), repeated(piece(-1, LIMITS.largest_open_extent, 1), back))
    elif mode == "reflect":
        made = (piece(front, 0, -1), piece(-2, -2 - back, -1))
    else:
        made = (piece(-front, LIMITS.largest_open_extent, 1), piece(0, back, 1))
    return [made[0]] if front else [], [made[1]] if back else []


def _period(extent: int, mode: str) -> int:
    """After how many places a padding comes from the same ones again."""
    return extent if mode == "wrap" else max(2 * (extent - 1), 1)


def _runs(start: int, count: int, extent: int, mode: str) -> Iterator[tuple[int, int, int]]:
    """From where the elements of a padding come: the first place, how many, and the step, which is -1, 0 or 1."""
    if count and (mode == "edge" or extent == 1):
        yield extent - 1 if start > 0 else 0, count, 0
        return
    period = _period(extent, mode)
    while count:
        first = start % period
        length = min(count, extent - first if first < extent else period - first)
        yield (first, length, 1) if first < extent else (period - first, length, -1)
        start, count = start + length, count - length


def _np_pad(site: Site, x: np.ndarray, pads: np.ndarray, value: np.ndarray | None = None,
            axes: np.ndarray | None = None) -> np.ndarray:
    chosen = range(x.ndim) if axes is None else [int(a) % x.ndim for a in axes]
    before, behind = [0] * x.ndim, [0] * x.ndim
    for place, axis in enumerate(chosen):
        before[axis], behind[axis] = int(pads[place]), int(pads[len(chosen) + place])
    cut = tuple(slice(max(-b, 0), e - max(-a, 0)) for b, a, e in zip(before, behind, x.shape, strict=True))
    width = [(max(b, 0), max(a, 0)) for b, a in zip(before, behind, strict=True)]
    mode: Any = site.attribute("mode", "constant")
    if mode == "constant":
        return np.pad(x[cut], width, mode="constant", constant_values=0 if value is None else value.item())
    return np.pad(x[cut], width, mode=mode)


OPERATORS = (
    Operator(name="Pad", kind=Kind.INJECTIVE, types=_pad_types, reference=_np_pad, composition=_pad, narrow=True,
             steering=(1, 3)),)
