"""One step of an optimiser: new values of tensors from their gradients.

Source: the ONNX operators Adagrad, Adam and Momentum of `ai.onnx.preview.training`, version 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.families.numbers import Numbers
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.refusals import Part
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import INT64

DOMAIN = "ai.onnx.preview.training"
GRADIENT = "Gradient"
"""No operator: it names values of its graph.  The reader puts derivatives in its place."""
Group = tuple[str, ...]
"""A tensor, its gradient, and what the optimiser keeps of it."""


def _groups(site: Site, operands: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The operands behind rate and count, tensor by tensor."""
    per = 4 if site.node.op == "Adam" else 3
    rest = operands[2:]
    count = len(rest) // per
    return [tuple(rest[part * count + k] for part in range(per)) for k in range(count)]


def _types(site: Site) -> tuple[TensorType, ...]:
    per = 4 if site.node.op == "Adam" else 3
    own = [site.type(place) for place in range(2, len(site.inputs))]
    if not own or len(own) % per:
        raise site.refusal(f"{per} tensors for each that is trained are wanted, behind a rate and a count",
                           Part.WHOLE,
                           hint=f"give a rate, a count, and then {per} tensors for each one that is trained")
    rate, step = site.type(0), site.type(1)
    if rate.elements != 1 or step.elements != 1 or step.dtype != INT64 or not rate.dtype.is_float:
        raise site.refusal("a rate and a count of steps are wanted", (0, 1), witness=f"{rate} and {step}",
                           hint="give one float, and one int64")
    groups = _groups(site, [rate, step, *own])
    if any(len(set(group)) != 1 for group in groups) or {t.dtype for t in own} != {rate.dtype}:
        raise site.refusal("a tensor and what belongs to it have one type", tuple(range(2, len(site.inputs))),
                           witness=str(own[0]),
                           hint="give all of them the element type of the rate, and each the shape of its tensor")
    return tuple(group[0] for _ in range(per - 1) for group in groups)


class _Arithmetic(Numbers):
    """The same formula of values and numbers, as nodes."""

    def scalar(self, x: str) -> str:
        return self.op("Reshape", x, self.build.constant(np.zeros(0, np.int64)))


def _composed(step: Callable[[Site, _Arithmetic, str, str, Group], Group]) -> Callable[..., tuple[str, ...]]:
    """A step for each tensor: first the new tensors, then what is kept of them."""
    def composition(site: Site, build: Builder, *operands: str) -> tuple[str, ...]:
        own = _Arithmetic(build, site.type(2).numpy)
        rate, count = own.scalar(operands[0]), own.scalar(operands[1])
        made = [step(site, own, rate, count, group) for group in _groups(site, operands)]
        return tuple(results[place] for place in range(len(made[0])) for results in made)
    return composition


def _regularised(site: Site, own: _Arithmetic, x: str, gradient: str) -> str:
    return own.op("Add", own.op("Mul", x, site.attribute("norm_coefficient", 0.0)), gradient)


def _adagrad(site: Site, own: _Arithmetic, rate: str, count: str, group: Group) -> Group:
    x, gradient, squares = group
    slower = own.op("Mul", own.build.op("Cast", count, to=site.type(2).dtype.name), site.attribute("decay_factor", 0.0))
    slope = _regularised(site, own, x, gradient)
    kept = own.op("Add", squares, own.op("Mul", slope, slope))
    scale = own.op("Add", own.op("Sqrt", kept), site.attribute("epsilon", 1e-6))
    step = own.op("Mul", own.op("Div", rate, own.op("Add", slower, 1.0)), slope)
    return own.op("Sub", x, own.op("Div", step, scale)), kept


def _np_adagrad(site: Site, rate: Any, count: Any, x: Any, gradient: Any, squares: Any) -> tuple[Any, ...]:
    slope = site.attribute("norm_coefficient", 0.0) * x + gradient
    kept = squares + slope * slope
    own = rate / (1 + count * site.attribute("decay_factor", 0.0))
    return x - own * slope / (np.sqrt(kept) + site.attribute("epsilon", 1e-6)), kept


def _adam(site: Site, own: _Arithmetic, rate: str, count: str, group: Group) -> Group:
    x, gradient, mean, squares = group
    alpha, beta = site.attribute("alpha", 0.9), site.attribute("beta", 0.999)
    slope = _regularised(site, own, x, gradient)
    new_mean = own.op("Add", own.op("Mul", mean, alpha), own.op("Mul", slope, 1 - alpha))
    new_squares = own.op("Add", own.op("Mul", squares, beta), own.op("Mul", own.op("Mul", slope, slope), 1 - beta))
    times = own.build.op("Cast", count, to=site.type(2).dtype.name)
    unbiased = own.op("Div", own.op("Sqrt", own.op("Sub", 1.0, own.op("Pow", beta, times))),
                      own.op("Sub", 1.0, own.op("Pow", alpha, times)))
    first = own.op("Where", own.op("Greater", times, 0.0), unbiased, 1.0)
    scale = own.op("Add", own.op("Sqrt", new_squares), site.attribute("epsilon", 1e-6))
    new = own.op("Sub", x, own.op("Mul", own.op("Mul", rate, first), own.op("Div", new_mean, scale)))
    return own.op("Mul", new, 1 - site.attribute("norm_coefficient_post", 0.0)), new_mean, new_squares


def _np_adam(site: Site, rate: Any, count: Any, x: Any, gradient: Any, mean: Any, squares: Any) -> tuple[Any, ...]:
    alpha, beta = site.attribute("alpha", 0.9), site.attribute("beta", 0.999)
    slope = site.attribute("norm_coefficient", 0.0) * x + gradient
    mean, squares = alpha * mean + (1 - alpha) * slope, beta * squares + (1 - beta) * slope ** 2
    own = rate * np.sqrt(1 - beta ** count) / (1 - alpha ** count) if count > 0 else rate
    new = x - own * mean / (np.sqrt(squares) + site.attribute("epsilon", 1e-6))
    return (1 - site.attribute("norm_coefficient_post", 0.0)) * new, mean, squares


def _momentum(site: Site, own: _Arithmetic, rate: str, count: str, group: Group) -> Group:
    x, gradient, speed = group
    slope = _regularised(site, own, x, gradient)
    times = own.build.op("Cast", count, to=site.type(2).dtype.name)
    share = own.op("Where", own.op("Greater", times, 0.0), site.required("beta"), 1.0)
    new_speed = own.op("Add", own.op("Mul", speed, site.required("alpha")), own.op("Mul", slope, share))
    ahead = new_speed
    if site.required("mode") == "nesterov":
        ahead = own.op("Add", slope, own.op("Mul", new_speed, site.required("alpha")))
    return own.op("Sub", x, own.op("Mul", rate, ahead)), new_speed


def _np_momentum(site: Site, rate: Any, count: Any, x: Any, gradient: Any, speed: Any) -> tuple[Any, ...]:
    alpha, beta = site.required("alpha"), site.required("beta") if count > 0 else 1.0
    slope = site.required("norm_coefficient") * x + gradient
    speed = alpha * speed + beta * slope
    ahead = slope + alpha * speed if site.required("mode") == "nesterov" else speed
    return x - rate * ahead, speed


def _reference(step: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[np.ndarray, ...]]:
    """A step for each tensor, in float64."""
    def computed(site: Site, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        wide = [o.astype(np.float64) if o.dtype.kind == "f" else o for o in operands]
        rate, count = float(wide[0].ravel()[0]), int(wide[1].ravel()[0])
        made = [step(site, rate, count, *group) for group in _groups(site, wide)]
        return tuple(np.asarray(results[place]).astype(operands[2].dtype)
                     for place in range(len(made[0])) for results in made)
    return computed


OPERATORS = (
    Operator(name="Adagrad", kind=Kind.BROADCAST, types=_types, reference=_reference(_np_adagrad),
             composition=_composed(_adagrad)),
    Operator(name="Adam", kind=Kind.BROADCAST, types=_types, reference=_reference(_np_adam),
             composition=_composed(_adam)),
    Operator(name="Momentum", kind=Kind.BROADCAST, types=_types, reference=_reference(_np_momentum),
             composition=_composed(_momentum), words={"mode": ("standard", "nesterov")}))
