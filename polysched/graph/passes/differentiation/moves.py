"""Gradients of operators that move elements: slices, repetitions, padding, gathered and scattered elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.graph.passes.differentiation.derivatives import Back, Gradients, Rule, refusal
from polysched.graph.values.graph import Node


def _same_elements(node: Node, back: Back, g: str) -> Gradients:
    return back.in_shape_of(g, node.inputs[0]), None


def _bounds(node: Node, back: Back) -> list[np.ndarray]:
    """The operands behind the data of a slice: starts, ends, and axes and steps where they are given."""
    known = back.build.inference.known
    found = [known[name] for name in node.inputs[1:] if name in known and known[name].dtype != object]
    if len(found) < len([n for n in node.inputs[1:] if n]) or not back.type(node.inputs[0]).is_static:
        raise refusal(node, "the derivative of a slice of unknown bounds is not had")
    return found


def _ranges(node: Node, back: Back) -> list[tuple[int, int, int]]:
    """Axis, start and step of every dimension that a slice cuts."""
    operands, extents = _bounds(node, back), back.type(node.inputs[0]).extents
    named = len(node.inputs) > 3 and node.inputs[3] != ""
    axes = [int(a) % len(extents) for a in operands[2]] if named else list(range(len(operands[0])))
    steps = [int(s) for s in operands[-1]] if len(node.inputs) > 4 and node.inputs[4] else [1] * len(axes)
    return [(axis, _clamped(int(start), extents[axis], step), step)
            for axis, start, step in zip(axes, operands[0], steps, strict=True)]


def _cut(node: Node, back: Back, g: str) -> Gradients:
    """The gradient of a slice: with zeros around it, and between its elements where it has steps."""
    ranges, extents, counts = _ranges(node, back), back.type(node.inputs[0]).extents, back.type(g).extents
    if 0 in counts:
        return (None,) * len(node.inputs)
    strides, before = [1] * len(extents), [0] * len(extents)
    for axis, first, step in ranges:
        strides[axis] = abs(step)
        before[axis] = first if step > 0 else first + (counts[axis] - 1) * step
    turned = [axis for axis, _, step in ranges if step < 0]
    if turned:
        g = back.op("Slice", g, back.whole(*[-1] * len(turned)), back.whole(*[-(2 ** 31)] * len(turned)),
                    back.whole(*turned), back.whole(*[-1] * len(turned)))
    if any(s > 1 for s in strides):
        g = back.op("Dilate", g, strides=tuple(strides))
    behind = [e - b - ((n - 1) * s + 1) for e, b, n, s in zip(extents, before, counts, strides, strict=True)]
    return (back.op("Pad", g, back.whole(*before, *behind)), *(None,) * (len(node.inputs) - 1))


def _clamped(start: int, extent: int, step: int) -> int:
    """Where a slice starts, as ONNX cuts it to the data."""
    from_front = start + extent if start < 0 else start
    return min(max(from_front, 0), extent - 1 if step < 0 else extent)


def _dilated(node: Node, back: Back, g: str) -> Gradients:
    rank = back.type(g).rank
    ends = [int(e) for e in back.type(g).shape]
    return (back.op("Slice", g, back.whole(*[0] * rank), back.whole(*ends), back.whole(*range(rank)),
                    back.whole(*node.attribute("strides"))),)


def _padded(node: Node, back: Back, g: str) -> Gradients:
    """The data have the gradient in the middle, the value the sum of the rest."""
    extents = back.type(node.inputs[0]).extents
    before = node.attribute("before", (0,) * len(extents))
    if not extents:
        return g, back.op("Mul", back.op("ReduceSum", g, keepdims=0), 0)
    ends = [b + e for b, e in zip(before, extents, strict=True)]
    inner = back.op("Slice", g, back.whole(*before), back.whole(*ends), back.whole(*range(len(extents))))
    whole, middle = (back.op("ReduceSum", name, keepdims=0) for name in (g, inner))
    return inner, back.op("Sub", whole, middle)


def _repeated(node: Node, back: Back, g: str) -> Gradients:
    """The sum over the repetitions."""
    extents, wide = back.type(node.inputs[0]).extents, back.type(g).extents
    if 0 in wide:
        return None, None
    shape = [n for e, w in zip(extents, wide, strict=True) for n in (w // e, e)]
    apart = back.op("Reshape", g, back.whole(*shape))
    return back.op("ReduceSum", apart, back.whole(*range(0, 2 * len(extents), 2)), keepdims=0), None


def _elements(node: Node, back: Back, g: str) -> Gradients:
    x, index = node.inputs
    return back.op("ScatterElements", back.zeros_like(x), index, g, axis=node.attribute("axis", 0),
                   reduction="add"), None


def _rows(node: Node, back: Back, g: str) -> Gradients:
    if node.attribute("batch_dims", 0):
        raise refusal(node, "the derivative of GatherND with batch_dims is not had")
    x, index = node.inputs
    return back.op("ScatterND", back.zeros_like(x), index, g, reduction="add"), None


def _scattered(gather: str, attributes: Sequence[str]) -> Rule:
    """What is written over has no gradient, what is written has it from its place; added elements both have it."""
    def rule(node: Node, back: Back, g: str) -> Gradients:
        mode, index, updates = node.attribute("reduction", "none"), node.inputs[1], node.inputs[2]
        if mode not in ("none", "add"):
            raise refusal(node, f"the derivative of {node.op} by {mode!r} is not had")
        kept = {name: node.attribute(name, 0) for name in attributes}
        data = g if mode == "add" else back.op(node.op, g, index, back.zeros_like(updates), **kept)
        return data, None, back.op(gather, g, index, **kept)
    return rule


RULES: dict[str, Rule] = {
    "AlignedAt": _same_elements, "Slice": _cut, "Dilate": _dilated, "PadConstant": _padded, "Tile": _repeated,
    "GatherElements": _elements, "GatherND": _rows, "ScatterElements": _scattered("GatherElements", ("axis",)),
    "ScatterND": _scattered("GatherND", ())}
"""By the operator."""
