"""How the gradient of an operator's result becomes that of its operands; by other operators.

A rule gets a node whose operands have types, and the gradient of its result.  It returns a gradient per operand; None
where an operand has none.  A gradient of a wider shape than the operand's is summed up by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from polysched.graph.evaluation.typed_builder import TypedBuilder
from polysched.graph.operators.families.numbers import Numbers
from polysched.graph.operators.windows import windows
from polysched.graph.values.graph import Attribute, Node
from polysched.graph.values.refusals import Remedy, refused
from polysched.graph.values.types import TensorType

Gradients: TypeAlias = "Sequence[str | None]"
Rule: TypeAlias = "Callable[[Node, Back, str], Gradients]"


class Back(Numbers):
    """Adds nodes that compute gradients.

    Parameters
    ----------
    build : knows the types of all values so far.
    numpy : the element type of the result, and of constants beside no floating operand.
    """

    build: TypedBuilder

    def op(self, name: str, *operands: str | float, **attributes: Attribute) -> str:
        """The name of a result; numbers become constants of the operands' floating type."""
        own = [t.numpy for t in (self.type(o) for o in operands if isinstance(o, str)) if t.dtype.is_float]
        numpy = own[0] if own else self.numpy
        given = [o if isinstance(o, str) else self.build.constant(np.array(o, numpy)) for o in operands]
        return self.build.op(name, *given, **attributes)

    def type(self, name: str) -> TensorType:
        """The type of a value."""
        return self.build.inference.types[name]

    def whole(self, *numbers: int) -> str:
        """A constant vector of whole numbers."""
        return self.build.constant(list(numbers))

    def in_shape_of(self, g: str, name: str) -> str:
        """The same elements in the shape of another value."""
        return self.op("Reshape", g, self.op("Shape", name), allowzero=1)

    def spread_like(self, g: str, name: str) -> str:
        """A gradient that broadcasts, in the shape of another value."""
        return self.op("Expand", g, self.op("Shape", name))

    def zeros_like(self, name: str) -> str:
        """Zeros in the shape of a value."""
        return self.spread_like(self.build.constant(np.zeros((), self.type(name).numpy)), name)

    def chosen(self, condition: str, g: str) -> str:
        """A gradient where a condition holds, else 0."""
        return self.op("Where", condition, g, 0)

    def summed_to(self, g: str, name: str) -> str:
        """A gradient summed up over the dimensions in which a value was broadcast."""
        own, wanted = self.type(g), self.type(name)
        lead = own.rank - wanted.rank
        axes = [*range(lead), *(lead + d for d, e in enumerate(wanted.shape) if e == 1 and own.shape[lead + d] != 1)]
        if axes:
            g = self.op("ReduceSum", g, self.whole(*axes), keepdims=1)
        return self.op("Squeeze", g, self.whole(*range(lead))) if lead else g

    def swapped(self, name: str) -> str:
        """The last two dimensions of a value in the other order."""
        rank = self.type(name).rank
        return self.op("Transpose", name, perm=(*range(rank - 2), rank - 1, rank - 2))


def slope(of: Callable[[Back, str, str], str]) -> Rule:
    """The rule of an elementwise function, from operand and result."""
    return lambda node, back, g: (back.op("Mul", g, of(back, node.inputs[0], node.outputs[0])),)


def _leaky(node: Node, back: Back, g: str) -> Gradients:
    below = back.op("Mul", g, node.attribute("alpha", 0.01))
    return (back.op("Where", back.op("Less", node.inputs[0], 0), below, g),)


def _elu(node: Node, back: Back, g: str) -> Gradients:
    below = back.op("Mul", g, back.op("Add", node.outputs[0], node.attribute("alpha", 1.0)))
    return (back.op("Where", back.op("Less", node.inputs[0], 0), below, g),)


def _celu(node: Node, back: Back, g: str) -> Gradients:
    alpha = node.attribute("alpha", 1.0)
    below = back.op("Mul", g, back.op("Add", back.op("Div", node.outputs[0], alpha), 1))
    return (back.op("Where", back.op("Less", node.inputs[0], 0), below, g),)


def _hard_sigmoid(node: Node, back: Back, g: str) -> Gradients:
    inside = back.op("And", back.op("Greater", node.outputs[0], 0), back.op("Less", node.outputs[0], 1))
    return (back.chosen(inside, back.op("Mul", g, node.attribute("alpha", 0.2))),)


def _swish(node: Node, back: Back, g: str) -> Gradients:
    x, y, alpha = node.inputs[0], node.outputs[0], node.attribute("alpha", 1.0)
    share = back.op("Sigmoid", back.op("Mul", x, alpha))
    slope = back.op("Add", share, back.op("Mul", back.op("Mul", y, alpha), back.op("Sub", 1, share)))
    return (back.op("Mul", g, slope),)


def _root(back: Back, square: str, sign: float, offset: float) -> str:
    """`1 / sqrt(sign * square + offset)`."""
    return back.op("Reciprocal", back.op("Sqrt", back.op("Add", back.op("Mul", square, sign), offset)))


def _divided(node: Node, back: Back, g: str) -> Gradients:
    share = back.op("Div", g, node.inputs[1])
    return share, back.op("Neg", back.op("Mul", share, node.outputs[0]))


def _power(node: Node, back: Back, g: str) -> Gradients:
    x, exponent = node.inputs
    numpy = back.type(x).numpy.name
    wide = exponent if back.type(exponent).numpy.name == numpy else back.op("Cast", exponent, to=numpy)
    less = back.op("Pow", x, back.op("Sub", wide, 1))
    by_base = back.op("Mul", g, back.op("Mul", wide, less))
    if not back.type(exponent).dtype.is_float:
        return by_base, None
    positive = back.op("Greater", x, 0)
    log = back.op("Log", back.op("Where", positive, x, 1))
    return by_base, back.op("Mul", g, back.op("Mul", node.outputs[0], log))


def _clipped(node: Node, back: Back, g: str) -> Gradients:
    """A bound has the gradients of the elements that became it: the larger one where the bounds cross."""
    own = node.inputs[0]
    found: list[str | None] = [None, None]
    least, most = (node.inputs[p] if len(node.inputs) > p else "" for p in (1, 2))
    raised = back.op("Max", own, back.op("Reshape", least, back.whole())) if least else own
    for place, bound, beyond, value in ((1, most, "Greater", raised), (0, least, "Less", own)):
        if bound:
            outside = back.op(beyond, value, bound)
            found[place] = back.in_shape_of(back.op("ReduceSum", back.chosen(outside, g), keepdims=0), bound)
            g = back.op("Where", outside, 0, g)
    return (g, *found)[:len(node.inputs)]


def _product(node: Node, back: Back, g: str) -> Gradients:
    a, b = node.inputs
    flat = [back.type(name).rank == 1 for name in (a, b)]
    left = back.op("Unsqueeze", a, back.whole(0)) if flat[0] else a
    right = back.op("Unsqueeze", b, back.whole(1)) if flat[1] else b
    for place, is_flat in ((-1, flat[1]), (-2, flat[0])):
        g = back.op("Unsqueeze", g, back.whole(place)) if is_flat else g
    made = (back.summed_to(back.op("MatMul", g, back.swapped(right)), left),
            back.summed_to(back.op("MatMul", back.swapped(left), g), right))
    return tuple(back.in_shape_of(m, name) if is_flat else m for m, name, is_flat in zip(made, (a, b), flat,
                                                                                      strict=True))


def axes_of(node: Node, back: Back) -> tuple[int, ...]:
    """The axes of a reduction."""
    rank = back.type(node.inputs[0]).rank
    if len(node.inputs) < 2 or not node.inputs[1]:
        return () if node.attribute("noop_with_empty_axes", 0) else tuple(range(rank))
    known = back.build.inference.known.get(node.inputs[1])
    if known is None:
        raise refused(node, "the axes of a sum are not known", 1, hint=Remedy.VALUES)
    found = tuple(int(a) % rank for a in known.ravel())
    return found or (() if node.attribute("noop_with_empty_axes", 0) else tuple(range(rank)))


def kept(node: Node, back: Back, name: str, axes: Sequence[int]) -> str:
    """A value of the shape of a reduction's result, with the dimensions that it was reduced over."""
    return name if node.attribute("keepdims", 1) or not axes else back.op("Unsqueeze", name, back.whole(*axes))


def _sum(node: Node, back: Back, g: str) -> Gradients:
    return back.spread_like(kept(node, back, g, axes_of(node, back)), node.inputs[0]), None


def _open_mean(node: Node, back: Back, g: str) -> Gradients:
    """The mean of as many elements as are known when the model runs."""
    x, axes = node.inputs[0], axes_of(node, back)
    for axis in axes:
        extent = back.op("Squeeze", back.op("Shape", x, start=axis, end=axis + 1), back.whole(0))
        g = back.op("Div", g, back.op("Cast", extent, to=back.type(x).numpy.name))
    return back.spread_like(kept(node, back, g, axes), x), None


def _largest(node: Node, back: Back, g: str) -> Gradients:
    """Equal elements share the gradient."""
    axes, x = axes_of(node, back), node.inputs[0]
    found = back.op("Cast", back.op("Equal", x, kept(node, back, node.outputs[0], axes)), to=back.type(x).numpy.name)
    count = back.op("ReduceSum", found, back.whole(*axes), keepdims=1) if axes else found
    return back.op("Mul", kept(node, back, g, axes), back.op("Div", found, count)), None


def _summed_axes(node: Node, back: Back) -> str:
    """The axes whose elements a softmax divides by their sum: one, or in older operator sets all from there on."""
    axis, rank = node.attribute("axis", -1), back.type(node.inputs[0]).rank
    return back.whole(*range(axis % rank, rank)) if node.attribute("flatten", 0) and rank else back.whole(axis)


def _softmax(node: Node, back: Back, g: str) -> Gradients:
    y, axis = node.outputs[0], _summed_axes(node, back)
    own = back.op("Mul", g, y)
    return (back.op("Sub", own, back.op("Mul", y, back.op("ReduceSum", own, axis, keepdims=1))),)


def _log_softmax(node: Node, back: Back, g: str) -> Gradients:
    total = back.op("ReduceSum", g, _summed_axes(node, back), keepdims=1)
    return (back.op("Sub", g, back.op("Mul", back.op("Exp", node.outputs[0]), total)),)


def _other_shape(node: Node, back: Back, g: str) -> Gradients:
    return (back.in_shape_of(g, node.inputs[0]), *(None,) * (len(node.inputs) - 1))


def _transposed(node: Node, back: Back, g: str) -> Gradients:
    rank = back.type(node.inputs[0]).rank
    perm = node.attribute("perm", tuple(range(rank))[::-1])
    return (back.op("Transpose", g, perm=tuple(int(p) for p in np.argsort(perm))),)


def _joined(node: Node, back: Back, g: str) -> Gradients:
    axis = node.attribute("axis")
    sizes = [int(back.type(name).shape[axis]) for name in node.inputs]
    return back.build.ops("Split", len(sizes), g, back.whole(*sizes), axis=axis)


def _gathered(node: Node, back: Back, g: str) -> Gradients:
    x, index = node.inputs
    rank, places = back.type(x).rank, back.type(index).rank
    axis = int(node.attribute("axis", 0)) % rank
    front = (axis, *(d for d in range(rank) if d != axis))
    moved = back.op("Transpose", g, perm=(*range(axis, axis + places), *range(axis),
                                          *range(axis + places, rank - 1 + places)))
    zeros = back.op("Transpose", back.zeros_like(x), perm=front)
    spread = back.op("ScatterND", zeros, back.op("Unsqueeze", index, back.whole(places)), moved, reduction="add")
    return back.op("Transpose", spread, perm=tuple(int(p) for p in np.argsort(front))), None


def _selected(node: Node, back: Back, g: str) -> Gradients:
    condition = node.inputs[0]
    return None, back.chosen(condition, g), back.op("Where", condition, 0, g)


def _converted(node: Node, back: Back, g: str) -> Gradients:
    return (back.op("Cast", g, to=back.type(node.inputs[0]).numpy.name), *(None,) * (len(node.inputs) - 1))


def convolution(node: Node, back: Back, g: str) -> Gradients:
    x, w = node.inputs[:2]
    own, weights, rank = back.type(x), back.type(w), back.type(x).rank - 2
    view, groups = windows(back.build.inference.site(node), weights.extents[2:]), node.attribute("group", 1)
    before, behind = view.padding
    extra = tuple(int(e) + b + a - (int(n) - 1) * s - d * (k - 1) - 1 for e, b, a, n, s, d, k in zip(
        own.shape[2:], before, behind, view.places, view.strides, view.dilations, view.size, strict=True))
    by_data = back.op("ConvTranspose", g, w, strides=view.strides, dilations=view.dilations, group=groups,
                      pads=(*before, *behind), output_padding=extra)
    by_bias = [back.op("ReduceSum", g, back.whole(0, *range(2, rank + 2)), keepdims=0)] * (len(node.inputs) > 2)
    if groups != 1:
        return by_data, _by_grouped_weights(node, back, g), *by_bias
    exchanged = (1, 0, *range(2, rank + 2))
    short = [min(a - o, 0) for a, o in zip(behind, extra, strict=True)]
    if any(short):   # elements that no window reaches
        ends = [int(e) + s for e, s in zip(own.shape[2:], short, strict=True)]
        x = back.op("Slice", x, back.whole(*(0,) * rank), back.whole(*ends), back.whole(*range(2, rank + 2)))
    made = back.op("Conv", back.op("Transpose", x, perm=exchanged), back.op("Transpose", g, perm=exchanged),
                   strides=view.dilations, dilations=view.strides,
                   pads=(*before, *(max(a - o, 0) for a, o in zip(behind, extra, strict=True))))
    return by_data, back.op("Transpose", made, perm=exchanged), *by_bias


def _by_grouped_weights(node: Node, back: Back, g: str) -> str:
    """The gradients of the weights of a grouped convolution: one of each group."""
    groups = node.attribute("group", 1)
    x, w = node.inputs[:2]
    ends = [back.build.ops("Split", groups, name, axis=axis, num_outputs=groups) for name, axis in ((x, 1), (g, 1),
                                                                                                  (w, 0))]
    plain = tuple((k, v) for k, v in node.attributes if k != "group")
    found = [convolution(Node(op="Conv", inputs=(a, c), outputs=node.outputs, attributes=plain), back, b)[1]
             for a, b, c in zip(*ends, strict=True)]
    return back.op("Concat", *(f for f in found if f), axis=0)


def _pooled(node: Node, back: Back, g: str) -> Gradients:
    others: dict[str, Any] = {k: v for k, v in node.attributes if k != "storage_order"}
    return (back.op("PoolGrad", g, node.inputs[0], mode="max", **others),)


RULES: dict[str, Rule] = {
    "Identity": lambda node, back, g: (g,),
    "Neg": lambda node, back, g: (back.op("Neg", g),),
    "Add": lambda node, back, g: (g, g),
    "Sum": lambda node, back, g: (g,) * len(node.inputs),
    "Sub": lambda node, back, g: (g, back.op("Neg", g)),
    "Mul": lambda node, back, g: (back.op("Mul", g, node.inputs[1]), back.op("Mul", g, node.inputs[0])),
    "Div": _divided, "Pow": _power, "Clip": _clipped,
    "Where": _selected, "Cast": _converted, "CastLike": _converted,
    "Exp": slope(lambda back, x, y: y),
    "Log": slope(lambda back, x, y: back.op("Reciprocal", x)),
    "Sqrt": slope(lambda back, x, y: back.op("Div", 0.5, y)),
    "Reciprocal": slope(lambda back, x, y: back.op("Neg", back.op("Mul", y, y))),
    "Sin": slope(lambda back, x, y: back.op("Cos", x)),
    "Cos": slope(lambda back, x, y: back.op("Neg", back.op("Sin", x))),
    "Tanh": slope(lambda back, x, y: back.op("Sub", 1, back.op("Mul", y, y))),
    "Sigmoid": slope(lambda back, x, y: back.op("Mul", y, back.op("Sub", 1, y))),
    "Softplus": slope(lambda back, x, y: back.op("Sigmoid", x)),
    "Erf": slope(lambda back, x, y: back.op("Mul", back.op("Exp", back.op("Neg", back.op("Mul", x, x))),
                                            2 / math.sqrt(math.pi))),
    "Abs": slope(lambda back, x, y: back.op("Sign", x)),
    "Relu": lambda node, back, g: (back.chosen(back.op("Greater", node.inputs[0], 0), g),),
    "Tan": slope(lambda back, x, y: back.op("Add", back.op("Mul", y, y), 1)),
    "Sinh": slope(lambda back, x, y: back.op("Cosh", x)),
    "Cosh": slope(lambda back, x, y: back.op("Sinh", x)),
    "Atan": slope(lambda back, x, y: back.op("Reciprocal", back.op("Add", back.op("Mul", x, x), 1))),
    "Atanh": slope(lambda back, x, y: back.op("Reciprocal", back.op("Sub", 1, back.op("Mul", x, x)))),
    "Asin": slope(lambda back, x, y: _root(back, back.op("Mul", x, x), -1, 1)),
    "Acos": slope(lambda back, x, y: back.op("Neg", _root(back, back.op("Mul", x, x), -1, 1))),
    "Asinh": slope(lambda back, x, y: _root(back, back.op("Mul", x, x), 1, 1)),
    "Acosh": slope(lambda back, x, y: _root(back, back.op("Mul", x, x), 1, -1)),
    "Celu": _celu, "HardSigmoid": _hard_sigmoid, "Swish": _swish, "LeakyRelu": _leaky, "Elu": _elu,
    "MatMul": _product, "Conv": convolution, "MaxPool": _pooled,
    "ReduceSum": _sum, "OpenMean": _open_mean, "ReduceMax": _largest, "ReduceMin": _largest,
    "Softmax": _softmax, "LogSoftmax": _log_softmax,
    "Reshape": _other_shape, "Squeeze": _other_shape, "Unsqueeze": _other_shape, "Flatten": _other_shape,
    "Expand": lambda node, back, g: (g, None), "Transpose": _transposed, "Concat": _joined,
    "Gather": _gathered}
"""By the operator; `rules` has those of all families."""
