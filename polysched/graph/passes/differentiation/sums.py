"""Gradients of sums and products: of windows, of running sums, of equations, of transposed convolutions."""

from __future__ import annotations

import math

import numpy as np

from polysched.graph.operators.contraction import Equation, equation
from polysched.graph.operators.families.transposed import transposed_windows
from polysched.graph.operators.windows import counted, windows
from polysched.graph.passes.differentiation.derivatives import (
    Back,
    Gradients,
    Rule,
    axes_of,
    convolution,
    kept,
)
from polysched.graph.values.graph import Node
from polysched.graph.values.refusals import refused


def _running(node: Node, back: Back, g: str) -> Gradients:
    """Each element counts for all behind it: the running sum from the other end."""
    return back.op("CumSum", g, node.inputs[1], exclusive=node.attribute("exclusive", 0),
                   reverse=1 - node.attribute("reverse", 0)), None


def _counting(node: Node, back: Back, a: str, g: str) -> str:
    """How much each step `y[i] = a[i] y[i - 1] + b[i]` counts: for itself, and through `a` for all behind it.

    Nothing is divided by an element, so zeros among them are as good as other numbers.
    """
    axis, exclusive = node.inputs[-1], node.attribute("exclusive", 0)
    own = g if exclusive else back.op("Mul", a, g)
    later = back.op("Recurrence", a, own, axis, exclusive=1, reverse=1 - node.attribute("reverse", 0))
    return later if exclusive else back.op("Add", g, later)


def _where_used(node: Node, back: Back, g: str, *, first: bool) -> str:
    """A gradient along the axis, 0 where no result follows from the operand: infinity times 0 were no number there.

    Parameters
    ----------
    first : whether the first element counts; the last one does unless the result is exclusive.
    """
    conditions = []
    for matters, behind in ((not first, 0), (node.attribute("exclusive", 0), 1)):
        if matters:   # what has another element in front of it, or behind it
            axis = int(back.build.inference.known[node.inputs[-1]].ravel()[0]) % back.type(g).rank
            ones = back.op("Expand", back.build.constant(np.ones(1, np.int32)),
                           back.op("Shape", g, start=axis, end=axis + 1))
            reverse = int(behind != node.attribute("reverse", 0))
            others = back.op("CumSum", ones, back.build.constant(np.array(0)), exclusive=1, reverse=reverse)
            along = back.op("Cast", others, to="bool")
            conditions.append(back.op("Reshape", along, back.whole(-1, *(1,) * (back.type(g).rank - 1 - axis))))
    for condition in conditions:
        g = back.chosen(condition, g)
    return g


def _running_product(node: Node, back: Back, g: str) -> Gradients:
    """The product of the elements in front of each, times how much its step counts."""
    x, axis = node.inputs
    ahead = back.op("CumProd", x, axis, exclusive=1, reverse=node.attribute("reverse", 0))
    return _where_used(node, back, back.op("Mul", ahead, _counting(node, back, x, g)), first=True), None


def _recurrence(node: Node, back: Back, g: str) -> Gradients:
    a, b, axis = node.inputs
    before = back.op("Recurrence", a, b, axis, exclusive=1, reverse=node.attribute("reverse", 0))
    counting = _counting(node, back, a, g)
    return _where_used(node, back, back.op("Mul", before, counting), first=False), counting, None


def _product(node: Node, back: Back, g: str) -> Gradients:
    """The product of all other elements, which is right where some are 0: of those in front and those behind."""
    x, axes = node.inputs[0], axes_of(node, back)
    own = back.type(x)
    if not axes:
        return (g, *(None,) * (len(node.inputs) - 1))
    if 0 in own.extents:
        return (None,) * len(node.inputs)
    order = (*(d for d in range(own.rank) if d not in axes), *axes)
    rows, row = (math.prod(own.extents[d] for d in part) for part in (order[:own.rank - len(axes)], axes))
    moved = back.op("Reshape", back.op("Transpose", x, perm=order), back.whole(rows, row))
    ahead, behind = (back.op("CumProd", moved, back.whole(1), exclusive=1, reverse=r) for r in (0, 1))
    others = back.op("Reshape", back.op("Mul", ahead, behind), back.whole(*(own.extents[d] for d in order)))
    back_again = back.op("Transpose", others, perm=tuple(int(p) for p in np.argsort(order)))
    return (back.op("Mul", kept(node, back, g, axes), back_again), *(None,) * (len(node.inputs) - 1))


def _window_sums(node: Node, back: Back, g: str) -> Gradients:
    """A gradient to every element of a window: a transposed convolution by ones, channel by channel."""
    own = back.type(node.inputs[0])
    view = windows(back.build.inference.site(node), node.attribute("kernel_shape"))
    before, behind = view.padding
    channels, shape = own.extents[1], own.extents[2:]
    extra = [e + b + a - (int(n) - 1) * s - d * (k - 1) - 1 for e, b, a, n, s, d, k in zip(
        shape, before, behind, view.places, view.strides, view.dilations, view.size, strict=True)]
    ones = back.build.constant(np.ones((channels, 1, *view.size), own.numpy))
    short = [o - a for a, o in zip(behind, extra, strict=True)]   # windows may reach further than the data, or less far
    return (back.op("ConvTranspose", g, ones, strides=view.strides, dilations=view.dilations, group=channels,
                    pads=(*before, *(max(-s, 0) for s in short)), output_padding=tuple(max(s, 0) for s in short)),)


def _channel_sums(node: Node, back: Back, g: str) -> Gradients:
    """The sums over mirrored windows: of the channels in the other order."""
    def turned(name: str) -> str:
        return back.op("Slice", name, back.whole(-1), back.whole(-(2 ** 31)), back.whole(1), back.whole(-1))
    return (turned(back.op("ChannelSum", turned(g), size=node.attribute("size"))),)


def _mean_of_windows(node: Node, back: Back, g: str) -> Gradients:
    if not node.attribute("ceil_mode", 0):
        return (back.op("PoolGrad", g, node.inputs[0], mode="avg", **dict(node.attributes)),)
    site = back.build.inference.site(node)
    count = back.build.constant(counted(site, windows(site, node.attribute("kernel_shape"))).astype(site.type().numpy))
    return _window_sums(node, back, back.op("Div", g, count))


def _transposed(node: Node, back: Back, g: str) -> Gradients:
    """The data have the convolution of the gradient, the weights that by which it would be one."""
    x, w = node.inputs[:2]
    size, strides, dilations, front, shape = transposed_windows(back.build.inference.site(node))
    behind = tuple((int(e) - 1) * s + d * (k - 1) + 1 - b - int(o) for e, s, d, k, b, o in zip(
        back.type(x).shape[2:], strides, dilations, size, front, shape, strict=True))
    pads = (*front, *(max(b, 0) for b in behind))
    as_conv = Node.of("Conv", (g, w), node.outputs, {"strides": strides, "dilations": dilations, "pads": pads,
                                                    "group": node.attribute("group", 1)})
    by_data = back.op("Conv", g, w, **dict(as_conv.attributes))
    rank = back.type(x).rank
    by_bias = [back.op("ReduceSum", g, back.whole(0, *range(2, rank)), keepdims=0)] * (len(node.inputs) > 2)
    return by_data, convolution(as_conv, back, x)[1], *by_bias


def _by_equation(node: Node, back: Back, g: str) -> Gradients:
    """An equation whose result is the operand: of the gradient and the other operands."""
    own = equation(back.build.inference.site(node))
    if any(len(set(labels)) != len(labels) for labels in own.operands):
        raise refused(node, "the derivative of a diagonal is not had", "equation",
                      hint="take the diagonal by GatherND ahead of the node")
    return tuple(_of_operand(node, back, g, own, place) for place in range(len(node.inputs)))


def _of_operand(node: Node, back: Back, g: str, own: Equation, place: int) -> str:
    """The gradient of one operand of an equation; over labels that it alone has, it is repeated."""
    letters = {label: chr(ord("a") + number) for number, label in enumerate(own.extents)}
    others = [p for p in range(len(node.inputs)) if p != place]
    terms = [own.result, *(own.operands[p] for p in others)]
    seen = set().union(*terms)
    wanted = [label for label in own.operands[place] if label in seen]
    left, right = (",".join("".join(map(letters.__getitem__, t)) for t in part) for part in (terms, [wanted]))
    made = back.op("Einsum", g, *(node.inputs[p] for p in others), equation=f"{left}->{right}")
    alone = [d for d, label in enumerate(own.operands[place]) if label not in seen]
    if not alone:
        return made
    return back.spread_like(back.op("Unsqueeze", made, back.whole(*alone)), node.inputs[place])


RULES: dict[str, Rule] = {
    "CumSum": _running, "CumProd": _running_product, "Recurrence": _recurrence, "ReduceProd": _product,
    "SumPool": _window_sums, "ChannelSum": _channel_sums, "ConvTranspose": _transposed, "Einsum": _by_equation,
    "AveragePool": _mean_of_windows}
"""By the operator."""
