"""Gradients of further elementwise operators: roundings, activations, choices among several operands."""

from __future__ import annotations

import math
from functools import reduce

from polysched.graph.operators.elementwise import GELU_CUBIC, SELU_ALPHA, SELU_GAMMA
from polysched.graph.passes.differentiation import derivatives
from polysched.graph.passes.differentiation.derivatives import Back, Gradients, Rule, slope
from polysched.graph.values.graph import Node


def _flat(node: Node, back: Back, g: str) -> Gradients:
    """A function of steps: its derivative is 0 wherever it has one."""
    return (None,) * len(node.inputs)


def _selu(node: Node, back: Back, g: str) -> Gradients:
    alpha, gamma = node.attribute("alpha", SELU_ALPHA), node.attribute("gamma", SELU_GAMMA)
    below = back.op("Mul", g, back.op("Add", node.outputs[0], alpha * gamma))
    return (back.op("Where", back.op("Greater", node.inputs[0], 0), back.op("Mul", g, gamma), below),)


def _softsign(node: Node, back: Back, g: str) -> Gradients:
    wide = back.op("Add", back.op("Abs", node.inputs[0]), 1)
    return (back.op("Div", g, back.op("Mul", wide, wide)),)


def _thresholded(node: Node, back: Back, g: str) -> Gradients:
    return (back.chosen(back.op("Greater", node.inputs[0], node.attribute("alpha", 1.0)), g),)


def _shrunk(node: Node, back: Back, g: str) -> Gradients:
    return (back.chosen(back.op("Greater", back.op("Abs", node.inputs[0]), node.attribute("lambd", 0.5)), g),)


def _hard_swish(node: Node, back: Back, g: str) -> Gradients:
    x = node.inputs[0]
    rising = back.op("Add", back.op("Div", x, 3), 0.5)
    inside = back.op("Where", back.op("GreaterOrEqual", x, 3), 1,
                     back.op("Where", back.op("LessOrEqual", x, -3), 0, rising))
    return (back.op("Mul", g, inside),)


def _mish(node: Node, back: Back, g: str) -> Gradients:
    x = node.inputs[0]
    share = back.op("Tanh", back.op("Softplus", x))
    rest = back.op("Mul", back.op("Mul", x, back.op("Sub", 1, back.op("Mul", share, share))), back.op("Sigmoid", x))
    return (back.op("Mul", g, back.op("Add", share, rest)),)


def _gelu(node: Node, back: Back, g: str) -> Gradients:
    x, approximated = node.inputs[0], node.attribute("approximate", "none") == "tanh"
    square = back.op("Mul", x, x)
    if approximated:
        root = math.sqrt(2 / math.pi)
        inner = back.op("Mul", back.op("Mul", x, back.op("Add", back.op("Mul", square, GELU_CUBIC), 1)), root)
        share = back.op("Tanh", inner)
        steep = back.op("Mul", back.op("Add", back.op("Mul", square, 3 * GELU_CUBIC), 1), root)
        bell = back.op("Mul", back.op("Mul", back.op("Sub", 1, back.op("Mul", share, share)), steep), 0.5)
    else:
        share = back.op("Erf", back.op("Mul", x, math.sqrt(0.5)))
        bell = back.op("Mul", back.op("Exp", back.op("Mul", square, -0.5)), 1 / math.sqrt(2 * math.pi))
    below = back.op("Mul", back.op("Add", share, 1), 0.5)
    return (back.op("Mul", g, back.op("Add", below, back.op("Mul", x, bell))),)


def _remainder(node: Node, back: Back, g: str) -> Gradients:
    a, b = node.inputs
    whole = back.op("Div", back.op("Sub", a, node.outputs[0]), b)
    return g, back.op("Neg", back.op("Mul", g, back.op("Round", whole)))


def _mean(node: Node, back: Back, g: str) -> Gradients:
    return (back.op("Div", g, len(node.inputs)),) * len(node.inputs)


def _extreme(node: Node, back: Back, g: str) -> Gradients:
    """The largest or smallest operand has the gradient; equal ones share it."""
    numpy = back.type(node.outputs[0]).numpy.name
    found = [back.op("Cast", back.op("Equal", name, node.outputs[0]), to=numpy) for name in node.inputs]
    share = back.op("Div", g, reduce(lambda a, b: back.op("Add", a, b), found))
    return tuple(back.op("Mul", share, own) for own in found)


def _parametric(node: Node, back: Back, g: str) -> Gradients:
    x, factor = node.inputs
    below = back.op("Less", x, 0)
    return (back.op("Where", below, back.op("Mul", g, factor), g),
            back.chosen(below, back.op("Mul", g, x)))


RULES: dict[str, Rule] = {
    **dict.fromkeys(("Floor", "Ceil", "Round", "Sign", "FloorDiv", "EyeLike"), _flat),
    "Log2": slope(lambda back, x, y: back.op("Reciprocal", back.op("Mul", x, math.log(2)))),
    "Log10": slope(lambda back, x, y: back.op("Reciprocal", back.op("Mul", x, math.log(10)))),
    "Rsqrt": slope(lambda back, x, y: back.op("Mul", back.op("Mul", y, back.op("Mul", y, y)), -0.5)),
    **{f"Fast{name}": derivatives.RULES[name] for name in ("Exp", "Tanh", "Erf")},
    "Selu": _selu, "Softsign": _softsign, "ThresholdedRelu": _thresholded, "Shrink": _shrunk, "HardSwish": _hard_swish,
    "Mish": _mish, "Gelu": _gelu, "Mod": _remainder, "Mean": _mean, "Max": _extreme, "Min": _extreme,
    "PRelu": _parametric}
"""By the operator."""
