"""Gradients of operators that move elements: slices, repetitions, padding, gathered and scattered elements."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.graph.operators.movement import slice_ranges
from polysched.graph.passes.differentiation.derivatives import Back, Gradients, Rule
from polysched.graph.values.graph import Node
from polysched.graph.values.refusals import refused


def _same_elements(node: Node, back: Back, g: str) -> Gradients:
    return back.in_shape_of(g, node.inputs[0]), None


def _cut(node: Node, back: Back, g: str) -> Gradients:
    """The gradient of a slice: with zeros around it, and between its elements where it has steps."""
    own, ranges = back.type(node.inputs[0]), slice_ranges(back.build.inference.site(node))
    if not own.is_static or not all(first.is_constant and count.is_constant for first, count, _ in ranges.values()):
        raise refused(node, "the derivative of a slice of unknown bounds is not had", 0,
                      hint="fix open sizes by sizes=, or the bounds by values=")
    extents, counts = own.extents, back.type(g).extents
    if 0 in counts:
        return (None,) * len(node.inputs)
    strides, before = [1] * len(extents), [0] * len(extents)
    for axis, (first, count, step) in ranges.items():
        strides[axis] = abs(step)
        before[axis] = int(first if step > 0 else first + (count - 1) * step)
    turned = [axis for axis, (_, _, step) in ranges.items() if step < 0]
    if turned:
        g = back.op("Slice", g, back.whole(*[-1] * len(turned)), back.whole(*[-(2 ** 31)] * len(turned)),
                    back.whole(*turned), back.whole(*[-1] * len(turned)))
    if any(s > 1 for s in strides):
        g = back.op("Dilate", g, strides=tuple(strides))
    behind = [e - b - ((n - 1) * s + 1) for e, b, n, s in zip(extents, before, counts, strides, strict=True)]
    return (back.op("Pad", g, back.whole(*before, *behind)), *(None,) * (len(node.inputs) - 1))


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
        raise refused(node, "the derivative of GatherND with batch_dims is not had", "batch_dims",
                      hint="use GatherElements, or indices that count the batch, too")
    x, index = node.inputs
    return back.op("ScatterND", back.zeros_like(x), index, g, reduction="add"), None


def _scattered(gather: str, attributes: Sequence[str]) -> Rule:
    """What is written over has no gradient, what is written has it from its place; added elements both have it."""
    def rule(node: Node, back: Back, g: str) -> Gradients:
        mode, index, updates = node.attribute("reduction", "none"), node.inputs[1], node.inputs[2]
        if mode not in ("none", "add"):
            raise refused(node, f"the derivative of {node.op} by {mode!r} is not had", "reduction",
                          hint="give none or add")
        kept = {name: node.attribute(name, 0) for name in attributes}
        data = g if mode == "add" else back.op(node.op, g, index, back.zeros_like(updates), **kept)
        return data, None, back.op(gather, g, index, **kept)
    return rule


def _to_depth(node: Node, back: Back, g: str) -> Gradients:
    """Places go back to where they came from, in the same order."""
    return (back.op("SpaceToDepth", g, **dict(node.attributes)),)


def _to_space(node: Node, back: Back, g: str) -> Gradients:
    return (back.op("DepthToSpace", g, **dict(node.attributes)),)


RULES: dict[str, Rule] = {
    "AlignedAt": _same_elements, "DepthToSpace": _to_depth, "SpaceToDepth": _to_space, "Slice": _cut,
    "Dilate": _dilated, "PadConstant": _padded, "Tile": _repeated, "GatherElements": _elements,
    "GatherND": _rows, "ScatterElements": _scattered("GatherElements", ("axis",)),
    "ScatterND": _scattered("GatherND", ())}
"""By the operator."""
