"""Ways to draw nodes whose elements follow from elements: operands of any ranks that broadcast, operands left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polysched.fuzz.onnx_models.drawing import FLOATS, NUMBERS, WHOLE, ModelDrawing

CURVES = ("Tanh", "Sigmoid", "Erf", "Softsign", "Atan", "Exp", "Softplus", "Sinh", "Cosh", "Asinh", "Mish", "Sqrt",
          "Reciprocal", "Log")
PERIODIC = ("Sin", "Cos", "Tan")
STEPS = ("Floor", "Ceil", "Round", "Sign", "Abs", "Neg", "Relu", "Identity", "IsNaN")
ACTIVATIONS = {"Elu": ("alpha",), "Selu": ("alpha", "gamma"), "LeakyRelu": ("alpha",), "Celu": ("alpha",),
               "ThresholdedRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "HardSwish": (), "Swish": ("alpha",),
               "Shrink": ("lambd", "bias"), "Gelu": ()}
INEXACT = ("float32", "float64")


def partner(d: ModelDrawing, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with another one, of fewer dimensions or of more."""
    own = [e if d.chance(0.6) else 1 for e in shape][d.draw.randint(0, len(shape)):]
    return (*(d.draw.randint(1, 2) for _ in range(4 - len(own))), *own) if d.chance(0.1) else tuple(own)


def curve(d: ModelDrawing) -> None:
    """A function of one number."""
    op = d.pick(*CURVES, *PERIODIC)
    d.add(op, d.value(lambda k: k.is_exact or op not in PERIODIC, ranks=(0, 1, 2, 3), dtypes=INEXACT))


def step(d: ModelDrawing) -> None:
    """A function whose results are the same for every evaluation."""
    d.add(d.pick(*STEPS), d.value(lambda k: k.is_exact, ranks=(0, 1, 2, 3)), exact=True)


def activation(d: ModelDrawing) -> None:
    """Activations and their attributes, given or not."""
    op = d.pick(*ACTIVATIONS)
    how: dict[str, Any] = {name: round(d.draw.uniform(0.1, 1.5), 3) for name in ACTIVATIONS[op] if d.chance(0.6)}
    if op == "Gelu":
        how = {"approximate": d.draw.choice(("none", "tanh"))}
    d.add(op, d.value(lambda k: k.is_exact or op not in ("Shrink", "ThresholdedRelu"), dtypes=INEXACT), **how)


def pair(d: ModelDrawing) -> None:
    """Two numbers; sums, quotients and powers."""
    x = d.value(ranks=(0, 1, 2, 3, 4))
    own = d.known[x]
    y = d.operand(own.dtype, partner(d, own.shape))
    op = d.pick("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu")
    if op in ("Div", "Pow"):
        y = d.operand(own.dtype, partner(d, own.shape), 1, 4)
    if op == "Pow" and own.is_float:
        x = d.add("Abs", x)[0]
    if op == "Pow" and d.since(13) and d.chance(0.5):
        y = d.operand(d.draw.choice(("int32", "int64", "float32")), partner(d, own.shape), 0, 4)
    operands = (x, y) if d.chance(0.7) or op in ("Div", "Pow", "PRelu") else (y, x)
    d.add(op, *operands, exact=not own.is_float)


def several(d: ModelDrawing) -> None:
    """One to four operands."""
    x = d.value(dtypes=FLOATS)
    own = d.known[x]
    others = [d.operand(own.dtype, partner(d, own.shape)) for _ in range(d.draw.randint(0, 3))]
    op = d.draw.choice(("Sum", "Mean", "Max", "Min"))
    operands = [x, *others]
    d.draw.shuffle(operands)
    d.add(op, *operands)


def compared(d: ModelDrawing) -> None:
    """Truth values of two numbers, and what is chosen by them."""
    x = d.value(lambda k: k.is_exact, ranks=(0, 1, 2, 3))
    own = d.known[x]
    y = d.operand(own.dtype, partner(d, own.shape))
    made = d.add(d.pick("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"), x, y, exact=True)
    if made and d.chance(0.7) and d.has("Where"):
        dtype = d.draw.choice(NUMBERS)
        shape = d.known[made[0]].shape
        d.add("Where", made[0], d.operand(dtype, partner(d, shape)), d.operand(dtype, partner(d, shape)), exact=True)
    elif made and d.chance(0.5):
        d.add(d.draw.choice(("And", "Or", "Xor", "Equal")), made[0],
              d.operand("bool", partner(d, d.known[made[0]].shape)), exact=True)
    elif made:
        d.add("Not", made[0], exact=True)


def bits(d: ModelDrawing) -> None:
    """Operations on the bits of whole numbers."""
    x = d.value(dtypes=WHOLE)
    own = d.known[x]
    op = d.pick("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift", "Mod")
    if op == "BitwiseNot":
        d.add(op, x, exact=True)
    elif op == "BitShift":
        x = d.value(dtypes=("uint8", "uint16", "uint32", "uint64"))
        own = d.known[x]
        d.add(op, x, d.operand(own.dtype, partner(d, own.shape), 0, 7), exact=True,
              direction=d.draw.choice(("LEFT", "RIGHT")))
    elif op == "Mod":
        remainder(d)
    else:
        d.add(op, x, d.operand(own.dtype, partner(d, own.shape)), exact=True)


def remainder(d: ModelDrawing) -> None:
    """Remainders with the sign of the divisor, or with that of what is divided."""
    x = d.value(lambda k: k.is_exact, dtypes=("int64", "int32", "int8", "uint8", "float32", "float64"))
    own = d.known[x]
    by = d.array(own.dtype, partner(d, own.shape), 2, 6)
    if not own.dtype.startswith("u") and d.chance(0.5):
        by = -by
    d.add("Mod", x, d.constant(by, own.dtype), exact=not own.is_float, fmod=1 if own.is_float or d.chance(0.3) else 0)


def clipped(d: ModelDrawing) -> None:
    """Bounds, each given or left out; attributes before operator set 11."""
    x = d.value(ranks=(0, 1, 2, 3), dtypes=NUMBERS if d.since(12) else FLOATS)
    own = d.known[x]
    low, high = sorted(d.draw.sample((0, 1, 2, 3), 2))
    which = d.draw.randrange(4)
    if not d.since(11):
        d.add("Clip", x, min=float(low) if which & 1 else None, max=float(high) if which & 2 else None, exact=True)
        return
    bounds = [d.constant(low, own.dtype) if which & 1 else "", d.constant(high, own.dtype) if which & 2 else ""]
    d.add("Clip", x, *(bounds if which & 2 else bounds[:which]), exact=True)


def converted(d: ModelDrawing) -> None:
    """Another element type."""
    import onnx
    x = d.value(lambda k: k.is_exact, ranks=(0, 1, 2, 3), dtypes=(*NUMBERS, "bool"))
    own = d.known[x]
    to = d.draw.choice((*NUMBERS, "bool"))
    if own.is_float and to.startswith("u"):
        x = d.add("Abs", x, exact=True)[0]
    if d.has("CastLike") and d.chance(0.2):
        d.add("CastLike", x, d.operand(to, ()), exact=True)
    else:
        d.add("Cast", x, to=onnx.helper.np_dtype_to_tensor_dtype(np.dtype(to)), exact=True)


WAYS: tuple[Callable[[ModelDrawing], None], ...] = (curve, step, activation, pair, pair, several, compared, bits,
                                                   remainder, clipped, converted)
"""All ways of this family."""
